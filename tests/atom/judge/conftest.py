"""A server that misbehaves on purpose: real sockets on loopback, one scripted action a request."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from atom.judge import JudgeClient, PicturePart, Request, TextPart
from atom.judge.servers.checkup import two_coloured_picture
from atom.records import Endpoint, Sampling

Action = Callable[["Script", asyncio.StreamWriter], Awaitable[None]]
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"score": {"type": "integer"}},
    "required": ["score"],
    "additionalProperties": False,
}


@dataclass
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


@dataclass
class Script:
    """Answers each request by the next action; the last one is repeated for ever."""

    actions: list[Action] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    base_url: str = ""
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def plan(self, *actions: Action) -> None:
        self.actions = list(actions)

    @property
    def n(self) -> int:
        return len(self.seen)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines if line)
            }
            raw = await reader.readexactly(int(headers.get("content-length", 0)))
            action = self.actions[min(self.n, len(self.actions) - 1)]
            self.seen.append(Seen(first.split()[1], headers, raw))
            await action(self, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # What the server can do.

    @staticmethod
    def raw(data: bytes, *, hang_up: bool = True) -> Action:
        async def act(script: Script, writer: asyncio.StreamWriter) -> None:
            writer.write(data)

        return act

    @staticmethod
    def http(status: int, body: bytes | str | object, **headers: str) -> Action:
        if not isinstance(body, bytes):
            body = (body if isinstance(body, str) else json.dumps(body)).encode()
        lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", "Connection: close"]
        kind = "text/html" if body.lstrip().startswith(b"<") else "application/json"
        lines.append(f"Content-Type: {kind}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return Script.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    @staticmethod
    def error(
        status: int, message: str = "boom", code: str | None = None, **headers: str
    ) -> Action:
        body = {"error": {"message": message, "type": "some_error", "code": code}}
        return Script.http(status, body, **headers)

    @staticmethod
    def completion(
        content: object = '{"score": 4}',
        *,
        finish: str | None = "stop",
        refusal: str | None = None,
        usage: object = "default",
        **extra: object,
    ) -> Action:
        body: dict[str, object] = {
            "id": "x",
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {
                        "role": "assistant",
                        "content": content,
                        "refusal": refusal,
                        **extra,
                    },
                }
            ],
        }
        if usage == "default":
            usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        if usage is not None:
            body["usage"] = usage
        return Script.http(200, body)

    @staticmethod
    def hang() -> Action:
        async def act(script: Script, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(30)

        return act

    @staticmethod
    def stall() -> Action:
        async def act(script: Script, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b'{"choices": [')
            await writer.drain()
            await asyncio.sleep(30)

        return act

    @staticmethod
    def trickle() -> Action:
        async def act(script: Script, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)

        return act

    @staticmethod
    def reset() -> Action:
        async def act(script: Script, writer: asyncio.StreamWriter) -> None:
            import socket

            peer = writer.get_extra_info("socket")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

        return act

    @staticmethod
    def close() -> Action:
        return Script.raw(b"")

    @staticmethod
    def short_body() -> Action:
        return Script.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b'{"choices": [')

    @staticmethod
    def garbage() -> Action:
        return Script.raw(b"\x00\x01 this is not HTTP at all\r\n\r\n")

    @staticmethod
    def events(*events: object, done: bool = True, pause: float = 0.0) -> Action:
        async def act(script: Script, writer: asyncio.StreamWriter) -> None:
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            )
            for event in events:
                text = event if isinstance(event, str) else json.dumps(event)
                writer.write(f"data: {text}\n\n".encode())
                await writer.drain()
                await asyncio.sleep(pause)
            if done:
                writer.write(b"data: [DONE]\n\n")

        return act


@pytest.fixture
async def server() -> AsyncIterator[Script]:
    script = Script()
    listener = await asyncio.start_server(script.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    script.base_url = f"http://127.0.0.1:{port}/v1"
    try:
        yield script
    finally:
        listener.close()
        await script.stop()
        await listener.wait_closed()


@pytest.fixture
def make_endpoint(server: Script) -> Callable[..., Endpoint]:
    """Return a maker of endpoints that point at the server and lose no time."""

    def make(**changes: Any) -> Endpoint:
        fields: dict[str, Any] = {
            "name": "judge",
            "base_url": server.base_url,
            "model": "some-model",
            "timeout": 5.0,
            "max_tries": 3,
            "max_seconds": 20.0,
        }
        return Endpoint(**(fields | changes))

    return make


@pytest.fixture
async def make_client(
    make_endpoint: Callable[..., Endpoint], patience: Any
) -> AsyncIterator[Callable[..., JudgeClient]]:
    """Return a maker of clients whose waits are noted instead of slept through."""
    made: list[JudgeClient] = []

    def make(*, options: dict[str, Any] | None = None, **changes: Any) -> JudgeClient:
        given = {"timing": patience.timing, "environ": {}} | (options or {})
        client = JudgeClient(make_endpoint(**changes), **given)
        made.append(client)
        return client

    yield make
    for client in made:
        await client.close()


class Patience:
    """A clock that jumps ahead by each sleep, so that waits cost a test no time."""

    def __init__(self) -> None:
        import time

        from atom.judge import Timing

        self.slept: list[float] = []
        self._ahead = 0.0
        self._real = time.monotonic
        self.chance = 0.0
        self.timing = Timing(clock=self.clock, sleep=self.sleep, random=lambda: self.chance)

    def clock(self) -> float:
        return self._real() + self._ahead

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._ahead += seconds
        await asyncio.sleep(0)


@pytest.fixture
def patience() -> Patience:
    return Patience()


@pytest.fixture
def scoring() -> Request:
    """A structured request without pictures."""
    return Request(
        task="scoring",
        prompt_id="scoring/1",
        system="Atomscope task: scoring/1",
        parts=(TextPart(text="How good is it?"),),
        schema=SCHEMA,
        schema_name="atomscope_scoring",
        sampling=Sampling(temperature=0.0, max_tokens=100),
    )


@pytest.fixture
def free_text() -> Request:
    """A request for free text, as candidates get it."""
    return Request(
        task="answer",
        prompt_id="answer/1",
        system="Atomscope task: answer/1",
        parts=(TextPart(text="What is it?"),),
        sampling=Sampling(max_tokens=100),
    )


@pytest.fixture
def with_picture() -> Request:
    """A structured request with a picture."""
    return Request(
        task="scoring",
        prompt_id="scoring/1",
        system="Atomscope task: scoring/1",
        parts=(PicturePart.from_bytes(two_coloured_picture()), TextPart(text="How good?")),
        schema=SCHEMA,
        schema_name="atomscope_scoring",
    )

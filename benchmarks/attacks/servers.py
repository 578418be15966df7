"""Servers with odd habits: a call ends in time, in bounds, in a reply or a sentence, keyless."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import time
import zlib
from collections.abc import Iterator

from atom.errors import JudgeError
from atom.judge import JudgeClient, Request, TextPart
from atom.records import Endpoint, Sampling
from benchmarks.attacks._tried import Tried
from tests.atom.judge.conftest import SCHEMA, Action, Script

KEY = "sk-attack-0123456789abcdef0123456789abcdef"
SECONDS = 3.0
"""An endpoint's patience; a call may take five times that, with its second try."""
MOST_MEMORY = 200_000
"""kB that all of them together may add to the largest that this process ever was."""


def _events(*lines: bytes, end: bool = True) -> Action:
    async def act(_: Script, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
        writer.write(b"Connection: close\r\n\r\n")
        for line in lines:
            writer.write(line + b"\n\n")
        if not end:
            await asyncio.sleep(60)

    return act


def _endless(head: bytes, piece: bytes) -> Action:
    async def act(_: Script, writer: asyncio.StreamWriter) -> None:
        writer.write(head + b"\r\nConnection: close\r\n\r\n")
        while True:
            writer.write(piece)
            await writer.drain()

    return act


def _drip(head: bytes, piece: bytes = b" ") -> Action:
    async def act(_: Script, writer: asyncio.StreamWriter) -> None:
        writer.write(head + b"\r\n\r\n")
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.05)

    return act


def _bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    piece = b" " * 1_000_000
    return b"".join([*(packer.compress(piece) for _ in range(300)), packer.flush()])


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream"


def habits() -> dict[str, Action]:
    """Return what the servers do, by name."""
    http, completion = Script.http, Script.completion
    text = {
        "think 40,000 times": "<think>" * 40_000,
        "open brackets": "{" * 200_000,
        "open lists": '{"score": ' + "[" * 100_000,
        "half strings": '{"' * 100_000,
        "comments": "{/*" * 60_000,
        "spaces": "{" + " " * 400_000,
        "newlines": "\n" * 400_000 + "score",
        "backslashes": '{"score": "' + "\\" * 300_000,
        "fences": "```\n" * 60_000,
        "quotes": "'" * 300_000,
        "yaml anchors": "score: &a [" + "*a," * 3_000 + "]",
        "keys": "{" + ",".join(f'"k{n}": {n}' for n in range(40_000)) + "}",
        "digits": '{"score": ' + "9" * 300_000 + "}",
        "surrogates": '{"score": "\\ud800"}',
        "key echoed": "x" * 280 + f" Your key is {KEY}, yes, {KEY}",
        "two answers": '{"score": 1} {"score": 5}' * 5_000,
        "NUL": "\0" * 100_000,
        "a megabyte and more": "x" * 2_000_000,
    }
    made = {f"says {name}": completion(words) for name, words in text.items()}
    usage = {"prompt_tokens": 10**25, "completion_tokens": -(10**25)}
    return made | {
        "gzip bomb": http(200, _bomb(), Content_Encoding="gzip"),
        "gzip in gzip": http(200, gzip.compress(gzip.compress(b"{}")), Content_Encoding="gzip"),
        "cut gzip": http(200, gzip.compress(b"{}" * 999)[:30], Content_Encoding="gzip"),
        "no gzip at all": http(200, b"{}", Content_Encoding="gzip"),
        "brotli unasked": http(200, b"{}", Content_Encoding="br"),
        "endless body": _endless(OK, b" " * 65_536),
        "endless line": _endless(STREAM, b"data: " + b"x" * 65_536),
        "endless comments": _endless(STREAM, b": " + b"x" * 65_536 + b"\n\n"),
        "endless headers": _endless(b"HTTP/1.1 200 OK", b"X-A: " + b"x" * 8_000 + b"\r\n"),
        "endless 500": _endless(b"HTTP/1.1 500 No", b"x" * 65_536),
        "endless chunks": _endless(
            OK + b"\r\nTransfer-Encoding: chunked", b"10000\r\n" + b" " * 65_536 + b"\r\n"
        ),
        "drips": _drip(OK + b"\r\nContent-Length: 100000"),
        "drips events": _drip(STREAM, b": on\n\n"),
        "drips a status": _drip(b"HTTP/1.1 200", b" "),
        "hangs": Script.hang(),
        "stalls": Script.stall(),
        "resets": Script.reset(),
        "closes": Script.close(),
        "half a body": Script.short_body(),
        "no HTTP": Script.garbage(),
        "usage beyond belief": completion(usage=usage),
        "not a number": http(200, b'{"choices": [{"message": {"content": "{\\"score\\": NaN}"}}]}'),
        "deep JSON": http(200, b'{"choices":' + b"[" * 200_000),
        "a list": http(200, []),
        "UTF-16": http(200, json.dumps({"choices": []}).encode("utf-16")),
        "a redirect elsewhere": http(302, b"", Location="http://192.0.2.1/v1"),
        "waits a year": http(429, b"{}", Retry_After="31536000"),
        "key in an error": http(401, {"error": {"message": f"bad key {KEY}"}}),
        "odd status": Script.raw(b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"),
        "events without end": _events(b'data: {"choices": []}', end=False),
        "broken events": _events(b"data: {", b"data: }", b"data:"),
    }


def attack() -> Iterator[Tried]:
    """Ask a server of each habit once, whole and streamed."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, action in habits().items():
        for stream in (False, True):
            title = f"{name}{', streamed' if stream else ''}"
            yield Tried(name=title, fell=asyncio.run(_tried(action, stream=stream)))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    yield Tried(name="memory", fell="" if grown < MOST_MEMORY else f"it grew by {grown:,} kB")


async def _tried(action: Action, *, stream: bool) -> str:
    """Ask one server; say what went wrong, or nothing."""
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # the servers are cut off
    script = Script()
    script.plan(action)
    listener = await asyncio.start_server(script.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    endpoint = Endpoint(
        name="odd", base_url=f"http://127.0.0.1:{port}/v1", model="m", timeout=SECONDS,
        max_tries=2, max_seconds=2 * SECONDS, key_env="ODD_API_KEY",
    )  # fmt: skip
    client = JudgeClient(endpoint, environ={"ODD_API_KEY": KEY})
    beat = asyncio.create_task(_heartbeat())
    started = time.monotonic()
    said, fell = "", ""
    try:
        async with asyncio.timeout(10 * SECONDS):
            said = await _asked(client, stream=stream)
    except TimeoutError:
        fell = "it never ended"
    except Exception as error:  # noqa: BLE001 - any other exception is what is looked for
        fell = f"{type(error).__name__}: {error}"[:300]
    taken = time.monotonic() - started
    beat.cancel()
    longest = (await asyncio.gather(beat, return_exceptions=True))[0]
    await client.close()
    listener.close()
    await script.stop()
    if KEY[:16] in said:
        fell = "the key is in what came of it"
    if not fell and taken > 6 * SECONDS:
        fell = f"it took {taken:.0f} s"
    if not fell and isinstance(longest, float) and longest > SECONDS:
        fell = f"the event loop stood still for {longest:.1f} s"
    return fell


async def _asked(client: JudgeClient, *, stream: bool) -> str:
    request = Request(
        task="scoring", prompt_id="scoring/1", system="Atomscope task: scoring/1",
        parts=(TextPart(text="How good is it?"),), schema=SCHEMA,
        schema_name="atomscope_scoring", sampling=Sampling(max_tokens=100),
    )  # fmt: skip
    try:
        if not stream:
            return repr(await client.ask(request))
        return repr([piece async for piece in client.stream(request)])
    except JudgeError as error:
        return error.message + repr(getattr(error, "call", ""))


async def _heartbeat() -> float:
    """Return the longest time between two beats that should be 50 ms apart, when cancelled."""
    longest = 0.0
    last = time.monotonic()
    try:
        while True:
            await asyncio.sleep(0.05)
            now = time.monotonic()
            longest, last = max(longest, now - last), now
    except asyncio.CancelledError:
        return longest

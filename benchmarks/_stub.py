"""A chat-completions server that answers everything after a fixed time, in its own process.

It costs as little processor time as Python allows, so that the client is what is measured.
Run: `python benchmarks/_stub.py --latency 0.2`; it prints its base URL, and stops when its
standard input closes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ANSWER_CHARACTERS = 1000


def answer() -> bytes:
    """Return a whole HTTP reply whose content is about 1 KB of JSON."""
    reason = "The answer names the tallest bar and its value. " * (ANSWER_CHARACTERS // 50)
    content = json.dumps({"score": 4, "reason": reason})
    body = json.dumps(
        {
            "id": "stub",
            "object": "chat.completion",
            "created": 0,
            "model": "stub",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 500, "completion_tokens": 250, "total_tokens": 750},
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


class Stub(asyncio.Protocol):
    """Reads requests off one connection and answers each after the latency."""

    latency = 0.2
    reply = answer()
    n_requests = 0

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.head = bytearray()
        self.missing = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.missing >= 0:  # Inside a body: count, don't keep.
            self.missing -= len(data)
        else:
            self.head += data
            end = self.head.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(self.head[:end]).lower()
            length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
            self.missing = int(length or 0) - (len(self.head) - end - 4)
            self.head.clear()
        if self.missing <= 0:
            self.missing = -1
            Stub.n_requests += 1
            asyncio.get_running_loop().call_later(self.latency, self.send)

    def send(self) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(self.reply)


async def serve(latency: float) -> None:
    """Serve until the standard input closes."""
    Stub.latency = latency
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Stub, "127.0.0.1", 0, backlog=512)
    port = server.sockets[0].getsockname()[1]
    sys.stdout.write(f"http://127.0.0.1:{port}/v1\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    server.close()


@contextmanager
def running_stub(latency: float) -> Iterator[str]:
    """Run the stub in its own process; yields its base URL."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--latency", str(latency)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    latency = parser.parse_args().latency
    with suppress(ImportError):
        import uvloop

        uvloop.run(serve(latency))
        return
    asyncio.run(serve(latency))


if __name__ == "__main__":
    main()

"""Requests as no browser would send them: bytes on a socket, the answer's status back."""

from __future__ import annotations

import socket
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.attacks._app import Running

_SECONDS = 30
_MOST = 65_536
_WEBSOCKET = (
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", b64encode(b"0123456789abcdef").decode()),
    ("Sec-WebSocket-Protocol", "streamlit"),
)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back.

    Args:
        status: 0 where the connection was closed without an answer.
        headers: names in small letters.
        body: as much as came at once.
    """

    status: int
    headers: dict[str, str]
    body: str


def ask(
    app: Running,
    headers: Iterable[tuple[str, str]],
    *,
    target: str = "/",
    method: str = "GET",
    websocket: bool = False,
) -> Answer:
    """Send one request with these headers and no others, and read the beginning of the answer."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    extra = _WEBSOCKET if websocket else (("Connection", "close"), ("Content-Length", "0"))
    lines += [f"{name}: {value}" for name, value in extra]
    with socket.create_connection(("127.0.0.1", app.port), timeout=_SECONDS) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1", "replace"))
        data = b""
        while len(data) < _MOST:
            piece = connection.recv(_MOST)
            data += piece
            if not piece or (websocket and b"\r\n\r\n" in data):
                break
    return _read(data.decode("latin-1"))


def _read(text: str) -> Answer:
    head, _, body = text.partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    words = first.split(" ", 2)
    status = int(words[1]) if len(words) > 1 and words[1].isdecimal() else 0
    pairs = (line.partition(":") for line in lines)
    return Answer(
        status=status,
        headers={name.strip().lower(): value.strip() for name, _, value in pairs},
        body=body,
    )


def let_in(answer: Answer) -> str:
    """Say how far a request got that had to be refused; empty where it was refused."""
    if answer.status == 101:
        return "the websocket opened"
    return "" if answer.status in (0, 400, 403, 404, 405, 421) else f"HTTP {answer.status}"

"""Puts the frame's look into the page before anything is drawn, so that nothing moves later.

Streamlit sends its page without a menu and without the app's styles; both come with the first run
of the script, a second later, and all that is drawn by then jumps aside. Here the styles are part
of the page itself, with the menu's room kept free, and what follows a piece that isn't drawn yet
waits for it, so that nothing that is seen moves. Parts of Streamlit that every page needs are
fetched at once; the one that draws charts once all is at rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from atom.ui.kit import ASSETS
from atom.ui.shell.door import ASGIApp, Message, Receive, Send

_END = b"</body>"
"""Behind the head, where Streamlit puts styles of its own: at equal weight the later ones win."""
_ROOT = b'id="root"'
"""What the app's own page holds; a file that it serves is handed on as it is."""


_LOOK = ("kit.css", "fingerprints.css")
"""What every piece of markup is dressed in."""
_SOON = ("BidiComponent", "PageLink", "Selectbox")
_LATER = ("PlotlyChart",)
"""Parts of Streamlit's own page, by the beginning of their files' names."""
_KINDS = {
    "js": {".js": b"text/javascript; charset=utf-8"},
    "css": {".css": b"text/css; charset=utf-8"},
    "media": {".woff2": b"font/woff2"},
}
"""Folders of files whose names hold a hash of what they hold, and what is in them."""
_SERVED = "./static/js/"
_IMPORTED = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
"""What a part needs before it can run; what it may load later is written `import(...)`."""


class FirstPaint:
    """An ASGI application around another one: each page of HTML gets the frame's styles.

    Args:
        app: what is served.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Hand a request on, and add the styles where a page comes back."""
        if scope["type"] != "http" or scope.get("method") != "GET":
            await self._app(scope, receive, send)
            return
        kept = [(n, v) for n, v in scope["headers"] if n.lower() != b"accept-encoding"]
        page = b"text/html" in dict(scope["headers"]).get(b"accept", b"")
        # A compressed page can't be added to; scripts and data stay as they are asked for.
        scope = {**scope, "headers": kept} if page else scope
        await self._app(scope, receive, _PageSend(send).send)


class PageParts:
    """An ASGI application around another one: the parts of Streamlit's page in one piece each.

    A browser that opens the app first asks for ninety of them. Streamlit has other threads read
    each, 64 KB at a time, while the processor is busy with the first screen.

    Args:
        app: what is served.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        static = _folder().parent
        self._files = {
            f"/static/{file.parent.name}/{file.name}": file
            for kind in _KINDS
            for file in (static / kind).glob("*.*")
            if file.is_file()
        }

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Send a part, or hand the request on: another file, or only a piece of one."""
        asked = scope["type"] == "http" and scope.get("method") == "GET"
        file = self._files.get(scope["path"]) if asked else None
        kind = _KINDS.get(file.parent.name, {}).get(file.suffix) if file is not None else None
        if file is None or kind is None or any(n.lower() == b"range" for n, _ in scope["headers"]):
            await self._app(scope, receive, send)
            return
        body = file.read_bytes()
        headers = [
            (b"content-type", kind),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"public, immutable, max-age=31536000"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class _PageSend:
    """A `send` that holds a page back until it is whole."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        """Send a message on; a page as one, with the styles at its end."""
        if message["type"] == "http.response.start":
            held = {name.lower(): value for name, value in message.get("headers", ())}
            plain = b"content-encoding" not in held and message["status"] == 200
            if plain and held.get(b"content-type", b"").startswith(b"text/html"):
                self._start = message
                return
        if self._start is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        own = _ROOT in self._body
        body = self._body.replace(_END, style() + _END, 1) if own else self._body
        changed = (b"content-length", b"etag", b"last-modified")
        headers = [(n, v) for n, v in self._start["headers"] if n.lower() not in changed]
        size = (b"content-length", str(len(body)).encode())
        await self._send({**self._start, "headers": [*headers, size]})
        await self._send({"type": "http.response.body", "body": body})


@cache
def style() -> bytes:
    """Return what is added to the page: the frame's styles and the script that goes with them."""
    css = (ASSETS / "frame.css").read_text(encoding="utf-8")
    script = (ASSETS / "first_paint.js").read_text(encoding="utf-8")
    markup = (ASSETS / "kit.js").read_text(encoding="utf-8")
    look = json.dumps("".join((ASSETS / one).read_text(encoding="utf-8") for one in _LOOK))
    soon = "".join(
        f'<link rel="modulepreload" crossorigin href="{address}">'
        for address in with_needed(chunks(_SOON))
    )
    later = json.dumps(chunks(_LATER))
    return (
        f'{soon}<style data-testid="frame-style">{css}</style>'
        f"<script>{script.replace('CHUNKS', later)}</script>"
        f"<script>{markup.replace('STYLES', look)}</script>"
    ).encode()


def chunks(names: tuple[str, ...]) -> list[str]:
    """Return the addresses of parts of Streamlit's page, as many as are found.

    Args:
        names: how their files begin; what follows is a hash of what they hold.
    """
    found = [path.name for name in names for path in sorted(_folder().glob(f"{name}.*.js"))]
    return [f"{_SERVED}{name}" for name in found]


def with_needed(addresses: Iterable[str]) -> list[str]:
    """Return parts with all that they import, so that a browser asks for everything at once.

    What the page itself asks for already is left out.

    Args:
        addresses: of parts of Streamlit's page.
    """
    page = (_folder().parents[1] / "index.html").read_text(encoding="utf-8")
    todo, found = list(addresses), dict.fromkeys(addresses)
    while todo:
        file = _folder() / todo.pop().removeprefix(_SERVED)
        for name in _IMPORTED.findall(file.read_text(encoding="utf-8")):
            address = f"{_SERVED}{name}"
            if address not in found and name not in page:
                found[address] = None
                todo.append(address)
    return list(found)


def _folder() -> Path:
    import streamlit

    return Path(streamlit.__file__).parent / "static" / "static" / "js"

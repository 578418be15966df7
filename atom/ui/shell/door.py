"""Stands before Streamlit's server and lets in whom the launcher's address let in, nobody else.

An app on loopback is still within reach of every page that its user's browser opens: by a name
that is made to point at 127.0.0.1 (DNS rebinding), by a frame, by a request of another site; and
of every other user of the computer. The door asks of each request, websockets included, that

1. `Host` is one of this app's own names,
2. `Origin`, where there is one, is that same name, and no other site is behind the request, but
   for a person who follows a link,
3. it carries the secret that the launcher printed, as a cookie.

Only the health check is answered without the third. In a deployment nobody is asked for it: the app
shows whoever isn't signed in nothing but a way to sign in (`atom/ui/shell/team.py`). Each answer
forbids frames, and lets a page load nothing from elsewhere. See `design/030-the-door.md`.
"""

from __future__ import annotations

import html
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any, Literal
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Message, Receive, Send], Awaitable[None]]
Refusal = Literal["host", "origin", "secret"]

HEALTH = "/_stcore/health"
ENTER = "enter"
"""The parameter of the address that carries the secret, once."""
LINES: dict[Refusal, str] = {
    "host": "This app has another address.",
    "origin": "Another site asked for this, and this app answers its own pages only.",
    "secret": "This browser hasn't been let in yet.",
}
_HOW = (
    "Open the address that the terminal shows behind <em>Atomscope is open at</em> in this "
    "browser, once. From then on every link to this app works in it. No such terminal? Start "
    "the app with <code>python -m atom app</code>."
)
_ONWARD = '<p>If you are in already, <a href="">go on to the page that the link names</a>.</p>'
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Atomscope</title>{head}
<meta name="viewport" content="width=device-width">
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 sans-serif; max-width: 34rem; margin: 18vh auto 0; padding: 0 1rem }}
h1 {{ font-size: 1.25rem }}
code {{ font-size: .95em }}
</style></head><body data-testid="door">
<h1>{title}</h1>
{body}
</body></html>
"""


@dataclass(frozen=True, kw_only=True)
class Lock:
    """What the door asks for.

    Args:
        hosts: the app's own names as `Host` gives them, in small letters: `127.0.0.1:8501`.
        port: the port, which names the cookie: apps on two ports don't put each other out.
        secret: what the launcher's address and the cookie hold; None in a deployment, where the
            app itself lets in who is signed in.
        secure: whether cookies go by https alone.
    """

    hosts: frozenset[str]
    port: int
    secret: str | None
    secure: bool = False

    @property
    def cookie(self) -> str:
        """The cookie's name."""
        return f"atomscope_{self.port}"

    def fits(self, given: str) -> bool:
        """Whether a text is the secret; takes as long whatever is given."""
        return self.secret is not None and compare_digest(given.encode(), self.secret.encode())

    def address(self, host: str, path: str = "/") -> str:
        """Return the address that lets a browser in."""
        return f"http://{host}{path}?{urlencode({ENTER: self.secret})}"


class Door:
    """An ASGI application around another one, see the module.

    Args:
        app: what is guarded.
        lock: what is asked for.
    """

    def __init__(self, app: ASGIApp, *, lock: Lock) -> None:
        self._app = app
        self._lock = lock

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer, refuse or hand on a request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        asked = _DoorRequest.of(scope)
        refused = _refusal(asked, self._lock)
        guarded = _guarded(send, asked.host, secure=self._lock.secure)
        if refused in ("host", "origin") or (refused and asked.kind == "websocket"):
            await _refuse(asked, refused, guarded)
        elif refused and self._lock.fits(asked.given) and asked.method == "GET":
            await _respond(guarded, 200, _welcome(asked), self._set_cookie())
        elif refused:
            await _refuse(asked, refused, guarded)
        elif asked.given and self._lock.secret and asked.method == "GET":
            # In already: the secret leaves the address bar all the same.
            await _respond(guarded, 200, _welcome(asked))
        else:
            await self._app(scope, receive, guarded)

    def _set_cookie(self) -> tuple[tuple[bytes, bytes], ...]:
        value = f"{self._lock.cookie}={self._lock.secret}; Path=/; HttpOnly; SameSite=Strict"
        return ((b"set-cookie", value.encode()),)


@dataclass(frozen=True, kw_only=True)
class _DoorRequest:
    """A request, as far as the door looks at it."""

    kind: str
    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    hosts: tuple[str, ...]
    origins: tuple[str, ...]
    site: str
    mode: str
    dest: str
    cookies: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, scope: Message) -> _DoorRequest:
        held: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            held.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        last = {name: values[-1].strip().lower() for name, values in held.items()}
        crumbs = [crumb for line in held.get("cookie", ()) for crumb in line.split(";")]
        return cls(
            kind=scope["type"],
            method=scope.get("method", "GET"),
            path=scope["path"],
            query=tuple(
                parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
            ),
            hosts=tuple(value.strip().lower() for value in held.get("host", ())),
            origins=tuple(value.strip().lower() for value in held.get("origin", ())),
            site=last.get("sec-fetch-site", ""),
            mode=last.get("sec-fetch-mode", ""),
            dest=last.get("sec-fetch-dest", ""),
            cookies=tuple(
                (name.strip(), value.strip())
                for name, _, value in (crumb.partition("=") for crumb in crumbs)
            ),
        )

    @property
    def host(self) -> str:
        """The app's name in this request; empty when there is none or there are several."""
        return self.hosts[0] if len(self.hosts) == 1 else ""

    @property
    def given(self) -> str:
        """The secret in the address, as far as there is one."""
        return next((value for name, value in self.query if name == ENTER), "")

    @property
    def follows_a_link(self) -> bool:
        """Whether somebody goes to a page, rather than a page fetching something."""
        return self.method == "GET" and self.mode == "navigate" and self.dest == "document"

    @property
    def of_other_site(self) -> bool:
        """Whether the browser says that another site's page is behind it.

        `same-site` is another port of this computer: a stranger as well.
        """
        return self.site in ("cross-site", "same-site")


def _refusal(asked: _DoorRequest, lock: Lock) -> Refusal | None:
    health = asked.kind == "http" and asked.path == HEALTH and asked.method in ("GET", "HEAD")
    if health and lock.secret is None:
        return None  # Proxies ask each replica by its own address.
    if asked.host not in lock.hosts:
        return "host"
    if any(urlsplit(origin).netloc != asked.host for origin in asked.origins):
        return "origin"
    if asked.of_other_site and not asked.follows_a_link:
        return "origin"
    if health:
        return None
    if lock.secret is None:
        return None
    if any(name == lock.cookie and lock.fits(value) for name, value in asked.cookies):
        return None
    return "secret"


def _headers(host: str) -> tuple[tuple[bytes, bytes], ...]:
    """What every answer carries: nobody frames it, and a page loads from here alone."""
    policy = "; ".join(
        (
            "default-src 'self'",
            # Vega makes functions of its expressions, Streamlit loads its workers from blobs.
            "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "media-src 'self' data: blob:",
            "font-src 'self' data:",
            f"connect-src 'self' ws://{host} wss://{host} data: blob:"
            if host
            else "connect-src 'self'",
            "worker-src 'self' blob:",
            # A report and the network are shown in frames that hold their whole text.
            "frame-src 'self' data: blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )
    return (
        (b"content-security-policy", policy.encode("latin-1")),
        (b"x-frame-options", b"DENY"),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
    )


def _guarded(send: Send, host: str, *, secure: bool = False) -> Send:
    """Return a `send` that puts the door's headers in place of the app's own of those names."""

    def kept_as(name: bytes, value: bytes) -> tuple[bytes, bytes]:
        open_ = secure and name.lower() == b"set-cookie" and b"; secure" not in value.lower()
        return name, value + b"; Secure" if open_ else value

    ours = _headers(host if host.isascii() and ";" not in host and " " not in host else "")
    names = {name for name, _ in ours}

    async def guarded(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            held = message.get("headers", ())
            kept = [kept_as(n, v) for n, v in held if n.lower() not in names]
            message = {**message, "headers": [*kept, *ours]}
        await send(message)

    return guarded


async def _refuse(asked: _DoorRequest, why: Refusal, send: Send) -> None:
    if asked.kind == "websocket":
        # Before it is accepted, a server turns this into 403.
        await send({"type": "websocket.close", "code": 1008, "reason": LINES[why]})
        return
    body = f"<p>{_HOW}</p>"
    if why == "secret" and asked.of_other_site:
        # The strict cookie doesn't come along from another site's link; from this page it does.
        body = _ONWARD + body
    page = _PAGE.format(head="", title=html.escape(LINES[why]), body=body)
    await _respond(send, 421 if why == "host" else 403, page)


def _welcome(asked: _DoorRequest) -> str:
    """Draw the page that goes on to the address without the secret.

    A page of its own, not a redirect: behind a redirect from another site's link, the browser
    would hold the strict cookie back.
    """
    rest = urlencode([(name, value) for name, value in asked.query if name != ENTER])
    to = "/" + quote(asked.path.lstrip("/\\")) + (f"?{rest}" if rest else "")
    head = f'<meta http-equiv="refresh" content="0; url={html.escape(to)}">'
    body = f'<p><a href="{html.escape(to)}">Go on to Atomscope</a></p>'
    return _PAGE.format(head=head, title="Come in", body=body)


async def _respond(
    send: Send, status: int, page: str, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    body = page.encode()
    held = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": held})
    await send({"type": "http.response.body", "body": body})

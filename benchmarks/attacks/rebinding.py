"""Rebinding: names that are made to point at this computer, in headers and in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.attacks._app import EVIL, Running, browser, running_app, visitor
from benchmarks.attacks._requests import ask, let_in
from benchmarks.attacks._tried import Tried

PLACES = (
    ("GET", "/"),
    ("GET", "/settings"),
    ("GET", "/_stcore/host-config"),
    ("GET", "/_stcore/health"),
    ("PUT", "/_stcore/upload_file/a/b"),
    ("GET", "/media/a.png"),
)
SOCKET = """([url]) => new Promise(done => {
  const socket = new WebSocket(url, ['streamlit'])
  socket.onopen = () => done('the websocket opened')
  socket.onerror = () => done('')
})"""


def attack() -> Iterator[Tried]:
    """Ask under foreign names, as somebody who even holds the cookie."""
    with TemporaryDirectory() as folder, running_app(demo=Path(folder)) as app:
        cookie = ("Cookie", f"{app.cookie['name']}={app.cookie['value']}")
        for hosts in _hosts(app.port):
            headers = [*(("Host", host) for host in hosts), cookie]
            for method, place in PLACES:
                answer = ask(app, headers, target=place, method=method)
                yield Tried(name=f"{method} {place} of {hosts}", fell=let_in(answer))
            answer = ask(app, headers, target="/_stcore/stream", websocket=True)
            yield Tried(name=f"websocket of {hosts}", fell=let_in(answer))
        for target in (f"http://{EVIL}/", f"http://{EVIL}:{app.port}/settings"):
            answer = ask(app, [("Host", f"{EVIL}:{app.port}"), cookie], target=target)
            yield Tried(name=f"GET {target}", fell=let_in(answer))
        yield from _in_a_browser(app)


def _hosts(port: int) -> tuple[tuple[str, ...], ...]:
    return (
        (),
        ("",),
        (EVIL,),
        (f"{EVIL}:{port}",),
        ("127.0.0.1",),
        ("localhost",),
        (f"localhost:{port + 1}",),
        (f"127.0.0.1:{port}.{EVIL}",),
        (f"{EVIL}@127.0.0.1:{port}",),
        (f"127.0.0.1:{port}@{EVIL}",),
        (f"localhost.{EVIL}:{port}",),
        (f"127.1:{port}",),
        (f"2130706433:{port}",),
        (f"0.0.0.0:{port}",),
        (f"127.0.0.1.:{port}",),
        (f"[::ffff:127.0.0.1]:{port}",),
        (f"127.0.0.1:{port}, {EVIL}",),
        (f"127.0.0.1:{port}", f"{EVIL}:{port}"),
        (f"{EVIL}:{port}", f"127.0.0.1:{port}"),
    )


def _in_a_browser(app: Running) -> Iterator[Tried]:
    with browser() as opened, visitor(opened) as page:
        entering = f"?enter={app.cookie['value']}"
        for path in ("", "settings", "data", entering, f"data{entering}"):
            reply = page.goto(f"http://{EVIL}:{app.port}/{path}")
            fell = "" if reply is not None and reply.status == 421 else "it answered"
            if "another address" not in page.inner_text("body"):
                fell = "no refusal is seen"
            yield Tried(name=f"browser at {EVIL}/{path.partition('?')[0]}", fell=fell)
        for host in (EVIL, "127.0.0.1", "localhost"):
            url = f"ws://{host}:{app.port}/_stcore/stream"
            yield Tried(name=f"its websocket to {host}", fell=page.evaluate(SOCKET, [url]))
        kept = page.context.cookies()
        yield Tried(name="its cookies", fell=f"{kept}" if kept else "")

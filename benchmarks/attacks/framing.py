"""Framing: no answer may stand in another page, nor be reached by the one that opened it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from benchmarks.attacks._app import EVIL, INSIDE, Running, browser, running_app, visitor
from benchmarks.attacks._requests import ask
from benchmarks.attacks._site import FRAMES, site
from benchmarks.attacks._tried import Tried

_LOOK_MS = 3000
_TARGETS = (("GET", "/"), ("GET", "/settings"), ("GET", "/nothing/here"), ("PUT", "/"),
            ("GET", "/_stcore/health"), ("GET", "/_stcore/host-config"), ("GET", "/favicon.png"),
            ("GET", "/media/none.png"), ("POST", "/_stcore/upload_file/a/b"))  # fmt: skip


def attack() -> Iterator[Tried]:
    """Look at every answer's headers, then frame the app in a browser that is in."""
    with TemporaryDirectory() as folder, running_app(demo=Path(folder)) as app:
        own = [("Host", f"127.0.0.1:{app.port}")]
        cookie = ("Cookie", f"{app.cookie['name']}={app.cookie['value']}")
        for method, target in _TARGETS:
            for sent in (own, [*own, cookie], [("Host", EVIL), cookie]):
                answer = ask(app, sent, target=target, method=method)
                fell = "" if _forbids(answer.headers) else f"{answer.status}: it may be framed"
                name = f"{method} {target} of {sent[0][1]}, {len(sent)} headers"
                yield Tried(name=name, fell=fell)
        with site(app) as address, browser() as opened:
            for place in (address, address.replace("127.0.0.1", EVIL)):
                for kind in FRAMES:
                    with visitor(opened, app) as page:
                        page.goto(f"{place}?{quote(kind)}")
                        page.wait_for_timeout(_LOOK_MS)
                        yield Tried(name=f"{kind} at {place}", fell=_framed(page, app))
                with visitor(opened, app) as page:
                    page.goto(place)
                    yield Tried(name=f"a window opened at {place}", fell=_opened(page, app))


def _forbids(headers: dict[str, str]) -> bool:
    policy = headers.get("content-security-policy", "")
    return headers.get("x-frame-options") == "DENY" and "frame-ancestors 'none'" in policy


def _framed(page: Any, app: Running) -> str:
    for frame in page.frames[1:]:
        if frame.url.startswith(app.url) and frame.locator(INSIDE).count():
            return "the app stands in the frame"
    return ""


def _opened(page: Any, app: Running) -> str:
    told = page.evaluate(
        """async ([url]) => {
          const opened = window.open(url)
          await new Promise(done => setTimeout(done, 4000))
          if (!opened || opened.closed) return ''
          try { return opened.document.body ? 'its page can be read' : '' } catch { return '' }
        }""",
        [f"{app.url}/"],
    )
    return str(told)

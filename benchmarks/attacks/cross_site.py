"""Cross-site requests: other sites' pages, and those of other ports of this computer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.attacks._app import EVIL, Running, browser, running_app, visitor
from benchmarks.attacks._requests import ask, let_in
from benchmarks.attacks._site import outside, site
from benchmarks.attacks._tried import Tried
from benchmarks.attacks.rebinding import SOCKET

FETCHES = """async ([url]) => {
  const told = {}
  for (const [how, options] of Object.entries({
    'fetch': {}, 'fetch with cookies': {credentials: 'include'},
    'post': {method: 'POST', credentials: 'include', body: 'x'},
    'put': {method: 'PUT', credentials: 'include', body: 'x'},
    'json': {method: 'POST', credentials: 'include', body: '{}',
             headers: {'Content-Type': 'application/json'}},
  })) {
    try { told[how] = 'it can read HTTP ' + (await fetch(url, options)).status }
    catch (error) { told[how] = '' }
  }
  const loads = (tag, name, source) => new Promise(done => {
    const one = document.createElement(tag)
    one.onload = () => done('it loads'); one.onerror = () => done('')
    one[name] = source
    if (tag === 'link') one.rel = 'stylesheet'
    document.body.append(one)
    setTimeout(() => done(''), 8000)
  })
  told.picture = await loads('img', 'src', url + 'favicon.png')
  told.script = await loads('script', 'src', url + '_stcore/host-config')
  told.style = await loads('link', 'href', url)
  return told
}"""


def attack() -> Iterator[Tried]:
    """Ask with foreign origins, as a browser that is in would do for another site's page."""
    with TemporaryDirectory() as folder, outside() as (proxies, asked):
        with running_app(demo=Path(folder), environ=proxies) as app:
            yield from _headers(app)
            with site(app) as address, browser() as opened:
                for place in (address, address.replace("127.0.0.1", EVIL)):
                    with visitor(opened, app) as page:
                        page.goto(place)
                        yield from _page(page, app, place)
        yield Tried(name="what the server asked outside", fell="; ".join(asked))


def _headers(app: Running) -> Iterator[Tried]:
    own = [("Host", f"127.0.0.1:{app.port}"),
           ("Cookie", f"{app.cookie['name']}={app.cookie['value']}")]  # fmt: skip
    origins = ("http://evil.example", f"http://{EVIL}:{app.port}", "http://127.0.0.1:9999",
               f"http://localhost:{app.port}", "null", "file://", "",
               f"http://127.0.0.1:{app.port}.{EVIL}", f"http://127.0.0.1:{app.port}@{EVIL}",
               "chrome-extension://abc", f"http://[::1]:{app.port}")  # fmt: skip
    for origin in origins:
        sent = [*own, ("Origin", origin)]
        for method, place in (("GET", "/"), ("POST", "/_stcore/upload_file/a/b"),
                              ("PUT", "/_stcore/upload_file/a/b"), ("OPTIONS", "/")):  # fmt: skip
            answer = ask(app, sent, target=place, method=method)
            yield Tried(name=f"{method} of {origin!r}", fell=let_in(answer))
        answer = ask(app, sent, target="/_stcore/stream", websocket=True)
        yield Tried(name=f"websocket of {origin!r}", fell=let_in(answer))
    for which in ("cross-site", "same-site"):
        for mode, dest in (("no-cors", "image"), ("no-cors", "script"), ("cors", "empty"),
                           ("navigate", "iframe"), ("navigate", "embed")):  # fmt: skip
            sent = [*own, ("Sec-Fetch-Site", which), ("Sec-Fetch-Mode", mode),
                    ("Sec-Fetch-Dest", dest)]  # fmt: skip
            yield Tried(name=f"{which} {mode} {dest}", fell=let_in(ask(app, sent)))
    bare = own[:1]
    for sent in (bare, [*bare, ("Cookie", f"{app.cookie['name']}=guess")],
                 [*bare, ("Cookie", f"atomscope_1={app.cookie['value']}")]):  # fmt: skip
        for method, place in (("GET", "/"), ("GET", "/settings"), ("GET", "/_stcore/host-config"),
                              ("GET", "/static/js/index.js"), ("POST", "/_stcore/health"),
                              ("GET", "/_stcore/health/"), ("GET", "//_stcore/health"),
                              ("GET", "/?enter=guess")):  # fmt: skip
            answer = ask(app, sent, target=place, method=method)
            yield Tried(name=f"{method} {place} with {len(sent) - 1} cookies", fell=let_in(answer))


def _page(page: Any, app: Running, place: str) -> Iterator[Tried]:
    for how, fell in page.evaluate(FETCHES, [f"{app.url}/"]).items():
        yield Tried(name=f"{how} from {place}", fell=fell)
    url = f"ws://127.0.0.1:{app.port}/_stcore/stream"
    yield Tried(name=f"websocket from {place}", fell=page.evaluate(SOCKET, [url]))
    with page.expect_navigation():
        page.evaluate(
            "([url]) => { const f = document.createElement('form'); f.method = 'POST';"
            " f.action = url; document.body.append(f); f.submit() }",
            [f"{app.url}/settings"],
        )
    shown = page.locator("[data-testid=door]").count() == 1
    yield Tried(name=f"a form from {place}", fell="" if shown else "it was taken")

"""A real browser at the door: names made to point here, other sites, frames, plain links."""

from __future__ import annotations

import http.server
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import pytest

from tests.e2e.conftest import (
    FLAGS,
    PATIENCE_MS,
    PROJECT,
    cookie_of,
    free_port,
    stop,
    wait_until_up,
)

INSIDE = "section[data-testid='stSidebar']"
SOCKET = """([url]) => new Promise(done => {
  const socket = new WebSocket(url, ['streamlit'])
  socket.onopen = () => done('open')
  socket.onerror = () => done('refused')
})"""
ASKS = """async ([url]) => {
  const told = []
  for (const [how, options] of [
    ['get', {}], ['with cookies', {credentials: 'include'}],
    ['post', {method: 'POST', credentials: 'include', body: 'x'}],
    ['opaque', {mode: 'no-cors', credentials: 'include'}],
  ]) {
    try {
      const reply = await fetch(url, options)
      told.push(how + ': ' + (reply.type === 'opaque' ? 'opaque' : reply.status))
    } catch (error) { told.push(how + ': refused') }
  }
  const picture = await new Promise(done => {
    const img = new Image()
    img.onload = () => done('shown'); img.onerror = () => done('refused')
    img.src = url + 'favicon.png'
  })
  return [...told, 'picture: ' + picture]
}"""


@pytest.fixture(scope="module")
def mapped(chromium_path: str):
    """Return a browser for which evil.example is this computer."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path,
            headless=True,
            args=[*FLAGS, "--host-resolver-rules=MAP evil.example 127.0.0.1"],
        )
        yield browser
        browser.close()


@pytest.fixture
def visitor(mapped):
    """Return a page of a fresh profile that nobody let in."""
    context = mapped.new_context()
    context.set_default_timeout(PATIENCE_MS)
    yield context.new_page()
    context.close()


@pytest.fixture
def site(app):
    """Return the address of another site on this computer whose page frames the app."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = (
                f"<title>elsewhere</title><a id='link' href='{app.url}/data'>go</a>"
                f"<iframe id='frame' src='{app.url}/'></iframe>"
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


def socket_of(app, host: str | None = None) -> str:
    place = urlsplit(app.url)
    return f"ws://{host or place.hostname}:{place.port}/_stcore/stream"


def test_a_name_that_is_made_to_point_here_sees_a_refusal(app, visitor):
    port = urlsplit(app.url).port
    for path in ("", "data", "?enter=" + cookie_of(app)["value"], "_stcore/health"):
        reply = visitor.goto(f"http://evil.example:{port}/{path}")
        assert reply.status == 421
        assert "another address" in visitor.inner_text("body")
    # On its own page the attacker's script has the name's whole origin, and still no socket.
    assert visitor.evaluate(SOCKET, [socket_of(app, "evil.example")]) == "refused"
    assert visitor.context.cookies() == []


def test_a_plain_link_says_how_to_get_in_and_works_afterwards(app, visitor):
    from playwright.sync_api import expect

    reply = visitor.goto(f"{app.url}/data?tab=files")
    assert reply.status == 403
    assert "python -m atom app" in visitor.inner_text("body")
    assert visitor.evaluate(SOCKET, [socket_of(app)]) == "refused"
    visitor.goto(app.enter)
    expect(visitor.locator(INSIDE)).to_be_visible(timeout=PATIENCE_MS)
    assert "enter=" not in visitor.url
    held = visitor.context.cookies(app.url)
    own = next(one for one in held if one["name"] == cookie_of(app)["name"])
    assert (own["httpOnly"], own["sameSite"]) == (True, "Strict")
    visitor.goto(f"{app.url}/data?tab=files")
    expect(visitor.locator(INSIDE)).to_be_visible(timeout=PATIENCE_MS)
    assert visitor.evaluate(SOCKET, [socket_of(app)]) == "open"


def test_another_site_asks_frames_and_connects_in_vain(app, visitor, site):
    from playwright.sync_api import expect

    visitor.context.add_cookies([cookie_of(app)])
    # By name the site is a stranger; by number it is another port of this computer, to which
    # the browser sends the cookie along.
    for address in (site, site.replace("127.0.0.1", "evil.example")):
        with visitor.expect_response(f"{app.url}/") as framed:
            visitor.goto(address)
        assert framed.value.status == 403
        inside = visitor.frames[1]
        for _ in range(100):  # a frame that was just made has no address yet
            if inside.url:
                break
            visitor.wait_for_timeout(100)
        assert inside.url in ("chrome-error://chromewebdata/", f"{app.url}/")
        assert inside.locator(INSIDE).count() == 0
        told = dict(line.split(": ") for line in visitor.evaluate(ASKS, [f"{app.url}/"]))
        # What can't be read can't be told from an answer: `opaque` is refused by the unit tests.
        assert {how for how, end in told.items() if end != "refused"} <= {"opaque"}
        assert visitor.evaluate(SOCKET, [socket_of(app)]) == "refused"
        visitor.click("#link")
        # A link is followed, at once or from the door's page.
        onward = visitor.locator("[data-testid=door] a")
        expect(visitor.locator(INSIDE).or_(onward).first).to_be_visible(timeout=PATIENCE_MS)
        if onward.count():
            onward.click()
        expect(visitor.locator(INSIDE)).to_be_visible(timeout=PATIENCE_MS)
        assert visitor.url.startswith(f"{app.url}/data")


def test_started_bare_the_app_shows_nothing(visitor, tmp_path):
    from playwright.sync_api import expect

    port, log = free_port(), tmp_path / "bare.log"
    words = ["-m", "streamlit", "run", "app.py", "--server.headless=true", f"--server.port={port}"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until_up(process, f"http://127.0.0.1:{port}", log)
        for path in ("", "data", "settings"):
            visitor.goto(f"http://127.0.0.1:{port}/{path}")
            expect(visitor.get_by_text("python -m atom app")).to_be_visible(timeout=PATIENCE_MS)
            assert visitor.locator(INSIDE).get_by_text("Study").count() == 0
    finally:
        stop(process)

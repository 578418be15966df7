"""The attacks at the door see a server that lets everybody in."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from benchmarks.attacks import cross_site, framing, rebinding
from benchmarks.attacks._app import Running
from benchmarks.attacks._requests import Answer, ask, let_in
from benchmarks.attacks._tried import CannotTryError


@pytest.fixture
def open_house():
    """Serve everybody, websockets too."""

    class Everybody(BaseHTTPRequestHandler):
        def answer(self):
            upgrade = self.headers.get("upgrade") == "websocket"
            self.send_response(101 if upgrade else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST = do_PUT = do_OPTIONS = answer

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Everybody)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    yield Running(url=url, enter=f"{url}/?enter=secret", log=Path("none"))
    server.shutdown()
    server.server_close()
    thread.join()


def test_every_request_that_is_let_in_falls(open_house):
    tried = list(cross_site._headers(open_house))
    assert len(tried) > 60
    assert all(one.fell for one in tried)


def test_foreign_hosts_that_are_let_in_fall(open_house):
    for hosts in rebinding._hosts(open_house.port):
        answer = ask(open_house, [("Host", host) for host in hosts], websocket=True)
        assert let_in(answer) == "the websocket opened"


@pytest.mark.parametrize("status", [0, 400, 403, 404, 405, 421])
def test_a_refusal_holds(status):
    assert let_in(Answer(status=status, headers={}, body="")) == ""


def test_an_answer_that_may_be_framed_is_seen():
    assert not framing._forbids({})
    assert not framing._forbids({"x-frame-options": "DENY"})
    policy = "default-src 'self'; frame-ancestors 'none'"
    assert framing._forbids({"x-frame-options": "DENY", "content-security-policy": policy})


@pytest.mark.attack
@pytest.mark.parametrize("group", [rebinding, framing, cross_site])
def test_nobody_gets_in(group):
    try:
        assert [one for one in group.attack() if one.fell] == []
    except CannotTryError as reason:
        pytest.skip(str(reason))

"""The door: who is let in, and what every answer carries."""

from __future__ import annotations

import pytest

from atom.ui.shell.door import Door, Lock

LOCK = Lock(
    hosts=frozenset({"127.0.0.1:8501", "localhost:8501"}), port=8501, secret="open-sesame-1234"
)
COOKIE = ("cookie", "_xsrf=2; atomscope_8501=open-sesame-1234")
HOST = ("host", "127.0.0.1:8501")


async def behind(scope, receive, send):
    """A server that tries to let itself be framed."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    headers = [(b"X-Frame-Options", b"ALLOWALL"), (b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"inside"})


async def ask(*headers, path="/", query="", method="GET", kind="http", lock=LOCK, app=behind):
    """Return (status, headers, body); the status of a websocket is 101 or 403."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {
        "type": kind,
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }
    await Door(app, lock=lock)(scope, None, send)
    if kind == "websocket":
        return (101 if sent[0]["type"] == "websocket.accept" else 403), {}, ""
    held = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], held, sent[1]["body"].decode()


async def test_the_cookie_lets_in():
    assert (await ask(HOST, COOKIE))[::2] == (200, "inside")
    assert (await ask(HOST, COOKIE, kind="websocket"))[0] == 101
    assert (await ask(("host", "LOCALHOST:8501"), COOKIE))[0] == 200


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "headers",
    [
        [COOKIE],
        [("host", "evil.example:8501"), COOKIE],
        [("host", "127.0.0.1"), COOKIE],
        [("host", "127.0.0.1:9999"), COOKIE],
        [("host", "127.0.0.1:8501.evil.example"), COOKIE],
        [HOST, ("host", "evil.example"), COOKIE],
    ],
    ids=["none", "foreign", "no port", "other port", "longer", "two"],
)
async def test_another_host_is_refused(headers, kind):
    """Fall 1 of design/074."""
    status, _, body = await ask(*headers, kind=kind)
    assert status in (421, 403)
    assert "inside" not in body


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://127.0.0.1:9999", "http://localhost:8501", "null", "",
     "http://127.0.0.1:8501.evil.example", "http://127.0.0.1:8501@evil.example"],
)  # fmt: skip
async def test_another_origin_is_refused(origin, kind):
    assert (await ask(HOST, COOKIE, ("origin", origin), kind=kind))[0] == 403


async def test_the_own_origin_is_taken():
    own = ("origin", "http://127.0.0.1:8501")
    assert (await ask(HOST, COOKIE, own, method="POST"))[0] == 200
    assert (await ask(HOST, COOKIE, own, kind="websocket"))[0] == 101


async def test_no_origin_makes_the_server_ask_outside_for_its_own_address(monkeypatch):
    """Streamlit compares an origin that isn't the host with this computer's address, which it asks
    a server far away for.

    Fall 10 of design/074.
    """
    from streamlit import net_util
    from streamlit.web.server.starlette.starlette_websocket import _is_origin_allowed

    asked = []
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: None)
    monkeypatch.setattr(net_util, "get_external_ip", lambda: asked.append("checkip"))

    async def streamlit(scope, receive, send):
        held = {name.decode(): value.decode() for name, value in scope["headers"]}
        if _is_origin_allowed(held.get("origin"), held["host"]):
            await send({"type": "websocket.accept"})
        else:
            await send({"type": "websocket.close"})

    for host in ("127.0.0.1:8501", "localhost:8501"):
        for name in ("evil.example", "203.0.113.7:8501", "127.0.0.1:9999", host):
            own = ("host", host), COOKIE, ("origin", f"http://{name}")
            told = await ask(*own, kind="websocket", app=streamlit)
            assert told[0] == (101 if name == host else 403)
    assert asked == []
    assert not _is_origin_allowed("http://evil.example", "127.0.0.1:8501")
    assert asked == ["checkip"]  # so it is Streamlit that asks, and the door that keeps it from it


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_what_another_sites_page_fetches_is_refused(site):
    behind_it = ("sec-fetch-site", site)
    for mode, dest in [("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")]:
        fetched = [behind_it, ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)]
        assert (await ask(HOST, COOKIE, *fetched))[0] == 403
    followed = [behind_it, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]
    assert (await ask(HOST, COOKIE, *followed))[0] == 200
    assert (await ask(HOST, COOKIE, *followed, method="POST"))[0] == 403
    status, _, body = await ask(HOST, *followed)
    assert status == 403
    assert 'href=""' in body, "a person who is in can go on to what the link names"


@pytest.mark.parametrize(
    "cookie",
    ["", "atomscope_8501=", "atomscope_8501=open-sesame-123", "atomscope_8502=open-sesame-1234",
     "atomscope_8501=open-sesame-1234é"],
)  # fmt: skip
async def test_without_the_secret_only_the_health_check_answers(cookie):
    for path in ("/", "/failures", "/_stcore/host-config", "/media/a.png", "/_stcore/health/../x"):
        status, _, body = await ask(HOST, ("cookie", cookie), path=path)
        assert status == 403
        assert "python -m atom app" in body
    assert (await ask(HOST, ("cookie", cookie), kind="websocket", path="/_stcore/stream"))[0] == 403
    assert (await ask(HOST, ("cookie", cookie), path="/_stcore/health"))[0] == 200
    assert (await ask(HOST, ("cookie", cookie), path="/_stcore/health", method="PUT"))[0] == 403
    assert (await ask(("host", "evil.example"), path="/_stcore/health"))[0] == 421


async def test_the_printed_address_sets_the_cookie_and_leaves_the_address_bar():
    status, held, body = await ask(
        HOST, path="/failures", query="study=a%22b&enter=open-sesame-1234&model=x"
    )
    assert status == 200
    assert held["set-cookie"] == (
        "atomscope_8501=open-sesame-1234; Path=/; HttpOnly; SameSite=Strict"
    )
    assert "0; url=/failures?study=a%22b&amp;model=x" in body
    assert "open-sesame" not in body
    again = await ask(HOST, COOKIE, query="enter=old")
    assert "set-cookie" not in again[1]
    assert "0; url=/" in again[2]


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "/a'\"><script>"])
async def test_the_way_on_stays_here_and_is_text(path):
    body = (await ask(HOST, path=path, query="enter=open-sesame-1234"))[2]
    assert "url=//" not in body
    assert "url=/\\" not in body
    assert "<script>" not in body


async def test_a_wrong_secret_sets_nothing():
    status, held, _ = await ask(HOST, query="enter=open-sesame-1235")
    assert status == 403
    assert "set-cookie" not in held
    assert (await ask(HOST, query="enter=open-sesame-1234", method="POST"))[0] == 403
    foreign = [("origin", "http://evil.example"), HOST]
    assert (await ask(*foreign, query="enter=open-sesame-1234"))[0] == 403


@pytest.mark.parametrize("headers", [[], [HOST], [HOST, COOKIE]], ids=["host", "secret", "in"])
async def test_every_answer_forbids_frames(headers):
    _, held, _ = await ask(*headers)
    assert held["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in held["content-security-policy"]
    assert "img-src 'self' data: blob:;" in held["content-security-policy"]


async def test_a_foreign_host_reaches_no_header():
    _, held, body = await ask(("host", "evil.example; script-src *"))
    assert "evil" not in str(held)
    assert "evil" not in body


def test_the_address_holds_the_secret_once():
    assert LOCK.address("127.0.0.1:8501") == "http://127.0.0.1:8501/?enter=open-sesame-1234"


TEAM = Lock(hosts=frozenset({"atom.example.org"}), port=8501, secret=None, secure=True)


async def test_for_a_team_sign_in_is_the_door_and_host_and_origin_are_asked_as_before():
    ours = ("host", "atom.example.org")
    assert (await ask(ours, lock=TEAM))[0] == 200
    assert (await ask(HOST, lock=TEAM))[0] == 421
    for kind in ("http", "websocket"):
        evil = ("origin", "https://evil.example")
        assert (await ask(ours, evil, kind=kind, lock=TEAM))[0] == 403
    # A proxy asks each replica by its own address; nothing else is answered there.
    assert (await ask(HOST, path="/_stcore/health", lock=TEAM))[0] == 200
    # No secret opens it, and none is put into a cookie.
    status, headers, body = await ask(ours, query="enter=None", lock=TEAM)
    assert (status, body, "set-cookie" in headers) == (200, "inside", False)


async def test_a_teams_cookies_go_by_https_alone():
    async def sets(scope, receive, send):
        cookies = [(b"set-cookie", b"a=1; Path=/"), (b"set-cookie", b"b=2; Secure")]
        await send({"type": "http.response.start", "status": 200, "headers": cookies})
        await send({"type": "http.response.body", "body": b""})

    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"atom.example.org")]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers}
    await Door(sets, lock=TEAM)(scope, None, send)
    cookies = [value for name, value in sent[0]["headers"] if name == b"set-cookie"]
    assert cookies == [b"a=1; Path=/; Secure", b"b=2; Secure"]

"""The page gets the frame's styles before anything is drawn; what isn't the page stays."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from atom.ui.shell.first_paint import FirstPaint, PageParts, chunks, style, with_needed

PAGE = b'<html><head></head><body><div id="root"></div></body></html>'


def answer(body, headers, *, status=200, pieces=1, accept=b"text/html,*/*"):
    """Ask an app that answers so, and return (what it was asked with, headers, body)."""
    asked, sent = {}, []

    async def app(scope, _receive, send):
        asked.update(scope)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        size = -(-len(body) // pieces)
        for at in range(0, len(body), size):
            more = at + size < len(body)
            piece = body[at : at + size]
            await send({"type": "http.response.body", "body": piece, "more_body": more})

    async def take(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/",
             "headers": [(b"accept", accept), (b"accept-encoding", b"gzip")]}  # fmt: skip
    asyncio.run(FirstPaint(app)(scope, None, take))
    return asked, dict(sent[0]["headers"]), b"".join(one.get("body", b"") for one in sent[1:])


@pytest.mark.parametrize("pieces", [1, 3])
def test_the_page_is_dressed_whole_and_its_length_is_right(pieces):
    old = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", b"61"),
           (b"etag", b"x"), (b"content-security-policy", b"y")]  # fmt: skip
    asked, headers, body = answer(PAGE, old, pieces=pieces)
    assert body == PAGE.replace(b"</body>", style() + b"</body>")
    assert b"216px" in body
    assert headers[b"content-length"] == str(len(body)).encode()
    # An old copy in the browser would have the old styles.
    assert b"etag" not in headers
    assert headers[b"content-security-policy"] == b"y"
    assert (b"accept-encoding", b"gzip") not in asked["headers"]


def test_what_early_parts_import_is_fetched_with_them():
    import streamlit

    static = Path(streamlit.__file__).parent / "static"
    page = (static / "index.html").read_text(encoding="utf-8")
    found = with_needed(chunks(("Selectbox",)))
    assert len(found) > 5
    for address in found:
        text = (static / address).read_text(encoding="utf-8")
        for needed in re.findall(r'(?:from|import)"\./([^"]+)"', text):
            assert f"./static/js/{needed}" in found or f"./static/js/{needed}" in page
    # What the page asks for by itself isn't asked for twice.
    assert not [address for address in found if address in page]


def test_parts_that_are_fetched_early_are_streamlits_own():
    soon = chunks(("BidiComponent", "PageLink", "Selectbox"))
    later = chunks(("PlotlyChart",))
    assert len(soon) == 3
    assert len(later) == 1
    page = style().decode()
    assert all(f'<link rel="modulepreload" crossorigin href="{one}">' in page for one in soon)
    assert all(f'"{one}"' in page for one in later)
    assert chunks(("NoSuchPart",)) == []


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"<html><body>a report</body></html>", [(b"content-type", b"text/html")], 200),
        (PAGE, [(b"content-type", b"text/html"), (b"content-encoding", b"gzip")], 200),
        (PAGE, [(b"content-type", b"text/html")], 404),
        (b"let x = 1", [(b"content-type", b"text/javascript")], 200),
    ],
)
def test_what_is_not_the_page_is_handed_on_as_it_is(body, headers, status):
    found = answer(body, headers, status=status)
    assert found[2] == body


def test_scripts_may_come_compressed():
    asked, _, _ = answer(b"x", [(b"content-type", b"text/javascript")], accept=b"*/*")
    assert (b"accept-encoding", b"gzip") in asked["headers"]


def test_a_part_of_streamlits_page_comes_whole_and_all_else_is_handed_on():
    import streamlit

    (address,) = chunks(("BidiComponent",))
    file = Path(streamlit.__file__).parent / "static" / address
    handed, sent = [], []

    async def app(scope, _receive, _send):
        handed.append(scope["path"])

    async def take(message):
        sent.append(message)

    def ask(path, *headers, method="GET"):
        scope = {"type": "http", "method": method, "path": path, "headers": list(headers)}
        asyncio.run(PageParts(app)(scope, None, take))

    ask(address.removeprefix("."))
    start, body = sent
    headers = dict(start["headers"])
    assert body["body"] == file.read_bytes()
    assert headers[b"content-length"] == str(file.stat().st_size).encode()
    assert headers[b"content-type"].startswith(b"text/javascript")
    assert b"immutable" in headers[b"cache-control"]
    assert handed == []
    ask("/static/js/../index.html")
    ask("/static/js/NoSuchPart.js")
    ask(address.removeprefix("."), (b"Range", b"bytes=0-9"))
    ask(address.removeprefix("."), method="HEAD")
    assert len(handed) == 4
    assert len(sent) == 2

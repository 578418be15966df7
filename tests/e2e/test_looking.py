"""What browser tests look with: the browser is alone, and a failure leaves a picture."""

from __future__ import annotations

import socket

import pytest
from PIL import Image
from playwright.sync_api import Error

from tests.e2e.conftest import PATIENCE_MS
from tests.e2e.failed import pictures

ASK = "url => fetch(url, {mode: 'no-cors'}).then(() => 'an answer', () => 'none')"
CALL = """url => new Promise(done => {
  const socket = new WebSocket(url);
  socket.onopen = () => done("an answer");
  socket.onerror = () => done("none");
})"""


def test_what_is_asked_beyond_this_computer_is_noted_and_gets_no_answer(new_page, visit):
    page = new_page()
    asked = ["http://elsewhere.example/a", "http://192.0.2.1/b", "ws://elsewhere.example/c"]
    with socket.create_server(("127.0.0.1", 0)) as own:
        own.settimeout(PATIENCE_MS / 1000)
        near = f"http://127.0.0.1:{own.getsockname()[1]}/"
        page.evaluate("url => { fetch(url, {mode: 'no-cors'}).catch(() => 0) }", near)
        own.accept()[0].close()
    assert [page.evaluate(ASK, url) for url in asked[:2]] == ["none", "none"]
    assert page.evaluate(CALL, asked[2]) == "none"
    assert visit.foreign == asked
    # Refused here, not merely unknown elsewhere.
    with pytest.raises(Error, match="ERR_PROXY_CONNECTION_FAILED"):
        page.goto(asked[1])


def test_a_picture_is_taken_of_each_open_page(new_page, browser, tmp_path, monkeypatch):
    monkeypatch.setenv("ATOM_SHOTS", str(tmp_path))
    first, second = new_page(), new_page(width=400, height=300)
    first.goto("about:blank#first")
    second.set_content("<body style='background: #0a0'></body>")
    lines = pictures([browser, "anything else"], "test_it[1440-dark]")
    files = [tmp_path / f"failed-test-it-1440-dark--{number}.png" for number in (1, 2)]
    assert lines == [f"{files[0]} of about:blank#first", f"{files[1]} of about:blank"]
    with Image.open(files[1]) as picture:
        assert picture.size == (400, 300)
        assert picture.convert("RGB").getpixel((9, 9)) == (0, 170, 0)

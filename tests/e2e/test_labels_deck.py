"""The deck of Human check alone, with a server that answers when the test says so."""

from __future__ import annotations

import pytest

from atom.ui import kit

pytestmark = pytest.mark.browser

START = """
(script) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  return import(url).then((module) => {
    window.sent = [];
    const item = (id) => ({ id, html: `<p class="where">item ${id}</p>`, mode: "choice",
      keys: ["1", "2", "3", "4", "5"], answers: 1, open: true, pictures: [] });
    const host = document.createElement("div");
    document.body.append(host);
    window.answer = (ack, at, ids) => module.default({
      data: { desk: "d", ack, at, items: [...ids].map(item), html: "", foot: "", end: "the end",
        leaves: [] },
      parentElement: host,
      setTriggerValue: (name, value) => { window.sent = structuredClone(value.acts); },
    });
    window.answer(0, "a", "ab");
  });
}
"""


@pytest.fixture
def deck(browser):
    context = browser.new_context()
    # The deck keeps what is on its way in the session's storage, which needs a real address.
    context.route("**/*", lambda route: route.fulfill(body="<!doctype html><body></body>"))
    page = context.new_page()
    page.goto("http://deck.invalid/")
    page.evaluate(START, (kit.ASSETS / "labels.js").read_text(encoding="utf-8"))
    yield page
    context.close()


def sent(page):
    """Return what is on its way: (item, key)."""
    return [(one["id"], one["key"]) for one in page.evaluate("window.sent")]


def test_keys_label_only_what_was_shown(deck):
    labels = deck.locator(".labels")
    deck.keyboard.press("1")
    deck.keyboard.press("2")
    assert "Loading the next sample" in labels.inner_text()
    for key in "345":
        deck.keyboard.press(key)
    assert "3 keys were left out" in labels.inner_text()
    assert sent(deck) == [("a", "1"), ("b", "2")]
    # The server has read the first press alone and still stands at b, which has its answer.
    first = deck.evaluate("window.sent[0].n")
    deck.evaluate("([ack]) => window.answer(ack, 'b', 'abcd')", [first])
    assert labels.get_attribute("data-item") == "c"
    deck.wait_for_function("!document.querySelector('.labels').dataset.waiting")
    deck.keyboard.press("4")
    assert sent(deck) == [("b", "2"), ("c", "4")]
    assert labels.get_attribute("data-item") == "d"


def test_the_end_is_no_wait(deck):
    deck.keyboard.press("1")
    deck.keyboard.press("2")
    last = deck.evaluate("window.sent[1].n")
    deck.evaluate("([ack]) => window.answer(ack, '', 'ab')", [last])
    assert "the end" in deck.locator(".labels").inner_text()
    deck.wait_for_function("!document.querySelector('.labels').dataset.waiting")

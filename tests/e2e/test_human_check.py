"""Twenty labels by keyboard alone, in a real browser; then a second person, and a third."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from atom.store import Store
from atom.views.people.annotations import load_annotations
from tests.app.screen_store import make_store

pytestmark = pytest.mark.browser
DECK = ".labels"
LABELS = 20


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a judged study in a store of its own."""
    return make_store(tmp_path_factory.mktemp("human"))


@pytest.fixture(scope="module")
def checked(start_app, made, tmp_path_factory):
    """Return an app on that store."""
    return start_app(store=made.folder, demo=tmp_path_factory.mktemp("no_demo"))


def labels_of(made, who=None):
    """Return what was given, the oldest first."""
    with Store.open(made.folder) as store:
        found = load_annotations(store, made.study.id)
    return [one for one in found if one.state == "given" and who in (None, one.annotator)]


def press(page, key):
    """Press a key, and wait until the next thing stands there."""
    before = page.locator(DECK).get_attribute("data-item")
    page.keyboard.press(key)
    expect(page.locator(DECK)).not_to_have_attribute("data-item", before)


def written(page, count):
    """Wait until the server says that so many labels are written."""
    page.locator(f"[data-progress='{count}']").wait_for()


def test_twenty_labels_by_keyboard_alone(checked, page, new_page, made, visit, shot, tmp_path):
    page.goto(f"{checked.url}/human-check")
    name = page.locator(".st-key-human_name input")
    name.wait_for()
    while not name.evaluate("box => box === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.type("Ada")
    page.keyboard.press("Enter")
    page.locator(f"{DECK} button.key").first.wait_for()
    shot(page, "human-1-first")

    # Ten one by one, a skip, an undo of it, and a burst that doesn't wait for the server.
    begun = time.perf_counter()
    for number in range(10):
        press(page, str(number % 5 + 1))
    written(page, 10)
    press(page, "s")
    expect(page.locator(f"{DECK} .standing")).to_contain_text("1 skipped")
    press(page, "u")
    expect(page.locator(f"{DECK} .standing")).not_to_contain_text("skipped")
    for number in range(LABELS - 10):
        press(page, str(5 - number % 5))
    written(page, LABELS)
    seconds = time.perf_counter() - begun
    shown = page.locator(DECK).get_attribute("data-shown")
    sent = page.locator(DECK).get_attribute("data-written")
    folder = Path(os.environ.get("ATOM_SHOTS") or tmp_path)
    times = {"labels": LABELS, "seconds": seconds, "next_ms": shown, "written_ms": sent}
    (folder / "human-times.json").write_text(json.dumps(times), encoding="utf-8")
    found = labels_of(made)
    assert len(found) == LABELS
    assert [one.value for one in found][:5] == [1, 2, 3, 4, 5]
    assert sorted(one.value for one in found) == sorted([1, 2, 3, 4, 5] * 4)

    # A closed tab: the next one goes on where this one stopped.
    at = page.locator(DECK).get_attribute("data-item")
    shot(page, "human-2-twenty")
    page.close()
    again = new_page()
    again.goto(f"{checked.url}/human-check?who=Ada")
    written(again, LABELS)
    expect(again.locator(DECK)).to_have_attribute("data-item", at)
    assert visit.errors == []


def test_a_ranking_and_a_leaf_by_keyboard(checked, page, made, visit):
    page.goto(f"{checked.url}/human-check?who=Bo&queue=ranking")
    page.locator(f"{DECK} .card").first.wait_for()
    page.keyboard.press("2")
    expect(page.locator(f"{DECK} .card.placed .rank")).to_have_text("place 1")
    page.keyboard.press("t")
    page.keyboard.press("1")
    expect(page.locator(f"{DECK} .card.placed")).to_have_count(2)
    press(page, "Enter")
    written(page, 1)
    (ranking,) = labels_of(made, "Bo")
    ranks = {rank.response_id: rank.rank for rank in ranking.ranks}
    assert [ranks[name] for name in ranking.shown][:2] == [1, 1]

    page.goto(f"{checked.url}/human-check?who=Bo&queue=criteria")
    page.locator(f"{DECK} button.key").first.wait_for()
    press(page, "3")
    press(page, "2")
    page.keyboard.press("2")
    page.keyboard.type("clock")
    expect(page.locator(f"{DECK} .hit.on")).to_contain_text("Clock reading")
    press(page, "Enter")
    written(page, 3)
    assert labels_of(made, "Bo")[-1].label.endswith("Clock reading")
    assert visit.errors == []

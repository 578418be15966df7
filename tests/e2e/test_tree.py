"""The tree page in a real browser, with the network cut off, at 24 and at 500 leaves."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.app.tree_store import make_tree_store
from tests.e2e.looks import LOOKS

pytestmark = pytest.mark.browser
SLICE = ".st-key-tree_map .iciclelayer .slice"
TEXT = ".st-key-tree_map .slicetext"
NAME = ".card .name"


@pytest.fixture(scope="module", params=[pytest.param(24, marks=pytest.mark.sweep), 500])
def made(request, tmp_path_factory):
    """Return a judged study with so many leaves."""
    return make_tree_store(tmp_path_factory.mktemp("tree"), request.param)


@pytest.fixture(scope="module")
def grown(start_app, made, tmp_path_factory):
    """Return an app on that study."""
    return start_app(store=made.folder, demo=tmp_path_factory.mktemp("no_demo"))


@pytest.fixture
def note(request, tmp_path):
    """Return a function that writes a measured time down; none is ever asserted."""
    folder = Path(os.environ.get("ATOM_SHOTS") or tmp_path)

    def write(name, begun):
        seconds = round(time.perf_counter() - begun, 2)
        line = json.dumps({"name": name, "test": request.node.name, "seconds": seconds})
        with (folder / "tree-times.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")

    return write


def card(page, name):
    page.locator(NAME, has_text=name).wait_for()


DRAWN = """() => {
  window.mapsDrawn = 0;
  const sized = (change) => change.target.matches?.(".st-key-tree_map .main-svg");
  const count = (changes) => { if (changes.some(sized)) window.mapsDrawn += 1; };
  new MutationObserver(count).observe(
    document, {subtree: true, attributes: true, attributeFilter: ["width"]});
}"""
"""Counts how often plotly lays out the map; what it does in one go comes in one piece."""


def test_the_map_is_drawn_once(grown, page, visit):
    page.goto(f"{grown.url}/tree?tab=criteria")
    page.get_by_role("heading", name="Capability tree").wait_for()
    page.evaluate(DRAWN)
    page.get_by_role("link", name="Map", exact=True).click()
    page.locator(SLICE).first.wait_for()
    page.wait_for_timeout(1500)  # a second drawing would come by then
    assert page.evaluate("() => window.mapsDrawn") == 1


def test_a_click_in_the_icicle_opens_the_card(grown, page, made, visit, shot, note):
    begun = time.perf_counter()
    page.goto(f"{grown.url}/tree")
    page.locator(SLICE).first.wait_for()
    note("map_ready", begun)
    assert page.locator(SLICE).count() == len(list(made.tree.walk())) + 1
    card(page, made.tree.name)
    shot(page, f"tree-{len(made.tree.leaves)}-map")
    begun = time.perf_counter()
    page.locator(TEXT, has_text="Reasoning").first.click(force=True)
    card(page, "Reasoning")
    note("click_to_card", begun)
    page.wait_for_url("**node=Reasoning**")
    page.wait_for_timeout(1200)  # the icicle's own zoom
    field = page.locator(TEXT, has_text="Reasoning field 1").first
    begun = time.perf_counter()
    field.click(force=True)
    card(page, "Reasoning field 1")
    note("second_click_to_card", begun)
    shot(page, f"tree-{len(made.tree.leaves)}-chosen")
    page.wait_for_timeout(1200)
    field.click(force=True)  # the node drawn first: one up
    page.locator(".card .crumbs", has_text="root").wait_for()
    page.locator(".card .crumbs a", has_text="Tree").click()
    card(page, made.tree.name)
    assert visit.errors == []


def test_a_card_leads_to_the_failures_behind_it(grown, page, made):
    page.goto(f"{grown.url}/tree?{urlencode({'node': 'Knowledge'})}")
    page.locator(".card .worst a").first.click()
    page.wait_for_url("**/failures?**criterion=**")
    page.locator("[data-why]").wait_for()


def test_words_find_a_node(grown, page, made, note):
    page.goto(f"{grown.url}/tree")
    field = page.locator(".st-key-tree_find input")
    field.fill("skill 7")
    begun = time.perf_counter()
    field.press("Enter")
    page.locator(".hits a", has_text="Skill 7").first.click()
    card(page, "Skill 7")
    note("search_to_card", begun)


def test_the_network_asks_nothing_of_anybody(grown, page, made, visit, shot, note):
    begun = time.perf_counter()
    page.goto(f"{grown.url}/tree?tab=network")
    outer = page.locator(".st-key-tree_network iframe").content_frame
    assert outer.locator("script").count() == 0
    inner = outer.locator("iframe")
    assert inner.get_attribute("sandbox") == "allow-scripts"
    frame = inner.content_frame
    frame.locator("canvas").wait_for()
    note("network_ready", begun)
    page.wait_for_timeout(800)
    shot(page, f"tree-{len(made.tree.leaves)}-network")
    scale = frame.locator("body").evaluate("() => network.getScale()")
    spots = frame.locator("body").evaluate("() => Object.keys(network.getPositions()).length")
    assert scale > 0
    assert spots >= len(list(made.tree.walk())) + 1
    assert page.evaluate("window.pwned") is None
    assert frame.locator("body").evaluate("() => window.pwned") is None
    assert visit.foreign == []
    assert visit.errors == []


def test_an_edit_by_hand_and_back(start_app, tmp_path, page):
    made = make_tree_store(tmp_path / "store", 24, samples=24)
    app = start_app(store=made.folder, demo=tmp_path / "none")
    path = next(leaf for leaf in made.tree.leaves if leaf[-1] == "Skill 9")
    page.goto(f"{app.url}/tree?{urlencode({'node': ' › '.join(path)})}")
    card(page, "Skill 9")
    page.locator(".st-key-tree_hand").get_by_test_id("stPopover").locator("button").click()
    field = page.locator("[class*='st-key-tree_rename'] input")
    field.fill("Reading signs")
    field.press("Enter")
    page.locator("[class*='st-key-tree_do_rename'] button").click()
    card(page, "Reading signs")
    page.locator(".card .log", has_text="renamed Skill 9 to Reading signs").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Undone: rename").wait_for()
    page.get_by_role("button", name="Redo").click()
    page.get_by_text("Done again: rename").wait_for()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_no_tab_is_wider_than_the_window(grown, new_page, made, scheme, width, shot):
    page = new_page(scheme=scheme, width=width, height=900)
    ready = {
        "map": SLICE,
        "versions": "[class*='st-key-tree_versions'] table",
        "validity": "[class*='st-key-tree_validity'] .verdict",
    }
    for tab, sign in ready.items():
        page.goto(f"{grown.url}/tree?tab={tab}")
        page.locator(sign).first.wait_for(timeout=120_000)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
        shot(page, f"tree-{len(made.tree.leaves)}-{tab}-{width}-{scheme}")

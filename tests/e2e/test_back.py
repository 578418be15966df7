"""Where Back leads, what lies below the fold, and whether focus is seen, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.atom.ui.test_kit import contrast

pytestmark = pytest.mark.browser
RANKING = "table[aria-label='Ranking of models']"
IDLE = "[data-test-script-state=notRunning]"
MAP = ".st-key-tree_map .slicetext"


def entries(page) -> int:
    """Return how many entries the browser's history has."""
    return page.evaluate("history.length")


def test_a_door_is_one_step_back_and_maps_and_menus_come_back_with_it(app, page):
    """Walk B1, B3: once Back needed two presses, met filters never chosen, and left the map."""
    page.goto(app.url)
    weak = page.locator(f"{RANKING} a", has_text="▼").first
    weak.wait_for()
    before, n = page.url, entries(page)
    weak.click()
    page.locator(".listing a.item").first.wait_for()
    assert entries(page) == n + 1
    page.go_back()
    page.locator(RANKING).wait_for()
    assert page.url == before
    expect(page.locator(".chain")).not_to_contain_text("Model")

    page.goto(f"{app.url}/tree")
    page.locator(MAP, has_text="Reasoning").first.wait_for()
    n = entries(page)
    page.locator(MAP, has_text="Reasoning").first.click(force=True)
    page.wait_for_url(re.compile("node=Reasoning"))
    page.locator(MAP, has_text="Arithmetic").first.wait_for()
    expect(page.locator(MAP, has_text="Perception").first).to_be_hidden()
    assert entries(page) == n + 1
    page.go_back()
    expect(page.locator(MAP, has_text="Perception").first).to_be_visible()
    expect(page.locator(".card")).to_contain_text("The whole tree")

    colour = page.locator(".st-key-tree_colour input").first
    first = colour.input_value()
    colour.click()
    page.get_by_role("option", name="Number of criteria").click()
    page.wait_for_url(re.compile("colour=support"))
    expect(colour).to_have_value("Number of criteria")
    page.go_back()
    expect(colour).to_have_value(first)
    page.go_forward()
    expect(colour).to_have_value("Number of criteria")


def test_the_menu_is_in_sight_shows_its_focus_and_makes_room(app, new_page):
    """Walk B6: once Data lay below the fold, and focus looked like the current page."""
    page = new_page(width=1280, height=720)
    page.goto(app.url)
    page.locator(RANKING).wait_for()
    page.locator(IDLE).wait_for()
    last = page.get_by_test_id("stPageLink").last
    box = last.bounding_box()
    assert box["y"] + box["height"] <= 720
    page.keyboard.press("Tab")
    link = last.locator("a")
    link.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    width, ink, ground = link.evaluate(
        """node => { const look = getComputedStyle(node);
        return [look.outlineWidth, look.outlineColor,
                getComputedStyle(node.closest("section")).backgroundColor]; }"""
    )
    hexes = ["#{:02X}{:02X}{:02X}".format(*map(int, re.findall(r"\d+", one)[:3]))
             for one in (ink, ground)]  # fmt: skip
    assert width == "2px"
    assert contrast(*hexes) >= 3

    # At 200 % zoom the menu once covered the left third of every page at every load.
    page = new_page(width=640, height=450)
    page.goto(app.url)
    page.locator(RANKING).wait_for()
    page.locator(IDLE).wait_for()
    menu = page.locator("section[data-testid=stSidebar]").bounding_box()
    assert menu is None or menu["x"] + menu["width"] <= 1
    page.get_by_test_id("stExpandSidebarButton").locator("visible=true").first.click()
    expect(page.get_by_test_id("stPageLink").last).to_be_visible()
    expect(page.get_by_test_id("stSidebarCollapseButton").locator("button")).to_be_visible()

"""The Fingerprints page in a real browser: a click on a cell, a point and a chip."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.browser
CHART = ".st-key-fingerprint_heat"
CELL = f"{CHART} svg .mark-rect path"


def test_a_click_on_a_cell_opens_the_answers_behind_it(app, page, visit, shot):
    page.goto(f"{app.url}/fingerprints")
    page.locator(".facts li").first.wait_for()
    page.locator(CELL).first.wait_for()
    shot(page, "fingerprints")
    weak = page.locator(f"{CHART} svg .mark-text text", has_text="▼").first
    weak.scroll_into_view_if_needed()
    name = re.search(r"column: ([^;]+);", weak.get_attribute("aria-label"))[1]
    box = weak.bounding_box()
    # The glyph lies on its cell, which takes the click.
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url(re.compile(r"/failures\?.*node="))
    assert parse_qs(urlsplit(page.url).query)["node"][0].endswith(name)
    assert "model=" in page.url
    assert "show=all" in page.url
    page.locator(".listing a.item").first.wait_for()
    assert visit.errors == []


def test_axis_and_chip_are_doors_that_the_keyboard_reaches(app, page):
    page.goto(f"{app.url}/fingerprints?cols=score")
    chip = page.locator(".picks a", has_text="model-b")
    chip.click()
    page.wait_for_url(re.compile(r"peers=.*peers="))
    page.locator(".picks a[aria-current]", has_text="model-b").wait_for()
    assert "cols=score" in page.url
    axis = page.locator(".radar a.spot[tabindex='0']").first
    axis.focus()
    page.locator(".tip").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/failures\?.*node="))

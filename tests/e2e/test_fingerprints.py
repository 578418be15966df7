"""The Fingerprints page in a real browser: a click on a cell, a point and a chip."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.browser
HEAT = "table.heatmap"


def test_a_cell_opens_the_answers_behind_it_by_mouse_and_by_keys(app, page, visit, shot):
    page.goto(f"{app.url}/fingerprints")
    page.locator(".facts li").first.wait_for()
    first = page.locator(f"{HEAT} td a").first
    first.wait_for()
    shot(page, "fingerprints")
    first.focus()
    page.keyboard.press("ArrowDown")
    # The root's last column, and over the gap to the next root's first.
    for _ in range(13):
        page.keyboard.press("ArrowRight")
    there = page.evaluate("document.activeElement.shadowRoot.activeElement.dataset.tip")
    assert page.locator(f"{HEAT} td a[tabindex='0']").count() == 1
    cell = page.locator(f"{HEAT} tbody tr:nth-child(2) td:not([aria-hidden]) a").nth(13)
    assert there == cell.get_attribute("data-tip")
    weak = page.locator(f"{HEAT} td a", has_text="▼").first
    name = weak.get_attribute("data-tip").splitlines()[0].partition(": ")[2]
    weak.click()
    page.wait_for_url(re.compile(r"/failures\?.*node="))
    assert parse_qs(urlsplit(page.url).query)["node"][0] == name
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

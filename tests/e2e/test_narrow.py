"""Screens in a narrow window: what belongs together stays together."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from benchmarks import sweep
from benchmarks.sweep import MOVE

WIDTHS = (900, 1024)
HOVERED = "rgb(36, 87, 214)"
"""What the mouse lies on has a line in the accent."""
ROOM = "() => document.fonts.ready.then(() => true)"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_question_field_stands_beside_the_study(app, new_page, width):
    page = new_page(width=width, height=800)
    page.goto(app.url)
    page.locator("table[aria-label='Ranking of models']").wait_for()
    page.evaluate(ROOM)
    study = page.locator(".chain .step.study").bounding_box()
    for after in (page.locator(".chain input.asks"), page.get_by_role("button", name="Copy link")):
        box = after.bounding_box()
        assert abs(box["y"] - study["y"]) < 8
        assert box["x"] >= study["x"] + study["width"]
        study = study | {"width": box["x"] + box["width"] - study["x"]}


def test_a_number_and_its_unit_stay_on_one_line(app, new_page):
    page = new_page(width=900, height=800)
    page.goto(app.url)
    ranking = page.locator("table[aria-label='Ranking of models']")
    ranking.wait_for()
    text = ranking.inner_text()
    assert re.search(r"\d\u00a0%", text)
    assert not re.search(r"\d %|\bn \d", text)
    # What is saved has plain spaces.
    ranking.hover()
    with page.expect_download() as saved:
        page.get_by_label("Save as CSV: Ranking of models").click()
    text = saved.value.path().read_text(encoding="utf-8")
    assert " %" in text
    assert "\u00a0" not in text


def test_a_window_of_900_at_twice_its_size_can_be_read(app, new_page):
    """Tabs ran out of the page, a badge lay on a button, and charts' words were 8 px high."""
    page = new_page(width=450, height=400)
    page.goto(app.url)
    page.locator(".st-key-brand").wait_for(state="attached")
    for address in (
        "failures",
        "judge-lab?tab=vl_rewardbench",
        "judge-lab?tab=pairs",
        "fingerprints",
    ):
        assert not any(sweep.look(page, address).values())


def test_a_mouse_that_rests_while_the_page_changes_opens_no_tip(app, new_page):
    """Presenter mode's tip lay over the tour's first stop after a click on Take the tour."""
    page = new_page(width=900, height=800)
    page.goto(f"{app.url}/?tour=1")
    presenter = page.locator(".tour").get_by_role("button", name="Presenter mode")
    box = presenter.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.goto(app.url)
    page.locator("table[aria-label='Ranking of models']").wait_for()
    page.mouse.move(x, y)
    page.evaluate(MOVE, "?tour=1")
    presenter.wait_for()
    expect(presenter).to_have_css("border-color", HOVERED)
    page.wait_for_timeout(200)
    assert page.locator(".tip").count() == 0
    page.mouse.move(x + 3, y)
    page.locator(".tip").wait_for()


def test_menus_that_the_tour_leaves_out_leave_no_gap_above_the_radars(app, new_page):
    page = new_page(width=1280, height=720)
    page.goto(f"{app.url}/fingerprints?tour=4")
    page.locator(".radars svg").first.wait_for()
    page.evaluate(ROOM)
    above = page.locator(".st-key-fingerprints_choices").bounding_box()
    radars = page.locator(".st-key-fingerprints_radars").bounding_box()
    assert 0 <= radars["y"] - above["y"] - above["height"] < 15

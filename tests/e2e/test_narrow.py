"""Screens in a narrow window: what belongs together stays together."""

from __future__ import annotations

import pytest

from benchmarks import sweep
from tests.app.screen_store import make_store

WIDTHS = (900, 1024)
ROOM = "() => document.fonts.ready.then(() => true)"


@pytest.fixture(scope="module")
def narrow(start_app, tmp_path_factory):
    """Return an app on a judged study."""
    made = make_store(tmp_path_factory.mktemp("narrow"))
    return start_app(store=made.folder, demo=tmp_path_factory.mktemp("no_demo"))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_question_field_stands_beside_the_study(narrow, new_page, width):
    page = new_page(width=width, height=800)
    page.goto(narrow.url)
    page.locator("table[aria-label='Ranking of models']").wait_for()
    page.evaluate(ROOM)
    study = page.locator(".chain .step.study").bounding_box()
    for after in (page.locator(".chain input.asks"), page.get_by_role("button", name="Copy link")):
        box = after.bounding_box()
        assert abs(box["y"] - study["y"]) < 8
        assert box["x"] >= study["x"] + study["width"]
        study = study | {"width": box["x"] + box["width"] - study["x"]}


def test_a_number_and_its_unit_stay_on_one_line(narrow, new_page):
    page = new_page(width=900, height=800)
    page.goto(narrow.url)
    ranking = page.locator("table[aria-label='Ranking of models']")
    ranking.wait_for()
    cell = ranking.locator("td", has_text="%").first
    cell.evaluate("node => node.style.cssText += ';width: 10px; max-width: 10px'")
    assert "%" in cell.inner_text()
    assert page.evaluate(sweep.LOOK, [sweep.LEAST_PX, sweep.CONTRAST])["apart"] == []
    # What is saved has plain spaces.
    ranking.hover()
    with page.expect_download() as saved:
        page.get_by_label("Save as CSV: Ranking of models").click()
    text = saved.value.path().read_text(encoding="utf-8")
    assert " %" in text
    assert "\u00a0" not in text


def test_a_mouse_that_rests_while_the_page_changes_opens_no_tip(narrow, new_page):
    """Presenter mode's tip lay over the tour's first stop after a click on Take the tour."""
    page = new_page(width=900, height=800)
    page.goto(narrow.url)
    page.locator("table[aria-label='Ranking of models']").wait_for()
    tipped = page.locator(".chain input.asks")
    box = tipped.bounding_box()
    x, y = box["x"] + 20, box["y"] + 10
    tipped.evaluate("node => { node.style.visibility = 'hidden' }")
    page.mouse.move(x, y)
    tipped.evaluate("node => { node.style.visibility = '' }")
    page.wait_for_timeout(500)
    assert page.locator(".tip").count() == 0
    page.mouse.move(x + 3, y)
    page.locator(".tip").wait_for()

"""A person works through failures: scores by key, a saved slice reopened, and compared."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from atom.store import Store
from atom.store.labels import everything_said
from tests.app.screen_store import make_store

pytestmark = pytest.mark.browser


def test_marked_by_key_and_kept_as_a_slice(start_app, page, new_page, shot, tmp_path):
    """Walk B15: once failures had no note, no flag and no list to keep."""
    made = make_store(tmp_path / "store")
    app = start_app(store=made.folder, demo=tmp_path)
    page.goto(f"{app.url}/failures?among=difficulty:easy")
    page.locator("#mark_who").fill("Ada")
    page.keyboard.press("Enter")
    two = page.locator("[data-act='score:2']")
    flag = page.locator("[data-act=flag]")
    two.wait_for()
    page.keyboard.press("2")
    expect(two).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("f")
    expect(flag).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("n")
    page.keyboard.type("5 apples, f")
    page.keyboard.press("Enter")
    page.locator(".told li", has_text="5 apples, f").wait_for()
    page.keyboard.press("5")
    expect(page.locator("[data-act='score:5']")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("u")
    expect(two).to_have_attribute("aria-pressed", "true")
    # What the reader brought is no news to them.
    expect(page.get_by_text("new result")).to_have_count(0)
    shot(page, "failures-marked")
    with Store.open(made.folder) as store:
        said = everything_said(store, made.study.id)
    assert sorted((one.kind, one.value, one.label, one.annotator) for one in said) == [
        ("flag", None, "flag", "Ada"),
        ("remark", None, "5 apples, f", "Ada"),
        ("score", 2.0, "", "Ada"),
    ]

    # What the keyboard has is seen: a line of 2 px in the accent, 6:1 against white.
    kept = page.get_by_role("button", name="Slices, tags")
    page.keyboard.press("Tab")
    kept.focus()
    expect(kept).to_have_css("outline-width", "2px")
    expect(kept).to_have_css("outline-color", "rgb(36, 87, 214)")
    kept.click()
    name = page.get_by_label("Save this search and its filters as")
    name.fill("Easy ones")
    name.press("Enter")
    page.get_by_role("button", name="Save slice").click()
    link = page.locator(".st-key-keep_slices").get_by_role("link", name="Easy ones")
    link.wait_for()
    other = new_page()
    other.goto(f"{app.url}/{link.get_attribute('href')}")
    other.get_by_text("difficulty: easy").first.wait_for()
    other.locator(".told li", has_text="5 apples, f").wait_for()

    page.locator(".st-key-keep_slices").get_by_role("link", name="compare").click()
    table = page.locator("[aria-label='Slices by capability']")
    table.locator("tr", has_text="Sample scores").wait_for()
    expect(page.get_by_label("The second side: slice")).to_be_visible()
    shot(page, "slices-compared")

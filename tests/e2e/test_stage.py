"""The stage script of docs/demo.md, walked at 1280 × 720, offline."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

RANKING = "table[aria-label='Ranking of models']"
CRITERIA = "table[aria-label='Criteria and scores']"
CASE = "The boiler is over the limit"
"""Begins the question of the case that the script opens."""
COPYING_MS = 240_000
"""The first change copies the bundled study."""
LARGER = """() => {
  const drawing = document.querySelector(".st-key-tree_map .main-svg");
  return Math.abs(drawing.getBoundingClientRect().width - 1.2 * drawing.getAttribute("width")) < 2;
}"""
"""Whether the tree's map is drawn as large as everything else for a presenter."""
NAMES = """() => [...document.querySelectorAll(".st-key-tree_map .slicetext")].map((name) => {
  const size = parseFloat(getComputedStyle(name).fontSize);
  return size * name.getCTM().a * 1.2;
})"""
"""How large the names in the map are, in pixels of the window."""
STEPS = "table[aria-label='Steps before and after']"


@pytest.fixture(scope="module")
def stage(start_app, project):
    """Return an app on the bundled study with an empty store, as on a stage."""
    if not (project / "data" / "demo" / "SHA256SUMS").exists():
        pytest.skip("the bundled study isn't in this checkout (data/demo)")
    return start_app()


def on_screen(page, locator) -> bool:
    """Say whether it lies in the window without scrolling."""
    box = locator.bounding_box()
    size = page.viewport_size
    return box is not None and 0 <= box["y"] <= size["height"] - 20


def outcome(page) -> dict[str, object]:
    """Return what the link must bring back."""
    page.locator(".outcome").wait_for()
    return {
        "said": page.locator(".outcome").inner_text(),
        "chain": page.locator(".chain .link").all_inner_texts(),
        "steps": page.locator(STEPS).inner_text(),
    }


def test_three_minutes_on_a_stage(stage, page, new_page, visit, shot):
    """Walk B13: once the first case of the demo quoted nothing and lay below the fold."""
    # Who is ahead, and how surely.
    page.goto(stage.url)
    expect(page.locator(RANKING)).to_be_visible()
    leads = page.locator("ul.facts li").first
    expect(leads).to_contain_text(re.compile("lead|ahead|first"))
    assert on_screen(page, leads)
    shot(page, "stage-1-overview")

    # A weakness leads to its capability and its worst cases.
    weakness = page.locator(f"{RANKING} a", has_text="Needle").first
    model = weakness.locator("xpath=ancestor::tr").locator(".model").inner_text()
    node = weakness.inner_text().replace("▼", "").strip()
    weakness.click()
    page.wait_for_url("**/failures?**")
    chain = page.locator(".chain")
    expect(chain).to_contain_text(node)
    expect(chain).to_contain_text(model)

    # A case of it; its worst criterion: picture, region, span, reason.
    page.locator(".listing a.item", has_text=CASE).first.click()
    page.wait_for_url("**sample=**")
    page.locator(".case", has_text=CASE).wait_for()
    page.locator("h1").scroll_into_view_if_needed()
    expect(page.locator(".figure img").first).to_be_visible()
    expect(page.locator(".figure .region.lit").first).to_be_visible()
    expect(page.locator(f"{CRITERIA} tr.on")).to_be_visible()
    reason = page.locator("[data-why] .reason")
    assert on_screen(page, page.locator(".figure").first)
    assert on_screen(page, reason)
    assert len(reason.inner_text()) > 5
    # Another criterion, of which the answer says something: its words are marked.
    words = page.locator(".case mark[data-light]").first
    light = words.get_attribute("data-light")
    page.locator(f"{CRITERIA} tr[data-light='{light}'] td a").first.click()
    page.locator(".case mark[data-on]").first.wait_for()
    page.locator(f".figure .region.lit[data-light='{light}']").first.wait_for()
    shot(page, "stage-2-case")

    # The model tries again.
    again = page.get_by_role("link", name="Let the model try again")
    assert on_screen(page, again)
    again.click()
    page.wait_for_url("**/correction?**")
    start = page.locator(".st-key-one_start button")
    expect(start).to_be_visible()
    expect(page.locator(".st-key-one_price")).to_contain_text("free, offline")
    shot(page, "stage-3-before")
    start.click()
    said = page.locator(".outcome")
    expect(said).to_contain_text("After asking about the failed steps", timeout=COPYING_MS)
    expect(said).to_contain_text("the answer was wrong, and is right")
    expect(said).to_contain_text(re.compile(r"Steps: \d\.\d\d → \d\.\d\d of 5"))
    expect(said).to_contain_text("The control, another try without feedback:")
    before, after = map(float, re.search(r"(\d\.\d\d) → (\d\.\d\d)", said.inner_text()).groups())
    assert after > before
    assert on_screen(page, said)
    expect(page.locator("[data-diff] ins").first).to_be_attached()
    shot(page, "stage-4-after")

    # The link brings all of it back, and asks nobody.
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("button[data-copy=link]").click()
    page.locator("button[data-copy=link]", has_text="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    seen = outcome(page)
    other = new_page()
    other.goto(link)
    assert outcome(other) == seen
    expect(other.get_by_text("Tried already")).to_be_visible()
    assert visit.errors == []


def test_the_named_answer_rises(stage, page, project):
    """Walk B13: the demo's link opens an answer that comes right, where its control doesn't."""
    text = (project / "docs" / "demo.md").read_text(encoding="utf-8")
    link = re.search(r"`(correction\?\S+)`", text)[1]
    page.goto(f"{stage.url}/{link}")
    page.locator(".st-key-one_start button").click(timeout=COPYING_MS)
    said = page.locator(".outcome")
    expect(said).to_contain_text("the answer was wrong, and is right")
    expect(said).to_contain_text("Steps: 1.20 → 5.00 of 5")
    expect(said).to_contain_text("The control, another try without feedback:")


def test_a_presenter_turns_the_stops_by_keys_and_sees_them_larger(stage, page, shot):
    page.goto(f"{stage.url}/?tour=1")
    tour = page.locator(".tour")
    expect(tour).to_contain_text("Tour, 1 of")
    expect(page.locator(RANKING)).to_be_visible()
    menu = page.get_by_test_id("stSidebar")
    expect(menu).to_be_visible()
    page.keyboard.press("p")
    expect(menu).to_be_hidden()
    assert on_screen(page, page.locator(f"{RANKING} tbody tr").first)
    shot(page, "stage-5-presenter")
    page.keyboard.press("PageDown")
    expect(tour).to_contain_text("Tour, 2 of")
    expect(menu).to_be_hidden()
    expect(page.locator(".figure .region.lit").first).to_be_visible()
    assert on_screen(page, page.locator("[data-why] .reason"))
    shot(page, "stage-6-presenter-case")
    page.keyboard.press("PageDown")
    expect(tour).to_contain_text("Tour, 3 of")
    expect(page.locator(".slicetext", has_text="Needle").first).to_be_visible()
    # Drawn in fewer pixels, and then larger: nothing of it lies below the fold.
    page.wait_for_function(LARGER)
    heights = page.evaluate(NAMES)
    assert min(heights) >= 12
    box = page.locator(".st-key-tree_map_box").bounding_box()
    assert box["y"] + box["height"] <= page.viewport_size["height"]
    shot(page, "stage-7-presenter-tree")
    page.keyboard.press("PageUp")
    expect(tour).to_contain_text("Tour, 2 of")
    page.keyboard.press("p")
    expect(menu).to_be_visible()


def test_the_tours_radars_are_whole_on_the_screen(stage, page, shot):
    page.goto(f"{stage.url}/?tour=1")
    tour = page.locator(".tour")
    for number in (2, 3, 4):
        tour.get_by_text("Next", exact=True).click()
        expect(tour).to_contain_text(f"Tour, {number} of")
    radars = page.locator(".radars svg")
    expect(radars).to_have_count(2)
    expect(page.locator(".st-key-fingerprint_heat")).to_be_visible()
    for box in (radar.bounding_box() for radar in radars.all()):
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= page.viewport_size["height"]
    shot(page, "stage-8-tour-shapes")
    page.keyboard.press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    for box in (radar.bounding_box() for radar in radars.all()):
        assert box["y"] + box["height"] <= page.viewport_size["height"]
    shot(page, "stage-9-presenter-shapes")

"""From the ranking to one failed criterion, in a real browser; and the same by its link."""

from __future__ import annotations

import csv
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.app.screen_store import make_store
from tests.e2e.looks import LOOKS

NEVER = "Page not found"
CRITERIA = "table[aria-label='Criteria and scores']"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a judged study in a store of its own."""
    return make_store(tmp_path_factory.mktemp("walk"))


@pytest.fixture(scope="module")
def walked(start_app, made, tmp_path_factory):
    """Return an app on that store."""
    return start_app(store=made.folder, demo=tmp_path_factory.mktemp("no_demo"))


def reason(page):
    """Return the judge's reason as it is shown."""
    return page.locator("[data-why] .reason").inner_text()


def lit(page):
    """Return the number on the region that is lit."""
    return page.locator(".figure .tag.lit").all_inner_texts()


def proof(page):
    """Return what a link must reproduce: region, reason, span and chain."""
    page.locator("[data-why] .reason").wait_for()
    page.locator(".figure .region.lit").first.wait_for()
    return {
        "region": lit(page),
        "reason": reason(page),
        "span": page.locator("mark[data-on]").all_inner_texts(),
        "chain": page.locator(".chain").inner_text(),
        "row": page.locator(f"{CRITERIA} tr.on").inner_text(),
    }


def test_a_weakness_leads_to_its_picture_in_the_bundled_study(app, page, new_page, visit, shot):
    """Four clicks: the weakness in the ranking, a sample, a criterion; one is left over."""
    page.goto(app.url)
    ranking = page.locator("table[aria-label='Ranking of models']")
    ranking.wait_for()
    shot(page, "walk-1-ranking")
    ranking.hover()
    with page.expect_download() as saving:
        ranking.get_by_role("button", name="Save as CSV").click()
    saved = list(csv.DictReader(saving.value.path().read_text(encoding="utf-8").splitlines()))
    assert saving.value.suggested_filename == "Ranking-of-models.csv"
    assert [row["Model"] for row in saved] == ranking.locator(".model").all_inner_texts()
    ranking.locator("a", has_text="▼").first.click()
    page.wait_for_url("**/failures?**")
    page.locator(".listing a.item:has(img)").nth(1).click()
    page.wait_for_url(re.compile("sample="))
    page.locator(".chain", has_text="Sample").wait_for()
    failed = page.locator(f"{CRITERIA} tbody tr.on")
    failed.wait_for()
    before = page.evaluate("window.scrollY")
    other = page.locator(f"{CRITERIA} tbody tr:not(.on)").first
    number = other.locator("td").first.inner_text().strip()
    other.locator("a").first.click()
    page.locator("[data-why]", has_text=f"on criterion {number}").wait_for()
    page.locator(".figure .tag.lit", has_text=number).first.wait_for()
    assert page.evaluate("window.scrollY") == before
    page.go_back()
    page.locator("[data-why]", has_text=f"on criterion {number}").wait_for(state="detached")
    seen = proof(page)
    shot(page, "walk-2-reason")
    assert set(seen["region"]) != {number}
    assert len(seen["reason"]) > 10
    assert "Sample" in seen["chain"]
    picture = page.locator(".figure img").first
    page.wait_for_function(
        "image => image.complete && image.naturalWidth > 100", arg=picture.element_handle()
    )
    again = new_page()
    again.goto(page.url)
    assert proof(again) == seen
    assert visit.errors == []


def test_the_reason_quotes_the_answer_and_lights_the_region(walked, page, made):
    query = {
        "sample": made.sample_ids[0], "model": made.candidate_ids[0],
        "criterion": made.criterion_ids[0][1],
    }  # fmt: skip
    page.goto(f"{walked.url}/failures?{urlencode(query)}")
    seen = proof(page)
    assert seen["region"] == ["2"]
    assert "against the truth" in seen["reason"]
    assert seen["span"] == ["Bar C reaches 30."]


def test_a_region_in_the_picture_is_a_door(walked, page, made):
    page.goto(f"{walked.url}/failures?{urlencode({'sample': made.sample_ids[0]})}")
    page.locator(".figure .region[aria-label^='Region of criterion 2']").click(
        position={"x": 3, "y": 3}
    )
    page.locator(".figure .tag.lit", has_text="2").wait_for()
    page.wait_for_url(re.compile(made.criterion_ids[0][1]))


def test_hovering_a_criterion_lights_its_region_without_asking_the_server(walked, page, made):
    page.goto(f"{walked.url}/failures?{urlencode({'sample': made.sample_ids[0]})}")
    page.locator("[data-test-script-state=notRunning]").wait_for()
    page.locator(f"{CRITERIA} tbody tr").nth(2).hover()
    expect(page.locator(".figure .tag.lit")).to_have_text(["3"])
    page.locator("h1").hover()
    expect(page.locator(".figure .tag.lit")).to_have_text(["1"])


def test_arrow_keys_turn_the_pages(walked, page):
    page.goto(f"{walked.url}/failures")
    page.locator(".case").wait_for()
    first = page.locator(".case").get_attribute("data-case")
    page.keyboard.press("ArrowRight")
    page.locator(f".case:not([data-case='{first}'])").wait_for()
    page.keyboard.press("ArrowLeft")
    page.locator(f".case[data-case='{first}']").wait_for()


def test_the_link_is_copied(walked, page):
    page.goto(f"{walked.url}/failures")
    page.locator(".case").wait_for()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("button[data-copy=link]").click()
    page.locator("button[data-copy=link]", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_the_menu_keeps_the_chain(walked, page, made):
    query = urlencode({"study": made.study.id, "model": made.candidate_ids[1]})
    page.goto(f"{walked.url}/failures?{query}")
    page.locator(".chain", has_text="model-b").wait_for()
    page.get_by_test_id("stPageLink").filter(has_text="Overview").locator("a").click()
    page.locator("table[aria-label='Ranking of models']").wait_for()
    assert made.candidate_ids[1] in page.url
    assert "model-b" in page.locator(".chain").inner_text()
    page.locator(".chain a[aria-label='Clear model']").click()
    page.wait_for_url(lambda url: made.candidate_ids[1] not in url)


def test_a_filter_is_set_in_its_box_and_lives_in_the_address(walked, page):
    page.goto(f"{walked.url}/failures")
    page.locator(".listing a.item").first.wait_for()
    page.locator(".st-key-chain_row").get_by_role("button", name="Filters").click()
    page.locator(".st-key-filter_facet_difficulty").locator("input").click()
    page.get_by_role("option", name="hard", exact=True).click()
    page.wait_for_url(re.compile("tag=difficulty"))
    page.locator(".chain", has_text="difficulty: hard").wait_for()


def test_hostile_texts_do_nothing(walked, page, made, visit):
    query = urlencode({"sample": made.sample_ids[5], "show": "all"})
    page.goto(f"{walked.url}/failures?{query}")
    page.locator("[data-why]").wait_for()
    assert page.evaluate("window.pwned") is None
    assert page.locator(".case script, .case img[src^='http:']").count() == 0
    assert visit.foreign == []
    assert visit.errors == []


def test_a_deep_link_is_right_as_a_fresh_servers_first_request(start_app, made, page, new_page,
                                                               tmp_path):  # fmt: skip
    fresh = start_app(store=made.folder, demo=tmp_path, as_users_do=True)
    query = {
        "study": made.study.id,
        "model": made.candidate_ids[0],
        "sample": made.sample_ids[0],
        "criterion": made.criterion_ids[0][1],
    }
    page.goto(f"{fresh.url}/failures?{urlencode(query)}")
    seen = proof(page)
    assert seen["region"] == ["2"]
    assert page.get_by_test_id("stPageLink").filter(has_text="Failures").is_visible()
    # Study, model, criterion and sample: no capability was chosen.
    assert page.locator(".chain").inner_text().count("▸") == 3
    assert page.get_by_text(NEVER).count() == 0
    assert page.locator("[role=dialog]").count() == 0


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_no_screen_is_wider_than_the_window(walked, new_page, scheme, width, shot, made):
    page = new_page(scheme=scheme, width=width, height=900)
    for name in ("", "failures"):
        page.goto(f"{walked.url}/{name}")
        page.locator(".atom table.grid").first.wait_for()
        main = page.get_by_test_id("stMain")
        assert main.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
        shot(page, f"{name or 'overview'}-{width}-{scheme}")

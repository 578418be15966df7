"""From the answer to a node, its pairs and one pair, in a real browser; and on to Failures."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser
AHEAD = "table[aria-label*='is ahead']"
ITEM = ".listing a.item"


def test_a_difference_leads_to_its_pairs_and_to_its_failures(app, page, visit, shot):
    page.goto(f"{app.url}/compare")
    page.locator(".verdict .say", has_text="shared samples").wait_for()
    shot(page, "compare-1-answer")
    row = page.locator(f"{AHEAD} tbody tr").first
    name = row.locator("a").first.locator("span").first.inner_text()
    shared, behind = row.locator("td").nth(5).inner_text(), row.locator("td").nth(6).inner_text()
    failed = behind.partition(" of ")[0]
    row.locator("a").first.click()
    page.locator("h2", has_text=f"Pairs inside {name}").wait_for()
    assert page.locator(".tabs a[aria-current]", has_text=f"All {shared}").count() == 1
    page.locator(ITEM).nth(1).click()
    page.wait_for_url(re.compile("sample="))
    page.locator(f"{ITEM}.on").wait_for()
    page.locator(".two [data-why]").nth(1).wait_for()
    assert page.locator(".pair .two > div > .said").count() == 2
    picture = page.locator(".pair .figure img").first
    page.wait_for_function(
        "image => image.complete && image.naturalWidth > 100", arg=picture.element_handle()
    )
    shot(page, "compare-2-pair")
    first = page.locator(".verdict .say").inner_text().split(" scores ")[0]
    page.locator("a.button", has_text="Swap").click()
    page.locator(".verdict .say", has_text=re.compile(f"lower than {first}")).wait_for()
    page.go_back()
    page.locator(".verdict .say", has_text=re.compile(f"^{first} scores")).wait_for()
    page.locator(f"{AHEAD} tbody tr").first.locator("td").nth(6).locator("a").click()
    page.wait_for_url("**/failures?**")
    page.locator(".listing").wait_for()
    page.locator("p.note", has_text=re.compile(rf"\b{failed} samples?\b")).first.wait_for()
    assert visit.errors == []

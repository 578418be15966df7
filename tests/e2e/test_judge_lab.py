"""Judge lab in a real browser: make a set, ask a judge, read its figures, share the link."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect


def test_a_judge_is_examined_without_a_key(start_app, page, new_page, visit, tmp_path_factory):
    app = start_app(demo=tmp_path_factory.mktemp("no_demo"))
    page.goto(f"{app.url}/judge-lab?tab=calibration")
    page.get_by_text("No Calibration on probes data yet").wait_for()
    page.get_by_label("Items", exact=True).fill("12")
    page.get_by_label("Items", exact=True).press("Enter")
    page.get_by_role("button", name="Make 12 items from probes").click()
    page.get_by_text("Nobody has judged this set yet.").wait_for()
    expect(page.get_by_text("12 items: 12 calls to probe-judge, free, offline.")).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text("probe-judge in detail").wait_for()
    expect(page.get_by_text("is better than guessing")).to_be_visible()
    expect(page.get_by_text("SYNTHETIC").first).to_be_visible()

    with page.expect_download() as waiting:
        page.get_by_role("link", name="Save as CSV").first.click()
    assert waiting.value.suggested_filename.endswith(".csv")
    saved = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert saved.startswith("judge,table,figure")

    page.get_by_role("link", name="probe-judge").first.click()
    page.wait_for_url(re.compile("who="))
    other = new_page(scheme="dark", width=900, height=900)
    other.goto(page.url)
    other.get_by_text("probe-judge in detail").wait_for()

    page.get_by_role("link", name="Published").click()
    page.get_by_text("Where the papers’ own figures disagree").wait_for()
    assert visit.errors == []

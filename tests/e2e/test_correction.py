"""A self-correction experiment on the bundled study, from the page, offline, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.app.correction_store import put_experiment
from tests.app.screen_store import make_store
from tests.e2e.holding import held, wait_until_stopping
from tests.e2e.looks import LOOKS

RESULT = "table[aria-label='Arms']"
LIMIT = "[class*='st-key-cform_limit'] input"


@pytest.fixture(scope="module")
def fresh(start_app, project):
    """Return an app on the bundled study with an empty store of its own."""
    if not (project / "data" / "demo" / "SHA256SUMS").exists():
        pytest.skip("the bundled study isn't in this checkout (data/demo)")
    return start_app()


@pytest.fixture(scope="module")
def kept(start_app, tmp_path_factory):
    """Return an app on a small store with an experiment that is over."""
    made = make_store(tmp_path_factory.mktemp("kept"))
    put_experiment(made)
    return start_app(store=made.folder, demo=tmp_path_factory.mktemp("no_demo"))


def progress(page) -> int:
    """Return how many steps are done."""
    text = page.get_by_text(re.compile(r"of [\d,]+ steps done")).inner_text()
    return int(re.search(r"([\d,]+) of", text)[1].replace(",", ""))


def test_an_experiment_is_started_stopped_resumed_and_read(fresh, page, visit, shot):
    page.goto(f"{fresh.url}/correction?tab=new")
    expect(page.get_by_text("this runs in your own copy")).to_be_visible()
    page.locator("label", has_text="A peer's hints").first.click()
    page.locator("label", has_text="Told it's wrong").first.click()
    expect(page.get_by_text("the paper's own gain can't be shown")).to_be_visible()
    page.locator(LIMIT).fill("24")
    page.locator(LIMIT).press("Enter")
    expect(
        page.get_by_text(re.compile("24 take part. [0-9]+ calls: .*free, offline"))
    ).to_be_visible()
    shot(page, "correction-1-form")
    page.locator(".st-key-correction_start button").click()
    with held(fresh.store):
        stop = page.locator(".st-key-correction_stop button")
        expect(stop).to_be_visible()
        stop.click()
        wait_until_stopping(fresh.store)
    resume = page.locator(".st-key-correction_resume button")
    expect(resume).to_be_visible()
    shot(page, "correction-2-stopped")
    done = progress(page)
    page.reload()
    expect(resume).to_be_visible()
    assert progress(page) >= done
    resume.click()
    with held(fresh.store):
        expect(page.locator(".st-key-correction_stop")).to_be_visible()
        expect(page.get_by_role("progressbar").first).to_be_visible()
    expect(page.locator(".st-key-correction_stop")).to_have_count(0)
    expect(page.locator(".st-key-correction_resume")).to_have_count(0)
    rows = page.locator(f"{RESULT} tbody tr")
    expect(rows).to_have_count(4)
    expect(page.get_by_text(re.compile("Asking about the failed steps fixes"))).to_be_visible()
    shot(page, "correction-3-result")

    fixed = rows.nth(1).locator("td").nth(2)
    count = fixed.inner_text().strip()
    fixed.locator("a").click()
    expect(page.locator(f"[data-count='{count}']")).to_be_visible()
    expect(page.locator(".listing a.item")).to_have_count(int(count))
    first = page.locator(".case").get_attribute("data-case")
    page.keyboard.press("ArrowRight")
    page.locator(f".case:not([data-case='{first}'])").wait_for()
    expect(page.locator("[data-diff] ins").first).to_be_visible()
    shot(page, "correction-4-answers")
    page.get_by_role("link", name="Where it helps").click()
    expect(page.get_by_text("Which steps came right together with the answer")).to_be_visible()
    assert visit.errors == []


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_no_part_is_wider_than_the_window(kept, new_page, scheme, width, shot):
    page = new_page(scheme=scheme, width=width, height=900)
    for name in ("", "where", "cases", "new"):
        page.goto(f"{kept.url}/correction?tab={name or 'result'}")
        page.locator(".tabs a[aria-current=true]").wait_for()
        proof = ".st-key-correction_start button" if name == "new" else ".atom table.grid"
        page.locator(proof).first.wait_for()
        main = page.get_by_test_id("stMain")
        assert main.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
        shot(page, f"correction-{name or 'result'}-{width}-{scheme}")

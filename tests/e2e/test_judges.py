"""One study through two judges and through people: from screens to a mark and its reason."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.judged import STUDY, open_judged


@pytest.fixture(scope="module")
def app(start_app, tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    with open_judged(folder / "workspace"):
        pass
    return start_app(store=folder / "workspace", demo=folder / "no_demo")


def judged_by(page, app, screen, judge):
    page.goto(f"{app.url}/{screen}?study={STUDY}&judge={judge}".replace(" ", "%20"))
    page.get_by_text(f"judge: {judge}").first.wait_for()


def reason_of(judge):
    """Return what a judge's reasons say; all people together are seen through each one's."""
    return [re.compile(f"{name} (sees|misses) it")
            for name in (("Ann", "Ben") if judge == "All people" else (judge,))]  # fmt: skip


@pytest.mark.parametrize(
    "judge", ["Judge X", pytest.param("Judge Y", marks=pytest.mark.sweep), "All people"]
)
def test_a_study_is_looked_at_through_each_judge(app, page, visit, judge):
    judged_by(page, app, "tree", judge)
    # Fingerprints: a capability's axis opens its failures, and a failure the mark and its reason.
    judged_by(page, app, "fingerprints", judge)
    axis = page.locator(".radar a.spot[tabindex='0']").first
    axis.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/failures\?.*node="))
    page.locator(".listing a.item").first.click()
    for reason in reason_of(judge):
        page.get_by_text(reason).first.wait_for()
    # Compare: a pair shows both marks with their reasons.
    judged_by(page, app, "compare", judge)
    page.locator(".listing a.item").nth(1).click()
    page.wait_for_url(re.compile("sample="))
    why = page.locator(".pair .two [data-why]")
    why.nth(1).wait_for()
    for side in range(2):
        text = why.nth(side).inner_text()
        assert any(reason.search(text) for reason in reason_of(judge)), text
    judged_by(page, app, "failures", judge)
    page.get_by_role("link", name=re.compile("A red ball left of a box")).first.click()
    for reason in reason_of(judge):
        page.get_by_text(reason).first.wait_for()
    assert visit.errors == []


def test_two_judges_are_compared_down_to_their_reasons(app, page, new_page, visit):
    page.goto(f"{app.url}/judge-lab?tab=judges")
    page.get_by_text("Do its judges say the same?").wait_for()
    table = page.get_by_label("Agreement of every two judges")
    expect(table.get_by_role("link", name="Judge X and Ann (person)")).to_be_visible()
    expect(table.get_by_role("link", name="Judge X and all people", exact=True)).to_be_visible()
    table.get_by_role("link", name="Judge X and Ann (person)").click()
    page.get_by_role("heading", name="Judge X and Ann, part by part").wait_for()
    page.get_by_label("Agreement by capability").get_by_role("link", name="Colours").click()
    page.get_by_role("heading", name=re.compile("of Perception.*Colours")).wait_for()
    marks = page.get_by_test_id("marks-of-both")
    expect(marks.get_by_text(re.compile("Judge X (sees|misses) it: Is the ball red")).first
           ).to_be_visible()  # fmt: skip
    expect(marks.get_by_text(re.compile("Ann (sees|misses) it: Is the ball red")).first
           ).to_be_visible()  # fmt: skip
    marks.get_by_role("link", name=re.compile("A red ball left of a box")).first.click()
    page.get_by_text(re.compile("Judge X (sees|misses) it: Is the ball red")).first.wait_for()
    assert visit.errors == []


def test_judges_stand_by_methods_beside_people(app, page, visit):
    page.goto(f"{app.url}/judge-lab?tab=people")
    side = page.get_by_test_id("judges-by-methods")
    side.wait_for()
    table = side.get_by_label("Judges by methods")
    for judge in ("Judge X", "Judge Y"):
        expect(table.get_by_role("link", name=judge)).to_be_visible()
    expect(side.get_by_text("Judge X and Judge Y")).to_be_visible()
    assert visit.errors == []


def test_declared_rules_stand_beside_the_plain_mean(app, page, visit):
    page.goto(f"{app.url}/?study={STUDY}".replace(" ", "%20"))
    rules = page.get_by_test_id("rubric-rules")
    rules.wait_for()
    expect(rules.get_by_text("Children only where parents hold")).to_be_visible()
    expect(rules.get_by_text("With must-haves")).to_be_visible()
    assert visit.errors == []

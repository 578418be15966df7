"""From a figure of a judge benchmark to one wrong item and its reason, in two clicks."""

from __future__ import annotations

import asyncio
import re

import pytest

from atom.engine.bench.judging import BenchSpec
from atom.engine.bench.sets import make_probe_set
from atom.engine.work import carry_out, open_work
from atom.judge.servers.endpoints import builtin_endpoints
from atom.store import Store

pytestmark = pytest.mark.browser
BENCHES = ("vl_rewardbench", "multi_crit", "mm_critic", "critic_bench")


@pytest.fixture(scope="module")
def judged_app(start_app, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab") / "store"
    known = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
    with Store.open(folder) as store:
        for name in BENCHES:
            record = make_probe_set(store, name, 12)
            spec = BenchSpec(
                set_id=record.id, judge="probe-judge-coin", scorer="probe-judge", votes=1
            )
            run = open_work(store, spec, known)
            assert asyncio.run(carry_out(store, run.id, known)).state == "done"
    return start_app(store=folder, demo=tmp_path_factory.mktemp("no_demo"))


@pytest.mark.parametrize("bench", BENCHES)
def test_two_clicks_from_a_figure_to_a_wrong_item(judged_app, page, new_page, visit, shot, bench):
    page.goto(f"{judged_app.url}/judge-lab?tab={bench}")
    page.locator("a[data-tip='Open these items']").first.wait_for()
    page.locator("a[data-tip='Open these items']").first.click()
    wrong = page.locator("a", has_text=re.compile(r"^Wrong \d"))
    number = wrong.inner_text().split()[-1]
    wrong.click()
    page.wait_for_url(re.compile("verdict=wrong"))
    page.locator(".listing a.item.on", has_text="Wrong").wait_for()
    page.locator(".case h2", has_text="What is true").wait_for()
    page.locator(".case nav", has_text=re.compile(rf"1 of {number}\D")).wait_for()
    row = page.locator(".case table.grid tbody tr", has_text="wrong").first
    assert row.locator("td").nth(4).inner_text().strip()
    shot(page, f"lab-items-{bench}")
    item = page.locator(".case h2").first.inner_text()
    following = page.locator(".case nav a:not([aria-disabled])", has_text="Next")
    if following.count():
        following.click()
        page.wait_for_url(re.compile("item="))
        page.locator(".case h2", has_text=re.compile("^Item ")).first.wait_for()
        page.go_back()
    again = new_page(scheme="dark", width=900, height=900)
    again.goto(page.url)
    again.locator(".case h2", has_text=item).first.wait_for()
    assert visit.errors == []

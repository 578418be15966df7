"""A blind control in a real browser: from the switch to the ranking without easy questions."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from atom.engine.control import wait_for_end
from atom.engine.demo import add_probes
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.worlds.make import make_probes
from atom.records import Study
from atom.store import Store

pytestmark = pytest.mark.browser
PROBES, SEED = 6, 5
MODELS = ("model-a", "model-b", "model-c")


@pytest.fixture(scope="module")
def stated(tmp_path_factory):
    """Return the folder of a small study of which some questions state their answer."""
    folder = tmp_path_factory.mktemp("stated")
    known = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
    with Store.open(folder) as store:
        study = Study(id=Study.make_id("Stated"), name="Stated", synthetic=True)
        store.put([study])
        probes = make_probes(PROBES, SEED, mix={"charts": 1, "gauges": 1})
        add_probes(store, study, probes, SEED, total=PROBES, tell=lambda *_: None, stated=0.5)
        spec = RunSpec(study_id=study.id, judge="probe-judge", candidates=MODELS)
        asyncio.run(run(store, spec, known))
    return folder


def test_from_the_switch_to_the_filtered_ranking(start_app, stated, page, visit, shot):
    app = start_app(store=stated)
    page.goto(f"{app.url}/runs?study=Stated")
    # The label takes the click, as the switch itself is drawn by it.
    page.locator("[class*='st-key-blind_on_'] label").first.click()
    start = page.locator(".st-key-blind_start button")
    expect(start).to_be_enabled()
    shot(page, "blind-1-switch")
    start.click()
    page.wait_for_url("**run=**")
    run_id = parse_qs(urlsplit(page.url).query)["run"][0]
    with Store.open(stated) as store:
        ended = wait_for_end(store, run_id, seconds=180).run
    assert (ended.state, ended.kind) == ("done", "blind")
    page.goto(f"{app.url}/fingerprints?study=Stated")
    section = page.get_by_test_id("blind")
    expect(section.get_by_role("heading", name="that the text answers")).to_be_visible()
    shot(page, "blind-2-fingerprints")
    section.get_by_text("Leave them out of everything").click()
    page.wait_for_url("**without=**")
    expect(page.locator(".chain")).to_contain_text("answerable from text")
    page.get_by_role("link", name="The whole ranking without them").click()
    page.locator("table[aria-label='Ranking of models']").wait_for()
    assert "without=" in page.url
    expect(page.locator(".chain")).to_contain_text("answerable from text")
    shot(page, "blind-3-ranking")
    assert visit.errors == []

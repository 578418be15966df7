"""A newcomer on a fresh store: from the first screen to their own CSV, and to a judged answer."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from atom.probes.serving.server import serving
from atom.records import Candidate, Checkpoint, Outcome, Response, Sample
from atom.store import Store, list_studies
from atom.ui.shell import welcome

SLOW_MS = 240_000
ITEMS, SYSTEMS = 20, 3
SHIFT = """() => { window.shift = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({type: "layout-shift", buffered: true}); }"""


@dataclass
class Clicks:
    """Counts what a hand does: clicks, and files that are chosen."""

    n: int = 0

    def on(self, place) -> None:
        """Click."""
        place.click()
        self.n += 1

    def choose(self, place, *files) -> None:
        """Choose files in one go."""
        place.set_input_files([str(one) for one in files])
        self.n += 1


@pytest.fixture(scope="module")
def browser_path(chromium_path: str) -> str:
    """Return the whole browser, which a newcomer has."""
    return chromium_path


@pytest.fixture(scope="module")
def own_files(project, tmp_path_factory):
    """Write three models' answers to twenty drawn pictures as a stranger's CSV, pictures in a zip.

    The columns are those of the walk in which a CSV once lost two of its three models.
    """
    folder, rows = tmp_path_factory.mktemp("newcomer"), []
    with Store.open(project / "data" / "demo", read_only=True) as store:
        models = sorted(store.select(Candidate), key=lambda one: one.name)[:SYSTEMS]
        drawn = [s for s in store.select(Sample) if len(s.pictures) == 1 and not s.choices][:ITEMS]
        answers = {(r.sample_id, r.candidate_id): r for r in store.select(Response)}
        right = {o.response_id: o for o in store.select(Outcome)}
        zipped = folder / "photos.zip"
        with zipfile.ZipFile(zipped, "w") as archive:
            for number, sample in enumerate(drawn):
                archive.writestr(f"p{number}.png",
                                 store.pictures.read(sample.pictures[0].picture_id))  # fmt: skip
                for model in models:
                    answer = answers[sample.id, model.id]
                    good = int(right[answer.id].value >= 0.5)
                    rows.append([number, sample.question, f"p{number}.png", sample.reference,
                                 model.name, answer.text, good])  # fmt: skip
    text = io.StringIO()
    csv.writer(text).writerows(
        [["item", "prompt", "photo", "gold", "system", "output", "is_correct"], *rows]
    )
    table = folder / "shelf_eval.csv"
    table.write_text(text.getvalue(), encoding="utf-8")
    return table, zipped, [model.name for model in models]


def test_from_the_door_to_ones_own_results_and_a_judged_answer(
    start_app, own_files, new_page, visit, shot, tmp_path
):
    table, zipped, names = own_files
    file = tmp_path / "endpoints.yaml"
    with serving() as url:
        # `probe:` lets a picture keep what the probe server reads; other servers get it without.
        entry = {"name": "my-judge", "base_url": f"probe:{url}", "model": "probe-judge",
                 "roles": ["judge"], "prices": {"input": 0, "output": 0}}  # fmt: skip
        file.write_text(json.dumps([entry]), encoding="utf-8")
        app = start_app(environ={"ATOM_ENDPOINTS": str(file)}, as_users_do=True)
        page, clicks = new_page(), Clicks()
        page.context.clear_cookies(name=welcome.COOKIE)
        page.add_init_script(f"({SHIFT})()")
        page.goto(app.url)
        page.locator(".welcome .region.lit").wait_for()
        expect(
            page.get_by_role("heading", name="See where a model breaks, and why")
        ).to_be_visible()
        assert page.evaluate("window.shift") < 0.1
        shot(page, "newcomer-1-door")
        entries = page.evaluate("history.length")
        clicks.on(page.get_by_role("link", name="Bring my results"))
        page.get_by_text("Drop files here").first.wait_for()
        assert page.evaluate("history.length") == entries + 1
        uploads = page.locator("input[type=file]")
        clicks.choose(uploads.first, table, zipped)
        expect(page.get_by_text("Recognised as table")).to_be_visible()
        shot(page, "newcomer-2-recognised")
        clicks.on(page.get_by_role("button", name="Import", exact=True))
        door = page.get_by_role("link", name="Open the Overview")
        expect(door).to_be_visible(timeout=SLOW_MS)
        clicks.on(door)
        ranking = page.locator("table[aria-label='Ranking of models']")
        ranking.wait_for()
        shot(page, "newcomer-3-insight")
        assert sorted(ranking.locator(".model").all_inner_texts()) == names
        assert clicks.n <= 6

        clicks.on(page.get_by_role("link", name="Judge these answers"))
        clicks.on(page.get_by_role("button", name="Start", exact=True))
        results = page.get_by_role("link", name="See the results")
        expect(page.get_by_text("done", exact=True).first).to_be_visible(timeout=SLOW_MS)
        shot(page, "newcomer-4-judged")
        clicks.on(results)
        expect(ranking).to_contain_text("judge’s own scale")
        clicks.on(page.get_by_test_id("stPageLink").filter(has_text="Failures").locator("a"))
        expect(page.locator("[data-why] .reason").first).to_be_visible()
        shot(page, "newcomer-5-judged-answer")
        assert clicks.n <= 10
        with Store.open(app.store) as store:
            (study,) = list_studies(store)
            assert study.judge_id is not None
            assert {one.state for one in store.select(Checkpoint)} == {"scored"}
    assert visit.errors == []
    assert visit.foreign == []

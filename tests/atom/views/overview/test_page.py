import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from atom.engine.imports.importing import import_reading
from atom.formats import ImportFile, read
from atom.store import Store, list_studies
from atom.views.failures.page import failures
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.study_data import load_study
from tests.factories import COUNT


@pytest.fixture(scope="module")
def page(data):
    return overview(data, Filters(study=data.study.id))


def test_the_ranking_shows_hand_worked_means(page):
    # Candidate A, w = (2,3,5): 50/10, (10+12+25)/10 = 4.7, (10+15+20)/10 = 4.5,
    # (8+15+25)/10 = 4.8, 50/10; mean 24/5 = 4.8 -> 100*(4.8-1)/4 = 95.
    first = page.ranking[0]
    assert first.name == "Candidate A"
    assert first.score.value == pytest.approx(95.0)
    assert first.score.samples == 5
    assert first.score.lo < 95 < first.score.hi
    assert first.right.value == pytest.approx(100.0)
    assert [row.name for row in page.ranking] == ["Candidate A", "Candidate B", "Candidate C"]


def test_unscored_answers_leave_the_mean_and_are_counted(page):
    b = page.ranking[1]
    # B: (10+6+5)/10 = 2.1; 40/10; sample 2: (10+10)/7; sample 3: 25/5 = 5; sample 4: 21/7 = 3.
    means = [2.1, 4.0, 20 / 7, 5.0, 3.0]
    assert b.score.value == pytest.approx(100 * (sum(means) / 5 - 1) / 4)
    assert b.n_unscored == 2
    assert b.unscored == pytest.approx(100 * 2 / 14)


def test_the_quadrant_crosses_answers_with_processes(page):
    # C is right once, on sample 1, with a step of weight 2 at 2: lucky; three times wrong.
    # B is right on samples 1 (4 4 4) and 3 (5 5 and one failed call): sound. It is wrong on 0 and 2
    # with failed steps, and on 4 without one (3 and 3): a slip.
    counts = {q.name: q.counts for q in page.quadrants}
    assert (counts["Candidate C"].sound, counts["Candidate C"].lucky) == (0, 1)
    assert counts["Candidate C"].n == 4
    b = counts["Candidate B"]
    assert (b.sound, b.broken, b.slip) == (2, 2, 1)


def test_each_field_of_the_quadrant_has_as_many_samples_behind_its_door(store, data, page):
    fields = {
        "sound": ("right", "sound"), "lucky": ("right", "flawed"),
        "slip": ("wrong", "sound"), "broken": ("wrong", "flawed"),
    }  # fmt: skip
    for quadrant in page.quadrants:
        for name, (outcome, process) in fields.items():
            door = quadrant.filters.but(outcome=outcome, process=process)
            assert failures(store, data, door).total == getattr(quadrant.counts, name)


def test_every_node_of_the_tree_has_a_row_whose_parent_holds_its_children(page):
    rows = {row.path: row for row in page.skills}
    assert len(rows) == 9
    parent = rows[COUNT[:3]].cells[0].estimate
    children = [
        row.cells[0].estimate
        for path, row in rows.items()
        if path[:3] == COUNT[:3] and len(path) == 4
    ]
    assert parent.n == sum(child.n for child in children)
    assert parent.value == pytest.approx(sum(c.n * c.value for c in children) / parent.n)


def test_a_cell_opens_the_failures_of_its_model_and_node(page):
    cell = next(row for row in page.skills if row.path == COUNT).cells[1]
    assert (cell.filters.model, cell.filters.node) == ("cand-b", COUNT)


def test_counts_in_sight(page):
    assert (page.samples, page.quarantined, page.pending, page.answers) == (5, 1, 1, 15)


def test_statements_name_their_numbers(page):
    assert page.statements[0].text.startswith("Candidate A leads with a mean score of 95.0 of 100")
    assert any("1 sample is set aside" in statement.text for statement in page.statements)


def test_imported_outcomes_give_the_same_page_by_label(imported):
    page = overview(imported, Filters(study=imported.study.id))
    assert page.measure == "outcome"
    assert page.facet == "skills"
    row = page.ranking[0]
    assert row.score.value == pytest.approx(75.0)
    assert math.isnan(row.unscored)
    skills = {skill.name: skill.cells[0].estimate for skill in page.skills}
    # Algebra: all 8, six right; geometry: 5, 6, 7, of which 7 is wrong.
    assert skills["algebra"].value == pytest.approx(75.0)
    assert skills["geometry"].value == pytest.approx(100 * 2 / 3)
    assert skills["geometry"].n == 3
    assert page.quadrants == ()


def test_an_imported_table_is_cut_by_what_groups_its_questions(tmp_path):
    """Walk B10: once a CSV's first table was "By item", 20 rows with n = 1."""
    rows = [f"{n},How many tins are on shelf {n}?,{n},{('tins', 'jars')[n % 2]},{name},{n},1"
            for n in range(20) for name in ("red", "green", "blue")]  # fmt: skip
    table = "\n".join(["item,prompt,gold,topic,system,output,is_correct", *rows]).encode()
    with Store.open(tmp_path) as store:
        reading = read(None, [ImportFile.from_bytes("shelf.csv", table)])
        import_reading(store, reading, "Shelf", datetime(2026, 1, 1, tzinfo=UTC))
        (study,) = list_studies(store)
        page = overview(load_study(store, study.id), Filters())
    assert page.facet == "topic"
    assert not {"item", "system"} & set(page.facets)
    assert {skill.name: skill.cells[0].estimate.n for skill in page.skills} == {
        "tins": 10, "jars": 10,
    }  # fmt: skip


def test_filters_that_leave_nothing_give_an_empty_page(data):
    page = overview(data, Filters(tags=(("level", "none"),)))
    assert page.samples == 0
    assert page.statements == ()
    assert all(not row.score.known for row in page.ranking)


@pytest.mark.parametrize("chosen", [{"outcome": "right"}, {"process": "flawed"}])
def test_answers_chosen_by_how_they_went_rank_nobody(data, chosen):
    page = overview(data, Filters(study=data.study.id, **chosen))
    assert page.selected
    assert {row.rank_best for row in page.ranking} == {0}
    assert page.weaknesses is None
    assert all(row.findings == () for row in page.ranking)
    assert len(page.statements) == 1
    assert "rank nobody" in page.statements[0].text


def test_a_sample_that_was_answered_several_times_counts_once(data, page):
    # Candidate A, right on all five samples, answers one of them twice more, both times wrong:
    # (1/3 + 1 + 1 + 1 + 1) / 5 = 13/15, not 5/7.
    table = data.table
    first = int(np.flatnonzero((table.model == 0) & np.isfinite(table.outcome))[0])
    again = {
        name: np.concatenate([getattr(table, name), np.repeat(getattr(table, name)[first], 2)])
        for name in ("sample", "model", "answered", "cause")
    }
    more = replace(
        table,
        **again,
        repeat=np.concatenate([table.repeat, np.array([1, 2], dtype=np.int16)]),
        outcome=np.concatenate([table.outcome, np.zeros(2, dtype=np.float32)]),
        response_ids=(*table.response_ids, "again-1", "again-2"),
    )
    seen = overview(replace(data, table=more), Filters(study=data.study.id))
    row = next(row for row in seen.ranking if row.name == "Candidate A")
    assert row.right.value == pytest.approx(100 * 13 / 15, abs=1e-4)
    assert (row.right.n, row.right.samples) == (5, 5)
    assert page.ranking[0].right.value == pytest.approx(100)

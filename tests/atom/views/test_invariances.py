"""What must not matter doesn't, and degenerate studies give sane screens (METHODS E3, D5)."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.analysis.score_table import Facet
from atom.records import Candidate, Study
from atom.store import Store
from atom.views.failures.page import failures
from atom.views.filters import Filters
from atom.views.overview.evidence import evidence
from atom.views.overview.more import overview_more
from atom.views.overview.page import overview
from atom.views.overview.weakness_words import evidence_words
from atom.views.study_data import StudyData
from tests.planted import WorldSettings, plant

WORLD = WorldSettings(samples=24, models=4, missing=0.1, unscored=0.05)


def study(table):
    return StudyData(
        study=Study(id="s", name="s"), revision=1, judge=None,
        candidates=tuple(Candidate(id=name, name=name) for name in table.model_ids), tree=None,
        table=table, pending=0, sample_position={n: at for at, n in enumerate(table.sample_ids)},
    )  # fmt: skip


def numbers(page):
    """Return every number on the Overview by model, and by node and model."""
    found = {}
    for row in page.ranking:
        found[row.name] = (
            *figures(row.score), *figures(row.right),
            row.rank_best, row.rank_worst, row.n_unscored, row.tested,
        )  # fmt: skip
        for item in row.findings:
            found[row.name, item.path, "finding"] = (item.effect, item.lo, item.hi, item.n)
    for row in page.skills:
        for cell in row.cells:
            found[row.path, cell.model_id] = figures(cell.estimate)
    return found


def figures(estimate):
    """Return an estimate's numbers, without the unit."""
    return tuple(one for one in dataclasses.astuple(estimate) if not isinstance(one, str))


def same(first, second):
    assert first.keys() == second.keys()
    for key, values in first.items():
        np.testing.assert_allclose(values, second[key], rtol=1e-9, atol=1e-9, err_msg=str(key))


def rows(table, order):
    """Return a table with its checkpoints in another order."""
    names = (
        "response", "criterion", "leaf", "weight", "position", "score", "addressed", "carried"
    )  # fmt: skip
    return replace(table, **{name: getattr(table, name)[order] for name in names})


def answers(table, order):
    """Return a table with its answers in another order."""
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    names = ("sample", "model", "repeat", "outcome", "answered")
    facets = {
        name: Facet(values=f.values, response=place[f.response], value=f.value)
        for name, f in table.facets.items()
    }
    return replace(
        table, response=place[table.response], facets=facets,
        response_ids=tuple(table.response_ids[at] for at in order),
        **{name: getattr(table, name)[order] for name in names},
    )  # fmt: skip


def models(table, order):
    """Return a table with its models in another order."""
    place = np.empty(len(order), dtype=np.int16)
    place[order] = np.arange(len(order))
    return replace(
        table, model=place[table.model], model_ids=tuple(table.model_ids[at] for at in order)
    )


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000))
def test_orders_and_names_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    table = plant(WORLD, rng).table()
    filters = Filters(tags=(("parity", "even"),)) if seed % 2 else Filters()
    wanted = numbers(overview(study(table), filters))
    same(wanted, numbers(overview(study(rows(table, rng.permutation(len(table.score)))), filters)))
    turned = answers(table, rng.permutation(len(table.sample)))
    same(wanted, numbers(overview(study(turned), filters)))
    same(wanted, numbers(overview(study(models(table, rng.permutation(4))), filters)))
    renamed = replace(
        table,
        sample_ids=tuple(f"other {name}" for name in table.sample_ids),
        criterion_ids=tuple(f"other {name}" for name in table.criterion_ids),
    )
    same(wanted, numbers(overview(study(renamed), filters)))


def test_an_empty_leaf_changes_nothing():
    table = plant(WORLD, np.random.default_rng(1)).table()
    more = replace(table, leaves=(*table.leaves, ("Perception", "New", "New", "Nothing here")))
    first, second = overview(study(table), Filters()), overview(study(more), Filters())
    same(numbers(first), numbers(second))
    assert [row.path for row in first.skills] == [row.path for row in second.skills]


def test_a_parent_is_the_mean_of_its_children_by_count():
    page = overview(study(plant(WORLD, np.random.default_rng(2)).table()), Filters())
    for row in page.skills:
        children = [one for one in page.skills if one.path[:-1] == row.path]
        for at, cell in enumerate(row.cells):
            parts = [one.cells[at].estimate for one in children]
            if parts and cell.estimate.n:
                mean = sum(p.n * p.value for p in parts if p.n) / sum(p.n for p in parts)
                assert cell.estimate.value == pytest.approx(mean)


def scored(table, value):
    return replace(table, score=np.full_like(table.score, value))


def tables():
    rng = np.random.default_rng(7)
    usual = plant(WORLD, rng).table()
    unknown = np.full_like(usual.outcome, np.nan)
    yield "one sample", plant(WorldSettings(samples=1, models=4), rng).table()
    yield "one model", plant(WorldSettings(samples=12, models=1), rng).table()
    yield "two models", plant(WorldSettings(samples=12, models=2), rng).table()
    yield "constant scores", scored(usual, 3)
    yield "all perfect", scored(usual, 5)
    yield "all worst", scored(usual, 1)
    yield "all unscored", scored(usual, 0)
    yield "all failed", scored(usual, -1)
    yield "a tenth unscored", plant(replace(WORLD, unscored=0.1), rng).table()
    yield "no outcomes", replace(usual, outcome=unknown)
    yield "all right", replace(usual, outcome=np.ones_like(usual.outcome))
    yield "no answers", replace(usual, answered=np.zeros_like(usual.answered))
    yield "all set aside", replace(usual, quarantined=np.ones_like(usual.quarantined))
    yield "nothing mapped", replace(usual, leaf=np.full_like(usual.leaf, -1))
    # Each criterion on one model alone: nobody has peers.
    alone = usual.criterion % 4 == usual.model[usual.response]
    yield "no peers", rows(usual, np.flatnonzero(alone))
    yield "no checkpoints", rows(usual, np.zeros(0, dtype=np.int64))
    yield "one picture", plant(replace(WORLD, per_picture=24), rng).table()


CHOICES = (
    Filters(), Filters(root="Perception"), Filters(outcome="wrong"), Filters(process="flawed"),
    Filters(tags=(("parity", "even"),), root="Reasoning"), Filters(measure="outcome"),
)  # fmt: skip


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("empty")) as opened:
        yield opened


@pytest.mark.parametrize(("name", "table"), list(tables()), ids=[name for name, _ in tables()])
def test_degenerate_studies_give_sane_pages(name, table, empty_store):
    data = study(table)
    for filters in CHOICES:
        page = overview(data, filters)
        overview_more(data, filters)
        for statement in page.statements:
            assert "nan" not in statement.text.casefold().replace("finance", "")
            assert "inf " not in statement.text
        assert len(page.ranking) == table.n_models
        for row in page.ranking:
            bounds_hold(row.score)
            bounds_hold(row.right)
            assert 0 <= row.rank_best <= row.rank_worst <= table.n_models
            for item in row.findings:
                assert math.isfinite(item.effect)
        for row in page.skills:
            assert row.samples > 0
            for cell in row.cells:
                bounds_hold(cell.estimate)
        found = failures(empty_store, data, filters)
        assert found.total == len(found.order) <= len(table.sample_ids)
        for number in range(table.n_models):
            for node in evidence(data, filters, number).nodes.values():
                assert "nan" not in evidence_words(node)


def bounds_hold(estimate):
    """An estimate is unknown as a whole, or lies inside its interval, which has a width."""
    if estimate.n == 0:
        assert not estimate.known
        return
    slack = 1e-9
    assert -slack <= estimate.lo <= estimate.value + slack
    assert estimate.value - slack <= estimate.hi <= 100 + slack
    assert estimate.hi > estimate.lo

"""A study cut into parts shows what the whole shows."""

import dataclasses
import math
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import atom.analysis.grounds as grounds_module
import atom.views.overview.sums as sums_module
from atom.analysis.score_table import Facet
from atom.records import Candidate, Study
from atom.views.columns import StudyColumns
from atom.views.filters import Filters, rows_kept
from atom.views.fingerprints.claims import claims
from atom.views.fingerprints.shape import shape
from atom.views.overview.page import overview
from atom.views.reading import rows_at
from atom.views.shards import InProcesses, InThreads, cut, head_of, in_threads, leading, part_of
from atom.views.snapshot import write_snapshot
from atom.views.study_data import StudyData
from tests.planted import WorldSettings, plant

DIGITS = 1e-12


def study(seed=1, *, tags=True, **changes):
    """Draw a study with labels that overlap, of two benchmarks, silent and carried steps."""
    world = plant(WorldSettings(**{"samples": 60, "models": 5, **changes}),
                  np.random.default_rng(seed))  # fmt: skip
    table, rng = world.table(), np.random.default_rng(seed)
    answers = np.arange(len(table.sample), dtype=np.int32)
    labels = np.concatenate([answers, answers[::3]])
    facets = {
        "skill": Facet(values=("a", "b", "c"), response=labels,
                       value=(table.sample[labels] * 7 // 3 % 3).astype(np.int32)),
        "source": Facet(values=("one", "two"), response=answers,
                        value=(table.sample % 2).astype(np.int32)),
    }  # fmt: skip
    table = replace(
        table,
        facets=facets if tags else {},
        addressed=rng.random(len(table.score)) < 0.8,
        carried=rng.random(len(table.score)) < 0.1,
        quarantined=rng.random(len(table.sample_ids)) < 0.1,
    )
    return StudyData(
        study=Study(id="planted", name="planted"),
        revision=1,
        judge=None,
        candidates=tuple(Candidate(id=name, name=name) for name in table.model_ids),
        tree=None,
        table=table,
        pending=3,
        sample_position={},
    )


def in_parts(data, part, of):
    columns = StudyColumns(table=data.table, pending=0, judge_ids=(), votes=data.votes)
    parts = tuple(part_of(data, one) for one in cut(columns, part, of))
    return replace(data, shards=InThreads(parts=parts), table=head_of(data).table)


def figures(value, path=""):
    """List every number, text and flag of a view-model, with its path."""
    if isinstance(value, Filters) or callable(value):
        return
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from figures(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, np.ndarray):
        yield from figures(value.reshape(-1).tolist(), path)
    elif isinstance(value, (tuple, list)):
        for number, one in enumerate(value):
            yield from figures(one, f"{path}[{number}]")
    else:
        yield path, value


def assert_same(whole, parted):
    one, other = dict(figures(whole)), dict(figures(parted))
    assert one.keys() == other.keys()
    for path, value in one.items():
        if isinstance(value, float):
            # Effects are in points of 100: twelve digits of what they are made of.
            close = math.isclose(value, other[path], rel_tol=DIGITS, abs_tol=100 * DIGITS)
            assert close or (math.isnan(value) and math.isnan(other[path])), path
        else:
            assert value == other[path], path


CHOSEN = (
    Filters(),
    Filters(root="Perception"),
    Filters(tags=(("source", "one"),)),
    Filters(outcome="wrong"),
    Filters(reading="said", shared=True),
    Filters(measure="outcome"),
)


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10**6),
    of=st.integers(1, 5),
    pictures=st.sampled_from([1, 4]),
    filters=st.sampled_from(CHOSEN),
)
def test_any_cut_of_clusters_shows_the_same(seed, of, pictures, filters):
    data = study(seed, per_picture=pictures, missing=0.15, unscored=0.1)
    rng = np.random.default_rng(seed)
    part = rng.integers(0, of, int(data.table.cluster.max()) + 1)[data.table.cluster]
    parted = in_parts(data, part, of)
    assert_same(overview(data, filters), overview(parted, filters))
    form, other = shape(data, filters), shape(parted, filters)
    assert_same(form, other)
    said = claims(data, form)
    if said is not None:
        assert_same(said.seen, claims(parted, other).seen)


SEVERAL = st.builds(
    Filters,
    tags=st.sampled_from([(), (("source", "one"),), (("skill", "a"), ("source", "two"))]),
    without=st.sampled_from([(), (("skill", "b"),)]),
    root=st.sampled_from([None, "Perception", "Reasoning"]),
    outcome=st.sampled_from([None, None, "right", "wrong"]),
    process=st.sampled_from([None, None, "flawed"]),
    reading=st.sampled_from(["strict", "said"]),
    shared=st.booleans(),
)


def rows_anyhow(table, rng):
    """Return a table whose checkpoints don't come by answer: they are looked up one by one."""
    order = rng.permutation(len(table.score))
    columns = ("response", "criterion", "leaf", "weight", "position", "score", "addressed",
               "carried", "scale")  # fmt: skip
    return replace(table, **{name: getattr(table, name)[order] for name in columns})


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6), filters=SEVERAL)
def test_several_filters_at_once_keep_and_show_what_the_direct_way_does(seed, filters):
    data = study(seed, missing=0.15, unscored=0.1)
    table, rows = data.table, rows_kept(data, filters)
    assert rows_at(data, filters).tolist() == np.flatnonzero(rows).tolist()
    page = overview(data, filters)

    with pytest.MonkeyPatch.context() as patch:  # nothing is laid out or numbered anew
        patch.setattr(grounds_module, "FEW", 0)
        patch.setattr(sums_module, "FEW", 0)
        other = rows_anyhow(table, np.random.default_rng(seed))
        assert other.checkpoints_of is None
        assert_same(page, overview(replace(data, table=other), filters))

    counted = rows & (table.score > 0)
    if filters.reading == "said":
        counted &= table.addressed
    weight = np.bincount(table.response[counted], table.weight[counted], len(table.sample))
    total = np.bincount(
        table.response[counted], (table.weight * (table.score - 1) / 4)[counted], len(table.sample)
    )
    for row in page.ranking:
        mine = (weight > 0) & (table.model == table.model_ids.index(row.model_id))
        mean = 100 * (total[mine] / weight[mine]).mean() if mine.any() else math.nan
        assert row.score.value == pytest.approx(mean, rel=DIGITS, abs=100 * DIGITS, nan_ok=True)


def test_labels_of_two_benchmarks_are_held_against_their_own_in_parts():
    data = study(7, missing=0.1)
    parted = in_parts(data, leading(data.table.cluster, 3), 3)
    page = overview(data, Filters(measure="outcome"), facet="skill")
    assert page.facet == "skill"
    assert page.weaknesses.benchmarks == 2
    assert_same(page, overview(parted, Filters(measure="outcome"), facet="skill"))


def test_a_model_that_only_one_part_knows_counts_as_in_the_whole():
    data = study(5)
    here = (data.table.model != 4) | (data.table.sample < 6)
    data = replace(data, table=replace(data.table, answered=here, outcome=np.where(
        here, data.table.outcome, np.nan).astype(np.float32)))  # fmt: skip
    parted = in_parts(data, leading(data.table.cluster, 4), 4)
    assert_same(overview(data, Filters(shared=True)), overview(parted, Filters(shared=True)))


def test_parts_share_no_cluster_and_lose_no_row():
    data = study(2, per_picture=3)
    part = leading(data.table.cluster, 4)
    columns = StudyColumns(table=data.table, pending=0, judge_ids=(), votes=None)
    parts = list(cut(columns, part, 4))
    assert sum(len(one.table.score) for one in parts) == len(data.table.score)
    assert [name for one in parts for name in one.table.sample_ids] == list(data.table.sample_ids)
    for number, one in enumerate(parts):
        assert set(part[data.table.cluster == 0]) != {number} or 0 in one.table.cluster
        rows = np.isin(data.table.sample[data.table.response], np.flatnonzero(part == number))
        assert one.table.score.tolist() == data.table.score[rows].tolist()


def test_threads_over_the_parts_show_the_same():
    data = study(3, missing=0.1)
    assert_same(overview(data, Filters()), overview(in_threads(data, 3), Filters()))


@pytest.mark.slow
def test_processes_with_a_file_a_part_show_the_same(tmp_path, monkeypatch):
    # Where a screen was tested before, the main module is that screen's script.
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    data = study(4, missing=0.1)
    columns = StudyColumns(table=data.table, pending=0, judge_ids=(), votes=None)
    files = [tmp_path / f"{number}.arrow" for number in range(3)]
    for file, one in zip(files, cut(columns, leading(data.table.cluster, 3), 3), strict=True):
        assert write_snapshot(file, one)
    head = head_of(data)
    shards = InProcesses(head, files, processes=2)
    try:
        parted = replace(head, shards=shards, pending=data.pending)
        assert_same(overview(data, Filters()), overview(parted, Filters()))
    finally:
        shards.close()

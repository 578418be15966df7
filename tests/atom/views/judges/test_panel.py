"""A study's judges as one panel."""

from __future__ import annotations

import json
import math

import pytest

from atom.cli.main import main
from atom.records import Checkpoint, Judge, content_id
from atom.store import Store, table
from atom.views.failures.page import failures
from atom.views.failures.sample import sample_view
from atom.views.filters import Filters
from atom.views.judges.panel import panel_view
from atom.views.overview.differing import judges_differ, where_most
from atom.views.overview.page import overview
from atom.views.shards import in_threads
from atom.views.snapshot import open_study, same_columns
from atom.views.study_data import load_study
from tests.app.screen_store import JUDGE, make_store

KIND = Judge(id=content_id("judge", "kind"), name="kind", endpoint="kind")


@pytest.fixture(scope="module")
def panelled(tmp_path_factory):
    """Make a study whose marks a second judge repeats, a step higher where it can."""
    made = make_store(tmp_path_factory.mktemp("panel"))
    with Store.open(made.folder) as store:
        marks = store.select(Checkpoint, table(Checkpoint).c.judge_id == JUDGE.id)
        again = [
            one.model_copy(
                update={
                    "judge_id": KIND.id,
                    "key": Checkpoint.make_key(
                        one.criterion_id, one.response_id, KIND.id, one.prompt, one.sampling,
                        one.repeat,
                    ),
                    "score": min(one.score + 1, 5),
                }
            )
            for one in marks
            if one.score is not None
        ]  # fmt: skip
        store.put([KIND, *again])
    return made


def test_the_judges_are_put_together(panelled):
    with Store.open(panelled.folder) as store:
        data = load_study(store, panelled.study.id)
        view = panel_view(
            store, data, lambda name: load_study(store, data.study.id, name), Filters()
        )
    seats = {one.judge.name: one for one in view.seats}
    assert set(seats) == {JUDGE.name, "kind"}
    # One is as far above the other as that is below it, and no more than a step of 25 points.
    assert 0 < seats["kind"].shift == pytest.approx(-seats[JUDGE.name].shift)
    assert seats["kind"].shift <= 25
    assert (seats["kind"].flaw, seats[JUDGE.name].flaw) == ("lenient", "harsh")
    assert not view.calibrated
    assert view.drop == ""
    # Nobody was asked twice, and nothing was paid: repeats aren't known, nor is any price.
    options = {one.name: one for one in view.advice.options}
    assert options["samples"].half == pytest.approx(view.advice.half / 2**0.5)
    assert options["judge"].half <= view.advice.half
    assert math.isnan(options["repeat"].half)
    assert {one.price for one in view.advice.options} == {None}
    assert 0 <= view.advice.judges <= 1
    means = [one.mean for one in view.scores]
    assert means == sorted(means, reverse=True)
    # Two judges d apart: a standard deviation of d / sqrt(2); 25 / 1.414 = 17.7 at most.
    assert all(0 < one.disagreement < 17.7 for one in view.scores)


def test_the_ranking_says_how_often_judges_differ(panelled):
    with Store.open(panelled.folder) as store:
        data = load_study(store, panelled.study.id)
        rows = overview(data, Filters()).ranking
        kind = load_study(store, panelled.study.id, KIND.id)
        cut = in_threads(data, 2)
    # "kind" gives every mark but a 5 one step more, so they differ on all that the other scored
    # under 5, by 25 points: a standard deviation of 25 / sqrt(2) there.
    table = data.table
    for row in rows:
        mine = (table.model[table.response] == row.colour) & (table.score > 0)
        mine &= ~table.quarantined[table.sample[table.response]]
        share = 100 * float((table.score[mine] < 5).mean())
        assert row.judges.n == int(mine.sum())
        assert row.judges.share == pytest.approx(share)
        assert row.judges.disagreement == pytest.approx(share / 100 * 25 / 2**0.5, rel=1e-5)
    # Whoever is looked at, the judges differ on the same checkpoints; so it is in parts.
    assert [one.judges.share for one in sorted(overview(kind, Filters()).ranking,
                                               key=lambda one: one.colour)] == pytest.approx(
        [one.judges.share for one in sorted(rows, key=lambda one: one.colour)])  # fmt: skip
    assert [one.judges for one in overview(cut, Filters()).ranking] == [one.judges for one in rows]


def test_the_list_and_a_case_show_where_judges_differ(panelled):
    with Store.open(panelled.folder) as store:
        data = load_study(store, panelled.study.id)
        door = overview(data, Filters(study="s")).ranking[0].judges.filters
        assert Filters.from_query(door.to_query()) == door
        found = failures(store, data, door)
        assert 0 < found.total <= len(data.table.sample_ids)
        assert sum(row.apart for row in found.rows) == found.checkpoints
        case = sample_view(store, data, door.but(sample=found.rows[0].sample_id,
                                                 criterion=found.rows[0].criterion_id))  # fmt: skip
    assert case.mark.apart
    labels = {one.judge.name: one.mark.label for one in case.mark.panel}
    assert int(labels["kind"]) == int(labels[JUDGE.name]) + 1


def test_capabilities_are_named_on_which_judges_differ_most(panelled):
    with Store.open(panelled.folder) as store:
        data = load_study(store, panelled.study.id)
    whole, most = judges_differ(data, Filters()), where_most(data, Filters(), least=1)
    assert whole.n >= sum(one.n for one in most) > 0
    shares = [one.share for one in most]
    assert shares == sorted(shares, reverse=True)
    for one in most:
        assert one == judges_differ(data, Filters(node=one.path))
    # Each model's checkpoints are some of all, and the shares' mean by checkpoints is the whole's.
    parts = [judges_differ(data, Filters(model=name)) for name in data.table.model_ids]
    assert sum(one.n for one in parts) == whole.n
    assert sum(one.n * one.share for one in parts) / whole.n == pytest.approx(whole.share)


def test_one_judge_differs_from_nobody(tmp_path):
    made = make_store(tmp_path)
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        rows = overview(data, Filters()).ranking
        first = failures(store, data, Filters()).rows[0]
        case = sample_view(store, data, Filters(sample=first.sample_id))
    assert data.table.apart is None
    assert (judges_differ(data, Filters()), where_most(data, Filters())) == (None, ())
    assert {row.judges for row in rows} == {None}
    assert first.apart == 0
    assert all(not mark.panel for one in case.criteria for mark in one.marks)


def test_a_snapshot_keeps_where_judges_differ(panelled, tmp_path):
    with Store.open(panelled.folder) as store:
        read = load_study(store, panelled.study.id)
        held = [open_study(store, panelled.study.id, folder=tmp_path) for _ in range(2)]
    assert all(same_columns(read, one) for one in held)
    assert read.table.differ.any()


def test_the_command_says_the_same(panelled, capsys):
    where = ["--study", panelled.study.name, "--store", str(panelled.folder)]
    assert main(["judge", "panel", *where, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["judge"]: one["flaw"] for one in found["judges"]}["kind"] == "lenient"
    assert found["advice"]["best"] in ("samples", "judge")
    assert main(["judge", "panel", *where]) == 0
    said = capsys.readouterr().out
    assert "judge-scale" in said
    assert "another judge like these: ±" in said


def test_one_judge_is_no_panel(tmp_path, capsys):
    made = make_store(tmp_path)
    where = ["--study", made.study.name, "--store", str(made.folder)]
    assert main(["judge", "panel", *where]) == 2
    assert "fewer than two judges" in capsys.readouterr().err

"""Further judges that mark the answers which are there."""

from __future__ import annotations

import asyncio

import pytest

from atom.engine.study.panel import PanelSpec, forecast_panel
from atom.engine.study.runner import spec_of
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.errors import UsageError
from atom.judge.servers.endpoints import builtin_endpoints
from atom.records import Checkpoint, Study
from atom.store import table
from atom.views.filters import Filters
from atom.views.judges.panel import panel_view
from atom.views.study_data import load_study

KNOWN = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
OTHERS = ("probe-judge-noisy", "probe-judge-lenient")


def test_each_judge_marks_the_same_random_samples(judged):
    (study,) = judged.select(Study)
    spec = PanelSpec(study_id=study.id, judges=OTHERS, samples=4, budget=1.0)
    would = forecast_panel(judged, spec, KNOWN)
    # Three models answered each of the ten samples; a call marks an answer whole.
    assert [seat.would.samples for seat in would.seats] == [4, 4]
    assert [seat.would.calls for seat in would.seats] == [12, 12]
    assert (would.calls, would.cost) == (24, 0.0)
    done = [asyncio.run(run(judged, one, KNOWN)) for one in spec.runs]
    assert len({one.id for one in done}) == 2
    assert [(one.state, one.done) for one in done] == [("done", 12)] * 2
    assert [spec_of(one).at_random for one in done] == [True, True]
    marks = judged.select(Checkpoint, table(Checkpoint).c.judge_id.in_(
        [judge.id for judge in load_study(judged, study.id).judges]))  # fmt: skip
    by = {}
    for one in marks:
        by.setdefault(one.judge_id, set()).add(one.response_id)
    own, first, second = by.pop(study.judge_id), *by.values()
    assert first == second < own
    # A larger part holds the smaller one, so that nothing is paid twice.
    more = forecast_panel(judged, PanelSpec(study_id=study.id, judges=OTHERS, samples=6), KNOWN)
    assert [seat.would.calls for seat in more.seats] == [6, 6]
    data = load_study(judged, study.id)
    view = panel_view(judged, data, lambda name: load_study(judged, study.id, name), Filters())
    assert len(view.seats) == 3
    assert data.judge.id == study.judge_id
    shared = {(one.response_id, one.criterion_id) for one in marks if one.response_id in first}
    assert int(data.table.panelled.sum()) == len(shared)


def test_the_first_samples_are_taken_unless_it_is_said_otherwise(judged):
    (study,) = judged.select(Study)
    first = RunSpec(study_id=study.id, stages=("scoring",), judge=OTHERS[0], limit=2)
    assert not first.at_random
    assert asyncio.run(run(judged, first, KNOWN)).done == 6
    data = load_study(judged, study.id)
    rows = data.table.panelled
    assert set(data.table.sample[data.table.response[rows]].tolist()) == {0, 1}


@pytest.mark.parametrize(("judges", "words"), [((), "at least one"), (OTHERS[:1] * 2, "once")])
def test_a_panel_names_each_judge_once(judges, words):
    with pytest.raises(UsageError, match=words):
        _ = PanelSpec(study_id="any", judges=judges).runs

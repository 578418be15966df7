"""One awkward study, seen by everything that reads: nobody counts otherwise than anybody else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from atom.engine.bench.fidelity import compared_answers
from atom.engine.correction.cohorts import NO_ANSWER, QUARANTINED, find_subjects
from atom.engine.correction.ground import ExperimentParts
from atom.engine.plan import outlook
from atom.engine.sample_states import load_states
from atom.records import (
    Candidate,
    Checkpoint,
    CriteriaSet,
    Endpoint,
    Experiment,
    Import,
    Judge,
    Outcome,
    Response,
    Sample,
    Sampling,
    StudyCandidate,
)
from atom.store import Store, count_study, study_candidates, study_places
from atom.store.reading.columns import rows as study_rows
from atom.store.standing.answers import first_answers, study_answers
from atom.store.standing.criteria import quarantined
from atom.store.standing.marks import marks_of, shown_scale
from atom.store.standing.outcomes import values_of
from atom.views.failures.page import failures
from atom.views.failures.sample import sample_view
from atom.views.filters import Filters, answers_kept
from atom.views.overview.page import overview
from atom.views.replay.page import stored_answers
from atom.views.study_data import load_study
from atom.views.tree.node_table import placed
from tests.atom.engine.test_plan import KEYS
from tests.factories import ANSWERING, JUDGE, SAMPLING, STUDY, make_study

PAST = tuple(Sample.make_id("balls", str(number)) for number in range(6))


def awkward(store: Store):
    """Give the small study one of everything that some reader once took another way."""
    study = make_study(store)
    (first, second, third, *_) = PAST
    points = {p.response_id: p for p in store.select(Checkpoint)}
    answers = {(a.sample_id, a.candidate_id): a for a in store.select(Response)}
    mine, theirs = answers[first, "cand-a"], answers[second, "cand-b"]
    extra = {"sample_id": first, "candidate_id": "cand-d", "sampling": Sampling(), "text": "1"}
    with store.write() as writer:
        writer.put([
            Candidate(id="cand-d", name="Candidate D"), Judge(id="judge-z", name="Judge Z"),
            StudyCandidate(study_id=study.id, candidate_id="cand-d", position=3),
            # Typed: to be judged. Silent, but graded: counts, and can't be judged.
            Response(id="typed", prompt="typed", **extra),
            Response(id="silent", prompt="imported", **{**extra, "sample_id": second, "text": ""}),
            Outcome(response_id="silent", how="imported", value=0.0),
            # Under other settings, of a model without a seat, and a correction: nobody's.
            mine.model_copy(update={"id": "hot", "sampling": Sampling(temperature=1.5)}),
            mine.model_copy(update={"id": "stranger", "candidate_id": "cand-x"}),
            theirs.model_copy(update={"id": "told", "arm": "told", "parent_id": theirs.id}),
            Outcome(response_id="hot", how="imported", value=0.0),
            # A second answer of the same model, and a third that a filter stopped.
            mine.model_copy(update={"id": "again", "repeat": 1, "text": "Two. Answer: 2"}),
            mine.model_copy(update={"id": "stopped", "repeat": 2, "text": "", "state": "unscored",
                                    "cause": "filtered"}),
            # The rule says right; a judge says no, another judge, too; a file says a quarter.
            Outcome(response_id=mine.id, how="judge", judge_id=JUDGE, value=0.0),
            Outcome(response_id=theirs.id, how="imported", value=0.25),
            Outcome(response_id=theirs.id, how="judge", judge_id="judge-z", value=1.0),
            Outcome(response_id="again", how="judge", judge_id="judge-z", value=1.0),
            # The same criterion marked by an older prompt's number, by another judge, again.
            points[mine.id].model_copy(update={"key": "z", "judge_id": "judge-z", "score": 1}),
            points[theirs.id].model_copy(update={"key": "r", "repeat": 1, "score": 1}),
        ])  # fmt: skip
        # A set whose criteria don't lie in their order.
        (made,) = store.get_many(
            CriteriaSet, [CriteriaSet.make_id(third, JUDGE, "criteria/1", SAMPLING)]
        )
        writer.replace([made.model_copy(update={"uses": made.uses[::-1]})])
        # What an import brought that was killed.
        writer.put([
            Import(id="i", study_id=study.id, format="table", sources=("x",), closed=False),
            Response(id="half", prompt="imported", **{**extra, "sample_id": third}),
            Outcome(response_id="half", how="imported", value=1.0),
            Outcome(response_id=answers[third, "cand-a"].id, how="imported", value=0.0),
        ])  # fmt: skip
        writer.link_import(
            "i", [("response", "half"), ("outcome", "half"),
                  ("outcome", answers[third, "cand-a"].id)],
        )  # fmt: skip
    return study


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("awkward") / "s") as opened:
        awkward(opened)
        yield opened


@pytest.fixture(scope="module", params=[True, False], ids=["scanned", "looked up"])
def data(store, request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study_rows, "_scan", lambda *_: request.param)
        yield load_study(store, STUDY)


def test_the_same_answers_belong_to_the_study(store, data):
    found = {one.id for one in study_answers(store, data.study)}
    assert found == set(data.table.response_ids)
    assert not found & {"hot", "stranger", "told", "half"}
    assert count_study(store, data.study.id).responses == len(found)
    on_samples = {
        answer.response.id
        for sample in data.table.sample_ids
        for answer in sample_view(store, data, Filters(sample=sample)).answers
    }
    assert on_samples == found


def test_the_same_outcome_counts(store, data):
    table = data.table
    values = values_of(store, table.response_ids, JUDGE)
    # What a filter stopped has no outcome of its own; of all asked it isn't right.
    values["stopped"] = 0.0
    for name, value in zip(table.response_ids, table.outcome.tolist(), strict=True):
        assert value == pytest.approx(values.get(name, np.nan), nan_ok=True), name
    assert (values["silent"], values["again"]) == (0.0, 1.0)
    for sample in table.sample_ids:
        for answer in sample_view(store, data, Filters(sample=sample)).answers:
            value = answer.outcomes[0].value if answer.outcomes else None
            if answer.response.id != "stopped":
                assert value == values.get(answer.response.id)
        for answer in stored_answers(store, data, sample):
            value = answer.outcome.value if answer.outcome else None
            assert value == values.get(answer.response.id)


def test_the_same_marks_count(store, data):
    table = data.table
    scale = shown_scale(store, data.study, JUDGE)
    assert scale == data.scale
    read = {
        (name, criterion): point.score or (0 if point.state == "unscored" else -1)
        for (name, _), points in marks_of(
            store, data.study, table.response_ids, JUDGE, scale=scale
        ).items()
        for criterion, point in points.items()
    }
    shown = {
        (table.response_ids[answer], table.criterion_ids[criterion]): score
        for answer, criterion, score in zip(
            table.response, table.criterion, table.score.tolist(), strict=True
        )
    }
    assert shown == read
    for sample in table.sample_ids:
        for criterion in sample_view(store, data, Filters(sample=sample)).criteria:
            for mark in criterion.marks:
                if mark.checkpoint is not None:
                    point = mark.checkpoint
                    key = (point.response_id, point.criterion_id)
                    assert shown[key] == (point.score or (0 if point.state == "unscored" else -1))


def test_what_waits_on_screen_is_what_a_run_would_do(store, data):
    keys = replace(
        KEYS, stages=frozenset({"scoring"}), judge_id=JUDGE, judge_sampling=SAMPLING,
        answer_sampling=ANSWERING,
    )  # fmt: skip
    names = [one.id for one in study_candidates(store, data.study.id)]
    ready = [
        item
        for loaded in load_states(store, keys, study_places(store, data.study.id), names)
        for item in outlook(loaded.have, keys).ready
    ]
    # One of the factory's, three of the typed answer, three of the second one.
    assert data.pending == sum(len(item.criterion_ids) for item in ready) == 1 + 3 + 3
    assert {item.response_id for item in ready} >= {"typed", "again"}
    assert not {item.response_id for item in ready} & {"silent", "stopped", "hot", "half"}


def test_the_same_samples_are_set_aside(store, data):
    aside = quarantined(store, study_places(store, data.study.id))
    table = data.table
    assert aside == {
        name for name, there in zip(table.sample_ids, table.quarantined, strict=True) if there
    }
    for sample in table.sample_ids:
        view = sample_view(store, data, Filters(sample=sample))
        assert view.quarantined == (sample in aside)


def test_criteria_stand_in_one_order(store, data):
    table = data.table
    where = placed(store, data)
    for number, sample in enumerate(table.sample_ids):
        shown = [
            one.criterion.id for one in sample_view(store, data, Filters(sample=sample)).criteria
        ]
        assert shown == [
            name for name, at in zip(where.criterion, where.sample, strict=True) if at == number
        ]
        rows = table.sample[table.response] == number
        position = {
            table.criterion_ids[criterion]: int(at)
            for criterion, at in zip(table.criterion[rows], table.position[rows], strict=True)
        }
        assert [position[name] for name in shown if name in position] == sorted(position.values())


def test_corrections_see_what_the_screens_see(store, data):
    endpoint = Endpoint(name="e", base_url="http://127.0.0.1/v1", model="m")
    table = data.table
    firsts = first_answers(study_answers(store, data.study))
    for model, candidate in enumerate(data.candidates):
        ground = ExperimentParts(
            experiment=Experiment(
                id="x", study_id=data.study.id, candidate_id=candidate.id, judge_id=JUDGE,
                failed_rule="outcome", threshold=2, arms=("told",), rounds=1, right_answers=99,
            ),
            study=data.study, judge=Judge(id=JUDGE, name="j"), judge_endpoint=endpoint,
            candidate=candidate, endpoint=endpoint, peers={}, candidates=data.candidates,
            scale=data.scale,
        )  # fmt: skip
        found = find_subjects(store, ground)
        mine = {one.id for key, one in firsts.items() if key[1] == candidate.id}
        assert found.answers == len(mine)
        aside = [
            name for name in mine if table.quarantined[table.sample[table.response_ids.index(name)]]
        ]
        assert found.left_out.get(QUARANTINED, 0) == len(aside)
        silent = [one for one in firsts.values() if one.id in mine and not one.judgeable]
        assert found.left_out.get(NO_ANSWER, 0) == len(silent)
        for subject in found.subjects:
            at = table.response_ids.index(subject.first.id)
            assert subject.value == table.outcome[at]
            assert table.model[at] == model
            rows = (table.response == at) & (table.score > 0)
            shown = {table.criterion_ids[one] for one in table.criterion[rows]}
            assert {point.criterion_id for point in subject.checkpoints} == shown


def test_methods_rank_the_first_answers_that_have_a_text(store, data):
    ranked = compared_answers(store, data.study).responses
    firsts = first_answers(study_answers(store, data.study))
    for sample, answers in ranked.items():
        wanted = [
            firsts[sample, one.id].id
            for one in data.candidates
            if (sample, one.id) in firsts and firsts[sample, one.id].judgeable
        ]
        assert [answer.id for answer in answers] == wanted


def test_lists_hold_as_many_as_the_figures_count(store, data):
    table = data.table
    known = np.isfinite(table.outcome)
    for row in overview(data, Filters(measure="outcome")).ranking:
        mine = (table.model == row.colour) & known & ~table.quarantined[table.sample]
        # A sample that was answered several times counts once.
        assert row.right.n == len(np.unique(table.sample[mine]))
        assert row.accuracy.n_asked == int(mine.sum())
        assert row.accuracy.asked == pytest.approx(row.right.value)
        for outcome, right in (("right", table.outcome >= 0.5), ("wrong", table.outcome < 0.5)):
            chosen = Filters(model=row.model_id, measure="outcome", show="all", outcome=outcome)
            # A list has a line a sample, however many answers of the model there are to it.
            samples = np.unique(table.sample[mine & right])
            assert failures(store, data, chosen).total == len(samples)
            kept = answers_kept(data, chosen) & (table.model == row.colour)
            assert int(kept.sum()) == int((mine & right).sum())

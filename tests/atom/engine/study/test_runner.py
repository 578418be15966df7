from __future__ import annotations

import asyncio
import math
import signal
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from atom.engine.consent import ConsentNeeded, give_consent
from atom.engine.forecast import forecast
from atom.engine.study.runner import spec_of
from atom.engine.study.spec import STAGES, RunSpec
from atom.engine.work import carry_out, open_work, run
from atom.errors import SpendCapReached, UsageError
from atom.probes.noise import SILENCE_IMAGINED, SILENCE_MISSED, confusion_row
from atom.probes.serving.faults import FaultPlan
from atom.records import (
    Call,
    Checkpoint,
    CriteriaSet,
    Criterion,
    Endpoint,
    Judge,
    Mapping,
    Outcome,
    Prices,
    Replay,
    Response,
    Run,
    Sample,
    Sampling,
    Study,
    TreeRecord,
)
from atom.stages import criteria, replay, scoring
from atom.store import Store, check_store, study_candidates, study_places, table
from atom.store.standing.marks import marks_of
from atom.views.filters import Filters
from atom.views.lab.reliability.measure import reliability
from atom.views.study_data import load_study
from tests.atom.engine.conftest import SAMPLES, Counted

CANDIDATES = ("model-a", "model-b")


def spec(study: Study, **changes) -> RunSpec:
    given = {"study_id": study.id, "judge": "probe-judge", "candidates": CANDIDATES}
    return RunSpec(**{**given, **changes})


def by_key(store: Store) -> dict[str, tuple]:
    points = {c.key: (c.state, c.score, c.quote, c.reason) for c in store.select(Checkpoint)}
    return points | {r.id: (r.state, r.text) for r in store.select(Response)}


async def test_a_run_does_every_stage(store, study, endpoints, counted):
    ended = await run(store, spec(study), endpoints, make=counted.make)
    assert (ended.state, ended.failed, ended.unscored) == ("done", 0, 0)
    assert ended.done == ended.total
    assert len(store.select(Response)) == SAMPLES * 2
    assert len(store.select(Outcome)) == SAMPLES * 2
    assert {r.state for r in store.select(Replay)} == {"scored"}
    points = store.select(Checkpoint)
    criteria_ids = {c.id for c in store.select(Criterion)}
    assert len(points) == 2 * len(criteria_ids)
    assert {p.state for p in points} == {"scored"}
    assert {m.criterion_id for m in store.select(Mapping)} == criteria_ids
    assert check_store(store).problems == ()


async def test_a_run_writes_who_takes_part_into_the_study(store, study, endpoints, counted):
    await run(store, spec(study), endpoints, make=counted.make)
    (now,) = store.select(Study)
    assert now.judge_id == store.select(Checkpoint)[0].judge_id
    assert store.get(TreeRecord, now.tree_version) is not None
    assert [c.name for c in study_candidates(store, study.id)] == list(CANDIDATES)
    assert all(p.replay_id and p.criteria_set_id for p in study_places(store, study.id))


async def test_running_again_makes_no_call(store, study, endpoints, counted):
    await run(store, spec(study), endpoints, make=counted.make)
    before, sent = by_key(store), counted.total
    ended = await run(store, spec(study), endpoints, make=counted.make)
    assert (ended.state, ended.total, counted.total) == ("done", 0, sent)
    assert by_key(store) == before


@pytest.mark.slow
async def test_stages_apart_give_what_one_run_gives(store, study, endpoints, counted, twin_place):
    await run(store, spec(study), endpoints, make=counted.make)
    with Store.open(twin_place) as other:
        await run(other, spec(study, stages=("answer",), judge=None), endpoints, make=counted.make)
        for stage in STAGES[1:]:
            only = spec(study, stages=(stage,), candidates=())
            await run(other, only, endpoints, make=counted.make)
        assert by_key(other) == by_key(store)


@pytest.mark.slow
async def test_another_study_of_the_same_samples_pays_nothing(store, study, endpoints, counted):
    await run(store, spec(study), endpoints, make=counted.make)
    sent = counted.total
    twin = study.model_copy(update={"id": Study.make_id("Twin"), "name": "Twin"})
    store.put([twin, *(p.model_copy(update={"study_id": twin.id, "replay_id": None,
                                            "criteria_set_id": None})
                       for p in study_places(store, study.id))])  # fmt: skip
    ended = await run(store, spec(twin), endpoints, make=counted.make)
    assert (ended.total, counted.total) == (0, sent)
    assert [p.criteria_set_id for p in study_places(store, twin.id)] == [
        p.criteria_set_id for p in study_places(store, study.id)
    ]


@pytest.mark.slow
async def test_a_stored_reply_is_used_again(store, study, endpoints, counted):
    await run(store, spec(study), endpoints, make=counted.make)
    expected, sent = by_key(store), counted.total
    with store.write() as writer:
        for kind in (Checkpoint, Response, Replay, CriteriaSet, Mapping, Outcome):
            writer.delete(kind, kind_is_there(kind))
        for place in study_places(store, study.id):
            writer.replace([place.model_copy(update={"replay_id": None, "criteria_set_id": None})])
    ended = await run(store, spec(study), endpoints, make=counted.make)
    assert ended.state == "done"
    assert counted.total == sent
    assert by_key(store) == expected


def kind_is_there(kind):
    return next(iter(table(kind).primary_key.columns)).is_not(None)


@pytest.mark.slow
async def test_another_judge_uses_the_same_criteria(store, study, endpoints, counted):
    await run(store, spec(study), endpoints, make=counted.make)
    sets = len(store.select(CriteriaSet))
    noisy = spec(study, judge="probe-judge-noisy", candidates=(), stages=STAGES[1:])
    await run(store, noisy, endpoints, make=counted.make)
    assert len(store.select(CriteriaSet)) == sets
    judges = Counter(p.judge_id for p in store.select(Checkpoint))
    assert len(set(judges.values())) == 1
    assert len(judges) == 2
    (now,) = store.select(Study)
    assert now.judge_id == store.select(Replay)[0].judge_id


@pytest.mark.slow
async def test_repeats_score_again_and_ask_nothing_else_again(store, study, endpoints, counted):
    await run(store, spec(study), endpoints, make=counted.make)
    points, answers = len(store.select(Checkpoint)), len(store.select(Response))
    await run(store, spec(study, repeats=2), endpoints, make=counted.make)
    assert len(store.select(Checkpoint)) == 2 * points
    assert len(store.select(Response)) == answers


async def test_a_set_edited_by_hand_is_kept_and_only_its_new_criterion_is_scored(
    store, study, endpoints, counted
):
    await run(store, spec(study), endpoints, make=counted.make)
    place = study_places(store, study.id)[0]
    old = store.get(CriteriaSet, place.criteria_set_id)
    known = {c.id: c for c in store.get_many(Criterion, [u.criterion_id for u in old.uses])}
    rows = [
        criteria.EditedCriterion(
            question=known[use.criterion_id].question,
            ground_truth=known[use.criterion_id].ground_truth,
            weight=use.weight,
        )
        for use in old.uses
    ]
    rows[0] = criteria.EditedCriterion(
        question=rows[0].question + " Look twice.", ground_truth=rows[0].ground_truth, weight=3
    )
    result = criteria.edited(store.get(Sample, place.sample_id), old.judge_id, old.replay_id, rows)
    store.put([*result.criteria, result.criteria_set])
    by_hand = place.model_copy(update={"criteria_set_id": result.criteria_set.id})
    store.replace([by_hand])
    before = {p.key for p in store.select(Checkpoint)}
    await run(store, spec(study), endpoints, make=counted.make)
    new = [p for p in store.select(Checkpoint) if p.key not in before]
    assert {p.criterion_id for p in new} == {result.criteria[0].id}
    assert len(new) == 2
    assert study_places(store, study.id)[0] == by_hand


async def test_the_limit_takes_the_first_samples(store, study, endpoints, counted):
    await run(store, spec(study, limit=2), endpoints, make=counted.make)
    first = {p.sample_id for p in study_places(store, study.id)[:2]}
    assert {r.sample_id for r in store.select(Replay)} == first


async def test_faults_are_accounted_for(store, study, endpoints):
    rates = {"refusal": 0.1, "score_seven": 0.1, "missing_id": 0.1, "fenced_json": 0.1,
             "null_content": 0.1, "content_filter": 0.1}  # fmt: skip
    counted = Counted(faults=FaultPlan(rates=rates, seed=3))
    ended = await run(store, spec(study), endpoints, make=counted.make)
    assert ended.state == "done"
    assert ended.unscored
    assert ended.done == ended.total
    for kind in (Response, Replay, CriteriaSet, Checkpoint, Mapping, Outcome):
        assert all(r.state == "scored" or r.detail for r in store.select(kind)), kind
    assert all(p.score is None for p in store.select(Checkpoint) if p.state != "scored")
    assert check_store(store).problems == ()


async def test_failed_items_are_asked_again_only_when_told(store, study, endpoints):
    down = Counted(faults=FaultPlan(rates={"reset": 1.0}, tries=100))
    quick = {n: e.model_copy(update={"max_tries": 1}) for n, e in endpoints.items()}
    first = await run(store, spec(study, stages=("replay",), candidates=()), quick, make=down.make)
    assert (first.state, first.failed) == ("done", SAMPLES)
    assert all(r.detail for r in store.select(Replay))
    up = Counted()
    idle = await run(store, spec(study, stages=("replay",), candidates=()), quick, make=up.make)
    assert (idle.total, up.total) == (0, 0)
    again = spec(study, stages=("replay",), candidates=(), retry_failed=True)
    mended = await run(store, again, quick, make=up.make)
    assert (mended.done, mended.failed) == (SAMPLES, 0)
    assert {r.state for r in store.select(Replay)} == {"scored"}
    assert all(c.reply for c in store.select(Call))


async def test_an_endpoint_that_only_fails_stops_the_run(store, study, endpoints, monkeypatch):
    monkeypatch.setattr("atom.engine.execution.BREAKER", 3)
    quick = {n: e.model_copy(update={"max_tries": 1, "concurrency": 1})
             for n, e in endpoints.items()}  # fmt: skip
    down = Counted(faults=FaultPlan(rates={"reset": 1.0}, tries=100))
    ended = await run(store, spec(study), quick, make=down.make)
    assert ended.state == "stopped"
    assert "in a row failed at" in ended.message
    assert ended.done < ended.total


async def test_the_spend_cap_stops_the_run_and_a_larger_one_ends_it(
    store, study, endpoints, counted
):
    dear = {n: e.model_copy(update={"prices": Prices(input=10.0, output=10.0)})
            for n, e in endpoints.items()}  # fmt: skip
    ended = await run(store, spec(study, budget=0.3), dear, make=counted.make)
    assert ended.state == "stopped"
    assert ended.cost <= 0.3
    assert ended.done
    assert "budget" in ended.message
    more = await carry_out(store, ended.id, dear, budget=50.0, make=counted.make)
    assert (more.state, more.id) == ("done", ended.id)
    assert more.cost > ended.cost
    assert more.cost == pytest.approx(sum(c.cost for c in store.select(Call)))
    assert more.done == more.total
    assert max(counted.asked.values()) == 1


async def test_a_run_stops_on_request_and_goes_on(store, study, endpoints):
    slow = Counted(latency=0.2)
    few = {n: e.model_copy(update={"concurrency": 2}) for n, e in endpoints.items()}
    task = asyncio.create_task(run(store, spec(study), few, make=slow.make))
    while not (rows := store.select(Run)) or not rows[0].done:
        await asyncio.sleep(0.05)
    store.replace([rows[0].model_copy(update={"state": "stopping"})])
    ended = await asyncio.wait_for(task, 10)
    assert (ended.state, ended.message) == ("stopped", "stopped on request")
    assert ended.done < ended.total
    quick = Counted()
    more = await carry_out(store, ended.id, few, make=quick.make)
    assert more.state == "done"
    assert not slow.asked.keys() & quick.asked.keys()
    assert len(store.select(Call)) == slow.total + quick.total


async def test_ctrl_c_stops_cleanly(store, study, endpoints):
    slow = Counted(latency=0.2)
    task = asyncio.create_task(run(store, spec(study), endpoints, make=slow.make))
    while not (rows := store.select(Run)) or not rows[0].done:
        await asyncio.sleep(0.05)
    signal.raise_signal(signal.SIGINT)
    ended = await asyncio.wait_for(task, 10)
    assert (ended.state, ended.message) == ("stopped", "stopped by SIGINT")


@pytest.mark.slow
async def test_two_runners_pay_once(place, study, endpoints):
    both = Counted(latency=0.05)
    few = {n: e.model_copy(update={"concurrency": 3}) for n, e in endpoints.items()}
    with Store.open(place) as first, Store.open(place) as second:
        ends = await asyncio.gather(
            run(first, spec(study), few, make=both.make),
            run(second, spec(study, limit=SAMPLES), few, make=both.make),
        )
        assert {end.state for end in ends} == {"done"}
        assert max(both.asked.values()) == 1
        assert len(first.select(Checkpoint)) == 2 * len(first.select(Criterion))
        assert sum(end.done for end in ends) >= len(first.select(Call))


async def test_one_run_is_not_run_by_two(store, study, endpoints, monkeypatch):
    slow = Counted(latency=0.3)
    task = asyncio.create_task(run(store, spec(study), endpoints, make=slow.make))
    while not (rows := store.select(Run)) or not rows[0].done:
        await asyncio.sleep(0.05)
    monkeypatch.setattr("atom.engine.execution.owner_name", lambda _: "elsewhere/1/2")
    with pytest.raises(UsageError, match="already running"):
        await carry_out(store, rows[0].id, endpoints, make=slow.make)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_concurrency_is_kept(store, study, endpoints):
    slow = Counted(latency=0.05)
    few = {n: e.model_copy(update={"concurrency": 2}) for n, e in endpoints.items()}
    await run(store, spec(study), few, make=slow.make)
    assert slow.most_in_flight <= 2 * 3


async def test_a_missing_picture_fails_its_items_with_the_remedy(store, study, endpoints, counted):
    place = study_places(store, study.id)[0]
    sample = store.get(Sample, place.sample_id)
    bare = tuple(s.model_copy(update={"picture_id": None}) for s in sample.pictures)
    store.replace([sample.model_copy(update={"pictures": bare})])
    ended = await run(store, spec(study), endpoints, make=counted.make)
    failed = [r for r in store.select(Response) if r.state == "failed"]
    assert {r.sample_id for r in failed} == {sample.id}
    assert all("attach it with `study pictures FOLDER" in r.detail for r in failed)
    assert ended.failed == 3


async def test_a_broken_stage_is_accounted_for_too(store, study, endpoints, counted, monkeypatch):
    def broken(*_args, **_more):
        raise ZeroDivisionError("a slip")

    monkeypatch.setattr("atom.stages.scoring.parse", broken)
    ended = await run(store, spec(study), endpoints, make=counted.make)
    assert ended.state in ("done", "stopped")
    points = store.select(Checkpoint)
    assert points
    assert {(p.state, p.detail) for p in points} == {("failed", "ZeroDivisionError: a slip")}


REMOTE = Endpoint(name="far", base_url="https://models.example/v1", model="far-judge")


async def test_nothing_is_sent_before_the_owner_agrees(store, study, endpoints, counted):
    known = {**endpoints, "far": REMOTE}
    asked = spec(study, judge="far", candidates=(), stages=("replay",))
    with pytest.raises(ConsentNeeded, match=r"models\.example") as caught:
        await run(store, asked, known, make=counted.make)
    (question,) = caught.value.questions
    assert (question.pictures, question.texts) == (SAMPLES, SAMPLES)
    assert counted.total == 0
    assert store.select(Run) == []
    give_consent(store, study.id, [question.host])
    await run(store, asked, known, make=counted.make)
    assert counted.total


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judge": "nobody"}, "there is no endpoint 'nobody'"),
        ({"judge": "model-a"}, "has the roles candidate"),
        ({"judge": None}, "need a judge"),
        ({"candidates": ("probe-judge",)}, "has the roles judge"),
        ({"stages": ("replay",)}, "stage 'answer' isn't asked for"),
        ({"stages": ()}, "no stage"),
        ({"limit": 0}, "limit"),
        ({"repeats": 0}, "repeats"),
        ({"budget": -1.0}, "budget"),
        ({"study_id": "nothing"}, "there is no study"),
    ],
)
async def test_a_wrong_order_is_refused_before_anything_happens(
    store, study, endpoints, changes, message
):
    with pytest.raises(UsageError, match=message):
        await run(store, spec(study, **changes), endpoints)
    assert store.select(Run) == []


async def test_progress_is_told(store, study, endpoints, counted):
    told = []
    await run(store, spec(study), endpoints, make=counted.make, on_progress=told.append)
    assert told[-1].done == told[-1].total
    assert [p.done for p in told] == sorted(p.done for p in told)


async def test_the_judge_is_told_the_reference_only_when_asked_to(store, study, endpoints, counted):
    only = spec(study, stages=("replay",), candidates=(), show_reference=True)
    ended = await run(store, only, endpoints, make=counted.make)
    assert {found.prompt for found in store.select(Replay)} == {replay.TOLD}
    assert spec_of(store.get(Run, ended.id)).show_reference


async def test_a_run_says_once_that_boxes_were_not_checked(store, study, endpoints):
    judge = endpoints["probe-judge"].model_copy(update={"boxes": None})
    ended = await run(store, spec(study), {**endpoints, judge.name: judge})
    assert ended.state == "done"
    assert ended.message.count("wasn't checked") == 1
    assert f"endpoint test {judge.name}" in ended.message
    known = await run(store, spec(study, judge="probe-judge-noisy"), endpoints)
    assert "checked" not in known.message


# Sampling, repeats, and asking again


async def test_a_runs_settings_become_the_studys_and_old_answers_come_back(
    store, study, endpoints, counted
):
    answers = spec(study, stages=("answer",), judge=None)
    await run(store, answers, endpoints, make=counted.make)
    sent = counted.total
    hot = replace(answers, answer_sampling=Sampling(temperature=1.0))
    ended = await run(store, hot, endpoints, make=counted.make)
    assert counted.total == 2 * sent
    (now,) = store.select(Study)
    assert now.answer_sampling == ended.task.answer_sampling == Sampling(temperature=1.0)
    assert now.judge_sampling == study.judge_sampling
    # A run that sets nothing goes on under them; the old settings are paid for already.
    assert (await run(store, answers, endpoints, make=counted.make)).total == 0
    back = replace(answers, answer_sampling=study.answer_sampling)
    assert (await run(store, back, endpoints, make=counted.make)).total == 0
    assert store.select(Study)[0].answer_sampling == study.answer_sampling
    assert counted.total == 2 * sent


@pytest.mark.slow
async def test_a_run_goes_on_under_its_own_settings_when_the_studys_changed(
    store, study, endpoints, counted
):
    warm = Sampling(temperature=0.3)
    row = open_work(store, spec(study, judge_sampling=warm), endpoints)
    other = spec(study, stages=("replay",), candidates=(), judge_sampling=Sampling(temperature=1.0))
    await run(store, other, endpoints, make=counted.make)
    await carry_out(store, row.id, endpoints, make=counted.make)
    assert {p.sampling for p in store.select(Checkpoint)} == {warm}


async def test_what_an_endpoint_adds_is_part_of_every_key(store, study, endpoints, counted):
    own = endpoints | {
        name: endpoints[name].model_copy(update={"max_tokens": 3000, "top_p": 0.9})
        for name in ("probe-judge", "model-a")
    }
    one = spec(study, candidates=("model-a",), limit=1)
    await run(store, one, own, make=counted.make)
    (answer,) = store.select(Response)
    assert answer.sampling == study.answer_sampling.model_copy(
        update={"max_tokens": 3000, "top_p": 0.9}
    )
    for kind in (Replay, CriteriaSet, Checkpoint):
        for record in store.select(kind):
            assert (record.sampling.top_p, record.sampling.temperature) == (0.9, 0.0)
    sent = counted.total
    assert (await run(store, one, own, make=counted.make)).total == 0
    # The endpoint without them asks something else.
    again = await run(store, one, endpoints, make=counted.make)
    assert again.total > 0
    assert counted.total > sent


async def test_answers_and_marks_are_repeated(store, study, endpoints, counted):
    twice = spec(study, candidates=("model-a",), limit=2, answer_repeats=3, repeats=2)
    expected = forecast(store, twice, endpoints)
    ended = await run(store, twice, endpoints, make=counted.make)
    assert (ended.total, ended.task.answer_repeats, ended.task.repeats) == (expected.calls, 3, 2)
    assert sorted(r.repeat for r in store.select(Response)) == [0, 0, 1, 1, 2, 2]
    points = Counter((p.response_id, p.criterion_id) for p in store.select(Checkpoint))
    assert set(points.values()) == {2}
    assert len({name for name, _ in points}) == 6
    assert (await run(store, twice, endpoints, make=counted.make)).total == 0


@pytest.mark.parametrize("mended", [True, False])
async def test_what_the_servers_fault_left_unscored_is_asked_again(
    store, study, endpoints, counted, mended
):
    answers = spec(study, stages=("answer",), judge=None, candidates=("model-a",))
    await run(store, answers, endpoints, make=counted.make)
    broken, refused, *_ = store.select(Response)
    for answer, finish in ((broken, "error"), (refused, "refusal")):
        call = store.get(Call, answer.call_id)
        lost = {"state": "unscored", "text": "", "detail": "lost"}
        store.replace([call.model_copy(update={"finish": finish, "reply": "half a"}),
                       answer.model_copy(update=lost)])  # fmt: skip
    assert (await run(store, answers, endpoints, make=counted.make)).total == 0
    if not mended:
        counted.faults = FaultPlan(rates={"server_error": 1.0}, tries=100)
        endpoints = {name: one.model_copy(update={"max_tries": 1}) for name, one in
                     endpoints.items()}  # fmt: skip
    sent = counted.total
    again = await run(store, replace(answers, retry_unscored=True), endpoints, make=counted.make)
    assert (again.total, counted.total, again.task.retry_unscored) == (1, sent + 1, True)
    now = store.get(Response, broken.id)
    assert store.get(Response, refused.id).state == "unscored"
    if mended:
        assert now == broken
    else:
        assert (again.failed, now.detail) == (1, "lost")


async def test_a_run_says_at_its_end_what_was_unscored_and_why(store, study, endpoints, counted):
    counted.faults = FaultPlan(rates={"refusal": 0.5, "content_filter": 0.5})
    ended = await run(
        store, spec(study, stages=("answer",), judge=None), endpoints, make=counted.make
    )
    refused = sum(c.finish == "refusal" for c in store.select(Call))
    assert f"{2 * SAMPLES - refused} stopped by a content filter" in ended.message
    assert f"{refused} declined by the model" in ended.message


async def test_what_has_no_price_is_said_to_be_unknown(store, study, endpoints, counted):
    dear = endpoints | {
        "model-a": endpoints["model-a"].model_copy(update={"prices": Prices(input=1.0)})
    }
    asked = spec(study, stages=("answer",), judge=None, limit=1)
    ended = await run(store, asked, dear, make=counted.make)
    assert ended.message == "What model-a cost isn't known: no prices are given."
    again = await run(store, asked, dear, make=counted.make)
    assert again.message == "nothing was missing"


@pytest.mark.parametrize(
    ("sampling", "message"),
    [
        (Sampling(temperature=9.0), "the temperature is 9"),
        (Sampling(top_p=0.0), "above 0 and up to 1"),
        (Sampling(max_tokens=0), "at least 1 is needed"),
        (Sampling(image_detail="sharp"), "one of low, high, auto"),
    ],
)
def test_settings_that_no_server_takes_are_refused(store, study, endpoints, sampling, message):
    with pytest.raises(UsageError, match=message):
        open_work(store, spec(study, answer_sampling=sampling), endpoints)
    assert store.select(Run) == []


FAULT = "criterion 1 can be answered by yes or no"


async def test_criteria_that_break_their_rules_are_asked_for_once_more(
    store, study, endpoints, counted, monkeypatch
):
    monkeypatch.setattr(criteria, "broken_rules", lambda *_, **__: (FAULT,))
    asked = spec(study, candidates=(), stages=("replay", "criteria"), limit=2)
    ended = await run(store, asked, endpoints, make=counted.make)
    assert (ended.unscored, ended.failed) == (2, 0)
    for found in store.select(CriteriaSet):
        assert found.state == "unscored"
        assert found.detail.count(FAULT) == 2
    tasks = Counter(call.task for call in store.select(Call))
    assert tasks == {"replay": 2, "criteria": 4}
    assert ended.cost == sum(call.cost or 0 for call in store.select(Call))


async def test_the_first_turn_is_kept_where_a_stop_comes_before_the_second(
    store, study, endpoints, counted, monkeypatch
):
    monkeypatch.setattr(criteria, "broken_rules", lambda *_, **__: (FAULT,))

    def stop(*_):
        raise SpendCapReached("the cap leaves no room")

    asked = spec(study, candidates=(), stages=("replay", "criteria"), limit=1)
    with monkeypatch.context() as stopped:
        stopped.setattr(criteria, "again", stop)
        ended = await run(store, asked, endpoints, make=counted.make)
    assert ended.state == "stopped"
    assert store.select(CriteriaSet) == []
    assert Counter(call.task for call in store.select(Call)) == {"replay": 1, "criteria": 1}
    before = counted.total
    await run(store, asked, endpoints, make=counted.make)
    assert counted.total == before + 1
    assert len(store.select(CriteriaSet)) == 1


async def test_replays_of_free_questions_are_compared_by_the_judge(
    store, study, endpoints, counted
):
    ids = [place.sample_id for place in study_places(store, study.id)]
    free = {"reference": "Something that nobody would say in these words.", "choices": ()}
    store.replace([sample.model_copy(update=free) for sample in store.get_many(Sample, ids)])
    asked = spec(study, candidates=(), stages=("replay",), limit=2)
    await run(store, asked, endpoints, make=counted.make)
    found = store.select(Replay)
    assert [one.state for one in found] == ["scored"] * 2
    assert all("compared by the judge in call" in one.detail for one in found)
    assert all(one.agrees is not True for one in found)
    assert Counter(call.task for call in store.select(Call)) == {"replay": 2, "outcome": 2}


async def test_scoring_without_pictures_names_other_marks_that_stand_behind(
    store, study, endpoints, counted
):
    one = spec(study, candidates=("model-a",), limit=1)
    ended = await run(store, replace(one, score_pictures=False), endpoints, make=counted.make)
    assert not ended.task.score_pictures
    blind = store.select(Checkpoint)
    assert {point.prompt for point in blind} == {scoring.BLIND}
    (call,) = [c for c in store.select(Call) if c.task == "scoring"]
    asked = next(body for body in counted.asked if b"Atomscope task: scoring" in body)
    assert b"image_url" not in asked
    assert call.id in {point.call_id for point in blind}
    judge = blind[0].judge_id
    ids = {point.response_id for point in blind}
    found = marks_of(store, study, ids, judge)
    assert {p.prompt for own in found.values() for p in own.values()} == {scoring.BLIND}
    # Marks that saw the pictures come before them, though they are no newer.
    sighted = await run(store, one, endpoints, make=counted.make)
    assert sighted.total == 1
    found = marks_of(store, study, ids, judge)
    assert {p.prompt for own in found.values() for p in own.values()} == {scoring.PROMPT}
    assert (await run(store, replace(one, score_pictures=False), endpoints)).total == 0


@pytest.mark.slow
async def test_screens_average_the_marks_of_a_noisy_judge(store, study, endpoints, counted):
    asked = spec(
        study, judge="probe-judge-noisy", candidates=("model-a",), repeats=3,
        judge_sampling=Sampling(temperature=0.7),
    )  # fmt: skip
    await run(store, asked, endpoints, make=counted.make)
    marks: dict[tuple[str, str], list[int]] = {}
    for point in store.select(Checkpoint):
        marks.setdefault((point.response_id, point.criterion_id), []).append(point.score)
    assert {len(scores) for scores in marks.values()} == {3}
    table_ = load_study(store, study.id).table
    assert len(table_.score) == len(marks)
    assert not table_.whole
    for row, score in enumerate(table_.score):
        own = marks[table_.response_ids[table_.response[row]],
                    table_.criterion_ids[table_.criterion[row]]]  # fmt: skip
        assert score == pytest.approx(sum(own) / 3)


def same_twice(score: int, addressed: bool) -> float:
    """Return how often the noisy judge gives a step the same score in two independent marks."""
    row = np.array(confusion_row(score))
    silent = SILENCE_IMAGINED if addressed else 1 - SILENCE_MISSED
    said = (1 - silent) * row + silent * (np.arange(1, 6) == 2)
    return float((said**2).sum())


@pytest.mark.slow
async def test_a_noisy_judge_asked_twice_shows_its_true_self_agreement(
    store, study, endpoints, counted
):
    models = ("model-a", "model-d", "model-h")
    exact = spec(study, candidates=models)
    await run(store, exact, endpoints, make=counted.make)
    truth = [same_twice(p.score, bool(p.addressed)) for p in store.select(Checkpoint)]
    noisy = spec(
        study, judge="probe-judge-noisy", candidates=(), stages=("scoring",), repeats=2,
        judge_sampling=Sampling(temperature=0.7),
    )  # fmt: skip
    await run(store, noisy, endpoints, make=counted.make)
    judge = next(j.id for j in store.select(Judge) if j.endpoint == "probe-judge-noisy")
    data = load_study(store, study.id, judge)
    view = reliability(store, data, Filters(study=study.id))
    found, expected = view.retest[0].found, float(np.mean(truth))
    assert found.n == len(truth)
    assert abs(found.exact - expected) <= 3 * math.sqrt(expected * (1 - expected) / found.n)
    assert view.separable
    assert not view.cold

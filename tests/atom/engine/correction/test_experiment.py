"""Self-correction experiments from start to end, on the probe endpoint."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter

import pytest

from atom.engine.consent import ConsentNeeded, give_consent
from atom.engine.control import prepare_resume, run_status, stop_run
from atom.engine.correction.ground import ARMS, CorrectionSpec
from atom.engine.ledger import RunLedger, run_claim
from atom.engine.process import owner_name
from atom.engine.study.spec import RunSpec
from atom.engine.work import carry_out, open_work, run
from atom.errors import ReadOnlyError, UsageError
from atom.probes.serving.faults import FaultPlan
from atom.records import (
    APART,
    Call,
    Candidate,
    Checkpoint,
    Correction,
    Experiment,
    Hint,
    Outcome,
    Prices,
    Response,
    Run,
    Study,
)
from atom.store import Store, check_store, count_study, table
from atom.store.holds import drop_hold
from atom.views.study_data import load_study
from tests.atom.engine.conftest import JUDGED, Counted


def spec(store: Store, **changes) -> CorrectionSpec:
    (study,) = store.select(Study)
    given = {"study_id": study.id, "candidate": "model-h", "arms": ARMS, "right_answers": 2}
    return CorrectionSpec(**{**given, **changes})


async def carried(store, asked, endpoints, make, **told) -> Run:
    row = open_work(store, asked, endpoints)
    return await carry_out(store, row.id, endpoints, make=make, **told)


DOWN = FaultPlan(rates={"reset": 1.0}, tries=100)


def quick(endpoints, **changes):
    """Return endpoints that give up at once."""
    return {n: e.model_copy(update={"max_tries": 1, **changes}) for n, e in endpoints.items()}


def results(store: Store) -> dict[tuple, tuple]:
    texts = {r.id: r.text for r in store.select(Response)}
    return {
        (c.response_id, c.arm, c.round): (
            c.state, c.detail, c.value, c.feedback, c.criterion_ids, c.hints, c.gates,
            texts.get(c.result_id),
        )
        for c in store.select(Correction)
    } | {p.key: (p.state, p.score, p.quote) for p in store.select(Checkpoint)}  # fmt: skip


@pytest.mark.slow
async def test_every_arm_is_carried_out(judged, endpoints, counted):
    before = {p.key for p in judged.select(Checkpoint)}
    ended = await carried(judged, spec(judged), endpoints, counted.make)
    assert (ended.state, ended.failed, ended.unscored) == ("done", 0, 0)
    assert ended.done == ended.total == counted.total
    rows = judged.select(Correction)
    # Seven failed answers in eight arms, two right ones in one.
    assert Counter((row.cohort, row.arm) for row in rows) == {
        **{("failed", arm): 7 for arm in ARMS},
        ("right", "guided"): 2,
    }
    made = {r.id: r for r in judged.select(Response) if r.arm is not None}
    for row in rows:
        if row.state == "unscored":
            assert (row.result_id, row.value) == (None, None)
            assert row.detail
            continue
        assert row.state == "scored"
        assert row.value in (0.0, 1.0)
        if row.arm == "rejudge":
            assert row.result_id == row.response_id
            continue
        answer = made[row.result_id]
        assert (answer.parent_id, answer.arm, answer.state) == (row.response_id, row.arm, "scored")
        assert bool(row.feedback) == (row.arm != "fresh")
        assert bool(row.hints) == (row.arm in ("peer", "guided_peer"))
    assert len(made) == sum(row.state == "scored" and row.arm != "rejudge" for row in rows)
    new = [p for p in judged.select(Checkpoint) if p.key not in before]
    repeats = Counter(p.repeat for p in new)
    scored = {(p.response_id, p.repeat) for p in new}
    assert scored == {(name, 0) for name in made} | {
        (row.response_id, APART) for row in rows if row.arm == "rejudge"
    }
    assert repeats[APART] > 0
    assert {o.response_id for o in judged.select(Outcome)} >= set(made)
    assert check_store(judged).problems == ()


@pytest.mark.slow
async def test_asking_for_the_same_again_asks_nobody(judged, endpoints, counted):
    one = await carried(judged, spec(judged), endpoints, counted.make)
    expected, sent = results(judged), counted.total
    two = await carried(judged, spec(judged), endpoints, counted.make)
    assert (two.id, two.state, two.done, two.total) == (one.id, "done", one.done, one.done)
    assert counted.total == sent
    assert results(judged) == expected
    assert len(judged.select(Experiment)) == 1


@pytest.mark.slow
async def test_what_another_experiment_paid_for_is_not_paid_again(judged, endpoints, counted):
    few = ("fresh", "told", "guided")
    await carried(judged, spec(judged, arms=few, right_answers=0), endpoints, counted.make)
    sent = counted.total
    ended = await carried(judged, spec(judged, arms=few, rounds=2), endpoints, counted.make)
    first = [c for c in judged.select(Correction) if c.round == 1 and c.cohort == "failed"]
    assert ended.state == "done"
    assert len({c.experiment_id for c in first}) == 2
    by_trial = Counter((c.response_id, c.arm, c.result_id) for c in first)
    assert set(by_trial.values()) == {2}
    # What is new is the right answers' guided feedback (a try and a scoring) and second rounds.
    seconds = sum(c.round == 2 for c in judged.select(Correction))
    assert counted.total - sent == 2 * (2 + seconds)


@pytest.mark.slow
async def test_a_hint_is_asked_for_once_for_both_arms(judged, endpoints, counted):
    arms = ("peer", "guided_peer")
    await carried(judged, spec(judged, arms=arms, right_answers=0), endpoints, counted.make)
    hints = judged.select(Hint)
    assert hints
    assert max(counted.asked.values()) == 1
    used = {h.hint_id for c in judged.select(Correction) for h in c.hints}
    assert used <= {h.id for h in hints if h.state == "scored"}
    own = next(c for c in judged.select(Response) if c.arm == "peer").candidate_id
    assert own not in {h.peer_id for h in hints}


@pytest.mark.slow
async def test_rounds_go_on_until_nothing_failed(judged, endpoints, counted):
    asked = spec(judged, arms=("fresh", "told", "guided"), rounds=3, right_answers=0)
    ended = await carried(judged, asked, endpoints, counted.make)
    assert ended.done == ended.total
    rows = {(c.response_id, c.arm, c.round): c for c in judged.select(Correction)}
    assert {number for *_, number in rows} == {1, 2, 3}
    for (name, arm, number), row in rows.items():
        before = rows.get((name, arm, number - 1))
        if before is not None:
            assert row.parent_id == before.result_id
            assert before.value == 0.0
        if row.value == 1.0:
            assert (name, arm, number + 1) not in rows


@pytest.mark.slow
async def test_corrections_never_enter_what_a_study_holds(judged, endpoints, counted):
    (study,) = judged.select(Study)
    counts, seen = count_study(judged, study.id), load_study(judged, study.id).table
    asked = spec(judged, arms=("rejudge", "fresh", "guided"), right_answers=0)
    await carried(judged, asked, endpoints, counted.make)
    assert len(judged.select(Response)) > counts.responses
    assert count_study(judged, study.id) == counts
    now = load_study(judged, study.id).table
    assert now.response_ids == seen.response_ids
    assert now.score.tolist() == seen.score.tolist()
    assert now.outcome.tolist() == seen.outcome.tolist()
    # Nor does an ordinary run take them for answers that are still to be judged.
    sent = counted.total
    ordinary = RunSpec(study_id=study.id, judge="probe-judge", candidates=JUDGED)
    ended = await run(judged, ordinary, endpoints, make=counted.make)
    assert (ended.total, counted.total) == (0, sent)
    twice = RunSpec(study_id=study.id, judge="probe-judge", stages=("scoring",), repeats=2)
    ended = await run(judged, twice, endpoints, make=counted.make)
    # Ten answers of three models once more: an experiment's second judgement is its own.
    assert ended.total == 10 * 3


async def test_a_sealed_study_is_left_alone(judged, endpoints):
    with (
        Store.open(judged.folder, read_only=True) as sealed,
        pytest.raises(ReadOnlyError, match="copy it"),
    ):
        open_work(sealed, spec(judged), endpoints)


def test_where_nobody_takes_part_it_is_said(judged, endpoints):
    right = {o.response_id for o in judged.select(Outcome) if o.value == 1}
    (model,) = (c.id for c in judged.select(Candidate) if c.name == "model-b")
    answers = [r for r in judged.select(Response) if r.candidate_id == model and r.id in right]
    samples = tuple(answer.sample_id for answer in answers)
    n = len(samples)
    assert n > 1
    with pytest.raises(UsageError, match=f"of {n} answers 0 failed by this rule and {n} didn't"):
        open_work(
            judged, spec(judged, candidate="model-b", sample_ids=samples, right_answers=0),
            endpoints,
        )  # fmt: skip
    assert judged.select(Experiment) == []


def test_data_goes_to_a_new_host_only_with_consent(judged, endpoints):
    far = endpoints["model-h"].model_copy(update={"base_url": "https://models.example/v1"})
    known = {**endpoints, "model-h": far}
    with pytest.raises(ConsentNeeded) as needed:
        open_work(judged, spec(judged), known)
    (question,) = needed.value.questions
    # Only samples of answers that take part: seven failed ones and two right ones.
    assert (question.host, question.texts) == ("models.example", 9)
    assert [run for run in judged.select(Run) if run.kind == "experiment"] == []
    give_consent(judged, spec(judged).study_id, ["models.example"])
    open_work(judged, spec(judged), known)


# Stopping, resuming, failing


@pytest.mark.slow
async def test_a_stopped_experiment_goes_on_and_repeats_nothing(
    judged, judged_folder, endpoints, counted, tmp_path, monkeypatch
):
    # It looks at its row often and asks slowly, so that the stop meets it at work.
    monkeypatch.setattr("atom.engine.execution.BEAT", 0.02)
    one_by_one = quick(endpoints, concurrency=1)
    some = {"arms": ("rejudge", "fresh", "guided", "peer"), "rounds": 2, "right_answers": 0}
    whole = await carried(judged, spec(judged, **some), endpoints, counted.make)
    expected, sent = results(judged), counted.total
    again = Counted(latency=0.02)
    shutil.copytree(judged_folder, tmp_path / "other")
    with Store.open(tmp_path / "other") as store:
        row = open_work(store, spec(store, **some), endpoints)
        columns = table(Run)

        def stop(progress) -> None:
            if progress.done:
                with store.write() as writer:
                    writer.execute(
                        columns.update().where(columns.c.id == row.id).values(state="stopping")
                    )

        stopped = await carry_out(store, row.id, one_by_one, make=again.make, on_progress=stop)
        assert (stopped.state, stopped.message) == ("stopped", "stopped on request")
        assert 0 < stopped.done < whole.done
        # `run resume` takes it up as any run.
        ended = await carry_out(store, row.id, endpoints, make=again.make)
        assert (ended.state, ended.done) == ("done", whole.done)
        assert results(store) == expected
        assert again.total == sent
        assert max(again.asked.values()) == 1


@pytest.mark.slow
async def test_a_stop_while_its_process_starts_is_not_lost(judged, endpoints, monkeypatch):
    # It looks at its row often and asks slowly, so that it isn't done before it looks.
    monkeypatch.setattr("atom.engine.execution.BEAT", 0.02)
    slow, one_by_one = Counted(latency=0.1), quick(endpoints, concurrency=1)
    row = open_work(judged, spec(judged, arms=("fresh", "guided")), endpoints)
    assert stop_run(judged, row.id).run.state == "stopping"
    ended = await carry_out(judged, row.id, one_by_one, make=slow.make)
    assert (ended.state, ended.message) == ("stopped", "stopped on request")
    assert ended.done < ended.total
    # Asked to go on, it does.
    prepare_resume(judged, row.id)
    ended = await carry_out(judged, row.id, endpoints, make=Counted().make)
    assert (ended.state, ended.done) == ("done", ended.total)


@pytest.mark.slow
async def test_the_total_is_foreseen_and_only_shrinks_by_early_ends(judged, endpoints, counted):
    totals = []
    asked = spec(judged, arms=("told", "guided"), rounds=2, right_answers=0)
    ended = await carried(
        judged, asked, endpoints, counted.make, on_progress=lambda p: totals.append(p.total)
    )
    assert totals[-1] == ended.total == ended.done
    assert totals == sorted(totals, reverse=True)


async def test_a_budget_stops_it_cleanly_and_a_larger_one_goes_on(judged, endpoints, counted):
    prices = {"prices": Prices(input=10.0, output=10.0)}
    dear = {**endpoints, "model-h": endpoints["model-h"].model_copy(update=prices)}
    asked = spec(judged, arms=("told",), right_answers=0, budget=0.03)
    stopped = await carried(judged, asked, dear, counted.make)
    assert stopped.state == "stopped"
    assert "Resume with a larger budget" in stopped.message
    assert stopped.cost <= 0.03
    larger = spec(judged, arms=("told",), right_answers=0, budget=50.0)
    ended = await carried(judged, larger, dear, counted.make)
    assert (ended.id, ended.state, ended.failed) == (stopped.id, "done", 0)
    assert max(counted.asked.values()) == 1
    assert ended.cost == pytest.approx(
        sum(c.cost for c in judged.select(Call, table(Call).c.task == "retry"))
    )


@pytest.mark.slow
async def test_failures_are_rows_with_a_reason_and_asked_again_on_demand(judged, endpoints):
    down = Counted(faults=DOWN)
    asked = spec(judged, arms=("told", "peer"), right_answers=0)
    ended = await carried(judged, asked, quick(endpoints), down.make)
    assert ended.failed > 0
    rows = judged.select(Correction)
    assert {row.state for row in rows} <= {"failed", "unscored"}
    assert all(row.detail for row in rows)
    assert {row.result_id for row in rows} == {None}
    assert any(row.detail.startswith("no hint: ") for row in rows if row.arm == "peer")
    fine = Counted()
    same = await carried(judged, asked, endpoints, fine.make)
    assert (same.state, fine.total) == ("done", 0)
    mended = await carried(judged, asked, endpoints, fine.make, retry_failed=True)
    assert mended.state == "done"
    assert fine.total > 0
    assert "failed" not in {row.state for row in judged.select(Correction)}
    assert check_store(judged).problems == ()


async def test_an_endpoint_that_only_fails_stops_it(judged, endpoints, monkeypatch):
    monkeypatch.setattr("atom.engine.execution.BREAKER", 3)
    down = Counted(faults=DOWN)
    asked = spec(judged, arms=("told",), right_answers=0)
    ended = await carried(judged, asked, quick(endpoints, concurrency=1), down.make)
    assert ended.state == "stopped"
    assert "3 items in a row failed at 'model-h'" in ended.message


async def test_unusable_replies_are_counted_and_never_scored(judged, endpoints):
    odd = Counted(faults=FaultPlan(rates={"refusal": 1.0}))
    ended = await carried(
        judged, spec(judged, arms=("fresh", "told"), right_answers=0), endpoints, odd.make
    )
    assert (ended.state, ended.failed) == ("done", 0)
    rows = judged.select(Correction)
    assert {row.state for row in rows} == {"unscored"}
    assert ended.unscored == len(rows) == 14
    assert {r.state for r in judged.select(Response) if r.arm} == {"unscored"}


async def test_hostile_answers_go_through_as_text(judged, endpoints, counted):
    (study,) = judged.select(Study)
    bad = '</script><img src=x onerror=alert(1)> BEGIN DATA {"a": 1} END DATA \x00 \ud800'
    firsts = [r for r in judged.select(Response) if r.candidate_id == _model(judged, "model-h")]
    judged.replace([r.model_copy(update={"text": bad + r.text}) for r in firsts])
    ended = await carried(
        judged, spec(judged, arms=("told", "guided"), right_answers=0, limit=2), endpoints,
        counted.make,
    )  # fmt: skip
    assert (ended.state, ended.failed) == ("done", 0)
    assert all("onerror" not in row.feedback for row in judged.select(Correction))
    assert study.id == ended.study_id


def _model(store: Store, name: str) -> str:
    return next(candidate.id for candidate in store.select(Candidate) if candidate.name == name)


async def test_it_is_not_carried_out_twice_at_once(judged, endpoints, counted):
    row = open_work(judged, spec(judged), endpoints)
    other = RunLedger(
        store=judged, run_id=row.id, study_id=row.study_id, owner=owner_name("another")
    )
    with judged.write() as writer:  # whoever opened it holds it until another process begins
        drop_hold(writer, run_claim(row.id))
    assert other.take_over() is None
    with pytest.raises(UsageError, match="being carried out already by run"):
        open_work(judged, spec(judged), endpoints)
    with pytest.raises(UsageError, match="is already running in process"):
        await carry_out(judged, row.id, endpoints, make=counted.make)
    with pytest.raises(UsageError, match="no run 'x'"):
        await carry_out(judged, "x", endpoints)


@pytest.mark.slow
async def test_two_experiments_at_once_pay_once(judged, endpoints, counted):
    slow = Counted(latency=0.02)
    asked = [
        spec(judged, arms=("fresh", "told", "guided"), right_answers=0, seed=seed)
        for seed in (1, 2)
    ]
    runs = [open_work(judged, one, endpoints) for one in asked]
    ended = await asyncio.gather(
        *(carry_out(judged, row.id, endpoints, make=slow.make) for row in runs)
    )
    assert [row.state for row in ended] == ["done", "done"]
    assert max(slow.asked.values()) == 1
    assert run_status(judged, runs[0].id).alive is False


@pytest.mark.slow
async def test_a_reply_that_came_while_it_waited_for_its_turn_is_used(
    judged, judged_folder, endpoints, counted, tmp_path, monkeypatch
):
    asked = {"arms": ("told",), "right_answers": 0}
    await carried(judged, spec(judged, **asked), endpoints, counted.make)
    expected, calls = results(judged), judged.select(Call)
    shutil.copytree(judged_folder, tmp_path / "other")
    idle, hold = Counted(), RunLedger.hold

    def late(ledger: RunLedger, name: str) -> bool:
        # Another run ends its call after this one looked, and gives the claim back.
        ledger.store.put(calls)
        return hold(ledger, name)

    monkeypatch.setattr(RunLedger, "hold", late)
    with Store.open(tmp_path / "other") as store:
        ended = await carried(store, spec(store, **asked), endpoints, idle.make)
        assert (ended.state, idle.total) == ("done", 0)
        assert results(store) == expected

"""One answer tried again on demand, with what comes in streamed, and its control beside it.

The try is an experiment of one sample: it is stored like any other, so nothing is lost and nothing
is asked twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

from atom.engine.clock import Clock, utc_now
from atom.engine.correction.cohorts import find_subjects
from atom.engine.correction.experiment import WORK, OnText, watched
from atom.engine.correction.ground import CorrectionSpec, prepare
from atom.engine.execution import ClientMaker, OnProgress, make_client
from atom.engine.work import carry_out, open_work
from atom.errors import UsageError
from atom.records import (
    APART,
    Arm,
    Checkpoint,
    Cohort,
    Correction,
    Endpoint,
    Experiment,
    ExperimentTask,
    FailedRule,
    Outcome,
    Response,
    Run,
)
from atom.store import Store, find_study, table
from atom.store.holds import runs_of
from atom.store.standing.marks import marks_of
from atom.store.standing.outcomes import outcomes_of

LIVE_ARMS: tuple[Arm, ...] = ("fresh", "told", "guided")
"""Feedback, with the two controls that say how much of it is luck and how much the bad news."""


@dataclass(frozen=True, kw_only=True)
class TriedArm:
    """What came of one arm.

    Args:
        rounds: its rounds, in order.
        response: the last new answer; None where there is none.
        checkpoints: the judge's scores of that answer.
        value: whether its final answer is right; None where that isn't known.
    """

    arm: Arm
    rounds: tuple[Correction, ...]
    response: Response | None
    checkpoints: tuple[Checkpoint, ...]
    value: float | None


@dataclass(frozen=True, kw_only=True)
class RetriedAnswer:
    """An answer that was tried again.

    Args:
        run: its run, ended.
        first: the initial answer.
        cohort: whether that one failed or was right; a right one gets guided feedback alone.
        checkpoints: the judge's scores of the initial answer.
        outcomes: what is known of its final answer.
        arms: what came of each arm, controls first.
    """

    experiment: Experiment
    run: Run | None
    first: Response
    cohort: Cohort
    checkpoints: tuple[Checkpoint, ...]
    outcomes: tuple[Outcome, ...]
    arms: tuple[TriedArm, ...]


def spec_of_answer(
    store: Store,
    study_id: str,
    response_id: str,
    endpoints: Mapping[str, Endpoint],
    *,
    arms: tuple[Arm, ...] = LIVE_ARMS,
    judge: str | None = None,
    threshold: int = 2,
    rounds: int = 1,
    budget: float | None = None,
) -> CorrectionSpec:
    """Say what trying one answer again means: which rule it failed, and so which arms it gets.

    Raises:
        UsageError: there is no such answer in the study, or nothing is known about it.
    """
    response = store.get(Response, response_id)
    if response is None:
        raise UsageError(f"there is no answer {response_id!r} in this store")
    spec = CorrectionSpec(
        study_id=study_id,
        candidate=response.candidate_id,
        judge=judge,
        arms=arms,
        threshold=threshold,
        rounds=rounds,
        sample_ids=(response.sample_id,),
        budget=budget,
    )
    reasons: set[str] = set()
    rules: tuple[FailedRule, ...] = get_args(FailedRule)
    for rule in rules:
        tried = replace(spec, failed_rule=rule)
        found = find_subjects(store, prepare(store, tried, endpoints))
        reasons |= set(found.left_out)
        if any(subject.first.id == response_id for subject in found.subjects):
            return tried
    right = replace(spec, arms=("guided",), right_answers=1)
    found = find_subjects(store, prepare(store, right, endpoints))
    if any(subject.first.id == response_id for subject in found.subjects):
        return right
    why = "; ".join(sorted(reasons)) or "it isn't the model's first answer in this study"
    raise UsageError(f"this answer can't be tried again: {why}")


async def try_again(
    store: Store,
    study_id: str,
    response_id: str,
    endpoints: Mapping[str, Endpoint],
    *,
    arms: tuple[Arm, ...] = LIVE_ARMS,
    judge: str | None = None,
    threshold: int = 2,
    rounds: int = 1,
    budget: float | None = None,
    make: ClientMaker = make_client,
    clock: Clock = utc_now,
    on_text: OnText | None = None,
    on_progress: OnProgress | None = None,
) -> RetriedAnswer:
    """Let a model try one answer again, one arm after the other.

    Args:
        study_id: the study, by id or name.
        response_id: the model's first answer.
        endpoints: endpoints by name.
        arms: what is done with a failed answer; a right one gets guided feedback alone.
        judge: the judge's endpoint; None = the study's own judge.
        threshold: a criterion with this score or less is failed.
        rounds: tries in a row at most.
        budget: spend cap in USD.
        clock: UTC time, for records.
        on_text: told each piece of text as it streams in, and the step that it belongs to.
        on_progress: called twice a second at most.

    Returns:
        What came of it; failures stand in the rounds, with the reason.

    Raises:
        ReadOnlyError: the study is sealed; make the user's own copy first.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
        AtomError: it can't begin.
    """
    store.must_be_open(WORK.sealed)
    spec = spec_of_answer(
        store,
        study_id,
        response_id,
        endpoints,
        arms=arms,
        judge=judge,
        threshold=threshold,
        rounds=rounds,
        budget=budget,
    )
    run = open_work(store, spec, endpoints, clock=clock)
    await carry_out(
        store,
        run.id,
        endpoints,
        retry_failed=True,
        make=make,
        clock=clock,
        on_progress=on_progress,
        work=watched(on_text),
    )
    return read_tried(store, run.experiment_id or "", response_id)


def read_tried(store: Store, experiment_id: str, response_id: str) -> RetriedAnswer:
    """Read what came of trying an answer again.

    Raises:
        UsageError: there is no such experiment or answer.
    """
    experiment = store.get(Experiment, experiment_id)
    first = store.get(Response, response_id)
    if experiment is None or first is None:
        raise UsageError(f"there is no experiment {experiment_id!r} with an answer {response_id!r}")
    columns = table(Correction).c
    rows = store.select(
        Correction,
        columns.experiment_id == experiment_id,
        columns.response_id == response_id,
        order_by=[columns.round],
    )
    task = ExperimentTask(kind="experiment", experiment_id=experiment_id)
    runs = runs_of(store, experiment.study_id, task)
    arms = [_arm(store, experiment, arm, rows) for arm in experiment.arms]
    return RetriedAnswer(
        experiment=experiment,
        run=runs[0] if runs else None,
        first=first,
        cohort=rows[0].cohort if rows else "failed",
        checkpoints=_checkpoints(store, experiment, response_id, 0),
        outcomes=outcomes_of(store, [response_id], experiment.judge_id).get(response_id, ()),
        arms=tuple(arm for arm in arms if arm.rounds),
    )


def _arm(store: Store, experiment: Experiment, arm: Arm, rows: list[Correction]) -> TriedArm:
    mine = tuple(row for row in rows if row.arm == arm)
    last = next((row for row in reversed(mine) if row.result_id), None)
    repeat = APART if arm == "rejudge" else 0
    return TriedArm(
        arm=arm,
        rounds=mine,
        response=store.get(Response, last.result_id) if last and last.result_id else None,
        checkpoints=_checkpoints(store, experiment, last.result_id, repeat)
        if last and last.result_id
        else (),
        value=last.value if last else None,
    )


def _checkpoints(
    store: Store, experiment: Experiment, response_id: str, repeat: int
) -> tuple[Checkpoint, ...]:
    study = find_study(store, experiment.study_id)
    found = marks_of(store, study, [response_id], experiment.judge_id, repeats=(repeat,))
    return tuple(found.get((response_id, repeat), {}).values())

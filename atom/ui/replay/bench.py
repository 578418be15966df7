"""Live replay's bench: one sample, what a judge has made of it, and the step that is under way.

A bench lives in the reader's session; nothing on it is lost by a rerun, an error or a look at
another screen. Steps run as jobs; `settle` takes in what a job has brought.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import streamlit as st

from atom.engine.forecast import guess_price
from atom.engine.live_replay import Live
from atom.engine.members import candidate_of
from atom.pipeline import BY_NAME
from atom.records import (
    Checkpoint,
    CriteriaSet,
    Criterion,
    Endpoint,
    Outcome,
    Replay,
    Response,
)
from atom.records import Mapping as LeafMapping
from atom.stages.criteria import CriteriaResult
from atom.stages.stage import StageResult, Subject
from atom.ui import work
from atom.views.replay.drafts import (
    DraftCriterion,
    Drafts,
    criterion_id,
    drafts_of,
    result_of,
    with_leaves,
)
from atom.views.replay.page import BenchAnswer, Scorecard, scorecard
from atom.views.stores import StudyEntry

Step = Literal["replay", "criteria", "mapping", "answer", "scoring"]
BENCHES = "replay_benches"
KEPT = 40
"""Benches that a session remembers."""
MOST_UNDO = 60
LOST = "The work was lost when the server restarted. Take the step again; nothing was saved."


@dataclass
class BenchAnswers:
    """The answers to a sample that are on the bench, whoever judges them."""

    given: list[BenchAnswer] = field(default_factory=list)
    chosen: str = ""
    typed: str = ""
    writer: str = ""
    mode: str = ""
    candidate: str = ""


@dataclass
class ReplayBench:
    """One sample before one judge."""

    key: str
    entry: StudyEntry
    live: Live
    answers: BenchAnswers
    solved: Replay | None = None
    judged: CriteriaResult | None = None
    drafts: Drafts = ()
    past: list[Drafts] = field(default_factory=list)
    used_keys: set[str] = field(default_factory=set)
    mapped: dict[str, LeafMapping] = field(default_factory=dict)
    points: dict[tuple[str, str], Checkpoint] = field(default_factory=dict)
    errors: dict[Step, str] = field(default_factory=dict)
    notes: dict[Step, str] = field(default_factory=dict)
    step: Step | None = None
    job: str = ""
    queue: list[Step] = field(default_factory=list)
    asked: Endpoint | None = None
    pending: Callable[[StageResult], bool] | None = None

    # what is there

    @property
    def result(self) -> CriteriaResult | None:
        """The criteria set of what the editor holds; None before there are criteria."""
        if self.judged is None:
            return None
        if self.judged.criteria_set.state != "scored" and not self.drafts:
            return self.judged
        replay_id = self.solved.id if self.solved else None
        return result_of(self.live.sample, self.live.judge_id, replay_id, self.drafts, self.judged)

    @property
    def edited(self) -> bool:
        """Whether the criteria are no longer the judge's."""
        return self.result is not self.judged

    @property
    def answer(self) -> BenchAnswer | None:
        """The chosen answer."""
        return next((a for a in self.answers.given if a.response.id == self.answers.chosen), None)

    @property
    def card(self) -> Scorecard | None:
        """The chosen answer's scores."""
        answer = self.answer
        if answer is None or not self.drafts:
            return None
        return scorecard(self.live.sample, self.drafts, answer.response, self.points)

    @property
    def unmapped(self) -> tuple[DraftCriterion, ...]:
        """Criteria that hang nowhere in the tree."""
        return tuple(draft for draft in self.drafts if draft.leaf is None and not draft.blank)

    @property
    def busy(self) -> bool:
        """Whether a step is under way."""
        return bool(self.job)

    # editing

    def edit(self, drafts: Drafts) -> None:
        """Put other criteria into the editor; the ones before can be had back."""
        if drafts == self.drafts:
            return
        self.past = [*self.past[-MOST_UNDO:], self.drafts]
        self.drafts = drafts
        self.used_keys.update(draft.key for draft in drafts)

    def undo(self) -> None:
        """Take the last edit back."""
        if self.past:
            self.drafts = self.past.pop()

    def choose(self, answer: BenchAnswer) -> None:
        """Put an answer on the bench and choose it."""
        rest = [a for a in self.answers.given if a.response.id != answer.response.id]
        self.answers.given = [*rest, answer]
        self.answers.chosen = answer.response.id


def bench_for(key: str, make: Callable[[], ReplayBench]) -> ReplayBench:
    """Return the bench of this name, or make it."""
    held: dict[str, ReplayBench] = st.session_state.setdefault(BENCHES, {})
    if key not in held:
        held[key] = make()
        for old in [k for k, bench in held.items() if k != key and not bench.busy][:-KEPT]:
            del held[old]
    return held[key]


# --- which steps can be taken ---------------------------------------------------------------------


def why_not(bench: ReplayBench, step: Step, candidate: Endpoint | None = None) -> str:
    """Say what a step still needs; empty when it can be taken."""
    stage, there = BY_NAME[step], about(bench, step)
    if stage.by_candidate and candidate is None:
        return "choose a model"
    if "replay" in stage.needs and there.replay is None:
        return "needs the judge's solution"
    if "criteria_set" in stage.needs and there.criteria_set is None:
        return "needs criteria that can be used" if bench.result else "needs criteria"
    if "response" in stage.needs and there.response is None:
        return "needs an answer"
    return ""


def left_to_do(bench: ReplayBench, *, asks: bool) -> list[Step]:
    """List the steps of a run through all of them that aren't done yet.

    Args:
        asks: whether a model is to be asked for an answer.
    """
    steps: list[Step] = []
    if bench.solved is None or bench.solved.state != "scored":
        steps.append("replay")
    if bench.judged is None or bench.judged.criteria_set.state != "scored":
        steps.append("criteria")
    if not bench.drafts or bench.unmapped:
        steps.append("mapping")
    if asks and bench.answer is None:
        steps.append("answer")
    card = bench.card
    if (asks or bench.answer is not None) and (card is None or card.missing):
        steps.append("scoring")
    return steps


def who(bench: ReplayBench, step: Step, candidate: Endpoint | None = None) -> Endpoint:
    """Return who is asked in a step: the candidate, where one is asked and chosen, or the judge."""
    return candidate if BY_NAME[step].by_candidate and candidate else bench.live.judge


def price(
    bench: ReplayBench, step: Step, candidate: Endpoint | None = None
) -> tuple[int, float | None]:
    """Estimate tokens and USD of a step; stand-ins fill in for what isn't there yet."""
    estimate = guess_price(bench.live, BY_NAME[step], about(bench, step), candidate)
    return estimate.prompt_tokens + estimate.completion_tokens, estimate.cost


def about(bench: ReplayBench, step: Step) -> Subject:
    """Return the sample with what is there, and can be used, of what a step needs."""
    result, solved, answer = bench.result, bench.solved, bench.answer
    usable = result is not None and result.criteria_set.state == "scored"
    return bench.live.about(
        replay=solved if solved is not None and solved.state == "scored" else None,
        criteria_set=result.criteria_set if result is not None and usable else None,
        wanted=wanted(bench, step) if usable else (),
        response=answer.response if answer else None,
    )


def wanted(bench: ReplayBench, step: Step) -> tuple[Criterion, ...]:
    """Return the criteria that a step is about: those that it hasn't reached yet."""
    result = bench.result
    if result is None:
        return ()
    if "response" in BY_NAME[step].needs:
        card = bench.card
        ids = set(card.missing) if card else {c.id for c in result.criteria}
    else:
        ids = {criterion_id(bench.live.sample, draft) for draft in bench.unmapped}
    return tuple(c for c in result.criteria if c.id in ids)


# --- taking steps --------------------------------------------------------------------------------


def take(bench: ReplayBench, steps: Sequence[Step], candidate: Endpoint | None = None) -> None:
    """Take steps one after the other, asking first where data would leave this computer.

    Call it from a callback.
    """
    if bench.busy or not steps:
        return
    asked = [who(bench, step, candidate) for step in steps]
    hosts = work.hosts_to_ask(bench.entry, asked)
    if hosts:
        count = len(bench.live.pictures)
        pictures = f"{count:,} picture{'s' * (count != 1)} and " if count else ""
        what = f"{pictures}the question with its choices, reference and answers would be sent"
        work.ask_first(bench.entry, hosts, what, lambda: take(bench, steps, candidate))
        return
    bench.asked = candidate
    bench.queue = list(steps)
    _next(bench)
    if len(steps) == 1 and bench.job:
        job = work.jobs().get(bench.job)
        if job is not None:
            job.wait(work.PATIENCE)
        settle(bench)


def stop(bench: ReplayBench) -> None:
    """Drop the step that is under way and those behind it."""
    bench.queue = []
    job = work.jobs().get(bench.job)
    if job is not None:
        job.cancel()


def settle(bench: ReplayBench) -> None:
    """Take in what the step under way has brought, if it has ended, and begin the next."""
    if not bench.job or bench.step is None:
        return
    job, step = work.jobs().get(bench.job), bench.step
    if job is None:
        _end(bench)
        bench.errors[step] = LOST
        return
    state = job.snapshot()
    if state.status == "running":
        return
    pending, queue = bench.pending, bench.queue
    _end(bench)
    if state.status == "failed":
        bench.errors[step] = state.error
    elif state.status == "cancelled":
        bench.notes[step] = "stopped: nothing was kept of this step"
    elif pending is not None and isinstance(state.result, StageResult) and pending(state.result):
        bench.queue = queue
        _next(bench)


def _end(bench: ReplayBench) -> None:
    bench.job, bench.step, bench.pending, bench.queue = "", None, None, []


def _next(bench: ReplayBench) -> None:
    while bench.queue:
        step = bench.queue.pop(0)
        if why_not(bench, step, bench.asked):
            continue
        if "wanted" in BY_NAME[step].needs and not wanted(bench, step):
            continue
        _begin(bench, step)
        return


def _begin(bench: ReplayBench, step: Step) -> None:
    bench.errors.pop(step, None)
    bench.notes.pop(step, None)
    live, subject, model = bench.live, about(bench, step), bench.asked
    job = work.jobs().start(
        step, lambda job: live.take(BY_NAME[step], subject, job.say, candidate=model)
    )
    take_in = _TAKEN_IN[step]
    bench.job, bench.step, bench.pending = job.id, step, lambda brought: take_in(bench, brought)


# What a step brought is taken in by these; each says whether the next step can follow.


def _solved(bench: ReplayBench, brought: StageResult) -> bool:
    bench.solved = brought.one(Replay)
    return bench.solved.state == "scored"


def _cut(bench: ReplayBench, brought: StageResult) -> bool:
    bench.judged = CriteriaResult(
        criteria_set=brought.one(CriteriaSet), criteria=brought.all(Criterion)
    )
    bench.edit(drafts_of(bench.judged))
    bench.past = [drafts for drafts in bench.past if drafts]
    return bench.judged.criteria_set.state == "scored"


def _hung(bench: ReplayBench, brought: StageResult) -> bool:
    mappings = brought.all(LeafMapping)
    bench.mapped.update((mapping.criterion_id, mapping) for mapping in mappings)
    bench.drafts = with_leaves(bench.live.sample, bench.drafts, mappings)
    lost = [mapping for mapping in mappings if mapping.state != "scored"]
    if lost:
        bench.notes["mapping"] = f"{len(lost):,} not mapped: {lost[0].detail}"
    return True


def _answered(bench: ReplayBench, brought: StageResult) -> bool:
    assert bench.asked is not None
    response, verdicts = brought.one(Response), brought.all(Outcome)
    verdict = verdicts[0] if verdicts else None
    answer = BenchAnswer(response=response, candidate=candidate_of(bench.asked), outcome=verdict)
    if response.state == "scored":
        bench.choose(answer)
    else:
        bench.errors["answer"] = f"No answer ({response.state}): {response.detail}"
    return response.state == "scored"


def _scored(bench: ReplayBench, brought: StageResult) -> bool:
    for point in brought.all(Checkpoint):
        bench.points[point.criterion_id, point.response_id] = point
    return True


_TAKEN_IN: Mapping[Step, Callable[[ReplayBench, StageResult], bool]] = {
    "replay": _solved,
    "criteria": _cut,
    "mapping": _hung,
    "answer": _answered,
    "scoring": _scored,
}

"""One answer before and after: what was said, what was asked, what changed, step by step."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atom.records import (
    APART,
    Arm,
    Candidate,
    Checkpoint,
    Cohort,
    Correction,
    Experiment,
    Response,
    Study,
)
from atom.store import Store, table
from atom.store.standing.marks import marks_of
from atom.store.standing.outcomes import values_of
from atom.views.correction.form import ARMS
from atom.views.failures.sample import CriterionView, SampleView, sample_view
from atom.views.filters import Filters
from atom.views.study_data import StudyData

RIGHT = 0.5
CONTROL_OF: Mapping[Arm, tuple[Arm, ...]] = {
    "rejudge": (),
    "fresh": ("rejudge",),
    "told": ("fresh",),
    "sham": ("told", "fresh"),
    "guided": ("sham", "fresh", "told"),
    "peer": ("sham", "fresh", "told"),
    "guided_peer": ("guided", "peer", "fresh"),
    "oracle": ("told", "fresh"),
}
"""What stands beside an arm, the best first."""
MOST_WORDS = 1500
"""Words of an answer that are compared; longer answers are shown whole and unmarked."""
_PIECES = re.compile(r"\s+|\S+")


@dataclass(frozen=True, kw_only=True)
class DiffPart:
    """A piece of a text: in both, only in the first, or only in the second."""

    kind: Literal["same", "gone", "new"]
    text: str


def word_diff(before: str, after: str) -> tuple[DiffPart, ...]:
    """Compare two texts word by word.

    Args:
        before: hostile text.
        after: hostile text.

    Returns:
        Pieces in order; the `same` and `gone` ones make up `before`, the `same` and `new` ones
        `after`. Where a text is longer than `MOST_WORDS` words, nothing is compared.
    """
    first, second = _PIECES.findall(before), _PIECES.findall(after)
    if max(len(first), len(second)) > 2 * MOST_WORDS:
        return (DiffPart(kind="gone", text=before), DiffPart(kind="new", text=after))
    parts: list[DiffPart] = []
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            parts.append(DiffPart(kind="same", text="".join(first[a:b])))
            continue
        if b > a:
            parts.append(DiffPart(kind="gone", text="".join(first[a:b])))
        if d > c:
            parts.append(DiffPart(kind="new", text="".join(second[c:d])))
    return tuple(parts)


@dataclass(frozen=True, kw_only=True)
class HintLine:
    """A hint as it went into the feedback.

    Attributes:
        number: of its criterion in the sample; 0 where it isn't one of them.
        peer: who wrote it.
        text: hostile text.
    """

    number: int
    peer: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Try:
    """What an arm did with an answer in one round.

    Attributes:
        correction: its record.
        rounds: how many rounds it has in all.
        parent: the answer that was tried again.
        response: the new answer; for `rejudge` the old one; None where there is none.
        right: whether the final answer is right now; None where that isn't known.
        points: scores by criterion.
        hints: what peers wrote.
    """

    arm: Arm
    correction: Correction
    rounds: int
    parent: Response | None
    response: Response | None
    right: bool | None
    points: Mapping[str, Checkpoint]
    hints: tuple[HintLine, ...]

    def score(self, criterion_id: str) -> int | None:
        """Return a criterion's score after the try; None while there is none."""
        point = self.points.get(criterion_id)
        return point.score if point is not None else None


@dataclass(frozen=True, kw_only=True)
class StepLine:
    """One criterion before and after.

    Attributes:
        view: the criterion, with its regions.
        before: the initial answer's score.
        again: the independent judgement of the same answer; None where none was made.
        after: the new answer's score.
        control: the control's score.
        asked: its question, or a hint on it, was in the feedback.
        why_before: the judge's reason.
        why_after: the judge's reason.
    """

    view: CriterionView
    before: int | None
    again: int | None
    after: int | None
    control: int | None
    asked: bool
    why_before: str
    why_after: str


@dataclass(frozen=True, kw_only=True)
class CaseView:
    """One answer before and after.

    Attributes:
        sample: everything about the sample.
        first: the initial answer.
        was_right: whether it is right; None where that isn't known.
        cohort: whether it failed at first.
        threshold: a score of this or less is failed.
        tries: the arms that were tried on it, in the chosen round or their last before it.
        chosen: the try that is looked at; None where nothing was tried.
        control: what it's held against; None where that wasn't tried.
        steps: criteria before and after.
        diff: the answer before and after; empty where there is no new one.
    """

    sample: SampleView
    first: Response
    was_right: bool | None
    cohort: Cohort
    threshold: int
    tries: tuple[Try, ...]
    chosen: Try | None
    control: Try | None
    steps: tuple[StepLine, ...]
    diff: tuple[DiffPart, ...]

    def mean(self, which: Literal["before", "after", "control"]) -> float | None:
        """Return the weighted mean of the scores that are known both before and now."""
        known = [
            (score, step.view.weight)
            for step in self.steps
            if (score := getattr(step, which)) is not None and step.before is not None
        ]
        total = sum(weight for _, weight in known)
        return sum(score * weight for score, weight in known) / total if total else None

    def failed(self, which: Literal["before", "after", "control"]) -> int:
        """Count the steps that are failed."""
        scores = (getattr(step, which) for step in self.steps)
        return sum(score is not None and score <= self.threshold for score in scores)


def tried_of(store: Store, response_id: str) -> list[Correction]:
    """Return all that was ever tried on an answer, in any experiment."""
    columns = table(Correction).c
    order = [columns.experiment_id, columns.round]
    return store.select(Correction, columns.response_id == response_id, order_by=order)


def case_view(
    store: Store,
    data: StudyData,
    response_id: str,
    *,
    arm: Arm | None = None,
    experiment_id: str | None = None,
    tries: int | None = None,
    filters: Filters | None = None,
) -> CaseView | None:
    """Read one answer before and after.

    Args:
        response_id: the initial answer.
        arm: the arm that is looked at; the most telling one when None.
        experiment_id: only this experiment's trials; those of all when None.
        tries: rounds that count; all when None.
        filters: the chain, for the chosen criterion.

    Returns:
        The view-model; None when there is no such answer in the study.
    """
    first = store.get(Response, response_id)
    if first is None:
        return None
    rows = tried_of(store, response_id)
    if experiment_id is not None:
        rows = [row for row in rows if row.experiment_id == experiment_id]
    if tries is not None:
        rows = [row for row in rows if row.round <= tries]
    kept = _one_experiment_each(rows)
    experiment = store.get(Experiment, kept[0].experiment_id) if kept else None
    judge_id = experiment.judge_id if experiment else (data.judge.id if data.judge else "")
    threshold = experiment.threshold if experiment else 2
    answers = {r.id: r for r in store.get_many(Response, _answer_ids(kept))}
    points = _points(store, data.study, [response_id, *answers], judge_id)
    chain = (filters or Filters()).but(sample=first.sample_id, model=first.candidate_id)
    if chain.criterion is None:
        chain = chain.but(criterion=_worst(points.get((response_id, 0), {})))
    sample = sample_view(store, data, chain)
    if sample is None:
        return None
    names = {c.id: c.name for c in store.get_many(Candidate, _peer_ids(kept))}
    numbers = {view.criterion.id: view.number for view in sample.criteria}
    found = tuple(_tries(kept, answers | {first.id: first}, points, names, numbers))
    value = values_of(store, [response_id], judge_id).get(response_id)
    chosen = _chosen(found, arm)
    control = _control(found, chosen)
    after = chosen.response if chosen else None
    changed = after is not None and chosen is not None and chosen.arm != "rejudge"
    return CaseView(
        sample=sample,
        first=first,
        was_right=None if value is None else value >= RIGHT,
        cohort=kept[0].cohort if kept else "failed",
        threshold=threshold,
        tries=found,
        chosen=chosen,
        control=control,
        steps=_steps(sample, points, response_id, chosen, control),
        diff=word_diff(first.text, after.text) if changed and after is not None else (),
    )


def _one_experiment_each(rows: Sequence[Correction]) -> list[Correction]:
    """Keep one experiment's rounds of each arm, the one with a result and most rounds."""
    groups: dict[tuple[Arm, str], list[Correction]] = {}
    for row in rows:
        groups.setdefault((row.arm, row.experiment_id), []).append(row)
    best: dict[Arm, list[Correction]] = {}
    for (arm, _), group in groups.items():
        rank = (any(row.state == "scored" for row in group), len(group))
        known = best.get(arm)
        if known is None or rank > (any(r.state == "scored" for r in known), len(known)):
            best[arm] = group
    return [row for arm in ARMS for row in best.get(arm, ())]


def _worst(points: Mapping[str, Checkpoint]) -> str | None:
    """Return the criterion with the lowest score."""
    scored = [(p.score, name) for name, p in points.items() if p.score is not None]
    return min(scored)[1] if scored else None


def _answer_ids(rows: Sequence[Correction]) -> list[str]:
    ids = {row.result_id for row in rows} | {row.parent_id for row in rows}
    return sorted(name for name in ids if name)


def _peer_ids(rows: Sequence[Correction]) -> list[str]:
    return sorted({use.peer_id for row in rows for use in row.hints})


def _points(
    store: Store, study: Study, response_ids: Sequence[str], judge_id: str
) -> dict[tuple[str, int], dict[str, Checkpoint]]:
    return marks_of(store, study, response_ids, judge_id, repeats=None)


def _tries(
    rows: Sequence[Correction],
    answers: Mapping[str, Response],
    points: Mapping[tuple[str, int], Mapping[str, Checkpoint]],
    names: Mapping[str, str],
    numbers: Mapping[str, int],
) -> list[Try]:
    last: dict[Arm, Correction] = {}
    count: dict[Arm, int] = {}
    for row in rows:
        count[row.arm] = count.get(row.arm, 0) + 1
        if row.arm not in last or row.state == "scored":
            last[row.arm] = row
    return [
        Try(
            arm=arm,
            correction=row,
            rounds=count[arm],
            parent=answers.get(row.parent_id or row.response_id),
            response=answers.get(row.result_id or ""),
            right=None if row.value is None else row.value >= RIGHT,
            points=points.get((row.result_id or "", APART if arm == "rejudge" else 0), {}),
            hints=tuple(
                HintLine(
                    number=numbers.get(use.criterion_id, 0),
                    peer=names.get(use.peer_id, use.peer_id),
                    text=use.text,
                )
                for use in row.hints
            ),
        )
        for arm, row in last.items()
    ]


def _chosen(found: Sequence[Try], arm: Arm | None) -> Try | None:
    by_arm = {one.arm: one for one in found}
    if arm in by_arm:
        return by_arm[arm]
    order: tuple[Arm, ...] = ("guided", "peer", "guided_peer", "told", "sham", "fresh", "oracle")
    told = [by_arm[name] for name in (*order, "rejudge") if name in by_arm]
    return next((one for one in told if one.response is not None), told[0] if told else None)


def _control(found: Sequence[Try], chosen: Try | None) -> Try | None:
    if chosen is None:
        return None
    by_arm = {one.arm: one for one in found if one.response is not None}
    return next((by_arm[a] for a in CONTROL_OF[chosen.arm] if a in by_arm), None)


def _steps(
    sample: SampleView,
    points: Mapping[tuple[str, int], Mapping[str, Checkpoint]],
    response_id: str,
    chosen: Try | None,
    control: Try | None,
) -> tuple[StepLine, ...]:
    before, again = points.get((response_id, 0), {}), points.get((response_id, APART), {})
    asked = set(chosen.correction.criterion_ids) if chosen else set()
    found = []
    for view in sample.criteria:
        name = view.criterion.id
        old, new = before.get(name), chosen.points.get(name) if chosen else None
        second = again.get(name)
        found.append(
            StepLine(
                view=view,
                before=old.score if old else None,
                again=second.score if second else None,
                after=new.score if new else None,
                control=control.score(name) if control else None,
                asked=name in asked,
                why_before=(old.reason or old.detail) if old else "",
                why_after=(new.reason or new.detail) if new else "",
            )
        )
    return tuple(found)

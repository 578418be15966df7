"""Whether a study's judge looks at the picture: what its marks do when it is shown something else.

Reference: METHODS T8.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from atom.analysis.agreement.sight import (
    CHANGED,
    LEAST,
    MOVED,
    Group,
    JudgeSight,
    MarkShift,
    SightMarks,
    moved_marks,
    read_sight,
)
from atom.analysis.intervals import Floats
from atom.display import numbers
from atom.methods.sight import DESCRIBED, MARKS, SIGHT_PART, shown_of
from atom.records import (
    SHOWN,
    Checkpoint,
    Criterion,
    CriterionUse,
    Judge,
    PictureCondition,
    Response,
    Run,
    Sample,
    SightTask,
    Study,
    Verdict,
)
from atom.stages import scoring
from atom.store import Store, study_places
from atom.store import table as columns_of
from atom.store.reading.marks import marks_asked_as
from atom.store.standing.criteria import in_order, leaves_of, standing_sets
from atom.store.verdicts import verdicts_of_part
from atom.views.filters import Filters
from atom.views.study_data import StudyData
from taxonomy import Path

SEEING: Final = ("percept", "visual", "vision", "seeing", "recogni", "ocr", "spatial")
"""What names of branches hold whose criteria the picture settles."""
EXAMPLES: Final = 8
_SEED = 83
VisualBy = Literal["branches", "regions", "nothing"]
"""By what criteria are told to be visual: branches of the tree, regions in the picture, nothing."""


@dataclass(frozen=True, kw_only=True)
class SightCase:
    """A mark that moved.

    Attributes:
        question: the question's text.
        criterion: what the criterion asks.
        truth: its ground truth.
        path: where it hangs in the tree; empty where it doesn't.
        visual: whether the picture should settle it.
        model: whose answer it is.
        scores: 1 to 5 by what was shown; None = no mark; left out where nothing was asked.
        filters: the way to the case on Failures.
    """

    sample_id: str
    question: str
    criterion: str
    truth: str
    path: Path
    visual: bool
    model: str
    scores: Mapping[PictureCondition, int | None]
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class SightView:
    """What is known of one judge.

    Attributes:
        run: the newest run that asked it.
        others: the newest run of every judge that was asked, the newest first.
        task: what it was asked.
        questions: questions with marks.
        marks: marks with the picture that others are held against.
        unread: replies that couldn't be read, and calls that failed, by what was shown.
        own: answers whose mark in the study stands for the picture shown again.
        how: by what criteria are told to be visual.
        branches: first-level branches of the tree that hold any of these criteria.
        chosen: those whose criteria count as visual.
        sight: the figures.
        cases: marks that moved, those that shouldn't have first.
        synthetic: whether the study is.
    """

    run: Run
    others: tuple[tuple[Run, str], ...]
    judge: str
    task: SightTask
    questions: int
    answers: int
    marks: int
    unread: Mapping[PictureCondition, int]
    own: int
    how: VisualBy
    branches: tuple[str, ...]
    chosen: tuple[str, ...]
    sight: JudgeSight
    cases: tuple[SightCase, ...]
    synthetic: bool


@dataclass(frozen=True, kw_only=True)
class _Row:
    """One criterion of one answer."""

    sample_id: str
    response_id: str
    use: CriterionUse
    scores: Mapping[PictureCondition, int | None]


def sight_runs(store: Store, study_id: str) -> tuple[Run, ...]:
    """Return a study's runs that asked whether a judge looks, the newest first."""
    found = store.select(Run, columns_of(Run).c.study_id == study_id)
    mine = [run for run in found if run.kind == "sight"]
    return tuple(sorted(mine, key=lambda run: (run.created, run.id), reverse=True))


def visual_branches(names: Sequence[str]) -> tuple[str, ...]:
    """Return the branches whose names say that the picture settles their criteria."""
    return tuple(name for name in names if any(word in name.casefold() for word in SEEING))


def sight_view(
    store: Store,
    data: StudyData,
    filters: Filters,
    run_id: str | None = None,
    *,
    visual: Sequence[str] | None = None,
) -> SightView | None:
    """Say how far a judge's marks move with what it is shown.

    Args:
        filters: for the ways to cases; they narrow nothing.
        run_id: whose judge and settings; the newest run's when None, or when there is none.
        visual: first-level branches of the tree whose criteria the picture should settle; None =
            by their names.

    Returns:
        None where no judge was asked.
    """
    runs = sight_runs(store, data.study.id)
    if not runs:
        return None
    run = next((one for one in runs if run_id and one.id.startswith(run_id)), runs[0])
    task = run.task
    assert isinstance(task, SightTask)
    rows, unread, own = _rows(store, data.study, task)
    ids = [row.use.criterion_id for row in rows]
    leaves = leaves_of(store, data.study.tree_version, set(ids)) if ids else {}
    branches = tuple(sorted({leaf[0] for leaf in leaves.values()}))
    chosen = visual_branches(branches) if visual is None else tuple(
        name for name in branches if name in visual
    )  # fmt: skip
    how = _how(rows, branches, chosen)
    seen = np.array([_is_visual(row, leaves, chosen, how) for row in rows], dtype=np.bool_)
    value = {name: _values(rows, name) for name in SHOWN}
    asked = {name: np.array([name in row.scores for row in rows], dtype=np.bool_) for name in SHOWN}
    marks = SightMarks(
        cluster=data.clusters_of([row.sample_id for row in rows]),
        visual=seen, value=value, asked=asked,
    )  # fmt: skip
    with_it = np.isfinite(value["picture"])
    kept = [row for row, good in zip(rows, with_it, strict=True) if good]
    names = {one.id: one.name for one in store.get_many(
        Judge, {one.task.judge_id for one in runs if isinstance(one.task, SightTask)})}  # fmt: skip
    return SightView(
        run=run,
        others=_newest(runs, names),
        judge=names.get(task.judge_id, run.judge or task.judge_id),
        task=task,
        questions=len({row.sample_id for row in kept}),
        answers=len({row.response_id for row in kept}),
        marks=len(kept),
        unread=unread,
        own=own,
        how=how,
        branches=branches,
        chosen=chosen,
        sight=read_sight(marks, np.random.default_rng(_SEED)),
        cases=_cases(store, data, filters, rows, marks, leaves),
        synthetic=data.study.synthetic,
    )


def _newest(runs: Sequence[Run], names: Mapping[str, str]) -> tuple[tuple[Run, str], ...]:
    found: dict[str, tuple[Run, str]] = {}
    for run in runs:
        if isinstance(run.task, SightTask):
            name = names.get(run.task.judge_id, run.judge or "")
            found.setdefault(run.task.judge_id, (run, name))
    return tuple(found.values())


def _how(rows: Sequence[_Row], branches: Sequence[str], chosen: Sequence[str]) -> VisualBy:
    if branches and chosen:
        return "branches"
    return "regions" if not branches and any(row.use.regions for row in rows) else "nothing"


def _is_visual(row: _Row, leaves: Mapping[str, Path], chosen: Sequence[str], how: VisualBy) -> bool:
    if how == "regions":
        return bool(row.use.regions)
    leaf = leaves.get(row.use.criterion_id)
    return leaf is not None and leaf[0] in chosen


def _values(rows: Sequence[_Row], name: PictureCondition) -> Floats:
    scores = (row.scores.get(name) for row in rows)
    return np.array([math.nan if s is None else (s - 1) / 4 for s in scores], dtype=np.float64)


def _rows(
    store: Store, study: Study, task: SightTask
) -> tuple[list[_Row], Mapping[PictureCondition, int], int]:
    """Read a judge's marks by what it was shown; and what couldn't be read, and how many are own.

    Criteria that don't stand any more are left out.
    """
    mine = [
        one
        for one in verdicts_of_part(store, study.id, SIGHT_PART)
        if (one.judge, one.sampling) == (task.judge_id, task.sampling)
    ]
    by: dict[tuple[str, str], dict[PictureCondition, Verdict]] = {}
    unread: Counter[PictureCondition] = Counter()
    for one in mine:
        name, answer = shown_of(one.part)
        shown = next((known for known in SHOWN if known == name), None)
        if one.part == DESCRIBED and one.state != "scored":
            unread["caption"] += 1
        if shown is None:
            continue
        if one.state == "scored":
            by.setdefault((one.subject_id, answer), {})[shown] = one
        else:
            unread[shown] += 1
    samples = {name for name, _ in by}
    places = [place for place in study_places(store, study.id) if place.sample_id in samples]
    sets = standing_sets(store, places)
    answers = [answer for _, answer in by]
    stored = marks_asked_as(store, study, answers, task.judge_id, scoring.PROMPT, task.sampling)
    rows: list[_Row] = []
    own: set[str] = set()
    for (sample, answer), said in by.items():
        for use in in_order(sets[sample]) if sample in sets else ():
            scores = _scores(use.criterion_id, said)
            mark = stored.get(answer, {}).get(use.criterion_id)
            if "again" not in scores and mark is not None and scores:
                scores["again"] = _score(mark)
                own.add(answer)
            if scores:
                rows.append(_Row(sample_id=sample, response_id=answer, use=use, scores=scores))
    return rows, dict(unread), len(own)


def _scores(
    criterion: str, said: Mapping[PictureCondition, Verdict]
) -> dict[PictureCondition, int | None]:
    found: dict[PictureCondition, int | None] = {}
    for name, verdict in said.items():
        given = verdict.data.get(MARKS)
        if isinstance(given, dict) and criterion in given:
            score = given[criterion]
            found[name] = score if isinstance(score, int) else None
    return found


def _score(mark: Checkpoint) -> int | None:
    return mark.score if mark.state == "scored" else None


def _cases(
    store: Store,
    data: StudyData,
    filters: Filters,
    rows: Sequence[_Row],
    marks: SightMarks,
    leaves: Mapping[str, Path],
) -> tuple[SightCase, ...]:
    """List some marks that moved without the picture or with another: first where none should."""
    base = marks.value["picture"]
    far = np.zeros(len(rows))
    for name in CHANGED:
        far += np.nan_to_num(moved_marks(base, marks.value[name], marks.asked[name]))
    order = np.lexsort((np.arange(len(rows)), -far))
    moved_at = [int(at) for at in order if far[at] > 0]
    half = EXAMPLES // 2
    rest = [at for at in moved_at if not marks.visual[at]][:half]
    picked = [*rest, *[at for at in moved_at if marks.visual[at]][: EXAMPLES - len(rest)]]
    samples = {one.id: one for one in store.get_many(Sample, {rows[at].sample_id for at in picked})}
    criteria = {one.id: one for one in store.get_many(
        Criterion, {rows[at].use.criterion_id for at in picked})}  # fmt: skip
    model_of = _models(store, data, [rows[at].response_id for at in picked])
    found = []
    for at in picked:
        row = rows[at]
        criterion = criteria.get(row.use.criterion_id)
        sample = samples.get(row.sample_id)
        if criterion is None or sample is None:
            continue
        model_id, model = model_of.get(row.response_id, ("", ""))
        found.append(
            SightCase(
                sample_id=row.sample_id,
                question=sample.question,
                criterion=criterion.question,
                truth=criterion.ground_truth,
                path=leaves.get(criterion.id, ()),
                visual=bool(marks.visual[at]),
                model=model,
                scores=row.scores,
                filters=filters.but(
                    sample=row.sample_id, criterion=criterion.id, model=model_id or None,
                    node=(), show="all",
                ),
            )
        )  # fmt: skip
    return tuple(found)


def _models(
    store: Store, data: StudyData, response_ids: Sequence[str]
) -> dict[str, tuple[str, str]]:
    names = {one.id: one.name for one in data.candidates}
    return {
        one.id: (one.candidate_id, names.get(one.candidate_id, one.candidate_id))
        for one in store.get_many(Response, set(response_ids))
    }


def said_of(view: SightView) -> str:
    """Say in a sentence what is known of the judge."""
    sight = view.sight
    kinds = "criteria that the picture settles" if sight.led == "visual" else "all criteria"
    share = 100 * sight.pull.value
    ends = numbers.signed_ends(100 * sight.pull.lo, 100 * sight.pull.hi)
    pull = f"{numbers.signed(share)} points ({ends})"
    match sight.finding:
        case "few":
            return (
                f"Too few questions to say: {view.questions:,} of the {LEAST} that it takes. Ask "
                "about more."
            )
        case "refuses":
            silent = 100 * sight.by["none", sight.led].silent
            return (
                f"This judge won’t mark without the picture: shown none, it gives no mark on "
                f"{numbers.in_percent(silent, 0)} of {kinds}."
            )
        case "text":
            return (
                f"This judge marks the text alone: on {kinds}, hardly more of its marks "
                "change sides without the picture or with a wrong one than when it is asked again: "
                f"{pull}."
            )
        case "unclear":
            return (
                f"It can’t be told yet whether this judge reads the picture: on {kinds}, the share "
                "of its marks that change sides without it or with a wrong one, less the share "
                f"when it is asked again, is {pull}. More questions would tell."
            )
        case "reads":
            where = (
                f" But {100 * sight.elsewhere.value:.0f} points more move on the other criteria, "
                "too, where the picture shouldn’t count."
                if sight.everywhere
                else ""
            )
            return (
                f"This judge reads the picture: on {kinds}, more of its marks change sides without "
                f"it or with a wrong one than when it is asked again: {pull}.{where}"
            )


GROUP_WORDS: Final[Mapping[Group, str]] = {
    "visual": "that the picture settles",
    "rest": "others",
    "all": "all",
}


def shown_figures(view: SightView) -> list[tuple[PictureCondition, Group, MarkShift]]:
    """Return the figures that are listed: both kinds of criteria where they can be told apart."""
    groups: tuple[Group, ...] = ("visual", "rest") if view.sight.led == "visual" else ("all",)
    return [
        (name, group, one)
        for name in MOVED
        for group in groups
        if (one := view.sight.by[name, group]).n
    ]

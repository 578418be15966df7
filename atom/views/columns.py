"""A study's rows put together as its score table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom.analysis.agreement.panel import JudgeSpread, spread_of
from atom.analysis.agreement.repeats import MergedMarks, merge_repeats
from atom.analysis.intervals import Ints
from atom.analysis.score_table import ScoreTable
from atom.records import CAUSES, NOT_APPLICABLE, Scale
from atom.store.reading.columns.marks import JudgeMarks
from atom.store.reading.columns.rows import StudyRows
from atom.store.reading.columns.uses import Uses
from atom.views.facets import facets_of
from atom.views.lab.preferences import Preferences, preferences_of, share_won

_MOST_PLACES = np.iinfo(np.int8).max
"""Places in a sample that are told apart; criteria beyond share the last."""


@dataclass(frozen=True, kw_only=True)
class StudyColumns:
    """What is read from the store row by row, and kept in a snapshot.

    Attributes:
        table: checkpoints and answers.
        pending: checkpoints that could be scored and aren't there yet.
        judge_ids: judges that scored anything of the study, the most first.
        votes: votes between answers; None without any.
        scale: what the marks that are shown mean.
        left_out: marks on an older scale that no newer mark replaces; they don't count.
    """

    table: ScoreTable
    pending: int
    judge_ids: tuple[str, ...]
    votes: Preferences | None
    scale: Scale = "appendix_d"
    left_out: int = 0


def to_columns(rows: StudyRows) -> StudyColumns:
    """Put a study's rows together as its score table."""
    marks, answers, places, uses = rows.marks, rows.answers, rows.places, rows.uses
    merged = _merged(marks, len(uses.ids))
    use = marks.use[merged.first]
    used = np.bincount(use, minlength=len(uses.ids)) > 0
    seen, number = np.flatnonzero(used), np.cumsum(used) - 1
    criterion, leaf, response = number[use], rows.leaf[use], marks.response[merged.first]
    there = merged.score != NOT_APPLICABLE
    aside = np.stack([response, criterion, leaf])[:, ~there].astype(np.int32)
    kept = slice(None) if there.all() else there
    use, score = use[kept], merged.score[kept]
    penalty = uses.penalty[seen]
    if penalty.any():
        turned = penalty[criterion[kept]] & (score > 0)
        score = np.where(turned, 6 - score, score)
    score, weight = _narrow(score), _narrow(uses.weight[use])
    spread = _spread(rows, merged)
    votes = None if rows.votes is None else preferences_of(rows.votes)
    table = ScoreTable(
        response=response[kept].astype(np.int32),
        criterion=criterion[kept].astype(np.int32),
        leaf=leaf[kept].astype(np.int16),
        weight=weight,
        position=np.minimum(uses.position[use], _MOST_PLACES).astype(np.int8),
        score=score,
        addressed=merged.addressed[kept],
        carried=merged.carried[kept],
        scale=_scales(marks, merged.first, kept),
        scales=marks.scales,
        penalty=penalty,
        gate=uses.gate[seen].astype(np.float32),
        parents=_parents(uses, used, number),
        aside=aside,
        carried_known=marks.carried_known,
        chained=uses.chained,
        sample=answers.sample,
        model=answers.model,
        repeat=answers.repeat,
        outcome=_graded(rows),
        answered=answers.scored,
        cause=answers.cause,
        cluster=places.cluster,
        quarantined=places.quarantined,
        sample_ids=places.ids,
        model_ids=rows.models,
        criterion_ids=tuple(uses.ids[at] for at in seen),
        response_ids=answers.ids,
        leaves=rows.leaves,
        facets=facets_of(rows),
        preference=None if votes is None else share_won(votes, len(answers.ids)),
        apart=None if spread is None else spread.apart[kept],
        disagreement=None if spread is None else spread.disagreement[kept],
    )
    return StudyColumns(
        table=table,
        pending=rows.pending,
        judge_ids=marks.judge_ids,
        votes=votes,
        scale=marks.scale,
        left_out=marks.left_out,
    )


def _merged(marks: JudgeMarks, n_uses: int) -> MergedMarks:
    """Put a judge's repeats together, answer by answer and use by use."""
    return merge_repeats(_keys(marks, n_uses), marks.score, marks.addressed, marks.carried)


def _keys(marks: JudgeMarks, n_uses: int) -> Ints:
    return marks.response * max(n_uses, 1) + marks.use


def _spread(rows: StudyRows, merged: MergedMarks) -> JudgeSpread | None:
    """Say how far the panel's judges differ on each checkpoint; None where there is no panel."""
    if not rows.panel:
        return None
    n = len(rows.uses.ids)
    key = _keys(rows.marks, n)[merged.first]
    values = np.full((len(rows.panel), len(key)), np.nan)
    for row, marks in zip(values, rows.panel, strict=True):
        each = merged if marks is rows.marks else _merged(marks, n)
        _, at, of = np.intersect1d(
            key, _keys(marks, n)[each.first], assume_unique=True, return_indices=True
        )
        score = each.score[of]
        row[at] = np.where(score > 0, (score - 1) / 4, np.nan)
    return spread_of(values)


def _narrow(values: NDArray[Any]) -> NDArray[np.int8] | NDArray[np.float64]:
    """Keep whole numbers in a byte each."""
    if np.issubdtype(values.dtype, np.integer) or (values == np.rint(values)).all():
        return values.astype(np.int8)
    return values.astype(np.float64)


def _scales(marks: JudgeMarks, first: NDArray[np.int64], kept: Any) -> NDArray[np.int8]:
    """Say on which scale each checkpoint is; repeats of one are on one."""
    if marks.on is None:
        return np.zeros(len(first[kept]), dtype=np.int8)
    return np.asarray(marks.on[first[kept]].astype(np.int8))


def _parents(uses: Uses, used: NDArray[np.bool_], number: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return who rests on whom among the criteria that were marked."""
    both = uses.parents[:, used[uses.parents].all(axis=0)]
    return number[both].astype(np.int32)


def _graded(rows: StudyRows) -> NDArray[np.float32]:
    """Return each answer's outcome; one that the model didn't give isn't right.

    A model that declines, is filtered, cut off or silent was asked all the same. A call that
    failed says nothing of the model, and where nothing is graded nothing is.
    """
    answers, outcome = rows.answers, rows.outcome
    withheld = (answers.cause > 0) & (answers.cause != CAUSES.index("failed"))
    withheld &= np.isnan(outcome) & rows.places.referenced[answers.sample]
    if not withheld.any() or not np.isfinite(outcome).any():
        return outcome
    graded = outcome.copy()
    graded[withheld] = 0.0
    return graded

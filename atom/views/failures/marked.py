"""Marks of one sample: one criterion on one answer, by one judge or by several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atom.analysis.score_table import STEP
from atom.records import JUDGE_SCALE, Checkpoint, CriterionUse, Judge, Response
from atom.store.standing.marks import RepeatedMarks

MARK_GLYPHS = {"unscored": "∅", "failed": "!", "not_applicable": "n/a", "scored": "!"}
_CLOSE = 1e-6
_MOST_MARK = 12
"""Characters of a mark that a chip shows."""


@dataclass(frozen=True, kw_only=True)
class CheckpointView:
    """One criterion scored on one answer, with what led to it."""

    checkpoint: Checkpoint | None
    """The first mark; None while it is still to be scored."""
    model_id: str
    colour: int
    repeats: tuple[Checkpoint, ...] = ()
    """All its marks in the order of their repeats, the first included, where it has several."""
    penalty: bool = False
    """Whether its criterion takes points away: then a mark that is met is a bad one."""
    panel: tuple[PanelMark, ...] = ()
    """What each of several judges says of it; empty where the study has one judge."""

    @property
    def apart(self) -> bool:
        """Whether two judges differ by a step of the scale of five or more."""
        scores = [one.mark.score for one in self.panel if one.mark.score is not None]
        return len(scores) > 1 and max(scores) - min(scores) >= 4 * STEP - _CLOSE

    @property
    def near(self) -> int | None:
        """The step from bad (1) to good (5) that it is coloured by; None without a score."""
        if self.score is None:
            return None
        return round(6 - self.score if self.penalty else self.score)

    @property
    def ours(self) -> bool:
        """Whether it is on our own judges' scale, 1 to 5."""
        return self.checkpoint is None or self.checkpoint.scale == JUDGE_SCALE.id

    @property
    def score(self) -> float | None:
        """The mean of its scored marks, 1..5 (METHODS T3); None without one.

        On another scale the mean of `1 + 4 value`.
        """
        return mean_score(self.repeats or ((self.checkpoint,) if self.checkpoint else ()))

    @property
    def label(self) -> str:
        """`1`..`5`, `3.7` over repeats, `∅` unscored, `!` failed, `…` still to be scored.

        On another scale the mark as it was written, or the mean of repeats on 0-100; `n/a` where
        the criterion doesn't apply.
        """
        if self.checkpoint is None:
            return "…"
        if self.score is None:
            return MARK_GLYPHS[self.checkpoint.state]
        if self.ours:
            return f"{self.score:.1f}".removesuffix(".0")
        return (
            shortened_mark(self.checkpoint.raw)
            if len(self.repeats) < 2
            else points_words(self.score, ours=False)
        )

    @property
    def spread(self) -> str:
        """Its marks one by one, `3 marks: 4 4 2`; empty where it has one only."""
        if len(self.repeats) < 2:
            return ""
        marks = " ".join(
            "∅" if one.points is None else str(one.score or shortened_mark(one.raw))
            for one in self.repeats
        )
        return f"{len(self.repeats):,} marks: {marks}"


@dataclass(frozen=True, kw_only=True)
class PanelMark:
    """What one judge of several says of a checkpoint."""

    judge: Judge
    mark: CheckpointView


def mean_score(points: Sequence[Checkpoint]) -> float | None:
    """Return the mean of the scored ones among a criterion's marks, 1..5; None without one."""
    scores = [point.points for point in points if point.points is not None]
    return sum(scores) / len(scores) if scores else None


def points_words(score: float, *, ours: bool, digits: int = 2) -> str:
    """Write a score of 1..5: as it is on our own scale, else as 0-100.

    Args:
        score: 1 to 5; `1 + 4 value` on another scale.
        ours: whether it is on our own judges' scale.
        digits: after the point, of a score of 1..5.
    """
    return f"{score:.{digits}f}" if ours else f"{25 * (score - 1):.1f}".removesuffix(".0")


def shortened_mark(raw: str) -> str:
    """Return a mark as it was written, short enough for a chip."""
    text = " ".join(raw.split())
    return text if len(text) <= _MOST_MARK else f"{text[: _MOST_MARK - 1]}…"


def weighted_points(pairs: Sequence[tuple[float, float, bool]]) -> float | None:
    """Return an answer's score, 1..5, of (weight, score, takes points away); None without any.

    Reference:
        METHODS A1; `analysis.answer_scores` says what penalties do.
    """
    total = sum(weight for weight, _, takes in pairs if not takes)
    if not total:
        return None
    if not any(takes for _, _, takes in pairs):
        return sum(weight * score for weight, score, _ in pairs) / total
    earned = sum((-weight if takes else weight) * (score - 1) for weight, score, takes in pairs)
    return 1 + max(earned / total, 0)


def checkpoint_view(
    use: CriterionUse,
    response: Response,
    colour: int,
    marks: RepeatedMarks,
    panel: Sequence[tuple[Judge, RepeatedMarks]] = (),
) -> CheckpointView:
    """Put together what is marked of a criterion on an answer.

    Args:
        use: the criterion, as the sample uses it.
        colour: its candidate's place in the study.
        marks: the marks of the judge that is looked at.
        panel: each judge's marks, where there are several.
    """
    own = marks.get((use.criterion_id, response.id), ())
    said = [(judge, theirs) for judge, theirs in panel if (use.criterion_id, response.id) in theirs]
    return CheckpointView(
        checkpoint=own[0] if own else None,
        model_id=response.candidate_id,
        colour=colour,
        repeats=own if len(own) > 1 else (),
        penalty=use.polarity == "penalty",
        panel=tuple(
            PanelMark(judge=judge, mark=checkpoint_view(use, response, colour, theirs))
            for judge, theirs in said
        )
        if len(said) > 1
        else (),
    )

"""The score table: a study's checkpoints and answers as typed columns.

Everything on screen is computed from these arrays; texts stay in the store. Codes are indices into
the tuples of ids beside them.

Reference: DESIGN "Data"; METHODS 0 (rows and clusters), A1 (sample score).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from atom.analysis.result_cache import ResultCache
from atom.records import FAILED as FAILED
from atom.records import JUDGE_SCALE, MarkScale
from atom.records import UNSCORED as UNSCORED
from taxonomy import Path

FINEST = 232_792_560
"""Least common multiple of 1 to 20."""
FAILED_SCORE = 2
"""A criterion is failed at this score or less on our own judges' scale (METHODS A2)."""
PASS_SCORE = 4
"""A criterion is met at this score or more there, where a program asks for yes or no."""
STEP = 0.25
"""A step of the scale of five, from 1 to 2: judges that are as far apart differ."""
_CLOSE, _CLOSE_32 = 1e-9, 1e-6
Weights = NDArray[np.int8] | NDArray[np.float64]


def _no_column() -> NDArray[np.bool_]:
    return np.zeros(0, dtype=np.bool_)


def _no_cause() -> NDArray[np.int8]:
    return np.zeros(0, dtype=np.int8)


def _no_gate() -> NDArray[np.float32]:
    return np.zeros(0, dtype=np.float32)


def _nothing_aside() -> NDArray[np.int32]:
    return np.zeros((3, 0), dtype=np.int32)


def _no_parents() -> NDArray[np.int32]:
    return np.zeros((2, 0), dtype=np.int32)


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """A study in columns.

    Checkpoint rows, all of shape (N,):

    Attributes:
        response: int32, index of the answer among the answer rows.
        criterion: int32, index into `criterion_ids`.
        leaf: int16, index into `leaves`; -1 = not mapped.
        weight: shares of 10, the total of a sample's criteria (but for penalties): int8 where all
            are whole numbers, as our judges' are; else float64.
        position: int8, 0-based place of the criterion in its sample's chain.
        score: 1..5, the mean over judge repeats (METHODS T3); 0 = unscored, -1 = failed. Int8
            where all are whole numbers, else float64. A mark on a scale that isn't our own judges'
            stands at `1 + 4 value` (T11), a penalty's at `1 + 4 (1 - value)`: up is better.
        scale: int8, index into `scales`.
        addressed: bool, whether the answer says anything about the step; True where the judge
            wasn't asked.
        carried: bool, whether the step is wrong only because an earlier one was; False where the
            judge wasn't asked.
        apart: float32, by how much the two judges differ that are furthest apart, 0..1; NaN where
            fewer than two gave a value. None where the study has one judge (people aren't one).
        disagreement: float32, standard deviation over the judges likewise (METHODS T5).

    Answer rows, all of shape (R,):

    Attributes:
        sample: int32, index into `sample_ids`.
        model: int16, index into `model_ids`.
        repeat: int16.
        outcome: float32, 0..1; NaN = not known.
        answered: bool, whether there is an answer.
        cause: int8, why none was given, as an index into `CAUSES`; 0 = one was given.

    Samples, shape (S,):

    Attributes:
        cluster: int32, samples with one number share pictures.
        quarantined: bool, the judge's replay disagrees with the reference.
        chained: bool, whether the criteria are the steps of one solution, each resting on those
            before it; False for a checklist.

    Attributes:
        carried_known: whether the judge was asked which steps are carried. Where it wasn't, what
            rests on a step that failed is told by the first break (METHODS T2).
        parents: int32, shape (2, P): criteria, and the criteria that these were declared to rest
            on, as indices into `criterion_ids`; they replace the chain in their sample.
        penalty: bool, shape (C,): criteria that take points away.
        gate: float32, shape (C,): the most, 0 to 1, that an answer can score which misses the
            criterion; 1 = it is no gate.
        aside: int32, shape (3, A): answer, criterion and leaf of marks that say that a criterion
            doesn't apply: in no row and no mean, counted in sight.
        scales: the declared scales of the marks; empty where all are on our own judges'.
        n_present: models that the whole study has answers of, where this is a part of it.
    """

    response: NDArray[np.int32]
    criterion: NDArray[np.int32]
    leaf: NDArray[np.int16]
    weight: Weights
    position: NDArray[np.int8]
    score: NDArray[np.int8] | NDArray[np.float64]
    sample: NDArray[np.int32]
    model: NDArray[np.int16]
    repeat: NDArray[np.int16]
    outcome: NDArray[np.float32]
    answered: NDArray[np.bool_]
    cluster: NDArray[np.int32]
    quarantined: NDArray[np.bool_]
    sample_ids: tuple[str, ...]
    model_ids: tuple[str, ...]
    criterion_ids: tuple[str, ...]
    response_ids: tuple[str, ...]
    leaves: tuple[Path, ...]
    facets: dict[str, Facet] = field(default_factory=dict)
    """Tags by facet name."""
    preference: NDArray[np.float32] | None = None
    """Float32, shape (R,): share of an answer's votes won, a tie half; None = no votes at all."""
    addressed: NDArray[np.bool_] = field(default_factory=_no_column)
    carried: NDArray[np.bool_] = field(default_factory=_no_column)
    chained: NDArray[np.bool_] = field(default_factory=_no_column)
    carried_known: bool = False
    cause: NDArray[np.int8] = field(default_factory=_no_cause)
    parents: NDArray[np.int32] = field(default_factory=_no_parents)
    scale: NDArray[np.int8] = field(default_factory=_no_cause)
    penalty: NDArray[np.bool_] = field(default_factory=_no_column)
    gate: NDArray[np.float32] = field(default_factory=_no_gate)
    aside: NDArray[np.int32] = field(default_factory=_nothing_aside)
    scales: tuple[MarkScale, ...] = ()
    n_present: int | None = None
    apart: NDArray[np.float32] | None = None
    disagreement: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        """Fill the columns that nobody gave: all is addressed, nothing carried, no chains.

        So is one that says just that about other rows, as after `dataclasses.replace`.

        Raises:
            ValueError: a column with something to say has another length than the rest.
        """
        for name, like, value in (
            ("addressed", self.score, True),
            ("carried", self.score, False),
            ("chained", self.cluster, False),
            ("cause", self.answered, 0),
            ("scale", self.score, 0),
            ("penalty", self.criterion_ids, False),
            ("gate", self.criterion_ids, 1),
        ):
            given: NDArray[Any] = getattr(self, name)
            if len(given) != len(like):
                if (given != value).any():
                    raise ValueError(f"{name} has {len(given)} rows for {len(like)}")
                object.__setattr__(self, name, np.full(len(like), value, dtype=given.dtype))

    @cached_property
    def counts(self) -> NDArray[np.bool_]:
        """Which answers count, shape (R,): those that are there, and those graded or voted on.

        An answer may have no text and still be known to be wrong; what has no text can't be judged.
        """
        known = np.isfinite(self.outcome)
        if self.preference is not None:
            known |= np.isfinite(self.preference)
        return self.answered | known

    @property
    def preferred(self) -> NDArray[np.float32]:
        """Share of an answer's votes won, shape (R,); NaN where nobody voted."""
        if self.preference is not None:
            return self.preference
        return np.full(len(self.sample), np.nan, dtype=np.float32)

    @cached_property
    def kept(self) -> ResultCache:
        """What was computed from the whole table, kept as long as the table is."""
        return ResultCache(24)

    @cached_property
    def recent(self) -> ResultCache:
        """What little was computed from a part of the table, for the filters used last."""
        return ResultCache(64)

    @cached_property
    def masks(self) -> ResultCache:
        """Which checkpoints the filters used last keep: a byte a checkpoint each."""
        return ResultCache(4)

    @cached_property
    def at_work(self) -> ResultCache:
        """What is large, and needed only until a screen is made."""
        return ResultCache(3)

    def forget(self) -> None:
        """Forget what was computed for single filters, as if none had been used yet."""
        for name in ("recent", "masks", "at_work"):
            self.__dict__.pop(name, None)

    @property
    def panelled(self) -> NDArray[np.bool_]:
        """Which checkpoints two judges or more gave a value, shape (N,)."""
        if self.apart is None:
            return np.zeros(len(self.score), dtype=np.bool_)
        return np.isfinite(self.apart)

    @property
    def differ(self) -> NDArray[np.bool_]:
        """On which checkpoints judges differ by a step of five or more, shape (N,)."""
        if self.apart is None:
            return np.zeros(len(self.score), dtype=np.bool_)
        return np.asarray(self.apart >= STEP - _CLOSE_32)

    @cached_property
    def any_scored(self) -> bool:
        """Whether any checkpoint is scored."""
        return bool((self.score > 0).any())

    @cached_property
    def any_outcome(self) -> bool:
        """Whether any answer's outcome is known."""
        return bool(np.isfinite(self.outcome).any())

    @cached_property
    def any_preferred(self) -> bool:
        """Whether any answer was voted on."""
        return self.preference is not None and bool(np.isfinite(self.preference).any())

    @cached_property
    def checkpoints_of(self) -> Ints | None:
        """Number of checkpoints of each answer, shape (R,), where rows come by answer; else None.

        It brings a mask over answers down to rows without a look-up for each row.
        """
        if len(self.response) and (self.response[1:] < self.response[:-1]).any():
            return None
        return np.bincount(self.response, minlength=len(self.sample))

    def rows_of(self, keep: NDArray[np.bool_]) -> Ints:
        """Number the checkpoints of answers that a mask keeps, shape (R,), ascending."""
        if self.checkpoints_of is None:
            return np.flatnonzero(self.of_answers(keep))
        count = self.checkpoints_of[keep]
        before = np.cumsum(self.checkpoints_of)[keep] - np.cumsum(count)
        return np.repeat(before, count) + np.arange(count.sum())

    def of_answers(self, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Bring a mask over answers, shape (R,), down to their checkpoints, shape (N,)."""
        if self.checkpoints_of is None:
            return keep[self.response]
        return np.repeat(keep, self.checkpoints_of)

    @cached_property
    def whole(self) -> bool:
        """Whether all scores are whole numbers; else some are means over repeats."""
        return bool(np.issubdtype(self.score.dtype, np.integer))

    @property
    def ours(self) -> bool:
        """Whether all marks are on our own judges' scale, 1 to 5."""
        return not self.scales

    @property
    def ordinal(self) -> bool:
        """Whether some marks are levels whose distances nobody knows: a mean says little then."""
        return any(scale.ordinal for scale in self.scales)

    @cached_property
    def levels(self) -> tuple[float, ...]:
        """The values that every mark can have, ascending; empty where scales differ, or are lines.

        What counts level by level (confusions, ordinal agreement, histograms) needs them.
        """
        there = {scale.values for scale in self.scales or (JUDGE_SCALE,)}
        return there.pop() if len(there) == 1 and not self.any_penalty else ()

    @cached_property
    def any_penalty(self) -> bool:
        """Whether any criterion takes points away."""
        return bool(self.penalty.any())

    @cached_property
    def value(self) -> Floats:
        """What each checkpoint is worth, 0 to 1; NaN where it has no score, shape (N,)."""
        return np.where(self.score > 0, (self.score.astype(np.float64) - 1) / 4, np.nan)

    @cached_property
    def fails(self) -> NDArray[np.bool_]:
        """Whether each checkpoint is failed on its own scale, shape (N,): 2 or less of 1 to 5.

        A penalty is failed where it is met: what it penalises did happen.
        """
        most: Any = FAILED_SCORE
        if self.scales:
            most = self._bounds("fails_at", "passes_at") + _CLOSE
        return np.asarray((self.score > 0) & (self.score <= most))

    @cached_property
    def fails_at(self) -> Floats:
        """The value, 0 to 1, at or below which each criterion is failed, shape (C,)."""
        bound = np.full(len(self.criterion_ids), (FAILED_SCORE - 1) / 4)
        if self.scales:
            bound[self.criterion] = (self._bounds("fails_at", "passes_at") - 1) / 4
        return bound

    @cached_property
    def passes(self) -> NDArray[np.bool_]:
        """Whether each checkpoint is met on its own scale, shape (N,): 4 or more of 1 to 5."""
        least: Any = PASS_SCORE
        if self.scales:
            least = self._bounds("passes_at", "fails_at") - _CLOSE
        return np.asarray(self.score >= least)

    def _bounds(self, name: str, turned: str) -> Floats:
        """Return a bound of each checkpoint's scale as a score; of penalties turned round."""
        bound = 1 + 4 * np.array([getattr(scale, name) for scale in self.scales])[self.scale]
        if self.any_penalty:
            other = 1 + 4 * (1 - np.array([getattr(scale, turned) for scale in self.scales]))
            bound = np.where(self.penalty[self.criterion], other[self.scale], bound)
        return np.asarray(bound)

    def level_codes(self, score: NDArray[Any]) -> Ints:
        """Return which level scores stand nearest to: 1 = the worst; 0 = no score, or no levels.

        Args:
            score: as the column keeps them, any shape; the lower of two equally near ones counts.
        """
        levels = 1 + 4 * np.array(self.levels)
        if not len(levels):
            return np.zeros(score.shape, dtype=np.int64)
        middle = (levels[1:] + levels[:-1]) / 2
        return np.where(score > 0, 1 + np.searchsorted(middle, score - _CLOSE), 0)

    @cached_property
    def level(self) -> NDArray[np.int8]:
        """The nearest whole score, for counts by score, shape (N,)."""
        return self.score if self.whole else np.floor(self.score + 0.5).astype(np.int8)  # type: ignore[return-value]

    @property
    def whole_weights(self) -> bool:
        """Whether all weights are whole numbers."""
        return bool(np.issubdtype(self.weight.dtype, np.integer))

    def answer_masses(self, weight: NDArray[Any]) -> NDArray[np.int32] | Floats:
        """Sum weights, shape (N,), by answer, shape (R,): whole numbers where they are."""
        if np.issubdtype(weight.dtype, np.integer):
            return self.answer_sums(weight)
        total = np.bincount(self.response, weights=weight, minlength=len(self.sample))
        return total.astype(np.float64)

    def answer_sums(self, values: NDArray[np.integer] | NDArray[np.bool_]) -> NDArray[np.int32]:
        """Sum whole numbers, shape (N,), by answer, shape (R,)."""
        n = len(self.sample)
        if len(values) < n or self.checkpoints_of is None:
            return np.bincount(self.response, weights=values, minlength=n).astype(np.int32)
        running = np.zeros(len(values) + 1, dtype=np.int64)
        np.cumsum(values, out=running[1:])
        ends = np.cumsum(self.checkpoints_of)
        return np.asarray(running[ends] - running[ends - self.checkpoints_of], dtype=np.int32)

    @property
    def n_models(self) -> int:
        """Number of candidates."""
        return len(self.model_ids)


@dataclass(frozen=True, kw_only=True)
class Facet:
    """Labels of one facet; an answer may carry several, so groups overlap.

    Attributes:
        values: the label texts.
        response: int32, shape (T,): index of the answer row that carries the label.
        value: int32, shape (T,): index into `values`.
    """

    values: tuple[str, ...]
    response: NDArray[np.int32]
    value: NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class AnswerScores:
    """Scores of answers (METHODS A1), arrays of shape (R,).

    Attributes:
        numerator: sum of weight x score over scored checkpoints; int32 where all scores are
            whole numbers, else float64.
        weight: sum of weights over scored checkpoints, penalties left out; int32 where all are
            whole numbers, else float64.
        value: `(numerator/weight - 1) / 4` in [0, 1]; NaN where nothing is scored.
        scored: int32, number of scored checkpoints.
        unscored: int32, number of unscored or failed checkpoints.
    """

    numerator: NDArray[np.int32] | NDArray[np.float64]
    weight: NDArray[np.int32] | NDArray[np.float64]
    value: Floats
    scored: NDArray[np.int32]
    unscored: NDArray[np.int32]

    @cached_property
    def exact(self) -> Ints:
        """The numerators as whole numbers, all by one factor, for comparisons, shape (R,).

        A mean over up to 20 repeats has a denominator that the least common multiple of 1 to 20
        takes away, so that equal scores compare as equal. Where weights aren't whole numbers, the
        score itself stands for its numerator, and 1 for its weight (`exact_weight`).
        """
        if not np.issubdtype(self.weight.dtype, np.integer):
            return np.rint((1 + 4 * np.nan_to_num(self.value)) * FINEST).astype(np.int64)
        if np.issubdtype(self.numerator.dtype, np.integer):
            return self.numerator.astype(np.int64)
        return np.rint(self.numerator * FINEST).astype(np.int64)

    @cached_property
    def exact_weight(self) -> Ints:
        """The weights that go with `exact`, shape (R,)."""
        whole = np.issubdtype(self.weight.dtype, np.integer)
        return (self.weight if whole else self.weight > 0).astype(np.int64)


def answer_scores(table: ScoreTable, rows: NDArray[np.bool_] | Ints | None = None) -> AnswerScores:
    """Score every answer: `S = sum w s / sum w` over its scored checkpoints.

    Where criteria penalise, `x = max(0, (sum w x, credits - sum w x, penalties) / sum w, credits)`
    with x the value of a mark from 0 to 1: the points earned, those taken off among them, of the
    most that can be earned.

    Args:
        rows: which checkpoints count: bool, shape (N,), or their numbers, ascending; all when None.

    Returns:
        Numerators (compare `exact`, not floats) and values in [0, 1].

    Reference:
        ATOM Eq. 2; METHODS A1; HealthBench 3.2 (penalties).
    """
    if rows is not None:
        columns = ("response", "criterion", "weight", "score", "addressed", "carried", "scale")
        table = replace(table, **{name: getattr(table, name)[rows] for name in columns})
    good = table.score > 0
    bad = ~good
    whole = table.whole_weights
    weight: Any = np.where(good, table.weight, 0).astype(np.int16 if whole else np.float64)
    if table.any_penalty:
        return _with_penalties(table, weight, good, bad)
    if table.whole and whole:
        numerator: Any = table.answer_sums(weight * table.score)
    else:
        numerator = np.bincount(
            table.response, weights=weight * table.score, minlength=len(table.sample)
        )
    total = table.answer_masses(weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (numerator / total - 1) / 4
    return AnswerScores(
        numerator=numerator,
        weight=total,
        value=value,
        scored=table.answer_sums(good),
        unscored=table.answer_sums(bad),
    )


def _with_penalties(
    table: ScoreTable, weight: NDArray[Any], good: NDArray[np.bool_], bad: NDArray[np.bool_]
) -> AnswerScores:
    """Score answers some of whose criteria take points away (see `answer_scores`)."""
    takes = table.penalty[table.criterion]
    x = np.where(good, np.nan_to_num(table.value), 0.0)
    points = np.where(takes, -(1 - x), x) * weight
    most = table.answer_masses(np.where(takes, 0, weight))
    with np.errstate(divide="ignore", invalid="ignore"):
        earned = np.bincount(table.response, weights=points, minlength=len(table.sample)) / most
    value = np.where(most > 0, np.maximum(earned, 0.0), np.nan)
    return AnswerScores(
        numerator=np.where(most > 0, (1 + 4 * np.nan_to_num(value)) * most, 0.0),
        weight=most,
        value=value,
        scored=table.answer_sums(good),
        unscored=table.answer_sums(bad),
    )

"""Every score beside what it is on people's scale: what the panel holds."""

from __future__ import annotations

from dataclasses import dataclass

from atom.analysis.agreement.coefficients import Agreement
from atom.analysis.agreement.debias import MIN_LABELLED
from atom.analysis.intervals import Ints
from atom.display.estimate import Estimate
from atom.views.people.score_labels import Labels
from taxonomy import Path

UNEVEN = 0.01
"""p-value under which the judge's error is said to differ between roots."""


@dataclass(frozen=True, kw_only=True)
class ScaleStatus:
    """Whether scores may be read on people's scale.

    Attributes:
        measure: whether the numbers are scores at all; else there is nothing to lift.
        samples: labelled samples, whichever model's answers (those that share a picture are one).
        by_model: labelled samples of each model's answers.
        scored: whether each model has any score at all.
        checkpoints: labelled checkpoints that count.
        labels: what was read, whatever the filters.
    """

    measure: bool
    samples: int
    by_model: tuple[int, ...]
    scored: tuple[bool, ...]
    checkpoints: int
    labels: Labels

    @property
    def models(self) -> int:
        """How many models have labels on enough samples."""
        return sum(n >= MIN_LABELLED for n in self.by_model)

    @property
    def lifted(self) -> bool:
        """Whether every scored model has labels on enough samples (METHODS F6)."""
        return any(self.scored) and all(
            n >= MIN_LABELLED for n, any_ in zip(self.by_model, self.scored, strict=True) if any_
        )

    @property
    def partly(self) -> bool:
        """Whether some scored models have, and some haven't."""
        return self.models > 0 and not self.lifted


@dataclass(frozen=True, kw_only=True)
class ScaleRow:
    """One model's mean on people's scale beside the judge's, on 0-100.

    Attributes:
        model: its place in the study.
        model_id: candidate id.
        root: the branch; empty for all of it.
        people: the mean on people's scale; nothing with fewer than two labelled samples.
        judge: the judge's own mean.
        alone: what the labels alone would give.
        trust: how far the judge was relied on, 0..1.
        labelled: labelled samples.
        unlabelled: other samples.
        shift: judge's mean less people's on labelled samples, points; positive = kinder.
        needed: labelled samples in all for the half-width asked; None where all aren't enough, or
            it can't be told yet; only for a model as a whole.
    """

    model: int
    model_id: str
    name: str
    root: str
    people: Estimate
    judge: Estimate
    alone: Estimate
    trust: float
    labelled: int
    unlabelled: int
    shift: float
    needed: int | None = None

    @property
    def enough(self) -> bool:
        """Whether so many samples are labelled that this may be called people's scale."""
        return self.labelled >= MIN_LABELLED and self.people.known


@dataclass(frozen=True, kw_only=True)
class LeafRow:
    """One model on one capability, on 0-100: by the confusion that labels show."""

    model: int
    model_id: str
    name: str
    path: Path
    people: Estimate
    judge: Estimate


@dataclass(frozen=True, kw_only=True)
class RootShift:
    """How the judge's scores lie against people's under one root, all models together.

    Attributes:
        root: the branch; empty for everything.
        shift: judge's less people's score, points of 1-5, with its 95 % interval; NaN without.
        lo: lower end.
        n: labelled checkpoints.
        samples: labelled samples.
    """

    root: str
    shift: float
    lo: float
    hi: float
    n: int
    samples: int


@dataclass(frozen=True, kw_only=True)
class PeopleScale:
    """Everything on the panel.

    Attributes:
        status: whether "judge-scale" is lifted.
        statements: the answer in plain words.
        half: the half-width asked for, points of 0-100.
        rows: each model as a whole, in the study's order.
        roots: each model by root.
        leaves: each model by capability; empty where that is refused.
        refused: why there is nothing by capability, in words; empty where there is.
        agreement: people and judge on the checkpoints that both scored.
        counts: labelled checkpoints by (people's score, judge's score), shape (5, 5).
        shifts: everything, then each root.
        homogeneous_p: p-value of "the judge errs alike under every root"; NaN where unknown.
        labelled_models: places of models with labels.
    """

    status: ScaleStatus
    statements: tuple[str, ...]
    half: float
    rows: tuple[ScaleRow, ...]
    roots: tuple[ScaleRow, ...]
    leaves: tuple[LeafRow, ...]
    refused: str
    agreement: Agreement
    counts: Ints
    shifts: tuple[RootShift, ...]
    homogeneous_p: float
    labelled_models: tuple[int, ...]

    @property
    def uneven(self) -> bool:
        """Whether the judge surely errs otherwise under some roots than under others."""
        return self.homogeneous_p < UNEVEN

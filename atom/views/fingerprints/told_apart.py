"""Whether half of the samples recognises a model by the other half.

Reference: METHODS B17 (identification); ATOM Figure 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from atom.analysis.capability.fingerprints import Identification, identify
from atom.analysis.intervals import Floats, Ints
from atom.views.filters import answer_values
from atom.views.fingerprints.shape import Shape, ShapeModel, counted_answers, layout_rows
from atom.views.overview.asked_rows import lay_out
from atom.views.study_data import StudyData

SEED = 17
SPLITS, FEWER_SPLITS, MANY_ROWS = 50, 10, 200_000
LEAST_SAMPLES, LEAST_GROUPS = 20, 3
"""With fewer samples, or fewer capabilities (or labels), halves say nothing."""


@dataclass(frozen=True, kw_only=True)
class ToldApart:
    """Whether half of the samples recognises a model by the other half.

    Attributes:
        models: who is compared, in the study's order.
        similarity: shape (K, K): correlation of a model's profile in one half with a model's in
            the other; the diagonal is a profile's own repeatability.
        named: shape (K, K): of the tries to find the row's model, how many took it for the
            column's; whole numbers.
        pairwise: shape (K, K): share of splits in which a pair is told apart; NaN on the diagonal.
        tries: tries a model: each half is searched once in the other.
        splits: random halves.
        samples: distinct samples that were halved.
        why: why it can't be said; empty where it can.
    """

    models: tuple[ShapeModel, ...]
    similarity: Floats
    named: Ints
    pairwise: Floats
    tries: int
    splits: int
    samples: int
    why: str = ""

    @property
    def first(self) -> float:
        """Share of tries that name the right model."""
        return float(np.diag(self.named).mean() / self.tries) if self.models else math.nan

    @property
    def chance(self) -> float:
        """The share that guessing would reach."""
        return 1 / len(self.models) if self.models else math.nan

    @property
    def two_way(self) -> float:
        """Share of splits in which two models are told apart, the mean over pairs."""
        known = np.isfinite(self.pairwise)
        return float(self.pairwise[known].mean()) if known.any() else math.nan

    @property
    def shapes(self) -> bool:
        """Whether pairs are told apart well beyond guessing; else likenesses are chance, too."""
        return self.two_way >= _SHAPES


def told_apart(data: StudyData, form: Shape) -> ToldApart:
    """Cut the samples into random halves and look for each model of one half in the other.

    The halves are the same on every call. A study of many rows gets fewer of them.

    Reference:
        METHODS B17; ATOM Figure 4.
    """
    samples = _halved(data, form)
    if form.selected:
        return _not_told(
            f"Only {form.selected} are looked at, which are other samples for every model: "
            "nobody can be told apart by them.",
            samples,
        )
    if len(form.models) < 2:
        return _not_told("There is nobody to tell a model apart from: it takes two.", samples)
    if samples < LEAST_SAMPLES:
        return _not_told(
            f"{samples} sample{'s' * (samples != 1)} can't be cut into halves that say anything: "
            f"it takes {LEAST_SAMPLES}.",
            samples,
        )
    groups = int((form.n[:, form.finest].sum(axis=0) > 0).sum())
    if groups < LEAST_GROUPS:
        what = "labels" if form.facet else "capabilities"
        return _not_told(f"{groups} {what} make no shape: it takes {LEAST_GROUPS}.", samples)
    key = ("told apart", form.measure, form.facet, *form.filters.narrowing)
    return data.table.recent.get(key, lambda: _told(data, form, samples))


def _halved(data: StudyData, form: Shape) -> int:
    """Count the distinct samples that the values come from."""
    key = ("halved", form.measure, *form.filters.narrowing)
    return data.table.recent.get(key, lambda: _count_samples(data, form)) if form.models else 0


def _count_samples(data: StudyData, form: Shape) -> int:
    table = data.table
    keep = counted_answers(data, form.filters, form.measure)
    value = answer_values(data, form.filters, form.measure)
    return len(np.unique(table.cluster[table.sample[keep & np.isfinite(value)]]))


def _told(data: StudyData, form: Shape, samples: int) -> ToldApart:
    rows = layout_rows(data, form.filters, form.measure, form.facet)
    root = form.filters.root if form.measure == "process" else None
    layout = lay_out(data, form.measure, form.facet, root, form.filters.reading)
    counted = int(np.count_nonzero(layout.usable(rows)))
    splits = SPLITS if counted <= MANY_ROWS else FEWER_SPLITS
    seen: Identification = identify(layout, np.random.default_rng(SEED), splits=splits, rows=rows)
    # A model without a profile (no item shared with another, or no difference at all) is nobody's
    # look-alike, and isn't looked for.
    shaped = np.flatnonzero(np.isfinite(np.diag(seen.similarity)))
    if len(shaped) < 2:
        return _not_told(
            "There are no shapes to compare: the models don't share enough samples, or they "
            "don't differ on any of them.",
            samples,
        )
    block = np.ix_(shaped, shaped)
    return ToldApart(
        models=tuple(form.names[int(one)] for one in shaped),
        similarity=seen.similarity[block],
        named=(seen.named[block] * 2 * splits).round().astype(np.int64),
        pairwise=seen.pairwise[block],
        tries=2 * splits,
        splits=splits,
        samples=samples,
    )


def _not_told(why: str, samples: int) -> ToldApart:
    none = np.zeros((0, 0))
    return ToldApart(models=(), similarity=none, named=none.astype(np.int64), pairwise=none,
                     tries=0, splits=0, samples=samples, why=why)  # fmt: skip


_SHAPES = 0.65
"""Share of splits in which a pair must be told apart before likeness means anything."""

"""MM-CRITIC: how good are a model's critiques of other models' answers?

Reference: MM-CRITIC 3; METHODS A17.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import t as student

from atom.analysis.intervals import Floats, Ints
from atom.judgebench.rates import INVALID, Rate, mean_interval, rate

ANCHOR = 8.0
"""Score at which the reference critique is fixed."""
BandScheme = Literal["analysis", "annotator"]
BANDS: Mapping[BandScheme, tuple[tuple[str, int, int], ...]] = {
    "analysis": (("low", 0, 4), ("medium", 5, 7), ("high", 8, 10)),
    "annotator": (("low", 0, 3), ("medium", 4, 7), ("high", 8, 9), ("correct", 10, 10)),
}
"""Quality bands of answers on 0-10, both as published: a 4 is low in one and medium in the other,
and a 10 is a class of its own in the annotators' scheme."""


def band(score: int, scheme: BandScheme = "analysis") -> str:
    """Name the quality band of an answer.

    Raises:
        ValueError: the score isn't in 0..10.
    """
    for name, lo, hi in BANDS[scheme]:
        if lo <= score <= hi:
            return name
    raise ValueError(f"quality {score!r}: a whole number from 0 to 10 is expected")


def critique_accuracy(claimed: Ints, truth: Ints) -> Rate:
    """Score the correctness that a critique claims for an answer.

    Args:
        claimed: 1 = says right, 0 = says wrong, -1 unreadable; shape (n,).
        truth: 1 right, 0 wrong; shape (n,).

    Returns:
        The accuracy; a coin reaches one half.

    Reference:
        MM-CRITIC Eq. 1; METHODS A17.
    """
    return rate(np.where(claimed == INVALID, INVALID, (claimed == truth).astype(np.int64)), 0.5)


@dataclass(frozen=True, kw_only=True)
class CritiqueScore:
    """Mean score of critiques, against a reference critique fixed at 8.

    Attributes:
        n: scored critiques.
        invalid: critiques without a readable score.
        mean: on 0-10; NaN where n = 0.
        lo: lower end of its 95 % interval.
        above: share over 8.
        equal: share at 8.
        below: share under 8.
    """

    n: int
    invalid: int
    mean: float
    lo: float
    hi: float
    above: float
    equal: float
    below: float


def critique_score(scores: Floats, item: Ints | None = None) -> CritiqueScore:
    """Average a judge's scores of critiques.

    Args:
        scores: 0-10; NaN = unreadable; shape (n,).
        item: what each critique is about, non-negative, where an item may have several: each item
            then counts the same, and the interval is over items. None = one critique an item.

    Raises:
        ValueError: a score is off the scale.

    Reference:
        MM-CRITIC Eq. 3; METHODS A17.
    """
    known = scores[np.isfinite(scores)]
    if len(known) and (known.min() < 0 or known.max() > 10):
        raise ValueError(f"scores from {known.min():g} to {known.max():g}: 0 to 10 is expected")
    mean, lo, hi = mean_interval(known if item is None else _item_means(known, item, scores))

    def share(mask: Floats) -> float:
        return float(mask.mean()) if len(known) else math.nan

    return CritiqueScore(
        n=len(known),
        invalid=len(scores) - len(known),
        mean=mean,
        lo=lo,
        hi=hi,
        above=share((known > ANCHOR).astype(np.float64)),
        equal=share((known == ANCHOR).astype(np.float64)),
        below=share((known < ANCHOR).astype(np.float64)),
    )


def _item_means(known: Floats, item: Ints, scores: Floats) -> Floats:
    _, code = np.unique(item[np.isfinite(scores)], return_inverse=True)
    if not len(code):
        return known
    return np.asarray(np.bincount(code, weights=known) / np.bincount(code), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class AnchorAudit:
    """What the judge gives the reference critique itself when it doesn't know it.

    Attributes:
        reference: its blind scores of reference critiques.
        paraphrase: its blind scores of the same in other words.
        offset: mean of the reference's blind scores less 8.
    """

    reference: CritiqueScore
    paraphrase: CritiqueScore
    offset: float

    def anchored(self, score: float) -> float:
        """Return a critique score less the offset: what it would be if 8 meant the reference."""
        return score - self.offset


def anchor_audit(reference: Floats, paraphrase: Floats) -> AnchorAudit:
    """Check the anchor: does the judge give the reference critique the 8 that it is fixed at?

    Args:
        reference: blind scores of reference critiques, 0-10, NaN = unreadable.
        paraphrase: blind scores of their paraphrases.

    Reference:
        METHODS A17 (anchor audit).
    """
    first, second = critique_score(reference), critique_score(paraphrase)
    return AnchorAudit(
        reference=first,
        paraphrase=second,
        offset=first.mean - ANCHOR,
    )


def preference_accuracy(better: Ints, group: Sequence[str]) -> dict[str, Rate]:
    """Score preferences between answers of two quality bands, by pairing.

    Args:
        better: 1 = picked the answer of the higher band, 0 = the other, -1 unreadable.
        group: `G1` (low, medium), `G2` (medium, high) or `G3` (low, high), length n.

    Returns:
        A rate for each pairing that occurs, by name.

    Reference:
        MM-CRITIC Eq. 2; METHODS A17.
    """
    label = np.asarray(group, dtype=object)
    return {str(name): rate(better[label == name], 0.5) for name in sorted(set(group))}


@dataclass(frozen=True, kw_only=True)
class Slope:
    """A slope within items.

    Attributes:
        n: critiques.
        items: items with at least two critiques of different length.
        slope: points of score a thousand characters; NaN where nothing varies.
        lo: lower end of its 95 % interval, clustered by item.
    """

    n: int
    items: int
    slope: float
    lo: float
    hi: float


def length_within_items(item: Ints, length: Ints, score: Floats) -> Slope:
    """Regress score on critique length within items: across models it would be ecological.

    Args:
        item: what was critiqued, non-negative, shape (n,).
        length: characters of each critique.
        score: 0-10; NaN = unreadable, left out.

    Reference:
        METHODS B12 (critique length), MM-CRITIC Figure 4.
    """
    known = np.isfinite(score)
    _, code = np.unique(item[known], return_inverse=True)
    x, y = length[known].astype(np.float64) / 1000, score[known]
    groups = int(code.max(initial=-1)) + 1
    if not groups:
        return Slope(n=0, items=0, slope=math.nan, lo=math.nan, hi=math.nan)
    size = np.bincount(code, minlength=groups)
    dx = x - (np.bincount(code, weights=x, minlength=groups) / size)[code]
    dy = y - (np.bincount(code, weights=y, minlength=groups) / size)[code]
    spread = np.bincount(code, weights=dx * dx, minlength=groups)
    items, total = int((spread > 0).sum()), float(spread.sum())
    if total == 0:
        return Slope(n=len(x), items=0, slope=math.nan, lo=math.nan, hi=math.nan)
    slope = float((dx * dy).sum() / total)
    if items < 2:
        return Slope(n=len(x), items=items, slope=slope, lo=math.nan, hi=math.nan)
    pull = np.bincount(code, weights=dx * (dy - slope * dx), minlength=groups)
    se = math.sqrt(items / (items - 1) * float((pull**2).sum())) / total
    half = float(student.ppf(0.975, items - 1)) * se
    return Slope(n=len(x), items=items, slope=slope, lo=slope - half, hi=slope + half)


@dataclass(frozen=True, kw_only=True)
class Swap:
    """Mean critique score by who wrote the reference and who judged.

    Attributes:
        annotators: who wrote the reference critiques, sorted.
        judges: who scored, sorted.
        mean: shape (A, J); NaN where there is none.
        n: shape (A, J).
        own: mean of the cells where both are one model less the mean of the others; NaN without.
    """

    annotators: tuple[str, ...]
    judges: tuple[str, ...]
    mean: Floats
    n: Ints
    own: float


def annotator_judge_swap(annotator: Sequence[str], judge: Sequence[str], score: Floats) -> Swap:
    """Cross who wrote the reference critique with who judged by it.

    Args:
        annotator: length n.
        judge: length n.
        score: 0-10; NaN = unreadable, left out; shape (n,).

    Reference:
        MM-CRITIC Table 19; METHODS A17.
    """
    rows, columns = tuple(sorted(set(annotator))), tuple(sorted(set(judge)))
    a = np.array([rows.index(name) for name in annotator], dtype=np.int64)
    j = np.array([columns.index(name) for name in judge], dtype=np.int64)
    known = np.isfinite(score)
    shape = (len(rows), len(columns))
    key, size = a[known] * len(columns) + j[known], len(rows) * len(columns)
    n = np.bincount(key, minlength=size).reshape(shape).astype(np.int64)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(key, weights=score[known], minlength=size).reshape(shape) / n
    same = np.array([[row == column for column in columns] for row in rows], dtype=bool)
    inside, outside = mean[same & (n > 0)], mean[~same & (n > 0)]
    both = len(inside) > 0 and len(outside) > 0
    own = float(inside.mean() - outside.mean()) if both else math.nan
    return Swap(annotators=rows, judges=columns, mean=mean, n=n, own=own)

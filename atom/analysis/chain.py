"""Where along the chain of criteria an answer first breaks.

Criteria keep the order of the judge's own solution, so that the first failed one says how far an
answer got.

Reference: METHODS A2 (failed criterion); ATOM 3.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atom.analysis.intervals import Z95, Floats, Ints
from atom.analysis.layout import Mask
from atom.analysis.score_table import ScoreTable

INTACT = -1


@dataclass(frozen=True, kw_only=True)
class FirstBreaks:
    """First breaks of K models' answers over P places in the chain.

    An answer is at risk at a place when its criteria before it are all scored and none failed, and
    the one at the place is scored. From an unscored criterion on, an answer is no longer followed.

    Attributes:
        place: first failed place of each answer, shape (R,); -1 = none seen.
        at_risk: answers at risk, shape (K, P).
        breaks: answers that break there, shape (K, P).
        hazard: breaks / at risk; NaN where nobody is at risk, shape (K, P).
        hazard_lo: lower end of its 95 % Wilson interval.
        intact: share of answers unbroken after the place, `prod (1 - hazard)`, shape (K, P).
        leaf_exposed: at-risk criteria by leaf, shape (K, L + 1); the last = not mapped.
        leaf_breaks: first breaks by leaf, shape (K, L + 1).
        lost: answers no longer followed because of an unscored criterion, shape (K,).
    """

    place: Ints
    at_risk: Ints
    breaks: Ints
    hazard: Floats
    hazard_lo: Floats
    hazard_hi: Floats
    intact: Floats
    leaf_exposed: Ints
    leaf_breaks: Ints
    lost: Ints


def first_breaks(
    table: ScoreTable, rows: Mask | None = None, *, threshold: int | None = None
) -> FirstBreaks:
    """Find where each answer first fails a criterion.

    Args:
        rows: bool, shape (N,): checkpoints that count; all when None.
        threshold: a criterion fails at this score or less; None = as its own scale says.

    Returns:
        The breaks, by place and by leaf.

    Reference:
        METHODS A2.
    """
    keep = np.ones(len(table.score), dtype=bool) if rows is None else rows
    index = np.flatnonzero(keep)
    response, place = table.response[index], table.position[index].astype(np.int64)
    score = table.score[index]
    leaf = np.where(table.leaf[index] < 0, len(table.leaves), table.leaf[index]).astype(np.int64)
    n_answers, places = len(table.sample), int(place.max(initial=-1)) + 1
    n_leaves, k = len(table.leaves) + 1, table.n_models
    never = places
    broken = np.full(n_answers, never, dtype=np.int64)
    failed = table.fails[index] if threshold is None else (score > 0) & (score <= threshold)
    np.minimum.at(broken, response[failed], place[failed])
    open_at = np.full(n_answers, never, dtype=np.int64)
    np.minimum.at(open_at, response[score <= 0], place[score <= 0])
    model = table.model[response].astype(np.int64)
    at_risk = (place <= broken[response]) & (place < open_at[response])
    breaks = at_risk & (place == broken[response])

    def count(mask: Mask, axis: Ints, size: int) -> Ints:
        key = model[mask] * size + axis[mask]
        return np.bincount(key, minlength=k * size).reshape(k, size)

    risk, gone = count(at_risk, place, places), count(breaks, place, places)
    hazard, lo, hi = _wilson(gone, risk)
    unfollowed = (open_at < never) & (open_at <= broken)
    return FirstBreaks(
        place=np.where((broken < never) & (broken < open_at), broken, INTACT),
        at_risk=risk,
        breaks=gone,
        hazard=hazard,
        hazard_lo=lo,
        hazard_hi=hi,
        intact=np.cumprod(1 - np.nan_to_num(hazard), axis=1).astype(np.float64),
        leaf_exposed=count(at_risk, leaf, n_leaves),
        leaf_breaks=count(breaks, leaf, n_leaves),
        lost=np.bincount(table.model[unfollowed], minlength=k).astype(np.int64),
    )


def _wilson(hits: Ints, n: Ints) -> tuple[Floats, Floats, Floats]:
    """Return shares with their 95 % Wilson intervals; NaN where n = 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        p = hits / n
        shrink = 1 + Z95**2 / n
        centre = (p + Z95**2 / (2 * n)) / shrink
        half = Z95 * np.sqrt(p * (1 - p) / n + Z95**2 / (4 * n.astype(np.float64) ** 2)) / shrink
    return p, np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)

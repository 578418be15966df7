"""What may be said at an early look, and at every later one, at one level of error in all.

Seen as information grows, a standardised departure behaves as Brownian motion: with share t of the
planned information in hand, `B(t) = z sqrt(t)`. A level c on B, the same at every look, is O'Brien
and Fleming's rule: an early look has to be far out, the last one hardly pays for the others.

Reference: METHODS T7; O'Brien and Fleming 1979; Lan and DeMets 1983; Worsley 1982 (the bound).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from atom.analysis.intervals import Floats

LEAST_SHARE = 1e-6
_STEPS = 50
_HIGHEST = 12.0


def crossing(level: Floats, shares: Sequence[Floats]) -> Floats:
    """Bound P(B reaches a level at one of the looks).

    `P(B(t_1) >= c) + sum_j P(B(t_j) >= c, B(t_{j-1}) < c)`, Worsley's bound, whose terms are
    `(Phi(-c/sqrt(t_j)) - Phi(-c/sqrt(t_{j-1})))/2 + T(c/sqrt(t_j), sqrt(t_j/t_{j-1} - 1))` with
    Owen's T; and never more than `2 Phi(-c)`, which holds however often one looks.

    Args:
        level: c, shape (...).
        shares: for each look so far, the share of the planned information that was in hand, in
            [0, 1], shape (...) each; it never falls.

    Returns:
        The bound, in [0, 1]; 1 where c <= 0.
    """
    c = np.maximum(np.asarray(level, dtype=np.float64), 0.0)
    total = np.zeros(np.shape(c))
    before: Floats | None = None
    for share in shares:
        t = np.clip(share, LEAST_SHARE, 1.0)
        if before is None:
            total = total + scipy.special.ndtr(-c / np.sqrt(t))
        else:
            t = np.maximum(t, before)
            high, low = c / np.sqrt(before), c / np.sqrt(t)
            fresh = 0.5 * (scipy.special.ndtr(-low) - scipy.special.ndtr(-high))
            total = total + fresh + scipy.special.owens_t(low, np.sqrt(t / before - 1))
        before = t
    bound = np.minimum(np.minimum(total, 2 * scipy.special.ndtr(-c)), 1.0)
    return np.where(c > 0, bound, 1.0)


def early_p(p: Floats, shares: Sequence[Floats]) -> Floats:
    """Return one-sided p-values that hold although earlier looks were taken.

    Args:
        p: one-sided p-values as if this were the only look, shape (...); NaN stays NaN.
        shares: as in `crossing`, this look last.

    Returns:
        P-values; at the only look, with all information, the same as went in.
    """
    z = -scipy.special.ndtri(np.clip(p, 1e-300, 1 - 1e-16))
    found = crossing(z * np.sqrt(np.clip(shares[-1], LEAST_SHARE, 1.0)), shares)
    return np.where(np.isnan(p), np.nan, np.maximum(found, p))


def early_quantile(shares: Sequence[Floats], confidence: float = 0.95) -> Floats:
    """Return how many standard errors wide an interval's half is, so that it may be looked at.

    `c / sqrt(t)` with `2 crossing(c) = 1 - confidence`: intervals at all looks hold together.

    Args:
        shares: as in `crossing`, this look last.
        confidence: of all looks together.
    """
    now = np.clip(np.asarray(shares[-1], dtype=np.float64), LEAST_SHARE, 1.0)
    low, high = np.zeros(now.shape), np.full(now.shape, _HIGHEST)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        wide = 2 * crossing(middle, shares) > 1 - confidence
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    return np.asarray(high / np.sqrt(now))

"""Fractions kept exact: equal ones are equal, however they were added up.

A mark's value is a simple fraction (a level of a scale, or a mean of a few marks). As floats two
equal ones may differ in their last bit, and comparing within a tolerance would call close ones
equal. So values are taken back to the fraction that they are.

Reference: METHODS 0 (integer numerators).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from atom.analysis.intervals import Floats, Ints

LARGEST = 10_000
"""Denominators up to this are simple: two such fractions lie 1e-8 apart at least."""
_NOISE = 1e-12
"""What adding a few floats may be off by."""
_NEAR = 1e-7
"""Means closer than this are compared as fractions; those further apart differ in any case."""


def simple(value: float) -> Fraction:
    """Return the simple fraction that a float stands for; the float's own where there is none."""
    near = Fraction(value).limit_denominator(LARGEST)
    return near if abs(float(near) - value) <= _NOISE else Fraction(value)


def snapped(values: Floats) -> Floats:
    """Return values as the floats nearest to their simple fractions: equal ones become equal.

    Args:
        values: any shape; NaN stays.
    """
    flat, of = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    exact = [value if not np.isfinite(value) else float(simple(float(value))) for value in flat]
    return np.array(exact, dtype=np.float64)[of].reshape(np.shape(values))


def weighted_means(
    group: Ints, weight: Floats, value: Floats, groups: int
) -> list[Fraction | None]:
    """Return each group's weighted mean as a fraction; None where nothing has weight.

    Args:
        group: group of each value, shape (n,).
        weight: positive, shape (n,).
        value: finite, shape (n,).
        groups: number of groups.
    """
    top = [Fraction(0)] * groups
    bottom = [Fraction(0)] * groups
    pairs, of = np.unique(np.stack([weight, value]), axis=1, return_inverse=True)
    weights = [simple(float(one)) for one in pairs[0]]
    products = [one * simple(float(other)) for one, other in zip(weights, pairs[1], strict=True)]
    cell, count = np.unique(
        np.asarray(group, dtype=np.int64) * max(len(weights), 1) + of.reshape(-1),
        return_counts=True,
    )
    for key, times in zip(cell.tolist(), count.tolist(), strict=True):
        at, pair = divmod(key, max(len(weights), 1))
        top[at] += times * products[pair]
        bottom[at] += times * weights[pair]
    return [one / other if other else None for one, other in zip(top, bottom, strict=True)]


def signs(group: Ints, weight: Floats, first: Floats, second: Floats, groups: int) -> Ints:
    """Say which of two weighted means is larger in each group, ties being exact.

    Args:
        group: group of each pair of values, shape (n,).
        weight: positive, shape (n,).
        first: finite, shape (n,).
        second: finite, shape (n,).
        groups: number of groups.

    Returns:
        1 where the first mean is larger, -1 where the second is, 0 where both are equal or nothing
        has weight, shape (groups,).
    """
    gap = np.bincount(group, weight * (first - second), groups)
    sign = np.sign(gap).astype(np.int64)
    near = np.abs(gap) <= _NEAR * np.bincount(group, weight, groups)
    rows = near[group]
    if not rows.any():
        return sign
    sides = (
        weighted_means(group[rows], weight[rows], side[rows], groups) for side in (first, second)
    )
    for at, (one, other) in enumerate(zip(*sides, strict=True)):
        if near[at]:
            sign[at] = 0 if one is None or other is None else (one > other) - (one < other)
    return sign

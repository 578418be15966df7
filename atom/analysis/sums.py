"""Sums by group."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 17
"""Values handled at a time, so that what is between two steps stays in the processor's cache."""


def group_sums(
    group: NDArray[np.integer], values: NDArray[np.generic], size: int
) -> NDArray[np.float64]:
    """Sum values by group.

    Args:
        group: 0-based group of each value, shape (n,).
        values: shape (n,).
        size: number of groups; groups without values get 0.

    Returns:
        The sums, shape (size,).
    """
    return np.bincount(group, weights=values, minlength=size).astype(np.float64, copy=False)


def blocks(n: int, size: int = BLOCK) -> Iterator[slice]:
    """Cut n values into runs of at most so many."""
    for start in range(0, n, size):
        yield slice(start, start + size)

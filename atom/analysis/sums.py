"""Sums by group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats


def group_sums(group: NDArray[np.integer], values: NDArray[np.generic], size: int) -> Floats:
    """Sum values by group.

    Args:
        group: 0-based group of each value, shape (n,).
        values: shape (n,).
        size: number of groups; groups without values get 0.

    Returns:
        The sums, shape (size,).
    """
    return np.bincount(group, weights=values, minlength=size).astype(np.float64, copy=False)

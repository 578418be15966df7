"""What all figures need: flat paths, shares, two judges side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from atom.analysis.agreement.raters import krippendorff_alpha
from atom.analysis.agreement.two_judges import JointMarks, TwoJudges

Figures = dict[str, Any]


def flat(tree: object, at: str = "") -> dict[str, object]:
    """Return every number of a tree by its path, `dsg/likert/mean/sd1dot5`; a list is one."""
    if not isinstance(tree, Mapping):
        return {at: tree}
    found: dict[str, object] = {}
    for key, value in tree.items():
        found |= flat(value, f"{at}/{key}" if at else str(key))
    return found


def two(first: pd.Series, second: pd.Series) -> TwoJudges:
    """Hold two judges' values of the same things against each other."""
    values = (one.to_numpy(dtype=np.float64) for one in (first, second))
    return JointMarks(*values, np.arange(len(first))).agreement()


def counts(values: Iterable[object]) -> dict[str, int]:
    """Count values, each as a text."""
    return {str(key): int(n) for key, n in pd.Series(list(values)).value_counts().items()}


def mean_by(frame: pd.DataFrame, column: str, value: str = "value") -> dict[str, float]:
    """Return the mean value of each of a column's words."""
    return {str(name): float(of) for name, of in frame.groupby(column)[value].mean().items()}


def alpha(marks: pd.DataFrame, thing: str, value: str = "value") -> float:
    """Return Krippendorff's ordinal alpha of judges on things."""
    table = marks.pivot_table(index="judge", columns=thing, values=value)
    return krippendorff_alpha(table.to_numpy())


def known(value: float) -> float | None:
    """Return a number; None where it isn't defined."""
    return None if math.isnan(value) else float(value)

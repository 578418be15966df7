"""ATOM's own scores from stored checkpoints, and what they are with equal weights.

Reference: ATOM equation 2, Table 2 (without adaptive weighting); METHODS 0 and A1.
"""

from __future__ import annotations

import numpy as np

from atom.analysis.score_table import FINEST, ScoreTable
from atom.methods.base import MethodName


def atom_scores(table: ScoreTable, method: MethodName) -> dict[str, int]:
    """Return each answer's integer numerator.

    Args:
        table: the study, with the judge's checkpoints.
        method: `atom` gives `sum_t w_t s_t`; `no_weights` gives `sum_t s_t`.

    Returns:
        Response's id → numerator (times one factor where not all is whole), for answers
        with a score on every criterion that the sample has in the table; the others have none,
        since their denominators would differ.
    """
    answers = len(table.response_ids)
    weight = table.weight.astype(np.float64) if method == "atom" else np.ones(len(table.weight))
    # Means over repeats, and shares, are compared as whole numbers, too.
    unit = 1 if table.whole and table.whole_weights else FINEST
    there = table.score > 0
    row = table.response[there]
    total = np.bincount(row, weights=(weight * table.score)[there], minlength=answers)
    total = np.rint(total * unit).astype(np.int64)
    read = np.bincount(row, minlength=answers)
    width = max(len(table.criterion_ids), 1)
    pairs = np.unique(table.sample[table.response].astype(np.int64) * width + table.criterion)
    wanted = np.bincount(pairs // width, minlength=len(table.sample_ids))[table.sample]
    full = (read == wanted) & (wanted > 0)
    return {table.response_ids[at]: int(total[at]) for at in np.flatnonzero(full)}

"""ATOM's own scores from stored checkpoints, and what they are with equal weights.

Reference: ATOM equation 2, Table 2 (without adaptive weighting); METHODS 0 and A1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from atom.analysis.exact import weighted_means
from atom.analysis.score_table import ScoreTable
from atom.methods.base import MethodName


def atom_scores(table: ScoreTable, method: MethodName) -> dict[str, int | Fraction]:
    """Return each answer's score as an exact number, so that ties are ties.

    Args:
        table: the study, with the judge's checkpoints.
        method: `atom` gives `sum_t w_t s_t`; `no_weights` gives `sum_t s_t`.

    Returns:
        Response's id → numerator; the mean as a fraction where scores or weights aren't whole. Only
        for answers with a score on every criterion that the sample has in the table; the others
        have none, since their denominators would differ.
    """
    answers = len(table.response_ids)
    weight = table.weight.astype(np.float64) if method == "atom" else np.ones(len(table.weight))
    there = table.score > 0
    row = table.response[there]
    total: Sequence[int | Fraction | None]
    if table.whole and table.whole_weights:
        sums = np.bincount(row, weights=(weight * table.score)[there], minlength=answers)
        total = np.rint(sums).astype(np.int64).tolist()
    else:
        score = table.score[there].astype(np.float64)
        total = weighted_means(row.astype(np.int64), weight[there], score, answers)
    read = np.bincount(row, minlength=answers)
    width = max(len(table.criterion_ids), 1)
    pairs = np.unique(table.sample[table.response].astype(np.int64) * width + table.criterion)
    wanted = np.bincount(pairs // width, minlength=len(table.sample_ids))[table.sample]
    full = (read == wanted) & (wanted > 0)
    return {
        table.response_ids[at]: value
        for at in np.flatnonzero(full).tolist()
        if (value := total[at]) is not None
    }

"""Does a judge that does well here also pick well among N answers?

A judge's own verdicts can't tell: it takes several judges and, for each, the accuracy of the
answers that it picked out of N on some other task. Those come from the user.

Reference: VL-RewardBench 3.3 and Figure 4 (six judges, N = 8, MMMU-Pro).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from atom.judgebench.base import MetricRow, MetricTable
from atom.judgebench.vl_rewardbench.measures import best_of_n_correlation

TITLE = "Best of N"
NEEDED = (
    "Whether judges that do well here also pick well takes at least three judges and, for each, "
    "the accuracy of the answers that it picked out of N on another task. The Judge lab takes them "
    "under the figures once several judges have judged the set."
)


def nothing_known() -> MetricTable:
    """Say what the correlation needs, where there is one judge only."""
    row = MetricRow(
        metric="bon_pearson_r",
        label="Accuracy against best-of-N gain, Pearson r",
        value=math.nan,
        chance=0.0,
        unit="correlation",
        note=NEEDED,
    )
    return MetricTable(title=TITLE, rows=(row,), note=NEEDED)


def best_of_n(measured: Mapping[str, float], picked: Mapping[str, float]) -> MetricTable:
    """Correlate judges' accuracies with what picking the best of N by them brought.

    Args:
        measured: judge → accuracy on a set, percent.
        picked: judge → accuracy of the answers that it picked on another task, percent.

    Returns:
        One row each for Pearson's and Spearman's correlation, with the number of judges.

    Reference:
        VL-RewardBench 3.3, Figure 4.
    """
    judges = sorted(picked)
    here = np.array([measured.get(judge, math.nan) for judge in judges], dtype=np.float64)
    there = np.array([picked[judge] for judge in judges], dtype=np.float64)
    found = best_of_n_correlation(here, there)
    pearson = MetricRow(
        metric="bon_pearson_r",
        label="Accuracy against best-of-N accuracy, Pearson r",
        value=found.pearson,
        lo=found.lo,
        hi=found.hi,
        chance=0.0,
        n=found.n,
        unit="correlation",
        note="judges are the cases",
    )
    spearman = MetricRow(
        metric="bon_spearman_r",
        label="The same by ranks, Spearman",
        value=found.spearman,
        chance=0.0,
        n=found.n,
        unit="correlation",
    )
    unknown = [name for name, value in zip(judges, here, strict=True) if math.isnan(value)]
    note = f"{found.n} judges with both figures."
    if unknown:
        note += f" Not judges of this set: {', '.join(unknown)}."
    if found.n < 3:
        note += f" {NEEDED}"
    return MetricTable(title=TITLE, rows=(pearson, spearman), note=note)

"""One judge under several sampling settings: does temperature or top-p matter?

Reference: VL-RewardBench A.2, Table 4.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from atom.judgebench.base import BenchResult, MetricRow, MetricTable
from atom.judgebench.vl_rewardbench.ask import PAIR
from atom.judgebench.vl_rewardbench.breakdown import measure as measure_votes
from atom.judgebench.vl_rewardbench.measures import accuracy
from atom.judgebench.vl_rewardbench.votes import gather_votes
from atom.records import BenchItem, Sampling, Verdict

TITLE = "By temperature and top-p"


def measure(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> BenchResult:
    """Compute a judge's figures, and its accuracy under each setting where there are several."""
    found = measure_votes(items, verdicts)
    table = settings_table(items, verdicts)
    return found if table is None else replace(found, tables=(*found.tables, table))


def settings_table(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> MetricTable | None:
    """Lay out the macro average under each temperature and top-p; None under two settings.

    Only pairs that have a vote under every setting count, so that the rows compare like with like.
    """
    ways: dict[tuple[str, float, float], list[Verdict]] = defaultdict(list)
    for one in verdicts:
        if one.part == PAIR and one.state != "failed":
            ways[one.prompt, *_place(one.sampling)].append(one)
    if len(ways) < 2:
        return None
    shared = set.intersection(*({one.subject_id for one in mine} for mine in ways.values()))
    kept = [item for item in items if item.id in shared]
    if not kept:
        return None
    rows = [_row(kept, mine, way) for way, mine in sorted(ways.items(), key=lambda each: each[0])]
    values = [row.value for row in rows if not math.isnan(row.value)]
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
    return MetricTable(
        title=TITLE,
        rows=tuple(rows),
        note=f"Macro average over categories, on the {len(kept):,} pairs that have votes under "
        f"every setting; standard deviation over settings {spread:.2f} points.",
    )


def _place(sampling: Sampling) -> tuple[float, float]:
    """Return temperature and top-p; what isn't set comes first, as -1."""
    return (
        -1.0 if sampling.temperature is None else sampling.temperature,
        -1.0 if sampling.top_p is None else sampling.top_p,
    )


def _row(
    items: Sequence[BenchItem], verdicts: Sequence[Verdict], way: tuple[str, float, float]
) -> MetricRow:
    prompt, temperature, top_p = way
    votes = gather_votes(items, verdicts)
    found = accuracy(votes.codes, votes.category)
    words = [
        f"temperature {temperature:g}" if temperature >= 0 else "temperature as the server has it",
        f"top-p {top_p:g}" if top_p >= 0 else "top-p as the server has it",
    ]
    chances = [one.chance for one in found.by_category]
    return MetricRow(
        metric="macro_by_setting",
        label=", ".join(words),
        value=100 * found.macro.value,
        chance=100 * float(np.mean(chances)) if chances else math.nan,
        n=found.overall.n,
        invalid=found.overall.invalid,
        rule="strict",
        note=f"asked with {prompt}, {int(votes.counts.max())} votes at most",
    )

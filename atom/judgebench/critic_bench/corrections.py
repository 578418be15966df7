"""Corrections by the critique that they had: the reference's, the judge's own, or none.

Reference: CriticBench 4 and Tables 17 and 18 (EAvg without a critique, SAvg with one's own).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from atom.judgebench.base import BenchResult, MetricRow, MetricTable, rate_row
from atom.judgebench.critic_bench.ask import (
    CORRECTION,
    CORRECTION_EMPTY,
    CORRECTION_OWN,
    CORRECTIONS,
    SCORER,
)
from atom.judgebench.critic_bench.code import (
    OBJECTIVE_DOMAINS,
    PROGRAM_DOMAINS,
    run_codes,
    run_part,
    value_code,
)
from atom.judgebench.critic_bench.figures import measure as measure_parts
from atom.judgebench.rates import INVALID, majority, rate
from atom.records import BenchItem, Verdict

TITLE: Final = "Corrections by the critique that they had"
WORDS: Final[Mapping[str, str]] = {
    CORRECTION: "the reference’s critique",
    CORRECTION_OWN: "the judge’s own critique",
    CORRECTION_EMPTY: "no critique",
}


def measure(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> BenchResult:
    """Compute a judge's figures, and what its critiques are worth where it revised without them."""
    found = measure_parts(items, verdicts)
    table = corrections_table(items, verdicts)
    return found if table is None else replace(found, tables=(*found.tables, table))


def corrections_table(
    items: Sequence[BenchItem], verdicts: Sequence[Verdict]
) -> MetricTable | None:
    """Lay out what became of corrections by their critique; None under two kinds of it.

    Only answers that were revised in every way that is there count, so that rows compare.
    A program counts once it was run in every way, values at once.
    """
    made = [one for one in verdicts if one.part in CORRECTIONS and one.state != "failed"]
    there = [part for part in CORRECTIONS if any(one.part == part for one in made)]
    if len(there) < 2:
        return None
    passed = _passed(items, verdicts, there)
    graded = _graded(items, verdicts, there)
    rows = []
    for part in there:
        group = WORDS[part]
        if passed:
            codes = np.array([each[part] for each in passed], dtype=np.int64)
            rows.append(
                rate_row("pass_rate_by_critique", "Revised answers that pass",
                         rate(codes, 0.0), "strict", group=group)
            )  # fmt: skip
        if graded:
            rows.append(_grade_row([each[part] for each in graded], group))
    note = "On answers that were revised in all these ways: by their values, and programs by their "
    note += "tests once they were run (part run_code)."
    return MetricTable(title=TITLE, rows=tuple(rows), note=note) if rows else None


def _passed(
    items: Sequence[BenchItem], verdicts: Sequence[Verdict], there: Sequence[str]
) -> list[dict[str, int]]:
    said: dict[tuple[str, str], list[Verdict]] = {}
    for one in verdicts:
        if one.state != "failed":
            said.setdefault((one.subject_id, one.part), []).append(one)
    found = []
    for item in items:
        if item.data["domain"] not in OBJECTIVE_DOMAINS:
            continue
        codes = {part: _codes(item, part, said) for part in there}
        if all(codes.values()):
            found.append({part: int(majority(np.array([mine]))[0]) for part, mine in codes.items()})
    return found


def _codes(
    item: BenchItem, part: str, said: Mapping[tuple[str, str], Sequence[Verdict]]
) -> list[int]:
    mine = said.get((item.id, part), ())
    if item.data["domain"] in PROGRAM_DOMAINS:
        return run_codes(mine, said.get((item.id, run_part(part)), ()))
    truth = str(item.data.get("truth") or "")
    if not truth:
        return []
    return [value_code(truth, one) if one.state == "scored" else INVALID for one in mine]


def _graded(
    items: Sequence[BenchItem], verdicts: Sequence[Verdict], there: Sequence[str]
) -> list[dict[str, float]]:
    grades: dict[tuple[str, str], list[float]] = {}
    for one in verdicts:
        part = one.part.rpartition("/")[2]
        if one.part.startswith(SCORER) and part in there and one.value is not None:
            grades.setdefault((one.subject_id, part), []).append(one.value)
    return [
        {part: float(np.mean(grades[item.id, part])) for part in there}
        for item in items
        if all((item.id, part) in grades for part in there)
    ]


def _grade_row(values: Sequence[float], group: str) -> MetricRow:
    mean, n = float(np.mean(values)), len(values)
    half = 1.96 * float(np.std(values, ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return MetricRow(
        metric="correction_grade_by_critique", label="Grade beside a reference worth 8", value=mean,
        lo=mean - half, hi=mean + half, n=n, unit="points", group=group,
    )  # fmt: skip

"""Judges of one set beside each other: size, length and people's agreement against their figures.

Reference: MM-CRITIC Figures 2 and 4; Multi-Crit Figure 7; CriticBench Figure 5; VL-RewardBench
Figure 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from atom.display import numbers
from atom.judgebench.base import BenchResult, MetricRow, MetricTable
from atom.judgebench.best_of_n import benchmark as best_of_n_bench
from atom.judgebench.critic_bench import ask as critic_bench_ask
from atom.judgebench.critic_bench import benchmark as critic_bench_bench
from atom.judgebench.describe import SetDescription, describe
from atom.judgebench.mm_critic import data as mm_critic_data
from atom.judgebench.multi_crit import benchmark as multi_crit_bench
from atom.judgebench.multi_crit.criteria import names_of
from atom.judgebench.multi_crit.files import SPLITS
from atom.judgebench.multi_crit.measures import agreement_correlation
from atom.judgebench.vl_rewardbench import data as vl_rewardbench_data
from atom.judgebench.vl_rewardbench.measures import best_of_n_correlation
from atom.records import BenchSet
from atom.store import Store
from atom.store.verdicts import items_of, verdicts_about
from atom.views.lab.page import (
    SCORER_PART,
    SHARED_PART,
    SetProgress,
    bench_results,
    bench_sets,
    standings,
)

PICKING: Final = {
    vl_rewardbench_data.NAME: best_of_n_bench.NAME,
    best_of_n_bench.NAME: vl_rewardbench_data.NAME,
}
"""The two benchmarks that VL-RewardBench's Figure 4 holds against each other."""
LEAST: Final = 3
"""Points that a correlation needs."""
_SIZE = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d+)?)\s?[bB](?![a-zA-Z])")
_EXPERTS = re.compile(r"(?<![\w.])(\d{1,3})x(\d{1,3}(?:\.\d+)?)[bB](?![a-zA-Z])")


@dataclass(frozen=True, kw_only=True)
class Point:
    """One judge, or one criterion; `lo` and `hi` end the interval of `y`, NaN without one."""

    name: str
    x: float
    y: float
    lo: float = math.nan
    hi: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """Two figures against each other.

    Attributes:
        title: what is asked.
        paper: which figure of the paper shows the same of the paper's models.
        across: what `x` is, with its unit.
        up: what `y` is, with its unit.
        points: those that have both.
        r: Pearson's correlation; NaN under three points.
        lacking: judges that have no `x`.
        powers: whether `x` is drawn by its powers of ten.
        note: what the reader should know.
    """

    title: str
    paper: str
    across: str
    up: str
    points: tuple[Point, ...]
    r: float
    lacking: tuple[str, ...] = ()
    powers: bool = False
    note: str = ""


def size_of(name: str) -> float | None:
    """Read a model's size in billions of parameters off its name, `Qwen2.5-VL-7B`: 7.

    Of experts (`8x7b`) the product counts. None where the name says none.
    """
    experts = _EXPERTS.search(name)
    if experts is not None:
        return int(experts[1]) * float(experts[2])
    found = _SIZE.findall(re.sub(r"[-_/]", " ", name))
    return float(found[-1]) if found else None


def described(store: Store, record: BenchSet) -> SetDescription:
    """Say what a set holds."""
    return describe(record.benchmark, items_of(store, [record.id]))


def scatters(
    store: Store,
    record: BenchSet,
    judges: Sequence[SetProgress],
    results: Mapping[str, BenchResult],
    sizes: Mapping[str, float],
) -> tuple[Scatter, ...]:
    """Put a set's judges beside each other, as the benchmark's paper does.

    Args:
        results: their figures, by judge's id.
        sizes: judge's id -> billions of parameters, where it is set; else its name says so or not.

    Returns:
        One for each of the paper's figures that two points at least can be drawn of.
    """
    found: Iterable[Scatter] = ()
    if record.benchmark == mm_critic_data.NAME:
        known = {one.judge: sizes.get(one.judge) or size_of(one.name) for one in judges}
        found = _mm_critic(judges, results, known)
    elif record.benchmark == multi_crit_bench.BENCH.name:
        found = [_people(store, record, results)]
    elif record.benchmark == critic_bench_bench.BENCH.name:
        found = [_words(store, record, judges, results)]
    elif record.benchmark in PICKING:
        found = _picking(store, record, judges, results)
    return tuple(one for one in found if len(one.points) > 1)


def _mm_critic(
    judges: Sequence[SetProgress],
    results: Mapping[str, BenchResult],
    sizes: Mapping[str, float | None],
) -> Iterable[Scatter]:
    yield _scatter(
        "Does a larger judge criticise better?", "MM-CRITIC, Figure 2",
        "billions of parameters", "critique accuracy, %", judges, results, "acc_critic", sizes,
        powers=True,
        note="Sizes are read off the judge’s name or the endpoint’s `size`; many are not known.",
    )  # fmt: skip
    lengths = {one.judge: _value(results.get(one.judge), "critique_length") for one in judges}
    yield _scatter(
        "Do longer critiques score higher?", "MM-CRITIC, Figure 4",
        "characters of a critique, mean", "critique score, reference = 8", judges, results,
        "critique_score", lengths,
        note="Across judges; within one judge see the slope under Length of critiques.",
    )  # fmt: skip


def _words(
    store: Store,
    record: BenchSet,
    judges: Sequence[SetProgress],
    results: Mapping[str, BenchResult],
) -> Scatter:
    unique: dict[str, float | None] = {}
    for one in judges:
        about = verdicts_about(store, record.id, one.judge, scorer=SCORER_PART, shared=SHARED_PART)
        texts = [each.text for each in about
                 if each.part == critic_bench_ask.FEEDBACK and each.text.strip()]  # fmt: skip
        counts = [len(set(text.lower().split())) for text in texts]
        unique[one.judge] = float(np.mean(counts)) if counts else None
    return _scatter(
        "Do richer critiques score higher?", "CriticBench, Figure 5",
        "different words in a critique, mean", "grade of critiques, reference = 8", judges,
        results, "subjective_score", unique,
        note="Words between spaces count, large and small letters alike.",
    )  # fmt: skip


def _picking(
    store: Store,
    record: BenchSet,
    judges: Sequence[SetProgress],
    results: Mapping[str, BenchResult],
) -> Iterable[Scatter]:
    """Hold judges' accuracy on pairs against what their picks among n answers gain.

    The other set is the one that most of these judges worked through; of equals the newest.
    """
    mine = {one.judge for one in judges}
    others = bench_sets(store, PICKING[record.benchmark])
    shared = [
        [one.judge for one in standings(store, each.id) if one.judge in mine] for each in others
    ]
    most = max(map(len, shared), default=0)
    if most == 0:
        return
    at = next(at for at, held in enumerate(shared) if len(held) == most)
    there = bench_results(store, others[at].id, shared[at])
    picking = record.benchmark == best_of_n_bench.NAME
    pairs, picks = (there, results) if picking else (results, there)
    sets = {record.benchmark: record.name, others[at].benchmark: others[at].name}
    accuracy = {one.judge: _value(pairs.get(one.judge), "overall_accuracy") for one in judges}
    found = _scatter(
        "Do judges that judge well also pick well?", "VL-RewardBench, Figure 4",
        "accuracy on pairs, %", "gain of picks over random ones, points of accuracy", judges,
        picks, best_of_n_bench.GAIN, accuracy,
    )  # fmt: skip
    r = best_of_n_correlation(
        np.array([one.x for one in found.points]), np.array([one.y for one in found.points])
    )
    spearman = f" By ranks (Spearman) it is {numbers.plain(r.spearman)}."
    ranks = "" if math.isnan(r.spearman) else spearman
    ends = (
        ""
        if math.isnan(r.lo)
        else f" Pearson’s r lies from {numbers.plain(r.lo)} to {numbers.plain(r.hi)} (95 %)."
    )
    yield replace(
        found,
        r=r.pearson,
        note=f"Pairs of {sets[vl_rewardbench_data.NAME]!r}, picks of "
        f"{sets[best_of_n_bench.NAME]!r}.{ranks}{ends}",
    )


def _scatter(
    title: str,
    paper: str,
    across: str,
    up: str,
    judges: Sequence[SetProgress],
    results: Mapping[str, BenchResult],
    metric: str,
    at: Mapping[str, float | None],
    *,
    powers: bool = False,
    note: str = "",
) -> Scatter:
    points, lacking = [], []
    for one in judges:
        row = _row(results.get(one.judge), metric)
        x = at.get(one.judge)
        if row is None or math.isnan(row.value):
            continue
        if x is None or math.isnan(x):
            lacking.append(one.name)
            continue
        points.append(Point(name=one.name, x=x, y=row.value, lo=row.lo, hi=row.hi))
    xs = [math.log10(each.x) if powers else each.x for each in points]
    return Scatter(
        title=title, paper=paper, across=across, up=up, points=tuple(points),
        r=agreement_correlation(xs, [each.y for each in points]), lacking=tuple(lacking),
        powers=powers, note=note,
    )  # fmt: skip


def _people(store: Store, record: BenchSet, results: Mapping[str, BenchResult]) -> Scatter:
    """Hold the best judge's accuracy on each criterion against people's agreement on it."""
    agreed: dict[tuple[str, str], list[float]] = {}
    items = items_of(store, [record.id])
    names = names_of({entry["key"] for item in items for entry in item.data["criteria"]})
    for item in items:
        split = SPLITS.get(item.data["split"], item.data["split"])
        for entry in item.data["criteria"]:
            if entry.get("agreement") is not None:
                agreed.setdefault((split, names[entry["key"]]), []).append(entry["agreement"])
    best: dict[tuple[str, str], MetricRow] = {}
    for result in results.values():
        for row in _rows(result):
            key = (row.group, row.label)
            if row.metric != "criterion_accuracy" or key not in agreed or math.isnan(row.value):
                continue
            if key not in best or row.value > best[key].value:
                best[key] = row
    points = tuple(
        Point(name=f"{label} · {split}", x=float(np.mean(agreed[split, label])), y=row.value,
              lo=row.lo, hi=row.hi)
        for (split, label), row in best.items()
    )  # fmt: skip
    return Scatter(
        title="Are the best judges good where people agree?", paper="Multi-Crit, Figure 7",
        across="people’s agreement on the criterion", up="best judge’s accuracy, %",
        points=points,
        r=agreement_correlation([each.y for each in points], [each.x for each in points]),
        note="One point a criterion of a split, with the judge that is best on it.",
    )  # fmt: skip


def _rows(result: BenchResult | None) -> Iterable[MetricRow]:
    if result is None:
        return
    for table in (MetricTable(title="", rows=result.headline), *result.tables):
        yield from table.rows


def _row(result: BenchResult | None, metric: str) -> MetricRow | None:
    """Return a judge's figure over the whole set, the strict way of counting first."""
    rows = [row for row in _rows(result) if row.metric == metric]
    return next((row for row in rows if not row.group), rows[0] if rows else None)


def _value(result: BenchResult | None, metric: str) -> float | None:
    row = _row(result, metric)
    return None if row is None or math.isnan(row.value) else row.value

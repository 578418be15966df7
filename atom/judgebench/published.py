"""What the five papers print: their result tables as rows, the errata beside the figures they hit.

A figure here is what a paper prints, right or wrong. `headlines` says which figures of a table a
judge's own figure may stand beside.

Reference: VL-RewardBench tables 2-4, Multi-Crit tables 3, 4, 16, 18, MM-CRITIC tables 2-4 and
11-19, CriticBench tables 1-3 and 9-18, ATOM tables 1-5; `data/published/README.md`.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from atom.errors import DataError
from atom.judgebench.base import MetricRow, Unit

NAMED = frozenset(
    {"mm_t2_avg_range", "mm_types_avg_near", "mm_t19_score_avg", "cb_t2_comp_avg",
     "cb_t11_comp_avg", "cb_t12_comp_avg"}
)  # fmt: skip
"""Rules that a paper doesn't state, whose misses are listed as errata all the same."""
_OTHER = re.compile(r"recomputed = table (\w+)")
_FIXED = ("paper", "table", "model", "model_key", "group", "value", "unit", "note")


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """A printed figure that another one contradicts.

    Attributes:
        paper: the paper's key.
        table: the table that prints it.
        identity: which identity it fails (`identities.csv`).
        kind: `exact` (the paper's own definition), `cross` (one figure printed twice), `text`
            (prose against a table), `inferred` (a rule that the paper doesn't state).
        item: what it is about, words that begin with or hold the model's key.
        printed: the printed figure.
        recomputed: what the others give, or what the other place prints.
        comment: which place that is, where there is one.
    """

    paper: str
    table: str
    identity: str
    kind: str
    item: str
    printed: float
    recomputed: float
    comment: str = ""

    @property
    def counts(self) -> bool:
        """Whether it says something against the figure; most `inferred` misses don't."""
        return self.kind != "inferred" or self.identity in NAMED

    @property
    def words(self) -> str:
        """Both values: `44.96 printed, 41.58 recomputed`."""
        other = _OTHER.search(self.comment)
        place = f"in table {other[1]}" if other else "recomputed"
        printed = f"in table {self.table}" if other else "printed"
        return f"{self.printed:g} {printed}, {round(self.recomputed, 3):g} {place}"


@dataclass(frozen=True, kw_only=True)
class PrintedFigure:
    """One printed figure.

    Attributes:
        paper: `atom`, `multi_crit`, `vl_rewardbench`, `mm_critic` or `criticbench`.
        table: its number.
        model: label as printed.
        model_key: one key a model; empty where the row is of none.
        group: heading that the row stands under.
        where: what was measured: split, metric, category, ... by column.
        value: NaN where nothing is printed.
        printed: the figure as printed, digits kept.
        unit: as in the file.
        note: why it is empty or doubtful.
        errata: what speaks against it.
    """

    paper: str
    table: str
    model: str
    model_key: str
    group: str
    where: Mapping[str, str]
    value: float
    printed: str
    unit: str
    note: str = ""
    errata: tuple[Erratum, ...] = ()

    @property
    def sure(self) -> bool:
        """Whether a test may rely on it: printed, undoubted, and in no erratum."""
        return not math.isnan(self.value) and not self.note and not self.errata


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A rule that printed figures were checked against.

    Attributes:
        name: its key.
        paper: whose figures.
        kind: as in `Erratum`.
        words: what it says.
        checked: rows checked.
        holds: rows that pass.
    """

    name: str
    paper: str
    kind: str
    words: str
    checked: int
    holds: int


def _read(folder: Path, name: str) -> list[dict[str, str]]:
    path = folder / f"{name}.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise DataError(
            f"the published figures {path.name!r} can't be read ({error.strerror}): they lie in "
            "data/published of the checkout"
        ) from error


@cache
def errata(folder: Path) -> tuple[Erratum, ...]:
    """Return every row that fails an identity.

    Raises:
        DataError: the file isn't there.
    """
    return tuple(
        Erratum(
            paper=row["paper"],
            table=row["table"],
            identity=row["identity"],
            kind=row["kind"],
            item=row["item"],
            printed=_number(row["printed"]),
            recomputed=_number(row["recomputed"]),
            comment=row["comment"],
        )
        for row in _read(folder, "errata")
    )


@cache
def identities(folder: Path) -> tuple[Identity, ...]:
    """Return the identities that printed figures were checked against.

    Raises:
        DataError: the file isn't there.
    """
    return tuple(
        Identity(
            name=row["identity"],
            paper=row["paper"],
            kind=row["kind"],
            words=row["description"],
            checked=int(row["n_checked"]),
            holds=int(row["n_pass"]),
        )
        for row in _read(folder, "identities")
    )


@cache
def figures(folder: Path, name: str) -> tuple[PrintedFigure, ...]:
    """Return a table's figures with their errata.

    Args:
        folder: `data/published`.
        name: the file's name without its ending, for example `vlrb_table2_accuracy`.

    Raises:
        DataError: the file isn't there.
    """
    rows = _read(folder, name)
    known = {
        value for row in rows for column, value in row.items() if column not in _FIXED and value
    }
    tables = {(row["paper"], row["table"]) for row in rows}
    mine = [
        one
        for one in errata(folder)
        if one.counts and any((one.paper, place) in tables for place in _places(one))
    ]
    found = [_figure(row, mine, known) for row in rows]
    return tuple(_without_namesakes(found))


def _without_namesakes(found: Sequence[PrintedFigure]) -> list[PrintedFigure]:
    """Where several cells print the same figure, an erratum is about the average."""
    averages = {one for row in found if _is_average(row) for one in row.errata}
    return [
        row
        if _is_average(row)
        else replace(row, errata=tuple(one for one in row.errata if one not in averages))
        for row in found
    ]


def _is_average(row: PrintedFigure) -> bool:
    return "avg" in row.where.values() or "average" in row.where.values()


def _places(one: Erratum) -> tuple[str, ...]:
    other = _OTHER.search(one.comment)
    return (one.table, other[1]) if other else (one.table,)


def _figure(row: Mapping[str, str], mine: Sequence[Erratum], known: set[str]) -> PrintedFigure:
    where = {k: v for k, v in row.items() if k not in _FIXED}
    value = _number(row["value"])
    key = row.get("model_key", "")

    def hit(one: Erratum) -> bool:
        words = re.split(r"[ /]", one.item)
        if not key or key not in words:
            return False
        at = _places(one)
        printed = row["table"] == at[0] and value == one.printed
        other = len(at) > 1 and row["table"] == at[1] and value == one.recomputed
        named = [word for word in words if word != key and word in known]
        return (printed or other) and all(word in where.values() for word in named)

    return PrintedFigure(
        paper=row["paper"],
        table=row["table"],
        model=row.get("model", ""),
        model_key=key,
        group=row.get("group", ""),
        where=where,
        value=value,
        printed=row["value"],
        unit=row["unit"],
        note=row["note"],
        errata=tuple(one for one in mine if hit(one)),
    )


def _number(text: str) -> float:
    return float(text) if text.strip() else math.nan


# --- a judge among the papers' models -------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PrintedHeadline:
    """A figure that papers print of every model, and that a judge here may have, too.

    Attributes:
        benchmark: the benchmark's name.
        label: what it is, in words.
        file: the table's file.
        table: the table, in words.
        where: which of its figures: column → value.
        metrics: names that our figure may have (`MetricRow.metric`).
        groups: groups that it may be of; empty = all of the data.
        unit: unit of ours.
        scale: printed figure × scale = in our unit.
        lo: lowest value there can be.
        hi: highest value.
        data: the part of the published data that it is of, in words; empty = all.
    """

    benchmark: str
    label: str
    file: str
    table: str
    where: Mapping[str, str]
    metrics: tuple[str, ...]
    groups: tuple[str, ...] = ("",)
    unit: Unit = "percent"
    scale: float = 1.0
    lo: float = 0.0
    hi: float = 100.0
    data: str = ""

    def matches(self, row: MetricRow) -> bool:
        """Whether a figure of ours is this one."""
        return row.metric in self.metrics and row.group in self.groups


def _vlrb(label: str, metric: str, category: str, *groups: str) -> PrintedHeadline:
    return PrintedHeadline(
        benchmark="vl_rewardbench",
        label=label,
        file="vlrb_table2_accuracy",
        table="VL-RewardBench table 2",
        where={"metric": metric, "category": category},
        metrics=(metric,),
        groups=groups or ("",),
    )


def _multi(label: str, metric: str, category: str, name: str = "") -> list[PrintedHeadline]:
    return [
        PrintedHeadline(
            benchmark="multi_crit",
            label=label,
            file=file,
            table=f"Multi-Crit table {table}",
            where={"metric": metric, "category": category},
            metrics=(name or metric,),
            groups=(group,),
            data=data,
        )
        for file, table, group, data in (
            ("multicrit_table3_open", "3", "open-ended", "open-ended split"),
            ("multicrit_table4_reasoning", "4", "reasoning", "verifiable reasoning split"),
        )
    ]


def _mmc(
    label: str,
    file: str,
    table: str,
    where: Mapping[str, str],
    metrics: tuple[str, ...],
    groups: tuple[str, ...],
    *,
    percent: bool = True,
) -> PrintedHeadline:
    return PrintedHeadline(
        benchmark="mm_critic",
        label=label,
        file=file,
        table=f"MM-CRITIC table {table}",
        where=where,
        metrics=metrics,
        groups=groups,
        unit="percent" if percent else "points",
        scale=100 if percent else 1,
        hi=100 if percent else 10,
    )


def _cb(
    label: str,
    dimension: str,
    metric: str,
    metrics: tuple[str, ...],
    groups: tuple[str, ...],
    unit: Unit,
    lo: float,
    hi: float,
) -> PrintedHeadline:
    subjective = metric == "subjective_score"
    return PrintedHeadline(
        benchmark="critic_bench",
        label=label,
        file=f"criticbench_table{'9_subjective' if subjective else '11_objective'}_test",
        table=f"CriticBench table {'9' if subjective else '11'}",
        where={"dimension": dimension, "metric": metric, "category": "avg"},
        metrics=metrics,
        groups=groups,
        unit=unit,
        lo=lo,
        hi=hi,
        data="test split",
    )


_HEADLINES: tuple[PrintedHeadline, ...] = (
    _vlrb("Overall accuracy", "overall_accuracy", "all"),
    _vlrb("Macro accuracy", "macro_average_accuracy", "all"),
    _vlrb("Accuracy, general", "accuracy", "general", "general"),
    _vlrb("Accuracy, hallucination", "accuracy", "hallucination", "hallucination"),
    _vlrb("Accuracy, reasoning", "accuracy", "reasoning", "reasoning"),
    *_multi("Pluralistic accuracy (PAcc)", "pacc", "all"),
    *_multi("Tradeoff sensitivity (TOS)", "tos", "all"),
    *_multi("Conflict matching rate (CMR)", "cmr", "all"),
    *_multi("Criterion accuracy, average", "criterion_accuracy", "avg",
            "criterion_accuracy_avg"),
    _mmc("Critique accuracy", "mmcritic_table2_main", "2",
         {"metric": "acc_critic", "split": "avg"}, ("acc_critic",), ("", "avg")),
    _mmc("Critique score", "mmcritic_table2_main", "2",
         {"metric": "critique_score", "split": "avg"}, ("critique_score",), ("", "avg"),
         percent=False),
    _mmc("Correction score", "mmcritic_table3_correction", "3",
         {"metric": "correction_critique_score", "category": "avg"},
         ("correction_critique_score", "correction_score"), ("", "avg"), percent=False),
    *(
        _mmc(f"Preference accuracy, {words}", "mmcritic_table4_preference", "4",
             {"metric": "acc_prefer", "category": category}, ("acc_prefer",),
             (category, category[:2].upper(), category[:2], words))
        for category, words in (("g1_low_medium", "low and medium"),
                                ("g2_medium_high", "medium and high"),
                                ("g3_low_high", "low and high"))
    ),
    _cb("Objective overall", "overall", "objective_overall", ("objective_overall",),
        ("", "overall", "avg"), "percent", 0, 100),
    _cb("Feedback, Spearman × 100", "feedback", "spearman", ("spearman",),
        ("feedback",), "correlation", -100, 100),
    _cb("Comparison accuracy", "comp_feedback", "accuracy", ("accuracy",),
        ("comp_feedback", "comparison"), "percent", 0, 100),
    _cb("Correction pass rate", "correction", "pass_rate", ("pass_rate",),
        ("", "correction"), "percent", 0, 100),
    _cb("Meta-feedback, Spearman × 100", "meta_feedback", "spearman", ("spearman",),
        ("meta_feedback",), "correlation", -100, 100),
    _cb("Subjective overall", "overall", "subjective_score",
        ("subjective_overall",), ("", "overall"), "points", 1, 10),
    _cb("Subjective score of feedback", "feedback", "subjective_score", ("subjective_score",),
        ("feedback",), "points", 1, 10),
    _cb("Subjective score of comparisons", "comp_feedback", "subjective_score",
        ("subjective_score",), ("comp_feedback", "comparison"), "points", 1, 10),
    _cb("Subjective score of corrections", "correction", "subjective_score",
        ("subjective_score",), ("correction",), "points", 1, 10),
)  # fmt: skip


def headlines(benchmark: str | None = None) -> tuple[PrintedHeadline, ...]:
    """Return the figures that papers print of every model; of one benchmark, or of all."""
    return tuple(one for one in _HEADLINES if benchmark in (None, one.benchmark))


@dataclass(frozen=True, kw_only=True)
class PrintedPlace:
    """A judge among a paper's models.

    Attributes:
        headline: the figure.
        models: the paper's models with a value, the best first, scaled to our unit.
        ours: our judge's figure; None where it has none.
    """

    headline: PrintedHeadline
    models: tuple[PrintedFigure, ...]
    ours: MetricRow | None = None

    @property
    def rank(self) -> int | None:
        """Where it would stand: 1 = before all of them; level with a model counts as before."""
        if self.ours is None or math.isnan(self.ours.value):
            return None
        return 1 + sum(one.value > self.ours.value for one in self.models)

    @property
    def ranks(self) -> tuple[int, int] | None:
        """Best and worst rank within its interval; None without an interval."""
        if self.ours is None or math.isnan(self.ours.lo) or math.isnan(self.ours.hi):
            return None
        hi, lo = self.ours.hi, self.ours.lo
        return (
            1 + sum(one.value > hi for one in self.models),
            1 + sum(one.value > lo for one in self.models),
        )


def place(folder: Path, headline: PrintedHeadline, row: MetricRow | None = None) -> PrintedPlace:
    """Put a judge's figure among those that a paper prints.

    Args:
        folder: `data/published`.
        row: our judge's; None = only the paper's models.

    Raises:
        DataError: the table isn't there.
    """
    return PrintedPlace(
        headline=headline, models=_models(folder, headline.file, headline.label), ours=row
    )


@cache
def _models(folder: Path, file: str, label: str) -> tuple[PrintedFigure, ...]:
    headline = next(one for one in _HEADLINES if (one.file, one.label) == (file, label))
    found = []
    for one in figures(folder, file):
        right = all(one.where.get(column) == value for column, value in headline.where.items())
        if not right or math.isnan(one.value) or one.model == "Average":
            continue
        found.append(replace(one, value=one.value * headline.scale))
    return tuple(sorted(found, key=lambda one: (-one.value, one.model)))

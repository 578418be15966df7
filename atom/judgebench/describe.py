"""What a benchmark's set holds, by the items alone: counts, lengths, and what people say of them.

Reference: VL-RewardBench Figure 3, Table 1; Multi-Crit Figures 3 and 8, Tables 1 and 6; MM-CRITIC
Tables 5, 6 and 7; CriticBench Figure 4, Table 7.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from atom.judgebench.critic_bench import benchmark as critic_bench_bench
from atom.judgebench.mm_critic import data as mm_critic_data
from atom.judgebench.multi_crit import benchmark as multi_crit_bench
from atom.judgebench.multi_crit.criteria import names_of
from atom.judgebench.multi_crit.files import SPLITS
from atom.judgebench.vl_rewardbench import data as vl_rewardbench_data
from atom.records import BenchItem

CellUnit = Literal["count", "mean", "correlation"]
TOTAL: Final = "all"
_BINS: Final = 12
_QUALITIES: Final = {"low": "low", "med": "medium", "high": "high", "super-high": "correct"}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A number of a table and how many items it is of; NaN where there is none."""

    value: float
    n: int


@dataclass(frozen=True, kw_only=True)
class SetTable:
    """Figures of a set: rows by columns.

    Attributes:
        title: what it shows.
        paper: which figure or table of the paper shows the same of the paper's data.
        head: what rows are.
        rows: (name, a cell for each column).
        unit: of the cells.
        note: what the reader should know.
    """

    title: str
    paper: str
    head: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    unit: CellUnit = "count"
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """How values of a set spread.

    Attributes:
        title: what is counted.
        paper: which figure of the paper shows the same of the paper's data.
        unit: of the values.
        edges: of the bins, one more than `counts`; the last bin holds its right edge.
        counts: values in each.
        quartiles: a quarter, half and three quarters of the values lie at or below.
        note: what the reader should know.
    """

    title: str
    paper: str
    unit: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    quartiles: tuple[float, float, float]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class SetDescription:
    """What a set holds."""

    tables: tuple[SetTable, ...] = ()
    spreads: tuple[Histogram, ...] = ()
    rubrics: tuple[tuple[str, str], ...] = ()
    """(task type, its rubric), where the set has any; as MM-CRITIC's Table 10."""


def describe(benchmark: str, items: Sequence[BenchItem]) -> SetDescription:
    """Describe a set by its items; nothing for a benchmark that no paper describes so.

    Args:
        benchmark: the set's benchmark.
        items: all items of the set.
    """
    told = _TOLD.get(benchmark)
    if told is None or not items:
        return SetDescription()
    try:
        return told([item.data for item in items])
    except (KeyError, TypeError, ValueError):  # fields of another version, or made by hand
        return SetDescription()


Datas = Sequence[Mapping[str, Any]]


# --- VL-RewardBench -----------------------------------------------------------------------------


def _vlrb(items: Datas) -> SetDescription:
    words = [[len(str(text).split()) for text in data["responses"]] for data in items]
    better = ["ab".index(data["better"]) for data in items]
    chosen = [pair[at] for pair, at in zip(words, better, strict=True)]
    gap = [pair[at] - pair[1 - at] for pair, at in zip(words, better, strict=True)]
    kinds = Counter(str(tag) for data in items for tag in data.get("tags", ()))
    categories = Counter(str(data["category"]) for data in items)
    rows = [("pairs of answers", len(items))]
    rows += [(f"category: {name}", n) for name, n in categories.most_common()]
    rows += [(f"kind of error: {name}", n) for name, n in kinds.most_common()]
    return SetDescription(
        tables=(
            SetTable(
                title="What the set holds", paper="VL-RewardBench, Table 1", head="",
                columns=("pairs",),
                rows=tuple((name, (Cell(value=n, n=n),)) for name, n in rows),
                note="A pair may have several kinds of error.",
            ),
        ),
        spreads=(
            histogram(
                gap, "Words of the better answer less words of the worse one",
                "VL-RewardBench, Figure 3",
                note="Around 0 the length gives nothing away about which is better.",
            ),
            histogram(chosen, "Words of the better answer", "VL-RewardBench, Figure 3"),
        ),
    )  # fmt: skip


# --- Multi-Crit ---------------------------------------------------------------------------------


def _multi_crit(items: Datas) -> SetDescription:
    splits = _present(data["split"] for data in items)
    names = [SPLITS.get(split, split) for split in splits]
    known = [data for data in items if data.get("model_a") and data.get("model_b")]
    kinds: dict[str, list[Mapping[str, Any]]] = {
        "by two models": [one for one in known if one["model_a"] != one["model_b"]],
        "twice by the same model": [one for one in known if one["model_a"] == one["model_b"]],
        "not known": [one for one in items if one not in known] if len(known) < len(items) else [],
    }
    criteria = names_of(_present(entry["key"] for data in items for entry in data["criteria"]))
    return SetDescription(
        tables=(
            _counts(
                "Who wrote the two answers of a pair", "Multi-Crit, Table 6", "answers", names,
                [(name, [sum(one["split"] == split for one in mine) for split in splits])
                 for name, mine in kinds.items() if mine],
            ),
            _counts(
                "Preferences of people by criterion", "Multi-Crit, Figure 3", "criterion", names,
                [(name, [sum(entry["key"] == key for data in items if data["split"] == split
                             for entry in data["criteria"]) for split in splits])
                 for key, name in criteria.items()],
            ),
            _counts(
                "Where the questions are from", "Multi-Crit, Figure 3", "source", names,
                [(source, [sum(_source(data) == source and data["split"] == split
                               for data in items) for split in splits])
                 for source in _present(_source(data) for data in items)],
                note="A source is the beginning of a pair’s id, as far as the files tell.",
            ),
            *(
                _together([one for one in items if one["split"] == split], criteria, name)
                for split, name in zip(splits, names, strict=True)
            ),
        ),
    )  # fmt: skip


def _source(data: Mapping[str, Any]) -> str:
    text = str(data.get("source") or data.get("prompt_id") or data.get("pair") or "")
    head = text.replace("-", "_").split("_")[0].rstrip("0123456789")
    return head or "not known"


def _together(items: Datas, criteria: Mapping[str, str], split: str) -> SetTable:
    """Correlate people's preferences on every two criteria, over pairs with a conflict.

    The correlation is `2 P(same answer preferred) - 1`: which of a pair's answers is called the
    first says nothing, so half of two unrelated preferences are the same.
    """
    said = [{entry["key"]: entry["label"] for entry in data["criteria"]} for data in items]
    torn = [each for each in said if len(set(each.values())) > 1]
    present = [key for key in criteria if any(key in each for each in torn)]

    def cell(one: str, other: str) -> Cell:
        both = [each for each in torn if one in each and other in each]
        if one == other or not both:
            return Cell(value=math.nan, n=len(both))
        same = sum(each[one] == each[other] for each in both) / len(both)
        return Cell(value=2 * same - 1, n=len(both))

    return SetTable(
        title=f"How people’s preferences go together: {split}",
        paper="Multi-Crit, Figure 8",
        head="criterion",
        columns=tuple(criteria[key] for key in present),
        rows=tuple(
            (criteria[one], tuple(cell(one, other) for other in present)) for one in present
        ),
        unit="correlation",
        note=f"Over the {len(torn):,} pairs on which criteria disagree. 1: always the same answer "
        "preferred; −1: always the other one; 0: as often the one as the other.",
    )


# --- MM-CRITIC ----------------------------------------------------------------------------------


def _mm_critic(items: Datas) -> SetDescription:
    subsets = _present(data["subset"] for data in items)
    types = _present(data["task_type"] for data in items)
    named = [mm_critic_data.SUBSETS.get(one, one) for one in subsets]
    basic = [one for one in items if one["dimension"] == "basic"]
    tasks = {
        (kind, subset): len({one.get("task") for one in items
                             if (one["task_type"], one["subset"]) == (kind, subset)} - {None, ""})
        for kind in types for subset in subsets
    }  # fmt: skip
    groups = _present(_group(one) for one in items if one["dimension"] == "comparison")

    def words(kind: str) -> str:
        return kind.replace("_", " ")

    return SetDescription(
        tables=(
            _counts("Tasks that the questions are from", "MM-CRITIC, Table 5", "task type", named,
                    [(words(kind), [tasks[kind, one] for one in subsets]) for kind in types]),
            _counts("Responses to be criticised", "MM-CRITIC, Table 6", "task type", named,
                    [(words(kind), [sum((one["task_type"], one["subset"]) == (kind, subset)
                                        for one in basic) for subset in subsets])
                     for kind in types]),
            _counts("Corrections and comparisons", "MM-CRITIC, Table 7", "task type",
                    ["correction", *groups],
                    [(words(kind), [
                        sum(one["task_type"] == kind and one["dimension"] == "correction"
                            for one in items),
                        *(sum(one["task_type"] == kind and one["dimension"] == "comparison"
                              and _group(one) == group for one in items) for group in groups),
                    ]) for kind in types]),
        ),
        rubrics=tuple(dict.fromkeys((words(one["task_type"]), one["rubric"]) for one in items
                                    if one.get("rubric"))),
    )  # fmt: skip


def _group(data: Mapping[str, Any]) -> str:
    item = BenchItem.model_construct(set_id="", id="", position=0, data=dict(data))
    pairing = mm_critic_data.pairing(item, "analysis")
    return mm_critic_data.PAIRING_WORDS.get(pairing, "") or "of no group"


# --- CriticBench --------------------------------------------------------------------------------


def _critic_bench(items: Datas) -> SetDescription:
    domains = _present(data["domain"] for data in items)
    answers = [one for one in items if one["kind"] == "answer"]
    here = [one for one in _QUALITIES if any(data["quality"] == one for data in answers)]
    kinds = {"answer": "answers", "pair": "pairs", "critique": "critiques of critiques"}

    def people(domain: str, quality: str) -> Cell:
        scores = [float(one["score"]) for one in answers if one.get("score") is not None
                  and one["domain"] == domain and quality in (TOTAL, one["quality"])]  # fmt: skip
        return Cell(value=float(np.mean(scores)) if scores else math.nan, n=len(scores))

    return SetDescription(
        tables=(
            SetTable(
                title="People’s scores of the answers, 1 to 7", paper="CriticBench, Figure 4",
                head="domain", columns=(*(_QUALITIES[one] for one in here), TOTAL),
                rows=tuple((domain.replace("_", " "),
                            tuple(people(domain, one) for one in (*here, TOTAL)))
                           for domain in domains),
                unit="mean", note="Columns are the quality that the benchmark gives an answer.",
            ),
            _counts("What the set holds", "CriticBench, Table 7", "domain",
                    [*kinds.values(), "answers with a correction"],
                    [(domain.replace("_", " "), [
                        *(sum((one["kind"], one["domain"]) == (kind, domain) for one in items)
                          for kind in kinds),
                        sum(bool(one.get("corrected")) and one["domain"] == domain
                            for one in answers),
                    ]) for domain in domains], apart=False),
        ),
        spreads=tuple(
            _of_scores([float(one["score"]) for one in answers
                        if one["quality"] == quality and one.get("score") is not None],
                       _QUALITIES[quality])
            for quality in here
        ),
    )  # fmt: skip


def _of_scores(scores: Sequence[float], quality: str) -> Histogram:
    """Count scores from 1 to 7, a bin for each."""
    edges = tuple(at + 0.5 for at in range(8))
    counts = np.histogram(scores, edges)[0]
    return Histogram(
        title=f"People’s scores of answers of {quality} quality", paper="CriticBench, Figure 4",
        unit="points", edges=edges, counts=tuple(int(n) for n in counts),
        quartiles=_quartiles(scores),
    )  # fmt: skip


# --- shared -------------------------------------------------------------------------------------


def histogram(
    values: Sequence[float], title: str, paper: str, *, unit: str = "words", note: str = ""
) -> Histogram:
    """Count values in bins of equal, whole width that hold all of them, 0 at an edge.

    Args:
        values: the values, whole numbers.
        title: what is counted.
        paper: which figure of the paper shows the same.
        unit: of the values.
        note: what the reader should know.
    """
    low, high = (min(values), max(values)) if values else (0, 1)
    width = max(math.ceil((high - low + 1) / (_BINS - 1)), 1)
    first, last = math.floor(low / width), math.floor(high / width) + 1
    edges = tuple(float(width * at) for at in range(first, last + 1))
    counts = np.histogram(values, edges)[0]
    return Histogram(
        title=title, paper=paper, unit=unit, edges=edges, counts=tuple(int(n) for n in counts),
        quartiles=_quartiles(values), note=note,
    )  # fmt: skip


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    if not values:
        return math.nan, math.nan, math.nan
    low, mid, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return low, mid, high


def _present(names: Iterable[str]) -> list[str]:
    """Return names, the commonest first, then by the alphabet."""
    return [
        name for name, _ in sorted(Counter(names).items(), key=lambda each: (-each[1], each[0]))
    ]


def _counts(
    title: str,
    paper: str,
    head: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[int]]],
    note: str = "",
    apart: bool = True,
) -> SetTable:
    """Lay counts out, with sums below and, beside two columns that are `apart`, at the right."""
    beside = len(columns) > 1 and apart
    sums = [("all", [sum(each) for each in zip(*(cells for _, cells in rows), strict=True)])]
    if len(rows) < 2:
        sums = []
    return SetTable(
        title=title,
        paper=paper,
        head=head,
        columns=(*columns, TOTAL) if beside else tuple(columns),
        rows=tuple(
            (name, tuple(Cell(value=n, n=n) for n in ([*cells, sum(cells)] if beside else cells)))
            for name, cells in [*rows, *sums]
        ),
        note=note,
    )


_TOLD: Final[Mapping[str, Callable[[Datas], SetDescription]]] = {
    vl_rewardbench_data.NAME: _vlrb,
    multi_crit_bench.BENCH.name: _multi_crit,
    mm_critic_data.NAME: _mm_critic,
    critic_bench_bench.BENCH.name: _critic_bench,
}

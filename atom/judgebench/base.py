"""What the judge benchmarks share: items, how they're read, asked, measured and laid out.

A benchmark is a module with one `Bench` in `registry`. Nothing here calls a model or opens a store.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from atom.formats.base import ImportFile
from atom.formats.pictures import NoPictures, PictureData, PictureFinder
from atom.judge.request import PicturePart
from atom.judgebench.rates import Rate
from atom.judgebench.words import count
from atom.records import BenchItem, Sampling, Verdict
from atom.stages.verdicts import Worklist

Unit = Literal["percent", "points", "correlation", "difference", "words", "count"]


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """How a benchmark's files are read.

    Args:
        set_id: the set that the items will belong to.
        columns: our field's name → the file's column, for files that name things otherwise.
        pictures: finds pictures that rows name.
        limit: at most so many items.
    """

    set_id: str
    columns: Mapping[str, str] = field(default_factory=dict)
    pictures: PictureFinder = field(default_factory=NoPictures)
    limit: int | None = None


@dataclass(frozen=True, kw_only=True)
class LoadedItems:
    """What came of a benchmark's files.

    Args:
        items: the items, in the files' order, positions from 0.
        pictures: pictures that came along, each once.
        skipped: what was left out and why, a line each.
        notes: what the reader should know (traps met), a line each.
    """

    items: tuple[BenchItem, ...]
    pictures: tuple[PictureData, ...] = ()
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BenchPlan:
    """What a judge is asked.

    Args:
        items: its items, or some of them.
        pictures: gives an item's pictures as request parts, in order.
        judge: the judge's id.
        scorer: the id of whoever scores what the judge wrote; None = nobody does.
        sampling: how both are asked.
        votes: how often each question is put.
        parts: which of the benchmark's parts are asked; empty = its usual ones.
    """

    set_id: str
    items: Sequence[BenchItem]
    pictures: Callable[[BenchItem], tuple[PicturePart, ...]]
    judge: str
    scorer: str | None = None
    sampling: Sampling = field(default_factory=Sampling)
    votes: int = 1
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MetricRow:
    """One figure, with what is needed to believe it.

    Args:
        metric: its name, as published tables name it (`data/published`, column `metric`).
        label: what it is, in words.
        value: NaN when there is nothing to compute it from.
        lo: lower end of its 95 % interval; NaN without one.
        chance: what guessing gives; NaN where guessing has no level.
        n: items behind it.
        invalid: items of these whose reply couldn't be read.
        rule: how those are counted, where that matters: `strict` or `released`.
        unit: of value, interval and chance; percent = 0..100.
        group: the part of the data that it is of; empty = all of it.
        note: what the reader should know.
    """

    metric: str
    label: str
    value: float
    lo: float = math.nan
    hi: float = math.nan
    chance: float = math.nan
    n: int = 0
    invalid: int = 0
    rule: str = ""
    unit: Unit = "percent"
    group: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class MetricTable:
    """Figures that belong together, under a heading."""

    title: str
    rows: tuple[MetricRow, ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class BenchResult:
    """How one judge did on one set.

    Args:
        headline: the figures that come first.
        tables: the rest.
        items: items of the set that were looked at.
        verdicts: verdicts that were looked at.
        missing: items without any verdict.
    """

    headline: tuple[MetricRow, ...]
    tables: tuple[MetricTable, ...] = ()
    items: int = 0
    verdicts: int = 0
    missing: int = 0


@dataclass(frozen=True, kw_only=True)
class Replies:
    """Replies that were made elsewhere, read."""

    verdicts: tuple[Verdict, ...]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A judge benchmark.

    Args:
        name: as in commands and records, for example `vl_rewardbench`.
        title: as on screens.
        about: what it asks of a judge, one sentence.
        parts: what can be asked, in words by name; the first ones are usual.
        usual: parts that are asked when none are named.
        votes: how often each question is put, unless said otherwise.
        scored: parts that need a scorer.
        load: reads the benchmark's files.
        worklist: what is to be asked.
        measure: the figures, from one judge's verdicts.
        read_replies: reads replies that were made elsewhere: files, the set's items, the judge's
            name.
        pictured: whether every item is about a picture.
        later: counts the questions that build on answers that aren't there yet; None where their
            number hangs on what is said.
    """

    name: str
    title: str
    about: str
    parts: Mapping[str, str]
    usual: tuple[str, ...]
    votes: int
    scored: frozenset[str]
    load: Callable[[Sequence[ImportFile], LoadOptions], LoadedItems]
    worklist: Callable[[BenchPlan], Worklist]
    measure: Callable[[Sequence[BenchItem], Sequence[Verdict]], BenchResult]
    read_replies: Callable[[Sequence[ImportFile], Sequence[BenchItem], str], Replies]
    pictured: bool = False
    later: Callable[[BenchPlan, Mapping[str, Verdict]], int] | None = None

    def lacks_picture(self, item: BenchItem) -> bool:
        """Say whether a picture that an item is about isn't there: it can't be asked."""
        if any(slot.picture_id is None for slot in item.pictures):
            return True
        return self.pictured and not item.pictures


def without_picture_words(number: int) -> str:
    """Say that items are without a picture, and what helps."""
    verb = "isn't" if number == 1 else "aren't"
    return (
        f"{count(number, 'item')} without a picture {verb} asked about: take the set in again with "
        "the folder or zip file that holds the pictures (--pictures)"
    )


def rate_row(
    metric: str, label: str, rate: Rate, rule: str = "", *, group: str = "", note: str = ""
) -> MetricRow:
    """Lay a rate out that counts what couldn't be read as wrong."""
    return MetricRow(
        metric=metric,
        label=label,
        value=100 * rate.strict,
        lo=100 * rate.lo,
        hi=100 * rate.hi,
        chance=100 * rate.chance,
        n=rate.n,
        invalid=rate.invalid,
        rule=rule,
        group=group,
        note=note,
    )


def rate_rows(
    metric: str, label: str, rate: Rate, *, group: str = "", note: str = ""
) -> tuple[MetricRow, ...]:
    """Lay a rate out under both ways of counting what couldn't be read.

    Returns:
        Two rows where something couldn't be read, `strict` first; else one, without a rule.
    """
    strict = rate_row(metric, label, rate, "strict" if rate.invalid else "", group=group, note=note)
    if not rate.invalid:
        return (strict,)
    valid = replace(
        strict,
        value=100 * rate.valid_only,
        lo=100 * rate.valid_lo,
        hi=100 * rate.valid_hi,
        n=rate.n - rate.invalid,
        rule="readable only",
    )
    return (strict, valid)

"""The pairs behind a comparison: the list of shared samples, and one sample with both answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from atom.analysis.exact import snapped
from atom.analysis.intervals import Floats, Ints
from atom.display.csv_text import csv_text
from atom.records import Sample
from atom.store import Store
from atom.views.compare.page import Comparison, SamplePairs
from atom.views.compare.sides import ComparedSides, SideChoice
from atom.views.failures.marked import CheckpointView
from atom.views.failures.sample import AnswerView, CriterionView, SampleView, sample_view
from atom.views.filters import Filters
from atom.views.study_data import StudyData
from taxonomy import format_path

PAGE_SIZE = 25
EXCERPT = 140
Tab = Literal[
    "all",
    "second",
    "first",
    "fail",
    "first_fails",
    "second_fails",
    "first_right",
    "second_right",
    "both_right",
    "neither_right",
]
"""Which pairs: all, those where one side is better, where both or only one fail, or by who is
right."""
TABS: tuple[Tab, ...] = get_args(Tab)


@dataclass(frozen=True, kw_only=True)
class PairRow:
    """One shared sample in the list. Values are on 0-100.

    Attributes:
        question: its question, cut for the list.
        picture_id: its first picture's id; None while missing.
        picture_name: what the source calls its first picture; empty without a picture.
        first: the first side's value over what both have.
        second: the second side's.
        difference: first less second.
        first_right: whether the first side's final answer is right; None when not known.
        second_right: whether the second side's is.
        filters: where the row's door leads.
    """

    sample_id: str
    question: str
    picture_id: str | None
    picture_name: str
    first: float
    second: float
    difference: float
    first_right: bool | None
    second_right: bool | None
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class PairList:
    """A page of the list.

    Attributes:
        counts: how many pairs each tab has.
        equal: pairs with the same value on both sides.
        rows: at most `PAGE_SIZE`, the largest difference first.
        page: 0-based.
        pages: number of pages, at least 1.
        order: ids of all samples in the list.
    """

    tab: Tab
    counts: Mapping[Tab, int]
    equal: int
    rows: tuple[PairRow, ...]
    page: int
    pages: int
    total: int
    order: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PairMark:
    """One criterion on both answers."""

    criterion: CriterionView
    first: CheckpointView | None
    second: CheckpointView | None

    @property
    def difference(self) -> float | None:
        """First less second, in score points; None unless both are scored.

        Of a criterion that takes points away the other way round: up is better for the first.
        """
        scores = [mark.score if mark is not None else None for mark in (self.first, self.second)]
        if scores[0] is None or scores[1] is None:
            return None
        gap = scores[0] - scores[1]
        return -gap if self.criterion.penalty else gap


@dataclass(frozen=True, kw_only=True)
class PairView:
    """One sample with both answers.

    Attributes:
        sample: the sample as the first side's judge sees it.
        first: the first side's answer; None without one.
        second: the second side's.
        marks: the criteria, in the chain's order.
    """

    sample: SampleView
    first: AnswerView | None
    second: AnswerView | None
    marks: tuple[PairMark, ...]


def read_tab(text: str | None) -> Tab:
    """Read a tab's name; any other text means all."""
    return next((tab for tab in TABS if tab == text), "all")


def pair_list(
    store: Store,
    comparison: Comparison,
    filters: Filters,
    tab: Tab = "all",
    page: int | None = None,
) -> PairList:
    """List a page of the shared samples.

    Args:
        store: where questions are read from (only those on the page).
        filters: what the doors keep; `sample` is the chosen one.
        page: 0-based; the page of the chosen sample when None; one that doesn't exist gives the
            last.

    Returns:
        Pairs by |difference| x weight, the largest first, and of equal ones those where the first
        side is worse; where both fail, by the weight that both lose together.
    """
    pairs = comparison.pairs
    members = {name: _members(pairs, name) for name in TABS}
    chosen = members[tab]
    gap = pairs.first[chosen] - pairs.second[chosen]
    size = np.abs(gap)
    if tab == "fail":
        size = 2 - pairs.first[chosen] - pairs.second[chosen]
    size = size * pairs.weight[chosen]
    ranked = chosen[np.lexsort((chosen, gap, -snapped(size)))]
    order = tuple(pairs.sample_ids[at] for at in ranked)
    pages = max(1, math.ceil(len(order) / PAGE_SIZE))
    if page is None:
        page = order.index(filters.sample) // PAGE_SIZE if filters.sample in order else 0
    page = min(max(page, 0), pages - 1)
    here = ranked[page * PAGE_SIZE : (page + 1) * PAGE_SIZE]
    heads = {
        sample.id: sample for sample in store.get_many(Sample, [pairs.sample_ids[a] for a in here])
    }
    return PairList(
        tab=tab,
        counts={name: len(found) for name, found in members.items()},
        equal=len(members["all"]) - len(members["first"]) - len(members["second"]),
        rows=tuple(
            _row(pairs, filters, int(at), heads.get(pairs.sample_ids[int(at)])) for at in here
        ),
        page=page,
        pages=pages,
        total=len(order),
        order=order,
    )


def _members(pairs: SamplePairs, tab: Tab) -> Ints:
    shared = np.isfinite(pairs.first - pairs.second)
    known = shared & np.isfinite(pairs.first_right) & np.isfinite(pairs.second_right)
    right = pairs.first_right > 0, pairs.second_right > 0
    found = {
        "all": shared,
        "first": shared & (pairs.ahead > 0),
        "second": shared & (pairs.ahead < 0),
        "fail": pairs.both_fail,
        "first_fails": pairs.first_fails & ~pairs.second_fails,
        "second_fails": pairs.second_fails & ~pairs.first_fails,
        "first_right": known & right[0] & ~right[1],
        "second_right": known & ~right[0] & right[1],
        "both_right": known & right[0] & right[1],
        "neither_right": known & ~right[0] & ~right[1],
    }[tab]
    return np.flatnonzero(found)


def _row(pairs: SamplePairs, filters: Filters, at: int, sample: Sample | None) -> PairRow:
    slot = sample.pictures[0] if sample is not None and sample.pictures else None
    text = " ".join(sample.question.split()) if sample is not None else ""
    first, second = 100 * float(pairs.first[at]), 100 * float(pairs.second[at])
    return PairRow(
        sample_id=pairs.sample_ids[at],
        question=text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…",
        picture_id=slot.picture_id if slot else None,
        picture_name=slot.name if slot else "",
        first=first,
        second=second,
        difference=first - second,
        first_right=_known(pairs.first_right, at),
        second_right=_known(pairs.second_right, at),
        filters=filters.but(sample=pairs.sample_ids[at], criterion=None),
    )


def _known(value: Floats, at: int) -> bool | None:
    return None if math.isnan(value[at]) else bool(value[at] > 0)


# --- one pair ------------------------------------------------------------------------------------


def pair_view(
    store: Store,
    data: StudyData,
    filters: Filters,
    picked: ComparedSides,
    other: StudyData | None = None,
) -> PairView | None:
    """Read one sample with both answers.

    Args:
        data: the study, as the first side's judge sees it.
        filters: `sample`, and optionally `criterion`.
        picked: the two sides; of a side with several answers the first is shown.
        other: the study as the second side's judge sees it; None = the same judge.

    Returns:
        The view-model, or None when the study has no such sample.
    """
    mine = sample_view(store, data, filters.but(model=picked.first.model_id))
    theirs = mine if other is None else sample_view(store, other, filters)
    if mine is None or theirs is None:
        return None
    first, second = _answer_of(mine, picked.first), _answer_of(theirs, picked.second)
    there = {item.criterion.id: item for item in theirs.criteria}
    return PairView(
        sample=mine,
        first=first,
        second=second,
        marks=tuple(
            PairMark(
                criterion=item,
                first=_mark_of(item, first),
                second=_mark_of(there.get(item.criterion.id), second),
            )
            for item in mine.criteria
        ),
    )


def _answer_of(view: SampleView, side: SideChoice) -> AnswerView | None:
    mine = [one for one in view.answers if one.candidate.id == side.model_id]
    if side.answer is not None:
        mine = [one for one in mine if one.response.repeat == side.answer - 1]
    return mine[0] if mine else None


def _mark_of(item: CriterionView | None, answer: AnswerView | None) -> CheckpointView | None:
    if item is None or answer is None:
        return None
    return next(
        (
            mark
            for mark in item.marks
            if mark.checkpoint is not None and mark.checkpoint.response_id == answer.response.id
        ),
        None,
    )


# --- files ---------------------------------------------------------------------------------------


def nodes_csv(comparison: Comparison) -> str:
    """Write every capability (or label) with both means, the difference and its test, as CSV."""
    unit = "shared_samples" if comparison.facet else "shared_criteria"
    head = ("name", "group", "depth", unit, "samples", "first", "second", "first_score",
            "second_score", "difference", "low", "high", "p", "p_adjusted", "verdict")  # fmt: skip
    words = {"first": "first ahead", "second": "second ahead", "none": "not told apart",
             "thin": "too little evidence"}  # fmt: skip
    first, second = comparison.picked.first.label, comparison.picked.second.label
    return csv_text(
        head,
        (
            (
                node.name,
                format_path(node.path) if node.path else f"{node.label and node.label[0]}",
                node.depth,
                node.n,
                node.samples,
                first,
                second,
                *map(_number, (node.first, node.second, node.gap, node.lo, node.hi)),
                _number(node.p, 6),
                _number(node.adjusted, 6),
                words[node.verdict],
            )
            for node in comparison.nodes
        ),
    )


def pairs_csv(store: Store, comparison: Comparison) -> str:
    """Write every pair of the list with both values, as CSV."""
    pairs = comparison.pairs
    shared = _members(pairs, "all")
    heads = {
        sample.id: sample
        for sample in store.get_many(Sample, [pairs.sample_ids[at] for at in shared])
    }
    head = ("sample", "dataset", "source_id", "question", "first", "second", "first_score",
            "second_score", "difference", "weight", "first_right", "second_right")  # fmt: skip
    sides = comparison.picked.first.label, comparison.picked.second.label

    def row(at: int) -> tuple[str | int | float, ...]:
        name = pairs.sample_ids[at]
        sample = heads.get(name)
        values = 100 * float(pairs.first[at]), 100 * float(pairs.second[at])
        return (
            name,
            sample.dataset if sample else "",
            (sample.source_id or "") if sample else "",
            " ".join(sample.question.split()) if sample else "",
            *sides,
            *map(_number, (*values, values[0] - values[1])),
            _number(float(pairs.weight[at])),
            *(_number(float(side[at])) for side in (pairs.first_right, pairs.second_right)),
        )

    return csv_text(head, (row(int(at)) for at in shared))


def _number(value: float, digits: int = 3) -> int | float | str:
    return "" if math.isnan(value) else round(value, digits)

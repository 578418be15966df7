"""The items behind a figure of a judge benchmark, and one of them with all that judges said."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from atom.display.csv_text import csv_text
from atom.judgebench.base import BenchResult, MetricTable
from atom.judgebench.cards import Card
from atom.judgebench.items import ItemStanding, card_of, group_of, in_group, judged, one_way
from atom.records import BenchItem, BenchSet, Call, Verdict
from atom.store import Store
from atom.store.verdicts import items_of, verdicts_about, verdicts_on
from atom.views.lab.page import SCORER_PART, SHARED_PART

ItemFilter = Literal["all", "wrong", "torn", "unread", "marked", "right", "silent"]
SHOWN: Final[tuple[ItemFilter, ...]] = get_args(ItemFilter)
PAGE: Final = 40
"""Items on a page of the list."""
_ORDER: Final = {"wrong": 0, "unread": 1, "marked": 2, "right": 3, "silent": 4}


@dataclass(frozen=True, kw_only=True)
class ItemRow:
    """An item in the list.

    Attributes:
        item: as it is stored.
        card: laid open.
        found: where the judge stands on it.
    """

    item: BenchItem
    card: Card
    found: ItemStanding

    def counts_as(self, shown: ItemFilter) -> bool:
        """Whether it is among those that are asked for."""
        if shown == "torn":
            return self.found.torn
        return shown in ("all", self.found.standing)


Facet = tuple[str, str]
"""(what tells items apart, its word): `("Kind of error", "counting")`."""


@dataclass(frozen=True, kw_only=True)
class ItemList:
    """The items behind a figure.

    Attributes:
        rows: those that are asked for, the worst first.
        counts: how many there are of each kind, `all` included.
        facets: what tells the figure's items apart -> its words with how many items have each,
            those of the chosen kinds counted; only where there are two words to choose from.
        chosen: the words that every item has.
    """

    rows: tuple[ItemRow, ...]
    counts: Mapping[ItemFilter, int]
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    chosen: tuple[Facet, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ItemView:
    """One item.

    Attributes:
        row: the item, with where the chosen judge stands.
        judges: (judge's id, name, where it stands) of everybody who judged it.
        replies: call's id → the raw reply.
        before: the item before in the list; None at its begin.
        place: 1-based place in the list; 0 when it isn't in it.
        total: items in the list.
    """

    row: ItemRow
    judges: tuple[tuple[str, str, ItemStanding], ...]
    replies: Mapping[str, str]
    before: str | None
    after: str | None
    place: int
    total: int


def groups_of(store: Store, set_id: str, results: Iterable[BenchResult]) -> frozenset[str]:
    """Return the names of those figures whose items can be listed: at least one is there."""
    record = store.get(BenchSet, set_id)
    if record is None:
        return frozenset()
    cards = [card_of(record.benchmark, item) for item in items_of(store, [set_id])]
    named = {
        group_of(row, table.title)
        for result in results
        for table in (MetricTable(title="", rows=result.headline), *result.tables)
        for row in table.rows
    }
    return frozenset(group for group in named if any(in_group(card, group) for card in cards))


def item_list(
    everything: Sequence[ItemRow],
    group: str = "",
    shown: ItemFilter = "all",
    facets: Sequence[Facet] = (),
) -> ItemList:
    """List the items of a set that a figure is of.

    Args:
        everything: all items of the set, as `item_rows` reads them.
        group: the figure's items, as `judgebench.items.group_of` names them.
        shown: only those on which the judge stands so.
        facets: only items that have each of these words.
    """
    there = [row for row in everything if in_group(row.card, group)]
    rows = [row for row in there if set(facets) <= set(row.card.facets)]
    counts: Counter[ItemFilter] = Counter()
    for row in rows:
        counts[row.found.standing] += 1
        counts["torn"] += row.found.torn
    counts["all"] = len(rows)
    kept = sorted((row for row in rows if row.counts_as(shown)), key=_worst_first)
    return ItemList(
        rows=tuple(kept), counts=counts, facets=_facets(there, facets), chosen=tuple(facets)
    )


def _facets(rows: Sequence[ItemRow], chosen: Sequence[Facet]) -> dict[str, dict[str, int]]:
    """Count the items of each word that may be chosen, given what is chosen of other names."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        mine = set(row.card.facets)
        for name, word in mine:
            rest = {each for each in chosen if each[0] != name}
            found[name][word] += rest <= mine
    return {
        name: dict(sorted(words.items(), key=lambda each: (-each[1], each[0])))
        for name, words in sorted(found.items())
        if len(words) > 1
    }


def write_facets(facets: Iterable[Facet]) -> str:
    """Write chosen words for an address; empty without any."""
    return json.dumps([list(each) for each in facets], ensure_ascii=False) if facets else ""


def read_facets(text: str) -> tuple[Facet, ...]:
    """Read chosen words back from an address; anything else is nothing chosen."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    pairs = (
        [each for each in found if isinstance(each, list) and len(each) == 2]
        if isinstance(found, list)
        else []
    )
    return tuple((str(name), str(word)) for name, word in pairs)


def item_rows(store: Store, record: BenchSet, judge: str, order: str = "") -> tuple[ItemRow, ...]:
    """Read all items of a set, in their order, and where a judge stands on each.

    Args:
        judge: whose verdicts they are held against.
        order: only what it said when answers were shown so, `ab` or `ba`; empty = all.
    """
    said: dict[str, list[Verdict]] = defaultdict(list)
    about = verdicts_about(store, record.id, judge, scorer=SCORER_PART, shared=SHARED_PART)
    for one in one_way(about):
        if not order or one.order == order:
            said[one.subject_id].append(one)
    return tuple(
        ItemRow(
            item=item,
            card=card_of(record.benchmark, item),
            found=judged(record.benchmark, item, said.get(item.id, ())),
        )
        for item in items_of(store, [record.id])
    )


def _worst_first(row: ItemRow) -> tuple[int, bool, float, int]:
    apart = abs(row.found.apart) if row.found.apart is not None else 0.0
    return _ORDER[row.found.standing], not row.found.torn, -apart, row.item.position


def item_view(
    store: Store,
    record: BenchSet,
    listed: ItemList,
    item_id: str | None,
    names: Mapping[str, str],
) -> ItemView | None:
    """Open one item of a list; its first where none is named.

    Args:
        names: judge's id -> name, of everybody who may have judged it.

    Returns:
        The item with what every judge said; None where the list is empty or has no such item.
    """
    row = find_row(listed, item_id)
    if row is None:
        return None
    everything = verdicts_on(store, record.id, row.item.id)
    judges = tuple(
        (judge, name, judged(record.benchmark, row.item, _about(everything, judge)))
        for judge, name in names.items()
        if any(one.judge == judge for one in everything)
    )
    return laid_open(store, listed, row, judges)


def find_row(listed: ItemList, item_id: str | None) -> ItemRow | None:
    """Return a list's row of this id; the first where none is named, None where it isn't there."""
    rows = (row for row in listed.rows if item_id is None or row.item.id == item_id)
    return next(rows, None)


def laid_open(
    store: Store, listed: ItemList, row: ItemRow, judges: tuple[tuple[str, str, ItemStanding], ...]
) -> ItemView:
    """Put an item of a list together with what was said about it, and its neighbours.

    Args:
        row: the item, one of the list's.
        judges: (judge's id, name, where it stands) of everybody who judged it.
    """
    ids = [each.item.id for each in listed.rows]
    place = ids.index(row.item.id)
    said = [one for _, _, found in judges for one in found.said]
    calls = store.get_many(Call, {one.verdict.call_id for one in said if one.verdict.call_id})
    return ItemView(
        row=row,
        judges=judges,
        replies={call.id: call.reply for call in calls if call.reply},
        before=ids[place - 1] if place else None,
        after=ids[place + 1] if place + 1 < len(ids) else None,
        place=place + 1,
        total=len(ids),
    )


def _about(verdicts: Sequence[Verdict], judge: str) -> list[Verdict]:
    scored = f"{SCORER_PART}{judge}/"
    return [
        one
        for one in verdicts
        if one.part.startswith(scored)
        or (one.judge == judge and not one.part.startswith(SCORER_PART))
    ]


def items_csv(listed: ItemList, judge: str) -> str:
    """Write a list of items as CSV: a line for each thing that the judge said."""
    head = ("item", "question", "facets", "standing", "judge", "about", "said", "right", "apart",
            "order", "vote", "reason", "truth")  # fmt: skip
    lines: list[tuple[object, ...]] = []
    for row in listed.rows:
        shared = (row.item.id, row.card.question,
                  "; ".join(f"{name}: {word}" for name, word in row.card.facets),
                  row.found.standing, judge)  # fmt: skip
        truth = "; ".join(f"{name}: {word}" for name, word in row.card.truth)
        lines += [
            (*shared, one.about, one.words, "" if one.code is None else one.code,
             "" if one.apart is None else one.apart, one.verdict.order, one.verdict.repeat,
             one.reason or one.verdict.detail, truth)
            for one in row.found.said
        ] or [(*shared, "", "", "", "", "", "", "", truth)]  # fmt: skip
    return csv_text(head, lines)

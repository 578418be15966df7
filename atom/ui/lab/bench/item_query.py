"""Which items of a set are asked for, and in whose place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from atom.ui.lab.bench.sets import ALL_ITEMS
from atom.views.lab.items import (
    Facet,
    ItemFilter,
    ItemList,
    ItemRow,
    ItemView,
    write_facets,
)
from atom.views.stores import OpenStore

WORDS: Final[Mapping[ItemFilter, str]] = {
    "all": "All",
    "wrong": "Wrong",
    "torn": "Changes its mind",
    "unread": "Can't be read",
    "marked": "A mark, no right or wrong",
    "right": "Right",
    "silent": "Not asked",
}
"""What each choice of items is called."""


@dataclass(frozen=True, kw_only=True)
class ItemQuery:
    """Which items an address asks for.

    Attributes:
        group: the figure's items; empty = all.
        shown: only those on which the judge stands so.
        facets: only those that have each of these words.
        order: only what was said when answers were shown so.
        item: the one that is open; None = the first.
        who: the judge or method; empty = the chosen one.
    """

    group: str = ""
    shown: ItemFilter = "all"
    facets: tuple[Facet, ...] = ()
    order: str = ""
    item: str | None = None
    who: str = ""

    def address(self, base: str) -> str:
        """Write it behind an address that has no key of its own."""
        keys = {
            "group": self.group or ALL_ITEMS,
            "verdict": "" if self.shown == "all" else self.shown,
            "facet": write_facets(self.facets),
            "order": self.order,
            "item": self.item or "",
            "who": self.who,
        }
        return f"{base}&{urlencode({key: value for key, value in keys.items() if value})}"


@dataclass(frozen=True, kw_only=True)
class ItemsPlace:
    """Whose items are looked at, and where.

    Attributes:
        store: what holds pictures and calls.
        stem: how files of it are named.
        base: the address of its items, without keys of their own.
        figures: the address of the figures that they are behind.
        judges: (id, name) of every judge or method that can be chosen.
        judge: the chosen one's id.
        rows: reads all items with what a judge (by id) said, shown in an order.
        sample: the address of the sample that an item is made of; None where it is of none.
    """

    store: OpenStore
    stem: str
    base: str
    figures: str
    judges: tuple[tuple[str, str], ...]
    judge: str
    rows: Callable[[str, str], Sequence[ItemRow]]
    opened: Callable[[ItemList, str | None], ItemView | None]
    sample: Callable[[ItemRow], str] | None = None

    @property
    def name(self) -> str:
        """The chosen judge's name."""
        return dict(self.judges).get(self.judge, self.judge)

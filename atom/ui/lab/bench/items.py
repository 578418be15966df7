"""The items behind a figure of a judge benchmark: a list, and one laid open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from atom.display import numbers
from atom.records import BenchSet
from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.lab.bench.item import opened
from atom.ui.lab.bench.item_query import WORDS, ItemQuery, ItemsPlace
from atom.ui.lab.bench.sets import ALL_ITEMS, LabContext, set_address
from atom.ui.media import thumbnail
from atom.views.judges.figures import group_words
from atom.views.lab.items import (
    PAGE,
    SHOWN,
    Facet,
    ItemFilter,
    ItemList,
    ItemRow,
    ItemView,
    item_list,
    item_rows,
    item_view,
    items_csv,
    read_facets,
)
from atom.views.stores import OpenStore

_TIPS: Final[Mapping[ItemFilter, str]] = {
    "torn": "Two orders of showing, or two votes, say different things.",
    "marked": "Numbers beside people's: the farther apart, the earlier in the list.",
}
_STYLE: Final = el(
    "style", Html(".case .top .figure img { max-height: clamp(170px, 30vh, 340px); }")
)
_ORDER_WORDS: Final = {"": "Both orders", "ab": "Answer a first", "ba": "Answer b first"}
_MOST_WORDS: Final = 16
"""Words of one facet that are offered, the commonest."""
_ORDERS: Final = ("ab", "ba")


def wanted(query: Mapping[str, str]) -> bool:
    """Say whether an address asks for items rather than figures."""
    return "group" in query


def asked_of(query: Mapping[str, str], judge: str) -> ItemQuery:
    """Read which items an address asks for.

    Args:
        query: the address's own keys.
        judge: the chosen judge's id.
    """
    group, order = query.get("group", ""), query.get("order", "")
    return ItemQuery(
        group="" if group == ALL_ITEMS else group,
        shown=next((one for one in SHOWN if one == query.get("verdict")), "all"),
        facets=read_facets(query.get("facet", "")),
        order=order if order in _ORDERS else "",
        item=query.get("item"),
        who=judge,
    )


def draw(lab: LabContext, query: Mapping[str, str]) -> None:
    """Draw the items behind a figure of the chosen judge of a benchmark."""
    assert lab.chosen is not None
    store, record = lab.store, lab.record
    names = {one.judge: one.name for one in lab.judges}
    place = ItemsPlace(
        store=store,
        stem=f"{lab.bench.name}-{record.id[:8]}-items",
        base=set_address(lab.filters, record),
        figures=lab.address(),
        judges=tuple(names.items()),
        judge=lab.chosen.judge,
        rows=lambda judge, order: _rows(
            store.url, store.revision(), record.id, judge, order, record, store
        ),
        opened=lambda listed, item: item_view(store, record, listed, item, names),
    )
    draw_place(place, query)


def draw_place(place: ItemsPlace, query: Mapping[str, str]) -> None:
    """Draw the items that an address asks for: the list, and one of them laid open."""
    asked = asked_of(query, place.judge)
    rows = place.rows(place.judge, asked.order)
    listed = item_list(rows, asked.group, asked.shown, asked.facets)
    view = place.opened(listed, asked.item)
    kit.show(_head(place, asked, listed, _orders(place, rows)), key="items_head")
    if not listed.rows:
        words = "No item of this figure stands so; choose another verdict or clear a filter above."
        kit.show(kit.note(words), key="items_none")
        return
    if view is None:
        words = "The link names an item that isn't among these; the first one is open."
        kit.show(kit.notice(words), key="items_lost")
        view = place.opened(listed, None)
        assert view is not None
    both = (_listing(place, asked, listed, view), opened(place, asked, view))
    kit.show(el("div", _STYLE, *both, class_="split"), key="items_both")
    judge = place.name
    st.download_button("These items (CSV)", data=lambda: items_csv(listed, judge),
                       file_name=f"{place.stem}.csv", mime="text/csv", key="items_csv")  # fmt: skip


@st.cache_resource(show_spinner=False, max_entries=6)
def _rows(
    url: str,
    revision: int,
    set_id: str,
    judge: str,
    order: str,
    _record: BenchSet,
    _store: OpenStore,
) -> tuple[ItemRow, ...]:
    del url, revision, set_id
    return item_rows(_store, _record, judge, order)


def _orders(place: ItemsPlace, rows: Sequence[ItemRow]) -> bool:
    """Say whether answers were shown in more than one order, so that one can be asked for."""
    return any(
        one.verdict.order in _ORDERS
        for row in (rows or place.rows(place.judge, ""))
        for one in row.found.said
    )


def _head(place: ItemsPlace, asked: ItemQuery, listed: ItemList, ordered: bool) -> Html:
    n, wrong = listed.counts.get("all", 0), listed.counts.get("wrong", 0)
    right = listed.counts.get("right", 0)
    words = [group_words(asked.group), *(word for _, word in asked.facets)]
    part = ", ".join(group_words(word) for word in words if word)
    of = f" of {part}" if part else ""
    when = f" when answer {asked.order[0]} is shown first" if asked.order else ""
    told = (
        f"{place.name} is wrong on {wrong:,} of {numbers.count(n, 'item')}{of}{when}, and right on "
        f"{right:,}."
        if wrong + right
        else f"{numbers.count(n, 'item')}{of} with what {place.name} said{when}."
    )
    kinds = [one for one in SHOWN if one == "all" or listed.counts.get(one) or one == asked.shown]
    first = replace(asked, item=None)

    def door(words: str, on: bool, **changes: Any) -> tuple[str, str, bool]:
        return words, replace(first, **changes).address(place.base), on

    doors = [
        door(f"{WORDS[one]} {listed.counts.get(one, 0):,}", one == asked.shown, shown=one)
        for one in kinds
    ]
    others = [
        door(numbers.middle(name, 30), judge == place.judge, who=judge)
        for judge, name in place.judges
    ]
    orders = [
        door(words, order == asked.order, order=order) for order, words in _ORDER_WORDS.items()
    ]
    return el(
        "div",
        el("p", kit.door("‹ Figures", place.figures)),
        el("h2", told, class_="text", style="margin:0"),
        kit.tabs(doors, label="Where the judge stands"),
        kit.tabs(others, label="Judge") if len(place.judges) > 1 else None,
        kit.tabs(orders, label="Order of showing") if ordered else None,
        _facet_menus(place, first, listed),
        kit.note(_TIPS[asked.shown]) if asked.shown in _TIPS else None,
        style="display:flex;flex-direction:column;gap:10px;align-items:flex-start",
    )


def _facet_menus(place: ItemsPlace, asked: ItemQuery, listed: ItemList) -> Html | None:
    """Draw a row of words for each thing that tells items apart; chosen ones can be cleared."""
    if not listed.facets:
        return None
    held = dict(asked.facets)
    lines = []
    for name, words in listed.facets.items():
        rest = tuple(each for each in asked.facets if each[0] != name)

        def at(facets: tuple[Facet, ...]) -> str:
            return replace(asked, facets=facets).address(place.base)

        doors = [("any", at(rest), name not in held)] + [
            (f"{numbers.middle(group_words(word), 40)} {count:,}", at((*rest, (name, word))),
             held.get(name) == word)
            for word, count in [*words.items()][:_MOST_WORDS]
            if count or held.get(name) == word
        ]  # fmt: skip
        left = len(words) - _MOST_WORDS
        lines.append(
            el(
                "div",
                kit.small(f"{name}: "),
                kit.tabs(doors, label=name),
                kit.small(f"and {left:,} rarer") if left > 0 else None,
                class_="row",
            )
        )
    title = "Filter by " + ", ".join(name.lower() for name in listed.facets)
    if held:
        title += f" ({len(held):,} chosen)"
    return kit.fold(title, *lines, opened=bool(held))


def _listing(place: ItemsPlace, asked: ItemQuery, listed: ItemList, view: ItemView) -> Html:
    first = (max(view.place, 1) - 1) // PAGE * PAGE
    rows = listed.rows[first : first + PAGE]
    pages = -(-len(listed.rows) // PAGE)
    page = first // PAGE

    def to(row: ItemRow) -> str:
        return replace(asked, item=row.item.id).address(place.base)

    items = [_item(place.store, row, to(row), row.item.id == view.row.item.id) for row in rows]

    def at(number: int) -> str:
        return to(listed.rows[number * PAGE])

    pager = el(
        "div",
        kit.button("‹", at(max(page - 1, 0)), disabled=page == 0),
        f"page {page + 1:,} of {pages:,}",
        kit.button("›", at(min(page + 1, pages - 1)), disabled=page == pages - 1),
        class_="pager",
    ) if pages > 1 else None  # fmt: skip
    count = numbers.count(len(listed.rows), "item")
    return el(
        "div",
        kit.note(f"{count}, worst first", style="margin:0 0 4px 4px"),
        el("div", items, pager, class_="listing", data_scroll=True),
        class_="beside",
    )


def _item(store: OpenStore, row: ItemRow, href: str, on: bool) -> Html:
    slot = row.item.pictures[0] if row.item.pictures else None
    thumb = (
        thumbnail(store, row.item.id, slot.picture_id, slot.name)
        if slot is not None
        else el("span", "no picture", class_="nothumb")
    )
    apart = row.found.apart
    return el(
        "a",
        thumb,
        el("span", el("span", row.card.question or "(no question)", class_="lines")),
        el(
            "span",
            kit.badge(WORDS[row.found.standing]),
            kit.badge("changes its mind") if row.found.torn else None,
            kit.small(f"{numbers.signed(apart)} from people's") if apart else None,
            class_="across",
        ),
        href=href,
        data_go=True,
        class_="item on" if on else "item",
        aria_current="true" if on else None,
        data_reveal="1" if on else None,
    )

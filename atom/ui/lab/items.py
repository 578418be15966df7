"""The items behind a figure of a judge benchmark: a list, and one laid open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

import streamlit as st

from atom.display import numbers
from atom.judgebench.items import Judged, Said
from atom.records import BenchSet
from atom.ui import kit, picture
from atom.ui.html import Html, el
from atom.ui.lab.parts import ALL_ITEMS, LabContext, set_address
from atom.ui.media import media_address, thumbnail
from atom.views.judges.figures import group_words
from atom.views.lab.items import (
    PAGE,
    SHOWN,
    Facet,
    ItemList,
    ItemRow,
    ItemView,
    Shown,
    item_list,
    item_rows,
    item_view,
    items_csv,
    read_facets,
    write_facets,
)
from atom.views.pictures import read_picture
from atom.views.stores import OpenStore

_WORDS: Final[Mapping[Shown, str]] = {
    "all": "All",
    "wrong": "Wrong",
    "torn": "Changes its mind",
    "unread": "Can't be read",
    "marked": "A mark, no right or wrong",
    "right": "Right",
    "silent": "Not asked",
}
_TIPS: Final[Mapping[Shown, str]] = {
    "torn": "Two orders of showing, or two votes, say different things.",
    "marked": "Numbers beside people's: the farther apart, the earlier in the list.",
}
_STYLE: Final = el(
    "style", Html(".case .top .figure img { max-height: clamp(170px, 30vh, 340px); }")
)
_ORDER_WORDS: Final = {"": "Both orders", "ab": "Answer a first", "ba": "Answer b first"}
_ORDERS: Final = ("ab", "ba")
_MOST_WORDS: Final = 16
"""Words of one facet that are offered, the commonest."""
_MOST_BESIDE: Final = 6
_LONG_NAME: Final = 34
_COLUMNS: Final = "display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:14px"
_CODES: Final = {1: ("✓", "right"), 0: ("✗", "wrong"), -1: ("?", "can't be read")}


@dataclass(frozen=True, kw_only=True)
class Asked:
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
    shown: Shown = "all"
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


def wanted(query: Mapping[str, str]) -> bool:
    """Say whether an address asks for items rather than figures."""
    return "group" in query


def asked_of(query: Mapping[str, str], judge: str) -> Asked:
    """Read which items an address asks for.

    Args:
        query: the address's own keys.
        judge: the chosen judge's id.
    """
    group, order = query.get("group", ""), query.get("order", "")
    return Asked(
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
    both = (_listing(place, asked, listed, view), _opened(place, asked, view))
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


def _head(place: ItemsPlace, asked: Asked, listed: ItemList, ordered: bool) -> Html:
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
        door(f"{_WORDS[one]} {listed.counts.get(one, 0):,}", one == asked.shown, shown=one)
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


def _facet_menus(place: ItemsPlace, asked: Asked, listed: ItemList) -> Html | None:
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


def _listing(place: ItemsPlace, asked: Asked, listed: ItemList, view: ItemView) -> Html:
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
            kit.badge(_WORDS[row.found.standing]),
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


def _opened(place: ItemsPlace, asked: Asked, view: ItemView) -> Html:
    card = view.row.card
    number = view.row.item.position + 1

    def to(item: str | None) -> str:
        return replace(asked, item=item).address(place.base)

    step = el(
        "nav",
        kit.button("‹ Previous", to(view.before), disabled=view.before is None),
        kit.small(f"{view.place:,} of {view.total:,}"),
        kit.button("Next ›", to(view.after), disabled=view.after is None),
        class_="row",
        aria_label="Items",
    )
    facets = " · ".join(f"{name}: {word}" for name, word in card.facets)
    return el(
        "article",
        step,
        el("h2", f"Item {number}", style="margin:0"),
        el("p", facets, class_="quiet small text") if facets else None,
        el("p", card.question, class_="text strong"),
        el("p", kit.door("Open this sample in Failures", place.sample(view.row)))
        if place.sample is not None
        else None,
        el("div", _pictures(place.store, view),
           _truth(view),
           class_="top"),
        _side_by_side(view),
        [_judge(name, found, view, on=judge == place.judge) for judge, name, found in view.judges],
        None if not card.texts else kit.section("What was judged",
           el("div", [el("div", el("p", heading, class_="strong small"),
                         kit.said(text, lights=False)) for heading, text in card.texts],
              style=_COLUMNS)),
        class_="case",
    )  # fmt: skip


def _truth(view: ItemView) -> Html | None:
    """Draw what is right; long names stand above their words, not beside them."""
    pairs = view.row.card.truth
    if not pairs:
        return None
    shown = [
        (name, kit.said(words, lights=False) if len(words) > 90 else words) for name, words in pairs
    ]
    if max(len(name) for name, _ in pairs) > _LONG_NAME:
        lines = [el("li", el("span", name, class_="quiet text"), el("div", words, class_="text"))
                 for name, words in shown]  # fmt: skip
        body = el("ol", lines, class_="small", style="margin:0;padding-left:18px")
    else:
        body = el("dl", [(el("dt", name), el("dd", words, class_="text")) for name, words in shown],
                  class_="pairs")  # fmt: skip
    return kit.section("What is true", body)


def _side_by_side(view: ItemView) -> Html | None:
    """Draw what every judge said of each thing that was asked: things by judges."""
    if len(view.judges) < 2:
        return None
    truth = dict(view.row.card.truth)
    said = {name: _by_about(found.said) for _, name, found in view.judges}
    abouts = [*dict.fromkeys(about for mine in said.values() for about in mine)]
    known = any(about in truth for about in abouts)

    def votes(mine: Mapping[str, Sequence[Said]], about: str) -> Html:
        return el("span", _votes(mine.get(about, ())), class_="text")

    return kit.section(
        "Judges side by side",
        kit.grid(
            abouts,
            kit.Column("About", lambda about: el("span", about, class_="text")),
            kit.Column(
                "True", lambda about: el("span", truth.get(about, ""), class_="text"), when=known
            ),
            *(
                kit.Column(
                    el("span", numbers.middle(name, 24), data_tip=name), partial(votes, mine)
                )
                for name, mine in said.items()
            ),
            label="What every judge said",
        ),
    )


def _by_about(said: Sequence[Said]) -> dict[str, list[Said]]:
    found: dict[str, list[Said]] = {}
    for one in said:
        found.setdefault(one.about, []).append(one)
    return found


def _votes(said: Sequence[Said]) -> str:
    """Write a judge's votes on one thing: `a ✓, b ✗`, each word once with its number."""
    counts: dict[str, int] = {}
    for one in said:
        sign = _CODES[one.code][0] if one.code in _CODES else ""
        apart = f"({numbers.signed(one.apart)})" if one.apart and not sign else ""
        words = " ".join(part for part in (one.words or numbers.NONE, sign, apart) if part)
        counts[words] = counts.get(words, 0) + 1
    return ", ".join(f"{words} ×{n}" if n > 1 else words for words, n in counts.items())


def _pictures(store: OpenStore, view: ItemView) -> Html | None:
    drawn = []
    for number, slot in enumerate(view.row.item.pictures):
        file = None if slot.picture_id is None else read_picture(store, slot.picture_id)
        source = media_address(file, f"item.{view.row.item.id}.{number}")
        name = slot.name or f"picture {number + 1}"
        drawn.append(
            picture.picture(source, name, (), None)
            if source
            else el("p", f"{name} isn't in the store: take the set in again with its pictures.",
                    class_="note text")
        )  # fmt: skip
    if not drawn:
        return None
    return el("div", drawn, style="display:flex;flex-wrap:wrap;gap:12px")


def _judge(name: str, found: Judged, view: ItemView, *, on: bool) -> Html:
    head = el(
        "h2",
        el("span", name, class_="text"),
        kit.quiet(f" · {_WORDS[found.standing].lower()}"),
    )
    asked = [(one, view.replies.get(one.verdict.call_id or "")) for one in found.said]
    replies = [(one, text) for one, text in asked if text]
    return el(
        "section",
        head,
        kit.grid(
            found.said,
            kit.Column("About", lambda one: el("span", one.about, class_="text")),
            kit.Column(
                "Said", lambda one: el("span", one.words or numbers.NONE, class_="strong text")
            ),
            kit.Column("", _right),
            kit.Column(
                "Shown",
                lambda one: el(
                    "span", _shown(one), class_="quiet small", style="white-space:nowrap"
                ),
            ),
            kit.Column("Why", _why, width="48%"),
            label=f"What {name} said",
        ),
        _beside(name, found, view) if on else None,
        kit.fold(
            "Raw replies",
            [
                el("div", el("p", _where(one), class_="quiet small"), kit.said(text, lights=False))
                for one, text in replies
            ],
        )
        if replies and on
        else None,
    )


def _beside(name: str, found: Judged, view: ItemView) -> Html | None:
    """Draw what a judge wrote beside the reference of the same."""
    pairs = [
        (one, heading, text)
        for one in found.said
        for about, heading, text in view.row.card.beside
        if one.about == about and one.verdict.text.strip()
    ]
    if not pairs:
        return None
    blocks = [
        el(
            "div",
            el("div", el("p", f"{name}, {one.about}", class_="strong small"),
               kit.said(one.verdict.text, lights=False)),
            el("div", el("p", heading, class_="strong small"), kit.said(text, lights=False)),
            style=_COLUMNS,
        )
        for one, heading, text in pairs[:_MOST_BESIDE]
    ]  # fmt: skip
    return el("div", el("p", "Beside the reference", class_="strong"), blocks)


def _right(one: Said) -> Html:
    """Draw whether a judge was right, or how far it was off."""
    sign, word = _CODES.get(one.code, ("", "")) if one.code is not None else ("", "")
    apart = "" if one.apart is None else f"{numbers.signed(one.apart)} from {_from_whom(one)}"
    return el(
        "span",
        f"{sign} {word}".strip() or apart,
        style="white-space:nowrap",
        data_tip=apart if sign and apart else None,
    )


def _why(one: Said) -> Html:
    why = one.reason or one.verdict.detail
    return kit.said(why, lights=False) if len(why) > 220 else el("span", why, class_="text small")


def _from_whom(one: Said) -> str:
    return "people's" if one.code is None else "the truth"


def _shown(one: Said) -> str:
    order = {"ab": "a first", "ba": "b first"}.get(one.verdict.order, one.verdict.order)
    vote = f"vote {one.verdict.repeat + 1}"
    return f"{order}, {vote}" if order else vote


def _where(one: Said) -> str:
    return f"{one.about}, {_shown(one)}"

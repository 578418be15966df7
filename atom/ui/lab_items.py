"""The items behind a figure of a judge benchmark: a list, and one laid open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from atom.judgebench.items import Judged, Said
from atom.records import BenchSet
from atom.ui import kit, numbers, picture
from atom.ui.html import Html, el
from atom.ui.judge_lab_parts import ALL_ITEMS, LabContext, group_words, items_address
from atom.ui.media import media_address, thumbnail
from atom.views.lab_items import (
    PAGE,
    SHOWN,
    ItemList,
    ItemRow,
    ItemView,
    Shown,
    item_list,
    item_rows,
    item_view,
    items_csv,
)
from atom.views.pictures import read_picture
from atom.views.shelf import OpenStore

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
_CODES: Final = {1: ("✓", "right"), 0: ("✗", "wrong"), -1: ("?", "can't be read")}


def wanted(query: Mapping[str, str]) -> bool:
    """Say whether an address asks for items rather than figures."""
    return "group" in query


def draw(lab: LabContext, query: Mapping[str, str]) -> None:
    """Draw the items behind a figure of the chosen judge."""
    assert lab.chosen is not None
    group = "" if query.get("group") == ALL_ITEMS else query.get("group", "")
    asked = query.get("verdict", "all")
    shown: Shown = next((one for one in SHOWN if one == asked), "all")
    store, record = lab.store, lab.record
    rows = _rows(store.url, store.revision(), record.id, lab.chosen.judge, record, store)
    listed = item_list(rows, group, shown)
    names = {one.judge: one.name for one in lab.judges}
    view = item_view(store, record, listed, query.get("item"), names)
    kit.show(_head(lab, group, shown, listed), key="items_head")
    if not listed.rows:
        words = "No item of this figure stands so; choose another verdict above."
        kit.show(el("p", words, class_="note"), key="items_none")
        return
    if view is None:
        words = "The link names an item that isn't among these; the first one is open."
        kit.show(kit.notice(words), key="items_lost")
        view = item_view(store, record, listed, None, names)
        assert view is not None
    both = (_listing(lab, group, shown, listed, view), _opened(lab, group, shown, view))
    kit.show(el("div", _STYLE, *both, class_="split"), key="items_both")
    stem = f"{lab.bench.name}-{lab.record.id[:8]}-items"
    judge = lab.chosen.name
    st.download_button("These items (CSV)", data=lambda: items_csv(listed, judge),
                       file_name=f"{stem}.csv", mime="text/csv", key="items_csv")  # fmt: skip


@st.cache_resource(show_spinner=False, max_entries=6)
def _rows(
    url: str, revision: int, set_id: str, judge: str, _record: BenchSet, _store: OpenStore
) -> tuple[ItemRow, ...]:
    del url, revision, set_id
    return item_rows(_store, _record, judge)


def _head(lab: LabContext, group: str, shown: Shown, listed: ItemList) -> Html:
    assert lab.chosen is not None
    n, wrong = listed.counts.get("all", 0), listed.counts.get("wrong", 0)
    right = listed.counts.get("right", 0)
    of = f" of {group_words(group)}" if group else ""
    told = (
        f"{lab.chosen.name} is wrong on {wrong:,} of {numbers.count(n, 'item')}{of}, and right on "
        f"{right:,}."
        if wrong + right
        else f"{numbers.count(n, 'item')}{of} with what {lab.chosen.name} said."
    )
    kinds = [one for one in SHOWN if one == "all" or listed.counts.get(one) or one == shown]
    doors = (
        (
            f"{_WORDS[one]} {listed.counts.get(one, 0):,}",
            items_address(lab, group, one),
            one == shown,
        )
        for one in kinds
    )
    others = (
        (
            numbers.middle(one.name, 30),
            items_address(lab, group, shown, who=one.judge),
            one == lab.chosen,
        )
        for one in lab.judges
    )
    return el(
        "div",
        el("p", kit.door("‹ Figures", lab.address())),
        el("h2", told, class_="text", style="margin:0"),
        kit.tabs(doors, label="Where the judge stands"),
        kit.tabs(others, label="Judge") if len(lab.judges) > 1 else None,
        el("p", _TIPS[shown], class_="note") if shown in _TIPS else None,
        style="display:flex;flex-direction:column;gap:10px;align-items:flex-start",
    )


def _listing(lab: LabContext, group: str, shown: Shown, listed: ItemList, view: ItemView) -> Html:
    first = (max(view.place, 1) - 1) // PAGE * PAGE
    rows = listed.rows[first : first + PAGE]
    pages = -(-len(listed.rows) // PAGE)
    page = first // PAGE
    items = [
        _item(
            lab, row, items_address(lab, group, shown, row.item.id), row.item.id == view.row.item.id
        )
        for row in rows
    ]

    def at(number: int) -> str:
        return items_address(lab, group, shown, listed.rows[number * PAGE].item.id)

    pager = el(
        "div",
        kit.button("‹", at(max(page - 1, 0)), disabled=page == 0),
        f"page {page + 1} of {pages}",
        kit.button("›", at(min(page + 1, pages - 1)), disabled=page == pages - 1),
        class_="pager",
    ) if pages > 1 else None  # fmt: skip
    count = numbers.count(len(listed.rows), "item")
    return el(
        "div",
        el("p", f"{count}, worst first", class_="note", style="margin:0 0 4px 4px"),
        el("div", items, pager, class_="listing", data_scroll=True),
        class_="beside",
    )


def _item(lab: LabContext, row: ItemRow, href: str, on: bool) -> Html:
    slot = row.item.pictures[0] if row.item.pictures else None
    thumb = (
        thumbnail(lab.store, row.item.id, slot.picture_id, slot.name)
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
            el("span", f"{apart:+g} from people's", class_="quiet small") if apart else None,
            class_="across",
        ),
        href=href,
        data_go=True,
        class_="item on" if on else "item",
        aria_current="true" if on else None,
        data_reveal="1" if on else None,
    )


def _opened(lab: LabContext, group: str, shown: Shown, view: ItemView) -> Html:
    card = view.row.card
    number = view.row.item.position + 1
    step = el(
        "nav",
        kit.button("‹ Previous", items_address(lab, group, shown, view.before or ""),
                   disabled=view.before is None),
        el("span", f"{view.place} of {view.total:,}", class_="quiet small"),
        kit.button("Next ›", items_address(lab, group, shown, view.after or ""),
                   disabled=view.after is None),
        class_="row",
        aria_label="Items",
    )  # fmt: skip
    facets = " · ".join(f"{name}: {word}" for name, word in card.facets)
    truth = [(el("dt", name), el("dd", kit.said(words, lights=False) if len(words) > 90 else words,
                                 class_="text")) for name, words in card.truth]  # fmt: skip
    return el(
        "article",
        step,
        el("h2", f"Item {number}", style="margin:0"),
        el("p", facets, class_="quiet small text") if facets else None,
        el("p", card.question, class_="text strong"),
        el("div", _pictures(lab, view),
           el("section", el("h2", "What is true"), el("dl", truth, class_="pairs"))
           if truth else None,
           class_="top"),
        [_judge(name, found, view, on=lab.chosen is not None and judge == lab.chosen.judge)
         for judge, name, found in view.judges],
        el("section", el("h2", "What was judged"),
           el("div", [el("div", el("p", heading, class_="strong small"),
                         kit.said(text, lights=False)) for heading, text in card.texts],
              style="display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));"
              "gap:14px")),
        class_="case",
    )  # fmt: skip


def _pictures(lab: LabContext, view: ItemView) -> Html | None:
    drawn = []
    for number, slot in enumerate(view.row.item.pictures):
        file = None if slot.picture_id is None else read_picture(lab.store, slot.picture_id)
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
    columns = [
        kit.Column(title="About"),
        kit.Column(title="Said"),
        kit.Column(title=""),
        kit.Column(title="Shown"),
        kit.Column(title="Why", width="48%"),
    ]
    head = el(
        "h2",
        el("span", name, class_="text"),
        el("span", f" · {_WORDS[found.standing].lower()}", class_="quiet"),
    )
    asked = [(one, view.replies.get(one.verdict.call_id or "")) for one in found.said]
    replies = [(one, text) for one, text in asked if text]
    return el(
        "section",
        head,
        kit.table(columns, [_said(one) for one in found.said], label=f"What {name} said",
                  tight=True),
        kit.fold("Raw replies", [el("div", el("p", _where(one), class_="quiet small"),
                                    kit.said(text, lights=False)) for one, text in replies])
        if replies and on
        else None,
    )  # fmt: skip


def _said(one: Said) -> kit.Row:
    sign, word = _CODES.get(one.code, ("", "")) if one.code is not None else ("", "")
    apart = "" if one.apart is None else f"{one.apart:+g} from people's"
    why = one.reason or one.verdict.detail
    return kit.Row(
        cells=[
            el("span", one.about, class_="text"),
            el("span", one.words or numbers.NONE, class_="strong text"),
            el("span", f"{sign} {word}".strip() or apart, style="white-space:nowrap"),
            el("span", _shown(one), class_="quiet small", style="white-space:nowrap"),
            kit.said(why, lights=False) if len(why) > 220 else el("span", why, class_="text small"),
        ]
    )


def _shown(one: Said) -> str:
    order = {"ab": "a first", "ba": "b first"}.get(one.verdict.order, one.verdict.order)
    vote = f"vote {one.verdict.repeat + 1}"
    return f"{order}, {vote}" if order else vote


def _where(one: Said) -> str:
    return f"{one.about}, {_shown(one)}"

"""An item laid open: its question and pictures, and what each judge said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from atom.display import numbers
from atom.judgebench.cards import JudgeRemark
from atom.judgebench.items import ItemStanding
from atom.ui import kit, picture
from atom.ui import said as ui_said
from atom.ui.html import Html, el
from atom.ui.lab.bench.item_query import WORDS, ItemQuery, ItemsPlace
from atom.ui.media import media_address
from atom.views.lab.items import (
    ItemView,
)
from atom.views.pictures import read_picture
from atom.views.stores import OpenStore

_MOST_BESIDE: Final = 6


_LONG_NAME: Final = 34


_COLUMNS: Final = "display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:14px"


_CODES: Final = {1: ("✓", "right"), 0: ("✗", "wrong"), -1: ("?", "can't be read")}


def opened(place: ItemsPlace, asked: ItemQuery, view: ItemView) -> Html:
    """Draw an item in full."""
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
                         ui_said.said(text, lights=False)) for heading, text in card.texts],
              style=_COLUMNS)),
        class_="case",
    )  # fmt: skip


def _truth(view: ItemView) -> Html | None:
    """Draw what is right; long names stand above their words, not beside them."""
    pairs = view.row.card.truth
    if not pairs:
        return None
    shown = [
        (name, ui_said.said(words, lights=False) if len(words) > 90 else words)
        for name, words in pairs
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

    def votes(mine: Mapping[str, Sequence[JudgeRemark]], about: str) -> Html:
        return el("span", _votes(mine.get(about, ())), class_="text")

    return kit.section(
        "Judges side by side",
        kit.grid(
            abouts,
            kit.MarkupColumn("About", lambda about: el("span", about, class_="text")),
            kit.MarkupColumn(
                "True", lambda about: el("span", truth.get(about, ""), class_="text"), when=known
            ),
            *(
                kit.MarkupColumn(
                    el("span", numbers.middle(name, 24), data_tip=name), partial(votes, mine)
                )
                for name, mine in said.items()
            ),
            label="What every judge said",
        ),
    )


def _by_about(said: Sequence[JudgeRemark]) -> dict[str, list[JudgeRemark]]:
    found: dict[str, list[JudgeRemark]] = {}
    for one in said:
        found.setdefault(one.about, []).append(one)
    return found


def _votes(said: Sequence[JudgeRemark]) -> str:
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


def _judge(name: str, found: ItemStanding, view: ItemView, *, on: bool) -> Html:
    head = el(
        "h2",
        el("span", name, class_="text"),
        kit.quiet(f" · {WORDS[found.standing].lower()}"),
    )
    asked = [(one, view.replies.get(one.verdict.call_id or "")) for one in found.said]
    replies = [(one, text) for one, text in asked if text]
    return el(
        "section",
        head,
        kit.grid(
            found.said,
            kit.MarkupColumn("About", lambda one: el("span", one.about, class_="text")),
            kit.MarkupColumn(
                "Said", lambda one: el("span", one.words or numbers.NONE, class_="strong text")
            ),
            kit.MarkupColumn("", _right),
            kit.MarkupColumn(
                "Shown",
                lambda one: el(
                    "span", _shown(one), class_="quiet small", style="white-space:nowrap"
                ),
            ),
            kit.MarkupColumn("Why", _why, width="48%"),
            label=f"What {name} said",
        ),
        _beside(name, found, view) if on else None,
        kit.fold(
            "Raw replies",
            [
                el(
                    "div",
                    el("p", _where(one), class_="quiet small"),
                    ui_said.said(text, lights=False),
                )
                for one, text in replies
            ],
        )
        if replies and on
        else None,
    )


def _beside(name: str, found: ItemStanding, view: ItemView) -> Html | None:
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
               ui_said.said(one.verdict.text, lights=False)),
            el("div", el("p", heading, class_="strong small"), ui_said.said(text, lights=False)),
            style=_COLUMNS,
        )
        for one, heading, text in pairs[:_MOST_BESIDE]
    ]  # fmt: skip
    return el("div", el("p", "Beside the reference", class_="strong"), blocks)


def _right(one: JudgeRemark) -> Html:
    """Draw whether a judge was right, or how far it was off."""
    sign, word = _CODES.get(one.code, ("", "")) if one.code is not None else ("", "")
    apart = "" if one.apart is None else f"{numbers.signed(one.apart)} from {_from_whom(one)}"
    return el(
        "span",
        f"{sign} {word}".strip() or apart,
        style="white-space:nowrap",
        data_tip=apart if sign and apart else None,
    )


def _why(one: JudgeRemark) -> Html:
    why = one.reason or one.verdict.detail
    return (
        ui_said.said(why, lights=False) if len(why) > 220 else el("span", why, class_="text small")
    )


def _from_whom(one: JudgeRemark) -> str:
    return "people's" if one.code is None else "the truth"


def _shown(one: JudgeRemark) -> str:
    order = {"ab": "a first", "ba": "b first"}.get(one.verdict.order, one.verdict.order)
    vote = f"vote {one.verdict.repeat + 1}"
    return f"{order}, {vote}" if order else vote


def _where(one: JudgeRemark) -> str:
    return f"{one.about}, {_shown(one)}"

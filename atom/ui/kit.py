"""Pieces that every screen is made of.

Each returns markup (`Html`); `show` puts it on the page. Every mark is a door where it can be: an
address inside the app, followed without loading anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import streamlit as st

from atom.display import numbers
from atom.display import table as display
from atom.display.facts import Facts
from atom.errors import AtomError
from atom.ui.html import Attribute, Child, Html, el, join
from atom.ui.links import read_address
from atom.ui.shell.glossary import meaning
from atom.views.figures import COLOURS

R = TypeVar("R")
T = TypeVar("T")
ASSETS = Path(__file__).parent / "assets"
GREY = "#9AA3AE"
GO = "atom_go"
HERE = "atom_here"
_LONG_FACT = 400
"""Letters of a sentence that may be cut (`ul.facts a` shows five lines)."""
_CODE = re.compile(r"`([^`\n]+)`")
_CALL = "export default (component) => window.atomscopeMarkup(component);"


@cache
def _component() -> Any:
    # Streamlit sends a component's script and styles with each piece of markup: they stand in the
    # page itself, once.
    return st.components.v2.component("atomscope.markup", js=_CALL, html="")


def show(markup: Html, *, key: str, act: Callable[[str], None] | None = None) -> None:
    """Put markup on the page.

    Args:
        markup: what `el` and the pieces here made.
        key: unique on the page and the same in every run, so that the piece stays in place.
        act: does what a button (`data-act`) or a field (`data-say`) in it asks for.
    """

    def acted() -> None:
        state = st.session_state.get(key)
        asked = state.get("act") if state is not None else None
        if act is not None and isinstance(asked, str):
            act(asked)

    def moved() -> None:
        state = st.session_state.get(key)
        target = state.get("go") if state is not None else None
        if isinstance(target, str):
            go(target)

    _component()(data={"html": str(markup)}, key=key, on_go_change=moved, on_act_change=acted)


def go(target: str) -> None:
    """Move to an address inside the app; call it from a callback.

    A move on the same screen changes the query at once; the frame makes any other.
    """
    move = read_address(target)
    if move is None:
        return
    page, query = move
    if page == st.session_state.get(HERE):
        st.query_params.from_dict(query)
    else:
        st.session_state[GO] = (page, query)


# --- words -------------------------------------------------------------------------------------


def door(label: Child, href: str, *, tip: str | None = None, **attributes: Attribute) -> Html:
    """Make a link inside the app."""
    return el("a", label, href=href, data_go=True, data_tip=tip, **attributes)


def cell(label: Child, href: str, *, tip: str | None = None, **attributes: Attribute) -> Html:
    """Make a link that fills its table's cell."""
    return door(label, href, class_="cell", tip=tip, **attributes)


def counted(
    number: int, href: str | None = None, *, tip: str | None = None, **attributes: Attribute
) -> Html:
    """Write how many there are, each with what opens them; a quiet 0 where there are none."""
    if not number:
        return quiet("0")
    if href is None:
        return Html(f"{number:,}")
    return cell(f"{number:,}", href, tip=tip, **attributes)


def section(title: Child, *content: Child, **attributes: Attribute) -> Html:
    """Make a part of a screen under its heading."""
    return el("section", el("h2", title), *content, **attributes)


def note(*words: Child, **attributes: Attribute) -> Html:
    """Write what stands small under what it explains."""
    return el("p", *words, class_="note", **attributes)


def told(words: Child) -> Child:
    """Write a sentence of the program; what it has in backticks, such as a command, as code."""
    if not isinstance(words, str) or isinstance(words, Html):
        return words
    pieces = _CODE.split(words)
    return join(el("code", piece) if at % 2 else piece for at, piece in enumerate(pieces))


def lines(sentences: Iterable[str], *more: Child) -> Html:
    """List sentences of the program, in small letters."""
    return el("ul", [el("li", told(one), class_="text") for one in sentences], more, class_="small")


def strong(*words: Child) -> Html:
    """Write words that weigh more than those beside them."""
    return el("span", *words, class_="strong")


def quiet(words: Child, *, data_tip: str | None = None) -> Html:
    """Write words that weigh less than those beside them."""
    return el("span", words, class_="quiet", data_tip=data_tip)


def small(*words: Child) -> Html:
    """Write quiet words beside what they are of, in small letters."""
    return el("span", *words, class_="quiet small")


def under(*words: Child) -> Html:
    """Write quiet words under what they are of, in small letters."""
    return el("div", *words, class_="quiet small")


def fact(text: str, href: str) -> Html:
    """Make a line of `ul.facts`: a door; what foreign names make too long is whole in its tip."""
    return el("li", door(text, href, tip=text if len(text) > _LONG_FACT else None))


def button(label: str, href: str, *, primary: bool = False, disabled: bool = False) -> Html:
    """Make a door that looks like a button."""
    return el(
        "a",
        label,
        href=None if disabled else href,
        data_go=not disabled,
        class_="button primary" if primary else "button",
        aria_disabled="true" if disabled else None,
    )


def copy_button(label: str = "Copy link", text: str = "link") -> Html:
    """Make a button that copies a text; the page's own address as it comes."""
    return el("button", label, type="button", class_="plain", data_copy=text)


OWN_SCALE = "judge’s own scale"
"""What a newcomer reads for the term "judge-scale"."""


def term(word: str, label: str | None = None) -> Html:
    """Write a term with its meaning as a tooltip (from the glossary).

    Args:
        word: the term; it begins the tooltip where other words stand for it.
        label: plainer words in its place.
    """
    known = meaning(word)
    if known is None:
        return el("span", label or word)
    tip = known if label is None else f"{word}: {known}"
    return el("span", label or word, class_="term", tabindex="0", data_tip=tip)


def badge(text: str, tip: str | None = None) -> Html:
    """Write a badge, such as SYNTHETIC."""
    return el("span", text, class_="badge", data_tip=tip, tabindex="0" if tip else None)


def synthetic_badge() -> Html:
    """Say that a program made this study."""
    return badge(
        "SYNTHETIC", "Made by a program: drawn pictures, simulated models. Not a real measurement."
    )


Status = Literal["confirmed", "suspected", "insufficient", "nothing", "strength", "unscored",
                 "failed", "quarantined"]  # fmt: skip
_STATUS: dict[Status, tuple[str, str, str]] = {
    "confirmed": ("▼", "confirmed weakness", "weak"),
    "suspected": ("▽", "suspected", "weak"),
    "insufficient": ("○", "insufficient", ""),
    "nothing": ("·", "nothing found", ""),
    "strength": ("▲", "strength", "strong-at"),
    "unscored": ("∅", "unscored", ""),
    "failed": ("!", "failed", "weak"),
    "quarantined": ("⊘", "set aside", "weak"),
}


def status(kind: Status, words: str | None = None) -> Html:
    """Write a status: always a glyph and a word."""
    glyph, word, class_ = _STATUS[kind]
    return el(
        "span",
        el("span", glyph, class_="glyph", aria_hidden="true"),
        words or word,
        class_=f"status {class_}",
        data_tip=meaning(word),
    )


def along(lo: float, hi: float) -> Callable[[float], str]:
    """Return where a value stands between two ends, in percent of a drawing's width."""
    return lambda value: f"{100 * min(max((value - lo) / (hi - lo), 0), 1):.2f}%"


def colour(place: int, chosen: bool = True) -> str:
    """Return a candidate's colour by its place in the study; beyond eight only when chosen."""
    return COLOURS[place % len(COLOURS)] if chosen and place < len(COLOURS) else GREY


def model(name: str, place: int, *, full: str | None = None) -> Html:
    """Write a candidate's name with its colour.

    Args:
        name: what is written, perhaps shortened.
        place: its place in the study.
        full: its full name, for the tooltip.
    """
    dot = el("span", class_="dot", style=f"background:{colour(place)}", aria_hidden="true")
    return el("span", dot, el("span", name, class_="cut"), class_="model", title=full or name)


# --- tables ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MarkupColumn(Generic[R]):
    """A column of a table: its heading, and what a row has in it."""

    title: Child
    of: Callable[[R], Child]
    """Give each cell that opens something its own door."""
    _: KW_ONLY
    number: bool = False
    """Right-aligned."""
    width: str | None = None
    """CSS width."""
    slim: bool = False
    """As narrow as its content, centred."""
    broad: bool = False
    """Left out where the screen is narrow."""
    when: bool = True
    """Left out where it has nothing to say."""


def number(
    title: Child,
    of: Callable[[R], Child],
    *,
    width: str | None = None,
    broad: bool = False,
    when: bool = True,
) -> MarkupColumn[R]:
    """Make a column of numbers, right-aligned."""
    return MarkupColumn(title, of, number=True, width=width, broad=broad, when=when)


def each(
    things: Iterable[T], title: Callable[[T], Child], of: Callable[[R, T], Child]
) -> list[MarkupColumn[R]]:
    """Make a column of numbers for each of several things: branches, methods, rounds.

    Args:
        title: a thing's heading.
        of: what a row has under a thing.
    """

    def column(thing: T) -> MarkupColumn[R]:
        return number(title(thing), lambda row: of(row, thing))

    return [column(thing) for thing in things]


def _cell_class(column: MarkupColumn[R]) -> str | None:
    if column.broad:
        return "broad num" if column.number else "broad"
    return "num" if column.number else "slim" if column.slim else None


def grid(
    rows: Iterable[R],
    *columns: MarkupColumn[R],
    label: str,
    on: Callable[[R], bool] = lambda _: False,
    light: Callable[[R], str | None] = lambda _: None,
    tight: bool = True,
    most: int | None = None,
) -> Html:
    """Draw a table.

    Args:
        rows: what it lists, top to bottom.
        columns: left to right.
        label: what the table shows, for screen readers.
        on: whether a row is the chosen one.
        light: a row's name that lights up wherever it is hovered or chosen.
        tight: less room between rows and columns.
        most: rows that stand open; further ones are folded away under them.
    """
    rows = list(rows)
    if most is not None and len(rows) > most:
        drawn = partial(grid, on=on, light=light, tight=tight)
        rest = drawn(rows[most:], *columns, label=f"{label}: the rest")
        return join(drawn(rows[:most], *columns, label=label),
                    fold(f"{len(rows) - most:,} more", rest))  # fmt: skip
    shown = [column for column in columns if column.when]
    head = [
        el("th", short(column.title),
           scope="col", class_=_cell_class(column),
           style=f"width:{column.width}" if column.width else None)
        for column in shown
    ]  # fmt: skip
    body = [
        el(
            "tr",
            [el("td", column.of(row), class_=_cell_class(column)) for column in shown],
            class_="on" if on(row) else None,
            aria_current="true" if on(row) else None,
            data_light=light(row),
        )
        for row in rows
    ]
    inner = el(
        "table",
        el("thead", el("tr", head)),
        el("tbody", body),
        class_="grid tight" if tight else "grid",
        aria_label=label,
    )
    return el("div", inner, class_="wide")


def drawn(
    values: display.Table[R],
    *,
    cells: Mapping[str, Callable[[R, str], Child]] | None = None,
    heads: Mapping[str, Child] | None = None,
    on: Callable[[R], bool] = lambda _: False,
    tight: bool = True,
) -> Html:
    """Draw a table that is declared once for every reader.

    Args:
        cells: by column's title, markup round a cell's text (a door, a bar); it is given the row
            and the text.
        heads: by column's title, markup in its place.
        on: whether a row is the chosen one.
        tight: less room between rows and columns.
    """
    round_, heads = cells or {}, heads or {}

    def column(one: display.Column[R]) -> MarkupColumn[R]:
        cell = round_.get(one.title)
        return MarkupColumn(
            heads.get(one.title, term(one.term, one.title) if one.term else one.title),
            one.text if cell is None else lambda row: cell(row, one.text(row)),
            number=one.number,
            broad=one.broad,
            width=one.width,
        )

    return grid(values.rows, *map(column, values.shown("screen")), label=values.label, on=on,
                tight=tight)  # fmt: skip


def facts(found: Facts) -> Html:
    """Draw facts: the sentence, what belongs beside it, the table folded away."""
    return el(
        "div",
        el("p", told(found.head), class_="strong text"),
        el("p", told(" ".join(found.more)), class_="quiet small text") if found.more else None,
        fold(found.table.label, drawn(found.table)) if found.table else None,
    )


def progress(done: int, total: int, label: str) -> Html:
    """Draw a bar of how much is done.

    Args:
        label: what is counted, for screen readers.
    """
    share = min(100 * done / total, 100.0) if total else 0.0
    return el(
        "div",
        el("i", style=f"width:{share:.1f}%"),
        class_="progress",
        role="progressbar",
        aria_valuenow=done,
        aria_valuemax=total,
        aria_label=label,
    )


def csv_link(text: str, name: str) -> Html:
    """Make a link that saves a table as CSV, without another request."""
    href = f"data:text/csv;charset=utf-8,{quote(text)}"
    return el("p", el("a", "Save as CSV", href=href, download=name), class_="small")


def short(text: Child, size: int = 44) -> Child:
    """Write a name that may be of any length, cut in its middle with the whole of it in the tip.

    Args:
        text: the name; markup and what isn't text stays as it is.
        size: characters that are shown at most.
    """
    if not isinstance(text, str) or isinstance(text, Html):
        return text
    cut = numbers.middle(text, size)
    return text if cut == text else el("span", cut, title=text)


def tabs(choices: Iterable[tuple[str, str, bool]], *, label: str) -> Html:
    """Draw a row of doors of which one is chosen: (text, address, chosen)."""
    return el(
        "nav",
        [
            el("a", short(text), href=href, data_go=True, aria_current="true" if chosen else None)
            for text, href, chosen in choices
        ],
        class_="tabs",
        aria_label=label,
    )


# --- words of models ---------------------------------------------------------------------------


def fold(title: Child, *content: Child, opened: bool = False) -> Html:
    """Fold content away behind a title."""
    return el(
        "details",
        el("summary", title),
        *content,
        class_="fold",
        open=opened,
        data_open="1" if opened else "0",
    )


# --- empty and broken --------------------------------------------------------------------------


def empty(what: str, next_: str, *doors: Html) -> Html:
    """Say what is missing and what to do next."""
    return el(
        "div",
        el("h2", what, style="margin:0"),
        el("p", told(next_), class_="quiet"),
        el("div", *doors, class_="row") if doors else None,
        class_="empty",
    )


def fault(error: AtomError | str, *doors: Html, title: str = "That didn't work") -> Html:
    """Show an error: what was given, what is allowed, what to do."""
    message = error.message if isinstance(error, AtomError) else error
    return el(
        "div",
        el("h2", title, style="margin:0"),
        el("p", told(message), class_="text"),
        el("div", *doors, class_="row") if doors else None,
        class_="fault",
        role="alert",
    )


def notice(text: Child) -> Html:
    """Show a quiet line that the reader should see."""
    return el("div", told(text), class_="notice", role="status")

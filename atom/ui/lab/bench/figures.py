"""A judge's figures on a set, beside what guessing gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from atom.display import numbers, writers
from atom.display.table import Table
from atom.judgebench.base import MetricRow, MetricTable
from atom.judgebench.items import group_of
from atom.ui import kit
from atom.ui.html import Child, Html, el, join
from atom.ui.lab.bench.sets import LabContext, items_address
from atom.views.judges import figures
from atom.views.judges.figures import (
    HEADLINE,
    JudgeFigure,
    chance,
    estimate,
    group_words,
    of_judges,
    of_table,
)
from atom.views.lab.page import (
    CHANCE_WORDS,
    BoardLine,
    Scale,
    SetProgress,
    against_chance,
    board,
    scale_of,
)

_MOST_ROWS, _LEAST_LINES = 18, 3
"""Rows of the headline table that stand open, and figures of which that many do at least."""


def figure_bar(row: MetricRow, scale: Scale, place: int) -> Html:
    """Draw a figure with its interval, and the level of guessing as a dashed mark."""
    if scale is None or math.isnan(row.value):
        return kit.quiet(numbers.NONE if math.isnan(row.value) else "")
    lo, hi = scale

    at = kit.along(lo, hi)

    ink = kit.colour(place)
    pieces = [el("line", class_="track", x1="0", x2="100%", y1="9", y2="9")]
    words = str(estimate(row))
    if not math.isnan(row.chance):
        pieces.append(
            el("line", class_="chance", x1=at(row.chance), x2=at(row.chance), y1="0", y2="18")
        )
        words += f"; guessing gives {chance(row)}"
    if not math.isnan(row.lo) and not math.isnan(row.hi):
        pieces.append(
            el("line", class_="span", x1=at(row.lo), x2=at(row.hi), y1="9", y2="9", stroke=ink)
        )
    pieces.append(
        el("line", class_="mid", x1=at(row.value), x2=at(row.value), y1="2", y2="16", stroke=ink)
    )
    return el("svg", pieces, class_="bar lab", role="img", aria_label=words)


def _value(row: MetricRow) -> Html:
    one = estimate(row)
    return join(
        kit.strong(one.text),
        kit.small(f" ({one.ends})") if one.ends else None,
    )


def _chance(row: MetricRow) -> Html:
    if math.isnan(row.chance):
        return kit.quiet(numbers.NONE, data_tip="Guessing has no level here.")
    against = against_chance(row)
    words = CHANCE_WORDS[against]
    glyph = {"below": "▼ ", "level": "○ "}.get(against, "")
    if not words:
        return el("span", chance(row).text)
    return join(
        el(
            "span",
            el("span", glyph, aria_hidden="true"),
            words,
            class_="small quiet lab-words",
            data_tip=_CHANCE_TIPS[against],
        ),
        f" {chance(row)}",
    )


_CHANCE_TIPS = {
    "level": "Its interval holds what a judge that flips coins would reach: it can't be told "
    "apart from guessing.",
    "below": "A judge that flips coins would do better.",
}


_RULES = {
    "strict": "an unread reply counts as wrong",
    "readable only": "unread replies are left out",
    "released": "as the released code counts",
}


def headline(lab: LabContext) -> Html:
    """Draw the headline figures of all judges side by side."""
    lines_ = board(lab.results)
    if not lines_:
        return Html("")
    names = {one.judge: one.name for one in lab.judges}
    shown = max(_LEAST_LINES, _MOST_ROWS // max(len(lab.judges), 1))
    scales = {id(row): scale_of(list(line.cells.values()))
              for line in lines_ for row in line.cells.values()}  # fmt: skip

    def drawn(some: Sequence[BoardLine]) -> Html:
        return _drawn(lab, of_judges([line.cells for line in some], names), scales)

    return join(
        drawn(lines_[:shown]),
        kit.fold(
            f"{numbers.count(len(lines_) - shown, 'more figure')} of every judge",
            drawn(lines_[shown:]),
        )
        if len(lines_) > shown
        else None,
    )


def _drawn(lab: LabContext, table: Table[JudgeFigure], scales: Mapping[int, Scale]) -> Html:
    """Draw figures with their bars, and the doors to what is behind them.

    Args:
        table: the figures.
        scales: the ends of each figure's scale, by the identity of its row.
    """
    place = {one.judge: number for number, one in enumerate(lab.judges)}
    chosen = lab.chosen.judge if lab.chosen is not None else None

    def judge(one: JudgeFigure, text: str) -> Html:
        name = kit.model(numbers.middle(text, 30), place[one.judge], full=text)
        return kit.cell(name, lab.address(one.judge))

    def once(one: JudgeFigure, text: str) -> Child:
        return "" if one.again else el("span", text, class_="text", data_tip=one.row.note or None)

    cells: dict[str, Callable[[JudgeFigure, str], Child]] = {
        figures.FIGURE: once,
        figures.OF: lambda one, text: "" if one.again else el("span", text, class_="text"),
        figures.JUDGE: judge,
        figures.BAR: lambda one, _: figure_bar(one.row, scales[id(one.row)], place[one.judge]),
        figures.VALUE: lambda one, _: _value(one.row),
        figures.GUESSING: lambda one, _: _chance(one.row),
        figures.N: lambda one, text: _n(lab, one, text),
        figures.COUNTING: lambda one, text: el("span", text, data_tip=_RULES.get(text)),
    }
    several = len({one.judge for one in table.rows}) > 1
    return kit.drawn(table, cells=cells, on=lambda one: several and one.judge == chosen)


def answer(lab: LabContext) -> Html:
    """Say in a sentence how the chosen judge did."""
    result, judge = lab.result, lab.chosen
    if result is None or judge is None:
        return el("p", "Nobody has judged this set yet. Ask a judge below, or take in replies that "
                  "you have.", class_="quiet")  # fmt: skip
    first = next((row for row in result.headline if not math.isnan(row.value)), None)
    if first is None:
        return el("p", el("span", judge.name, class_="strong text"),
                  " has no reply that could be read yet: ",
                  f"{judge.unscored:,} unread, {judge.failed:,} failed.")  # fmt: skip
    against = against_chance(first)
    verdict = {
        "above": " is better than guessing",
        "level": " can't be told apart from guessing",
        "below": " is worse than guessing",
        "unknown": " has a first figure",
    }[against]
    level = "" if math.isnan(first.chance) else f"; guessing gives {chance(first)}"
    group = f", {group_words(first.group)}," if first.group else ""
    facts = [
        f"{_lower(first.label)}{group} {estimate(first)}{level}",
        f"n = {first.n:,}",
        f"{numbers.count(judge.unscored, 'reply', 'replies')} unread" if judge.unscored else "",
        f"{judge.failed:,} failed" if judge.failed else "",
    ]
    missing = (
        f" {numbers.count(result.missing, 'item')} of {result.items:,} have no verdict yet."
        if result.missing
        else ""
    )
    return el(
        "p",
        el("span", judge.name, class_="strong text"),
        verdict,
        ": ",
        ", ".join(fact for fact in facts if fact),
        ".",
        missing,
        " Its replies were made elsewhere." if judge.imported else None,
    )


def _lower(text: str) -> str:
    """Begin a label small within a sentence, unless it begins with a name such as `PAcc`."""
    return text[0].lower() + text[1:] if text[1:2].islower() else text


def tables(lab: LabContext) -> Html:
    """Draw the chosen judge's further tables, each with its CSV."""
    result, judge = lab.result, lab.chosen
    if result is None or judge is None or not result.tables:
        return Html("")
    return el(
        "section",
        el("h2", f"{judge.name} in detail", class_="text"),
        [_table(lab, one, judge, opened=not number) for number, one in enumerate(result.tables)],
    )


def _n(lab: LabContext, one: JudgeFigure, text: str) -> Html:
    """Write how many items a figure is of, as a door to them."""
    group = group_of(one.row, "" if one.table == HEADLINE else one.table)
    if not one.row.n or group not in lab.groups:
        return kit.quiet(text)
    return kit.door(text, items_address(lab, group, who=one.judge), tip="Open these items")


def _table(lab: LabContext, table: MetricTable, judge: SetProgress, *, opened: bool) -> Html:
    values = of_table(table, judge.judge, judge.name)
    by_unit = {row.unit: scale_of([one for one in table.rows if one.unit == row.unit])
               for row in table.rows}  # fmt: skip
    scales = {id(row): by_unit[row.unit] for row in table.rows}
    stem = f"{judge.name}-{table.title}".lower()
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in stem)[:80].strip("-")
    return kit.fold(
        f"{table.title} ({len(table.rows)})",
        el("p", kit.told(table.note), class_="note text") if table.note else None,
        _drawn(lab, values, scales)
        if table.rows
        else el("p", "Nothing to show yet.", class_="quiet"),
        kit.csv_link(writers.csv(values), f"{name}.csv"),
        opened=opened,
    )


def matrix(title: str, head: Html, rows: Sequence[Html]) -> Html:
    """Draw a grid of cells that carry their own style, under its title."""
    return el(
        "div",
        el("p", title, class_="strong", style="margin:0;padding:4px 0"),
        el("table", el("thead", head), el("tbody", rows), aria_label=title,
           style="border-collapse:collapse"),
        style="overflow-x:auto",
    )  # fmt: skip

"""What a set holds and how its judges stand beside each other, as the papers' figures draw it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from atom.display import numbers
from atom.display.csv_text import csv_text
from atom.engine.endpoints.configured import known_endpoints
from atom.errors import AtomError
from atom.judgebench.describe import Cell, Histogram, SetDescription, SetTable
from atom.records import BenchSet, Judge
from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.lab.bench.sets import LabContext
from atom.ui.shell import stores
from atom.views.lab.scatters import LEAST, Point, Scatter, described, scatters
from atom.views.stores import OpenStore

_WIDE, _HIGH = 620.0, 280.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 130.0, 14.0, 46.0


def draw(lab: LabContext) -> None:
    """Draw the judges beside each other, where there are two, and what the set holds."""
    store, record = lab.store, lab.record
    sizes = _sizes(lab)
    judged = _scatters(store.url, record.id, store.revision(), tuple(sorted(sizes.items())), lab)
    if judged:
        kit.show(
            kit.section(
                "The judges beside each other",
                [
                    kit.fold(one.title, _scatter(one), opened=not number)
                    for number, one in enumerate(judged)
                ],
            ),
            key="lab_scatters",
        )
    held = _described(store.url, record.id, store.revision(), store, record)
    if held.tables or held.spreads or held.rubrics:
        kit.show(
            kit.section("What is in this set",
               [kit.fold(one.title, _spread(one)) for one in held.spreads],
               [kit.fold(one.title, _table(one)) for one in held.tables if one.rows],
               [kit.fold("Rubrics by task type", _rubrics(held.rubrics))] if held.rubrics else []),
            key="lab_described",
        )  # fmt: skip


def _sizes(lab: LabContext) -> dict[str, float]:
    """Return the sizes that judges' endpoints declare."""
    try:
        endpoints = known_endpoints(stores.settings())
    except AtomError:  # the form above says what is wrong with them
        return {}
    judges = lab.store.get_many(Judge, [one.judge for one in lab.judges])
    declared = {one.id: endpoints[one.endpoint].size for one in judges if one.endpoint in endpoints}
    return {judge: size for judge, size in declared.items() if size is not None}


@st.cache_resource(show_spinner=False, max_entries=8)
def _scatters(
    url: str, set_id: str, revision: int, sizes: tuple[tuple[str, float], ...], _lab: LabContext
) -> tuple[Scatter, ...]:
    del url, set_id, revision
    return scatters(_lab.store, _lab.record, _lab.judges, _lab.results, dict(sizes))


@st.cache_resource(show_spinner=False, max_entries=8)
def _described(
    url: str, set_id: str, revision: int, _store: OpenStore, _record: BenchSet
) -> SetDescription:
    del url, set_id, revision
    return described(_store, _record)


# --- what a set holds ---------------------------------------------------------------------------


def _table(found: SetTable) -> Html:
    text = csv_text(
        (found.head or "what", *found.columns),
        [(name, *("" if math.isnan(one.value) else one.value for one in cells))
         for name, cells in found.rows],
    )  # fmt: skip
    return el(
        "div",
        el("p", kit.told(f"{found.note} As in {found.paper}.".strip()), class_="note text"),
        kit.grid(
            found.rows,
            kit.MarkupColumn(found.head or "what", lambda row: el("span", row[0], class_="text")),
            *kit.each(
                range(len(found.columns)),
                lambda at: found.columns[at],
                lambda row, at: _cell(row[1][at], found),
            ),
            label=found.title,
        ),
        kit.csv_link(text, "set.csv"),
    )


def _rubrics(found: Sequence[tuple[str, str]]) -> Html:
    return el(
        "div",
        el("p", "They came with the set's files. As MM-CRITIC, Table 10.", class_="note text"),
        kit.grid(
            found,
            kit.MarkupColumn("task type", lambda row: el("span", row[0])),
            kit.MarkupColumn(
                "what the scorer is told to weigh",
                lambda row: el("span", row[1], class_="text", style="white-space:pre-line"),
            ),
            label="Rubrics by task type",
        ),
        kit.csv_link(csv_text(("task type", "rubric"), found), "rubrics.csv"),
    )


def _cell(one: Cell, found: SetTable) -> Html:
    if math.isnan(one.value):
        return kit.quiet(numbers.NONE)
    if found.unit == "count":
        return el("span", f"{one.value:,.0f}", class_=None if one.value else "quiet")
    words = numbers.plain(one.value)
    if found.unit == "mean":
        return el("span", words, kit.small(f" n {one.n:,}"))
    share = round(55 * abs(one.value))
    colour = "#0072B2" if one.value > 0 else "#E69F00"
    return el(
        "span",
        words,
        style=f"background:color-mix(in srgb, {colour} {share}%, transparent);padding:2px 6px",
        data_tip=numbers.count(one.n, "pair"),
    )


def _spread(found: Histogram) -> Html:
    low, mid, high = found.quartiles
    most = max(found.counts, default=0) or 1
    wide = (_WIDE - _LEFT - 20) / max(len(found.counts), 1)
    base = _HIGH - _BOTTOM
    marks = []
    for at, count in enumerate(found.counts):
        tall = (base - _TOP) * count / most
        left, right = found.edges[at], found.edges[at + 1]
        tip = f"{_number(left)} to {_number(right)} {found.unit}: {count:,}"
        marks.append(
            el("rect", x=f"{_LEFT + wide * at + 1:.1f}", y=f"{base - tall:.1f}",
               width=f"{wide - 2:.1f}", height=f"{tall:.1f}", fill="var(--accent)", data_tip=tip)
        )  # fmt: skip
        if count:
            marks.append(_text(f"{count:,}", _LEFT + wide * (at + 0.5), base - tall - 3, "middle"))
    step = max(len(found.edges) // 8, 1)
    marks += [_text(_number(edge), _LEFT + wide * at, base + 16, "middle")
              for at, edge in enumerate(found.edges) if at % step == 0]  # fmt: skip
    marks.append(_line(_LEFT, base, _WIDE - 20, base))
    marks.append(_text(found.unit, (_LEFT + _WIDE) / 2, base + 34, "middle"))
    told = f"Half of them lie from {_number(low)} to {_number(high)}, the middle is {_number(mid)}."
    return el(
        "div",
        el("p", kit.told(f"{told} {found.note}".strip()), class_="text"),
        _svg(marks, f"{found.title}: {told}"),
        kit.note(f"As in {found.paper}."),
        kit.csv_link(csv_text(("from", "to", "count"),
                              zip(found.edges, found.edges[1:], found.counts, strict=False)),
                     "histogram.csv"),
    )  # fmt: skip


def _number(value: float) -> str:
    return numbers.NONE if math.isnan(value) else f"{value:,.4g}".replace("-", "−")


# --- judges beside each other -------------------------------------------------------------------


def _scatter(found: Scatter) -> Html:
    ends = [end for one in found.points for end in (one.y, one.lo, one.hi) if not math.isnan(end)]
    xs = [_along(found, one.x) for one in found.points]
    x_low, x_high = _room(xs)
    y_low, y_high = _room(ends)

    def x(value: float) -> float:
        return _LEFT + (_WIDE - _LEFT - _RIGHT) * (value - x_low) / (x_high - x_low)

    def y(value: float) -> float:
        return _TOP + (_HIGH - _TOP - _BOTTOM) * (y_high - value) / (y_high - y_low)

    base = _HIGH - _BOTTOM
    marks = [_line(_LEFT, base, _WIDE - _RIGHT, base), _line(_LEFT, _TOP, _LEFT, base)]
    for up in _ticks(y_low, y_high):
        marks.append(_text(_number(up), _LEFT - 6, y(up) + 4, "end"))
    for along in _powers(x_low, x_high) if found.powers else _ticks(x_low, x_high):
        shown = 10**along if found.powers else along
        marks.append(_text(_number(float(f"{shown:.4g}")), x(along), base + 16, "middle"))
    marks.append(_text(found.across, (_LEFT + _WIDE - _RIGHT) / 2, base + 36, "middle"))
    placed = [
        _ScatterPoint(point=one, ink=kit.colour(place), x=x(_along(found, one.x)), y=y(one.y))
        for place, one in enumerate(found.points)
    ]
    for group in _together(placed):
        marks += _marked(found, group, y)
    lacking = f" No x for {', '.join(found.lacking[:6])}." if found.lacking else ""
    return el(
        "div",
        el("p", _told(found), class_="text"),
        el("p", found.up, class_="quiet small", style="margin:0"),
        _svg(marks, f"{found.title} {_told(found)}"),
        el("p", kit.told(f"{found.note}{lacking} As in {found.paper}."), class_="note text"),
        kit.csv_link(
            csv_text(("name", found.across, found.up, "lo", "hi"),
                     [(one.name, one.x, one.y, one.lo, one.hi) for one in found.points]),
            "points.csv",
        ),
    )  # fmt: skip


_TICKS: Final = 5


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers from `low` to `high`, about five."""
    rough = (high - low) / _TICKS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 5, 10) if size * each >= rough)
    first = math.ceil(low / step)
    return [float(f"{at * step:.10g}") for at in range(first, math.floor(high / step) + 1)]


def _powers(low: float, high: float) -> list[float]:
    """Return the logarithms of 1, 2 and 5 times powers of ten from `low` to `high`."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    found = [at + math.log10(each) for at in powers for each in (1, 2, 5)]
    return [at for at in found if low <= at <= high]


@dataclass(frozen=True, kw_only=True)
class _ScatterPoint:
    """A point of a scatter and where it is drawn, in pixels."""

    point: Point
    ink: str
    x: float
    y: float


_DOT: Final = 5.0
_RING: Final = 4.0
"""Radius of a dot, and what each ring around it adds, in pixels."""
_LEADING: Final = 14.0
"""Pixels from one name to the next under it."""


def _together(placed: Sequence[_ScatterPoint]) -> list[list[_ScatterPoint]]:
    """Group points whose dots would hide each other, each with the first that it would cover."""
    groups: list[list[_ScatterPoint]] = []
    for one in placed:
        near = (g for g in groups if math.hypot(g[0].x - one.x, g[0].y - one.y) < _DOT)
        group = next(near, None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return groups


def _marked(
    found: Scatter, group: Sequence[_ScatterPoint], y: Callable[[float], float]
) -> list[Html]:
    """Draw points that share a place: the first as a dot, each further one as a ring around it."""
    pieces = []
    for ring, one in reversed(list(enumerate(group))):
        at, point = group[0], one.point
        if not math.isnan(point.lo):
            pieces.append(_line(one.x, y(point.lo), one.x, y(point.hi), one.ink, wide=ring))
        drawn = {"fill": "var(--ground)", "stroke": one.ink, "stroke_width": "2"}
        pieces.append(
            el("circle", cx=f"{at.x:.1f}", cy=f"{at.y:.1f}", r=f"{_DOT + ring * _RING:g}",
               data_tip=f"{point.name}: {_number(point.x)} {found.across}; "
               f"{_number(point.y)} {found.up}",
               **(drawn if ring else {"fill": one.ink}))
        )  # fmt: skip
    right = group[0].x + _DOT + (len(group) - 1) * _RING + 4
    top = group[0].y + 4 - _LEADING * (len(group) - 1) / 2
    pieces += [
        _text(numbers.middle(one.point.name, 22), right, top + _LEADING * at, "start")
        for at, one in enumerate(group)
    ]
    return pieces


def _told(found: Scatter) -> str:
    """Say what the points say, as far as so few can."""
    n = len(found.points)
    if math.isnan(found.r):
        why = f"{LEAST} are needed" if n < LEAST else "one of the two doesn’t vary"
        return f"{n:,} points say nothing about a correlation yet: {why}."
    way = "rises" if found.r > 0 else "falls"
    few = " Fewer than ten points: chance alone often gives as much." if n < 10 else ""
    words = numbers.plain(found.r)
    return f"One {way} with the other: Pearson r {words} over {n:,} points.{few}"


def _along(found: Scatter, value: float) -> float:
    return math.log10(value) if found.powers else value


def _room(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = 0.08 * (high - low) or max(abs(high), 1) * 0.1
    return low - room, high + room


def _svg(marks: Sequence[Html], label: str) -> Html:
    return el("svg", marks, class_="plot", viewBox=f"0 0 {_WIDE:.0f} {_HIGH:.0f}", role="img",
              aria_label=label)  # fmt: skip


def _line(
    x1: float, y1: float, x2: float, y2: float, ink: str = "var(--line)", wide: int = 0
) -> Html:
    """Draw a line; `wide` says how many others lie over it, which it lets show at its sides."""
    return el("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", stroke=ink,
              stroke_width=f"{1.5 + _RING * wide:g}", opacity=".5" if wide else None)  # fmt: skip


def _text(words: str, x: float, y: float, anchor: str) -> Html:
    return el("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_="tick")

"""Radars as SVG, for a screen and on their own for a report; of two axes, as bars.

Pure functions of view-models. Every text is escaped; a model is told by its marker's shape as well
as by its colour.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atom.display.markup import Html, el, join
from atom.display.numbers import middle
from atom.views.fingerprints.radar import LEAST_AXES, Radar, RadarAxis
from atom.views.fingerprints.shape import ShapeMark
from atom.views.lab.judge_marks import GLYPH

COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A7A00", "#555B63",
)  # fmt: skip
"""A model's colour by its place in the study, the same as on every screen."""
FONT = "Helvetica, Arial, sans-serif"
_DASHES = (None, "7 3", "2 3", "9 3 2 3")
_WIDE, _HIGH, _RADIUS = 560.0, 360.0, 138.0
_LINE, _TEXT = 13.0, 12.0
_LEGEND = 20.0
_NAME = 18
_CLEAR = 7.0
"""Points of 100 that a line stays from a ring's number without touching it."""


@dataclass(frozen=True, kw_only=True)
class Inks:
    """Colours of a drawing, and the name of its font; the screen's are CSS variables."""

    ground: str
    ink: str
    quiet: str
    line: str
    band: str
    worse: str
    better: str
    font: str | None = FONT


PRINT = Inks(
    ground="#FFFFFF", ink="#1B1F24", quiet="#5B6470", line="#DDE1E6", band="#C9CED6",
    worse="#B0500A", better="#2457D6",
)  # fmt: skip
SCREEN = Inks(
    ground="var(--ground)", ink="var(--ink)", quiet="var(--quiet)", line="var(--line)",
    band="var(--band)", worse="var(--worse)", better="var(--accent)", font=None,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FigureDoors:
    """Where the marks of a drawing lead, and what their tooltips say."""

    axis: Callable[[RadarAxis], str]
    mark: Callable[[ShapeMark], str]
    axis_tip: Callable[[RadarAxis], str]
    mark_tip: Callable[[RadarAxis, ShapeMark], str]


def colour(index: int) -> str:
    """Return a model's colour by its place in the study; grey beyond the eighth."""
    return COLOURS[index] if index < len(COLOURS) else "#7A838E"


def radar_svg(radar: Radar, *, legend: bool = True) -> str:
    """Draw a radar on its own: inline colours, light scheme, no script, no outside file.

    Args:
        radar: with fewer than three axes it's drawn as bars.
        legend: whether the models are named under it.

    Returns:
        An `<svg>` element.
    """
    return str(draw_radar(radar, PRINT, legend=legend))


def draw_radar(
    radar: Radar, inks: Inks, doors: FigureDoors | None = None, *, legend: bool = False
) -> Html:
    """Draw a radar, or bars where there are fewer than three axes.

    Args:
        doors: where labels and points lead; None = nowhere.
        legend: whether the models are named under it.
    """
    if len(radar.axes) < LEAST_AXES:
        return _radar_bars(radar, inks, doors, legend=legend)
    parts = [_rings(len(radar.axes), inks), *_band(radar, inks)]
    for place in reversed(range(len(radar.models))):
        parts.append(_line_of(radar, place, inks))
    parts.append(_ring_numbers(radar, inks))
    for place in reversed(range(len(radar.models))):
        parts += _points_of(radar, place, inks, doors)
    parts += [
        _axis_label(axis, number, len(radar.axes), inks, doors)
        for number, axis in enumerate(radar.axes)
    ]
    high = _HIGH
    if legend:
        parts += _legend(radar, _HIGH + 6, inks)
        high += 12 + _LEGEND * _legend_rows(radar)
    return _svg(_WIDE, high, parts, _radar_words(radar), inks)


def marker(place: int, x: float, y: float, fill: str, edge: str, size: float = 4.2) -> Html:
    """Draw the marker of the model drawn at this place: circle, square, triangle, diamond."""
    kind = place % 4
    if kind == 0:
        return el("circle", cx=_n(x), cy=_n(y), r=_n(size), fill=fill, stroke=edge, stroke_width=1)
    if kind == 1:
        side = size * 1.8
        return el("rect", x=_n(x - side / 2), y=_n(y - side / 2), width=_n(side), height=_n(side),
                  fill=fill, stroke=edge, stroke_width=1)  # fmt: skip
    turn = (-90, 30, 150) if kind == 2 else (-90, 0, 90, 180)
    corners = " ".join(
        f"{_n(x + 1.3 * size * math.cos(math.radians(a)))},"
        f"{_n(y + 1.3 * size * math.sin(math.radians(a)))}"
        for a in turn
    )
    return el("polygon", points=corners, fill=fill, stroke=edge, stroke_width=1)


def key_svg(place: int, index: int, inks: Inks = SCREEN) -> Html:
    """Draw the key of a model drawn at this place: its line and marker."""
    return el(
        "svg",
        _key(place, index, 0, 7, inks),
        viewBox="0 0 26 14",
        width="26",
        height="14",
        aria_hidden="true",
    )


# --- radar -------------------------------------------------------------------------------------


def _at(number: float, of: int, value: float) -> tuple[float, float]:
    """Return where a value lies on an axis: the first points up, the others follow clockwise."""
    angle = math.radians(-90 + 360 * number / of)
    far = _RADIUS * min(max(value, 0.0), 100.0) / 100
    return _WIDE / 2 + far * math.cos(angle), _HIGH / 2 + far * math.sin(angle)


def _rings(axes: int, inks: Inks) -> Html:
    lines = []
    for value in (25, 50, 75, 100):
        corners = " ".join(_point(*_at(number, axes, value)) for number in range(axes))
        lines.append(el("polygon", points=corners, fill="none", stroke=inks.line, stroke_width=1))
    for number in range(axes):
        x, y = _at(number, axes, 100)
        lines.append(
            el("line", x1=_n(_WIDE / 2), y1=_n(_HIGH / 2), x2=_n(x), y2=_n(y), stroke=inks.line)
        )
    return el("g", lines)


def _ring_numbers(radar: Radar, inks: Inks) -> Html:
    """Number the rings between two axes: no marker ever lies there, and few lines cross it.

    The innermost ring of many axes has no room for its number.
    """
    of = len(radar.axes)
    values = (25, 50, 75, 100)[of > 8 :]
    clear = [_clearance(radar, number, values) for number in range(of)]
    best = next((n for n, far in enumerate(clear) if far >= _CLEAR), clear.index(max(clear)))
    numbers = []
    for value in values:
        x, y = _at(best + 0.5, of, value * math.cos(math.pi / of))
        numbers.append(
            el("text", value, x=_n(x), y=_n(y + 4), fill=inks.quiet, font_size=12,
               text_anchor="middle", stroke=inks.ground, stroke_width=5, stroke_linejoin="round",
               paint_order="stroke")
        )  # fmt: skip
    return el("g", numbers, aria_hidden="true")


def _clearance(radar: Radar, number: int, values: Sequence[int]) -> float:
    """Return how far lines stay from the rings' numbers between an axis and the next.

    Midway between two axes, a line from a to b crosses where a ring of 2ab / (a + b) does.
    """
    here, after = radar.axes[number], radar.axes[(number + 1) % len(radar.axes)]
    pairs = [(here.middle, after.middle)] if radar.group > 1 else []
    pairs += [
        (one.estimate.value, other.estimate.value)
        for one, other in zip(here.marks, after.marks, strict=True)
        if one.estimate.known and other.estimate.known
    ]
    crossed = [2 * a * b / (a + b) if a + b > 0 else 0.0 for a, b in pairs]
    return min((abs(at - value) for at in crossed for value in values), default=math.inf)


def _band(radar: Radar, inks: Inks) -> list[Html]:
    """Draw the group's mean and its band; nothing for one model alone."""
    if radar.group < 2 or any(math.isnan(axis.middle) for axis in radar.axes):
        return []
    of = len(radar.axes)

    def ring(values: Sequence[float]) -> str:
        return "M" + "L".join(_point(*_at(n, of, value)) for n, value in enumerate(values)) + "Z"

    outer, inner = ring([a.hi for a in radar.axes]), ring([a.lo for a in radar.axes])
    return [
        el("path", d=f"{outer}{inner}", fill=inks.band, fill_opacity="0.55", fill_rule="evenodd"),
        el("path", d=ring([axis.middle for axis in radar.axes]), fill="none", stroke=inks.quiet,
           stroke_width=1, stroke_opacity="0.7"),
    ]  # fmt: skip


def _line_of(radar: Radar, place: int, inks: Inks) -> Html:
    """Draw a model's line; it breaks where the model has no value."""
    of, pieces = len(radar.axes), []
    values = [axis.marks[place].estimate for axis in radar.axes]
    for number, here in enumerate(values):
        after = values[(number + 1) % of]
        if here.known and after.known:
            one, other = _at(number, of, here.value), _at((number + 1) % of, of, after.value)
            pieces.append(f"M{_point(*one)}L{_point(*other)}")
    return el(
        "path",
        d="".join(pieces),
        fill="none",
        stroke=colour(radar.models[place].index),
        stroke_width=2.4 if place == 0 else 1.7,
        stroke_dasharray=_DASHES[place % len(_DASHES)],
        stroke_linecap="round",
    )


def _points_of(radar: Radar, place: int, inks: Inks, doors: FigureDoors | None) -> list[Html]:
    found, of = [], len(radar.axes)
    for number, axis in enumerate(radar.axes):
        mark = axis.marks[place]
        if not mark.estimate.known:
            continue
        x, y = _at(number, of, mark.estimate.value)
        point = marker(place, x, y, colour(radar.models[place].index), inks.ground)
        found.append(_door(point, axis, mark, doors, focus=False))
    return found


def _axis_label(
    axis: RadarAxis, number: int, of: int, inks: Inks, doors: FigureDoors | None
) -> Html:
    x, y = _at(number, of, 100)
    dx, dy = (x - _WIDE / 2) / _RADIUS, (y - _HIGH / 2) / _RADIUS
    anchor = "middle" if abs(dx) < 0.12 else "start" if dx > 0 else "end"
    lines = _wrap(_named(axis))
    x, y = x + 10 * dx, y + 12 * dy
    y += _TEXT / 3 + (dy - 1) * _LINE * (len(lines) - 1) / 2
    words = [
        el("tspan", line, x=_n(x), dy=0 if not row else _LINE) for row, line in enumerate(lines)
    ]
    label = el("text", words, x=_n(x), y=_n(y), text_anchor=anchor, font_size=_TEXT, fill=inks.ink)
    return _door(label, axis, None, doors, focus=True)


def _named(one: RadarAxis) -> str:
    """Return a capability's name, with a glyph before it where the judge misreads it."""
    return one.name if one.judge is None else f"{GLYPH} {one.name}"


def _wrap(name: str) -> list[str]:
    """Break a name into at most two lines; each is cut in the middle where it's too long."""
    if len(name) <= _NAME or " " not in name:
        return [middle(name, _NAME)]
    words = name.split(" ")
    best = min(
        range(1, len(words)),
        key=lambda at: max(len(" ".join(words[:at])), len(" ".join(words[at:]))),
    )
    return [middle(" ".join(part), _NAME) for part in (words[:best], words[best:])]


def _door(
    inner: Html, axis: RadarAxis, mark: ShapeMark | None, doors: FigureDoors | None, *, focus: bool
) -> Html:
    if doors is None:
        title = axis.full if mark is None else f"{axis.full}: {mark.estimate.value:.1f}"
        if axis.judge is not None:
            title += f" ({axis.judge.text})"
        return el("g", el("title", title), inner)
    href = doors.axis(axis) if mark is None else doors.mark(mark)
    tip = doors.axis_tip(axis) if mark is None else doors.mark_tip(axis, mark)
    return el(
        "a",
        inner,
        href=href,
        data_go=True,
        data_tip=tip,
        class_="spot",
        aria_label=tip.replace("\n", "; "),
        tabindex="0" if focus else "-1",
    )


def _legend_rows(radar: Radar) -> int:
    return math.ceil(len(radar.models) / 2) + (1 if radar.group > 1 else 0)


def _legend(radar: Radar, top: float, inks: Inks) -> list[Html]:
    found = []
    for place, model in enumerate(radar.models):
        x, y = 20 + (place % 2) * _WIDE / 2, top + _LEGEND * (place // 2)
        found.append(_key(place, model.index, x, y, inks))
        found.append(_text(x + 32, y + 4, middle(model.name, 32), inks.ink))
    if radar.group > 1:
        y = top + _LEGEND * (_legend_rows(radar) - 1)
        found.append(
            el("rect", x=20, y=_n(y - 5), width=26, height=10, fill=inks.band, fill_opacity="0.55")
        )
        found.append(_text(52, y + 4, radar.band_words, inks.quiet))
    return found


def _key(place: int, index: int, x: float, y: float, inks: Inks) -> Html:
    ink = colour(index)
    line = el("line", x1=_n(x), x2=_n(x + 26), y1=_n(y), y2=_n(y), stroke=ink, stroke_width=2,
              stroke_dasharray=_DASHES[place % len(_DASHES)])  # fmt: skip
    return join(line, marker(place, x + 13, y, ink, inks.ground))


def _radar_words(radar: Radar) -> str:
    """Say in words what a radar shows, for those who can't see it."""
    said = []
    for place, model in enumerate(radar.models):
        values = (
            f"{axis.name} {axis.marks[place].estimate.value:.1f}"
            for axis in radar.axes
            if axis.marks[place].estimate.known
        )
        said.append(f"{model.name}: {', '.join(values)}")
    return f"{radar.title}. {'; '.join(said)}"


def _radar_bars(radar: Radar, inks: Inks, doors: FigureDoors | None, *, legend: bool) -> Html:
    """Draw one or two axes as groups of dots on a common scale."""
    left, right, top = 150.0, _WIDE - 30, 26.0
    parts: list[Html] = []
    y = top + 16
    bottom = y + sum(18.0 * len(radar.models) + 18 for _ in radar.axes)
    parts += _scale(left, right, top, bottom, inks)
    for axis in radar.axes:
        size = 18.0 * len(radar.models)
        if radar.group > 1 and not math.isnan(axis.middle):
            lo, hi = (left + (right - left) * min(max(v, 0), 100) / 100 for v in (axis.lo, axis.hi))
            parts.append(el("rect", x=_n(lo), y=_n(y - 10), width=_n(hi - lo), height=_n(size + 4),
                            fill=inks.band, fill_opacity="0.55"))  # fmt: skip
        label = _text(left - 12, y + size / 2 - 5, middle(_named(axis), 20), inks.ink, anchor="end")
        parts.append(_door(label, axis, None, doors, focus=True))
        for place, mark in enumerate(axis.marks):
            estimate = mark.estimate
            if estimate.known:
                at = y + 18 * place
                ink = colour(radar.models[place].index)
                x = left + (right - left) * estimate.value / 100
                parts.append(_span(estimate.lo, estimate.hi, left, right, at, ink))
                parts.append(
                    _door(marker(place, x, at, ink, inks.ground), axis, mark, doors, focus=False)
                )
        y += size + 18
    high = bottom + 8
    if legend:
        parts += _legend(radar, high + 8, inks)
        high += 14 + _LEGEND * _legend_rows(radar)
    return _svg(_WIDE, high, parts, _radar_words(radar), inks)


# --- bars --------------------------------------------------------------------------------------


def _scale(left: float, right: float, top: float, bottom: float, inks: Inks) -> list[Html]:
    found = []
    for value in (0, 25, 50, 75, 100):
        x = left + (right - left) * value / 100
        found.append(
            el("line", x1=_n(x), x2=_n(x), y1=_n(top + 3), y2=_n(bottom), stroke=inks.line)
        )
        found.append(_text(x, top, str(value), inks.quiet, anchor="middle", size=11))
    return found


def _span(lo: float, hi: float, left: float, right: float, y: float, ink: str) -> Html:
    one, other = (left + (right - left) * value / 100 for value in (lo, hi))
    return el("line", x1=_n(one), x2=_n(other), y1=_n(y), y2=_n(y), stroke=ink, stroke_width=6,
              stroke_opacity="0.42")  # fmt: skip


# --- pieces ------------------------------------------------------------------------------------


def _svg(wide: float, high: float, parts: Sequence[Html], words: str, inks: Inks) -> Html:
    own = inks.font is not None
    return el(
        "svg",
        el("title", words) if own else None,
        parts,
        xmlns="http://www.w3.org/2000/svg" if own else None,
        viewBox=f"0 0 {_n(wide)} {_n(high)}",
        width=_n(wide) if own else None,
        height=_n(high) if own else None,
        font_family=inks.font,
        class_=None if own else "radar",
        role="img" if own else "group",
        aria_label=words,
    )


def _text(
    x: float,
    y: float,
    words: str,
    ink: str,
    *,
    anchor: str | None = None,
    weight: str | None = None,
    size: float = _TEXT,
) -> Html:
    return el("text", words, x=_n(x), y=_n(y), fill=ink, font_size=_n(size), text_anchor=anchor,
              font_weight=weight)  # fmt: skip


def _point(x: float, y: float) -> str:
    return f"{_n(x)},{_n(y)}"


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")

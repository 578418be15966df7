"""How a chart is drawn: themes, colours and scales, axes, legend, bars, lines and points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from numpy.random import Generator

from atom.probes.program import Box
from atom.probes.worlds.kit import (
    FAINT,
    HAIRLINE,
    INK,
    MUTED,
    PAPER,
    Canvas,
    Point,
    Rect,
    around,
    grow,
    text_width,
    thousandths,
)
from atom.probes.worlds.steps import pick, sample

YOf = Callable[[float], float]

Style = Literal["bar chart", "line chart", "area chart", "dot plot"]
SIZE: Final = (640, 480)
_PLOT: Final[Rect] = (66.0, 122.0, 610.0, 430.0)
COLOURS: Final = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "red": "#CC3D3D",
    "pink": "#CC79A7",
    "sky blue": "#56B4E9",
}
COLOUR_NEAR: Final = {
    "blue": ("sky blue",),
    "sky blue": ("blue",),
    "orange": ("red",),
    "red": ("orange", "pink"),
    "pink": ("red",),
    "green": ("sky blue",),
}
COLOUR_WORDS: Final = {
    "blue": ("navy", "dark blue"),
    "sky blue": ("light blue", "pale blue"),
    "orange": ("amber",),
    "green": ("teal",),
    "red": ("crimson", "scarlet"),
    "pink": ("magenta", "rose"),
}
_TINTS: Final = {
    "blue": "#d6e6f1",
    "orange": "#fbeccc",
    "green": "#cfece4",
    "red": "#f6dada",
    "pink": "#f5e3ec",
    "sky blue": "#dff0fa",
}
STYLE_NEAR: Final = {
    "bar chart": ("dot plot",),
    "line chart": ("area chart",),
    "area chart": ("line chart",),
    "dot plot": ("line chart",),
}
STYLE_WORDS: Final = {
    "bar chart": ("bar graph", "column chart"),
    "line chart": ("line graph", "line plot"),
    "area chart": ("area graph", "filled area plot"),
    "dot plot": ("scatter plot", "dot chart"),
}


@dataclass(frozen=True, kw_only=True)
class _Theme:
    title: str
    unit: str
    series: tuple[str, str, str, str]


THEMES: Final = (
    _Theme(title="Canteen drinks", unit="cups", series=("Coffee", "Tea", "Cocoa", "Juice")),
    _Theme(title="Energy by source", unit="MWh", series=("Solar", "Wind", "Hydro", "Biogas")),
    _Theme(title="Rail freight", unit="tonnes", series=("Grain", "Steel", "Timber", "Cement")),
    _Theme(title="Clinic visits", unit="visits", series=("Dental", "Vision", "Cardiac", "Allergy")),
    _Theme(
        title="Bicycle rentals", unit="rentals", series=("Harbour", "Campus", "Station", "Market")
    ),
    _Theme(title="Water use", unit="kL", series=("Homes", "Farms", "Parks", "Industry")),
    _Theme(title="Library loans", unit="loans", series=("Fiction", "History", "Science", "Comics")),
    _Theme(title="Ferry traffic", unit="trips", series=("Cars", "Trucks", "Coaches", "Vans")),
)
UNITS: Final = tuple(theme.unit for theme in THEMES)
UNIT_NEAR: Final = {
    "cups": ("kL",),
    "MWh": ("kL",),
    "tonnes": ("kL",),
    "visits": ("trips",),
    "rentals": ("loans",),
    "kL": ("tonnes",),
    "loans": ("rentals",),
    "trips": ("visits",),
}


@dataclass(frozen=True, kw_only=True)
class ChartFrame:
    """What a drawn chart lets a question point at."""

    legend: dict[str, Rect]
    marks: dict[tuple[str, str], Rect]
    labels: dict[str, Rect]
    subtitle: Rect
    title: Rect
    size: tuple[int, int]

    def mark(self, name: str, month: str) -> Rect:
        """Return where a series' mark of a month is."""
        return self.marks[name, month]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """What a chart shows, and how it is drawn."""

    theme: _Theme
    style: Style
    months: tuple[str, ...]
    values: dict[str, tuple[int, ...]]
    colours: dict[str, str]
    tick: int
    ticks: int
    font: int
    start: int = 0

    def value(self, name: str, month: str) -> int:
        """Return what a series has in a month."""
        return self.values[name][self.months.index(month)]


def _curve(rng: Generator, count: int) -> list[float]:
    """Return `count` shares in 0..1: a line, a parabola and a little jitter."""
    slope = rng.uniform(-1.0, 1.0)
    bend = rng.uniform(-1.6, 1.6)
    raw = []
    for i in range(count):
        x = i / (count - 1)
        raw.append(slope * x + bend * (x - 0.5) ** 2 * 2 + rng.uniform(-0.16, 0.16))
    low, high = min(raw), max(raw)
    return [(v - low) / (high - low) for v in raw]


def make_series(
    rng: Generator, count: int, *, tick: int, ticks: int, start: int = 0
) -> tuple[int, ...]:
    """Return the values of one series, between the ends of the scale."""
    span = tick * ticks
    low = rng.uniform(0.12, 0.4)
    high = rng.uniform(max(0.6, low + 0.25), 0.94)
    return tuple(start + round(span * (low + (high - low) * share)) for share in _curve(rng, count))


def pick_scale(rng: Generator) -> tuple[int, int]:
    """Return the step of a scale and how many there are."""
    return pick(
        rng, ((5, 8), (10, 5), (10, 6), (10, 8), (20, 4), (20, 5), (20, 6), (50, 4), (50, 5))
    )


def pick_colours(rng: Generator, names: tuple[str, ...], *, similar: bool) -> dict[str, str]:
    """Return a colour for each name; two that are alike only where they are asked for."""
    words = sample(rng, tuple(COLOURS), len(names))
    if similar:
        words[:2] = sample(rng, ("blue", "sky blue"), 2)
        rest = [w for w in COLOURS if w not in ("blue", "sky blue")]
        words[2:] = sample(rng, rest, len(names) - 2)
    elif {"blue", "sky blue"} <= set(words):
        words[words.index("sky blue")] = pick(rng, [w for w in COLOURS if w not in words])
    return dict(zip(names, words, strict=True))


def paint_chart(chart: Chart) -> tuple[Canvas, ChartFrame]:
    """Draw a chart; return it with what a question can point at."""
    canvas = Canvas(*SIZE)
    left, top, right, bottom = _PLOT
    title = canvas.text((28, 40), chart.theme.title, 20, INK, bold=True)
    subtitle = canvas.text((28, 62), f"Monthly total, {chart.theme.unit}", 13, MUTED)
    legend = _paint_legend(canvas, chart)
    span = chart.tick * chart.ticks

    def y_of(value: float) -> float:
        return bottom - (bottom - top) * (value - chart.start) / span

    for i in range(chart.ticks + 1):
        value = chart.start + i * chart.tick
        y = y_of(value)
        canvas.hline(left, right, y, HAIRLINE if i else FAINT)
        canvas.text((left - 10, y), str(value), chart.font, MUTED, align="r", vertical="m")
    step = (right - left) / len(chart.months)
    labels = {}
    for i, month in enumerate(chart.months):
        x = left + step * (i + 0.5)
        labels[month] = canvas.text((x, bottom + 22), month, chart.font, MUTED, align="m")
    marks: dict[tuple[str, str], Rect] = {}
    if chart.style == "bar chart":
        _paint_bars(canvas, chart, marks, step, y_of)
    else:
        for name, values in chart.values.items():
            points = [(left + step * (i + 0.5), y_of(v)) for i, v in enumerate(values)]
            if chart.style == "area chart":
                tint = _TINTS[chart.colours[name]]
                canvas.polygon([(points[0][0], bottom), *points, (points[-1][0], bottom)], tint)
        canvas.hline(left, right, bottom, FAINT)
        for name, values in chart.values.items():
            points = [(left + step * (i + 0.5), y_of(v)) for i, v in enumerate(values)]
            _paint_points(canvas, chart, name, points)
            for month, point in zip(chart.months, points, strict=True):
                marks[name, month] = around([point], 9)
    frame = ChartFrame(
        legend=legend, marks=marks, labels=labels, subtitle=subtitle, title=title, size=SIZE
    )
    return canvas, frame


def _paint_legend(canvas: Canvas, chart: Chart) -> dict[str, Rect]:
    legend = {}
    x = 28.0
    for name, word in chart.colours.items():
        fill = COLOURS[word]
        if chart.style in ("line chart", "dot plot"):
            if chart.style == "line chart":
                canvas.line((x, 88), (x + 18, 88), 2.6, fill, round_ends=True)
            canvas.disc((x + 9, 88), 4.2, fill)
            chip = (x, 82.0, x + 18, 94.0)
        else:
            canvas.rect((x + 3, 82, x + 15, 94), fill, radius=3)
            chip = (x + 3, 82.0, x + 15, 94.0)
        words = canvas.text((x + 24, 92.5), name, 13, INK)
        legend[name] = grow((chip[0], chip[1], words[2], 95.0), 3)
        x += 24 + text_width(name, 13) + 22
    return legend


def _paint_bars(
    canvas: Canvas,
    chart: Chart,
    marks: dict[tuple[str, str], Rect],
    step: float,
    y_of: YOf,
) -> None:
    left, _, _, bottom = _PLOT
    names = list(chart.values)
    gap = 3.0
    width = min(36.0, (step * 0.72 - gap * (len(names) - 1)) / len(names))
    group = width * len(names) + gap * (len(names) - 1)
    for i, month in enumerate(chart.months):
        x = left + step * (i + 0.5) - group / 2
        for name in names:
            top = y_of(chart.values[name][i])
            rect = (x, top, x + width, float(bottom))
            canvas.rect(
                rect,
                COLOURS[chart.colours[name]],
                radius=2.5,
                corners=(True, True, False, False),
            )
            marks[name, month] = (x - 3, top - 5, x + width + 3, bottom + 1)
            x += width + gap
    canvas.hline(left, _PLOT[2], bottom, FAINT)


def _paint_points(canvas: Canvas, chart: Chart, name: str, points: list[Point]) -> None:
    fill = COLOURS[chart.colours[name]]
    if chart.style != "dot plot":
        canvas.polyline(points, 2.6, fill)
    for point in points:
        if chart.style == "area chart":
            continue
        canvas.disc(point, 6.4 if chart.style == "line chart" else 7.4, PAPER)
        canvas.disc(point, 4.4 if chart.style == "line chart" else 5.8, fill)


def box_of(rect: Rect) -> Box:
    """Return a rectangle of a chart as a region box."""
    return thousandths(rect, SIZE)

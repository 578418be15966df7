"""Charts: grouped bars, lines, areas and dots over months, with integer truths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final, Literal

from numpy.random import Generator

from atom.probes.program import Box, Program, Step
from atom.probes.worlds import leaves
from atom.probes.worlds.kit import (
    FAINT,
    HAIRLINE,
    INK,
    MUTED,
    PAPER,
    Canvas,
    Drawn,
    Point,
    Rect,
    around,
    grow,
    text_width,
    thousandths,
)
from atom.probes.worlds.steps import (
    blend,
    chance,
    choice_list,
    generator,
    number,
    option,
    pick,
    sample,
    spread,
    whole,
)

TEMPLATES: Final = ("difference", "peak", "trend")

YOf = Callable[[float], float]
Style = Literal["bar chart", "line chart", "area chart", "dot plot"]

_SIZE: Final = (640, 480)
_PLOT: Final[Rect] = (66.0, 122.0, 610.0, 430.0)

_COLOURS: Final = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "red": "#CC3D3D",
    "pink": "#CC79A7",
    "sky blue": "#56B4E9",
}
_COLOUR_NEAR: Final = {
    "blue": ("sky blue",),
    "sky blue": ("blue",),
    "orange": ("red",),
    "red": ("orange", "pink"),
    "pink": ("red",),
    "green": ("sky blue",),
}
_COLOUR_WORDS: Final = {
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
_MONTHS: Final = (
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
)
_LONG_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MONTH_WORDS: Final = {
    short: (long,) for short, long in zip(_MONTHS, _LONG_MONTHS, strict=True) if short != long
}
_STYLE_NEAR: Final = {
    "bar chart": ("dot plot",),
    "line chart": ("area chart",),
    "area chart": ("line chart",),
    "dot plot": ("line chart",),
}
_STYLE_WORDS: Final = {
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


_THEMES: Final = (
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
_UNITS: Final = tuple(theme.unit for theme in _THEMES)
_UNIT_NEAR: Final = {
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
class _Frame:
    """What a drawn chart lets a question point at."""

    legend: dict[str, Rect]
    marks: dict[tuple[str, str], Rect]
    labels: dict[str, Rect]
    subtitle: Rect
    title: Rect
    size: tuple[int, int]

    def mark(self, name: str, month: str) -> Rect:
        return self.marks[name, month]


@dataclass(frozen=True, kw_only=True)
class _Chart:
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
        return self.values[name][self.months.index(month)]


def draw(seed: int, index: int, template: str | None = None) -> Drawn:
    """Draw one chart sample; the template is drawn at random where none is named."""
    rng = generator(seed, index)
    chosen = pick(rng, TEMPLATES)
    chosen = template or chosen
    makers = {"difference": _difference, "peak": _peak, "trend": _trend}
    return makers[chosen](rng, seed, index)


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


def _series(
    rng: Generator, count: int, *, tick: int, ticks: int, start: int = 0
) -> tuple[int, ...]:
    span = tick * ticks
    low = rng.uniform(0.12, 0.4)
    high = rng.uniform(max(0.6, low + 0.25), 0.94)
    return tuple(start + round(span * (low + (high - low) * share)) for share in _curve(rng, count))


def _scale(rng: Generator) -> tuple[int, int]:
    return pick(
        rng, ((5, 8), (10, 5), (10, 6), (10, 8), (20, 4), (20, 5), (20, 6), (50, 4), (50, 5))
    )


def _colours(rng: Generator, names: tuple[str, ...], *, similar: bool) -> dict[str, str]:
    words = sample(rng, tuple(_COLOURS), len(names))
    if similar:
        words[:2] = sample(rng, ("blue", "sky blue"), 2)
        rest = [w for w in _COLOURS if w not in ("blue", "sky blue")]
        words[2:] = sample(rng, rest, len(names) - 2)
    elif {"blue", "sky blue"} <= set(words):
        words[words.index("sky blue")] = pick(rng, [w for w in _COLOURS if w not in words])
    return dict(zip(names, words, strict=True))


def _paint(chart: _Chart) -> tuple[Canvas, _Frame]:
    canvas = Canvas(*_SIZE)
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
    frame = _Frame(
        legend=legend, marks=marks, labels=labels, subtitle=subtitle, title=title, size=_SIZE
    )
    return canvas, frame


def _paint_legend(canvas: Canvas, chart: _Chart) -> dict[str, Rect]:
    legend = {}
    x = 28.0
    for name, word in chart.colours.items():
        fill = _COLOURS[word]
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
    chart: _Chart,
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
                _COLOURS[chart.colours[name]],
                radius=2.5,
                corners=(True, True, False, False),
            )
            marks[name, month] = (x - 3, top - 5, x + width + 3, bottom + 1)
            x += width + gap
    canvas.hline(left, _PLOT[2], bottom, FAINT)


def _paint_points(canvas: Canvas, chart: _Chart, name: str, points: list[Point]) -> None:
    fill = _COLOURS[chart.colours[name]]
    if chart.style != "dot plot":
        canvas.polyline(points, 2.6, fill)
    for point in points:
        if chart.style == "area chart":
            continue
        canvas.disc(point, 6.4 if chart.style == "line chart" else 7.4, PAPER)
        canvas.disc(point, 4.4 if chart.style == "line chart" else 5.8, fill)


def _legend_step(frame: _Frame, chart: _Chart, name: str, *, weight: int) -> Step:
    truth = chart.colours[name]
    return option(
        "legend",
        f"Which colour stands for {name} in the legend?",
        truth,
        options=tuple(_COLOURS),
        near=_COLOUR_NEAR[truth],
        synonyms=_COLOUR_WORDS,
        weight=weight,
        leaf=leaves.LEGEND,
        regions=[_box(frame.legend[name])],
        anchors_all=("legend", name),
        phrases=(
            f"In the legend, {name} is {{value}}.",
            f"The legend gives {name} the colour {{value}}.",
            f"According to the legend, the marks for {name} are drawn in {{value}}.",
            f"Checking the legend first, I see that {name} is shown in {{value}}.",
        ),
    )


def _box(rect: Rect) -> Box:
    return thousandths(rect, _SIZE)


def _difference(rng: Generator, seed: int, index: int) -> Drawn:
    theme = pick(rng, _THEMES)
    tick, ticks = _scale(rng)
    count = whole(rng, 4, 6)
    first = whole(rng, 0, 12 - count)
    months = _MONTHS[first : first + count]
    names = tuple(sample(rng, theme.series, whole(rng, 2, 3)))
    similar = chance(rng, 0.25)
    colours = _colours(rng, names, similar=similar)
    font = pick(rng, (11, 12, 13, 14))
    while True:
        values = {name: _series(rng, count, tick=tick, ticks=ticks) for name in names}
        pairs = [
            (month, a, b)
            for i, month in enumerate(months)
            for a, b in combinations(names, 2)
            if abs(values[a][i] - values[b][i]) >= max(2.0, 0.4 * tick)
        ]
        if pairs:
            break
    month, a, b = pick(rng, pairs)
    if chance(rng, 0.5):
        a, b = b, a
    chart = _Chart(
        theme=theme,
        style="bar chart",
        months=months,
        values=values,
        colours=colours,
        tick=tick,
        ticks=ticks,
        font=font,
    )
    canvas, frame = _paint(chart)
    value_a, value_b = chart.value(a, month), chart.value(b, month)
    gap = abs(value_a - value_b)
    tol, near = 0.1 * tick, 0.6 * tick
    bars = [frame.mark(a, month), frame.mark(b, month)]
    tops = [_box((r[0], r[1], r[2], min(r[3], r[1] + 26))) for r in bars]
    label = _box(grow(frame.labels[month], 3))
    steps = (
        _legend_step(frame, chart, a, weight=2),
        number(
            "first",
            f"What value does {a} reach in {month}?",
            value_a,
            weight=2,
            leaf=leaves.MARK_HEIGHT,
            regions=[_box(bars[0]), label],
            tolerance=tol,
            near=near,
            unit=theme.unit,
            anchors_all=(a,),
            anchors_any=("reaches", "bar", "reads", "stands"),
            constants=(month,),
            phrases=(
                f"{a} reaches {{value}}.",
                f"The {a} bar for {month} stands at {{value}}.",
                f"Following the top of the {a} bar across to the axis gives {{value}}.",
                f"For {month}, {a} reads {{value}} on the vertical axis.",
            ),
        ),
        number(
            "second",
            f"What value does {b} reach in {month}?",
            value_b,
            weight=2,
            leaf=leaves.AXIS_VALUE,
            regions=[_box(bars[1]), label],
            tolerance=tol,
            near=near,
            unit=theme.unit,
            anchors_all=(b,),
            anchors_any=("reaches", "bar", "reads", "stands"),
            constants=(month,),
            phrases=(
                f"{b} reaches {{value}}.",
                f"The {b} bar for {month} stands at {{value}}.",
                f"The top of the {b} bar lines up with {{value}} on the axis.",
                f"Reading across from its top edge, {b} stands at {{value}} in {month}.",
            ),
        ),
        option(
            "larger",
            f"Which of {a} and {b} is larger in {month}?",
            a if value_a > value_b else b,
            options=(a, b),
            near=(),
            weight=2,
            leaf=leaves.LARGEST,
            regions=tops,
            anchors_any=("larger", "higher"),
            constants=(month,),
            depends_on=("first", "second"),
            derive="larger",
            phrases=(
                "The larger is {value}.",
                f"In {month} the higher of the compared series is {{value}}.",
                "Comparing both heights, the larger amount belongs to {value}.",
            ),
        ),
        number(
            "difference",
            f"By how much do {a} and {b} differ in {month}?",
            gap,
            weight=2,
            leaf=leaves.DIFFERENCE,
            regions=tops,
            tolerance=tol,
            near=near,
            unit=theme.unit,
            anchors_any=("difference", "gap", "apart"),
            constants=(month,),
            depends_on=("first", "second"),
            derive="difference",
            phrases=(
                "The difference is {value}.",
                "They are {value} apart.",
                f"So the gap in {month} comes to {{value}}.",
                "Subtracting the smaller from the larger, the difference works out to {value}.",
            ),
        ),
    )
    program = Program(
        family="charts",
        template="difference",
        seed=seed,
        index=index,
        difficulty=blend(
            (2.0, 1.0 if similar else 0.0),
            (2.0, (len(names) * count - 8) / 10),
            (2.0, (14 - font) / 3),
            (2.0, (8 - ticks) / 4),
            (1.0, 1.0 if tick == 50 else 0.3),
        ),
        knobs={
            "series": len(names),
            "months": count,
            "similar_hues": similar,
            "font_px": font,
            "ticks": ticks,
            "tick": tick,
        },
        question=(
            f"By how many {theme.unit} do {a} and {b} differ in {month}, and which is larger? "
            f"Say which colour stands for {a}, and give both values."
        ),
        choices=choice_list(
            rng, str(gap), spread(gap, (tick, -tick, tick // 2 + 1, 2 * tick, -(tick // 2) - 1))
        ),
        answer=str(gap),
        answer_step="difference",
        steps=steps,
        size=_SIZE,
    )
    return Drawn(program=program, images=(canvas.finish(),), quantise=True)


def _peak(rng: Generator, seed: int, index: int) -> Drawn:
    theme = pick(rng, _THEMES)
    tick, ticks = _scale(rng)
    count = whole(rng, 8, 12)
    first = whole(rng, 0, 12 - count)
    months = _MONTHS[first : first + count]
    names = tuple(sample(rng, theme.series, whole(rng, 2, 3)))
    similar = chance(rng, 0.25)
    colours = _colours(rng, names, similar=similar)
    font = pick(rng, (11, 12, 13, 14))
    style: Style = pick(rng, ("line chart", "line chart", "dot plot"))
    start = tick * pick(rng, (0, 0, 0, 2))
    name = names[0]
    while True:
        values = {n: _series(rng, count, tick=tick, ticks=ticks, start=start) for n in names}
        ranked = sorted(values[name], reverse=True)
        limits = [
            start + i * tick
            for i in range(1, ticks)
            if min(abs(v - start - i * tick) for v in values[name]) >= max(1.0, 0.2 * tick)
            and 2 <= sum(v > start + i * tick for v in values[name]) <= count - 2
        ]
        if limits and ranked[0] - ranked[1] >= max(2.0, 0.2 * tick):
            break
    limit = pick(rng, limits)
    top = max(range(count), key=lambda i: values[name][i])
    month, peak = months[top], values[name][top]
    above = [m for m in months if values[name][months.index(m)] > limit]
    chart = _Chart(
        theme=theme,
        style=style,
        months=months,
        values=values,
        colours=colours,
        tick=tick,
        ticks=ticks,
        font=font,
        start=start,
    )
    canvas, frame = _paint(chart)
    steps = (
        _legend_step(frame, chart, name, weight=2),
        option(
            "peak_month",
            f"In which month does {name} peak?",
            month,
            options=months,
            near=tuple(months[i] for i in (top - 1, top + 1) if 0 <= i < count),
            synonyms=_MONTH_WORDS,
            weight=3,
            leaf=leaves.LARGEST,
            regions=[_box(frame.mark(name, month)), _box(grow(frame.labels[month], 3))],
            anchors_any=("peaks", "peak month", "highest month"),
            phrases=(
                f"{name} peaks in {{value}}.",
                "The peak month is {value}.",
                f"Scanning the whole run of points, {name} peaks in {{value}}.",
                f"The highest month for {name} turns out to be {{value}}.",
            ),
        ),
        number(
            "peak_value",
            f"What is the value of {name} at its peak?",
            peak,
            weight=2,
            leaf=leaves.AXIS_VALUE,
            regions=[_box(frame.mark(name, month))],
            tolerance=0.1 * tick,
            near=0.6 * tick,
            unit=theme.unit,
            anchors_any=("top value", "topmost point", "maximum value"),
            phrases=(
                "The top value is {value}.",
                "Its topmost point reads {value}.",
                f"Across on the axis, the topmost point of {name} lines up with {{value}}.",
                f"That gives {name} a maximum value of {{value}}.",
            ),
        ),
        number(
            "above",
            f"In how many months is {name} above {limit}?",
            len(above),
            weight=3,
            leaf=leaves.FILTER_COUNT,
            regions=[_box(frame.mark(name, m)) for m in above],
            near=1,
            anchors_all=("above",),
            constants=(f"above {limit}",),
            phrases=(
                f"Months above {limit} number {{value}}.",
                f"The count of months above {limit} is {{value}}.",
                f"Going through the points, those above {limit} number {{value}}.",
            ),
        ),
    )
    program = Program(
        family="charts",
        template="peak",
        seed=seed,
        index=index,
        difficulty=blend(
            (2.0, 1.0 if similar else 0.0),
            (2.0, (len(names) - 1) / 2),
            (1.0, (count - 8) / 4),
            (2.0, (14 - font) / 3),
            (2.0, (8 - ticks) / 4),
            (1.0, 1.0 if start else 0.0),
        ),
        knobs={
            "series": len(names),
            "months": count,
            "similar_hues": similar,
            "font_px": font,
            "ticks": ticks,
            "tick": tick,
            "axis_start": start,
            "style": style,
        },
        question=(
            f"Which colour is {name}, in which month does it peak and at what value? "
            f"In how many months is it above {limit} {theme.unit}?"
        ),
        choices=choice_list(rng, str(len(above)), spread(len(above), (1, -1, 2, -2))),
        answer=str(len(above)),
        answer_step="above",
        steps=steps,
        size=_SIZE,
    )
    return Drawn(program=program, images=(canvas.finish(),), quantise=True)


def _trend(rng: Generator, seed: int, index: int) -> Drawn:
    theme = pick(rng, _THEMES)
    tick, ticks = _scale(rng)
    count = whole(rng, 6, 9)
    first = whole(rng, 0, 12 - count)
    months = _MONTHS[first : first + count]
    names = tuple(sample(rng, theme.series, 2))
    colours = _colours(rng, names, similar=False)
    font = pick(rng, (11, 12, 13, 14))
    styles: tuple[Style, ...] = ("bar chart", "line chart", "area chart", "dot plot")
    style = pick(rng, styles)
    name = names[0]
    while True:
        values = {n: _series(rng, count, tick=tick, ticks=ticks) for n in names}
        spans = [
            (i, j)
            for i, j in combinations(range(count), 2)
            if j - i >= 2 and _runs(values[name][i : j + 1], least=0.5 * tick)
        ]
        if spans:
            break
    i, j = pick(rng, spans)
    begin, end = months[i], months[j]
    truth = "rises" if values[name][j] > values[name][i] else "falls"
    chart = _Chart(
        theme=theme,
        style=style,
        months=months,
        values=values,
        colours=colours,
        tick=tick,
        ticks=ticks,
        font=font,
    )
    canvas, frame = _paint(chart)
    pairs = [f"{a} and {b}" for a, b in combinations(theme.series, 2)]
    swapped = {f"{a} and {b}": (f"{b} and {a}",) for a, b in combinations(theme.series, 2)}
    caption = next(p for p in pairs if set(p.split(" and ")) == set(names))
    ends = [frame.mark(name, m) for m in (begin, end)]
    some = [frame.mark(n, m) for n in names for m in (months[1], months[count // 2])]
    steps = (
        option(
            "type",
            "What type of chart is it?",
            style,
            options=styles,
            near=_STYLE_NEAR[style],
            synonyms=_STYLE_WORDS,
            weight=2,
            leaf=leaves.CHART_TYPE,
            regions=[_box(r) for r in some],
            anchors_any=("type", "kind of figure", "drawn as"),
            phrases=(
                "Type: {value}.",
                "The data are drawn as a {value}.",
                "Judging by its marks, the type of figure is a {value}.",
            ),
        ),
        option(
            "unit",
            "In which unit are the values given?",
            theme.unit,
            options=_UNITS,
            near=_UNIT_NEAR[theme.unit],
            weight=2,
            leaf=leaves.UNIT_LABEL,
            regions=[_box(grow(frame.subtitle, 3))],
            anchors_any=("unit", "measured in"),
            phrases=(
                "Unit: {value}.",
                "Everything is measured in {value}.",
                "The line under the title names the unit as {value}.",
            ),
        ),
        option(
            "trend",
            f"Does {name} rise or fall from {begin} to {end}?",
            truth,
            options=("rises", "falls", "stays level"),
            near=("stays level",),
            synonyms={
                "rises": ("increases", "grows", "climbs", "goes up"),
                "falls": ("decreases", "drops", "declines", "goes down"),
                "stays level": ("stays flat", "is unchanged"),
            },
            weight=3,
            leaf=leaves.TREND,
            regions=[_box(r) for r in ends],
            anchors_all=(name, begin, end),
            phrases=(
                f"{name} {{value}} from {begin} to {end}.",
                f"Between {begin} and {end}, {name} {{value}}.",
                f"Comparing its marks from {begin} through {end}, {name} clearly {{value}}.",
            ),
        ),
        option(
            "caption",
            "Which two series does a complete caption have to name?",
            caption,
            kind="text",
            options=pairs,
            near=[p for p in pairs if set(p.split(" and ")) & set(names)],
            synonyms=swapped,
            weight=3,
            leaf=leaves.DESCRIPTION,
            regions=[_box(frame.legend[n]) for n in names],
            anchors_any=("caption",),
            phrases=(
                "Caption: {value} by month.",
                "A fitting caption is {value} by month.",
                f"As a caption I would write {{value}} under the heading {theme.title}.",
            ),
        ),
    )
    program = Program(
        family="charts",
        template="trend",
        seed=seed,
        index=index,
        difficulty=blend(
            (2.0, 1.0 - abs(values[name][j] - values[name][i]) / (2.0 * tick)),
            (1.0, (count - 6) / 3),
            (1.0, (14 - font) / 3),
            (1.0, 0.0 if style in ("bar chart", "line chart") else 1.0),
        ),
        knobs={"months": count, "font_px": font, "ticks": ticks, "tick": tick, "style": style},
        question=(
            f"What type of chart is this and in which unit? Does {name} rise or fall from "
            f"{begin} to {end}? Close with a caption that names both series."
        ),
        choices=choice_list(rng, truth, ("rises", "falls", "stays level")),
        answer=truth,
        answer_step="trend",
        steps=steps,
        size=_SIZE,
    )
    return Drawn(program=program, images=(canvas.finish(),), quantise=True)


def _runs(values: tuple[int, ...], *, least: float) -> bool:
    """Tell whether a stretch goes one way at each step and moves by at least `least` in all."""
    steps = [b - a for a, b in pairwise(values)]
    one_way = all(s > 0 for s in steps) or all(s < 0 for s in steps)
    return one_way and abs(values[-1] - values[0]) >= least

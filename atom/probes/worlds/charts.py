"""Charts: what a legend, a title and an axis say, differences, peaks and trends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Final

from numpy.random import Generator

from atom.probes.program import ProgramStep
from atom.probes.worlds import leaves
from atom.probes.worlds.chart_pictures import (
    COLOUR_NEAR,
    COLOUR_WORDS,
    COLOURS,
    SIZE,
    STYLE_NEAR,
    STYLE_WORDS,
    THEMES,
    UNIT_NEAR,
    UNITS,
    Chart,
    ChartFrame,
    Style,
    box_of,
    make_series,
    paint_chart,
    pick_colours,
    pick_scale,
)
from atom.probes.worlds.kit import DrawnSample, grow
from atom.probes.worlds.steps import (
    blend,
    chance,
    choice_list,
    number,
    option,
    pick,
    sample,
    spread,
    whole,
)

_LONG_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTHS: Final = tuple(name[:3] for name in _LONG_MONTHS)
_MONTH_WORDS: Final = {
    short: (long,) for short, long in zip(_MONTHS, _LONG_MONTHS, strict=True) if short != long
}


def _legend_step(frame: ChartFrame, chart: Chart, name: str, *, weight: int) -> ProgramStep:
    truth = chart.colours[name]
    return option(
        "legend",
        f"Which colour stands for {name} in the legend?",
        truth,
        options=tuple(COLOURS),
        near=COLOUR_NEAR[truth],
        synonyms=COLOUR_WORDS,
        weight=weight,
        leaf=leaves.LEGEND,
        regions=[box_of(frame.legend[name])],
        anchors_all=("legend", name),
        phrases=(
            f"In the legend, {name} is {{value}}.",
            f"The legend gives {name} the colour {{value}}.",
            f"According to the legend, the marks for {name} are drawn in {{value}}.",
            f"Checking the legend first, I see that {name} is shown in {{value}}.",
        ),
    )


def draw_difference(rng: Generator) -> DrawnSample:
    """Ask by how much two series differ in a month."""
    theme = pick(rng, THEMES)
    tick, ticks = pick_scale(rng)
    count = whole(rng, 4, 6)
    first = whole(rng, 0, 12 - count)
    months = _MONTHS[first : first + count]
    names = tuple(sample(rng, theme.series, whole(rng, 2, 3)))
    similar = chance(rng, 0.25)
    colours = pick_colours(rng, names, similar=similar)
    font = pick(rng, (11, 12, 13, 14))
    while True:
        values = {name: make_series(rng, count, tick=tick, ticks=ticks) for name in names}
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
    chart = Chart(
        theme=theme,
        style="bar chart",
        months=months,
        values=values,
        colours=colours,
        tick=tick,
        ticks=ticks,
        font=font,
    )
    canvas, frame = paint_chart(chart)
    value_a, value_b = chart.value(a, month), chart.value(b, month)
    gap = abs(value_a - value_b)
    tol, near = 0.1 * tick, 0.6 * tick
    bars = [frame.mark(a, month), frame.mark(b, month)]
    tops = [box_of((r[0], r[1], r[2], min(r[3], r[1] + 26))) for r in bars]

    def reading(key: str, name: str, *, leaf: leaves.Leaf, phrases: Sequence[str]) -> ProgramStep:
        return number(
            key,
            f"What value does {name} reach in {month}?",
            chart.value(name, month),
            weight=2,
            leaf=leaf,
            regions=[box_of(frame.mark(name, month)), box_of(grow(frame.labels[month], 3))],
            tolerance=tol,
            near=near,
            unit=theme.unit,
            anchors_all=(name,),
            anchors_any=("reaches", "bar", "reads", "stands"),
            constants=(month,),
            phrases=phrases,
        )

    steps = (
        _legend_step(frame, chart, a, weight=2),
        reading(
            "first",
            a,
            leaf=leaves.MARK_HEIGHT,
            phrases=(
                f"{a} reaches {{value}}.",
                f"The {a} bar for {month} stands at {{value}}.",
                f"Following the top of the {a} bar across to the axis gives {{value}}.",
                f"For {month}, {a} reads {{value}} on the vertical axis.",
            ),
        ),
        reading(
            "second",
            b,
            leaf=leaves.AXIS_VALUE,
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
    return DrawnSample(
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
        size=SIZE,
        images=(canvas.finish(),),
    )


def draw_peak(rng: Generator) -> DrawnSample:
    """Ask when a series is highest."""
    theme = pick(rng, THEMES)
    tick, ticks = pick_scale(rng)
    count = whole(rng, 8, 12)
    first = whole(rng, 0, 12 - count)
    months = _MONTHS[first : first + count]
    names = tuple(sample(rng, theme.series, whole(rng, 2, 3)))
    similar = chance(rng, 0.25)
    colours = pick_colours(rng, names, similar=similar)
    font = pick(rng, (11, 12, 13, 14))
    style: Style = pick(rng, ("line chart", "line chart", "dot plot"))
    start = tick * pick(rng, (0, 0, 0, 2))
    name = names[0]
    while True:
        values = {n: make_series(rng, count, tick=tick, ticks=ticks, start=start) for n in names}
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
    chart = Chart(
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
    canvas, frame = paint_chart(chart)
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
            regions=[box_of(frame.mark(name, month)), box_of(grow(frame.labels[month], 3))],
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
            regions=[box_of(frame.mark(name, month))],
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
            regions=[box_of(frame.mark(name, m)) for m in above],
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
    return DrawnSample(
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
        size=SIZE,
        images=(canvas.finish(),),
    )


def draw_trend(rng: Generator) -> DrawnSample:
    """Ask how a series goes over the months."""
    theme = pick(rng, THEMES)
    tick, ticks = pick_scale(rng)
    count = whole(rng, 6, 9)
    first = whole(rng, 0, 12 - count)
    months = _MONTHS[first : first + count]
    names = tuple(sample(rng, theme.series, 2))
    colours = pick_colours(rng, names, similar=False)
    font = pick(rng, (11, 12, 13, 14))
    styles: tuple[Style, ...] = ("bar chart", "line chart", "area chart", "dot plot")
    style = pick(rng, styles)
    name = names[0]
    while True:
        values = {n: make_series(rng, count, tick=tick, ticks=ticks) for n in names}
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
    chart = Chart(
        theme=theme,
        style=style,
        months=months,
        values=values,
        colours=colours,
        tick=tick,
        ticks=ticks,
        font=font,
    )
    canvas, frame = paint_chart(chart)
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
            near=STYLE_NEAR[style],
            synonyms=STYLE_WORDS,
            weight=2,
            leaf=leaves.CHART_TYPE,
            regions=[box_of(r) for r in some],
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
            options=UNITS,
            near=UNIT_NEAR[theme.unit],
            weight=2,
            leaf=leaves.UNIT_LABEL,
            regions=[box_of(grow(frame.subtitle, 3))],
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
            regions=[box_of(r) for r in ends],
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
            regions=[box_of(frame.legend[n]) for n in names],
            anchors_any=("caption",),
            phrases=(
                "Caption: {value} by month.",
                "A fitting caption is {value} by month.",
                f"As a caption I would write {{value}} under the heading {theme.title}.",
            ),
        ),
    )
    return DrawnSample(
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
        size=SIZE,
        images=(canvas.finish(),),
    )


def _runs(values: tuple[int, ...], *, least: float) -> bool:
    """Tell whether a stretch goes one way at each step and moves by at least `least` in all."""
    steps = [b - a for a, b in pairwise(values)]
    one_way = all(s > 0 for s in steps) or all(s < 0 for s in steps)
    return one_way and abs(values[-1] - values[0]) >= least

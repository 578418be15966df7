"""The tab *Answer by answer*: how scores spread, ranks and ties, where answers first break."""

from __future__ import annotations

from collections.abc import Sequence

from atom.display import numbers
from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES
from atom.views.overview.more import (
    BreakCurve,
    BreakPoint,
    Distribution,
    OverviewMore,
    Pattern,
    RankRowShares,
    Ranks,
    Weakest,
)
from taxonomy import format_path

_BAR = 9.6
_WIDE, _HIGH = 560.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 110.0, 12.0, 34.0
_LINE = 15.0
"""Least distance between two direct labels."""


def told(view: OverviewMore, href: str) -> Html | None:
    """Say what the tab shows in a sentence each, as doors to it; None where it shows nothing.

    Args:
        href: where the tab is.
    """
    said = [
        words
        for words in (
            _spread_title(view.distributions) if view.distributions else None,
            _ranks_title(view.ranks) if view.ranks is not None else None,
            _break_title(view.weakest) if view.breaks else None,
        )
        if words
    ]
    if not said:
        return None
    doors = [el("li", kit.door(words, href)) for words in said]
    return kit.section("Answer by answer", el("ul", doors, class_="facts"))


def draw(view: OverviewMore) -> Html | None:
    """Draw the tab; None where there is nothing to draw."""
    sections = [
        distributions(view.distributions),
        ranks(view.ranks),
        first_break(view.breaks, view.weakest),
    ]
    found = [section for section in sections if section is not None]
    return el("div", found, class_="stack") if found else None


def distributions(rows: Sequence[Distribution]) -> Html | None:
    """Draw how each model's sample scores are spread."""
    if not rows:
        return None
    most = max(max(row.counts) / row.n for row in rows)
    axis = el("span", el("span", "0"), el("span", "sample score"), el("span", "100"), class_="axis")
    return kit.section(
        _spread_title(rows),
        kit.grid(
            rows,
            kit.MarkupColumn(
                "Model", lambda row: kit.cell(kit.model(row.name, row.colour), _list(row))
            ),
            kit.MarkupColumn(axis, lambda row: _spread(row, most), width="34%"),
            kit.number("Median", lambda row: numbers.score(row.median)),
            kit.number("Full score", lambda row: numbers.percent(100 * row.perfect / row.n, row.n)),
            kit.number(
                "Answers", lambda row: kit.door(f"{row.n:,}", _list(row), class_="cell quiet")
            ),
            label="Distribution of sample scores",
            tight=False,
        ),
    )


def _list(row: Distribution) -> str:
    return links.address(FAILURES.url_path, row.filters)


def _spread_title(rows: Sequence[Distribution]) -> str:
    most = max(rows, key=lambda row: row.perfect / row.n)
    share = numbers.percent(100 * most.perfect / most.n, most.n)
    return f"How scores spread: {most.name} has the most full scores ({share})"


def _spread(row: Distribution, most: float) -> Html:
    bars = []
    for place, number in enumerate(row.counts):
        high = 26 * number / row.n / most
        bars.append(
            el("rect", x=f"{10 * place + 0.2:.1f}%", y=f"{28 - high:.1f}", width=f"{_BAR}%",
               height=f"{high:.1f}", fill=kit.colour(row.colour),
               data_tip=f"{10 * place}–{10 * place + 10} of 100: "
               f"{numbers.count(number, 'answer')} of {row.n:,}")
        )  # fmt: skip
    words = ", ".join(str(number) for number in row.counts)
    floor = el("line", x1="0", x2="100%", y1="28.5", y2="28.5", class_="track")
    return el("svg", bars, floor, class_="bar spread", role="img",
              aria_label=f"answers in ten bins from 0 to 100: {words}")  # fmt: skip


def ranks(view: Ranks | None) -> Html | None:
    """Draw how often each model takes each rank, and who is first together."""
    if view is None:
        return None
    left = (
        f" {numbers.count(view.left_out, 'sample')} without a value of every model left out."
        if view.left_out
        else ""
    )
    how = (
        "Models are ranked on each sample by its weighted score; equal scores share a rank, so the "
        "first column adds up to more than 100 %."
        if view.rows
        else "A pattern names every model whose final answer is right."
    )
    parts = [_patterns(view)]
    if view.rows:
        parts.insert(0, _rank_table(view))
    return kit.section(_ranks_title(view),
        el("div", parts, class_="columns"),
        kit.note(f"{how} {numbers.count(view.samples, 'sample')} compared.{left}",
           style="margin-top:8px"),
    )  # fmt: skip


def _ranks_title(view: Ranks) -> str:
    if not view.rows:
        return "Who is right together"
    shared = sum(pattern.samples for pattern in view.patterns if len(pattern.models) > 1)
    best = view.rows[0]
    first = numbers.percent(100 * best.counts[0] / view.samples, view.samples)
    if shared and not view.others:
        share = numbers.percent(100 * shared / view.samples, view.samples)
        return f"Ranks, sample by sample: {best.name} is first on {first}, {share} are ties"
    return f"Ranks, sample by sample: {best.name} is first (alone or shared) on {first}"


def _rank_table(view: Ranks) -> Html:
    most = max(max(row.counts) for row in view.rows) or 1
    table = kit.grid(
        view.rows,
        kit.MarkupColumn("Model", lambda row: kit.model(row.name, row.colour)),
        *kit.each(
            range(len(view.rows)),
            lambda at: f"{at + 1}.",
            lambda row, at: _at_rank(row, at, view.samples, most),
        ),
        label="Share of samples at each rank",
    )
    return el("div", table)


def _at_rank(row: RankRowShares, at: int, samples: int, most: int) -> Html:
    number = row.counts[at]
    return el(
        "span",
        f"{100 * number / samples:.0f}",
        class_="heat",
        style=f"--share:{100 * number / most:.0f}%",
        data_tip=f"{row.name} is number {at + 1} on {number:,} of {samples:,} samples",
    )


def _patterns(view: Ranks) -> Html:
    word = "First" if view.rows else "Right"
    table = kit.grid(
        (*view.patterns, None) if view.others else view.patterns,
        kit.MarkupColumn(f"{word} together" if view.rows else "Right", _together),
        kit.number("Samples", lambda row: str(row.samples if row else view.others)),
        kit.number(
            "Share (95 % interval)",
            lambda row: (
                f"{numbers.in_percent(row.share)} ({numbers.ends(row.lo, row.hi)})"
                if row
                else numbers.percent(100 * view.others / view.samples, view.samples)
            ),
        ),
        label=f"{word} together",
    )
    return el("div", table)


def _together(pattern: Pattern | None) -> Html:
    if pattern is None:
        return kit.quiet("any other")
    names = [kit.model(name, place) for name, place in pattern.models]
    return el("span", names or kit.quiet("none of them"), class_="lowest")


def first_break(curves: Sequence[BreakCurve], weakest: Weakest | None) -> Html | None:
    """Draw the share of answers that are still unbroken after each step."""
    if not curves:
        return None
    return kit.section(
        _break_title(weakest),
        el(
            "div",
            el("div", _curve_chart(curves)),
            el("div", _break_table(curves)),
            class_="columns",
        ),
        kit.note(
            "Steps are a sample's criteria in the order of the judge's own solution. An answer "
            "breaks at its first ",
            kit.term("failed criterion"),
            " (a score of 2 or less); the curve is the share that holds, counting an answer only "
            "as far as its steps are scored. Samples have different numbers of steps.",
            style="margin-top:8px",
        ),
    )


def _break_title(weakest: Weakest | None) -> str:
    title = "Where answers first break"
    return title if weakest is None else f"{title}: {_weakest_words(weakest)}"


def _weakest_words(weakest: Weakest) -> str:
    """Say where the largest share breaks, and which steps are level with it."""
    words = (
        f"the largest share ({numbers.in_percent(weakest.share, 0)}) breaks at step "
        f"{weakest.place + 1}"
    )
    if not weakest.level:
        return words
    *others, last = (str(place + 1) for place in weakest.level)
    if others:
        return f"{words}; steps {', '.join(others)} and {last} are level with it"
    return f"{words}; step {last} is level with it"


def _curve_chart(curves: Sequence[BreakCurve]) -> Html:
    places = max(
        (n for curve in curves for n, point in enumerate(curve.points, start=1) if point.at_risk),
        default=1,
    )

    def x(place: int) -> float:
        return _LEFT + (_WIDE - _LEFT - _RIGHT) * place / places

    def y(share: float) -> float:
        return _TOP + (_HIGH - _TOP - _BOTTOM) * (1 - share / 100)

    marks: list[Html] = []
    for share in (0, 25, 50, 75, 100):
        marks.append(el("line", x1=f"{_LEFT}", x2=f"{x(places):.1f}", y1=f"{y(share):.1f}",
                        y2=f"{y(share):.1f}", class_="track"))  # fmt: skip
        marks.append(el("text", f"{share} %", x=f"{_LEFT - 6}", y=f"{y(share) + 4:.1f}",
                        text_anchor="end", class_="tick"))  # fmt: skip
    for place in range(places + 1):
        word = "start" if place == 0 else f"step {place}"
        marks.append(el("text", word, x=f"{x(place):.1f}", y=f"{_HIGH - 14}",
                        text_anchor="middle", class_="tick"))  # fmt: skip
    labels: list[tuple[float, BreakCurve]] = []
    for curve in curves:
        points = [(x(0), y(100))]
        for place, point in enumerate(curve.points[:places], start=1):
            if not point.at_risk:
                break
            points.append((x(place), y(point.intact)))
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        ink = kit.colour(curve.colour)
        marks.append(el("polyline", points=path, fill="none", stroke=ink, stroke_width="2"))
        for place, (a, b) in enumerate(points[1:]):
            point = curve.points[place]
            marks.append(
                el("circle", cx=f"{a:.1f}", cy=f"{b:.1f}", r="4", fill=ink,
                   data_tip=f"{curve.name}: {numbers.in_percent(point.intact)} hold after step "
                            f"{place + 1}\n"
                   f"{point.breaks:,} of {point.at_risk:,} break here, "
                   f"{numbers.in_percent(point.hazard)} ({numbers.ends(point.lo, point.hi)})")
            )  # fmt: skip
        labels.append((points[-1][1], curve))
    at = -_LINE
    for height, curve in sorted(labels, key=lambda item: item[0]):
        at = max(height, at + _LINE)
        marks.append(el("rect", x=f"{x(places) + 10:.1f}", y=f"{at - 4:.1f}", width="8",
                        height="8", rx="2", fill=kit.colour(curve.colour)))  # fmt: skip
        marks.append(el("text", numbers.middle(curve.name, 14), x=f"{x(places) + 22:.1f}",
                        y=f"{at + 4:.1f}", class_="name"))  # fmt: skip
    tall = max(_HIGH, at + 8)
    return el(
        "svg",
        marks,
        class_="plot",
        viewBox=f"0 0 {_WIDE:.0f} {tall:.0f}",
        role="img",
        aria_label="Share of answers unbroken after each step, by model; the numbers are in the "
        "table beside it",
    )


def _break_table(curves: Sequence[BreakCurve]) -> Html:
    table = kit.grid(
        curves,
        kit.MarkupColumn(
            "Model",
            lambda curve: kit.cell(
                kit.model(curve.name, curve.colour),
                links.address(FAILURES.url_path, curve.filters),
            ),
        ),
        *kit.each(
            range(max(len(curve.points) for curve in curves)),
            lambda at: f"Step {at + 1}",
            lambda curve, at: _step(curve.points[at]),
        ),
        kit.MarkupColumn("Breaks most surely at", _worst),
        label="Answers that first break at each step, in percent of those that reach it",
    )
    return el("div", table, kit.note("Break at the step, in percent of the answers that reach it."))


def _step(point: BreakPoint) -> Html:
    if not point.at_risk:
        return kit.quiet(numbers.NONE)
    tip = (
        f"{point.breaks:,} of {point.at_risk:,} answers: {numbers.in_percent(point.hazard)} "
        f"({numbers.ends(point.lo, point.hi)})"
    )
    few = "quiet" if point.at_risk < 30 else None
    return el("span", f"{point.hazard:.0f}", data_tip=tip, class_=few)


def _worst(curve: BreakCurve) -> Html:
    worst = curve.worst
    if not worst:
        return kit.quiet(numbers.NONE)
    return kit.door(
        numbers.middle(worst.path[-1], 26),
        links.address(FAILURES.url_path, worst.filters),
        tip=f"{format_path(worst.path)}\n{worst.breaks:,} of {worst.exposed:,} criteria "
        f"that unbroken answers reach fail here: {numbers.in_percent(worst.share, 0)}",
    )

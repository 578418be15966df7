"""VL-RewardBench's own drawing in the Judge lab: the curve of votes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from atom.display import numbers
from atom.engine.bench.sets import items_of
from atom.judgebench.vl_rewardbench.data import CHOSEN, chosen_by
from atom.records import BenchSet
from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.lab.bench.sets import LabContext
from atom.ui.lab.drawing import svg_text
from atom.views.lab.page import SetProgress
from atom.views.lab.vl_rewardbench import Scaling, scaling_of

_WIDE, _HIGH = 620.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 96.0, 14.0, 34.0
_STEP: Final = 10
_DASHED: Final = "5 4"


def draw(lab: LabContext, record: BenchSet, judges: tuple[SetProgress, ...]) -> None:
    """Draw the chosen judge's curve, and say of a set of hard pairs whom it can't rank."""
    if any(note.startswith(CHOSEN) for note in record.notes):
        names = chosen_by(items_of(lab.store, record.id))
        here = [one.name for one in judges if one.name in names]
        kit.show(kit.notice(_chosen_words(names, here)), key="lab_chosen_by")
    found = scaling_of(lab.result) if lab.result and lab.chosen else None
    if found is not None and lab.chosen is not None:
        kit.show(
            kit.section(
                "Do more votes help?",
                chart(found),
                kit.note(sentence(found, lab.chosen.name)),
            ),
            key="lab_votes",
        )


def _chosen_words(names: tuple[str, ...], here: list[str]) -> str:
    among = f" Leave {', '.join(here)} out of any ranking by it." if here else ""
    return (
        f"These pairs were chosen because {', '.join(names)} fail at them, so the set can’t rank "
        f"these judges, and more votes make them worse on it.{among}"
    )


def sentence(found: Scaling, name: str) -> str:
    """Say in one sentence what more votes bring."""
    known = [point for point in found.points if math.isfinite(point.measured)]
    first, last = known[0], known[-1]
    apart = last.lo > first.hi or last.hi < first.lo
    move = "gains" if found.trend > 0 else "loses"
    change = f"{move} {abs(found.trend):.1f} points" if abs(found.trend) >= 0.05 else "stays level"
    doubt = "" if apart or abs(found.trend) < 0.05 else "; their intervals overlap"
    return (
        f"From {first.votes} to {last.votes} votes {name} {change} on {found.n:,} pairs{doubt}. "
        "The dashed curve is what independent votes would give on pairs that differ in how hard "
        "they are, beyond the votes that there are, too."
    )


def chart(found: Scaling) -> Html:
    """Draw accuracy by number of votes: measured with intervals, foretold, and chance."""
    ends = [
        value
        for point in found.points
        for value in (point.lo, point.hi, point.measured, point.foretold, found.chance)
        if math.isfinite(value)
    ]
    low = max(0, math.floor(min(ends) / _STEP) * _STEP)
    high = min(100, math.ceil(max(ends) / _STEP) * _STEP)
    high = high if high > low else low + _STEP
    right = _WIDE - _RIGHT

    def x(at: int) -> float:
        return _LEFT + 24 + (right - _LEFT - 48) * at / (len(found.points) - 1)

    def y(value: float) -> float:
        return _TOP + (_HIGH - _TOP - _BOTTOM) * (high - value) / (high - low)

    marks: list[Html] = []
    for tick in range(low, high + 1, _STEP if high - low <= 60 else 2 * _STEP):
        marks.append(_line(_LEFT, y(tick), right, y(tick), class_="track"))
        marks.append(svg_text(f"{tick} %", _LEFT - 6, y(tick) + 4, "end", "tick"))
    for at, point in enumerate(found.points):
        word = "1 vote" if point.votes == 1 else f"{point.votes} votes"
        marks.append(svg_text(word, x(at), _HIGH - 12, "middle", "tick"))
    if math.isfinite(found.chance):
        marks.append(
            _line(_LEFT, y(found.chance), right, y(found.chance), stroke="var(--quiet)",
                  stroke_dasharray="2 4", stroke_width="1.5")
        )  # fmt: skip
    told = [(x(n), y(p.foretold)) for n, p in enumerate(found.points) if math.isfinite(p.foretold)]
    if math.isfinite(found.points[0].measured):
        told.insert(0, (x(0), y(found.points[0].measured)))
    known = [(n, p) for n, p in enumerate(found.points) if math.isfinite(p.measured)]
    marks.append(_path(told, stroke="var(--ink)", stroke_dasharray=_DASHED, stroke_width="1.5"))
    marks.append(
        _path([(x(n), y(p.measured)) for n, p in known], stroke="var(--accent)", stroke_width="2")
    )
    for n, point in known:
        if math.isfinite(point.lo):
            marks.append(_line(x(n), y(point.lo), x(n), y(point.hi), stroke="var(--accent)"))
        measured, lo, hi = point.measured / 100, point.lo / 100, point.hi / 100
        tip = f"{numbers.count(point.votes, 'vote')}: {numbers.share_interval(measured, lo, hi)}"
        marks.append(el("circle", cx=f"{x(n):.1f}", cy=f"{y(point.measured):.1f}", r="4",
                        fill="var(--accent)", data_tip=tip))  # fmt: skip
    marks += _names(found, right + 8, y)
    said = "; ".join(f"{p.votes}: {numbers.in_percent(p.measured)}" for _, p in known)
    return el("svg", marks, class_="plot", viewBox=f"0 0 {_WIDE:.0f} {_HIGH:.0f}", role="img",
              aria_label=f"{found.label} by number of votes. {said}")  # fmt: skip


def _names(found: Scaling, left: float, y: Callable[[float], float]) -> list[Html]:
    """Name the lines at their right ends, far enough apart to be read."""
    last = [p for p in found.points if math.isfinite(p.measured)][-1]
    wanted = [(y(last.measured), "measured")]
    if math.isfinite(found.points[-1].foretold):
        wanted.append((y(found.points[-1].foretold), "independent"))
    if math.isfinite(found.chance):
        wanted.append((y(found.chance), "guessing"))
    placed: list[Html] = []
    at = -math.inf
    for height, word in sorted(wanted):
        at = max(height, at + 15)
        placed.append(svg_text(word, left, at + 4, "start", "name"))
    return placed


def _line(x1: float, y1: float, x2: float, y2: float, **more: str) -> Html:
    return el("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", **more)


def _path(points: list[tuple[float, float]], **more: str) -> Html:
    return el(
        "polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in points), fill="none", **more
    )

"""Figures of a report as SVG: they need no script, print well, and follow light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atom.display import numbers
from atom.display.estimate import Estimate
from atom.display.markup import Html, el
from atom.reports.records import Axis, Bar, Section
from atom.views.figures import SCREEN, draw_radar
from atom.views.filters import Filters
from atom.views.fingerprints import radar as shapes
from atom.views.fingerprints.shape import ShapeMark, ShapeModel

COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A7A00", "#555B63",
)  # fmt: skip
"""Okabe-Ito, by a model's place in the study."""
GREY = "#9AA3AE"
WIDTH = 840
_ROW = 26
_NAMES = 215
_WORDS = 190
_LETTERS = 30


@dataclass(frozen=True, kw_only=True)
class FigureLine:
    """One row of a figure.

    Attributes:
        name: at its left.
        value: where its mark stands, on 0-100.
        lo: left end of its interval.
        hi: right end.
        words: at its right.
        colour: of the mark.
        peer: where the mean of all models stands; None without one.
    """

    name: str
    value: float
    lo: float
    hi: float
    words: str
    colour: str
    peer: float | None = None


def colour(place: int | None) -> str:
    """Return a model's colour by its place in the study."""
    return COLOURS[place] if place is not None and place < len(COLOURS) else GREY


def ranking_svg(bars: Sequence[Bar]) -> Html:
    """Draw the ranking: a mark and its interval for each model."""
    lines = [
        FigureLine(
            name=f"{bar.note}   {bar.name}" if bar.note else bar.name,
            value=bar.value,
            lo=bar.lo,
            hi=bar.hi,
            words=f"{bar.value:.1f} ({numbers.ends(bar.lo, bar.hi)})   n {bar.n:,}",
            colour=colour(bar.place),
        )
        for bar in bars
    ]
    what = "Ranking" if any(bar.note for bar in bars) else "Values"
    return lines_svg(lines, f"{what} with 95 % intervals")


def differ_words(bar: Bar) -> tuple[str, str]:
    """Write on which share of a model's checkpoints judges differ, and how far."""
    share = "–" if bar.differ is None else numbers.in_percent(bar.differ)
    return share, "–" if bar.disagreement is None else f"{bar.disagreement:.1f}"


def axes_svg(axes: Sequence[Axis], place: int | None, label: str) -> Html:
    """Draw a model on capabilities, with the mean of all models where there are several."""
    lines = [
        FigureLine(
            name=axis.name,
            value=axis.value,
            lo=axis.lo,
            hi=axis.hi,
            words=f"{axis.value:.1f} ({numbers.ends(axis.lo, axis.hi)})   n {axis.n:,}",
            colour=colour(place),
            peer=axis.mean,
        )
        for axis in axes
    ]
    return lines_svg(lines, label)


def section_radar(section: Section) -> Html | None:
    """Draw a model's shape as the Fingerprints page does; None where there is no shape to draw."""
    if section.place is None or len(section.radar) < shapes.LEAST_AXES:
        return None
    model = ShapeModel(index=section.place, model_id=section.id, name=section.title)
    axes = tuple(
        shapes.RadarAxis(
            name=axis.name,
            path=axis.path,
            label=None,
            middle=axis.value if axis.mean is None else axis.mean,
            lo=max((axis.mean or 0.0) - axis.spread, 0.0),
            hi=min((axis.mean or 0.0) + axis.spread, 100.0),
            marks=(
                ShapeMark(
                    model=section.place,
                    estimate=Estimate(
                        value=axis.value, lo=axis.lo, hi=axis.hi, n=axis.n, samples=axis.n
                    ),
                    listed=axis.n,
                    filters=Filters(),
                ),
            ),
        )
        for axis in section.radar
    )
    several = all(axis.mean is not None for axis in section.radar)
    radar = shapes.Radar(
        title=section.title,
        axes=axes,
        models=(model,),
        group=section.models if several else 1,
        left_out=0,
    )
    return draw_radar(radar, SCREEN)


def lines_svg(lines: Sequence[FigureLine], label: str) -> Html:
    """Draw rows of marks with intervals over one scale of 0-100."""
    height = _ROW * len(lines) + 24
    left, right = _NAMES, WIDTH - _WORDS

    def at(value: float) -> str:
        return f"{left + (right - left) * min(max(value, 0.0), 100.0) / 100:.1f}"

    ticks = [
        (
            el("line", class_="rule", x1=at(tick), x2=at(tick), y1=0, y2=height - 20),
            el("text", f"{tick}", class_="quiet", x=at(tick), y=height - 5, text_anchor="middle"),
        )
        for tick in (0, 25, 50, 75, 100)
    ]
    rows = []
    for number, line in enumerate(lines):
        y = _ROW * number + _ROW / 2
        peer = None
        if line.peer is not None:
            peer = el("line", class_="peer", x1=at(line.peer), x2=at(line.peer), y1=f"{y - 8:.0f}",
                      y2=f"{y + 8:.0f}")  # fmt: skip
        rows.append(
            el(
                "g",
                el("title", f"{line.name}: {line.words}"),
                el("text", _cut(line.name), x=left - 12, y=f"{y + 4:.0f}", text_anchor="end"),
                peer,
                el("line", x1=at(line.lo), x2=at(line.hi), y1=f"{y:.0f}", y2=f"{y:.0f}",
                   stroke=line.colour, stroke_width="3", stroke_linecap="round", opacity="0.5"),
                el("circle", cx=at(line.value), cy=f"{y:.0f}", r="5", fill=line.colour),
                el("text", line.words, class_="quiet", x=right + 14, y=f"{y + 4:.0f}"),
            )
        )  # fmt: skip
    return el(
        "svg",
        ticks,
        rows,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_label=label,
    )


def _cut(name: str) -> str:
    """Cut a long name in the middle."""
    if len(name) <= _LETTERS:
        return name
    head = (_LETTERS - 1) * 2 // 3
    return f"{name[:head].rstrip()}…{name[-(_LETTERS - 1 - head) :].lstrip()}"

"""What a figure is: a drawing, a caption that says all it takes to read it, and its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atom.settings import app_version
from atom.store import Store
from atom.views.figures import colour
from atom.views.filters import Filters, Measure
from atom.views.study_data import StudyData

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one: JSON whose keys Vega-Lite documents."""
INK, QUIET, LINE = "#1B1F24", "#5B6470", "#DDE1E6"
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first is drawn and embedded here; who opens the SVG has one that is as wide."""
WIDE = 520
"""Width of the plot, without names and numbers beside it."""
UNITS: Mapping[Measure, str] = {
    "process": "Score of the checkpoints, 0–100",
    "outcome": "Right answers, %",
    "preference": "Votes won, %",
}
INTERVAL = "Lines are 95 % intervals; samples are independent, marks of one sample aren't."
SYNTHETIC = (
    "SYNTHETIC: a program drew the pictures and simulated the models; not a real measurement."
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What figures are made of.

    Args:
        store: the store of the study.
        data: the study, loaded.
        filters: the chain and the filters, as a page has them.
        query: a page's own keys, such as `facet`.
    """

    store: Store
    data: StudyData
    filters: Filters
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure to publish.

    Args:
        name: of its files, without an ending.
        title: what it shows, as its heading.
        caption: what it takes to read it: study, n, judge, interval.
        columns: of its data, with units.
        rows: of its data, a value a column.
        spec: a Vega-Lite drawing; None where `drawn` holds the drawing.
        drawn: an `<svg>` element.
    """

    name: str
    title: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    spec: Spec | None = None
    drawn: str = ""


def caption(asked: Asked, *sentences: str, judged: bool = True) -> str:
    """Write a caption: what is drawn, of which study, judged by whom, made with what.

    Args:
        asked: what the figure is made of.
        sentences: what is drawn and how it is read.
        judged: whether a judge's marks are in it.
    """
    data = asked.data
    samples, models = len(data.table.sample_ids), len(data.candidates)
    where = f"Study “{data.study.name}”: {samples:,} samples, {models:,} models"
    judge = data.judge
    if judged and judge is not None:
        where += f"; judge {judge.name}" + (", a built-in test judge" if judge.synthetic else "")
    chosen = _narrowed(asked.filters)
    said = [one for one in sentences if one]
    said.append(f"{where}.")
    if chosen:
        said.append(f"Only {chosen}.")
    if data.study.synthetic:
        said.append(SYNTHETIC)
    said.append(f"Made with Atomscope {app_version()}.")
    return " ".join(said)


def _narrowed(filters: Filters) -> str:
    """Name what narrows the numbers beside the model that is looked at."""
    tags = [f"{name}: {value}" for name, value in filters.tags]
    return ", ".join(tags)


def x_axis(title: str, *, lo: float | None = None, hi: float | None = None) -> Spec:
    """Describe a horizontal scale with its title, unit and a light grid."""
    scale: Spec = {"zero": False, "nice": lo is None}
    if lo is not None and hi is not None:
        scale["domain"] = [lo, hi]
    return {"type": "quantitative", "title": title, "scale": scale}


def names(order: Sequence[str], field_name: str = "name", limit: int = 260) -> Spec:
    """Describe a vertical scale of names in a given order."""
    return {
        "field": field_name, "type": "nominal", "sort": list(order), "title": None,
        "axis": {"ticks": False, "domain": False, "labelLimit": limit, "grid": True},
    }  # fmt: skip


def coloured(models: Sequence[tuple[str, int]]) -> Spec:
    """Give each model its colour of the screens; without a legend, for names stand beside."""
    return {
        "field": "model", "type": "nominal", "legend": None,
        "scale": {"domain": [name for name, _ in models],
                  "range": [colour(place) for _, place in models]},
    }  # fmt: skip


def frame(values: Sequence[Mapping[str, object]], layers: Sequence[Spec], **more: object) -> Spec:
    """Put layers over one table, in the look of all figures."""
    return {"data": {"values": list(values)}, "width": WIDE, "layer": list(layers), **more}


def dots(y: Spec, x: Spec, ink: Spec) -> list[Spec]:
    """Draw estimates as points with their intervals: fields `value`, `lo` and `hi`."""
    return [
        {"mark": {"type": "rule", "strokeWidth": 2.4},
         "encoding": {"y": y, "x": {**x, "field": "lo"}, "x2": {"field": "hi"}, "color": ink}},
        {"mark": {"type": "point", "filled": True, "size": 62, "opacity": 1},
         "encoding": {"y": y, "x": {**x, "field": "value"}, "color": ink}},
    ]  # fmt: skip


def beside(y: Spec, text: str, offset: int = 10) -> Spec:
    """Write a field of words at the right end of each row."""
    return {
        "mark": {"type": "text", "align": "left", "fontSize": 10.5, "color": QUIET},
        "encoding": {"y": y, "x": {"value": WIDE + offset}, "text": {"field": text}},
    }


def glyph(text: str) -> str:
    """Write a claim's glyph with one that the embedded font has."""
    return text.replace("▽", "(▼)")


def rows_high(count: int, least: int = 22) -> int:
    """Return the height of so many rows; many rows are lower."""
    return count * (least if count <= 40 else 15)

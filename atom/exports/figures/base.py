"""What a figure is: a drawing, a caption that says all it takes to read it, and its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from atom.display import numbers
from atom.settings import app_version
from atom.store import Store
from atom.views.figures import colour
from atom.views.filters import Filters, Measure
from atom.views.study_data import StudyData

if TYPE_CHECKING:
    import altair as alt

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
class FigureSource:
    """What figures are made of.

    Args:
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
        chart: an Altair chart; None where `drawn` holds the drawing.
        drawn: an `<svg>` element.
    """

    name: str
    title: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    chart: alt.TopLevelMixin | None = None
    drawn: str = ""


def caption(asked: FigureSource, *sentences: str, judged: bool = True) -> str:
    """Write a caption: what is drawn, of which study, judged by whom, made with what.

    Args:
        asked: what the figure is made of.
        sentences: what is drawn and how it is read.
        judged: whether a judge's marks are in it.
    """
    data = asked.data
    samples, models = len(data.table.sample_ids), len(data.candidates)
    where = f"Study “{data.study.name}”: {numbers.count(samples, 'sample')}, "
    where += numbers.count(models, "model")
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


def x_axis(field: str, title: str, *, lo: float | None = None, hi: float | None = None) -> alt.X:
    """Describe a horizontal scale with its title and unit."""
    import altair as alt

    scale = alt.Scale(zero=False, nice=lo is None)
    if lo is not None and hi is not None:
        scale = alt.Scale(zero=False, nice=False, domain=[lo, hi])
    return alt.X(field=field, type="quantitative", title=title, scale=scale)


def names(order: Sequence[str], limit: int = 260) -> alt.Y:
    """Describe a vertical scale of names, the field `name`, in a given order."""
    import altair as alt

    axis = alt.Axis(ticks=False, domain=False, labelLimit=limit, grid=True)
    return alt.Y(field="name", type="nominal", sort=list(order), title=None, axis=axis)


def coloured(models: Sequence[tuple[str, int]], legend: str = "") -> alt.Color:
    """Give each model its colour of the screens; no legend where names stand beside."""
    import altair as alt

    scale = alt.Scale(
        domain=[name for name, _ in models], range=[colour(place) for _, place in models]
    )
    told = alt.Legend(title=legend) if legend else None
    return alt.Color(field="model", type="nominal", legend=told, scale=scale)


def chart(values: Sequence[Mapping[str, object]] = ()) -> alt.Chart:
    """Begin a chart; what goes into `layered` takes its values from there."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(values)) if values else alt.Undefined)


def layered(
    values: Sequence[Mapping[str, object]],
    layers: Sequence[alt.Chart],
    *,
    height: float,
    width: float = WIDE,
) -> alt.LayerChart:
    """Put layers over one table."""
    import altair as alt

    data = alt.InlineData(values=list(values))
    return alt.LayerChart(data=data, layer=list(layers), width=width, height=height)


def dots(y: alt.Y, x: alt.X, ink: alt.Color | alt.ColorValue) -> list[alt.Chart]:
    """Draw estimates as points with their intervals: fields `value`, `lo` and `hi`."""
    import altair as alt

    low = x.copy()
    low["field"] = "lo"
    rule = chart().mark_rule(strokeWidth=2.4).encode(y=y, x=low, x2=alt.X2(field="hi"), color=ink)
    point = chart().mark_point(filled=True, size=62, opacity=1).encode(y=y, x=x, color=ink)
    return [rule, point]


def beside(y: alt.Y, field: str) -> alt.Chart:
    """Write a field of words at the right end of each row."""
    import altair as alt

    words = chart().mark_text(align="left", fontSize=10.5, color=QUIET)
    right = alt.XValue(WIDE + 10)  # type: ignore[no-untyped-call]
    made: alt.Chart = words.encode(y=y, x=right, text=alt.Text(field=field))
    return made


def glyph(text: str) -> str:
    """Write a claim's glyph with one that the embedded font has."""
    return text.replace("▽", "(▼)")


def rows_high(count: int, least: int = 22) -> int:
    """Return the height of so many rows; many rows are lower."""
    return count * (least if count <= 40 else 15)

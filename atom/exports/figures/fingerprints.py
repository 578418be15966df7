"""The Fingerprints page's figures: radars, the heatmap, one model's skills."""

from __future__ import annotations

import math

from atom.display import numbers
from atom.errors import UsageError
from atom.exports.figures.base import (
    INK,
    INTERVAL,
    QUIET,
    UNITS,
    Figure,
    FigureSource,
    caption,
    chart,
    dots,
    glyph,
    layered,
    names,
    rows_high,
    x_axis,
)
from atom.views.figures import colour, radar_svg
from atom.views.fingerprints.bars import SkillBar, bars
from atom.views.fingerprints.chart import column_labels, row_labels
from atom.views.fingerprints.claims import Claims, claims, opened
from atom.views.fingerprints.heat import heatmap
from atom.views.fingerprints.radar import Radar, radars
from atom.views.fingerprints.shape import Shape, shape
from atom.views.tree.colours import ink_on, score_colour, stops

_MOST_SKILLS = 40
_CELL = 17


def _form(asked: FigureSource) -> tuple[Shape, Claims | None]:
    form = shape(asked.data, asked.filters, facet=asked.query.get("facet"))
    if not form.models:
        raise UsageError("no model has a value yet: there is no fingerprint to draw")
    said = claims(asked.data, form)
    return opened(form, said), said


def radar(asked: FigureSource, place: int = 0) -> Figure:
    """Draw one of the two radars."""
    drawn = radars(_form(asked)[0])
    if place >= len(drawn):
        raise UsageError(f"there are {len(drawn):,} radars here, and no number {place + 1}")
    one = drawn[place]
    return Figure(
        name=f"radar-{place + 1}",
        title=f"Fingerprints: {one.title}",
        caption=caption(
            asked,
            f"{_unit(asked)}; the rim is 100.",
            f"Grey: {one.band_words}." if one.band_words else "",
            f"{numbers.count(one.left_out, 'axis', 'axes')} with less data "
            f"{numbers.are(one.left_out)} left out."
            if one.left_out
            else "",
        ),
        columns=("capability", "model", "value_0_100", "lo", "hi", "samples", "n"),
        rows=list(_radar_rows(one)),
        drawn=radar_svg(one),
    )


def _unit(asked: FigureSource) -> str:
    form, _ = _form(asked)
    return UNITS[form.measure]


def _radar_rows(one: Radar) -> list[tuple[object, ...]]:
    return [
        (axis.full, model.name, mark.estimate.value, mark.estimate.lo, mark.estimate.hi,
         mark.estimate.samples, mark.estimate.n)
        for axis in one.axes
        for model, mark in zip(one.models, axis.marks, strict=True)
    ]  # fmt: skip


def heat(asked: FigureSource) -> Figure:
    """Draw every model on every capability."""
    import altair as alt

    form, said = _form(asked)
    found = heatmap(form, said, rows="score", columns="tree")
    columns, rows = column_labels(found), row_labels(found)
    lo, hi = found.span
    values: list[dict[str, object]] = []
    data: list[tuple[object, ...]] = []
    for row, model in enumerate(found.models):
        for number, column in enumerate(found.columns):
            cell = found.cells[row][number]
            known = cell.mark.estimate
            ground = score_colour(100 * (known.value - lo) / (hi - lo), "light")
            values.append({"row": rows[row], "column": columns[number], "group": column.group,
                           "value": known.value if known.known else None,
                           "glyph": glyph(cell.glyph),
                           "ink": ink_on(ground) if known.known else QUIET})  # fmt: skip
            data.append((model.name, column.full, known.value, known.lo, known.hi, known.samples,
                         known.n, cell.difference,
                         cell.claim.label if cell.claim else ""))  # fmt: skip
    base = chart().encode(
        x=alt.X("column:N", sort=columns, title=None,
                axis=alt.Axis(orient="top", labelAngle=-60, labelLimit=200, labelOverlap=False,
                              ticks=False, domain=False)),
        y=alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(labelLimit=260, grid=False,
                                                          ticks=False, domain=False)),
    )  # fmt: skip
    fill = alt.Color(
        "value:Q",
        title=UNITS[form.measure],
        scale=alt.Scale(domain=[lo, hi], range=list(stops("light", difference=False))),
        legend=alt.Legend(orient="bottom", direction="horizontal", gradientLength=220),
    )
    return Figure(
        name="heatmap",
        title="Every model on every capability",
        caption=caption(
            asked,
            "Mean score of each model on each capability, the best model first; capabilities in "
            "the order of the tree." if form.facet is None else
            f"Mean score of each model on each label of {form.facet}.",
            "▼ confirmed weakness, (▼) suspected, ▲ strength, ○ insufficient, against what the "
            "model's level and the other models predict, false discovery rate 10 %; an empty cell "
            "has no value.",
        ),
        columns=("model", "capability", "value_0_100", "lo", "hi", "samples", "n",
                 "difference_to_others_points", "claim"),
        rows=data,
        chart=layered(
            values,
            [base.mark_rect(stroke="white", strokeWidth=1).encode(color=fill),
             base.mark_text(fontSize=9).encode(text="glyph:N",
                                               color=alt.Color("ink:N", scale=None))],
            width=_CELL * len(columns), height=(_CELL + 5) * len(rows),
        ).resolve_scale(color="independent"),
    )  # fmt: skip


def skills(asked: FigureSource) -> Figure:
    """Draw one model's capabilities, the surest evidence first."""
    import altair as alt

    form, said = _form(asked)
    shown = bars(form, said)
    if shown is None:
        raise UsageError("no capability has a value: there are no skills to draw")
    rows = shown.rows[:_MOST_SKILLS]
    rest = len(shown.rows) - len(rows)
    labels = [_label(bar) for bar in rows]
    values: list[dict[str, object]] = [
        {"name": label, "model": shown.model.name, "value": bar.mark.estimate.value,
         "lo": bar.mark.estimate.lo, "hi": bar.mark.estimate.hi,
         "held": bar.held if math.isfinite(bar.held) else None}
        for label, bar in zip(labels, rows, strict=True)
    ]  # fmt: skip
    y, x = names(labels, limit=320), x_axis("value", UNITS[form.measure], lo=0, hi=100)
    held = x.copy()
    held["field"] = "held"
    tick = chart().mark_tick(thickness=2, color=INK, size=12, opacity=1).encode(y=y, x=held)
    return Figure(
        name=f"skills-{shown.model.name}",
        title=f"Skills of {shown.model.name}, the surest evidence first",
        caption=caption(
            asked,
            "Points: the model's mean. Black ticks: what the model's level and the other models "
            "predict there, or the other models' mean where nothing is claimed.",
            INTERVAL,
            "▼ confirmed weakness, (▼) suspected, ▲ strength (false discovery rate 10 %).",
            f"{rest} more with less evidence are in the table." if rest else "",
        ),
        columns=("model", "capability", "claim", "value_0_100", "lo", "hi", "expected", "samples",
                 "n"),
        rows=[(shown.model.name, bar.full, bar.claim.label if bar.claim else "",
               bar.mark.estimate.value, bar.mark.estimate.lo, bar.mark.estimate.hi, bar.held,
               bar.mark.estimate.samples, bar.mark.estimate.n) for bar in shown.rows],
        chart=layered(
            values,
            [*dots(y, x, alt.ColorValue(colour(shown.model.index))), tick],
            height=rows_high(len(rows), 18),
        ),
    )  # fmt: skip


def _label(bar: SkillBar) -> str:
    told = bar.claim is not None and bar.claim.label != "nothing found"
    return f"{glyph(bar.claim.glyph)} {bar.name}" if told and bar.claim else bar.name

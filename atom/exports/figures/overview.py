"""The Overview's figures: ranking, first broken steps, scores, ranks, right and wrong reasons."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from atom.display import numbers
from atom.errors import UsageError
from atom.exports.figures.base import (
    INTERVAL,
    LINE,
    UNITS,
    WIDE,
    Figure,
    FigureSource,
    beside,
    caption,
    chart,
    coloured,
    dots,
    layered,
    names,
    rows_high,
    x_axis,
)
from atom.views.overview.more import OverviewMore, overview_more
from atom.views.overview.page import overview

if TYPE_CHECKING:
    import altair as alt

_BINS = [f"{10 * at}–{10 * at + 10}" for at in range(10)]
_REASONS = {
    "sound": ("right, steps hold", "#2457D6"),
    "lucky": ("right, steps fail (lucky)", "#9DB8F2"),
    "slip": ("wrong, steps hold (slip)", "#F2C79D"),
    "broken": ("wrong, steps fail", "#B0500A"),
}


def ranking(asked: FigureSource) -> Figure:
    """Draw every model's mean with its interval, best first."""
    found = overview(asked.data, asked.filters)
    rows = [row for row in found.ranking if row.score.known]
    if not rows:
        raise UsageError("no model has a value yet: there is no ranking to draw")
    values: list[dict[str, object]] = [
        {"name": row.name, "model": row.name, "value": row.score.value, "lo": row.score.lo,
         "hi": row.score.hi,
         "words": f"{row.score.value:.1f} ({numbers.ends(row.score.lo, row.score.hi)})  "
         f"n {row.score.samples:,}"}
        for row in rows
    ]  # fmt: skip
    y = names([row.name for row in rows])
    x = x_axis("value", UNITS[found.measure])
    shares = [f"{r.rank_best}–{r.rank_worst}" if r.rank_best else "" for r in rows]
    first = rows[0]
    alone = first.rank_worst == first.rank_best == 1
    told = f"{first.name} leads" if alone else f"{first.name} is ahead, but not surely"
    return Figure(
        name="ranking",
        title=f"Ranking of {numbers.count(len(rows), 'model')}: {told}",
        caption=caption(
            asked, "Mean of each model over its samples, best first.", INTERVAL,
            "n: samples. The table holds the places that each model may have.",
            judged=found.measure == "process",
        ),
        columns=("model", "value_0_100", "lo", "hi", "samples", "n", "places"),
        rows=[(r.name, r.score.value, r.score.lo, r.score.hi, r.score.samples, r.score.n, place)
              for r, place in zip(rows, shares, strict=True)],
        chart=layered(values, [*dots(y, x, coloured([(r.name, r.colour) for r in rows])),
                               beside(y, "words")], height=rows_high(len(rows), 26)),
    )  # fmt: skip


def _more(asked: FigureSource) -> OverviewMore:
    return overview_more(asked.data, asked.filters)


def first_breaks(asked: FigureSource) -> Figure:
    """Draw the share of answers that is unbroken after each step."""
    import altair as alt

    curves = _more(asked).breaks
    if not curves:
        raise UsageError("no answer has steps that are scored in order: nothing breaks here")
    values: list[dict[str, object]] = []
    rows: list[tuple[object, ...]] = []
    for curve in curves:
        values.append({"model": curve.name, "step": 0, "intact": 100.0})
        for step, point in enumerate(curve.points, start=1):
            values.append({"model": curve.name, "step": step, "intact": point.intact})
            rows.append((curve.name, step, point.at_risk, point.breaks, point.hazard, point.lo,
                         point.hi, point.intact))  # fmt: skip
    steps = alt.Axis(tickMinStep=1, format="d", tickCount=max(len(one.points) for one in curves))
    base = chart().encode(
        x=alt.X("step:Q", title="Step of the reference chain", axis=steps),
        y=alt.Y("intact:Q", title="Answers unbroken, %", scale=alt.Scale(domain=[0, 100])),
        color=coloured([(curve.name, curve.colour) for curve in curves], legend="Model"),
    )
    return Figure(
        name="first-broken-step",
        title="Where answers first break",
        caption=caption(
            asked,
            "Share of a model's answers whose steps have all held so far; step 0 is before the "
            "first. Answers with an unscored step are followed up to it.",
        ),
        columns=("model", "step", "answers_that_reach_it", "break_here", "break_percent", "lo",
                 "hi", "unbroken_after_percent"),
        rows=rows,
        chart=layered(
            [one for one in values if math.isfinite(float(str(one["intact"])))],
            [base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=34)],
            height=280,
        ),
    )  # fmt: skip


def distribution(asked: FigureSource) -> Figure:
    """Draw how each model's sample scores spread."""
    import altair as alt

    spread = _more(asked).distributions
    if not spread:
        raise UsageError("no sample has a score by steps: there is nothing that spreads")
    values: list[dict[str, object]] = [
        {"model": one.name, "bin": name, "share": 100 * count / max(one.n, 1)}
        for one in spread
        for name, count in zip(_BINS, one.counts, strict=True)
    ]
    bars = chart(values).mark_bar().properties(width=130, height=76).encode(
        x=alt.X("bin:N", sort=_BINS, title="Score, 0–100",
                axis=alt.Axis(labelAngle=-90, labelFontSize=9)),
        y=alt.Y("share:Q", title="Answers, %"),
        color=coloured([(one.name, one.colour) for one in spread]),
    )  # fmt: skip
    by = alt.Facet("model:N", sort=[one.name for one in spread], header=alt.Header(title=None))
    return Figure(
        name="score-distribution",
        title="How the scores of single answers spread",
        caption=caption(
            asked, "Share of a model's answers whose score lies in each tenth of the scale."
        ),
        columns=("model", "from_to", "answers", "of"),
        rows=[(one.name, name, count, one.n) for one in spread
              for name, count in zip(_BINS, one.counts, strict=True)],
        chart=bars.facet(by, columns=4),
    )  # fmt: skip


def ranks(asked: FigureSource) -> Figure:
    """Draw how often each model takes each place, sample by sample."""
    import altair as alt

    found = _more(asked).ranks
    if found is None or not found.rows:
        raise UsageError("ranks sample by sample need two models that share samples by steps")
    values: list[dict[str, object]] = [
        {"name": row.name, "rank": str(place), "order": place,
         "share": 100 * count / max(found.samples, 1)}
        for row in found.rows
        for place, count in enumerate(row.counts, start=1)
    ]  # fmt: skip
    places = [str(place) for place in range(1, len(found.rows) + 1)]
    return Figure(
        name="ranks",
        title="Which place each model takes, sample by sample",
        caption=caption(
            asked,
            f"Competition ranks over the {found.samples:,} samples that every model has a score "
            "for; models that tie share the better place.",
        ),
        columns=("model", "place", "samples", "of"),
        rows=[(row.name, place, count, found.samples) for row in found.rows
              for place, count in enumerate(row.counts, start=1)],
        chart=_stacked(
            values, [row.name for row in found.rows], "Samples, %",
            alt.Color("rank:O", sort=places, title="Place",
                      scale=alt.Scale(domain=places, scheme="blues", reverse=True)),
        ),
    )  # fmt: skip


def reasons(asked: FigureSource) -> Figure:
    """Draw right and wrong answers by whether their steps hold."""
    import altair as alt

    found = [one for one in overview(asked.data, asked.filters).quadrants if _known(one.counts)]
    if not found:
        raise UsageError("right answers by their reasons need outcomes and steps")
    values: list[dict[str, object]] = []
    rows: list[tuple[object, ...]] = []
    for one in found:
        total = _known(one.counts)
        for place, (key, (words, _)) in enumerate(_REASONS.items()):
            count = int(getattr(one.counts, key))
            values.append(
                {"name": one.name, "kind": words, "order": place, "share": 100 * count / total}
            )
            rows.append((one.name, words, count, total))
    kinds = [words for words, _ in _REASONS.values()]
    return Figure(
        name="right-for-the-wrong-reason",
        title="Right and wrong answers, and whether their steps hold",
        caption=caption(
            asked,
            "Answers with a known outcome and a scored process; answers that say too little for a "
            "process are left out.",
        ),
        columns=("model", "kind", "answers", "of"),
        rows=rows,
        chart=_stacked(
            values, [one.name for one in found], "Answers, %",
            alt.Color("kind:N", sort=kinds, title=None,
                      legend=alt.Legend(orient="bottom", columns=2, labelLimit=WIDE),
                      scale=alt.Scale(domain=kinds, range=[ink for _, ink in _REASONS.values()])),
        ),
    )  # fmt: skip


def _stacked(
    values: list[dict[str, object]], rows: list[str], title: str, ink: alt.Color
) -> alt.LayerChart:
    """Draw shares of 100, one beside the other in their `order`, a bar a row."""
    import altair as alt

    bars = chart().mark_bar(stroke=LINE, strokeWidth=0.5).encode(
        y=names(rows),
        x=alt.X("share:Q", title=title, scale=alt.Scale(domain=[0, 100])),
        order=alt.Order(field="order"),
        color=ink,
    )  # fmt: skip
    return layered(values, [bars], height=rows_high(len(rows), 26))


def _known(counts: object) -> int:
    return sum(int(getattr(counts, key)) for key in _REASONS)

"""The Overview's figures: ranking, first broken steps, scores, ranks, right and wrong reasons."""

from __future__ import annotations

import math

from atom.display import numbers
from atom.errors import UsageError
from atom.exports.figures.base import (
    INTERVAL,
    LINE,
    QUIET,
    UNITS,
    WIDE,
    Asked,
    Figure,
    beside,
    caption,
    coloured,
    dots,
    frame,
    names,
    rows_high,
    x_axis,
)
from atom.views.overview.more import OverviewMore, overview_more
from atom.views.overview.page import overview

_BINS = [f"{10 * at}–{10 * at + 10}" for at in range(10)]
_REASONS = {
    "sound": ("right, steps hold", "#2457D6"),
    "lucky": ("right, steps fail (lucky)", "#9DB8F2"),
    "slip": ("wrong, steps hold (slip)", "#F2C79D"),
    "broken": ("wrong, steps fail", "#B4530A"),
}


def ranking(asked: Asked) -> Figure:
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
    x = x_axis(UNITS[found.measure])
    shares = [f"{r.rank_best}–{r.rank_worst}" if r.rank_best else "" for r in rows]
    first = rows[0]
    alone = first.rank_worst == first.rank_best == 1
    told = f"{first.name} leads" if alone else f"{first.name} is ahead, but not surely"
    return Figure(
        name="ranking",
        title=f"Ranking of {len(rows)} models: {told}",
        caption=caption(
            asked, "Mean of each model over its samples, best first.", INTERVAL,
            "n: samples. The table holds the places that each model may have.",
            judged=found.measure == "process",
        ),
        columns=("model", "value_0_100", "lo", "hi", "samples", "n", "places"),
        rows=[(r.name, r.score.value, r.score.lo, r.score.hi, r.score.samples, r.score.n, place)
              for r, place in zip(rows, shares, strict=True)],
        spec=frame(values, [*dots(y, x, coloured([(r.name, r.colour) for r in rows])),
                            beside(y, "words")], height=rows_high(len(rows), 26)),
    )  # fmt: skip


def _more(asked: Asked) -> OverviewMore:
    return overview_more(asked.data, asked.filters)


def first_breaks(asked: Asked) -> Figure:
    """Draw the share of answers that is unbroken after each step."""
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
    ink = coloured([(curve.name, curve.colour) for curve in curves])
    ink["legend"] = {"title": "Model"}
    longest = max(len(curve.points) for curve in curves)
    enc = {
        "x": {"field": "step", "type": "quantitative", "title": "Step of the reference chain",
              "axis": {"tickMinStep": 1, "format": "d", "tickCount": longest}},
        "y": {"field": "intact", "type": "quantitative", "title": "Answers unbroken, %",
              "scale": {"domain": [0, 100]}},
        "color": ink,
    }  # fmt: skip
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
        spec=frame(
            [one for one in values if math.isfinite(float(str(one["intact"])))],
            [{"mark": {"type": "line", "strokeWidth": 2}, "encoding": enc},
             {"mark": {"type": "point", "filled": True, "size": 34}, "encoding": enc}],
            height=280,
        ),
    )  # fmt: skip


def distribution(asked: Asked) -> Figure:
    """Draw how each model's sample scores spread."""
    spread = _more(asked).distributions
    if not spread:
        raise UsageError("no sample has a score by steps: there is nothing that spreads")
    values: list[dict[str, object]] = [
        {"model": one.name, "bin": name, "share": 100 * count / max(one.n, 1)}
        for one in spread
        for name, count in zip(_BINS, one.counts, strict=True)
    ]
    order = [one.name for one in spread]
    return Figure(
        name="score-distribution",
        title="How the scores of single answers spread",
        caption=caption(
            asked, "Share of a model's answers whose score lies in each tenth of the scale."
        ),
        columns=("model", "from_to", "answers", "of"),
        rows=[(one.name, name, count, one.n) for one in spread
              for name, count in zip(_BINS, one.counts, strict=True)],
        spec={
            "data": {"values": values},
            "columns": 4,
            "facet": {"field": "model", "type": "nominal", "sort": order,
                      "header": {"title": None}},
            "spec": {
                "width": 130, "height": 76, "mark": {"type": "bar"},
                "encoding": {
                    "x": {"field": "bin", "type": "nominal", "sort": _BINS,
                          "title": "Score, 0–100",
                          "axis": {"labelAngle": -90, "labelFontSize": 9}},
                    "y": {"field": "share", "type": "quantitative", "title": "Answers, %"},
                    "color": coloured([(one.name, one.colour) for one in spread]),
                },
            },
        },
    )  # fmt: skip


def ranks(asked: Asked) -> Figure:
    """Draw how often each model takes each place, sample by sample."""
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
        spec=frame(
            values,
            [{"mark": "bar", "encoding": {
                "y": names([row.name for row in found.rows]),
                "x": {"field": "share", "type": "quantitative", "title": "Samples, %",
                      "scale": {"domain": [0, 100]}},
                "order": {"field": "order"},
                "color": {"field": "rank", "type": "ordinal", "sort": places, "title": "Place",
                          "scale": {"domain": places, "scheme": "blues", "reverse": True}},
            }}],
            height=rows_high(len(found.rows), 26),
        ),
    )  # fmt: skip


def reasons(asked: Asked) -> Figure:
    """Draw right and wrong answers by whether their steps hold."""
    found = [one for one in overview(asked.data, asked.filters).quadrants if _known(one.counts)]
    if not found:
        raise UsageError("right answers by their reasons need outcomes and steps")
    values: list[dict[str, object]] = []
    rows: list[tuple[object, ...]] = []
    for one in found:
        total = _known(one.counts)
        for place, (key, (words, _)) in enumerate(_REASONS.items()):
            count = int(getattr(one.counts, key))
            values.append({"name": one.name, "kind": words, "order": place,
                           "share": 100 * count / total})  # fmt: skip
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
        spec=frame(
            values,
            [{"mark": {"type": "bar", "stroke": LINE, "strokeWidth": 0.5}, "encoding": {
                "y": names([one.name for one in found]),
                "x": {"field": "share", "type": "quantitative", "title": "Answers, %",
                      "scale": {"domain": [0, 100]}},
                "order": {"field": "order"},
                "color": {"field": "kind", "type": "nominal", "sort": kinds, "title": None,
                          "legend": {"orient": "bottom", "columns": 2, "labelLimit": WIDE},
                          "scale": {"domain": kinds,
                                    "range": [ink for _, ink in _REASONS.values()]}},
            }}],
            height=rows_high(len(found), 26),
            config={"axis": {"labelColor": QUIET}},
        ),
    )  # fmt: skip


def _known(counts: object) -> int:
    return sum(int(getattr(counts, key)) for key in _REASONS)

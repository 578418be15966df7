"""How far the judge's noise reaches: the least difference that could be seen."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom.analysis.agreement.judge_noise import Advice
from atom.display import numbers
from atom.ui import kit
from atom.ui.html import Html, el
from atom.views.lab.reliability.noise import LEAST_JUDGES, WANTED_HALF, NoiseRow
from atom.views.lab.reliability.tab import Reliability

_ADVICE: dict[Advice, str] = {
    "samples": "more samples",
    "judge": "a better judge",
    "either": "either",
    "unknown": "can’t be told",
}


def noise(view: Reliability) -> Html | None:
    """Draw every model's number with the judge's noise in its interval."""
    if not view.noise:
        return None
    whole = [row for row in view.noise if not row.branch]
    parts = [row for row in view.noise if row.branch]
    words = (
        "The variance of a mean has three parts: other samples could have been drawn, the same "
        "judge says something else when asked again, another judge is kinder or stricter. The "
        "first two shrink with more samples; a judge’s kindness doesn’t."
        if view.separable
        else f"With {view.judges} judges there is one difference between them, which tells no "
        f"share of anything: it takes {LEAST_JUDGES} judges of the same checkpoints. How kind this "
        "judge is beside others isn’t in these intervals."
        if view.judges > 1
        else "With one judge, asked at temperature 0, a repeat is the same request: the judge’s "
        "noise can’t be told from the samples’, and how kind this judge is beside others isn’t in "
        "these intervals."
        if view.cold and view.retest
        else "With one judge, asked once, the judge’s noise can’t be told from the samples’. It is "
        "inside these intervals as far as it differs from answer to answer; how kind this judge "
        "is beside others is not."
    )
    return kit.section("More samples, or a better judge?",
        kit.note(words, style="margin-bottom:8px;max-width:860px"),
        _noise_table(whole, view, "Noise by model"),
        kit.fold("By branch", _noise_table(parts, view, "Noise by model and branch"))
        if parts
        else None,
        kit.note("Means of all checkpoints, unweighted, on 0–100. The forecast is of samples in "
           f"all, for plus or minus {WANTED_HALF:g} points; ∞: the judges’ differences alone are "
           "wider than that."),
    )  # fmt: skip


def _noise_table(rows: Sequence[NoiseRow], view: Reliability, label: str) -> Html:
    split = view.separable
    return kit.grid(
        rows,
        kit.MarkupColumn("Model", lambda row: kit.model(row.name, row.model)),
        kit.MarkupColumn("Branch", lambda row: row.branch, when=any(row.branch for row in rows)),
        kit.number("score 0–100", lambda row: numbers.interval(row.plain)),
        kit.number("with the judge’s noise", lambda row: _wider(row, view.judges)),
        kit.number("samples · repeats · judges, % of the variance", _shares, when=split),
        kit.MarkupColumn("what helps more", lambda row: _ADVICE[row.advice], when=split),
        kit.number(f"samples for ±{WANTED_HALF:g}", _needed),
        kit.number("samples", lambda row: kit.quiet(f"{row.estimate.samples:,}")),
        label=label,
    )


def _needed(row: NoiseRow) -> str:
    if math.isnan(row.needed):
        return numbers.NONE
    if math.isinf(row.needed):
        return "∞"
    return "reached" if row.needed <= row.estimate.samples else f"{row.needed:,.0f}"


def _wider(row: NoiseRow, judges: int) -> str:
    if math.isnan(row.judges):
        return "unknown: one judge" if judges < 2 else "unknown: too few judges"
    return numbers.ends(row.estimate.lo, row.estimate.hi)


def _shares(row: NoiseRow) -> Html:
    parts = (
        ("samples", row.samples, 0.25),
        ("repeats", row.repeats, 0.6),
        ("judges", row.judges, 1.0),
    )
    words = " · ".join(
        numbers.NONE if math.isnan(share) else f"{100 * share:.0f}" for _, share, _ in parts
    )
    start = 0.0
    boxes = []
    for name, share, ink in parts:
        if math.isfinite(share) and share > 0:
            boxes.append(
                el("rect", el("title", f"{name}: {numbers.share(share)}"), x=f"{100 * start:.1f}",
                   y="0", width=f"{100 * share:.1f}", height="9", fill="var(--ink)",
                   fill_opacity=f"{ink}")
            )  # fmt: skip
            start += share
    bar = el("svg", boxes, viewBox="0 0 100 9", width="100", height="9", aria_hidden="true",
             style="margin-right:8px;vertical-align:middle")  # fmt: skip
    return el("span", bar, words, class_="nowrap")

"""`judge panel`: a study's judges as one panel."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output, table
from atom.cli.parts.sources import open_study
from atom.display import numbers
from atom.errors import UsageError
from atom.views.runs.page import money

if TYPE_CHECKING:
    from atom.views.judges.panel import PanelView


def add_panel(verbs: Any) -> None:
    """Declare `judge panel`."""
    words = "a study's judges together: agreement, how many it takes, who is lenient, whom to drop"
    one = verbs.add_parser("panel", parents=[common()], help=words, description=words)
    one.add_argument("--study", required=True, help="name or id")
    one.set_defaults(call=show_panel)


def show_panel(args: argparse.Namespace, out: Output) -> int:
    """Show the panel."""
    # The figures' libraries take a second to load, which other verbs needn't wait for.
    from atom.views.filters import Filters
    from atom.views.judges.panel import panel_view
    from atom.views.study_data import load_study

    with open_study(settings_of(args), args.study) as (store, study_id, key):
        view = panel_view(
            store,
            load_study(store, study_id),
            lambda judge: load_study(store, study_id, judge),
            Filters(study=key),
        )
    if view is None:
        raise UsageError(
            "fewer than two judges marked this study: `run start --study NAME --judge OTHER "
            "--stages scoring` has another one mark the same answers (--limit N a part of them)"
        )
    panel = view.panel
    seats = [
        {"judge": one.judge.name, "marks": one.marks, "shift": one.shift, "low": one.shift_lo,
         "high": one.shift_hi, "flaw": one.flaw, "reliability_without": _number(one.without),
         "cost_per_mark": one.cost}
        for one in view.seats
    ]  # fmt: skip
    scores = [
        {"model": one.name, "mean": one.mean, "disagreement": _number(one.disagreement),
         "marks": one.n,
         "by_people": None if one.by_people is None else 100 * one.by_people.value,
         "low": None if one.by_people is None else 100 * one.by_people.lo,
         "high": None if one.by_people is None else 100 * one.by_people.hi}
        for one in view.scores
    ]  # fmt: skip
    said = {
        "reliability": _number(panel.reliability), "correlation": _number(panel.mean_correlation),
        "needed": _number(panel.needed), "needed_low": _number(panel.needed_lo),
        "needed_high": _number(panel.needed_hi), "calibrated": view.calibrated,
        "why_raw": view.why_raw, "drop": view.drop, "judges": seats, "models": scores,
        "advice": None if view.advice is None else {
            "half": view.advice.half, "judges_share": view.advice.judges,
            "best": view.advice.best, "why_repeat": view.advice.why_repeat,
            "options": [{"name": one.name, "half": _number(one.half), "price": one.price}
                        for one in view.advice.options],
        },
    }  # fmt: skip
    lines = [
        "calibrated by people's labels" if view.calibrated else f"judge-scale: {view.why_raw}",
        (f"reliability of the panel {panel.reliability:.2f}; " if math.isfinite(panel.reliability)
         else "") + view.needed,
        *table(
            ("judge", "marks", "shift", "", "without it", "a mark costs"),
            [
                [one.judge.name, one.marks,
                 numbers.signed_interval(one.shift, one.shift_lo, one.shift_hi), one.flaw,
                 "" if math.isnan(one.without) else f"{one.without:.2f}",
                 "" if one.cost is None else money(one.cost)]
                for one in view.seats
            ],
        ),
        *_advice(view),
        f"drop {view.drop}: the rest agree better without it" if view.drop else "",
        *table(
            ("model", "mean", "disagreement"),
            [[one.name, f"{one.mean:.1f}", f"{one.disagreement:.1f}"] for one in view.scores],
        ),
    ]  # fmt: skip
    out.result(said, [line for line in lines if line])
    return 0


def _advice(view: PanelView) -> list[str]:
    from atom.views.judges.panel_words import best_words, made_of, options_words

    found = view.advice
    if found is None:
        return []
    told = [f"  {one[:1].lower()}{one[1:]}" for one in options_words(found)]
    return [made_of(found), *told, best_words(found)]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None

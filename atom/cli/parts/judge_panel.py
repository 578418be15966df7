"""`judge panel`: a study's judges as one panel."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output
from atom.cli.parts.sources import open_study
from atom.display import writers
from atom.errors import UsageError

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
    from atom.views.judges.panel_tables import options, scores, seats
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
    said = {
        "reliability": _number(panel.reliability), "correlation": _number(panel.mean_correlation),
        "needed": _number(panel.needed), "needed_low": _number(panel.needed_lo),
        "needed_high": _number(panel.needed_hi), "calibrated": view.calibrated,
        "why_raw": view.why_raw, "drop": view.drop, "judges": seats(view).documents,
        "models": scores(view).documents,
        "advice": None if view.advice is None else {
            "half": view.advice.half, "judges_share": view.advice.judges,
            "best": view.advice.best, "why_repeat": view.advice.why_repeat,
            "options": options(view.advice).documents,
        },
    }  # fmt: skip
    lines = [
        "calibrated by people's labels" if view.calibrated else f"judge-scale: {view.why_raw}",
        (f"reliability of the panel {panel.reliability:.2f}; " if math.isfinite(panel.reliability)
         else "") + view.needed,
        *writers.lines(seats(view)),
        *_advice(view),
        f"drop {view.drop}: the rest agree better without it" if view.drop else "",
        *writers.lines(scores(view)),
    ]  # fmt: skip
    out.result(said, [line for line in lines if line])
    return 0


def _advice(view: PanelView) -> list[str]:
    from atom.views.judges.panel_tables import options
    from atom.views.judges.panel_words import best_words, made_of

    found = view.advice
    if found is None:
        return []
    return [made_of(found), *writers.lines(options(found)), best_words(found)]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None

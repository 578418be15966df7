"""`judge blind`: whether a study's judge looks at the picture."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from atom.cli.parts.options import common, names_of, settings_of
from atom.cli.parts.output import Output
from atom.cli.running.carry_out import begin_and_do
from atom.display import numbers, writers
from atom.display.writers import said
from atom.engine.blind.sight import ANSWERS, QUESTIONS, SightSpec, forecast_sight
from atom.engine.endpoints.configured import known_endpoints
from atom.errors import UsageError
from atom.files import write_file
from atom.records import SHOWN, SHOWN_WORDS, PictureCondition
from atom.store import Store, find_study

if TYPE_CHECKING:
    from atom.analysis.agreement.sight import MarkShift
    from atom.views.lab.sight import SightView

ABOUT = (
    "A judge marks the same answers with the picture, with it again, without it, with another "
    "sample's picture, and with a description alone. Its marks should move where the picture "
    "settles a criterion, and nowhere else. They are kept apart: no mark of the study changes."
)


def add_blind(verbs: Any) -> None:
    """Declare `judge blind`."""
    words = "does the judge look? its marks with the picture, without it, and with another"
    one = verbs.add_parser("blind", parents=[common()], help=words, description=ABOUT)
    one.add_argument("--study", required=True, metavar="NAME")
    one.add_argument(
        "--judge", metavar="ENDPOINT", help="who is asked; without it, what is known is shown"
    )
    one.add_argument(
        "--questions", type=int, default=QUESTIONS, metavar="N",
        help=f"questions, drawn at random ({QUESTIONS})",
    )  # fmt: skip
    one.add_argument(
        "--answers", type=int, default=ANSWERS, metavar="N", help=f"answers to each ({ANSWERS})"
    )
    one.add_argument(
        "--shown", metavar="A,B", help=f"what it is shown: of {', '.join(SHOWN)}; all if left out"
    )
    one.add_argument(
        "--visual", action="append", metavar="BRANCH",
        help="a branch of the tree whose criteria the picture settles; may be repeated; by their "
        "names if left out",
    )  # fmt: skip
    one.add_argument("--csv", type=Path, metavar="FILE", help="write the figures there")
    one.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    one.add_argument("--retry-failed", action="store_true", help="ask again what failed before")
    one.add_argument("--dry-run", action="store_true", help="say what it would ask and cost")
    one.add_argument("--detach", action="store_true", help="run in a process of its own")
    one.add_argument("--yes", action="store_true", help="agree to sending data")
    one.set_defaults(call=blind)


def blind(args: argparse.Namespace, out: Output) -> int:
    """Ask what is missing, and say whether the judge looks."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        study_id = find_study(store, args.study).id
        if args.judge is None:
            _tell(store, study_id, None, args, out)
            return 0
        spec = SightSpec(
            study_id=study_id, judge=args.judge, samples=args.questions, answers=args.answers,
            shown=_shown(args.shown), budget=args.budget, retry_failed=args.retry_failed,
        )  # fmt: skip
        if args.dry_run:
            found = forecast_sight(store, spec, known_endpoints(settings))
            out.result({**asdict(found), "calls": found.calls}, said(found.facts))
            return 0
        ended = begin_and_do(store, spec, settings, args, out, owner_id=study_id)
        if ended is None:
            return 0
        _tell(store, study_id, ended.id, args, out)
    return 0 if ended.state == "done" else 1


def _shown(text: str | None) -> tuple[PictureCondition, ...]:
    wanted = names_of(text)
    if unknown := [name for name in wanted if name not in get_args(PictureCondition)]:
        raise UsageError(f"a judge can't be shown {unknown[0]!r}: name some of {', '.join(SHOWN)}")
    return tuple(name for name in SHOWN if name in wanted) or SHOWN


def _tell(
    store: Store, study_id: str, run_id: str | None, args: argparse.Namespace, out: Output
) -> None:
    # The figures' libraries take a second to load, which `--dry-run` needn't wait for.
    from atom.views.filters import Filters
    from atom.views.judges.sight_table import every
    from atom.views.lab.sight import said_of, sight_view
    from atom.views.study_data import load_study

    data = load_study(store, study_id)
    view = sight_view(store, data, Filters(study=study_id), run_id, visual=args.visual)
    if view is None:
        raise UsageError(
            "no judge was asked with and without the picture in this study: `judge blind --study "
            "NAME --judge ENDPOINT` asks one"
        )
    if unknown := [name for name in args.visual or () if name not in view.branches]:
        raise UsageError(
            f"no criterion that was asked about hangs under {unknown[0]!r}; branches: "
            f"{', '.join(view.branches) or 'none, since the study has no tree'}"
        )
    if args.csv:
        write_file(args.csv, writers.csv(every(view)), replace=False)
    out.result(_plain(view, said_of(view)), _lines(view, said_of(view)))


def _plain(view: SightView, sentence: str) -> dict[str, object]:
    sight = view.sight
    return {
        "judge": view.judge, "run": view.run.id, "finding": sight.finding, "sentence": sentence,
        "questions": view.questions, "answers": view.answers, "marks": view.marks,
        "visual_by": view.how, "visual": list(view.chosen), "branches": list(view.branches),
        "unread": dict(view.unread), "synthetic": view.synthetic,
        "pull": _numbers(asdict(sight.pull)), "elsewhere": _numbers(asdict(sight.elsewhere)),
        "figures": [
            {"shown": name, "criteria": group, **_flat(one)}
            for (name, group), one in sight.by.items()
            if one.n and (group == "all" or sight.led == "visual")
        ],
    }  # fmt: skip


def _flat(one: MarkShift) -> dict[str, object]:
    return {
        "marks": one.n, "questions": one.clusters, "silent": _numbers({"": one.silent})[""],
        **{name: _numbers(asdict(getattr(one, name)))
           for name in ("moved", "shift", "size", "excess")},
    }  # fmt: skip


def _numbers(values: dict[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in values.items()}


def _lines(view: SightView, sentence: str) -> list[str]:
    from atom.views.judges.sight_table import sight_table

    lines = [
        f"{view.judge}: {sentence}",
        f"{numbers.count(view.marks, 'mark')} with the picture, on "
        f"{numbers.count(view.answers, 'answer')} to {numbers.count(view.questions, 'question')}",
        *writers.lines(sight_table(view)),
    ]
    if view.how == "branches":
        lines.append(f"the picture settles: {', '.join(view.chosen)} (--visual BRANCH says others)")
    if view.unread:
        lines.append(
            "unread or failed: "
            + ", ".join(f"{n} {SHOWN_WORDS[name]}" for name, n in view.unread.items())
        )
    return lines

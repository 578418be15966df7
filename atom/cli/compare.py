"""`compare`: a version against the one before it, for people and for pipelines."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from atom.cli.parts.options import add_common, add_reading, settings_of
from atom.cli.parts.output import Output
from atom.cli.parts.sources import open_study
from atom.display import writers
from atom.errors import UsageError
from atom.files import write_file
from atom.reports.profile import find_judge, find_model, known_facet
from atom.reports.version_note import verdict_line, version_note
from atom.store.versions import versions_of
from atom.views.compare.page import compare
from atom.views.compare.sides import ComparedSides, SideChoice, choices
from atom.views.compare.version_table import changes, told
from atom.views.compare.versions import VersionStep, latest_of, version_step
from atom.views.filters import Filters
from atom.views.study_data import StudyData, load_study

REGRESSED = 1
"""Exit status where the later version is worse and `--fail-on-regression` was given."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_common(parser)
    parser.add_argument(
        "models", nargs="*", metavar="MODEL",
        help="before and after; one alone is held against the one that it is a version of, and "
             "none stands for the study's latest version",
    )  # fmt: skip
    parser.add_argument("--study", required=True, help="name or id")
    parser.add_argument(
        "--judge", metavar="J", help="as this judge marked; the study's own without"
    )
    parser.add_argument("--facet", metavar="F", help="labels to look at in place of capabilities")
    parser.add_argument(
        "--fail-on-regression",
        action="store_true",
        help="end with 1 where anything got worse beyond the margin (q .10)",
    )
    parser.add_argument(
        "--margin", type=_points, default=0.0, metavar="X",
        help="points of 100 that a loss must exceed (0)",
    )  # fmt: skip
    parser.add_argument(
        "--markdown", metavar="FILE", help="write a note for a pull request; - = here"
    )
    add_reading(parser)
    parser.set_defaults(call=show)


def _points(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 100:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of points from 0 to 100")
    return value


def show(args: argparse.Namespace, out: Output) -> int:
    """Compare, write the note that is asked for, and say by the status whether it got worse."""
    with open_study(settings_of(args), args.study) as (store, study_id, key):
        data = load_study(store, study_id)
        if args.judge:
            data = load_study(store, study_id, find_judge(data, args.judge))
        before, after = _sides(data, args.models, versions_of(store, study_id))
        filters = Filters(study=key, reading=args.reading)
        picked = ComparedSides(first=after, second=before)
        facet = known_facet(data, args.facet)
        step = version_step(compare(data, filters, picked, facet=facet), args.margin)
    note = version_note(step, data.study.name)
    if args.markdown == "-":
        out.result(note, note.rstrip("\n").split("\n"))
    else:
        if args.markdown:
            write_file(Path(args.markdown), note)
        out.result(_data(step), _lines(step))
    return REGRESSED if args.fail_on_regression and step.regressed else 0


def _sides(
    data: StudyData, names: list[str], declared: dict[str, str]
) -> tuple[SideChoice, SideChoice]:
    """Find the two: before and after.

    Raises:
        UsageError: a name isn't there, or nothing says which version came before.
    """
    if len(names) > 2:
        raise UsageError("give two models, before and after; or one, or none")
    known = {one.id: one.name for one in data.candidates}
    ids = [find_model(data, name) for name in names]
    if not ids:
        latest = latest_of(data, declared)
        if len(latest) != 1:
            shown = ", ".join(repr(known[one]) for one in latest) or "none is declared"
            raise UsageError(
                f"say which versions to compare; latest ones of this study: {shown} "
                "(`study version NEW --of OLD --study S` declares one)"
            )
        ids = [latest[0]]
    if len(ids) == 1:
        if (of := declared.get(ids[0])) is None:
            raise UsageError(
                f"{known[ids[0]]!r} isn't declared a version of anything: name both, or declare it "
                "with `study version NEW --of OLD --study S`"
            )
        ids = [of, ids[0]]
    there = {one.model_id: one for one in choices(data) if one.answer is None}
    there |= {one.model_id: one for one in reversed(choices(data)) if one.model_id not in there}
    missing = [known.get(one, one) for one in ids if one not in there]
    if missing:
        raise UsageError(f"{missing[0]!r} has no answers that count in this study")
    if ids[0] == ids[1]:
        raise UsageError(f"{known[ids[0]]!r} is compared with itself; name two models")
    return there[ids[0]], there[ids[1]]


def _data(step: VersionStep) -> dict[str, object]:
    return {
        "before": step.before,
        "after": step.after,
        "measure": step.measure,
        "judge": step.judge,
        "margin": step.margin,
        "tested": step.tested,
        "regressed": bool(step.regressed),
        "whole": changes(step, [step.whole]).documents[0],
        "changes": changes(step, step.changes).documents,
    }


def _lines(step: VersionStep) -> list[str]:
    return [
        verdict_line(step, step.before, step.after).replace("**", ""),
        "",
        *writers.lines(changes(step, [one for one in told(step) if one.samples])),
        "",
        f"{step.tested:,} tests together, Benjamini-Hochberg at q .10"
        + (f", beyond {step.margin:g} points" if step.margin else ""),
    ]

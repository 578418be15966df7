"""`failures groups`."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from atom.cli.parts import failure_groups as making
from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output
from atom.cli.parts.sources import open_study
from atom.display import numbers, writers
from atom.errors import UsageError
from atom.files import write_file
from atom.views.failures.group_tables import group_table, groups_csv
from atom.views.failures.groups import Example, FailureGroups, failure_groups
from atom.views.failures.words import ABOUT, NONE_WORDS, chosen_words, made_words, stands_out
from atom.views.filters import Filters
from atom.views.study_data import StudyData, load_study


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser(
        "groups",
        parents=[common()],
        help="reasons of failures in groups, and which models they make up",
    )
    one.add_argument("study", metavar="STUDY", help="name or id")
    one.add_argument("--model", metavar="M", help="count this model's failures only")
    made = one.add_mutually_exclusive_group()
    made.add_argument(
        "--embed",
        metavar="ENDPOINT",
        help="make them of this endpoint's embeddings, each text paid for once",
    )
    made.add_argument("--words", action="store_true", help="make them of words again")
    named = one.add_mutually_exclusive_group()
    named.add_argument("--name", metavar="JUDGE", help="let this endpoint name them: one call")
    named.add_argument("--rule", action="store_true", help="take a judge's names back")
    one.add_argument("--yes", action="store_true", help="agree to the price and to what is sent")
    one.add_argument("--csv", metavar="FILE", help="write groups by models to this file")
    one.set_defaults(call=groups)


def groups(args: argparse.Namespace, out: Output) -> int:
    """Put a study's failures into groups, and say what stands out."""
    with open_study(settings_of(args), args.study) as (store, study_id, key):
        data = load_study(store, study_id)
        making.change(args, out, store, data)
        line = out.progress()
        filters = Filters(study=key, model=_model(data, args.model))
        view = failure_groups(store, data, filters, line.show)
        line.end()
    if args.csv:
        write_file(Path(args.csv), groups_csv(view).encode())
    out.result(_data(view), _lines(view, synthetic=data.study.synthetic))
    return 0


def _model(data: StudyData, name: str | None) -> str | None:
    found = data.model_id(name)
    if name is not None and found is None:
        there = ", ".join(one.name for one in data.candidates)
        raise UsageError(f"the study has no model {name!r}; it has {there}")
    return found


def _data(view: FailureGroups) -> dict[str, Any]:
    return {
        "failures": view.n,
        "in_no_group": view.without,
        "none": view.none,
        "made_of": view.grouping.by.model if view.grouping.by_vectors else "words",
        "synthetic_embeddings": view.grouping.by_vectors and view.grouping.by.synthetic,
        "named_by": view.grouping.by.named_by if view.grouping.named else "rule",
        "chosen": None if view.chosen is None else {
            "groups": view.chosen.k,
            "silhouette": view.chosen.silhouette,
            "by_chance": view.chosen.chance,
            "stability": view.chosen.stability,
        },
        "groups": [
            {**told, "models": [_of_model(view, m, at) for m in range(len(view.models))],
             "examples": [_example(view, one) for one in row.examples]}
            for at, (row, told) in enumerate(zip(view.rows, group_table(view).documents,
                                                 strict=True))
        ],
        "stands_out": [stands_out(view, m, g) for m, g in view.standing_out],
    }  # fmt: skip


def _example(view: FailureGroups, one: Example) -> dict[str, Any]:
    return {
        "model": view.models[one.model],
        "sample": one.filters.sample,
        "capability": one.leaf,
        "reason": one.reason,
    }


def _of_model(view: FailureGroups, m: int, g: int) -> dict[str, Any]:
    found = view.signature
    assert found is not None
    figures = {
        "share": found.share, "others": found.others, "difference": found.gap, "lo": found.lo,
        "hi": found.hi, "adjusted_p": found.adjusted,
    }  # fmt: skip
    return {
        "model": view.models[m],
        "failures": int(found.count[m, g]),
        **{name: _finite(float(values[m, g])) for name, values in figures.items()},
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _lines(view: FailureGroups, *, synthetic: bool) -> list[str]:
    badge = "   SYNTHETIC" if synthetic else ""
    lines = [f"{numbers.count(view.n, 'failed checkpoint')}{badge}", ""]
    if view.none is not None:
        return [*lines, NONE_WORDS[view.none]]
    told = [stands_out(view, m, g) for m, g in view.standing_out]
    return [
        *lines,
        *writers.lines(group_table(view)),
        "",
        *(told or ["No model's failures are made up otherwise than the others' beyond chance."]),
        "",
        made_words(view),
        chosen_words(view),
        ABOUT,
    ]

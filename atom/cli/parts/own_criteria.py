"""`fidelity criteria` and `fidelity match`: people's own criteria against the judge's."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output
from atom.cli.running.carry_out import begin_and_do
from atom.display import writers
from atom.display.writers import said
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.people.matching import MatchSpec, forecast_match
from atom.errors import UsageError
from atom.files import write_file
from atom.store import Store, find_study
from atom.views.people.own_criteria import OwnCriteria, own_criteria
from atom.views.people.own_table import answer, own_csv, score_table
from atom.views.study_data import load_study


def add_own(verbs: Any) -> None:
    """Declare the verbs."""
    one = verbs.add_parser(
        "match",
        parents=[common()],
        help="have a judge match the criteria that people wrote (Human check) to its own",
    )
    one.add_argument("--study", required=True, metavar="NAME")
    one.add_argument("--judge", required=True, metavar="ENDPOINT")
    one.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    one.add_argument("--retry-failed", action="store_true", help="ask again what failed before")
    one.add_argument("--dry-run", action="store_true", help="say what it would ask and cost")
    one.add_argument("--detach", action="store_true", help="run in a process of its own")
    one.add_argument("--yes", action="store_true", help="agree to sending data")
    one.set_defaults(call=match)
    one = verbs.add_parser(
        "criteria",
        parents=[common()],
        help="are the criteria what people would ask? recall, precision, scores by either set",
    )
    one.add_argument("--study", required=True, metavar="NAME")
    one.add_argument(
        "--by", default="people", metavar="WHO",
        help="who says what is the same: people (who wrote), or a judge that matched, by its name",
    )  # fmt: skip
    one.add_argument("--csv", type=Path, metavar="FILE", help="write the figures there")
    one.set_defaults(call=criteria)


def match(args: argparse.Namespace, out: Output) -> int:
    """Ask what is missing, and say what came of it."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        spec = MatchSpec(
            study_id=find_study(store, args.study).id, judge=args.judge, budget=args.budget,
            retry_failed=args.retry_failed,
        )  # fmt: skip
        if args.dry_run:
            found = forecast_match(store, spec, known_endpoints(settings))
            out.result(asdict(found), said(found.facts))
            return 0
        ended = begin_and_do(store, spec, settings, args, out, owner_id=spec.study_id)
        if ended is None:
            return 0
        _tell(_view(store, spec.study_id, args.judge), out)
    return 0 if ended.state == "done" else 1


def criteria(args: argparse.Namespace, out: Output) -> int:
    """Say how far the judge's criteria are what people would ask."""
    with Store.open(settings_of(args).store) as store:
        view = _view(store, find_study(store, args.study).id, args.by)
    if args.csv:
        write_file(args.csv, own_csv(view), replace=False)
    _tell(view, out)
    return 0


def _view(store: Store, study_id: str, by: str) -> OwnCriteria:
    data = load_study(store, study_id)
    view = own_criteria(store, data)
    if view is None:
        raise UsageError(
            f"nobody has written or ticked criteria in {data.study.name!r}: Human check, Own "
            "criteria, asks for them"
        )
    who = {name: key for key, name in view.deciders.items()} | {key: key for key in view.deciders}
    if by not in who:
        names = ", ".join(["people", *(n for k, n in view.deciders.items() if k != "people")])
        raise UsageError(f"{by!r} hasn't matched these criteria; {names} did")
    found = own_criteria(store, data, who[by])
    assert found is not None
    return found


def _tell(view: OwnCriteria, out: Output) -> None:
    said = {
        "by": view.by, "people": list(view.people), "samples": view.samples,
        "recall": asdict(view.recall), "precision": asdict(view.precision),
        "agree": asdict(view.agree), "scored_samples": view.scored,
        "scores": score_table(view).documents,
        "unasked": [line for _, line in view.unasked],
        "unwanted": [line for _, line in view.unwanted],
    }  # fmt: skip
    lines = [
        answer(view),
        f"Matched by {view.deciders[view.by]}.",
        *writers.lines(score_table(view)),
        *(f"unasked: {line}" for _, line in view.unasked),
        *(f"unwanted: {line}" for _, line in view.unwanted),
    ]  # fmt: skip
    out.result(said, lines)

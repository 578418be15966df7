"""`run blind`, and what `run start --blind` asks for: questions without their pictures."""

from __future__ import annotations

import argparse
from typing import Any

from atom.cli.parts.options import common, names_of, settings_of
from atom.cli.parts.output import Output, table
from atom.cli.parts.sources import open_study
from atom.engine.blind.ground import BlindSpec
from atom.errors import UsageError
from atom.store import Store, find_study
from taxonomy import format_path
from taxonomy.path import SEPARATOR


def add_blind(verbs: Any) -> None:
    """Declare `run blind`."""
    words = "what needs the picture: what `run start --blind` found"
    one = verbs.add_parser("blind", parents=[common()], help=words, description=words)
    one.add_argument("--study", required=True, help="name or id")
    one.set_defaults(call=show)


def blind_spec(args: argparse.Namespace, store: Store) -> BlindSpec:
    """Say what `run start --blind N` asks for.

    Raises:
        UsageError: an option goes with runs of stages only.
    """
    if args.stages or args.limit is not None:
        raise UsageError(
            "--blind asks its own stages and draws its questions: leave --stages and --limit"
        )
    return BlindSpec(
        study_id=find_study(store, args.study).id,
        samples=args.blind,
        candidates=names_of(args.candidates),
        judge=args.judge,
        budget=args.budget,
        retry_failed=args.retry_failed,
    )


def show(args: argparse.Namespace, out: Output) -> int:
    """Show what needs the picture, which questions don't, and how ranks move without these."""
    # The figures' libraries take a second to load, which `run start` needn't wait for.
    from atom.views.filters import Filters
    from atom.views.fingerprints.blind import blind_view
    from atom.views.study_data import load_study

    with open_study(settings_of(args), args.study) as (store, study_id, key):
        view = blind_view(store, load_study(store, study_id), Filters(study=key))
    if view is None:
        raise UsageError(
            "nothing was asked without pictures in this study: `run start --blind 60 --candidates "
            "A,B,C` does"
        )
    nodes = [
        {"node": format_path(one.path), "with": one.seen, "without": one.blind,
         "gain": one.gain.value, "low": one.gain.lo, "high": one.gain.hi,
         "questions": one.gain.samples, "need": one.need}
        for one in view.nodes
    ]  # fmt: skip
    moved = [
        {"model": one.now.name, "score": one.now.score.value, "rank": one.now.rank_best,
         "score_without": one.less.score.value if one.less else None,
         "rank_without": one.less.rank_best if one.less else None}
        for one in view.moved
    ]  # fmt: skip
    easy = [{"sample": one.sample_id, "question": one.text} for one in view.easy]
    said = {
        "questions": view.questions, "models": view.models, "unanswered": view.unanswered,
        "criteria": view.criteria, "criteria_from_text": view.easy_criteria,
        "measured": view.measured, "from_text": view.n_easy,
        "gain": view.overall.value if view.overall else None,
        "nodes": nodes, "questions_from_text": easy, "ranks": moved,
    }  # fmt: skip
    head = ("capability", "with", "without", "gain", "low", "high", "questions", "")
    rows = [
        [row["node"], *(f"{row[name]:.1f}" for name in ("with", "without", "gain", "low", "high")),
         row["questions"], row["need"]]
        for row in nodes
        if SEPARATOR not in str(row["node"])
    ]  # fmt: skip
    lines = [
        f"{view.questions:,} questions, {view.models:,} models without the picture; "
        f"{view.easy_criteria:,} of {view.criteria:,} criteria and {view.n_easy:,} of "
        f"{view.measured} "
        "questions are answerable from the text (3 models or more reach them)",
        *table(head, rows),
        *(f"from text: {one.text.splitlines()[0][:90]}" for one in view.easy[:10] if one.text),
    ]
    out.result(said, lines)
    return 0

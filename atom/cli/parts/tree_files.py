"""`tree open` and `tree import`: trees that lie in files, EvalTree's and ours."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output, table
from atom.foreign.files import read_foreign
from atom.store import Store, find_study
from atom.views.study_data import load_study
from atom.views.tree.evaltree_file import OpenedNode, OpenedTree, open_evaltree
from atom.views.tree.files import take_file

_LAYERS = 3


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the verbs."""
    one = verbs.add_parser("open", parents=[common()], help="look at an EvalTree file as it is")
    one.add_argument("file", type=Path, help="a capability_tree.json")
    one.add_argument("--results", type=Path, metavar="FILE", help="a model's results.json")
    one.add_argument("--threshold", type=float, default=0.4, help="weaknesses lie under it (0.4)")
    one.add_argument("--alpha", type=float, default=0.05, help="1 - coverage (0.05)")
    one.add_argument(
        "--layers", type=int, default=_LAYERS, metavar="N", help=f"layers shown ({_LAYERS})"
    )
    one.set_defaults(call=look)

    one = verbs.add_parser(
        "import", parents=[common()], help="give a study a tree from a file: YAML, or EvalTree's"
    )
    one.add_argument("file", type=Path, help="our YAML, or a capability_tree.json")
    one.add_argument("--study", required=True, help="name or id")
    one.add_argument(
        "--rows-are-samples",
        action="store_true",
        help="row N of an EvalTree file is the study's sample N, though not every sample has one",
    )
    one.set_defaults(call=take)


def look(args: argparse.Namespace, out: Output) -> int:
    """Show an EvalTree tree and, with a model's results, its weaknesses."""
    results = None if args.results is None else read_foreign(args.results)
    found = open_evaltree(
        read_foreign(args.file),
        results,
        name=args.file.name,
        threshold=args.threshold,
        alpha=args.alpha,
    )
    out.result(asdict(found), opened_lines(found, args.layers))
    return 0


def opened_lines(found: OpenedTree, layers: int) -> list[str]:
    """Say in words what an EvalTree tree holds.

    Args:
        layers: layers that are written out.
    """
    lines = [
        f"{found.all_nodes:,} nodes, {found.rows:,} rows, {found.deepest:,} layers below the top",
    ]
    if found.overall is not None:
        lines.append(f"mean of all results: {found.overall:.4f}")
        lines.append(
            f"{len(found.weak):,} weaknesses surely under {found.threshold:g} "
            f"(alpha {found.alpha:g}, no control for the number of nodes):"
        )
        lines += table(("rows", "mean", "interval", "what"), [_row(one) for one in found.weak])
    shown = [one for one in found.nodes if one.layer < layers]
    lines += [f"{'  ' * one.layer}{one.name}  [{_words(one)}]" for one in shown]
    if len(shown) < len(found.nodes):
        lines.append(f"{len(found.nodes) - len(shown):,} groups lie deeper: --layers shows more")
    return lines


def _row(one: OpenedNode) -> list[object]:
    return [one.rows, _number(one.value), _interval(one), one.name]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _interval(one: OpenedNode) -> str:
    return "" if one.interval is None else f"{one.interval[0]:.4f} to {one.interval[1]:.4f}"


def _words(one: OpenedNode) -> str:
    parts = [f"{one.rows:,} rows", _number(one.value), _interval(one), "weak" if one.weak else ""]
    return ", ".join(part for part in parts if part)


def take(args: argparse.Namespace, out: Output) -> int:
    """Give a study the tree of a file."""
    content = read_foreign(args.file)
    with Store.open(settings_of(args).store) as store:
        data = load_study(store, find_study(store, args.study).id)
        taken = take_file(store, data, content, args.file.name, partly=args.rows_are_samples)
    more = ["`run start --stages mapping` hangs the rest"] if taken.left else []
    out.result(asdict(taken), [taken.words, *more])
    return 0

"""`tree induce|show|validity|rivals|compare|export`; `open` and `import` are `tree_files`'."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from atom.cli.parts import tree_files
from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output, bar, table
from atom.cli.results.tree import (
    diff_data,
    diff_lines,
    forecast_data,
    induced_data,
    induced_lines,
    rivals_data,
    validity_data,
    validity_lines,
)
from atom.cli.running.carry_out import begin, show_progress, with_consent
from atom.display import numbers, writers
from atom.display.numbers import money
from atom.display.writers import said
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.induction.forecast import forecast_induction
from atom.engine.induction.ground import InductionSpec, Start, spec_of
from atom.engine.induction.grow import induce
from atom.engine.induction.growing import GrowSettings
from atom.engine.induction.result import InductionResult
from atom.engine.induction.rival_maps import RivalsMapped, RivalSpec, forecast_rivals, map_rivals
from atom.engine.process import halted_by_signals
from atom.errors import UsageError
from atom.files import write_file as keep_file
from atom.settings import Settings
from atom.stages.growing.induction import SUBSET
from atom.store import (
    Store,
    find_study,
    find_version,
    leaf_mappings,
    load_tree,
    study_criteria,
    tree_log,
    tree_versions,
)
from atom.views.filters import Filters
from atom.views.study_data import load_study
from atom.views.tree.files import Form, write_file
from atom.views.tree.node_rows import node_list, supported
from atom.views.tree.node_table import node_table, placed
from atom.views.tree.validity import tree_validity
from taxonomy import Path as LeafPath
from taxonomy import to_yaml
from taxonomy.compare import compare
from taxonomy.log import describe, dump_edit
from taxonomy.prune import MIN_CRITERIA, MIN_SAMPLES


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_induce(verbs.add_parser("induce", parents=[common()], help="grow it from the criteria"))

    one = verbs.add_parser("show", parents=[common()], help="a tree with its support")
    one.add_argument("--study", required=True, help="name or id")
    one.add_argument("--version", metavar="V", help="position or hash; the study's own if left out")
    what = one.add_mutually_exclusive_group()
    what.add_argument("--versions", action="store_true", help="list the versions instead")
    what.add_argument("--log", action="store_true", help="list the edits that made it instead")
    what.add_argument("--yaml", action="store_true", help="write it as YAML, to edit it")
    one.set_defaults(call=show)

    one = verbs.add_parser(
        "validity", parents=[common()], help="does knowing the leaf help to predict scores?"
    )
    one.add_argument("--study", required=True, help="name or id")
    one.set_defaults(call=show_validity)

    one = verbs.add_parser(
        "rivals",
        parents=[common()],
        help="let the judge map what validity compares with",
    )
    one.add_argument("--study", required=True, help="name or id")
    one.add_argument("--judge", metavar="ENDPOINT", help="the judge; the study's own if left out")
    one.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    one.add_argument("--dry-run", action="store_true", help="say what it would ask and cost")
    one.add_argument("--yes", action="store_true", help="agree to the price and to sending data")
    one.set_defaults(call=rivals)

    one = verbs.add_parser("compare", parents=[common()], help="two versions side by side")
    one.add_argument("--study", required=True, help="name or id")
    one.add_argument("old", help="position or hash of the version before")
    one.add_argument("new", nargs="?", help="the one after; the study's own if left out")
    one.set_defaults(call=show_diff)

    one = verbs.add_parser("export", parents=[common()], help="write the tree to a file")
    one.add_argument("--study", required=True, help="name or id")
    one.add_argument("--form", choices=get_args(Form), default="yaml")
    one.add_argument("--out", type=Path, required=True, metavar="FILE", help="a new file")
    one.set_defaults(call=export)
    tree_files.add(verbs)


def _add_induce(one: argparse.ArgumentParser) -> None:
    usual = GrowSettings()
    which = one.add_mutually_exclusive_group(required=True)
    which.add_argument("--study", help="name or id")
    which.add_argument("--resume-id", metavar="ID", help="go on with this induction as it was")
    one.add_argument("--judge", metavar="ENDPOINT", help="the judge; the study's own if left out")
    one.add_argument(
        "--samples",
        default=str(SUBSET),
        metavar="N",
        help=f"samples that proposals are made from, or `all` ({SUBSET})",
    )
    one.add_argument("--balance", metavar="FACET", help="take evenly from this facet's values")
    one.add_argument("--start", choices=get_args(Start), default="roots", help="bare roots, or on")
    one.add_argument("--seed", type=int, default=usual.seed, metavar="N", help="another order")
    one.add_argument("--rounds", type=int, default=usual.rounds, metavar="N", help="of uniting")
    one.add_argument("--min-criteria", type=int, default=MIN_CRITERIA, metavar="N")
    one.add_argument("--min-samples", type=int, default=MIN_SAMPLES, metavar="N")
    one.add_argument("--embedding", metavar="ENDPOINT", help="finds likely duplicates by meaning")
    one.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    one.add_argument("--dry-run", action="store_true", help="say what it would ask and cost")
    one.add_argument("--detach", action="store_true", help="grow in a process of its own")
    one.add_argument("--yes", action="store_true", help="agree to the price and to sending data")
    one.set_defaults(call=grow)


def grow(args: argparse.Namespace, out: Output) -> int:
    """Grow a study's tree; the same command goes on where it was stopped."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        if args.resume_id is not None:
            induced = _here(store, settings, spec_of(store, args.resume_id), out)
            out.result(induced_data(induced), induced_lines(induced, settings))
            return 0 if induced.version is not None else 1
        spec = _spec(store, args)
        expected = forecast_induction(store, spec, known_endpoints(settings))
        if args.dry_run:
            out.result(forecast_data(expected), said(expected.facts))
            return 0
        for text in said(expected.facts):
            out.problem(text)
        dear = expected.cost is None or expected.cost > 0
        if dear and not args.yes and not out.ask("Go on?"):
            raise UsageError("nothing was asked: agree with --yes, or look with --dry-run")
        if args.detach:
            begin(store, spec, settings, args, out, owner_id=spec.study_id)
            return 0
        induced = with_consent(
            store, spec.study_id, args.yes, out, lambda: _here(store, settings, spec, out)
        )
    out.result(induced_data(induced), induced_lines(induced, settings))
    return 0 if induced.version is not None else 1


def _spec(store: Store, args: argparse.Namespace) -> InductionSpec:
    if args.samples != "all" and not args.samples.isdigit():
        raise UsageError(f"--samples is {args.samples!r}: a number or `all` is needed")
    return InductionSpec(
        study_id=find_study(store, args.study).id,
        judge=args.judge,
        samples=None if args.samples == "all" else int(args.samples),
        facet=args.balance,
        start=args.start,
        grow=GrowSettings(
            seed=args.seed,
            rounds=args.rounds,
            min_criteria=args.min_criteria,
            min_samples=args.min_samples,
        ),
        budget=args.budget,
        embedding=args.embedding,
    )


def _here(store: Store, settings: Settings, spec: InductionSpec, out: Output) -> InductionResult:
    """Do it in this process, with a progress line; Ctrl-C lets the calls in flight end."""
    line = out.progress()
    try:
        return asyncio.run(
            induce(
                store,
                spec,
                known_endpoints(settings),
                on_progress=lambda progress: show_progress(line, progress),
            )
        )
    finally:
        line.end()


def show(args: argparse.Namespace, out: Output) -> int:
    """Show a study's tree, its versions, or the log of one."""
    with Store.open(settings_of(args).store) as store:
        study = find_study(store, args.study)
        if args.versions:
            rows = [
                [v.position, v.version, v.origin, len(load_tree(store, v.version).leaves),
                 v.version == study.tree_version, v.created, v.note]
                for v in tree_versions(store, study.id)
            ]  # fmt: skip
            head = ("position", "version", "origin", "leaves", "current", "created", "note")
            data = [dict(zip(head, row, strict=True)) for row in rows]
            out.result(data, table(head, rows) if rows else ["no versions yet"])
            return 0
        version = _version(store, study.id, study.tree_version, args.version)
        tree = load_tree(store, version)
        if args.log:
            return _show_log(store, study.id, version, out)
        if args.yaml:
            text = to_yaml(tree)
            out.result({"version": version, "yaml": text}, text.rstrip("\n").split("\n"))
            return 0
        sample_of = study_criteria(store, study.id)
        leaf_of = _leaf_of(store, version, list(sample_of))
    nodes = supported(tree, leaf_of, sample_of)
    leaves = [node for node in nodes if node.leaf]
    summary = f"{tree.name} ({version}): {len(leaves):,} leaves, {len(leaf_of):,} criteria mapped"
    shown = {
        "version": version,
        "name": tree.name,
        "leaves": node_list(leaves).documents,
    }
    out.result(shown, [summary, *writers.lines(node_list(nodes))])
    return 0


def _show_log(store: Store, study_id: str, version: str, out: Output) -> int:
    points = [v for v in tree_versions(store, study_id) if v.version == version]
    log = tree_log(store, study_id, points[-1].position) if points else ()
    rows = [
        [entry.round, describe(entry.edit), entry.by, numbers.regrouped(entry.why)] for entry in log
    ]
    head = ("round", "edit", "by", "why")
    data = [{"round": e.round, "edit": dump_edit(e.edit), "by": e.by, "why": e.why} for e in log]
    out.result(data, table(head, rows) if rows else ["no edits are logged for this version"])
    return 0


def _version(store: Store, study_id: str, current: str | None, name: str | None) -> str:
    if name is not None:
        if name == current:
            return name
        return find_version(store, study_id, name).version
    if current is None:
        raise UsageError("the study has no tree yet: `tree induce`, or run the stage 'mapping'")
    return current


def _leaf_of(store: Store, version: str, criteria: list[str]) -> dict[str, LeafPath]:
    found = leaf_mappings(store, version, criteria)
    return {name: m.leaf for name, m in found.items() if m.leaf is not None}


def show_validity(args: argparse.Namespace, out: Output) -> int:
    """Say whether a study's tree is worth its leaves, beside its rivals."""
    progress = out.progress()
    with Store.open(settings_of(args).store) as store:
        data = load_study(store, find_study(store, args.study).id)
        if data.tree is None:
            raise UsageError("the study has no tree yet: `tree induce`, or run 'mapping'")
        found = tree_validity(store, data, tell=lambda word, *_: progress.show(word))
    progress.end()
    if found is None:
        raise UsageError("too few samples have scores in the tree: judge some answers first")
    out.result(validity_data(found), validity_lines(found))
    return 0


def rivals(args: argparse.Namespace, out: Output) -> int:
    """Let the judge map the rivals of a study's tree; the same again asks for the rest."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        study = find_study(store, args.study)
        spec = RivalSpec(study_id=study.id, judge=args.judge, budget=args.budget)
        expected = forecast_rivals(store, spec, known_endpoints(settings))
        lines = said(expected.facts)
        if args.dry_run:
            out.result(rivals_data(expected), lines)
            return 0
        for text in lines:
            out.problem(text)
        dear = expected.calls and (expected.cost is None or expected.cost > 0)
        if dear and not args.yes and not out.ask("Go on?"):
            raise UsageError("nothing was asked: agree with --yes, or look with --dry-run")
        done = with_consent(
            store, study.id, args.yes, out, lambda: _map_here(store, settings, spec, out)
        )
    words = [
        f"{name}: {n:,} of {expected.criteria:,} criteria hang in it" for name, n in done.rivals
    ]
    out.result(asdict(done), [*words, *([done.stopped] if done.stopped else [])])
    return 1 if done.stopped else 0


def _map_here(store: Store, settings: Settings, spec: RivalSpec, out: Output) -> RivalsMapped:
    """Do it in this process, with a progress line; Ctrl-C lets the calls in flight end."""
    progress = out.progress()

    async def work() -> RivalsMapped:
        halt = asyncio.Event()
        with halted_by_signals(lambda _name: halt.set()):
            return await map_rivals(
                store,
                spec,
                known_endpoints(settings),
                on_progress=lambda now: progress.show(
                    f"{now.rival} {bar(now.done, now.total)} {now.done:,} of {now.total:,}, "
                    f"{money(now.cost)}"
                ),
                halt=halt,
            )

    try:
        return asyncio.run(work())
    finally:
        progress.end()


def show_diff(args: argparse.Namespace, out: Output) -> int:
    """Compare two of a study's tree versions."""
    with Store.open(settings_of(args).store) as store:
        study = find_study(store, args.study)
        old = _version(store, study.id, study.tree_version, args.old)
        new = _version(store, study.id, study.tree_version, args.new)
        criteria = list(study_criteria(store, study.id))
        found = compare(
            load_tree(store, old),
            load_tree(store, new),
            _leaf_of(store, old, criteria),
            _leaf_of(store, new, criteria),
        )
    out.result({"old": old, "new": new, **diff_data(found)}, diff_lines(found))
    return 0


def export(args: argparse.Namespace, out: Output) -> int:
    """Write a study's tree to a file."""
    if args.out.exists():
        raise UsageError(f"{str(args.out)!r} is there already: name a new file")
    with Store.open(settings_of(args).store) as store:
        data = load_study(store, find_study(store, args.study).id)
        if data.tree is None:
            raise UsageError("the study has no tree yet: `tree induce`, or run 'mapping'")
        nodes = node_table(data, data.tree, placed(store, data), Filters())
        file = write_file(args.form, store, data, nodes)
    keep_file(args.out, file.data, replace=False)
    result = {"file": str(args.out), "form": args.form, "bytes": len(file.data)}
    out.result(result, [f"wrote {args.out} ({len(file.data):,} bytes)"])
    return 0

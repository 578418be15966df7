"""`store check`, `store copy`, `store migrate`."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output, bar
from atom.settings import picture_address
from atom.store import Store, check_store
from atom.store.moving.copying import bring_up_to_date, copy_store, open_source
from atom.store.together.blobs import ObjectBlobs
from atom.store.together.server import shown_address


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser(
        "check", parents=[common()], help="whether the store is whole: file, links, pictures"
    )
    one.add_argument("--no-pictures", action="store_true", help="don't read the pictures")
    one.add_argument("--read-only", action="store_true", help="open it without writing")
    one.set_defaults(call=check)
    two = verbs.add_parser(
        "copy",
        help="copy a whole store to an empty place: a folder, or a postgresql:// URL",
        description="Copies rows, pictures and other files, each verified by checksum. It arrives "
        "whole or not at all; the same command goes on where it was stopped.",
    )
    two.add_argument("source", metavar="FROM", help="a folder or postgresql:// URL")
    two.add_argument("target", metavar="TO", help="a new or empty folder, or an empty database")
    two.add_argument("--json", action="store_true", help="write one JSON document")
    two.set_defaults(call=copy)
    three = verbs.add_parser(
        "migrate",
        parents=[common()],
        help="bring the store's schema up to date; a deployment's app never does so itself",
    )
    three.add_argument("--pictures", action="store_true",
                       help="make the bucket that ATOM_PICTURES names, too, where there is none",
                       )  # fmt: skip
    three.set_defaults(call=migrate)


def check(args: argparse.Namespace, out: Output) -> int:
    """Check the store; exit code 1 when something is wrong."""
    with Store.open(settings_of(args).store, read_only=args.read_only) as store:
        report = check_store(store, pictures=not args.no_pictures)
    lines = [f"{name:<16}{count:>10}" for name, count in report.counts.items() if count]
    if report.states:
        states = ", ".join(f"{count} {state}" for state, count in sorted(report.states.items()))
        lines.append(f"checkpoints: {states}")
    lines += [f"problem: {problem}" for problem in report.problems]
    lines.append("the store is whole" if not report.problems else "the store is NOT whole")
    out.result(asdict(report), lines)
    return 1 if report.problems else 0


def copy(args: argparse.Namespace, out: Output) -> int:
    """Copy a store; exit code 1 when pictures were missing."""
    line = out.progress()
    with open_source(args.source) as source, Store.open(args.target) as target:
        done = copy_store(
            source, target, lambda what, n, of: line.show(f"{bar(n, of)} {n:,} of {of:,} {what}")
        )
    line.end()
    lines = [f"{name:<16}{count:>10}" for name, count in done.rows.items()]
    lines += [f"{'picture files':<16}{done.pictures:>10}", f"{'other files':<16}{done.files:>10}"]
    for name in done.missing:
        lines.append(
            f"missing: the file of picture {name[:12]}... isn't there, or isn't what its name "
            "says; bring it back with `study pictures FOLDER --study NAME`"
        )
    lines.append(f"{source.url} was copied to {target.url}; every row was compared")
    out.result(asdict(done), lines)
    return 1 if done.missing else 0


def migrate(args: argparse.Namespace, out: Output) -> int:
    """Bring the store up to date; of several at once one does it, the others find it done."""
    place = settings_of(args).store
    before, now = bring_up_to_date(place)
    told = "was up to date" if before == now else f"went from {before} to {now}"
    lines = [f"the schema of {shown_address(place)} {told}"]
    address = picture_address() if args.pictures else ""
    made = bool(address) and ObjectBlobs(address).make_bucket()
    if address:
        lines.append("the bucket for pictures " + ("was made" if made else "is there"))
    out.result({"before": before, "now": now, "bucket_made": made}, lines)
    return 0

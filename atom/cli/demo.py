"""`demo build`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from atom.cli.parts.demo_parts import pairs, questions, sight
from atom.cli.parts.options import common, names_of, settings_of
from atom.cli.parts.output import Output, bar
from atom.engine.demo import (
    DEMO_NAME,
    DEMO_SEED,
    PARTS,
    DemoBuilt,
    Part,
    Tell,
    build_demo,
    seal_demo,
)
from atom.errors import UsageError
from atom.reports.demo import reports
from atom.store import Store

EVERY: Mapping[str, Part] = {
    **PARTS,
    "pairs": pairs,
    "sight": sight,
    "questions": questions,
    "reports": reports,
}
"""What a study can go through after it was judged, in this order."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser(
        "build",
        parents=[common()],
        help="draw probes, let simulated candidates answer, judge; then everything else",
        description="Make a synthetic study. After simulated candidates have answered drawn "
        "probes and a rule-based judge has judged them, it goes through everything else that a "
        f"study can: {', '.join(EVERY)}.",
    )
    one.add_argument("--samples", type=int, default=300, metavar="N", help="probes (300)")
    one.add_argument("--candidates", type=int, default=8, metavar="K", help="1 to 8 (8)")
    one.add_argument("--seed", type=int, default=DEMO_SEED, metavar="S", help="draws other probes")
    one.add_argument("--name", default=DEMO_NAME, help="the study's name")
    one.add_argument(
        "--parts", metavar="A,B", help="only these of what follows the judging; `none` for none"
    )
    place = one.add_mutually_exclusive_group()
    place.add_argument("--output", metavar="DIR", help="into a store of its own in this folder")
    place.add_argument(
        "--seal", metavar="DIR", help="as a sealed folder, with checksums, as it's bundled"
    )
    one.set_defaults(call=build)


def build(args: argparse.Namespace, out: Output) -> int:
    """Make a synthetic study."""
    line = out.progress()

    def tell(what: str, done: int, total: int) -> None:
        line.show(f"{what:<8} {bar(done, total)} {done}/{total}")

    try:
        built = _build(args, tell)
    finally:
        line.end()
    data = {
        "parts": list(_parts(args)),
        "study": built.study.name,
        "study_id": built.study.id,
        "synthetic": True,
        "samples": built.samples,
        "candidates": built.candidates,
        "responses": built.responses,
        "items": built.run.done,
        "unscored_items": built.run.unscored,
        "bytes": built.n_bytes,
        "place": args.seal or args.output or settings_of(args).store,
    }
    out.result(
        data,
        [
            f"{built.study.name!r}: {built.samples:,} samples, {built.candidates:,} simulated "
            f"candidates, {built.responses:,} answers; SYNTHETIC",
            f"in {data['place']}"
            + (f", {built.n_bytes / 1e6:.1f} MB, sealed" if built.n_bytes is not None else ""),
        ],
    )
    return 0


def _build(args: argparse.Namespace, tell: Tell) -> DemoBuilt:
    sizes = {"samples": args.samples, "candidates": args.candidates, "seed": args.seed}
    parts = _parts(args)
    if args.seal:
        if args.name != DEMO_NAME:
            raise UsageError("the sealed study has a fixed name: leave --name out")
        return seal_demo(Path(args.seal), **sizes, parts=parts, tell=tell)
    with Store.open(args.output or settings_of(args).store) as store:
        return build_demo(store, **sizes, name=args.name, parts=parts, tell=tell)


def _parts(args: argparse.Namespace) -> Mapping[str, Part]:
    """Return the parts that were asked for, in their order.

    Raises:
        UsageError: there is no such part.
    """
    if args.parts is None:
        return EVERY
    wanted = () if args.parts.strip() == "none" else names_of(args.parts)
    if unknown := [name for name in wanted if name not in EVERY]:
        raise UsageError(
            f"there is no part {unknown[0]!r}; there are {', '.join(EVERY)}, and `none`"
        )
    return {name: part for name, part in EVERY.items() if name in wanted}

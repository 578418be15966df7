"""`demo build`."""

from __future__ import annotations

import argparse
from pathlib import Path

from atom.cli.options import common, settings_of
from atom.cli.output import Output, bar
from atom.engine.demo import DEMO_NAME, DEMO_SEED, DemoBuilt, Tell, build_demo, seal_demo
from atom.errors import UsageError
from atom.store import Store


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser(
        "build", parents=[common()], help="draw probes, let simulated candidates answer, judge"
    )
    one.add_argument("--samples", type=int, default=300, metavar="N", help="probes (300)")
    one.add_argument("--candidates", type=int, default=8, metavar="K", help="1 to 8 (8)")
    one.add_argument("--seed", type=int, default=DEMO_SEED, metavar="S", help="draws other probes")
    one.add_argument("--name", default=DEMO_NAME, help="the study's name")
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
            f"{built.study.name!r}: {built.samples} samples, {built.candidates} simulated "
            f"candidates, {built.responses} answers; SYNTHETIC",
            f"in {data['place']}"
            + (f", {built.n_bytes / 1e6:.1f} MB, sealed" if built.n_bytes is not None else ""),
        ],
    )
    return 0


def _build(args: argparse.Namespace, tell: Tell) -> DemoBuilt:
    sizes = {"samples": args.samples, "candidates": args.candidates, "seed": args.seed}
    if args.seal:
        if args.name != DEMO_NAME:
            raise UsageError("the sealed study has a fixed name: leave --name out")
        return seal_demo(Path(args.seal), **sizes, tell=tell)
    with Store.open(args.output or settings_of(args).store) as store:
        return build_demo(store, **sizes, name=args.name, tell=tell)

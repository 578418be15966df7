"""`study prepare`: make a large study ready, so that screens open and filter it at once."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output
from atom.display import numbers
from atom.store import Store, find_study

ABOUT = (
    "Read a study once, cut it into parts and add up what Overview, Tree and Fingerprints need for "
    "every single filter, on all cores. The app does so by itself from ten million checkpoints on "
    "(ATOM_LARGE says another number), and shows what was made last meanwhile."
)


def add_prepare(verbs: Any) -> None:
    """Declare `study prepare`."""
    one = verbs.add_parser(
        "prepare", parents=[common()], help="make a large study ready for the screens",
        description=ABOUT,
    )  # fmt: skip
    one.add_argument("study", help="name or id")
    one.add_argument("--judge", metavar="J", help="whose marks; the study's own judge's without")
    one.add_argument("--processes", type=int, metavar="N", help="how many; one a core without")
    one.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    one.set_defaults(call=prepare)


def prepare(args: argparse.Namespace, out: Output) -> int:
    """Make a study ready; exit code 1 where another process is at it."""
    from atom.views.prepared.making import prepare
    from atom.views.snapshot import snapshot_folder

    line = out.progress()
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        study = find_study(store, args.study)
        folder = args.folder or snapshot_folder(store, settings.store_folder)
        made = prepare(
            store, study.id, args.judge, folder=folder, processes=args.processes, tell=line.show
        )
    told = {"study": study.id, "parts": made.parts, "seconds": round(made.seconds, 1)}
    words = f"{study.name!r} is ready in {numbers.count(made.parts, 'part')}"
    out.result(told, [f"{words}, after {made.seconds:.0f} s"])
    return 0

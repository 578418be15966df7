"""`export FORMAT --study NAME [--out PATH]`, and `export list`."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime
from pathlib import Path

from atom.cli.parts.options import add_common, names_of, settings_of
from atom.cli.parts.output import Output, table
from atom.cli.parts.sources import open_study
from atom.display import numbers
from atom.errors import UsageError
from atom.exports.base import Exporter, ExportOptions, ExportSource
from atom.exports.registry import EXPORTERS, find_exporter


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_common(parser)
    parser.add_argument("format", metavar="FORMAT", help="`list` names them")
    parser.add_argument("--study", help="name or id")
    parser.add_argument(
        "--out", type=Path, metavar="PATH", help="a file, or a folder; else by the study's name"
    )
    parser.add_argument("--samples", type=int, metavar="N", help="at most so many samples")
    parser.add_argument("--models", metavar="A,B", help="these models (llm-comparator: two)")
    parser.set_defaults(call=run)


def run(args: argparse.Namespace, out: Output) -> int:
    """Export a study, or list the forms."""
    if args.format == "list":
        return _list(out)
    exporter = find_exporter(args.format)
    if not args.study:
        raise UsageError("say which study: --study NAME")
    if args.samples is not None and args.samples < 1:
        raise UsageError(f"--samples takes a number from 1, got {args.samples}")
    line = out.progress()
    with open_study(settings_of(args), args.study) as (store, study_id, key):
        source = ExportSource(store, study_id, key)
        place = args.out or _place(source.name, exporter)
        options = ExportOptions(
            moment=datetime.now(UTC),
            samples=args.samples,
            models=names_of(args.models),
            progress=line.show,
        )
        try:
            written = exporter.write(source, place, options)
        finally:
            line.end()
    counts = ", ".join(
        numbers.counted(n, kind.replace("_", " ")) for kind, n in written.counts.items()
    )
    lines = [f"{written.place}: {counts}; {written.n_bytes:,} bytes"]
    lines += [f"note: {note}" for note in written.notes]
    lines += [f"not in it: {drop}" for drop in written.drops]
    data = {
        "format": exporter.name,
        "place": str(written.place),
        "bytes": written.n_bytes,
        "counts": written.counts,
        "drops": list(written.drops),
        "notes": list(written.notes),
    }
    out.result(data, lines)
    return 0


def _place(study: str, exporter: Exporter) -> Path:
    stem = re.sub(r"[^\w-]+", "-", study.casefold()).strip("-")[:60] or "study"
    return Path(f"{stem}-{exporter.name}{exporter.suffix}")


def _list(out: Output) -> int:
    rows = [
        {
            "format": one.name,
            "file": f"folder or {one.suffix}" if one.folder else one.suffix,
            "exact": not one.drops,
            "about": one.about,
            "drops": list(one.drops),
        }
        for one in EXPORTERS.values()
    ]
    head = ("format", "file", "exact", "about")
    lines = table(head, [[row[name] for name in head] for row in rows])
    for one in EXPORTERS.values():
        if one.drops:
            lines.append(f"{one.name} drops: {'; '.join(one.drops)}")
    out.result(rows, lines)
    return 0

"""`figure list` and `figure write`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from atom.cli.parts.options import add_reading, common, names_of, settings_of
from atom.cli.parts.output import Output, table
from atom.cli.parts.sources import open_study
from atom.errors import PlaceError, UsageError
from atom.exports.figures import FORMATS, OFFERS, Figure, FigureSource, Format, find_offers, render
from atom.files import new_folder, stream, write_file
from atom.reports.profile import find_model, known_facet
from atom.views.filters import Filters
from atom.views.study_data import load_study


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    listed = verbs.add_parser("list", parents=[common()], help="which figures can be drawn")
    listed.set_defaults(call=show)
    one = verbs.add_parser(
        "write", parents=[common()], help="figures with caption and data, as files in a folder"
    )
    one.add_argument("--study", required=True, help="name or id")
    one.add_argument("--figures", metavar="A,B", help="names, as `list` has them; all if left out")
    one.add_argument("--model", metavar="M", help="the model that is looked at, or comes first")
    one.add_argument("--with", dest="peer", metavar="M", help="the model it is compared with")
    one.add_argument("--facet", metavar="F", help="labels to look at in place of capabilities")
    one.add_argument("--experiment", metavar="ID", default="", help="of self-correction")
    add_reading(one)
    one.add_argument("--format", metavar="A,B", help=f"{', '.join(FORMATS)}; all if left out")
    one.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="made if need be")
    one.add_argument("--replace", action="store_true", help="write over files that are there")
    one.set_defaults(call=write)


def show(_args: argparse.Namespace, out: Output) -> int:
    """List the figures."""
    rows = [
        {"name": one.name, "title": one.title, "page": one.page or "overview"} for one in OFFERS
    ]
    cells = [[row["name"], row["title"], row["page"]] for row in rows]
    out.result({"figures": rows}, table(["name", "what it shows", "page"], cells))
    return 0


def write(args: argparse.Namespace, out: Output) -> int:
    """Write figures into a folder; those that the study can't fill are named with the reason."""
    offers = find_offers(names_of(args.figures))
    forms = _forms(args.format)
    made: list[Figure] = []
    left: list[dict[str, str]] = []
    with open_study(settings_of(args), args.study) as (store, study_id, key):
        data = load_study(store, study_id)
        model = find_model(data, args.model) if args.model else None
        peers = (find_model(data, args.peer),) if args.peer else ()
        facet = known_facet(data, args.facet)
        query = {name: value for name, value in
                 (("facet", facet), ("experiment", args.experiment)) if value}  # fmt: skip
        filters = Filters(study=key, model=model, peers=peers, reading=args.reading)
        asked = FigureSource(store=store, data=data, filters=filters, query=query)
        for offer in offers:
            try:
                made.append(offer.draw(asked))
            except UsageError as error:
                if args.figures:
                    raise
                left.append({"name": offer.name, "why": error.message})
    files = {args.out / f"{_stem(figure.name)}.{form}": (figure, form)
             for figure in made for form in forms}  # fmt: skip
    there = [str(path) for path in files if path.exists()]
    if there and not args.replace:
        raise PlaceError(f"{there[0]!r} is there already: name a new folder, or say --replace")
    _put(args.out, {path.name: render(*asked_for) for path, asked_for in files.items()})
    lines = [f"{figure.title}: {_stem(figure.name)}.{{{','.join(forms)}}}" for figure in made]
    lines += [f"left out: {one['name']}: {one['why']}" for one in left]
    out.result({"files": [str(path) for path in files], "left_out": left}, lines)
    return 0


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write all files or, into a folder that isn't there yet, none."""
    if folder.is_dir() and any(folder.iterdir()):
        for name, content in files.items():
            write_file(folder / name, content)
        return
    with new_folder(folder, empty=True) as part:
        for name, content in files.items():
            with stream(part / name) as out:
                out.write(content)


def _forms(text: str | None) -> tuple[Format, ...]:
    named = names_of(text)
    for name in named:
        if name not in FORMATS:
            raise UsageError(f"{name!r} is no format; {', '.join(FORMATS)} are")
    return tuple(form for form in FORMATS if form in named) if named else FORMATS


def _stem(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "figure"

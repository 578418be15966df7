"""`study list|copy|rename|delete|version|import|pictures|boxes|prepare`."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output
from atom.cli.parts.study_prepare import add_prepare
from atom.display.writers import lines
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.imports.attaching import MissingPicture, attach_pictures, missing_pictures
from atom.engine.imports.boxes_again import read_boxes_again
from atom.errors import UsageError
from atom.formats.picture_stock import stock_of
from atom.records import Study
from atom.settings import Settings
from atom.store import (
    Store,
    copy_study,
    delete_study,
    find_study,
    list_studies,
    rename_study,
    study_candidates,
)
from atom.store.versions import declare_version, versions_of
from atom.views.data.study_table import study_card, study_table
from atom.views.stores import entries_of

_LISTED = 40


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser("list", parents=[common()], help="the studies, with their sizes")
    one.set_defaults(call=list_all)
    one = verbs.add_parser("copy", parents=[common()], help="copy a study, the bundled one too")
    one.add_argument("study", help="name or id")
    one.add_argument("name", help="the copy's name")
    one.set_defaults(call=copy)
    one = verbs.add_parser("rename", parents=[common()], help="give a study another name")
    one.add_argument("study", help="name or id")
    one.add_argument("name", help="the new name")
    one.set_defaults(call=rename)
    one = verbs.add_parser(
        "delete", parents=[common()], help="remove a study; what was paid for stays in the store"
    )
    one.add_argument("study", help="name or id")
    one.add_argument("--yes", action="store_true", help="don't ask")
    one.set_defaults(call=delete)
    one = verbs.add_parser(
        "version", parents=[common()],
        help="declare which model is a version of which; without a model, list what is declared",
    )  # fmt: skip
    one.add_argument("model", nargs="?", help="the later version, by name or id")
    one.add_argument("--study", required=True, help="name or id")
    how = one.add_mutually_exclusive_group()
    how.add_argument("--of", metavar="M", help="the version before it")
    how.add_argument("--none", action="store_true", help="it isn't a version any longer")
    one.set_defaults(call=version)
    one = verbs.add_parser(
        "import", parents=[common()], help="bring a study back from `export parquet`"
    )
    one.add_argument("path", type=Path, help="the archive: a zip file or a folder")
    one.add_argument("--name", help="bring it in as a copy of this name")
    one.set_defaults(call=bring_back)
    one = verbs.add_parser(
        "pictures", parents=[common()],
        help="attach pictures to samples that are there, by name, by id and by hash",
    )  # fmt: skip
    one.add_argument("place", type=Path, nargs="*",
                     help="folders, zip files, pictures; without any, what is missing is listed",
                     )  # fmt: skip
    one.add_argument("--study", required=True, help="name or id")
    one.add_argument("--dry-run", action="store_true", help="say what would be attached")
    one.set_defaults(call=pictures)
    one = verbs.add_parser(
        "boxes", parents=[common()],
        help="read the boxes of stored replies again, by what is known of the endpoints now",
    )  # fmt: skip
    one.add_argument("--study", required=True, help="name or id")
    one.add_argument("--dry-run", action="store_true", help="say what would change")
    one.set_defaults(call=boxes)
    add_prepare(verbs)


def list_all(args: argparse.Namespace, out: Output) -> int:
    """List the studies of the store and the bundled one."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        cards = [study_card(store, entry) for entry in entries_of(store, bundled=False)]
    bundled = open_bundled(settings)
    if bundled is not None:
        with bundled:
            cards += [study_card(bundled, one) for one in entries_of(bundled, bundled=True)]
    found = study_table(cards)
    out.result(found.documents, lines(found))
    return 0


def version(args: argparse.Namespace, out: Output) -> int:
    """Declare a model a version of another, or list what is declared."""
    with Store.open(settings_of(args).store) as store:
        study = find_study(store, args.study)
        names = {one.id: one.name for one in study_candidates(store, study.id)}
        if args.model:
            if not args.of and not args.none:
                raise UsageError("say `--of` which version it comes after, or `--none`")
            found = [_known(names, name) for name in (args.model, args.of) if name]
            created = datetime.now(UTC).isoformat(timespec="milliseconds")
            before = None if args.none else found[1]
            declare_version(store, study.id, found[0], before, created)
        declared = versions_of(store, study.id)
    rows = [
        {"model": names.get(later, later), "version_of": names.get(before, before)}
        for later, before in sorted(declared.items(), key=lambda one: names.get(one[0], one[0]))
    ]
    lines = [f"{row['model']} is a version of {row['version_of']}" for row in rows]
    out.result(rows, lines or ["no model of this study is declared a version of another"])
    return 0


def _known(names: dict[str, str], name: str) -> str:
    """Return the id of a study's model.

    Raises:
        UsageError: none, or several, are called so.
    """
    found = [key for key, title in names.items() if name in (key, title)]
    if len(found) != 1:
        shown = ", ".join(map(repr, names.values())) or "none"
        several = "several models are" if found else "no model is"
        raise UsageError(f"{several} called {name!r}; models of this study: {shown}")
    return found[0]


def open_bundled(settings: Settings) -> Store | None:
    """Open the bundled study's store to read, where there is one."""
    if not settings.demo.exists():
        return None
    return Store.open(settings.demo, read_only=True)


def copy(args: argparse.Namespace, out: Output) -> int:
    """Copy a study, the bundled one too, into the store."""
    settings = settings_of(args)
    created = datetime.now(UTC).isoformat(timespec="milliseconds")
    with Store.open(settings.store) as store:
        names = {name for study in list_studies(store) for name in (study.name, study.id)}
        bundled = None if args.study in names else open_bundled(settings)
        if bundled is None:
            made = copy_study(store, store, _id(store, args.study), args.name, created=created)
        else:
            with bundled:
                found = find_study(bundled, args.study)
                made = copy_study(bundled, store, found.id, args.name, created=created)
    out.result(made, [f"copied to {made.name!r} ({made.id})"])
    return 0


def rename(args: argparse.Namespace, out: Output) -> int:
    """Give a study another name."""
    with Store.open(settings_of(args).store) as store:
        made = rename_study(store, _id(store, args.study), args.name)
    out.result(made, [f"renamed to {made.name!r}"])
    return 0


def delete(args: argparse.Namespace, out: Output) -> int:
    """Remove a study."""
    with Store.open(settings_of(args).store) as store:
        study = find_study(store, args.study)
        if not args.yes and not out.ask(f"Remove the study {study.name!r}?"):
            raise UsageError("nothing was removed: agree, or give --yes")
        delete_study(store, study.id)
    out.result({"deleted": study.id}, [f"removed {study.name!r}"])
    return 0


def pictures(args: argparse.Namespace, out: Output) -> int:
    """Attach pictures; exit code 1 while some are missing."""
    line = out.progress()
    with Store.open(settings_of(args).store) as store:
        study = find_study(store, args.study)
        if not args.place:
            return _missing(missing_pictures(store, study.id), study, out)
        try:
            done = attach_pictures(
                store,
                study,
                stock_of(args.place),
                keep=not args.dry_run,
                on_places=lambda n, total: line.show(f"{n:,} of {total:,} samples"),
            )
        finally:
            line.end()
    data = {
        "study": study.id,
        "kept": done.kept,
        "missing_before": done.places,
        "attached": done.attached,
        "by": done.by,
        "samples": done.samples,
        "still_missing": [_missing_row(one) for one in done.still],
        "doubtful": [
            {**_missing_row(one), "candidates": list(files)} for one, files in done.doubtful
        ],
        "refused": list(done.refused),
        "unused": list(done.unused),
    }
    lines = [done.headline]
    for title, words in done.lists:
        lines += [f"{title}: {len(words):,}", *_listed(words)]
    out.result(data, lines)
    return 1 if done.still else 0


def _listed(words: Sequence[str]) -> list[str]:
    more = [f"  and {len(words) - _LISTED:,} more"] if len(words) > _LISTED else []
    return [*(f"  {one}" for one in words[:_LISTED]), *more]


def boxes(args: argparse.Namespace, out: Output) -> int:
    """Read boxes again, after a test has found out how a judge writes them; nothing is asked."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        done = asyncio.run(
            read_boxes_again(
                store,
                find_study(store, args.study),
                known_endpoints(settings),
                keep=not args.dry_run,
            )
        )
    lines = [
        f"{done.solutions:,} solutions and {done.criteria:,} sets of criteria "
        f"{'have' if done.kept else 'would have'} other boxes; {done.same:,} stay as they are",
        *(f"left out: {n:,}, {why}" for why, n in done.left.items()),
    ]
    data = {"study": done.study.id, "kept": done.kept, "solutions": done.solutions,
            "criteria": done.criteria, "same": done.same, "left": done.left}  # fmt: skip
    out.result(data, lines)
    return 0


def _missing(found: Sequence[MissingPicture], study: Study, out: Output) -> int:
    lines = [f"{study.name!r}: {len(found):,} pictures are missing"]
    lines += _listed([one.words for one in found])
    out.result({"study": study.id, "missing": [_missing_row(one) for one in found]}, lines)
    return 1 if found else 0


def _missing_row(one: MissingPicture) -> dict[str, str | int | None]:
    place = one.place
    return {"sample": one.sample_id, "position": one.position, "number": place.number,
            "name": place.name, "source_id": place.source_id}  # fmt: skip


def bring_back(args: argparse.Namespace, out: Output) -> int:
    """Bring a study back from an archive."""
    # Loads Arrow and the views, which the other verbs don't wait for.
    from atom.exports.archive_read import import_archive

    line = out.progress()
    with Store.open(settings_of(args).store) as store:
        try:
            brought = import_archive(
                store,
                args.path,
                name=args.name,
                on_kind=lambda kind, n: line.show(f"{kind}: {n:,}"),
            )
        finally:
            line.end()
    total = sum(brought.counts.values())
    lines = [f"brought in {brought.study.name!r} ({brought.study.id}): {total:,} records"]
    if brought.copied:
        lines.append("as a copy: runs and imports stay with the original")
    lines += [
        f"kept as this store has them, with other values: {n} {kind}"
        for kind, n in brought.kept.items()
    ]
    if brought.consent:
        lines.append(
            f"its owner let it be sent to {', '.join(brought.consent)}; you will be asked anew"
        )
    if brought.missing_pictures:
        lines.append(f"{brought.missing_pictures:,} pictures are missing from the archive")
    data = {
        "study": brought.study.name,
        "study_id": brought.study.id,
        "counts": brought.counts,
        "new": brought.new,
        "kept": brought.kept,
        "missing_pictures": brought.missing_pictures,
        "copied": brought.copied,
    }
    out.result(data, lines)
    return 0


def _id(store: Store, name: str) -> str:
    return find_study(store, name).id

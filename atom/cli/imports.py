"""`import FORMAT PATH... --study NAME`, `import list`, and `import undo ID`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from atom.cli.parts.options import add_common, settings_of
from atom.cli.parts.output import Output, table
from atom.display import numbers
from atom.display.writers import lines
from atom.engine.imports.importing import ImportResult, import_reading
from atom.engine.studies.changes import undone_words
from atom.errors import UsageError
from atom.foreign import files_in, read_foreign_text
from atom.formats import (
    FORMATS,
    ColumnMap,
    FolderPictures,
    ImportFile,
    ImportReport,
    Reading,
    dry_run,
    read,
    read_column_map,
)
from atom.formats.pictures import PICTURE_SUFFIXES
from atom.store import Store, undo_import
from atom.views.data.import_table import account_table, brought_words, so_far_words

AUTO = "auto"
_LINES = 12
"""Skipped rows and notes that are shown; all are kept with the study."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_common(parser)
    parser.add_argument(
        "format",
        metavar="FORMAT",
        help=f"`list` names them; {AUTO!r} finds it out; `undo ID` takes an import back",
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or run folders, in order")
    parser.add_argument("--study", help="the study; made when there is none")
    parser.add_argument("--dataset", help="the data set's name; else by the file")
    parser.add_argument(
        "--pictures", action="append", metavar="DIR", help="where pictures lie; may be repeated"
    )
    parser.add_argument("--columns", metavar="FILE", help="a column map (table format)")
    parser.add_argument(
        "--candidate", action="append", metavar="FILE=NAME", help="whose answers a file holds"
    )
    parser.add_argument(
        "--score", metavar="NAME", help="whose verdicts count, where a log has several scores"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many rows")
    parser.add_argument(
        "--accept",
        action="store_true",
        help="bring it in although much is left out, figures disagree or columns go unused",
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="where ids have other contents now, take the old import back and bring this one in",
    )
    parser.add_argument("--dry-run", action="store_true", help="read and report, keep nothing")
    parser.set_defaults(call=take_in)


def take_in(args: argparse.Namespace, out: Output) -> int:
    """Take files into a study, or list the formats."""
    if args.format == "list" and not args.paths:
        return _list(out)
    if args.format == "undo":
        return _undo(args, out)
    reading = _reading(args)
    if args.dry_run:
        report = dry_run(reading)
        out.result(report, _lines(report, kept=False))
        return 0
    if not args.study:
        raise UsageError("say where it goes: --study NAME")
    line = out.progress()
    with Store.open(settings_of(args).store) as store:
        try:
            brought = import_reading(
                store,
                reading,
                args.study,
                datetime.now(UTC),
                accept=args.accept,
                replace=args.replace,
                on_batch=lambda report: line.show(so_far_words(report)),
            )
        finally:
            line.end()
    said = [
        f"into study {brought.study.name!r}",
        *_lines(brought.report, kept=True),
        f"to take it back: import undo {brought.record.id}",
    ]
    out.result(_data(brought), said)
    return 0


def _undo(args: argparse.Namespace, out: Output) -> int:
    if len(args.paths) != 1:
        raise UsageError("say which import: `import undo ID`, the id that the import printed")
    with Store.open(settings_of(args).store) as store:
        undone = undo_import(store, args.paths[0])
    data = {
        "import_id": undone.record.id,
        "samples": undone.samples,
        "responses": undone.responses,
        "preferences": undone.preferences,
        "kept": undone.kept,
    }
    out.result(data, [undone_words(undone)])
    return 0


def _list(out: Output) -> int:
    rows = [
        {"format": name, "files": " ".join(format.patterns), "about": format.about}
        for name, format in FORMATS.items()
    ]
    head = ("format", "files", "about")
    out.result(rows, table(head, [[row[name] for name in head] for row in rows]))
    return 0


def _reading(args: argparse.Namespace) -> Reading:
    if not args.paths:
        raise UsageError("no file is named; give one or more paths behind the format")
    named = [Path(path) for path in args.paths]
    paths = [path for name in named for path in _inside(name)]
    missing = [path for path in paths if not path.is_file()]
    if missing:
        raise UsageError(f"there is no file {str(missing[0])!r}")
    folders = [Path(folder) for folder in args.pictures or ()]
    absent = [folder for folder in folders if not folder.is_dir()]
    if absent:
        raise UsageError(f"there is no folder {str(absent[0])!r} for --pictures")
    return read(
        None if args.format == AUTO else args.format,
        [ImportFile.from_path(path) for path in paths],
        dataset=args.dataset,
        columns=_columns(args.columns),
        pictures=FolderPictures(folders) if folders else None,
        candidates=_candidates(args.candidate or ()),
        limit=args.limit,
        score=args.score,
    )


def _inside(path: Path) -> list[Path]:
    """Return a run folder's files, pictures and hidden ones aside; a file is itself.

    Raises:
        UsageError: the folder holds none.
    """
    if not path.is_dir():
        return [path]
    aside = (*PICTURE_SUFFIXES, ".log", ".pkl", ".md")
    found = files_in(path, lambda file: file.suffix.lower() not in aside)
    if not found:
        raise UsageError(f"the folder {str(path)!r} holds no file to import")
    return found


def _columns(file: str | None) -> ColumnMap | None:
    if file is None:
        return None
    return read_column_map(read_foreign_text(Path(file)))


def _candidates(pairs: Sequence[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        file, sign, name = pair.partition("=")
        if not sign or not file or not name:
            raise UsageError(f"--candidate takes FILE=NAME, got {pair!r}")
        found[file] = name
    return found


def _data(brought: ImportResult) -> dict[str, object]:
    return {
        "study": brought.study.name,
        "study_id": brought.study.id,
        "import_id": brought.record.id,
        **brought.report.model_dump(mode="json"),
    }


def _lines(report: ImportReport, *, kept: bool) -> list[str]:
    found = [
        f"{report.format}: {numbers.count(report.rows, 'row')}",
        brought_words(report, kept=kept),
        *(lines(account_table(report.account)) if report.account.tallies else ()),
    ]
    found += [f"note: {note}" for note in report.notes[:_LINES]]
    found += [f"left out: {line}" for line in report.skipped[:_LINES]]
    if report.n_skipped > _LINES:
        found.append(f"left out: {numbers.count(report.n_skipped, 'row')} in all")
    if report.n_missing_pictures:
        found.append(
            f"{report.missing_words}; attach them with `study pictures FOLDER --study NAME`, or "
            "name their folder now with --pictures"
        )
    found += [f"must be accepted (--accept): {line}" for line in report.doubts]
    return found

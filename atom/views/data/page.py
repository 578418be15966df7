"""Data: what is in here, and what would come in from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from atom.display import numbers
from atom.errors import FormatError
from atom.formats import (
    FORMATS,
    ColumnMap,
    ImportFile,
    ImportReport,
    PictureFinder,
    detect,
    preview,
)
from atom.formats.column_names import column_names
from atom.formats.foreign import check_foreign
from atom.formats.guess import guess_map
from atom.formats.layout import find_layout
from atom.formats.registry import ImportPreview
from atom.formats.rows import NoProblems, read_rows
from atom.formats.tabular import NAME as TABLE
from atom.records import Import, Sample
from atom.views.data.judgments import JUDGMENTS, FirstMark, first_marks
from atom.views.stores import AllStudies

ROWS = 8
"""First rows that are shown."""
UNFINISHED = "broke off before its end"
_HEAD_ROWS = 200


@dataclass(frozen=True, kw_only=True)
class FirstRow:
    """One of the first rows, as it would come in."""

    question: str
    choices: tuple[str, ...]
    reference: str
    model: str
    answer: str
    right: str
    """`right`, `wrong`, a share, or empty where no verdict came with it."""
    pictures: str
    """`2 found`, `missing: cat.png`, or empty."""


@dataclass(frozen=True, kw_only=True)
class FilePreview:
    """What the first rows of files say.

    Attributes:
        format: the form they are read as.
        about: what that form is.
        recognised: whether it was found out; else it was chosen.
        rows: the first of them.
        report: what was met in them.
        columns: a table's columns; empty for other forms.
        mapped: which of them is what, guessed where nobody said.
        needed: what a table still lacks to be read as it is; empty where it can come in.
        marks: the first marks on criteria, where there are any.
    """

    format: str
    about: str
    recognised: bool
    rows: tuple[FirstRow, ...]
    report: ImportReport
    columns: tuple[str, ...]
    mapped: ColumnMap | None
    needed: str = ""
    marks: tuple[FirstMark, ...] = ()


def recognise(files: Sequence[ImportFile]) -> str | None:
    """Return the name of the form that fits all files best; None when none does.

    Raises:
        FormatError: they are of a kind that is known and can't be read here.
    """
    check_foreign(files)
    found = detect(files)
    return None if found is None else found.name


def look(
    files: Sequence[ImportFile],
    *,
    format: str | None = None,
    dataset: str | None = None,
    columns: ColumnMap | None = None,
    pictures: PictureFinder | None = None,
    candidates: Mapping[str, str] | None = None,
) -> FilePreview:
    """Read the first rows of files; nothing is stored.

    Args:
        files: what to read, in order.
        format: the form; None = found out.
        dataset: the data set's name; None = by the file.
        columns: which column is what (tables); None = guessed.
        candidates: file name → model's name.

    Returns:
        The first rows. A table whose columns can be named comes back even where it can't be read
        yet: without rows, with what is still needed.

    Raises:
        FormatError: the files can't be this form; the message says what is expected.
    """
    named = columns is not None and columns.has_marks
    name = format or (JUDGMENTS if named else recognise(files))
    if name is None:
        names = ", ".join(repr(file.name) for file in files) or "no file"
        raise FormatError(
            f"no known format fits {names}: choose one under Format, or save them as a table"
        )
    try:
        found = preview(
            name,
            files,
            rows=ROWS,
            dataset=dataset,
            columns=columns,
            pictures=pictures,
            candidates=candidates,
        )
    except FormatError as error:
        lacking = None
        if name in (TABLE, JUDGMENTS):
            lacking = _lacking(error, files, dataset, columns, name, recognised=format is None)
        if lacking is None:
            raise
        return lacking
    return FilePreview(
        format=name,
        about=FORMATS[name].about,
        recognised=format is None,
        rows=first_rows(found),
        report=found.report,
        columns=table_columns(files, columns) if name == TABLE else (),
        mapped=found.report.columns,
        marks=first_marks(found, ROWS),
    )


def _lacking(
    error: FormatError,
    files: Sequence[ImportFile],
    dataset: str | None,
    columns: ColumnMap | None,
    format: str,
    *,
    recognised: bool,
) -> FilePreview | None:
    """Show a table that can't be read yet by its columns; None where it has none."""
    given = columns or ColumnMap()
    try:
        heads = [_head(file, given) for file in files]
    except FormatError:
        return None
    names = column_names([values for head in heads for values in head])
    if not names:
        return None
    dataset = dataset or given.dataset or files[0].stem
    return FilePreview(
        format=format,
        about=FORMATS[format].about,
        recognised=recognised,
        rows=(),
        report=ImportReport(
            format=format, dataset=dataset, sources=tuple(file.name for file in files)
        ),
        columns=names,
        mapped=guess_map(heads[0], given) if format == TABLE else given,
        needed=error.message,
    )


def table_columns(files: Sequence[ImportFile], given: ColumnMap | None = None) -> tuple[str, ...]:
    """Return tables' columns, in their order.

    Args:
        given: says their encoding and delimiter, where it does.

    Raises:
        FormatError: one of them is no table.
    """
    heads = [_head(file, given or ColumnMap()) for file in files]
    return column_names([values for head in heads for values in head])


def _head(file: ImportFile, given: ColumnMap) -> list[Mapping[str, object]]:
    try:
        layout = find_layout(file, encoding=given.encoding, delimiter=given.delimiter)
    except FormatError:
        # An encoding that nobody knows is told elsewhere; the columns are needed to mend it.
        layout = find_layout(file, delimiter=given.delimiter)
    return [row.values for row in islice(read_rows(file, layout, NoProblems()), _HEAD_ROWS)]


def first_rows(found: ImportPreview) -> tuple[FirstRow, ...]:
    """Lay out what a preview brought: an answer a row, or a question a row where there are none."""
    samples = {sample.id: sample for sample in found.samples}
    names = {candidate.id: candidate.name for candidate in found.candidates}
    verdicts = {one.response_id: one.value for one in found.outcomes}
    rows = [
        _row(
            samples[answer.sample_id],
            names.get(answer.candidate_id, answer.candidate_id),
            answer.text or (f"({answer.detail})" if answer.detail else ""),
            _verdict(verdicts.get(answer.id)),
        )
        for answer in found.responses
        if answer.sample_id in samples
    ]
    rows = rows or [_row(sample, "", "", "") for sample in found.samples]
    return tuple(rows[:ROWS])


def _row(sample: Sample, model: str, answer: str, right: str) -> FirstRow:
    missing = [slot.name for slot in sample.pictures if slot.picture_id is None]
    there = len(sample.pictures) - len(missing)
    pictures = f"missing: {missing[0]}" if missing else f"{there} found" if there else ""
    return FirstRow(
        question=sample.question,
        choices=sample.choices,
        reference=sample.reference or "",
        model=model,
        answer=answer,
        right=right,
        pictures=pictures,
    )


def _verdict(value: float | None) -> str:
    if value is None:
        return ""
    return {1.0: "right", 0.0: "wrong"}.get(value, numbers.share(value))


def is_unfinished(record: Import) -> bool:
    """Whether an import broke off before its end, as those of earlier versions could."""
    return not record.closed or any(UNFINISHED in note for note in record.notes)


def free_name(listed: AllStudies, wanted: str) -> str:
    """Return a name that no study of the user's has: the wanted one, or one with a number."""
    taken = {entry.study.name for entry in listed.entries if not entry.bundled}
    name, number = wanted.strip()[:110] or "My study", 1
    while name in taken:
        number += 1
        name = f"{wanted.strip()[:110]} {number}"
    return name

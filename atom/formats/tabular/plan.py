"""The generic table: CSV, TSV, JSON lines, JSON, Parquet or Excel with a column map.

Long form has a row for each answer (`model`, `response`), wide form a column for each candidate
(`response:gpt-x`). A file without answers brings questions only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter

from atom.errors import FormatError
from atom.formats.base import ImportFile, Reading, ReadOptions
from atom.formats.benchmarks.rotations import rotation_of
from atom.formats.column_map import ColumnMap
from atom.formats.column_names import BY_ROW, check_columns, column_names, getter
from atom.formats.guess import complete_map
from atom.formats.intake.batch import Batch
from atom.formats.intake.collector import Collector, UnreadRows
from atom.formats.judgments.plan import looks_like
from atom.formats.layout import FileLayout, find_layout, is_excel
from atom.formats.rows import NoProblems, read_rows
from atom.formats.tabular.answers import RowReader
from atom.formats.tabular.questions import PlannedFile, fingerprints

NAME = "table"
_HEAD_ROWS = 200
_HEAD_BYTES = 16_000_000
Head = list[Mapping[str, object]]
"""A file's first rows."""


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is a table."""
    lowered = name.lower()
    if head.startswith(b"PAR1"):
        return 0.6
    if is_excel(head):
        return 0.5
    if lowered.endswith((".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")):
        return 0.5
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{"):
        return 0.3
    return 0.1 if lowered.endswith(".txt") else 0.0


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read tables; a file may refer to questions of an earlier one by their ids.

    Raises:
        FormatError: a file is no table, or it isn't clear which column holds the question.
    """
    given = options.columns or ColumnMap()
    if given.has_marks:
        raise FormatError(
            "the column map names criteria and marks: import these files as `judgments`"
        )
    dataset = options.dataset or given.dataset or rotation_of(files[0].stem).stem
    collector = Collector(NAME, dataset, [file.name for file in files])
    layouts = [
        find_layout(file, encoding=given.encoding, delimiter=given.delimiter) for file in files
    ]
    heads = [
        _looked_at(file, layout, collector) for file, layout in zip(files, layouts, strict=True)
    ]
    check_columns(heads, given, [file.name for file in files])
    plan: list[PlannedFile] = []
    for file, layout, head in zip(files, layouts, heads, strict=True):
        columns = _columns(file, layout, head, options, collector, question_needed=not plan)
        plan.append(_planned(file, layout, columns))
    if not any(_holds_answers(one.columns) for one in plan):
        collector.note(
            "no column looks like an answer, so only questions come in; where one is, name it in a "
            "column map (`response: <column>`, or `responses` with a column a model)"
        )
    collector.columns = plan[0].columns
    return Reading(_batches(plan, options, collector), collector)


def _looked_at(file: ImportFile, layout: FileLayout, collector: Collector) -> Head:
    """Return a file's first rows, with what is to be said of them.

    Raises:
        FormatError: it has none.
    """
    for note in layout.notes:
        collector.note(note)
    problems = NoProblems()
    head = _head(file, layout, problems)
    if not head:
        why = f" ({problems.first:.300})" if problems.first else ""
        raise FormatError(
            f"{file.name!r} has no rows that can be read{why}; a header line and rows are expected"
        )
    if looks_like(column_names(head)):
        collector.doubt(
            f"{file.name}: a criterion and a mark stand side by side: import it as "
            "`judgments`, which keeps criteria, weights, judges and scales"
        )
    return head


def _columns(
    file: ImportFile,
    layout: FileLayout,
    head: Head,
    options: ReadOptions,
    collector: Collector,
    *,
    question_needed: bool,
) -> ColumnMap:
    """Complete the column map for a file; without an id in it, rows are named by their place."""
    guess = complete_map(
        head,
        options.columns or ColumnMap(),
        file.name,
        question_needed=question_needed,
        every=None if options.limit is not None else partial(_every_row, file, layout),
    )
    for note in guess.notes:
        collector.note(note)
    for doubt in guess.doubts:
        collector.doubt(doubt)
    columns = guess.columns
    if columns.id == BY_ROW and not any(BY_ROW in values for values in head):
        return columns.model_copy(update={"id": None})
    if columns.id is None:
        collector.note(
            f"{file.name}: no column is an id, so each row is named by its file and its place "
            "in it, and no two are one question; where rows belong together, say `id: "
            f"{columns.question}` in a column map (`id: row` to leave it so)"
        )
    return columns


def _planned(file: ImportFile, layout: FileLayout, columns: ColumnMap) -> PlannedFile:
    turned = rotation_of(file.stem)
    return PlannedFile(
        file=file,
        layout=layout,
        columns=columns,
        cell=getter(column for _, column in columns.named()),
        of_sample=fingerprints(_columns_of_sample(columns)),
        rotation=turned.degrees,
        candidate=turned.stem,
    )


def _holds_answers(columns: ColumnMap) -> bool:
    """Whether a map leads to answers, or to verdicts on answers without a text."""
    return any(
        (
            columns.response,
            columns.responses,
            columns.correct,
            columns.corrects,
            columns.response_a,
            columns.response_b,
            columns.winner,
        )
    )


def _every_row(file: ImportFile, layout: FileLayout) -> Iterator[Mapping[str, object]]:
    return map(_CELLS, read_rows(file, layout, NoProblems()))


_CELLS = itemgetter(1)
"""Of a row."""


def _columns_of_sample(columns: ColumnMap) -> tuple[str, ...]:
    single = (
        columns.question,
        columns.answer,
        columns.answer_type,
        columns.tolerance,
        columns.cluster,
    )
    named = tuple(column for column in single if column is not None)
    return (*named, *columns.pictures, *columns.choices, *(columns.tags or ()))


def _head(file: ImportFile, layout: FileLayout, problems: NoProblems) -> Head:
    head: Head = []
    size = 0
    rows = read_rows(file, layout, problems, most=_HEAD_ROWS)
    for row in islice(rows, _HEAD_ROWS):
        head.append(row.values)
        size += sum(_size(value) for value in row.values.values())
        if size > _HEAD_BYTES:
            break
    return head


def _size(value: object) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, list):
        return sum(map(_size, value))
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return 8


def _batches(
    plan: Sequence[PlannedFile], options: ReadOptions, collector: Collector
) -> Iterator[Batch]:
    reader = RowReader(options, collector)
    for planned in plan:
        rows = read_rows(planned.file, planned.layout, UnreadRows(collector))
        for row in rows:
            if options.limit is not None and collector.rows >= options.limit:
                collector.note(f"stopped after {options.limit:,} rows, as asked")
                yield collector.flush()
                return
            collector.rows += 1
            reader.take(row, planned)
            if collector.is_full:
                yield collector.flush()
    reader.finish()
    yield collector.flush()

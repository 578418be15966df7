"""Judgments on criteria: what was judged criterion by criterion, by anybody, on any scale."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence

from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.column_map import ColumnMap
from atom.formats.intake.batch import Batch
from atom.formats.intake.collector import Collector, UnreadRows
from atom.formats.judgments.named import named_map
from atom.formats.judgments.own import own_tables, read_own
from atom.formats.judgments.plan import FilePlan, looks_like, plans_of
from atom.formats.judgments.shapes import ShapeError
from atom.formats.judgments.take import Taker

NAME = "judgments"
_LIKELY = 0.65
"""Before a plain table (0.6 at most), behind formats that know their files."""


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this file holds marks on criteria, side by side."""
    return _LIKELY if looks_like(header_of(head, name)) else 0.0


def header_of(head: bytes, name: str) -> tuple[str, ...]:
    """Return the columns that a file's first bytes name: a table's first line, or JSON's keys."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[")) and not name.lower().endswith((".csv", ".tsv")):
        start = text.find("{")
        try:
            found, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            return ()
        while (
            isinstance(found, dict) and found and all(isinstance(v, dict) for v in found.values())
        ):
            found = next(iter(found.values()))
        return tuple(map(str, found)) if isinstance(found, dict) else ()
    first = text.split("\n", 1)[0].rstrip("\r")
    delimiter = max("\t,;", key=first.count)
    try:
        return tuple(next(csv.reader(io.StringIO(first), delimiter=delimiter), ()))
    except csv.Error:
        return ()


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read marks on criteria, from one file or several that belong together.

    Raises:
        FormatError: no file holds marks, a column that the map names is missing, or the scale of
            the marks isn't obvious; the message names what was seen and what to say.
    """
    given = options.columns
    if (given is None or not given.has_marks) and own_tables(files):
        collector = Collector(NAME, options.dataset or files[0].stem, [file.name for file in files])
        return Reading(read_own(files, options, collector), collector)
    collector_notes: list[str] = []
    if given is None or not given.has_marks:
        found = named_map(files)
        if found is not None:
            title, named = found
            collector_notes.append(f"read by the map of {title}")
            said = {} if given is None else given.model_dump(exclude_unset=True, by_alias=True)
            given = ColumnMap.model_validate(
                {**named.model_dump(exclude_unset=True, by_alias=True), **said}
            )
    given = given or ColumnMap()
    dataset = options.dataset or given.dataset or files[0].stem
    collector = Collector(NAME, dataset, [file.name for file in files])
    for note in collector_notes:
        collector.note(note)
    plans = plans_of(files, given)
    for plan in plans:
        for note in plan.layout.notes:
            collector.note(note)
        if plan.guessed:
            listed = ", ".join(f"{key} = {column!r}" for key, column in plan.guessed)
            collector.note(f"{plan.file.name}: guessed columns: {listed}")
        if plan.role == "nothing":
            collector.doubt(f"{plan.file.name!r} holds nothing that is used: leave it out")
    collector.columns = given if given.files or given.has_marks else plans[-1].columns
    return Reading(_batches(plans, options, collector), collector)


def _batches(
    plans: Sequence[FilePlan], options: ReadOptions, collector: Collector
) -> Iterator[Batch]:
    taker = Taker(collector, options)
    for plan in plans:
        if plan.role == "nothing":
            continue
        taker.begin(plan)
        taken = 0
        for row in plan.rows(UnreadRows(collector)):
            if options.limit is not None and taken >= options.limit:
                collector.note(f"stopped after {options.limit:,} rows of a file, as asked")
                break
            taken += 1
            collector.rows += 1
            try:
                made = plan.shape.rows(dict(row.values) if plan.shape.captured else row.values)
            except ShapeError as error:
                collector.skip(row.place, str(error))
                continue
            for one in made:
                taker.take(one, row.place)
            if collector.is_full:
                yield collector.flush()
    for _ in taker.finish():
        yield collector.flush()
    yield collector.flush()


FORMAT = Format(
    name=NAME,
    about="Marks on criteria by models, people or programs, on any scale, from files of any shape.",
    patterns=("*.csv", "*.tsv", "*.jsonl", "*.ndjson", "*.json", "*.parquet", "*.xlsx", "*.eval"),
    wanted="files with a criterion and a mark, and a column map where they aren't obvious",
    sniff=sniff,
    read=read,
)

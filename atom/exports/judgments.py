"""Judgments as a long table: a row a mark of every judge, with all that it is about."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from atom.display.csv_text import guarded
from atom.errors import UsageError
from atom.exports.apart import JudgesApart
from atom.exports.base import (
    Exporter,
    ExportManifest,
    ExportOptions,
    ExportResult,
    ExportSource,
    manifest_of,
)
from atom.exports.columns import JUDGMENTS, MARK, Dtype, ExportColumn
from atom.exports.whole_samples import PlacedCriterion, WholeSample, whole_samples
from atom.files import new_file, size_of, text_stream
from atom.records import Checkpoint, Judge, MarkScale
from atom.store import scales_of
from atom.store.people import PEOPLE

NAME = "judgments"
DROPS = (
    "pictures: only their names stand in the table",
    "answers and criteria without a mark, and which samples are quarantined",
    "the judge's replays, raw replies, regions, and what calls cost",
    "how outcomes were found, votes between answers, people's labels on answers, and labels",
    "corrected answers and self-correction experiments",
    "the tree's descriptions, older versions and edits, runs and imports",
)
Line = tuple[object, ...]
_BATCH = 2_000
_ARROW: Mapping[Dtype, pa.DataType] = {
    "str": pa.string(),
    "Int64": pa.int64(),
    "float64": pa.float64(),
    "boolean": pa.bool_(),
    "object": pa.list_(pa.string()),
}


def judgments(
    source: ExportSource, limit: int | None = None, *, pending: bool = True
) -> Iterator[Line]:
    """Go through the marks of the judge that is looked at (`columns.JUDGMENTS`).

    Args:
        source: the study, and whose marks.
        limit: at most so many samples.
        pending: give a row to each criterion on an answer that isn't marked yet, too.
    """
    data = source.data
    names = [one.name for one in data.candidates]
    known = {one.id: one for one in data.judges}
    scales = scales_of(source.store)
    judges = JudgesApart(data)
    for whole in whole_samples(source, limit):
        places = [criterion_line(number, use) for number, use in enumerate(whole.criteria, start=1)]
        asked = _asked(whole)
        for one in whole.answers:
            answer = one.response
            said = (names[one.model], answer.repeat, answer.text, one.right)
            for use, place in zip(whole.criteria, places, strict=True):
                marks = one.marks.get(use.criterion.id, ())
                apart = judges.points(answer.id, use.criterion.id)
                for mark in marks:
                    yield (*asked, *said, *place, apart, *_mark(mark, known, scales))
                if pending and not marks:
                    yield (*asked, *said, *place, apart, *_PENDING)


_PENDING: Line = tuple(
    "pending" if column.name == "state" else None for column in JUDGMENTS[-len(MARK) :]
)


def every_judge(source: ExportSource) -> Iterator[ExportSource]:
    """Return the study through each judge that marked anything of it, the most first.

    All people together are no judge: each of them comes by himself.
    """
    for one in source.data.judges:
        if one.id == PEOPLE:
            continue
        yield source if one == source.data.judge else replace(source, judge_id=one.id)


def _asked(whole: WholeSample) -> Line:
    one = whole.sample
    return (
        one.id, one.dataset, one.source_id, one.question, one.choices, one.reference,
        tuple(slot.name for slot in one.pictures), one.synthetic,
    )  # fmt: skip


def criterion_line(number: int, place: PlacedCriterion) -> Line:
    """Say what a criterion is and how it stands in its sample, from `criterion` to `capability`."""
    one, use = place.criterion, place.use
    return (
        one.id, number, one.question, one.kind, one.ground_truth, use.weight, use.polarity,
        use.parents, use.gate, use.gate_cap, place.leaf or (),
    )  # fmt: skip


def _mark(one: Checkpoint, judges: Mapping[str, Judge], scales: Mapping[str, MarkScale]) -> Line:
    judge = judges.get(one.judge_id)
    return (
        one.judge_id if judge is None else judge.name, "model" if judge is None else judge.kind,
        scale_text(scales[one.scale]), one.raw, one.value, one.state, one.score, one.reason,
        one.quote, one.detail, one.addressed, one.carried, one.repeat, one.prompt,
    )  # fmt: skip


@cache
def scale_text(scale: MarkScale) -> str:
    """Write a scale in JSON, without its id, which follows from the rest."""
    said = scale.model_dump(mode="json", exclude={"id"}, exclude_defaults=True)
    return json.dumps(said, ensure_ascii=False)


def write(source: ExportSource, place: Path, options: ExportOptions) -> ExportResult:
    """Write the table: `.csv`, `.parquet`, or `.jsonl`, as the place is called.

    Args:
        place: a file that isn't there yet.
        options: `samples` narrows it.

    Raises:
        UsageError: the place has another ending, or is taken.
    """
    writer = _WRITERS.get(place.suffix.lower())
    if writer is None:
        raise UsageError(
            f"{place.name!r}: judgments are written as {', '.join(_WRITERS)}; "
            "give --out such an ending"
        )
    counted = _LineCounter(options.progress)
    lines = chain.from_iterable(
        judgments(one, options.samples, pending=False) for one in every_judge(source)
    )
    with new_file(place) as part:
        writer(part, counted.through(lines), manifest_of(NAME, source, options, {}, DROPS))
    return ExportResult(
        place=place,
        n_bytes=size_of(place),
        counts={"judgments": counted.n},
        drops=DROPS,
        notes=_NOTES if writer is _write_csv else (),
    )


_NOTES = (
    "a text that begins like a formula, or with a ', bears a ' before it, so that no spreadsheet "
    "runs it; one ' comes off again when it is read",
    "texts stay as they are, with signs that turn the direction of writing",
)


class _LineCounter:
    def __init__(self, progress: Callable[[str], None]) -> None:
        self.n = 0
        self._progress = progress

    def through(self, lines: Iterable[Line]) -> Iterator[Line]:
        for line in lines:
            self.n += 1
            if self.n % _BATCH == 0:
                self._progress(f"{self.n:,} judgments")
            yield line


def _write_csv(place: Path, lines: Iterable[Line], manifest: ExportManifest) -> None:
    del manifest  # plain text has no place for it

    def cell(value: object) -> object:
        if isinstance(value, tuple):
            return json.dumps(value, ensure_ascii=False) if value else None
        return guarded(value) if isinstance(value, str) else value

    with text_stream(place) as out:
        # All texts are quoted, so that lone carriage returns in them end no row.
        writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(column.name for column in JUDGMENTS)
        for line in lines:
            writer.writerow(map(cell, line))


def _write_jsonl(place: Path, lines: Iterable[Line], manifest: ExportManifest) -> None:
    del manifest  # plain text has no place for it
    names = [column.name for column in JUDGMENTS]
    with text_stream(place) as out:
        for line in lines:
            out.write(
                json.dumps(dict(zip(names, line, strict=True)), ensure_ascii=False, allow_nan=False)
                + "\n"
            )


def _write_parquet(place: Path, lines: Iterable[Line], manifest: ExportManifest) -> None:
    schema = pa.schema(
        [(column.name, _ARROW[column.dtype]) for column in JUDGMENTS],
        metadata={"atomscope": manifest.model_dump_json()},
    )
    with pq.ParquetWriter(place, schema, compression="zstd") as out:
        rest = iter(lines)
        while part := tuple(islice(rest, _BATCH)):
            out.write_table(pa.table(_arrays(JUDGMENTS, part), schema=schema))


def _arrays(columns: Sequence[ExportColumn], lines: Sequence[Line]) -> list[pa.Array]:
    return [
        pa.array(list(values), type=_ARROW[column.dtype], from_pandas=False)
        for column, values in zip(columns, zip(*lines, strict=True), strict=True)
    ]


_WRITERS: Mapping[str, Callable[[Path, Iterable[Line], ExportManifest], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".jsonl": _write_jsonl,
}
EXPORTER = Exporter(
    name=NAME,
    title="Judgments (CSV, Parquet, JSON lines)",
    about="A row a mark of every judge, with its question, criterion, answer, scale and reason; "
    "for a data frame or another study.",
    suffix=".csv",
    folder=False,
    drops=DROPS,
    write=write,
)

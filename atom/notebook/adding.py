"""Brings judgments in a frame into a study, through the importer of files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pandas as pd
from pydantic import ValidationError

from atom.engine.imports.importing import import_reading
from atom.errors import UsageError
from atom.formats import ColumnMap, ImportFile, read
from atom.store import Store

NAME = "frame.jsonl"
"""Stands for a file's name; a frame that names no data set is of `frame`."""


@dataclass(frozen=True, kw_only=True)
class AddedMarks:
    """What a frame brought.

    Attributes:
        judgments: marks on criteria.
        samples: samples that are new to the study.
        notes: how columns and scales were read, and what else should be known.
        import_id: what `atomscope import undo` takes.
    """

    judgments: int
    criteria: int
    samples: int
    answers: int
    notes: tuple[str, ...]
    import_id: str

    def __str__(self) -> str:
        """Say it in lines."""
        head = (
            f"{self.judgments:,} marks on {self.criteria:,} criteria, {self.samples:,} samples, "
            f"{self.answers:,} answers"
        )
        return "\n".join((head, *self.notes))


def add_frame(
    store: Store,
    study_name: str,
    frame: pd.DataFrame,
    *,
    scale: Mapping[str, object] | Sequence[object] | None = None,
    columns: Mapping[str, object] | None = None,
    dataset: str | None = None,
    accept: bool = False,
    replace: bool = False,
) -> AddedMarks:
    """Take a frame of marks into a study; arguments and errors are `Study.add_judgments`'s."""
    if store.read_only:
        raise UsageError(
            f"{study_name!r} is sealed: make a study of your own with atom.create(NAME), or copy "
            "this one with `atomscope study copy`"
        )
    if frame.empty:
        raise UsageError("the frame has no rows: nothing was brought in")
    reading = read(
        "judgments",
        [ImportFile.from_bytes(NAME, lines_of(frame))],
        dataset=dataset,
        columns=column_map(scale, columns),
    )
    done = import_reading(
        store, reading, study_name, datetime.now(UTC), accept=accept, replace=replace
    )
    report = done.report
    return AddedMarks(
        judgments=report.judgments,
        criteria=report.criteria,
        samples=report.samples,
        answers=report.responses,
        notes=report.notes,
        import_id=done.record.id,
    )


def column_map(
    scale: Mapping[str, object] | Sequence[object] | None, columns: Mapping[str, object] | None
) -> ColumnMap | None:
    """Make a column map of what a call says.

    Raises:
        UsageError: it can't be used; the message names the key and what is wrong with it.
    """
    said = dict(columns or {})
    if scale is not None:
        said["scale"] = scale if isinstance(scale, Mapping) else {"values": list(scale)}
    if not said:
        return None
    try:
        return ColumnMap.model_validate(said)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{where!r} can't be used: {first['msg']}; docs/import.md lists a column map's keys"
        ) from None


def lines_of(frame: pd.DataFrame) -> bytes:
    """Write a frame as JSON lines, a missing value as null.

    Raises:
        UsageError: two columns have one name, or a value can't be written.
    """
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"the frame has two columns {twice!r}: rename one of them")
    plain = frame.astype(object).where(frame.notna(), None)
    lines = (
        json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=_plain)
        for row in plain.itertuples(index=False, name=None)
    )
    try:
        return "\n".join(lines).encode("utf-8", "replace")
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"a value of the frame can't be written as JSON ({str(error)[:80]}): leave out columns "
            "of objects that hold themselves, are nested without end or are numbers of thousands "
            "of digits"
        ) from error


def _plain(value: object) -> object:
    """Turn what JSON doesn't know into what it does: numpy's numbers and arrays, times, sets."""
    for turn in ("tolist", "isoformat"):
        if hasattr(value, turn):
            return getattr(value, turn)()
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)

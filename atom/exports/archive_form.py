"""The form of a study's archive: its manifest, and how a record becomes a row and a line.

An archive is a folder or a zip file. `records/<kind>.parquet` holds a kind's records as columns,
`records/<kind>.jsonl` the same records a line each; `pictures/<sha-256>` are the original pictures;
`manifest.json` counts all of it and holds every file's checksum.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa
from pydantic import ValidationError

from atom.errors import FormatError
from atom.records import Call, Record
from atom.store.schema import KINDS, ColumnType, Kind, import_links

FORM = "atomscope-study"
VERSION = 1
MANIFEST = "manifest.json"
LINKS = import_links.name
"""Which import brought which record: rows of three texts, no records of their own."""
LINK_SCHEMA = pa.schema([(name, pa.large_string()) for name in ("import_id", "kind", "record_id")])
PICTURE_ID = re.compile(r"[0-9a-f]{64}")
_TYPES: dict[ColumnType, pa.DataType] = {
    "text": pa.large_string(),
    "integer": pa.int64(),
    "real": pa.float64(),
    "boolean": pa.bool_(),
    "bytes": pa.large_binary(),
}


class ArchiveFile(Record):
    """One file of an archive."""

    path: str
    """Relative to the archive, with forward slashes."""
    sha256: str
    n_bytes: int


class ArchiveManifest(Record):
    """What an archive says of itself."""

    form: Literal["atomscope-study"] = "atomscope-study"
    version: int
    """Version of this form."""
    schema_version: int
    """Version of the store's schema that the records follow."""
    created: str
    """UTC time, ISO 8601."""
    study_id: str
    study: str
    """The study's name."""
    synthetic: bool
    counts: dict[str, int]
    """Records by kind."""
    files: tuple[ArchiveFile, ...]
    missing_pictures: tuple[str, ...] = ()
    """Pictures that the study names and whose files were gone already."""
    drops: tuple[str, ...] = ()
    """What of the study isn't in here: nothing."""
    outside: tuple[str, ...] = ()
    """What belongs to the store and not to this study, and so stays there."""


def kinds_by_table() -> dict[str, Kind]:
    """Return how each kind is stored, by its table's name."""
    return {kind.table.name: kind for kind in KINDS.values()}


def schema_of(kind: Kind) -> pa.Schema:
    """Return a kind's columns: numbers and texts as they are, nested values as JSON text.

    Texts are `large_string`, so that a column may hold more than 2 GB. A call's raw reply is bytes
    in UTF-8, since what a server sent may hold halves of characters that no text may hold.
    """
    return pa.schema([(name, _TYPES[holds]) for name, holds in kind.columns.items()])


def to_columns(kind: Kind, records: Sequence[Record]) -> pa.Table:
    """Turn records into a table."""
    rows = [_row(kind, record) for record in records]
    return pa.Table.from_pylist(rows, schema=schema_of(kind))


def _row(kind: Kind, record: Record) -> dict[str, Any]:
    row = kind.to_row(record)
    if isinstance(record, Call) and record.reply is not None:
        row["reply"] = record.reply.encode("utf-8", "surrogatepass")
    return row


def from_row(kind: Kind, row: Mapping[str, Any], place: str) -> Record:
    """Turn a row back into its record.

    Raises:
        FormatError: it doesn't fit; the message says where.
    """
    unknown = set(row) - set(kind.record.model_fields) - kind.record.retired
    if unknown:
        raise FormatError(
            f"{place} holds {sorted(unknown)[0]!r}, which this Atomscope doesn't know"
        )
    data = dict(row)
    try:
        for name in kind.nested & data.keys():
            if data[name] is not None:
                data[name] = json.loads(data[name])
        if kind.record is Call and isinstance(data.get("reply"), bytes):
            data["reply"] = data["reply"].decode("utf-8", "surrogatepass")
        return kind.record.model_validate(data)
    except (ValidationError, ValueError, TypeError, RecursionError) as error:
        told = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise FormatError(f"{place} can't be read: {told}; the archive is damaged") from error


def to_line(record: Record) -> bytes:
    """Write a record as one line of JSON."""
    data = record.model_dump()
    try:
        return json.dumps(data, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        # Half a character can only be written as an escape.
        return json.dumps(data).encode() + b"\n"


def from_line(kind: Kind, line: bytes, place: str) -> Record:
    """Read a line of JSON back.

    Raises:
        FormatError: it isn't one, or doesn't fit.
    """
    try:
        return kind.record.model_validate(json.loads(line))
    except (ValidationError, ValueError, RecursionError) as error:
        told = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise FormatError(f"{place} can't be read: {told}; the archive is damaged") from error

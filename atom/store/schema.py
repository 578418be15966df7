"""Tables for records: which table, which key, and how a record becomes a row.

A scalar field is a column of its own type; anything nested is one JSON column. The raw replies of
calls are kept compressed, each on its own, with words that replies begin with anyway.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping as AbcMapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import sqlalchemy as sa

from atom import records as r
from atom.errors import DataError
from atom.records.base import quoted
from atom.store.faults import damaged_record

metadata = sa.MetaData()
MOST_REPLY: Final = 64_000_000
"""Bytes of a reply as text; a server's whole answer may have a quarter of that."""
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

_SCALARS: dict[type, type[sa.types.TypeEngine[Any]]] = {
    str: sa.Text,
    int: sa.Integer,
    float: sa.Double,
    bool: sa.Boolean,
}
ColumnType = Literal["text", "integer", "real", "boolean", "bytes"]
_NAMED: dict[type[sa.types.TypeEngine[Any]], ColumnType] = {
    sa.Text: "text",
    sa.Integer: "integer",
    sa.Double: "real",
    sa.Boolean: "boolean",
    sa.LargeBinary: "bytes",
}


def _scalar(annotation: Any) -> type | None:
    """Return the scalar type behind an annotation (`int | None`, a `Literal`, ...), or None."""
    if get_origin(annotation) is Annotated:
        return _scalar(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return str
    if get_origin(annotation) in (Union, UnionType):
        inner = {_scalar(part) for part in get_args(annotation) if part is not NoneType}
        return inner.pop() if len(inner) == 1 else None
    return annotation if annotation in _SCALARS else None


@dataclass(frozen=True)
class Kind:
    """How one record type is stored."""

    record: type[r.Record]
    table: sa.Table
    key: tuple[str, ...]
    nested: frozenset[str]

    @cached_property
    def columns(self) -> dict[str, ColumnType]:
        """What each column holds; nested values are JSON texts."""
        return {name: _NAMED[type(column.type)] for name, column in self.table.columns.items()}

    def to_row(self, record: r.Record) -> dict[str, Any]:
        """Turn a record into a row."""
        row: dict[str, Any] = {}
        for name in self.table.columns.keys():  # noqa: SIM118 - a column collection, not a dict
            value = getattr(record, name)
            if name in self.nested:
                value = None if value is None else _dump(value)
            elif self.table.name == "calls" and name == "reply" and value is not None:
                value = _packed(value)
            elif isinstance(value, str):
                value = _storable(value)
            row[name] = value
        return row

    def from_row(self, row: AbcMapping[str, Any]) -> r.Record:
        """Turn a row back into its record.

        Raises:
            CorruptError: it isn't what was written; the message names the record.
        """
        try:
            return self._read(row)
        except (ValueError, TypeError, zlib.error) as error:
            raise damaged_record(self.table.name, self.name_of(row), error) from error

    def name_of(self, row: AbcMapping[str, Any]) -> str:
        """Name a row by its key."""
        return " ".join(str(row[name]) for name in self.key)

    def _read(self, row: AbcMapping[str, Any]) -> r.Record:
        data: dict[str, Any] = {}
        for name in self.table.columns.keys():  # noqa: SIM118 - a column collection, not a dict
            value = row[name]
            if name in self.nested and value is not None:
                value = json.loads(value)
            elif self.table.name == "calls" and name == "reply" and value is not None:
                value = _unpacked(value)
            data[name] = value
        return self.record.model_validate(data)


@lru_cache(maxsize=1)
def reply_words() -> bytes:
    """Return what short replies have in common: half of their room (design note 069).

    Replies that were kept without it are read as before. It can't be changed any more: what was
    packed with it is only read with it.
    """
    return Path(__file__).with_name("reply_words.zdict").read_bytes()


def _packed(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > MOST_REPLY:
        raise DataError(
            f"a reply has {len(data):,} bytes; at most {MOST_REPLY:,} can be kept: leave it out"
        )
    packer = zlib.compressobj(9, zdict=reply_words())
    return packer.compress(data) + packer.flush()


def _unpacked(data: bytes) -> str:
    """Unpack a reply; no more of it is read than one may have.

    Raises:
        ValueError: it would have more.
        zlib.error: it is no packed text, or cut.
    """
    unpacker = zlib.decompressobj(zdict=reply_words())
    text = unpacker.decompress(data, MOST_REPLY + 1)
    if len(text) > MOST_REPLY:
        raise ValueError(f"its text would have more than {MOST_REPLY:,} bytes")
    if not unpacker.eof:
        raise zlib.error("incomplete or truncated stream")
    return text.decode("utf-8", "surrogatepass")


def plain_cell(value: Any) -> str:
    """Turn a text, or anything nested, into what a column keeps."""
    return _storable(value) if isinstance(value, str) else _dump(value)


def _storable(text: str) -> str:
    """Databases take neither lone surrogates nor (PostgreSQL) NUL: show them as U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def _dump(value: Any) -> str:
    if value == ():
        return "[]"
    if value.__class__ is tuple:
        if set(map(type, value)) == {str}:
            return _storable(f"[{','.join(map(quoted, value))}]")
        if set(map(type, value)) == {r.PictureSlot}:  # one a question, of millions
            return _storable(f"[{','.join(map(_dump_slot, value))}]")

    def plain(item: Any) -> Any:
        if isinstance(item, str | int):
            return item
        if isinstance(item, r.Record):
            return item.model_dump(exclude_defaults=True)
        if isinstance(item, tuple | list):
            return [plain(part) for part in item]
        return item

    return _storable(_COMPACT.encode(plain(value)))


def _dump_slot(slot: r.PictureSlot) -> str:
    found = [f'"name":{quoted(slot.name)}'] if slot.name else []
    if slot.picture_id is not None:
        found.append(f'"picture_id":{quoted(slot.picture_id)}')
    return f"{{{','.join(found)}}}"


def _kind(record: type[r.Record], table: str, *key: str) -> Kind:
    columns: list[sa.Column[Any]] = []
    nested = set()
    for name, field in record.model_fields.items():
        scalar = _scalar(field.annotation)
        if scalar is None:
            nested.add(name)
        kind = sa.LargeBinary if (table, name) == ("calls", "reply") else _SCALARS[scalar or str]
        columns.append(sa.Column(name, kind(), primary_key=name in key))
    return Kind(record, sa.Table(table, metadata, *columns), key, frozenset(nested))


KINDS: dict[type[r.Record], Kind] = {
    kind.record: kind
    for kind in (
        _kind(r.Picture, "pictures", "id"),
        _kind(r.Sample, "samples", "id"),
        _kind(r.Candidate, "candidates", "id"),
        _kind(r.Judge, "judges", "id"),
        _kind(r.Call, "calls", "id"),
        _kind(r.Response, "responses", "id"),
        _kind(r.Replay, "replays", "id"),
        _kind(r.Criterion, "criteria", "id"),
        _kind(r.CriteriaSet, "criteria_sets", "id"),
        _kind(r.Mapping, "mappings", "criterion_id", "tree_version"),
        _kind(r.Checkpoint, "checkpoints", "key"),
        _kind(r.MarkScale, "scales", "id"),
        _kind(r.Outcome, "outcomes", "response_id", "how", "judge_id"),
        _kind(r.Tag, "tags", "subject", "subject_id", "source", "facet", "value"),
        _kind(r.TreeRecord, "trees", "version"),
        _kind(r.Study, "studies", "id"),
        _kind(r.StudySample, "study_samples", "study_id", "sample_id"),
        _kind(r.StudyCandidate, "study_candidates", "study_id", "candidate_id"),
        _kind(r.Run, "runs", "id"),
        _kind(r.Import, "imports", "id"),
        _kind(r.TreeVersion, "tree_versions", "study_id", "position"),
        _kind(r.TreeEdit, "tree_edits", "study_id", "position", "ordinal"),
        _kind(r.Induction, "inductions", "id"),
        _kind(r.Preference, "preferences", "id"),
        _kind(r.Experiment, "experiments", "id"),
        _kind(r.Correction, "corrections", "experiment_id", "response_id", "arm", "round"),
        _kind(r.Hint, "hints", "id"),
        _kind(r.Annotation, "annotations", "id"),
        _kind(r.BenchSet, "bench_sets", "id"),
        _kind(r.BenchItem, "bench_items", "set_id", "id"),
        _kind(r.Verdict, "verdicts", "key"),
    )
}

claims = sa.Table(
    "claims",
    metadata,
    sa.Column("item", sa.Text(), primary_key=True),
    sa.Column("owner", sa.Text()),
    sa.Column("until", sa.Double()),
)
import_links = sa.Table(
    "import_links",
    metadata,
    sa.Column("import_id", sa.Text(), primary_key=True),
    sa.Column("kind", sa.Text(), primary_key=True),
    sa.Column("record_id", sa.Text(), primary_key=True),
)
revisions = sa.Table(
    "revisions",
    metadata,
    sa.Column("study_id", sa.Text(), primary_key=True),
    sa.Column("stripe", sa.Text(), primary_key=True),
    sa.Column("changes", sa.BigInteger()),
    sa.Column("results", sa.BigInteger()),
)
quotas = sa.Table(
    "quotas",
    metadata,
    sa.Column("name", sa.Text(), primary_key=True),
    sa.Column("owner", sa.Text(), primary_key=True),
    sa.Column("wants", sa.Integer()),
    sa.Column("holds", sa.Double()),
    sa.Column("until", sa.Double()),
)
meta = sa.Table(
    "meta",
    metadata,
    sa.Column("key", sa.Text(), primary_key=True),
    sa.Column("value", sa.Text()),
)


def table(record: type[r.Record]) -> sa.Table:
    """Return the table of a record type."""
    return KINDS[record].table

"""Writes a study as an archive: Parquet and JSON lines of every record, and its pictures.

It is the exact round trip: read back into another store (`archive_read`), every id and value is
equal. The form is described in `archive_form`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from atom.errors import PictureError
from atom.exports.archive_form import (
    LINK_SCHEMA,
    LINKS,
    MANIFEST,
    VERSION,
    ArchiveFile,
    ArchiveManifest,
    schema_of,
    to_columns,
    to_line,
)
from atom.exports.base import store_bytes
from atom.files import new_folder, size_of, stream, write_file
from atom.records import Picture, Record
from atom.store import Store, find_study
from atom.store.migrate import migrations
from atom.store.schema import KINDS
from atom.store.selection import OUTSIDE, Selection

_ROWS = 20_000
"""Rows that are held before they are written."""
_BLOCK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class WrittenArchive:
    """An archive that was written.

    Attributes:
        place: the folder or zip file.
        manifest: what it says of itself.
        n_bytes: its size.
    """

    place: Path
    manifest: ArchiveManifest
    n_bytes: int


def write_archive(
    store: Store,
    study_id: str,
    place: Path,
    moment: datetime,
    *,
    on_kind: Callable[[str, int], None] | None = None,
) -> WrittenArchive:
    """Write everything of a study.

    It is put together beside its place and moved there when it is whole.

    Args:
        study_id: its id or name.
        place: a folder that isn't there yet, or a file name that ends in `.zip`.
        moment: UTC time, for the manifest.
        on_kind: told the kind and how many of it are written.

    Returns:
        Where it is, and what is in it.

    Raises:
        UsageError: there is no such study, or the place is taken or can't be written.
    """
    selection = Selection(store, find_study(store, study_id))
    with new_folder(place, needed=2 * store_bytes(store)) as part:
        (part / "records").mkdir()
        manifest = _fill(store, selection, part, moment, on_kind)
    return WrittenArchive(place=place, manifest=manifest, n_bytes=size_of(place))


def _fill(
    store: Store,
    selection: Selection,
    folder: Path,
    moment: datetime,
    on_kind: Callable[[str, int], None] | None,
) -> ArchiveManifest:
    counts: dict[str, int] = {}
    pictures: list[str] = []
    for record, chunks in selection.kinds():
        name = KINDS[record].table.name
        counts[name] = _write_kind(record, _noted(chunks, pictures), folder / "records")
        if on_kind is not None:
            on_kind(name, counts[name])
    links = selection.links()
    if links:
        columns = dict(zip(LINK_SCHEMA.names, zip(*links, strict=True), strict=True))
        pq.write_table(
            pa.table({name: list(values) for name, values in columns.items()}, schema=LINK_SCHEMA),
            folder / "records" / f"{LINKS}.parquet",
        )
    missing = _copy_pictures(store, pictures, folder / "pictures")
    study = selection.study
    manifest = ArchiveManifest(
        version=VERSION,
        schema_version=migrations()[-1][0],
        created=moment.isoformat(timespec="seconds"),
        study_id=study.id,
        study=study.name,
        synthetic=study.synthetic,
        counts={name: n for name, n in counts.items() if n},
        files=tuple(_files(folder)),
        missing_pictures=tuple(missing),
        outside=OUTSIDE,
    )
    text = manifest.model_dump_json(indent=1)
    write_file(folder / MANIFEST, text)
    return manifest


def _noted(chunks: Iterator[Sequence[Record]], pictures: list[str]) -> Iterator[Sequence[Record]]:
    for chunk in chunks:
        pictures += [record.id for record in chunk if isinstance(record, Picture)]
        yield chunk


def _write_kind(record: type[Record], chunks: Iterator[Sequence[Record]], folder: Path) -> int:
    """Write a kind's two files; none where it has no records."""
    kind = KINDS[record]
    first = next(chunks, None)
    if first is None:
        return 0
    stem = folder / kind.table.name
    total, held = 0, first
    with (
        pq.ParquetWriter(stem.with_suffix(".parquet"), schema_of(kind), compression="zstd") as out,
        stream(stem.with_suffix(".jsonl")) as lines,
    ):
        while True:
            chunk = next(chunks, None)
            if chunk is not None and len(held) < _ROWS:
                held = [*held, *chunk]
                continue
            out.write_table(to_columns(kind, held))
            lines.writelines(to_line(one) for one in held)
            total += len(held)
            if chunk is None:
                return total
            held = chunk


def _copy_pictures(store: Store, ids: list[str], folder: Path) -> list[str]:
    """Copy picture files; returns those that are gone."""
    missing = []
    for picture_id in ids:
        try:
            data = store.pictures.read(picture_id)
        except PictureError:
            missing.append(picture_id)
            continue
        folder.mkdir(exist_ok=True)
        with stream(folder / picture_id) as file:
            file.write(data)
    return missing


def _files(folder: Path) -> Iterator[ArchiveFile]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield ArchiveFile(
                path=path.relative_to(folder).as_posix(),
                sha256=file_hash(path),
                n_bytes=path.stat().st_size,
            )


def file_hash(path: Path) -> str:
    """Return a file's SHA-256, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()

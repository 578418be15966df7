"""Reads a study's archive back into a store: all of it, or nothing.

Every file is held against its checksum before anything is written. Names of files and pictures are
checked, since an archive may come from anybody.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from pydantic import ValidationError

from atom.errors import DataError, FormatError, PictureError, UsageError
from atom.exports.archive_form import (
    LINKS,
    MANIFEST,
    PICTURE_ID,
    VERSION,
    ArchiveManifest,
    from_line,
    from_row,
    kinds_by_table,
)
from atom.files import size_of
from atom.foreign import files_in, open_foreign
from atom.foreign.native import parquet_rows
from atom.foreign.parsers import parse_rows, time_for
from atom.records import (
    BenchItem,
    BenchSet,
    Correction,
    Experiment,
    Import,
    Picture,
    Record,
    Sample,
    Study,
    Verdict,
)
from atom.store import ALSO, Store, Writer, copy_study, list_studies
from atom.store.migrate import migrations
from atom.store.pictures import MAX_BYTES
from atom.store.schema import KINDS, Kind
from atom.store.selection import OF_STUDY

_ROWS = 400
_MOST_FILES = 2_000_000
_MANIFEST_BYTES = 200_000_000
_BLOCK = 1 << 20
_LINE_BYTES = 64 << 20
_DAMAGED = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, OSError, EOFError)
_LINKED = {
    "sample": "samples", "response": "responses", "candidate": "candidates",
    "preference": "preferences", "annotation": "annotations", "verdict": "verdicts",
}  # fmt: skip
"""Kinds of import links whose records may have been in the store before."""


@dataclass(frozen=True, kw_only=True)
class ArchiveImported:
    """What an archive brought.

    Attributes:
        counts: records by kind, as the archive holds them.
        new: how many of them the store didn't hold.
        kept: records that the store held already with other values, by kind; those stay.
        consent: hosts that its owner had agreed to. That agreement isn't taken over.
        missing_pictures: pictures that the archive names and doesn't hold.
        copied: whether it came in as a copy under another name and id.
    """

    study: Study
    counts: dict[str, int]
    new: int
    kept: dict[str, int]
    consent: tuple[str, ...]
    missing_pictures: int
    copied: bool


class _Files(Protocol):
    """Where an archive's files are read from."""

    def open(self, name: str) -> BinaryIO:
        """Open a file of the archive."""

    def names(self) -> set[str]:
        """Name all files."""


class _Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, name: str) -> BinaryIO:
        return open_foreign(self._folder / name)

    def names(self) -> set[str]:
        files = files_in(self._folder, lambda _: True, most=_MOST_FILES)
        return {path.relative_to(self._folder).as_posix() for path in files}


class _Zip:
    def __init__(self, packed: zipfile.ZipFile) -> None:
        self._packed = packed

    def open(self, name: str) -> BinaryIO:
        return self._packed.open(name)  # type: ignore[return-value]

    def names(self) -> set[str]:
        return {name for name in self._packed.namelist() if not name.endswith("/")}


def is_archive(place: Path) -> bool:
    """Whether a folder or zip file looks like a study's archive."""
    try:
        if place.is_dir():
            return (place / MANIFEST).is_file() and (place / "records").is_dir()
        with open_foreign(place) as stream, zipfile.ZipFile(stream) as packed:
            return MANIFEST in packed.namelist()
    except (DataError, OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


@contextmanager
def _opened(place: Path) -> Iterator[_Files]:
    if place.is_dir():
        yield _Folder(place)
        return
    if not place.exists():
        raise UsageError(f"there is no file or folder {str(place)!r}")
    with ExitStack() as stack:
        try:
            packed = stack.enter_context(zipfile.ZipFile(stack.enter_context(open_foreign(place))))
        except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise FormatError(
                f"{place.name!r} isn't a study's archive (a zip file or a folder): {error}"
            ) from error
        yield _Zip(packed)


def read_manifest(place: Path) -> ArchiveManifest:
    """Read what an archive says of itself.

    Raises:
        FormatError: it isn't an archive, or one of a newer Atomscope.
        UsageError: there is nothing at this place.
    """
    with _opened(place) as files:
        return _manifest(files, place.name)


def _manifest(files: _Files, name: str) -> ArchiveManifest:
    try:
        with files.open(MANIFEST) as stream:
            text = stream.read(_MANIFEST_BYTES)
    except (KeyError, DataError, *_DAMAGED) as error:
        raise FormatError(f"{name!r} holds no {MANIFEST}: it isn't a study's archive") from error
    try:
        manifest = ArchiveManifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "as a whole"
        raise FormatError(
            f"{name!r}: its {MANIFEST} can't be read ({where}: {first['msg']}); export it again"
        ) from error
    newest = migrations()[-1][0]
    if manifest.version > VERSION or manifest.schema_version > newest:
        raise FormatError(
            f"{name!r} was written by a newer Atomscope (form {manifest.version}, schema "
            f"{manifest.schema_version}; this one knows up to {VERSION} and {newest}): update"
        )
    return manifest


def import_archive(
    store: Store,
    place: Path,
    *,
    name: str | None = None,
    on_kind: Callable[[str, int], None] | None = None,
) -> ArchiveImported:
    """Bring a study back from an archive.

    Args:
        place: the folder or zip file.
        name: bring it in as a copy of this name, as `study copy` makes one: needed where the store
            holds the study, or another of its name, already.
        on_kind: told the kind and how many of it are written.

    Raises:
        FormatError: it isn't an archive, or is damaged; nothing of it stays.
        UsageError: the study is there already, or the name is taken.
    """
    if name is not None:
        with tempfile.TemporaryDirectory(prefix="atomscope-") as folder, Store.open(folder) as own:
            brought = import_archive(own, place, on_kind=on_kind)
            created = brought.study.created
            made = copy_study(own, store, brought.study.id, name, created=created)
        return ArchiveImported(
            study=made,
            counts=brought.counts,
            new=brought.new,
            kept={},
            consent=brought.consent,
            missing_pictures=brought.missing_pictures,
            copied=True,
        )
    with ExitStack() as stack:
        files = stack.enter_context(_opened(place))
        manifest = _manifest(files, place.name)
        _check_place(store, manifest)
        _check_files(files, manifest, place.name)
        stack.enter_context(store.expecting(size_of(place)))
        return _Reader(store, files, manifest, place.name, on_kind).run()


def _check_place(store: Store, manifest: ArchiveManifest) -> None:
    for study in list_studies(store):
        if study.id == manifest.study_id or study.name == manifest.study:
            raise UsageError(
                f"this store holds a study {study.name!r} already; bring the archive in under "
                "another name (--name), or delete that study first"
            )


def _check_files(files: _Files, manifest: ArchiveManifest, name: str) -> None:
    """Hold every file against its checksum, and refuse names that an archive doesn't have."""
    there = files.names()
    for file in manifest.files:
        folder, _, rest = file.path.partition("/")
        stem, _, suffix = rest.partition(".")
        fits = folder == "pictures" and PICTURE_ID.fullmatch(rest) is not None
        known = stem == LINKS or stem in kinds_by_table()
        fits |= folder == "records" and known and suffix in ("parquet", "jsonl")
        if not fits:
            raise FormatError(f"{name!r} holds {file.path!r}, which no study's archive has")
        if file.path not in there:
            raise FormatError(
                f"{name!r} lacks {file.path!r}, which its manifest names: get it anew"
            )
        digest, size = hashlib.sha256(), 0
        try:
            with files.open(file.path) as stream:
                # No more is read than the manifest says: a zip file can hold far more than it is.
                while size <= file.n_bytes and (block := stream.read(_BLOCK)):
                    digest.update(block)
                    size += len(block)
        except _DAMAGED as error:
            raise FormatError(f"{name!r}: {file.path!r} can't be read: {error}") from error
        if size != file.n_bytes or digest.hexdigest() != file.sha256:
            raise FormatError(
                f"{name!r}: {file.path!r} isn't what its checksum says: it was cut short or "
                "changed; get the archive anew"
            )


@contextmanager
def _as_file(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Give a file that a worker can be handed; one in a zip file is unpacked onto the disk."""
    with stream:
        if isinstance(stream, zipfile.ZipExtFile):
            with tempfile.TemporaryFile() as unpacked:
                shutil.copyfileobj(stream, unpacked, _BLOCK)
                unpacked.seek(0)
                yield cast("BinaryIO", unpacked)
        else:
            yield stream


class _Reader:
    """One reading of an archive."""

    def __init__(
        self,
        store: Store,
        files: _Files,
        manifest: ArchiveManifest,
        name: str,
        on_kind: Callable[[str, int], None] | None,
    ) -> None:
        self._store = store
        self._files = files
        self._manifest = manifest
        self._name = name
        self._on_kind = on_kind
        self._paths = {file.path for file in manifest.files}
        self._experiments: set[str] = set()
        self._known: dict[str, set[str]] = {}
        """Keys that the store held before, by table, of kinds that imports link to."""
        self._kept: Counter[str] = Counter()
        self._consent: tuple[str, ...] = ()
        self._study: Study | None = None
        self._new = 0
        self._slots: set[str] = set()
        """Pictures that samples name."""
        self._imports: set[str] = set()

    def run(self) -> ArchiveImported:
        """Write everything in one transaction; pictures first, whose files name themselves."""
        pictures = self._take_pictures()
        with self._store.write() as writer:
            for kind in self._kinds():
                n = sum(self._take(writer, kind, chunk) for chunk in self._records(kind))
                told = self._manifest.counts.get(kind.table.name, 0)
                if n != told:
                    raise FormatError(
                        f"{self._name!r} should hold {told} {kind.table.name} and holds {n}: it is "
                        "damaged"
                    )
                if self._on_kind is not None:
                    self._on_kind(kind.table.name, n)
            self._link(writer)
        assert self._study is not None
        gone = len(self._manifest.missing_pictures)
        gone += len(self._slots - pictures - set(self._manifest.missing_pictures))
        return ArchiveImported(
            study=self._study,
            counts=self._manifest.counts,
            new=self._new,
            kept={name: n for name, n in self._kept.items() if n},
            consent=self._consent,
            missing_pictures=gone,
            copied=False,
        )

    def _kinds(self) -> list[Kind]:
        """Return the kinds that are there; the study and what others point at come first."""
        tables = kinds_by_table()
        unknown = sorted(set(self._manifest.counts) - set(tables))
        if unknown:
            raise FormatError(f"{self._name!r} holds {unknown[0]!r}, which nobody knows here")
        kinds = [tables[name] for name in self._manifest.counts]
        if any(kind.record in (BenchSet, BenchItem) for kind in kinds):
            raise FormatError(f"{self._name!r} holds benchmark data, which belongs to no study")
        if KINDS[Study] not in kinds:
            raise FormatError(f"{self._name!r} holds no study")
        first = {Study: 0, Experiment: 1, Import: 1}
        return sorted(kinds, key=lambda kind: first.get(kind.record, 2))

    # --- pictures --------------------------------------------------------------------------------

    def _take_pictures(self) -> set[str]:
        found = set()
        for path in sorted(self._paths):
            folder, _, picture_id = path.partition("/")
            if folder != "pictures":
                continue
            with self._files.open(path) as stream:
                data = stream.read(MAX_BYTES + 1)
            try:
                picture = self._store.pictures.add(data, picture_id)
            except PictureError as error:
                raise FormatError(f"{self._name!r}: {error.message}") from error
            if picture.id != picture_id:
                raise FormatError(f"{self._name!r}: picture {picture_id[:12]}... is another one")
            found.add(picture_id)
        return found

    # --- records ---------------------------------------------------------------------------------

    def _records(self, kind: Kind) -> Iterator[list[Record]]:
        stem = f"records/{kind.table.name}"
        if f"{stem}.parquet" in self._paths:
            yield from self._rows(kind, f"{stem}.parquet")
        elif f"{stem}.jsonl" in self._paths:
            yield from self._lines(kind, f"{stem}.jsonl")

    def _rows(self, kind: Kind, path: str) -> Iterator[list[Record]]:
        at = 0
        for rows in self._columns(path):
            yield [
                from_row(kind, row, f"{self._name!r}, {path}, row {at + number}")
                for number, row in enumerate(rows)
            ]
            at += len(rows)

    def _columns(self, path: str) -> Iterator[list[dict[str, object]]]:
        """Read a file of columns in a worker: a page of it may ask for more memory than there is.

        Raises:
            FormatError: it can't be read, or takes more memory or time than any study's does.
        """
        name = f"{path} in {self._name}"
        try:
            with ExitStack() as stack:
                stream = stack.enter_context(_as_file(self._files.open(path)))
                limits = time_for(os.fstat(stream.fileno()).st_size)
                for rows, broken in parse_rows(
                    parquet_rows, stream, name, name=name, limits=limits
                ):
                    yield from (rows[at : at + _ROWS] for at in range(0, len(rows), _ROWS))
                    if broken:
                        raise FormatError(f"{name!r} can't be read: {broken}")
        except _DAMAGED as error:
            raise FormatError(f"{name!r} can't be read: {error}") from error

    def _lines(self, kind: Kind, path: str) -> Iterator[list[Record]]:
        held: list[Record] = []
        with self._files.open(path) as stream:
            for number, line in enumerate(iter(lambda: stream.readline(_LINE_BYTES + 1), b"")):
                where = f"{self._name!r}, {path}, line {number + 1}"
                if len(line) > _LINE_BYTES:
                    raise FormatError(
                        f"{where} has more than {_LINE_BYTES >> 20} MB, which no record has: it is "
                        "damaged"
                    )
                held.append(from_line(kind, line, where))
                if len(held) == _ROWS:
                    yield held
                    held = []
        if held:
            yield held

    def _take(self, writer: Writer, kind: Kind, records: Sequence[Record]) -> int:
        """Write some records of one kind; returns how many they are."""
        self._check(records)
        found = [self._without_consent(r) if isinstance(r, Study) else r for r in records]
        self._compare(writer, kind, found)
        self._new += writer.put(found)
        return len(found)

    def _without_consent(self, study: Study) -> Study:
        """An agreement to send data off is a person's, and doesn't travel with a file."""
        self._consent = study.consent
        self._study = study.model_copy(update={"consent": ()})
        return self._study

    def _check(self, records: Sequence[Record]) -> None:
        """Refuse records that aren't this study's, and names that aren't a picture's."""
        study_id = self._manifest.study_id
        for record in records:
            fits = True
            match record:
                case Study():
                    fits = record.id == study_id and self._study is None
                    fits &= record.name == self._manifest.study
                case Verdict():
                    fits = record.group == study_id
                case Correction():
                    fits = record.experiment_id in self._experiments
                case Picture():
                    fits = PICTURE_ID.fullmatch(record.id) is not None
                case Sample():
                    ids = [slot.picture_id for slot in record.pictures if slot.picture_id]
                    fits = all(PICTURE_ID.fullmatch(name) for name in ids)
                    self._slots.update(ids)
                case _ if isinstance(record, OF_STUDY):
                    fits = getattr(record, "study_id", None) == study_id
                    self._experiments |= {record.id} if isinstance(record, Experiment) else set()
                    self._imports |= {record.id} if isinstance(record, Import) else set()
            if not fits:
                raise FormatError(
                    f"{self._name!r} holds a {type(record).__name__.lower()} that isn't this "
                    "study's: it is damaged"
                )

    def _compare(self, writer: Writer, kind: Kind, records: Sequence[Record]) -> None:
        """Count what the store holds already with other values, and note what it holds at all."""
        first = kind.key[0]
        wanted = [getattr(record, first) for record in records]
        rows = writer.rows_of(kind, first, wanted)
        there = {tuple(row[name] for name in kind.key): row for row in rows}
        known = self._known.setdefault(kind.table.name, set())
        for record in records if there else ():
            mine = kind.to_row(record)
            found = there.get(tuple(mine[name] for name in kind.key))
            if found is not None:
                known.add(str(mine[first]))
                self._kept[kind.table.name] += kind.from_row(found) != record

    def _link(self, writer: Writer) -> None:
        """Keep what each import of the study brought, so that it can be taken back here, too."""
        path = f"records/{LINKS}.parquet"
        if path not in self._paths:
            return
        for rows in self._columns(path):
            by_import: dict[str, list[tuple[str, str]]] = {}
            for row in rows:
                kind, record_id = row.get("kind"), row.get("record_id")
                known = row.get("import_id") in self._imports
                if not known or not isinstance(kind, str) or not isinstance(record_id, str):
                    raise FormatError(f"{self._name!r}: {path!r} can't be read; it is damaged")
                held = record_id in self._known.get(_LINKED.get(kind, ""), ())
                link = (ALSO, f"{kind}:{record_id}") if held else (kind, record_id)
                by_import.setdefault(str(row.get("import_id")), []).append(link)
            for import_id, links in by_import.items():
                writer.link_import(import_id, links)

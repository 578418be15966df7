"""Picture files that are at hand, and which of them a sample's empty place means.

Folders are walked, zip files listed, and nothing is unpacked or read before it is needed. A place
is filled by the file that has its name, else the question's id, else its hash; where several
files could be meant, none is taken.
"""

from __future__ import annotations

import io
import os
import re
import weakref
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from atom.errors import DataError, UsageError
from atom.foreign import open_foreign
from atom.formats.pictures import (
    BROKEN_URL,
    MAX_BYTES,
    PICTURE_SUFFIXES,
    PictureLookup,
    check_picture,
)
from atom.formats.zip_pictures import DAMAGED_ZIP
from atom.records import blob_hash

MAX_FILES = 200_000
"""Picture files that are listed."""
MAX_HASHED_BYTES = 8_000_000_000
"""Bytes that are read to look for hashes: a zip file can pretend to hold any number."""
_SUFFIXES = (*PICTURE_SUFFIXES, ".avif")
_HASH = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])")
_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]+://")


@dataclass(frozen=True, kw_only=True, slots=True)
class StockFile:
    """A picture file that is at hand.

    Args:
        path: within its folder or zip file, parts joined by `/`.
        where: what messages call it.
        read: reads its bytes, one more than a picture may have at most.
    """

    path: str
    where: str
    read: Callable[[], bytes] = field(repr=False, compare=False, hash=False)

    @property
    def parts(self) -> tuple[str, ...]:
        """The path's parts, letters folded."""
        return tuple(self.path.casefold().split("/"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A sample's place for a picture that isn't there.

    Args:
        name: the name or path by which the source calls it; may be empty.
        source_id: the question's id in the source, where it has one.
        number: 1-based among the sample's places.
        places: how many places the sample has.
        hash: SHA-256 of the picture that was there, where it is known.
    """

    name: str
    source_id: str | None
    number: int
    places: int
    hash: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """Which file a place means.

    Args:
        file: the file; None when none or several could be meant.
        by: `name`, `id` or `hash`.
        candidates: the files that could be meant, where there are several.
    """

    file: StockFile | None = None
    by: str = ""
    candidates: tuple[StockFile, ...] = ()


class PictureStock:
    """Picture files that are at hand, listed once."""

    def __init__(self, files: Sequence[StockFile]) -> None:
        if len(files) > MAX_FILES:
            raise DataError(
                f"there are {len(files):,} picture files; at most {MAX_FILES:,} are looked at: "
                "name the folder that holds them more closely"
            )
        self.files = tuple(files)
        self._by_name: dict[str, list[StockFile]] = {}
        self._by_stem: dict[str, list[StockFile]] = {}
        for file in self.files:
            name = file.parts[-1]
            self._by_name.setdefault(name, []).append(file)
            self._by_stem.setdefault(_stem(name), []).append(file)
        self._hashes: dict[StockFile, str] = {}
        self._by_hash: dict[str, StockFile] | None = None

    def match(self, place: Place) -> Match:
        """Say which file a place means.

        Returns:
            By hash where the place tells one and a file has it; else by name: the file whose path
            shares the most trailing parts with the place's, endings aside where no file has the
            very name; else by the question's id (`17.png`; with several places `17_2.png`).
        """
        told = place.hash or _hash_of(place.name)
        if told is not None:
            file = self._hash_index().get(told)
            if file is not None:
                return Match(file=file, by="hash")
        parts = _name_parts(place.name)
        if parts:
            near = self._by_name.get(parts[-1]) or self._by_stem.get(_stem(parts[-1])) or []
            if near:
                return self._only(_nearest(near, parts), place.name, "name")
        for stem in _id_stems(place):
            near = self._by_stem.get(stem, [])
            if near:
                return self._only(near, place.name, "id")
        return Match()

    def _only(self, files: Sequence[StockFile], name: str, by: str) -> Match:
        """Take the one file, or the one picture that several files hold."""
        exact = [file for file in files if file.path.rsplit("/", 1)[-1] == _last(name)]
        files = exact or list(files)
        if len(files) > 1 and len({self.hash_of(file) for file in files}) > 1:
            return Match(candidates=tuple(files))
        return Match(file=files[0], by=by)

    def look(self, file: StockFile) -> PictureLookup:
        """Read a file as a picture; never raises for what is wrong with it."""
        try:
            data = file.read()
        except (DataError, *DAMAGED_ZIP):
            return PictureLookup(picture=None, reason="it can't be read or unpacked")
        return check_picture(data, file.where)

    def hash_of(self, file: StockFile) -> str:
        """Return a file's SHA-256; of one that can't be read, a name that no other has."""
        if file not in self._hashes:
            try:
                self._hashes[file] = blob_hash(file.read())
            except (DataError, *DAMAGED_ZIP):
                self._hashes[file] = f"unreadable:{file.where}"
        return self._hashes[file]

    def _hash_index(self) -> Mapping[str, StockFile]:
        if self._by_hash is None:
            self._by_hash = {}
            n_bytes = 0
            for file in self.files:
                try:
                    data = file.read()
                except (DataError, *DAMAGED_ZIP):
                    continue
                n_bytes += len(data)
                if n_bytes > MAX_HASHED_BYTES:
                    break
                found = self._hashes[file] = blob_hash(data)
                self._by_hash.setdefault(found, file)
        return self._by_hash


# --- listing -------------------------------------------------------------------------------------


def stock_of(
    places: Sequence[Path] = (), uploads: Sequence[tuple[str, bytes]] = ()
) -> PictureStock:
    """List the picture files of folders, zip files and uploads.

    Args:
        places: folders, zip files and single pictures on this computer.
        uploads: name and bytes of what was uploaded; a zip file counts for what is in it.

    Raises:
        UsageError: there is no such folder or file.
        DataError: a zip file can't be read, or there are too many files.
    """
    files: list[StockFile] = []
    for place in places:
        if place.is_dir():
            files += _of_folder(place)
        elif not place.is_file():
            raise UsageError(f"there is no folder or file {str(place)!r}")
        elif place.suffix.lower() == ".zip":
            files += _of_zip(place.name, open_foreign(place))
        elif place.suffix.lower() in _SUFFIXES:
            files.append(_of_file(place, place.name, place.name))
        else:
            raise UsageError(
                f"{place.name!r} is neither a folder, nor a zip file, nor a picture "
                f"({', '.join(_SUFFIXES)})"
            )
    for name, data in uploads:
        if name.lower().endswith(".zip"):
            files += _of_zip(name, io.BytesIO(data))
        else:
            path = "/".join(_split(name))
            files.append(StockFile(path=path, where=name, read=partial(bytes, data)))
    return PictureStock(files)


def _of_folder(root: Path) -> list[StockFile]:
    """Walk a folder; hidden files, and links that lead out of it, are left aside."""
    files: list[StockFile] = []
    inside = root.resolve()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in sorted(names):
            if name.startswith(".") or not name.lower().endswith(_SUFFIXES):
                continue
            path = Path(folder) / name
            if path.is_symlink() and not path.resolve().is_relative_to(inside):
                continue
            within = path.relative_to(root).as_posix()
            # The folder's own name counts: a source may say `images/1.jpg` of a file in `images`.
            files.append(_of_file(path, f"{inside.name}/{within}", within))
            if len(files) > MAX_FILES:
                return files
    return files


def _of_file(path: Path, within: str, where: str) -> StockFile:
    def read() -> bytes:
        with open_foreign(path) as stream:
            return stream.read(MAX_BYTES + 1)

    return StockFile(path=within, where=where, read=read)


def _of_zip(name: str, source: IO[bytes]) -> list[StockFile]:
    try:
        archive = zipfile.ZipFile(source)
        weakref.finalize(archive, source.close)  # it is read from as long as the stock is there
        entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        source.close()
        raise DataError(f"{name!r} isn't a zip file that can be read: {error}") from error
    files = []
    for entry in entries:
        parts = _split(entry.filename)
        hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
        if not parts or hidden or entry.is_dir() or not parts[-1].lower().endswith(_SUFFIXES):
            continue

        def read(entry: zipfile.ZipInfo = entry) -> bytes:
            # No more is unpacked than a picture may have: the size in the header can lie.
            with archive.open(entry) as stream:
                return stream.read(MAX_BYTES + 1)

        path = "/".join(parts)
        files.append(StockFile(path=path, where=f"{name}: {path}", read=read))
    return files


# --- names ---------------------------------------------------------------------------------------


def _split(name: str) -> list[str]:
    parts = name.strip().replace("\\", "/").split("/")
    return [part for part in parts if part not in ("", ".", "..")]


def _bare(name: str) -> str:
    """Return the path in a name that may be an address; empty where it's no name at all."""
    if name == BROKEN_URL or name.lower().startswith("data:"):
        return ""
    return unquote(urlsplit(name.strip()).path) if _SCHEME.match(name.strip()) else name


def _name_parts(name: str) -> tuple[str, ...]:
    try:
        return tuple(part.casefold() for part in _split(_bare(name)))
    except ValueError:
        return ()


def _last(name: str) -> str:
    try:
        return (_split(_bare(name)) or [""])[-1]
    except ValueError:
        return ""


def _stem(name: str) -> str:
    return next((name[: -len(end)] for end in _SUFFIXES if name.endswith(end)), name)


def _hash_of(name: str) -> str | None:
    found = _HASH.search(name)
    return found.group().lower() if found else None


def _id_stems(place: Place) -> tuple[str, ...]:
    if not place.source_id:
        return ()
    plain = place.source_id.strip().casefold()
    names = dict.fromkeys((plain, re.sub(r"[\\/:]+", "_", plain), re.split(r"[\\/]", plain)[-1]))
    stems = [_stem(name) for name in names if name]
    if place.places == 1:
        return tuple(stems)
    return tuple(f"{stem}{mark}{place.number}" for stem in stems for mark in ("_", "-", "."))


def _nearest(files: Sequence[StockFile], parts: tuple[str, ...]) -> list[StockFile]:
    """Keep the files whose folders agree with the name's in the most parts, from the end."""

    def shared(file: StockFile) -> int:
        count = 0
        for mine, theirs in zip(reversed(file.parts[:-1]), reversed(parts[:-1]), strict=False):
            if mine != theirs:
                break
            count += 1
        return count

    scores = [shared(file) for file in files]
    best = max(scores)
    return [file for file, score in zip(files, scores, strict=True) if score == best]

"""Pictures in a zip file: read one at a time, only when a row names it."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence

from atom.errors import DataError
from atom.formats.pictures import (
    MAX_BYTES,
    NOT_THERE,
    PICTURE_SUFFIXES,
    NoPictures,
    PictureFinder,
    PictureLookup,
    check_picture,
)

MAX_ENTRIES = 200_000
DAMAGED_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,
    NotImplementedError,
    OSError,
    EOFError,
    ValueError,
)
"""What reading a damaged zip file raises."""


def only_pictures(name: str, data: bytes) -> bool:
    """Say whether a file is a picture, or a zip file of pictures and nothing else."""
    if not name.lower().endswith(".zip"):
        return name.lower().endswith(PICTURE_SUFFIXES)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as held:
            inside = [entry.filename for entry in held.infolist() if not entry.is_dir()]
    except DAMAGED_ZIP:
        return False
    files = [one for one in inside if not one.startswith("__MACOSX/")]
    return bool(files) and all(one.lower().endswith(PICTURE_SUFFIXES) for one in files)


class ZipPictures:
    """Pictures in a zip file, found by path, else by a file name that only one of them has.

    Args:
        name: the file's name, for messages.
        data: its bytes.

    Raises:
        DataError: it isn't a zip file, or holds too many files.
    """

    def __init__(self, name: str, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            entries = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise DataError(f"{name!r} isn't a zip file that can be read: {error}") from error
        if len(entries) > MAX_ENTRIES:
            raise DataError(f"{name!r} holds {len(entries):,} files; at most {MAX_ENTRIES:,}")
        kept = [entry for entry in entries if entry.filename.lower().endswith(PICTURE_SUFFIXES)]
        self._entries = {_clean(entry.filename): entry for entry in kept}
        by_name: dict[str, list[str]] = {}
        for path in self._entries:
            by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)
        self._by_name = by_name

    def look(self, name: str) -> PictureLookup:
        """Look for a picture in the zip file."""
        refused = NoPictures().look(name)
        if refused.reason != NOT_THERE:
            return refused
        path = _clean(name)
        entry = self._entries.get(path)
        if entry is None:
            same = self._by_name.get(path.rsplit("/", 1)[-1], [])
            if len(same) != 1:
                reason = "several files in the zip have this name" if same else NOT_THERE
                return PictureLookup(picture=None, reason=reason)
            entry = self._entries[same[0]]
        try:
            with self._zip.open(entry) as stream:
                # No more is unpacked than a picture may have: the header's size can lie.
                data = stream.read(MAX_BYTES + 1)
        except DAMAGED_ZIP:
            return PictureLookup(picture=None, reason="it can't be unpacked from the zip file")
        return check_picture(data, name)


class SeveralPictures:
    """Places that are tried in order.

    Args:
        finders: where to look.
    """

    def __init__(self, finders: Sequence[PictureFinder]) -> None:
        self._finders = tuple(finders)

    def look(self, name: str) -> PictureLookup:
        """Return the first picture that is found; else the first reason that says something."""
        reasons = []
        for finder in self._finders:
            found = finder.look(name)
            if found.picture is not None:
                return found
            reasons.append(found.reason)
        telling = [reason for reason in reasons if reason != NOT_THERE]
        return PictureLookup(picture=None, reason=telling[0] if telling else NOT_THERE)


def _clean(name: str) -> str:
    parts = name.strip().replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", "."))

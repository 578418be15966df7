"""Files that a form names: uploads, paths on this computer, and where their pictures are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from atom.access import policy, require_path
from atom.errors import UsageError
from atom.formats import FolderPictures, MemoryPictures, PictureFinder
from atom.formats.zip_pictures import SeveralPictures, ZipPictures


class DroppedFile(Protocol):
    """A file that was dropped on a form."""

    @property
    def name(self) -> str:
        """What it is called."""

    def getvalue(self) -> bytes:
        """Return its bytes."""


def no_paths() -> str:
    """Say why no path of this computer may be typed; empty where one may."""
    held = policy()
    if held is None or held.folders:
        return ""
    return "Files of the server can't be named in this deployment: upload them."


def typed_paths(text: str, *, what: str = "file or folder") -> list[Path]:
    """Read paths that were typed, one a line.

    Raises:
        AccessError: a deployment doesn't let it be named.
        UsageError: there is no such thing, or it can't be looked at.
    """
    paths = []
    for line in filter(None, map(str.strip, text.splitlines())):
        try:
            path = Path(line).expanduser()
            require_path(path)
            path.stat()
        # A name without a home, one that is too long, a folder that may not be looked into.
        except (OSError, RuntimeError, ValueError) as error:
            raise UsageError(f"there is no {what} {line!r} on this computer") from error
        paths.append(path)
    return paths


def picture_folders(typed: str, files: Sequence[Path]) -> list[Path]:
    """Return where pictures may lie: in the folder that was typed, else beside the files.

    Raises:
        UsageError: there is no such folder.
    """
    folders = typed_paths(typed, what="folder")
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"there is no folder {typed.strip()!r} on this computer")
    folders += [path if path.is_dir() else path.parent for path in files]
    return list(dict.fromkeys(folders))


def picture_finder(uploads: Sequence[DroppedFile], folders: Sequence[Path]) -> PictureFinder:
    """Look for pictures among uploads, loose or in a zip file, then in folders.

    Raises:
        DataError: a zip file can't be read.
    """
    finders: list[PictureFinder] = []
    loose: dict[str, bytes] = {}
    for one in uploads:
        if one.name.lower().endswith(".zip"):
            finders.append(ZipPictures(one.name, one.getvalue()))
        else:
            loose[one.name] = one.getvalue()
    if loose:
        finders.append(MemoryPictures(loose))
    if folders:
        finders.append(FolderPictures(list(folders)))
    return SeveralPictures(finders)

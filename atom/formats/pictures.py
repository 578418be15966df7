"""Find the pictures that a file names: in given folders or uploads, and nowhere else.

Nothing is fetched from the network, and nothing is read from outside the folders: a path with
`..`, an absolute path or a symbolic link counts only if it ends up inside one of them.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

from atom.errors import DataError, PictureError
from atom.foreign import open_foreign, read_foreign
from atom.foreign.pictures import read_header
from atom.formats.cells import to_name
from atom.records import blob_hash

MAX_BYTES = 50_000_000
MAX_PIXELS = 100_000_000
NOT_THERE = "it isn't there"
BROKEN_URL = "data URL"
"""What a picture is called whose data URL can't be decoded."""
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")
_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]+:")
_DATA_URL = re.compile(r"^data:[^,]{0,200};base64,", re.IGNORECASE)
_BASE64 = re.compile(r"^[A-Za-z0-9+/\s]++={0,2}\s*\Z")
_DIGITS = 64
_HASH = re.compile(rf"[0-9a-fA-F]{{{_DIGITS}}}")
_MOST_FOLDERS = 10_000
_MAX_HASHED = 10_000
_MAX_NAME = 500
_MAGIC = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"II*\x00", b"MM\x00*")


@dataclass(frozen=True, kw_only=True)
class PictureData:
    """A picture file's bytes under their hash."""

    id: str
    """SHA-256 of the bytes."""
    name: str
    """The name by which the source calls it."""
    data: bytes = field(repr=False)


class PictureLookup(NamedTuple):
    """What came of looking for a picture."""

    picture: PictureData | None
    reason: str = ""
    """Why there is none."""


_ABSENT = PictureLookup(picture=None, reason=NOT_THERE)
_OUTSIDE = PictureLookup(picture=None, reason="it lies outside the picture folders")


class PictureFinder(Protocol):
    """Where pictures are looked for."""

    def look(self, name: str) -> PictureLookup:
        """Look for a picture by the name or path that the source gives."""
        ...


def check_picture(data: bytes, name: str) -> PictureLookup:
    """Take bytes as a picture if their header says that they are one, of a size we take."""
    if len(data) > MAX_BYTES:
        return PictureLookup(picture=None, reason=f"it has more than {MAX_BYTES // 1_000_000} MB")
    try:
        _, width, height = read_header(data, name)
    except PictureError:
        return PictureLookup(picture=None, reason="it can't be read as a picture")
    if width * height > MAX_PIXELS:
        return PictureLookup(
            picture=None, reason=f"it has more than {MAX_PIXELS // 1_000_000} million pixels"
        )
    return PictureLookup(picture=PictureData(id=blob_hash(data), name=name, data=data))


def embedded_bytes(text: str) -> bytes | None:
    """Return the bytes of a base64 picture or data URL; None when the text is neither."""
    match = _DATA_URL.match(text)
    if match:
        body = text[match.end() :]
    elif len(text) >= 64 and _looks_base64(text):
        body = text
    else:
        return None
    try:
        return base64.b64decode(re.sub(r"\s+", "", body), validate=True)
    except (binascii.Error, ValueError):
        return None


class PicturePlace(NamedTuple):
    """What a cell gives for a picture's place."""

    name: str
    """What the source calls the picture, cut; empty where it gives bytes without a name."""
    look: PictureLookup
    """The picture, or why there is none."""


def place_picture(item: object, finder: PictureFinder, name: str = "") -> PicturePlace | None:
    """Take what a cell gives for a picture: bytes, base64, an object with either, or a name.

    Args:
        item: bytes, a text, or an object with `bytes` and `path` or `url`.
        finder: where names are looked up.
        name: what the picture is called where the cell gives no name.

    Returns:
        The place; None where there are neither bytes nor a name.
    """
    data: object = None
    told: object = item
    if isinstance(item, dict):
        data, told = item.get("bytes"), to_name(item.get("path")) or item.get("url")
    elif isinstance(item, bytes):
        data, told = item, None
    elif (text := to_name(item)) and (found := embedded_bytes(text)) is not None:
        data, told = found, None
    if isinstance(data, str):
        data = embedded_bytes(data)
    called = (to_name(told) or name)[:_MAX_NAME]
    if isinstance(data, bytes):
        return PicturePlace(name=called, look=check_picture(data, called))
    if called.lower().startswith("data:"):
        return PicturePlace(
            name=BROKEN_URL, look=PictureLookup(picture=None, reason="it can't be decoded")
        )
    return PicturePlace(called, finder.look(called)) if called else None


def _looks_base64(text: str) -> bool:
    if not _BASE64.match(text[:200].rstrip("=")):
        return False
    try:
        head = base64.b64decode(re.sub(r"\s+", "", text[:200])[:64])
    except (binascii.Error, ValueError):
        return False
    return head.startswith(_MAGIC)


class NoPictures:
    """Pictures are nowhere: every slot stays empty until some are attached."""

    def look(self, name: str) -> PictureLookup:
        """Find nothing."""
        refusal = None if name.isalnum() else _refusal(name)
        return PictureLookup(picture=None, reason=refusal) if refusal else _ABSENT

    def find(self, name: str) -> PictureData | None:
        """Find nothing."""
        return self.look(name).picture


class FolderPictures:
    """Pictures in folders, tried in order.

    A name is taken relative to each folder. Where the name repeats the folder's own name
    (`images/1.jpg`, looked for in `.../images`), the part after it is tried, too. A name without
    an ending, such as a question's id, is also tried with the usual endings; one of 64
    hexadecimal digits is looked for among the SHA-256 hashes of the folders' own files.

    Args:
        folders: the only places from which anything is read.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._roots = tuple(dict.fromkeys(folder.resolve() for folder in folders))
        self._by_hash: dict[str, Path] | None = None
        self._names: dict[Path, frozenset[str]] = {}
        self._own: frozenset[str] | None = None
        self._folders: dict[str, bool] = {}
        self._nowhere: set[str] = set()
        """Names' folders that are in none of ours."""

    def find(self, name: str) -> PictureData | None:
        """Return the picture, or None."""
        return self.look(name).picture

    def look(self, name: str) -> PictureLookup:
        """Look for a picture in the folders."""
        if name.isalnum() and len(name) != _DIGITS and name.casefold() not in self._root_names():
            return _ABSENT  # a log of a million ids asks for a million names
        refusal = _refusal(name)
        if refusal:
            return PictureLookup(picture=None, reason=refusal)
        is_hash = len(name) == _DIGITS and _HASH.fullmatch(name) is not None
        lone = "/" not in name and "\\" not in name and not is_hash
        if lone and name.strip().casefold() not in self._root_names():
            return _ABSENT
        if is_hash:
            path_by_hash = self._hashes().get(name.lower())
            if path_by_hash is not None:
                return _checked_file(path_by_hash, name)
        folder = _folder_of(name)
        return _ABSENT if folder in self._nowhere else self._search(name, folder)

    def _search(self, name: str, folder: str | None) -> PictureLookup:
        """Look for a picture at all places that its name may mean."""
        outside, nowhere = False, True
        for root, path in self._places(name):
            if not self._is_folder(path[: path.rfind("/")]):
                continue
            nowhere = False
            try:
                if not os.path.isfile(path):  # noqa: PTH113 - called for every row
                    continue
                real = Path(path).resolve()
                if not real.is_relative_to(root):
                    outside = True
                    continue
                with open_foreign(real) as stream:
                    data = stream.read(MAX_BYTES + 1)
            except (DataError, OSError, ValueError, RuntimeError):
                continue
            return check_picture(data, name)
        if nowhere and folder is not None and len(self._nowhere) < _MOST_FOLDERS:
            self._nowhere.add(folder)
        return _OUTSIDE if outside else _ABSENT

    def _is_folder(self, path: str) -> bool:
        """Look once whether a folder is there: a log of a million pictures names few folders."""
        known = self._folders.get(path)
        if known is None:
            if len(self._folders) >= _MOST_FOLDERS:
                self._folders.clear()
            try:
                known = os.path.isdir(path or "/")  # noqa: PTH112 - called for every row
            except ValueError:
                known = False
            self._folders[path] = known
        return known

    def _listing(self, root: Path) -> frozenset[str]:
        """List a folder once: a log of a million ids asks for a million names."""
        found = self._names.get(root)
        if found is None:
            try:
                found = frozenset(os.listdir(root))  # noqa: PTH208 - names, not paths
            except OSError:
                found = frozenset()
            self._names[root] = found
        return found

    def _root_names(self) -> frozenset[str]:
        """Name the folders' own files, with and without the usual endings."""
        if self._own is None:
            names = frozenset(name for root in self._roots for name in self._listing(root))
            folded = frozenset(map(str.casefold, names))
            self._own = folded | {
                name.removesuffix(suffix) for name in folded for suffix in PICTURE_SUFFIXES
            }
        return self._own

    def _hashes(self) -> dict[str, Path]:
        """Hash the pictures that lie in the folders, once."""
        if self._by_hash is None:
            self._by_hash = {}
            for root in self._roots:
                for path in _pictures_in(root):
                    try:
                        self._by_hash.setdefault(blob_hash(read_foreign(path, MAX_BYTES)), path)
                    except (DataError, OSError):
                        continue
        return self._by_hash

    def _places(self, name: str) -> Iterator[tuple[Path, str]]:
        parts = _parts(name)
        joined = "/".join(parts)
        absolute = name.strip().startswith("/")
        for root in self._roots:
            path = f"/{joined}" if absolute else f"{root}/{joined}"
            yield root, path
            if len(parts) == 1 and not parts[0].lower().endswith(PICTURE_SUFFIXES):
                names = self._listing(root)
                for suffix in PICTURE_SUFFIXES:
                    if parts[0] + suffix in names:
                        yield root, path + suffix
            for at in range(len(parts) - 1, 0, -1):
                if parts[at - 1] == root.name:
                    yield root, f"{root}/{'/'.join(parts[at:])}"


def _pictures_in(root: Path) -> list[Path]:
    """List a folder's own picture files, links aside."""
    try:
        return [
            path
            for path in islice(sorted(root.iterdir()), _MAX_HASHED)
            if path.suffix.lower() in PICTURE_SUFFIXES
            and not path.is_symlink()
            and path.is_file()
            and path.stat().st_size <= MAX_BYTES
        ]
    except OSError:
        return []


def _checked_file(path: Path, name: str) -> PictureLookup:
    try:
        return check_picture(read_foreign(path, MAX_BYTES), name)
    except (DataError, OSError):
        return PictureLookup(picture=None, reason=NOT_THERE)


class MemoryPictures:
    """Uploaded pictures, found by path, else by a file name that only one of them has.

    Args:
        files: name or path → bytes.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._by_path = {"/".join(_parts(name)): data for name, data in files.items()}
        self._by_hash = {blob_hash(data): data for data in files.values()}
        self._by_name: dict[str, list[bytes]] = {}
        for path, data in self._by_path.items():
            self._by_name.setdefault(path.rsplit("/", 1)[-1], []).append(data)

    def find(self, name: str) -> PictureData | None:
        """Return the picture, or None."""
        return self.look(name).picture

    def look(self, name: str) -> PictureLookup:
        """Look for a picture among the uploads."""
        refusal = _refusal(name)
        if refusal:
            return PictureLookup(picture=None, reason=refusal)
        path = "/".join(_parts(name))
        found = self._by_path.get(path) or self._by_hash.get(name.lower())
        if found is None:
            found = next(
                (
                    self._by_path[path + suffix]
                    for suffix in PICTURE_SUFFIXES
                    if path + suffix in self._by_path
                ),
                None,
            )
        if found is None:
            same = self._by_name.get(path.rsplit("/", 1)[-1], [])
            if len(same) > 1:
                return PictureLookup(picture=None, reason="several uploads have this file name")
            if not same:
                return PictureLookup(picture=None, reason=NOT_THERE)
            found = same[0]
        return check_picture(found, name)


def _folder_of(name: str) -> str | None:
    """Return what stands before a file's name; None where it isn't plain which name that is."""
    folder, slash, last = name.rpartition("/")
    plain = slash and last and "\\" not in last and not last.isspace() and last[0] != "."
    return folder if plain else None


def _parts(name: str) -> tuple[str, ...]:
    parts = name.strip().replace("\\", "/").split("/")
    return tuple(part for part in parts if part not in ("", "."))


def _refusal(name: str) -> str:
    if "\x00" in name or not name.strip():
        return "it has no usable name"
    if ":" in name and _SCHEME.match(name) and not re.match(r"^[a-zA-Z]:[\\/]", name):
        return "it is an address, and nothing is fetched: download it into a picture folder"
    return ""

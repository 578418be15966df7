"""Picture files beside the database, named by their content; thumbnails made once."""

from __future__ import annotations

from pathlib import Path

from atom.errors import PictureError
from atom.files import write_file
from atom.foreign.pictures import draw_thumbnail, read_header
from atom.records import Picture, blob_hash

MAX_BYTES = 50_000_000
MAX_PIXELS = 100_000_000
THUMBNAIL = (240, 180)


def inspect_picture(data: bytes, name: str = "picture") -> Picture:
    """Read what a picture file is, from its header and nothing more.

    Raises:
        PictureError: it isn't a picture, or too large; the message says what is allowed.
    """
    if len(data) > MAX_BYTES:
        raise PictureError(
            f"{name!r} has {len(data) / 1e6:.0f} MB; pictures of up to {MAX_BYTES / 1e6:.0f} MB "
            "are taken: save it smaller"
        )
    try:
        media_type, width, height = read_header(data, name)
    except PictureError as error:
        raise PictureError(f"{name!r}: {error.message}") from error
    if width * height > MAX_PIXELS:
        raise PictureError(
            f"{name!r} is {width} x {height} pixels; up to {MAX_PIXELS / 1e6:.0f} million are "
            "taken: scale it down"
        )
    return Picture(
        id=blob_hash(data), media_type=media_type, width=width, height=height, n_bytes=len(data)
    )


def make_thumbnail(data: bytes) -> bytes:
    """Draw a small WebP of a picture, upright, on white.

    Raises:
        PictureError: the file is broken.
    """
    return draw_thumbnail(data, THUMBNAIL)


class PictureFiles:
    """The folders `pictures/` and `thumbs/` of a store.

    Args:
        folder: where they lie.
        read_only: nothing is written; a missing thumbnail is made in memory.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self._folder = folder
        self._read_only = read_only

    def path(self, picture_id: str) -> Path:
        """Return where a picture lies (it may not be there)."""
        return self._folder / "pictures" / picture_id[:2] / picture_id

    def _thumb_path(self, picture_id: str) -> Path:
        return self._folder / "thumbs" / picture_id[:2] / f"{picture_id}.webp"

    def add(self, data: bytes, name: str = "picture") -> Picture:
        """Keep a picture and its thumbnail; adding it twice is no different from once.

        Raises:
            PictureError: it can't be used.
        """
        picture = inspect_picture(data, name)
        thumb = make_thumbnail(data)
        # The picture last: where it is, a process that was killed left its thumbnail, too.
        _write_once(self._thumb_path(picture.id), thumb)
        _write_once(self.path(picture.id), data)
        return picture

    def copy_from(self, other: PictureFiles, picture_id: str) -> None:
        """Take a picture over from another store, with its thumbnail where that has one.

        Raises:
            PictureError: the other store lacks the file.
        """
        data = None if self.path(picture_id).exists() else other.read(picture_id)
        thumb = other._thumb_path(picture_id)
        if thumb.exists():
            _write_once(self._thumb_path(picture_id), thumb.read_bytes())
        if data is not None:
            _write_once(self.path(picture_id), data)

    def forget(self, picture_id: str) -> None:
        """Delete a picture's files, which aren't what their name says."""
        for path in (self.path(picture_id), self._thumb_path(picture_id)):
            path.unlink(missing_ok=True)

    def read(self, picture_id: str) -> bytes:
        """Return a picture's original bytes.

        Raises:
            PictureError: the file is gone.
        """
        try:
            return self.path(picture_id).read_bytes()
        except FileNotFoundError:
            raise PictureError(
                f"picture {picture_id[:12]}... is missing from the store's pictures folder; "
                "bring it back with `study pictures FOLDER --study NAME`"
            ) from None

    def thumbnail(self, picture_id: str) -> bytes:
        """Return a picture's thumbnail (WebP), made now if it isn't there.

        Raises:
            PictureError: the file is gone or broken.
        """
        path = self._thumb_path(picture_id)
        if path.exists():
            return path.read_bytes()
        thumb = make_thumbnail(self.read(picture_id))
        if not self._read_only:
            _write_once(path, thumb)
        return thumb


def _write_once(path: Path, data: bytes) -> None:
    if path.exists() and path.stat().st_size == len(data):
        return
    write_file(path, data, sync=False, within=path.parent.parent)

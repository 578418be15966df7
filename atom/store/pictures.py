"""Pictures, named by their content, beside the database or in an object store; thumbnails too."""

from __future__ import annotations

from atom.errors import PictureError
from atom.foreign.pictures import draw_thumbnail, read_header
from atom.records import Picture, blob_hash
from atom.store.together.blobs import MOST_BYTES, Blobs

MAX_BYTES = MOST_BYTES
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
    """The files `pictures/` and `thumbs/` of a store.

    Args:
        blobs: where they lie.
        read_only: nothing is written; a missing thumbnail is made in memory.
    """

    def __init__(self, blobs: Blobs, *, read_only: bool = False) -> None:
        self._blobs = blobs
        self._read_only = read_only

    def has(self, picture_id: str) -> bool:
        """Say whether a picture's file is there."""
        return self._blobs.size(_name(picture_id)) is not None

    def add(self, data: bytes, name: str = "picture") -> Picture:
        """Keep a picture and its thumbnail; adding it twice is no different from once.

        Raises:
            PictureError: it can't be used.
        """
        picture = inspect_picture(data, name)
        thumb = make_thumbnail(data)
        # The picture last: where it is, a process that was killed left its thumbnail, too.
        self._write_once(_thumb_name(picture.id), thumb)
        self._write_once(_name(picture.id), data)
        return picture

    def copy_from(self, other: PictureFiles, picture_id: str) -> None:
        """Take a picture over from another store, with its thumbnail where that has one.

        Raises:
            PictureError: the other store lacks the file.
        """
        data = None if self.has(picture_id) else other.read(picture_id)
        thumb = other._blobs.read(_thumb_name(picture_id))
        if thumb is not None:
            self._write_once(_thumb_name(picture_id), thumb)
        if data is not None:
            self._write_once(_name(picture_id), data)

    def forget(self, picture_id: str) -> None:
        """Delete a picture's files, which aren't what their name says."""
        for name in (_name(picture_id), _thumb_name(picture_id)):
            self._blobs.forget(name)

    def read(self, picture_id: str) -> bytes:
        """Return a picture's original bytes.

        Raises:
            PictureError: the file is gone.
        """
        found = self._blobs.read(_name(picture_id))
        if found is None:
            raise PictureError(
                f"picture {picture_id[:12]}... is missing from the store's pictures folder; "
                "bring it back with `study pictures FOLDER --study NAME`"
            )
        return found

    def thumbnail(self, picture_id: str) -> bytes:
        """Return a picture's thumbnail (WebP), made now if it isn't there.

        Raises:
            PictureError: the file is gone or broken.
        """
        found = self._blobs.read(_thumb_name(picture_id))
        if found is not None:
            return found
        thumb = make_thumbnail(self.read(picture_id))
        if not self._read_only:
            self._write_once(_thumb_name(picture_id), thumb)
        return thumb

    def _write_once(self, name: str, data: bytes) -> None:
        if self._blobs.size(name) != len(data):
            self._blobs.write(name, data)


def _name(picture_id: str) -> str:
    return f"pictures/{picture_id[:2]}/{picture_id}"


def _thumb_name(picture_id: str) -> str:
    return f"thumbs/{picture_id[:2]}/{picture_id}.webp"

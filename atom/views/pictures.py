"""Picture files for the screens; one that is gone or broken is None, not an error."""

from __future__ import annotations

from dataclasses import dataclass

from atom.errors import PictureError
from atom.records import Picture
from atom.store import Store

SHOWN = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp"})
"""Types that browsers draw without running anything."""


@dataclass(frozen=True, kw_only=True)
class PictureFile:
    """A picture's bytes and type, and its pixels where they are known: its room can be kept."""

    data: bytes
    media_type: str
    size: tuple[int, int] | None = None


def read_thumbnail(store: Store, picture_id: str) -> PictureFile | None:
    """Return a picture's thumbnail."""
    try:
        return PictureFile(data=store.pictures.thumbnail(picture_id), media_type="image/webp")
    except PictureError:
        return None


def read_picture(store: Store, picture_id: str) -> PictureFile | None:
    """Return a picture; its thumbnail where browsers can't draw its type."""
    record = store.get(Picture, picture_id)
    if record is None or record.media_type not in SHOWN:
        return read_thumbnail(store, picture_id)
    try:
        data = store.pictures.read(picture_id)
        size = (record.width, record.height)
        return PictureFile(data=data, media_type=record.media_type, size=size)
    except PictureError:
        return None

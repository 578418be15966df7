"""Prepared pictures as JSON literals, each made once and kept while there is room."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from atom.errors import PictureError
from atom.judge.pictures.prepare import Box, prepare
from atom.judge.request import PicturePart
from atom.records import PictureLimit


class PictureCache:
    """Prepared pictures as JSON literals, each made once, the least used dropped first.

    Args:
        max_bytes: cap on the literals kept; 256 MiB holds about a thousand 200 KB pictures.
    """

    def __init__(self, max_bytes: int = 256 * 1024 * 1024) -> None:
        self._max_bytes = max_bytes
        self._n_bytes = 0
        self._held: OrderedDict[_Key, CachedPicture] = OrderedDict()
        self._making: dict[_Key, asyncio.Future[CachedPicture]] = {}

    @property
    def n_bytes(self) -> int:
        """Bytes of literals held."""
        return self._n_bytes

    async def get(
        self, part: PicturePart, limit: PictureLimit, *, keep_program: bool = False
    ) -> CachedPicture:
        """Return a picture's literal, preparing it in a worker thread when it isn't held.

        Raises:
            PictureError: the picture can't be read or used.
        """
        key = _key(part, limit, keep_program)
        while True:
            held = self._held.get(key)
            if held is not None:
                self._held.move_to_end(key)
                return held
            making = self._making.get(key)
            if making is None:
                return await self._make(key, lambda: _make_entry(part, limit, keep_program))
            # Wait without cancelling the maker; if it was cancelled, take its place.
            await asyncio.wait({making})
            if not making.cancelled():
                return making.result()

    def get_now(
        self, part: PicturePart, limit: PictureLimit, *, keep_program: bool = False
    ) -> CachedPicture:
        """Return a picture's literal as `get` does, here and now: where no loop uses the cache.

        Raises:
            PictureError: the picture can't be read or used.
        """
        key = _key(part, limit, keep_program)
        held = self._held.get(key)
        if held is None:
            held = _make_entry(part, limit, keep_program)
            self._hold(key, held)
        return held

    async def _make(self, key: _Key, make: Callable[[], CachedPicture]) -> CachedPicture:
        future = asyncio.ensure_future(asyncio.to_thread(make))
        self._making[key] = future
        try:
            made = await future
        finally:
            del self._making[key]
        self._hold(key, made)
        return made

    def _hold(self, key: _Key, made: CachedPicture) -> None:
        if len(made.literal) > self._max_bytes:
            return
        self._held[key] = made
        self._n_bytes += len(made.literal)
        while self._n_bytes > self._max_bytes:
            _, dropped = self._held.popitem(last=False)
            self._n_bytes -= len(dropped.literal)


_Key = tuple[str, int, int, int, bool]


def _key(part: PicturePart, limit: PictureLimit, keep_program: bool) -> _Key:
    return (part.sha256, limit.min_side, limit.max_side, limit.max_bytes, keep_program)


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedPicture:
    """A picture's data URL as a JSON literal, and what was done to it; see `PreparedPicture`."""

    literal: bytes
    width: int
    height: int
    content: Box
    notes: tuple[str, ...]


def _make_entry(part: PicturePart, limit: PictureLimit, keep_program: bool) -> CachedPicture:
    try:
        data = part.read()
    except OSError as error:
        raise PictureError(
            f"The picture {part.sha256[:12]} can't be read ({type(error).__name__}: "
            f"{error.strerror or error}). Bring it back with `study pictures FOLDER --study NAME`."
        ) from None
    prepared = prepare(data, limit, keep_program=keep_program)
    return CachedPicture(
        literal=prepared.literal(),
        width=prepared.width,
        height=prepared.height,
        content=prepared.content,
        notes=prepared.notes,
    )

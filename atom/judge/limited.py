"""Keeps what a server sends within bounds: nothing is read, or unpacked, beyond a limit.

A few hundred kilobytes of gzip can be made to unpack to gigabytes, and a body, or a line of a
stream, need never end. The limit holds before a byte more is taken.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator

import httpx2

from atom.judge.retry import Fault

MOST_REPLY = 16_000_000
"""Bytes of a reply, unpacked. What is read of a reply's text is a million characters."""
MOST_VECTORS = 32_000_000
"""Bytes of a reply with embeddings."""
MOST_FILE = 8_000_000_000
"""Bytes of a file of replies, which goes to the disk piece by piece."""
_PIECE = 1 << 18
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_PACKED = ("gzip", "x-gzip", "deflate")


class ReplyTooLongError(httpx2.HTTPError):
    """A server sent more than any answer holds."""


class LimitedTransport(httpx2.AsyncBaseTransport):
    """Sends requests by another transport, and reads no more of a reply than may be.

    Args:
        inner: the transport that sends.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; its reply is unpacked here, piece by piece.

        Raises:
            DecodingError: it is packed in a way that wasn't offered.
        """
        request.headers["Accept-Encoding"] = "gzip, deflate"
        response = await self._inner.handle_async_request(request)
        packing = response.headers.get("content-encoding", "").strip().lower()
        if packing not in ("", "identity", *_PACKED):
            await response.aclose()
            raise httpx2.DecodingError(f"the reply is packed as {packing[:40]!r}, unasked")
        unpacked = packing in _PACKED
        dropped = (b"content-encoding", b"content-length") if unpacked else ()
        headers = [pair for pair in response.headers.raw if pair[0].lower() not in dropped]
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=headers,
            stream=_LimitedStream(stream, most_of(request.url.path), unpack=unpacked),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close the transport that sends."""
        await self._inner.aclose()


def most_of(path: str) -> int:
    """Return how many bytes the reply to a request may have, unpacked."""
    if path.endswith("/content"):
        return MOST_FILE
    return MOST_VECTORS if path.endswith("/embeddings") else MOST_REPLY


def too_long_fault(error: BaseException) -> Fault | None:
    """Return the fault of a reply that was too long; None where the error is another."""
    root: BaseException | None = error
    while root is not None and not isinstance(root, ReplyTooLongError):
        root = root.__cause__ or root.__context__
    if root is None:
        return None
    return Fault(kind="permanent", message=f"It can't be used: {root}.", answered=True)


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most: int, *, unpack: bool) -> None:
        self._inner = inner
        self._most = most
        self._unpack = unpack

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        unpacker = Unpacker() if self._unpack else None
        async for given in self._inner:
            for piece in unpacker.pieces(given) if unpacker is not None else (given,):
                left -= len(piece)
                if left < 0:
                    raise ReplyTooLongError(
                        f"the reply is longer than {self._most // 1_000_000} MB; no answer is"
                    )
                yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


class Unpacker:
    """Unpacks gzip, zlib or bare deflate, in pieces that are never large."""

    def __init__(self) -> None:
        self._begun = False
        self._unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)

    def pieces(self, given: bytes) -> Iterator[bytes]:
        """Yield what more bytes unpack to.

        Raises:
            DecodingError: they aren't packed as they say.
        """
        while given:
            try:
                piece = self._unpacker.decompress(given, _PIECE)
            except zlib.error as error:
                if self._begun:
                    raise httpx2.DecodingError(f"the reply can't be unpacked: {error}") from None
                self._begun = True  # some servers leave deflate's header out
                self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
                continue
            self._begun = True
            if piece:
                yield piece
            given = self._unpacker.unconsumed_tail
            if self._unpacker.eof and self._unpacker.unused_data.startswith(b"\x1f\x8b"):
                given = self._unpacker.unused_data
                self._unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)

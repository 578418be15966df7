"""Cuts text, EXIF data and whatever follows the picture out of a file, pixels untouched."""

from __future__ import annotations

import struct

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT = frozenset(
    {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"pHYs"}
)


def without_metadata(data: bytes, kind: str) -> bytes | None:
    """Cut out text, EXIF and whatever follows the picture; None where that can't be done."""
    try:
        if kind == "PNG":
            return _bare_png(data)
        if kind in {"JPEG", "MPO"}:
            return _bare_jpeg(data)
    except (struct.error, IndexError, ValueError):
        return None
    return None


def _bare_png(data: bytes) -> bytes | None:
    kept = [_PNG_SIGNATURE]
    at = len(_PNG_SIGNATURE)
    while at < len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if name in _PNG_KEPT:
            kept.append(data[at:end])
        if name == b"IEND":
            return b"".join(kept)
        at = end
    return None


def _bare_jpeg(data: bytes) -> bytes | None:
    """Keep the JFIF and Adobe segments (colours depend on them), no other application data."""
    kept = [data[:2]]
    at = 2
    while at < len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if marker == 0xD9:
            return b"".join((*kept, data[at : at + 2]))
        end = at + 2 + struct.unpack_from(">H", data, at + 2)[0]
        if marker == 0xDA:
            end = _scan_end(data, end)
        if not (0xE0 <= marker <= 0xEF or marker == 0xFE) or marker in {0xE0, 0xEE}:
            kept.append(data[at:end])
        at = end
    return None


def _scan_end(data: bytes, at: int) -> int:
    """Return where entropy-coded data ends: at a marker that is neither stuffing nor a restart."""
    while True:
        at = data.index(b"\xff", at)
        follower = data[at + 1]
        if follower != 0 and not 0xD0 <= follower <= 0xD7:
            return at
        at += 2

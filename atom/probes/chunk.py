"""The text chunk that carries a probe's program inside its PNG.

The chunk is read back from pictures that anyone may have made, so nothing in it is trusted: sizes
are bounded before anything is unpacked, checksums are verified, the schema is strict, and whatever
doesn't fit is simply not a probe. Pixels are never decoded here.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from atom.probes.program import CHUNK_KEYWORD, MAX_CHUNK_BYTES, Program

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEYWORD = CHUNK_KEYWORD.encode("latin-1")
_FRAME = 12
_MAX_CHUNKS = 20_000


@dataclass(frozen=True, kw_only=True)
class _Chunk:
    kind: bytes
    data: memoryview
    raw: memoryview


class _BrokenPngError(ValueError):
    """The bytes aren't a well-formed PNG."""


def read_program(png: bytes) -> Program | None:
    """Read the program out of a picture's bytes.

    Args:
        png: the picture file, from any source.

    Returns:
        The program, or `None` when the bytes aren't a PNG, hold no program chunk or more than
        one, or the chunk is damaged, too large, or doesn't fit the schema.
    """
    try:
        bodies = [
            bytes(chunk.data)
            for chunk in _chunks(png)
            if chunk.kind == b"iTXt"
            and bytes(chunk.data[: len(_KEYWORD) + 1]) == _KEYWORD + b"\0"
            and len(chunk.data) <= MAX_CHUNK_BYTES
            and _checksum_holds(chunk)
        ]
    except _BrokenPngError:
        return None
    if len(bodies) != 1:
        return None
    text = _text(bodies[0])
    if text is None:
        return None
    try:
        program = Program.model_validate_json(text)
    except ValidationError:
        return None
    return program if _is_sound(program) else None


def write_program(png: bytes, program: Program) -> bytes:
    """Put a program into a picture's bytes, in place of any that is there.

    Args:
        png: a PNG file.

    Returns:
        The same picture with one `atomscope.probe` chunk after its header.

    Raises:
        ValueError: the bytes aren't a PNG, or the program is too large to be read back.
    """
    fields = program.model_dump(mode="json", exclude_defaults=True) | {"version": program.version}
    document = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode("utf-8")
    body = _KEYWORD + b"\0\x01\0\0\0" + zlib.compress(document, 9)
    if len(document) > MAX_CHUNK_BYTES or len(body) > MAX_CHUNK_BYTES:
        raise ValueError(
            f"the program takes {len(document)} bytes; at most {MAX_CHUNK_BYTES} can be carried"
        )
    parts = [_SIGNATURE]
    for chunk in _chunks(png):
        carried = chunk.kind == b"iTXt" and bytes(chunk.data).startswith(_KEYWORD + b"\0")
        if not carried:
            parts.append(bytes(chunk.raw))
        if chunk.kind == b"IHDR":
            parts.append(_framed(b"iTXt", body))
    return b"".join(parts)


def _chunks(png: bytes) -> Iterator[_Chunk]:
    """Walk over the chunks up to IEND; raises `_BrokenPngError` where the file is cut or odd."""
    if png[: len(_SIGNATURE)] != _SIGNATURE:
        raise _BrokenPngError("not a PNG file: the signature is missing")
    view = memoryview(png)
    at = len(_SIGNATURE)
    for number in range(_MAX_CHUNKS):
        if at + _FRAME > len(view):
            raise _BrokenPngError("the PNG file ends before its IEND chunk")
        (length,) = struct.unpack_from(">I", view, at)
        end = at + _FRAME + length
        if end > len(view):
            raise _BrokenPngError("a PNG chunk is longer than the file")
        kind = bytes(view[at + 4 : at + 8])
        if (number == 0) != (kind == b"IHDR"):
            raise _BrokenPngError("a PNG file must begin with one IHDR chunk")
        yield _Chunk(kind=kind, data=view[at + 8 : end - 4], raw=view[at:end])
        if kind == b"IEND":
            return
        at = end
    raise _BrokenPngError(f"the PNG file has more than {_MAX_CHUNKS} chunks")


def _checksum_holds(chunk: _Chunk) -> bool:
    (stored,) = struct.unpack(">I", chunk.raw[-4:])
    return bool(stored == zlib.crc32(chunk.raw[4:-4]))


def _framed(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _text(body: bytes) -> bytes | None:
    """Unpack an iTXt body (keyword, compression, language, translation, text), bounded."""
    flags = body[len(_KEYWORD) + 1 : len(_KEYWORD) + 3]
    rest = body[len(_KEYWORD) + 3 :].split(b"\0", 2)
    if len(flags) != 2 or len(rest) != 3:
        return None
    compressed, method = flags
    if compressed == 0:
        return rest[2]
    if compressed != 1 or method != 0:
        return None
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(rest[2], MAX_CHUNK_BYTES)
    except zlib.error:
        return None
    return text if unpacker.eof else None


def _is_sound(program: Program) -> bool:
    """Refuse what the schema lets through and arithmetic would choke on."""
    if not all(1 <= side <= 20_000 for side in program.size):
        return False
    if program.picture > program.pictures:
        return False
    for step in program.steps:
        numbers = (step.value or 0.0, step.tolerance, step.near, step.modulus or 1.0)
        if not all(math.isfinite(n) and abs(n) <= 1e12 for n in numbers):
            return False
        if step.tolerance < 0 or step.near < 0 or (step.modulus is not None and step.modulus <= 0):
            return False
        for region in step.regions:
            left, top, right, bottom = region.box
            if left >= right or top >= bottom or region.picture > program.pictures:
                return False
        if any(phrase.count("{value}") != 1 for phrase in step.phrases):
            return False
    return True

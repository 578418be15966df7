"""The program chunk: round trip, stripping, and what hostile pictures get."""

from __future__ import annotations

import io
import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from atom.probes.chunk import read_program, write_program
from atom.probes.program import CHUNK_KEYWORD, MAX_CHUNK_BYTES
from atom.probes.worlds import make_probe
from tests.held import pixel_hash

PROBE = make_probe("charts", 1, 1, template="difference")
PROGRAM = PROBE.program


def plain_png(**options: object) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 6), "#336699").save(buffer, format="PNG", **options)  # type: ignore[arg-type]
    return buffer.getvalue()


def chunk(kind: bytes, data: bytes, checksum: int | None = None) -> bytes:
    crc = zlib.crc32(kind + data) if checksum is None else checksum
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)


def with_chunk(added: bytes, png: bytes | None = None) -> bytes:
    png = png or plain_png()
    return png[:33] + added + png[33:]


def itxt(text: bytes, *, flag: int = 0, method: int = 0) -> bytes:
    body = CHUNK_KEYWORD.encode() + b"\0" + bytes([flag, method]) + b"\0\0" + text
    return chunk(b"iTXt", body)


def document(**changes: object) -> bytes:
    return json.dumps({**PROGRAM.model_dump(mode="json"), **changes}).encode()


def kinds(png: bytes) -> list[bytes]:
    found, at = [], 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        found.append(png[at + 4 : at + 8])
        at += 12 + length
    return found


def test_round_trip_keeps_pixels_and_program() -> None:
    png = plain_png()
    carried = write_program(png, PROGRAM)
    assert read_program(carried) == PROGRAM
    assert pixel_hash(carried) == pixel_hash(png)


def test_pillow_reads_the_chunk_too() -> None:
    with Image.open(io.BytesIO(write_program(plain_png(), PROGRAM))) as image:
        assert json.loads(image.info[CHUNK_KEYWORD])["template"] == "difference"


def test_writing_again_replaces_the_program() -> None:
    first = write_program(plain_png(), PROGRAM)
    second = write_program(first, PROGRAM.model_copy(update={"index": 77}))
    program = read_program(second)
    assert program is not None
    assert program.index == 77
    assert kinds(second).count(b"iTXt") == 1


def test_a_chunk_that_pillow_wrote_is_read() -> None:
    info = PngImagePlugin.PngInfo()
    info.add_itxt(CHUNK_KEYWORD, document().decode(), zip=True)
    assert read_program(plain_png(pnginfo=info)) == PROGRAM


@pytest.mark.parametrize(
    "data",
    [b"", b"\x89PNG", b"GIF89a" + bytes(40), b"\x89PNG\r\n\x1a\n", plain_png()[:-20]],
    ids=["empty", "short", "gif", "signature only", "cut"],
)
def test_what_is_no_png_has_no_program_and_gets_none(data: bytes) -> None:
    assert read_program(data) is None
    with pytest.raises(ValueError, match="PNG"):
        write_program(data, PROGRAM)


@pytest.mark.parametrize(
    "added",
    [
        b"",
        itxt(b"not json"),
        itxt(b"[]"),
        itxt(b"\xff\xfe"),
        itxt(document(version=2)),
        itxt(document(extra=1)),
        itxt(document(size=[0, 480])),
        itxt(document(size=[10**9, 480])),
        itxt(document(picture=2)),
        itxt(document(answer_step="nowhere")),
        itxt(document(knobs={"a": [1]})),
        itxt(document(steps=[])),
        itxt(b"[" * 20_000),
        itxt(zlib.compress(document()), flag=1, method=3),
        itxt(zlib.compress(document()), flag=7),
        itxt(b"not zlib", flag=1),
        itxt(zlib.compress(document())[:-9], flag=1),
        itxt(zlib.compress(b" " * 50_000_000, 9), flag=1),
        itxt(b" " * (MAX_CHUNK_BYTES + 1)),
        itxt(document()) + itxt(document()),
        chunk(b"iTXt", CHUNK_KEYWORD.encode() + b"\0"),
        chunk(b"iTXt", CHUNK_KEYWORD.encode() + b"\0\0\0only"),
        chunk(b"iTXt", itxt(document())[8:-4], checksum=1),
        chunk(b"tEXt", CHUNK_KEYWORD.encode() + b"\0" + document()),
        struct.pack(">I", 2**31) + b"iTXt",
    ],
)
def test_hostile_chunks_hold_no_program(added: bytes) -> None:
    assert read_program(with_chunk(added)) is None


@pytest.mark.parametrize(
    "change",
    [
        {"value": float("nan")},
        {"value": float("inf")},
        {"near": -1.0},
        {"tolerance": float("nan")},
        {"modulus": 0.0},
        {"phrases": ["no slot.", "none here."]},
        {"phrases": ["{value} and {value}.", "{value}."]},
        {"regions": [{"picture": 1, "box": [500, 0, 400, 10]}]},
        {"regions": [{"picture": 3, "box": [0, 0, 400, 10]}]},
    ],
)
def test_steps_that_arithmetic_would_choke_on_are_refused(change: dict[str, object]) -> None:
    steps = PROGRAM.model_dump(mode="json")["steps"]
    steps[1].update(change)
    assert read_program(with_chunk(itxt(document(steps=steps)))) is None


def test_a_program_that_could_not_be_read_back_is_not_written() -> None:
    step = PROGRAM.steps[0]
    long = tuple(f"{i:03d}" + "x" * 77 for i in range(64))
    steps = tuple(
        step.model_copy(
            update={
                "id": f"s{i}",
                "options": (*long[:63], step.truth),
                "near_options": long,
                "synonyms": dict.fromkeys(long, long[:40]),
                "weight": 5,
            }
        )
        for i in range(2)
    )
    huge = PROGRAM.model_copy(update={"steps": steps, "answer_step": "s0"})
    with pytest.raises(ValueError, match="at most"):
        write_program(plain_png(), huge)


@given(st.binary(max_size=200))
def test_any_bytes_are_survived(data: bytes) -> None:
    assert read_program(data) is None
    assert read_program(b"\x89PNG\r\n\x1a\n" + data) is None


@given(at=st.integers(0, 1400), value=st.integers(0, 255))
def test_any_flipped_byte_is_survived(at: int, value: int) -> None:
    png = bytearray(PROBE.pictures[0])
    png[at] = value
    read_program(bytes(png))

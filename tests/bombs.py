"""Small files that ask for much: made here, never kept."""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from atom.errors import UsageError

_NS = "http://schemas.openxmlformats.org"
_PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_NS}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        'relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.'
        'openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_NS}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{_NS}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>"
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_NS}/spreadsheetml/2006/main" '
        f'xmlns:r="{_NS}/officeDocument/2006/relationships"><sheets>'
        '<sheet name="first" sheetId="1" r:id="r1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_NS}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{_NS}/officeDocument/2006/relationships/worksheet" Target="worksheets/s.xml"/>'
        "</Relationships>"
    ),
}


def workbook(cells: dict[str, str], dimension: str = "A1:B2") -> bytes:
    """Make a workbook of one sheet: cell by its place, `{"A1": "id"}`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _PARTS.items():
            archive.writestr(name, '<?xml version="1.0"?>' + text)
        archive.writestr(
            "xl/worksheets/s.xml",
            f'<?xml version="1.0"?><worksheet xmlns="{_NS}/spreadsheetml/2006/main">'
            f'<dimension ref="{dimension}"/><sheetData>{_rows(cells)}</sheetData></worksheet>',
        )
    return out.getvalue()


def _rows(cells: dict[str, str]) -> str:
    rows: dict[str, str] = {}
    for place, text in cells.items():
        number = place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        rows[number] = rows.get(number, "") + (
            f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'
        )
    return "".join(f'<row r="{number}">{held}</row>' for number, held in rows.items())


def workbook_bomb() -> bytes:
    """Make a workbook whose two cells span every cell that a sheet can have."""
    return workbook({"A1": "id", "XFD1048576": "x"}, "A1:XFD1048576")


def parquet_bomb(characters: int = 100_000_000, rows: int = 64) -> bytes:
    """Make a Parquet file whose rows all hold one long text, kept once: 6.4 GB in 20 kB."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), ["x" * characters])
    out = io.BytesIO()
    pq.write_table(
        pa.table({"question": column}), out, compression="zstd", write_statistics=False,
        store_schema=False,
    )  # fmt: skip
    return out.getvalue()


def png_bomb(width: int, height: int, *, depth: int = 16, colour: int = 6) -> bytes:
    """Make a PNG of one colour; 16-bit RGBA takes eight bytes a pixel once it is unpacked."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    line = b"\0" * (1 + width * channels * depth // 8)
    packer = zlib.compressobj(9)
    body = b"".join([*(packer.compress(line) for _ in range(height)), packer.flush()])
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


# --- what a parser may do, called in a worker ----------------------------------------------------


def give_back(stream: BinaryIO, *args: object) -> object:
    """Return a file's bytes and the arguments."""
    return [stream.read(), *args]


def odd_values(stream: BinaryIO) -> object:
    """Return values of kinds that aren't plain."""
    return [Path("a"), {1}, Strange()]


class Strange:
    """Says that it is to be made by a call of the system's."""

    def __reduce__(self) -> tuple[object, ...]:
        """Ask whoever reads this to run a command."""
        return os.system, ("touch /tmp/atom-evil-pickle",)


def abort(stream: BinaryIO) -> None:
    """Die as native code does."""
    os.abort()


def hog(stream: BinaryIO) -> None:
    """Take ten gigabytes."""
    bytearray(10 << 30)


def spin(stream: BinaryIO) -> None:
    """Compute for ever."""
    while True:
        pass


def refuse(stream: BinaryIO) -> None:
    """Refuse with a sentence."""
    raise UsageError("name another file")


def count_up(stream: BinaryIO, end: int) -> Iterator[int]:
    """Count; die in between where the file says so."""
    die_at = int(stream.read() or b"-1")
    for number in range(end):
        if number == die_at:
            os.abort()
        yield number


def environment(stream: BinaryIO) -> list[str]:
    """Name the variables of the environment."""
    return sorted(os.environ)

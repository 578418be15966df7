"""Hostile places, archives, pictures and small files of settings."""

from __future__ import annotations

import io
import json
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.attacks._hostile_tables import PLAIN, Hostile, imported
from tests.bombs import parquet_bomb, png_bomb, workbook, workbook_bomb

MISSING = "pictures that are missing"
"""The study whose pictures hostile folders and zips offer; made by the group."""
NAMES = ("one.png", "../up.png", "/etc/passwd", "file:///etc/passwd", "http://192.0.2.1/x.png")
"""What its questions call their pictures."""
_SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def _zip(entries: Mapping[str, bytes], *, linked: Sequence[str] = ()) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if name in linked:
                info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, data)
    return out.getvalue()


def _deflated(size: int, start: bytes = b"", end: bytes = b"", fill: bytes = b" ") -> bytes:
    """Return a ZIP's `x` of so many bytes, made in pieces: the packed bytes alone."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    piece = fill * (1 << 20)
    body = [packer.compress(start)]
    body += [packer.compress(piece) for _ in range(size >> 20)]
    return b"".join([*body, packer.compress(end), packer.flush()])


def zip_bomb(name: str, size: int, *, told: int | None = None, first: bytes = b"") -> bytes:
    """Make a ZIP with one member that unpacks to far more than it is.

    Args:
        name: the member's.
        size: bytes that come out.
        told: bytes that the headers promise; None = the truth.
        first: what the member begins with.
    """
    body = _deflated(size, first)
    told = size + len(first) if told is None else told
    path = name.encode()
    common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 0, len(body), told, len(path), 0)
    local = b"PK\x03\x04" + common + path + body
    central = b"PK\x01\x02\x14\0" + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + path
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end


def _file(name: str, data: Callable[[], bytes], says: str, samples: int | None = None) -> Hostile:
    return Hostile(make=lambda folder: imported(folder, name, data()), samples=samples, says=says)


def _parquet(**columns: object) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), out)
    return out.getvalue()


def _odd_parquet() -> bytes:
    import pyarrow as pa

    return _parquet(
        question=pa.array(["What?"]),
        when=pa.array([2**60], pa.timestamp("ms")),
        large=pa.array([10**37], pa.decimal128(38, 0)),
        raw=pa.array([b"\xff\0"], pa.binary()),
    )


def _deep_parquet() -> bytes:
    import pyarrow as pa

    kind, value = pa.int64(), 1
    for _ in range(30):
        kind, value = pa.list_(kind), [value]  # type: ignore[assignment]
    return _parquet(question=pa.array(["What?"]), nest=pa.array([value], kind))


def _laughing_workbook() -> bytes:
    inner = [f"&l{n};" * 10 for n in range(9)]
    laughs = "".join(f'<!ENTITY l{n} "{text}">' for n, text in enumerate(["ha" * 10, *inner]))
    data = workbook({"A1": "question", "A2": "&l9;"})
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            text = old.read(name).decode()
            if name.endswith("s.xml"):
                text = text.replace("?>", f"?><!DOCTYPE w [{laughs}]>", 1)
            new.writestr(name, text)
    return out.getvalue()


def _sheet_bomb() -> bytes:
    data = workbook({"A1": "question"})
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for name in old.namelist():
            if not name.endswith("s.xml"):
                new.writestr(name, old.read(name))
        with new.open("xl/worksheets/s.xml", "w", force_zip64=True) as sheet:
            for _ in range(600):
                sheet.write(b" " * (1 << 20))
    return out.getvalue()


def _log(name: str, member: bytes) -> bytes:
    header = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}
    return _zip({"header.json": json.dumps(header).encode(), name: member})


def _lying_log() -> bytes:
    """Make an Inspect log whose member is zstd and says that it is small."""
    import pyarrow as pa

    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as packer:
        for _ in range(3_000):
            packer.write(b" " * (1 << 20))
    body, path = out.getvalue().to_pybytes(), b"header.json"
    common = struct.pack("<HHHHHIIIHH", 20, 0, 93, 0, 33, 0, len(body), 100, len(path), 0)
    local = b"PK\x03\x04" + common + path + body
    central = b"PK\x01\x02\x14\0" + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + path
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end


NATIVE: Mapping[str, Hostile] = {
    "Parquet that is cut": _file("x.parquet", lambda: _parquet(question=["a?"])[:-30], "Parquet"),
    "Parquet's first letters, then noise": _file("x.parquet", lambda: b"PAR1" * 99, "Parquet"),
    "Parquet of 20 kB that holds 6.4 GB": _file("x.parquet", parquet_bomb, "memory|MB|broken"),
    "Parquet with years and numbers beyond reason": _file("x.parquet", _odd_parquet, "", 1),
    "Parquet nested 30 deep": _file("x.parquet", _deep_parquet, "", 1),
    "Parquet of 30,000 columns": _file(
        "x.parquet", lambda: _parquet(**{f"c{n}": [1] for n in range(30_000)}), "columns"
    ),
    "a workbook that is cut": _file("x.xlsx", lambda: workbook({"A1": "q"})[:-40], "workbook|ZIP"),
    "a workbook as large as can be": _file("x.xlsx", workbook_bomb, "memory|question|rows"),
    "a workbook of entities in entities": _file("x.xlsx", _laughing_workbook, "", 0),
    "a sheet of 600 MB of spaces": _file("x.xlsx", _sheet_bomb, "unpacks to"),
    "an old workbook": _file(
        "x.xls", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(9_000), "Excel|xlsx"
    ),
    "an Inspect log that unpacks to 500 MB": _file(
        "x.eval", lambda: zip_bomb("header.json", 500 << 20), "unpacks to over|can't be read"
    ),
    "an Inspect log that hides 1 GB": _file(
        "x.eval", lambda: zip_bomb("header.json", 1 << 30, told=100), "can't be read"
    ),
    "an Inspect log that hides 3 GB in zstd": _file("x.eval", _lying_log, "can't be read"),
    "an Inspect log nested deep": _file(
        "x.eval", lambda: _log("samples/a_epoch_1.json", b"[" * 99_999), "can't be read", 0
    ),
    "an Inspect log with paths out of it": _file(
        "x.eval",
        lambda: _log("samples/../../../tmp/evil.json", b'{"id": 1, "input": "a?", "target": "b"}'),
        "",
        1,
    ),
}
_GZ = b"\x1f\x8b\x08\0\0\0\0\0\0\x03"
PACKED: Mapping[str, Hostile] = {
    f"packed: {name}": _file(f"x.csv{suffix}", lambda data=data: data, "packed")
    for name, suffix, data in (
        ("gzip, cut", ".gz", _GZ + b"\xab"),
        ("zstd, cut", ".zst", b"\x28\xb5\x2f\xfd\x04"),
        ("bzip2", ".bz2", b"BZh91AY&SY"),
        ("xz", ".xz", b"\xfd7zXZ\0\0"),
        ("7-Zip", ".7z", b"7z\xbc\xaf\x27\x1c"),
        ("RAR", ".rar", b"Rar!\x1a\x07\x01\x00"),
        ("tar", ".tar", b"x.csv".ljust(257, b"\0") + b"ustar\x0000" + bytes(248)),
        ("a ZIP with paths out of it", ".zip", _zip({"../../../tmp/evil.csv": PLAIN.encode()})),
    )
}
POLYGLOTS: Mapping[str, Hostile] = {
    f"not what its name says: {name}": _file(file, lambda data=data: data, says)
    for name, file, data, says in (
        ("a picture", "x.csv", png_bomb(4, 4), "picture|question|no row"),
        ("a PDF", "x.csv", b"%PDF-1.7\n" + b"1 0 obj << /Type /Catalog >> endobj\n" * 9,
         "question"),
        ("a program", "x.csv", b"\x7fELF\x02\x01\x01" + os.urandom(64).replace(b"\0", b"1") * 99,
         "question|no row|encoding|rows"),
        ("a page", "x.xls", b"<!doctype html><table><tr><td>a</td></tr></table>", "no format"),
        ("a database", "x.csv", b"SQLite format 3\0" + bytes(4_000), "question|no row|rows"),
        ("a pickle", "x.json", b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "question|no row|format"),
        ("a picture that is a ZIP", "x.xlsx", png_bomb(4, 4) + _zip({"a": b"b"}), "no format"),
    )
}  # fmt: skip


# --- places --------------------------------------------------------------------------------------


def _named(name: str, make: Callable[[Path], object]) -> Callable[[Path], list[str]]:
    def words(folder: Path) -> list[str]:
        make(folder / name)
        return ["import", "auto", str(folder / name), "--study", "Hostile", "--accept"]

    return words


def _linked_folder(place: Path) -> None:
    (place.parent / "outside.csv").write_text(PLAIN)
    place.mkdir()
    (place / "out.csv").symlink_to(place.parent / "outside.csv")
    (place / "round").symlink_to(place)
    os.mkfifo(place / "pipe.csv")
    (place / "own.csv").write_text(PLAIN)


PLACES: Mapping[str, Hostile] = {
    "a pipe": Hostile(make=_named("x.csv", os.mkfifo), says="pipe|no file"),
    "a link to a device": Hostile(
        make=_named("x.csv", lambda at: at.symlink_to("/dev/zero")), says="device|no file"
    ),
    "a link to itself": Hostile(
        make=_named("x.csv", lambda at: at.symlink_to(at)), says="read|no file"
    ),
    "a link to this process's memory": Hostile(
        make=_named("x.csv", lambda at: at.symlink_to("/proc/self/environ")), says="system"
    ),
    "a folder with links out of it and round": Hostile(
        make=_named("run", _linked_folder), samples=1
    ),
    "a folder without a file": Hostile(make=_named("run", lambda at: at.mkdir()), says="no file"),
}


# --- pictures ------------------------------------------------------------------------------------


def _pictures(data: Callable[[], bytes], name: str = "one.png") -> Callable[[Path], list[str]]:
    def words(folder: Path) -> list[str]:
        (folder / "pictures").mkdir()
        (folder / "pictures" / name).write_bytes(data())
        return ["study", "pictures", str(folder / "pictures"), "--study", MISSING]

    return words


def _zipped(data: Callable[[], bytes]) -> Callable[[Path], list[str]]:
    def words(folder: Path) -> list[str]:
        (folder / "pictures.zip").write_bytes(data())
        return ["study", "pictures", str(folder / "pictures.zip"), "--study", MISSING]

    return words


def _odd_pictures(folder: Path) -> list[str]:
    place = folder / "pictures"
    place.mkdir()
    os.mkfifo(place / "one.png")
    (folder / "up.png").write_bytes(png_bomb(4, 4))
    (place / "up.png").symlink_to(folder / "up.png")
    return ["study", "pictures", str(place), "--study", MISSING]


def _huge_cell(folder: Path) -> list[str]:
    rows = ["id,question,image"]
    rows.append('a,What?,"data:image/png;base64,' + "QUJD" * 5_000_000 + '"')
    rows.append('b,What?,"data:image/png;base64,!!!' + " " * 200_000 + '"')
    rows += [f"{name},What?,{name}" for name in ("/etc/passwd", "../../x.png", "http://192.0.2.1/")]
    return imported(folder, "x.csv", "\n".join(rows))


NOTHING = "0 pictures|nothing|none|no picture|can't"
PICTURES: Mapping[str, Hostile] = {
    f"pictures: {name}": Hostile(make=make, samples=0, says=says)
    for name, make, says in (
        ("a PNG of ten gigapixels", _pictures(lambda: png_bomb(100_000, 2, depth=1, colour=0)
                                              .replace(struct.pack(">II", 100_000, 2),
                                                       struct.pack(">II", 100_000, 100_000))), ""),
        ("a PNG that unpacks to 640 MB", _pictures(lambda: png_bomb(9_000, 9_000)), ""),
        ("an SVG with a script", _pictures(lambda: _SVG), ""),
        ("a page that begins as a PNG", _pictures(lambda: b"\x89PNG\r\n\x1a\n<script>"), ""),
        ("a JPEG that ends at once", _pictures(lambda: b"\xff\xd8\xff\xe0"), ""),
        ("a WebP of noise", _pictures(lambda: b"RIFF\xff\xff\xff\xffWEBPVP8X" + b"\xff" * 99), ""),
        ("a TIFF whose table points at itself", _pictures(
            lambda: b"II*\0\x08\0\0\0" + struct.pack("<HHHIII", 1, 256, 4, 1, 99, 8)), ""),
        ("a pipe and a link out of the folder", _odd_pictures, ""),
        ("a ZIP with paths out of it", _zipped(
            lambda: _zip({"../../../tmp/one.png": _SVG, "/etc/one.png": _SVG})), ""),
        ("a ZIP of links", _zipped(
            lambda: _zip({"one.png": b"/etc/passwd"}, linked=["one.png"])), ""),
        ("a ZIP that hides 1 GB", _zipped(lambda: zip_bomb("one.png", 1 << 30, told=100)), ""),
        ("a ZIP that is cut", _zipped(lambda: _zip({"one.png": _SVG})[:-9]), "zip"),
    )
}  # fmt: skip
PICTURES = {
    **PICTURES,
    "pictures: huge and broken ones in cells": Hostile(make=_huge_cell, samples=5, says="picture"),
}


# --- archives and settings -----------------------------------------------------------------------


def _archive(entries: Mapping[str, bytes]) -> Callable[[Path], list[str]]:
    def words(folder: Path) -> list[str]:
        (folder / "a.zip").write_bytes(_zip(entries))
        return ["study", "import", str(folder / "a.zip")]

    return words


def _archive_bomb(folder: Path) -> list[str]:
    (folder / "a.zip").write_bytes(zip_bomb("manifest.json", 1 << 30, told=100))
    return ["study", "import", str(folder / "a.zip")]


def _map(text: str) -> Callable[[Path], list[str]]:
    def words(folder: Path) -> list[str]:
        (folder / "map.yaml").write_text(text)
        return imported(folder, "x.csv", PLAIN, "--columns", str(folder / "map.yaml"))

    return words


def _endpoints(text: str) -> Callable[[Path], list[str]]:
    def words(folder: Path) -> list[str]:
        (folder / "e.yaml").write_text(text)
        return ["endpoint", "list", "--endpoints", str(folder / "e.yaml")]

    return words


def _prices(data: bytes) -> Callable[[Path], list[str]]:
    def words(folder: Path) -> list[str]:
        (folder / "p.json").write_bytes(data)
        return ["endpoint", "prices", str(folder / "p.json"), "--dry-run"]

    return words


_LAUGHS = "a0: &a0 [ha, ha]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
SETTINGS: Mapping[str, Hostile] = {
    "an archive that isn't one": Hostile(make=_archive({"x": b"y"}), says="archive"),
    "an archive whose manifest is nested deep": Hostile(
        make=_archive({"manifest.json": b'{"a":' * 99_999}), says="manifest"
    ),
    "an archive whose manifest hides 1 GB": Hostile(make=_archive_bomb, says="manifest"),
    "a column map of aliases in aliases": Hostile(
        make=_map(_LAUGHS + "question: *a11\n"), says="column map"
    ),
    "a column map that names a Python object": Hostile(
        make=_map("question: !!python/object/apply:os.system ['true']"), says="column map"
    ),
    "a column map nested deep": Hostile(make=_map("[" * 50_000), says="column map"),
    "endpoints of aliases in aliases": Hostile(
        make=_endpoints(
            "- name: x\n  extra:\n" + _LAUGHS.replace("a", "    a", 1).replace("\na", "\n    a")
        ),
        says=".",
    ),
    "endpoints nested deep": Hostile(make=_endpoints("- " * 50_000), says="."),
    "prices nested deep": Hostile(make=_prices(b"[" * 99_999), says="."),
    "prices beyond reason": Hostile(
        make=_prices(b'{"m": {"input_cost_per_token": 1e300, "output_cost_per_token": NaN}}'),
        says=".",
    ),
}
OTHERS = {**NATIVE, **PACKED, **POLYGLOTS, **PLACES, **PICTURES, **SETTINGS}
"""All of them, by name."""

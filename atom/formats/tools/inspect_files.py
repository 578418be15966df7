"""Inspect's files, packed (`.eval`) or not, read sample by sample."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from atom.errors import FormatError
from atom.formats.base import ImportFile
from atom.formats.cells import (
    to_list,
    to_number,
)
from atom.formats.intake.by_row import rows_of
from atom.formats.intake.collector import Collector
from atom.formats.json_file import inner
from atom.formats.json_scan import DECODER, BrokenJsonError, JsonScanner
from atom.formats.layout import find_encoding
from atom.formats.rows import Problems, Row

ATTACHED = "attachment://"
_MAX_SAMPLE = 200_000_000
"""Bytes of a member, packed or unpacked."""
_PIECE = 1 << 20
MAX_DEPTH = 6
_LIKELY = 0.6
_BULKY = ("attachments", "events", "messages", "store")
"""Parts of a sample that hold no score."""
_ZSTD = 93
"""The number that ZIP has for zstd."""
_LOCAL_HEADER = struct.Struct("<4s22xHH")
"""Signature, and the lengths of the name and the extra field that come before a member's data."""


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is an Inspect log."""
    if head.startswith(b"PK\x03\x04"):
        inside = b"_journal/" in head or b"header.json" in head or b"samples/" in head
        return 0.95 if inside else 0.6 if name.lower().endswith(".eval") else 0.0
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith("{") and all(f'"{key}"' in text for key in ("version", "eval", "task_id")):
        return 0.95
    first = text.split("\n", 1)[0]
    messages = re.search(r'"input":\s*\[\s*\{', first) is not None
    return 0.7 if messages and '"role"' in first and '"target"' in first else 0.0


def names_log(head: bytes) -> bool:
    """Whether a JSON file's first bytes name what a log holds."""
    return b'"eval"' in head and b'"version"' in head


def zip_header(file: ImportFile) -> Mapping[str, object]:
    """Read what a packed log says about itself.

    Raises:
        FormatError: it is no log.
    """
    with file.open() as stream, _archive(stream, file.name) as archive:
        names = archive.namelist()
        for name in ("header.json", "_journal/start.json"):
            if name in names:
                return _member(archive, name, file.name)
        raise FormatError(
            f"{file.name!r} is a ZIP without `header.json`; an Inspect log (.eval) is expected"
        )


def zip_reductions(file: ImportFile, notes: list[str]) -> list[object]:
    """Read the scores over all epochs in a packed log; notes where they can't be read."""
    name = "reductions.json"
    with file.open() as stream, _archive(stream, file.name) as archive:
        if name not in archive.namelist():
            return []
        try:
            return to_list(_decoded(archive, name, file.name)) or []
        except FormatError as error:
            notes.append(f"its reductions were left out: {error.message}")
            return []


def _archive(stream: io.BufferedIOBase | object, name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(stream)  # type: ignore[arg-type]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
        raise FormatError(
            f"{name!r} is a broken ZIP ({error}); it may be cut: get it again"
        ) from error


def _member(archive: zipfile.ZipFile, name: str, file: str) -> Mapping[str, object]:
    """Read one JSON object of a ZIP.

    Raises:
        FormatError: it can't be unpacked, is too large or no object.
    """
    value = _decoded(archive, name, file)
    if not isinstance(value, dict):
        raise FormatError(f"{name} in {file!r} is no object")
    return value


def _decoded(archive: zipfile.ZipFile, name: str, file: str) -> object:
    """Read one JSON value of a ZIP.

    Raises:
        FormatError: it can't be unpacked or is too large.
    """
    try:
        entry = archive.getinfo(name)
        if entry.file_size > _MAX_SAMPLE:
            raise FormatError(f"{name} in {file!r} unpacks to over {_MAX_SAMPLE // 1_000_000} MB")
        return DECODER.decode(_unpacked(archive, entry).decode("utf-8", "replace").strip())
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        ValueError,
        RecursionError,
        NotImplementedError,
        RuntimeError,
        struct.error,
    ) as error:
        raise FormatError(f"{name} in {file!r} can't be read ({error}); get it again") from error


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Unpack a member; zstd, which `zipfile` learns only with Python 3.14, by Arrow."""
    if entry.compress_type != _ZSTD:
        with archive.open(entry) as stream:
            return stream.read(_MAX_SAMPLE + 1)
    import pyarrow as pa

    raw = archive.fp
    if raw is None or entry.flag_bits & 1:
        raise zipfile.BadZipFile("the member is encrypted")
    raw.seek(entry.header_offset)
    head = raw.read(_LOCAL_HEADER.size)
    signature, name_length, extra_length = _LOCAL_HEADER.unpack(head)
    if signature != b"PK\x03\x04":
        raise zipfile.BadZipFile("the member's header is broken")
    raw.seek(name_length + extra_length, io.SEEK_CUR)
    if entry.compress_size > _MAX_SAMPLE:
        raise zipfile.BadZipFile("the member is too large")
    pieces: list[bytes] = []
    left = entry.file_size + 1
    with pa.CompressedInputStream(pa.BufferReader(raw.read(entry.compress_size)), "zstd") as stream:
        while left > 0 and (piece := stream.read(min(left, _PIECE))):
            pieces.append(piece)
            left -= len(piece)
    data = b"".join(pieces)
    if len(data) != entry.file_size or zlib.crc32(data) != entry.CRC:
        raise zipfile.BadZipFile("the member's checksum doesn't fit")
    return data


def _text(file: ImportFile) -> io.TextIOWrapper:
    return io.TextIOWrapper(file.open(), encoding=find_encoding(file).name, errors="replace")


def json_header(file: ImportFile) -> Mapping[str, object]:
    """Read everything of a JSON log but its samples."""
    header: dict[str, object] = {}
    with _text(file) as text:
        scanner = JsonScanner(text)
        try:
            for key in scanner.each_key():
                if key == "samples" and scanner.peek() == "[":
                    for _ in scanner.items():
                        pass
                    continue
                header[key] = scanner.value()
        except BrokenJsonError as error:
            if "eval" not in header:
                raise FormatError(
                    f"{file.name!r} can't be read as JSON: {error.reason}; get it again"
                ) from error
    return header


@dataclass(frozen=True, kw_only=True)
class InspectSample:
    """A sample, or why it can't be read."""

    place: str
    values: Mapping[str, object] | None
    reason: str = ""


def samples(file: ImportFile, collector: Collector) -> Iterator[InspectSample]:
    """Read a file's samples one at a time, those that can't be read with the reason."""
    head = file.head()
    if head.startswith(b"PK\x03\x04"):
        yield from _zip_samples(file)
    elif names_log(head):
        yield from _json_samples(file, collector)
    else:
        for row in rows_of(file, collector, count=False):
            yield InspectSample(place=row.place, values=row.values)


def _zip_samples(file: ImportFile) -> Iterator[InspectSample]:
    with file.open() as stream, _archive(stream, file.name) as archive:
        for name in archive.namelist():
            if not name.startswith("samples/") or not name.endswith(".json"):
                continue
            place = f"{file.name} {name}"
            try:
                yield InspectSample(place=place, values=_member(archive, name, file.name))
            except FormatError as error:
                yield InspectSample(place=place, values=None, reason=error.message)


def _json_samples(file: ImportFile, problems: Problems) -> Iterator[InspectSample]:
    name, number = file.name, 0
    with _text(file) as text:
        scanner = JsonScanner(text)
        try:
            for key in scanner.each_key():
                if key != "samples" or scanner.peek() != "[":
                    scanner.value()
                    continue
                for value in scanner.items():
                    number += 1
                    if isinstance(value, dict):
                        yield InspectSample(place=f"{name} sample {number}", values=value)
                    else:
                        yield InspectSample(
                            place=f"{name} sample {number}", values=None, reason="it is no object"
                        )
        except BrokenJsonError as error:
            problems.broken(
                f"{name}: the file {'breaks off' if error.at_end else 'is broken'} after sample "
                f"{number} ({error.reason}); the samples before are kept"
            )


def is_log(head: bytes) -> bool:
    """Whether a file begins as a log does, packed or not."""
    if head.startswith(b"PK\x03\x04"):
        return sniff(head, "") > _LIKELY
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and names_log(head)


def log_rows(file: ImportFile, problems: Problems) -> Iterator[Row]:
    """Read a log sample by sample, each as `inspect log dump` would write a log of this one alone.

    Args:
        file: a log, packed or not.
        problems: told of samples that can't be read.

    Returns:
        Rows with `eval` and `samples`; a sample's attachments are put back, and `repeat` counts its
        epochs from 0.

    Raises:
        FormatError: the ZIP is broken or holds no header.
    """
    packed = file.head().startswith(b"PK\x03\x04")
    header = zip_header(file) if packed else json_header(file)
    for sample in _zip_samples(file) if packed else _json_samples(file, problems):
        if sample.values is None:
            problems.skip(sample.place, sample.reason)
            continue
        kept = {key: value for key, value in sample.values.items() if key not in _BULKY}
        epoch = to_number(kept.get("epoch"))
        kept["repeat"] = int(epoch) - 1 if epoch is not None and 1 <= epoch < 1e6 else 0
        whole = _put_back(kept, inner(sample.values, "attachments"))
        yield Row(place=sample.place, values={"eval": header.get("eval"), "samples": [whole]})


def _put_back(value: object, attachments: Mapping[str, object], depth: int = 0) -> object:
    if isinstance(value, str) and value.startswith(ATTACHED):
        return attachments.get(value.removeprefix(ATTACHED), value)
    if depth < 2 * MAX_DEPTH and attachments:
        if isinstance(value, dict):
            return {key: _put_back(one, attachments, depth + 1) for key, one in value.items()}
        if isinstance(value, list):
            return [_put_back(one, attachments, depth + 1) for one in value]
    return value

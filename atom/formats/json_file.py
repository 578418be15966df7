"""Read a small JSON file whole."""

from __future__ import annotations

import io
from collections.abc import Mapping

from atom.errors import FormatError
from atom.formats.base import ImportFile
from atom.formats.intake.collector import Collector
from atom.formats.json_scan import BrokenJsonError, JsonScanner
from atom.formats.layout import find_encoding

MAX_BYTES = 400_000_000


def load_object(
    file: ImportFile, collector: Collector, *, most: int = MAX_BYTES
) -> dict[str, object]:
    """Read a file that is one object; where it breaks off, what stands before is kept and noted.

    Args:
        collector: told of keys that stand twice and of a broken end.
        most: bytes; a larger file is refused.

    Raises:
        FormatError: it is no object, too large, or broken from its start.
    """
    encoding = find_encoding(file)
    if encoding.note:
        collector.note(f"{file.name}: {encoding.note}")
    with file.open() as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise FormatError(
            f"{file.name!r} has over {most // 1_000_000} MB, too much for such a file"
        )
    content: dict[str, object] = {}
    scanner = JsonScanner(io.StringIO(data.decode(encoding.name, "replace").lstrip("\ufeff")))
    try:
        for pair in scanner.pairs():
            if pair.key in content:
                collector.skip(f"{file.name} {pair.key!r:.80}", "this key stood before")
            else:
                content[pair.key] = pair.value
    except BrokenJsonError as error:
        if not content:
            raise FormatError(
                f"{file.name!r} can't be read as a JSON object: {error.reason}; get it again"
            ) from error
        collector.broken(
            f"{file.name}: the file {'breaks off' if error.at_end else 'is broken'} after entry "
            f"{len(content)} ({error.reason}); the entries before are kept"
        )
    return content


def inner(values: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Return an object inside an object; empty where there is none."""
    found = values.get(key)
    return found if isinstance(found, dict) else {}

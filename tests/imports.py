"""Read files with a format and keep everything that comes, for tests of formats."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from atom.errors import AtomError
from atom.formats import Batch, ImportFile, ImportReport, read
from atom.formats.intake.batch import GivenLabel, GivenVerdict
from atom.records import Outcome, Preference, Response, Sample, Tag


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What an import brings."""

    batches: tuple[Batch, ...]
    report: ImportReport

    @property
    def samples(self) -> list[Sample]:
        return [record for batch in self.batches for record in batch.samples]

    @property
    def responses(self) -> list[Response]:
        return [record for batch in self.batches for record in batch.responses]

    @property
    def outcomes(self) -> list[Outcome]:
        return [record for batch in self.batches for record in batch.outcomes]

    @property
    def preferences(self) -> list[Preference]:
        return [record for batch in self.batches for record in batch.preferences]

    @property
    def labels(self) -> list[GivenLabel]:
        return [record for batch in self.batches for record in batch.annotations]

    @property
    def verdicts(self) -> list[GivenVerdict]:
        return [record for batch in self.batches for record in batch.verdicts]

    @property
    def tags(self) -> list[Tag]:
        return [record for batch in self.batches for record in batch.tags]

    def tagged(self, facet: str, subject: str = "sample") -> dict[str, list[str]]:
        """Return subject id -> values of a facet."""
        found: dict[str, list[str]] = {}
        for tag in self.tags:
            if tag.facet == facet and tag.subject == subject:
                found.setdefault(tag.subject_id, []).append(tag.value)
        return found

    @property
    def candidates(self) -> dict[str, str]:
        """Return candidate id -> name."""
        return {record.id: record.name for batch in self.batches for record in batch.candidates}


def take(format_name: str | None, *files: ImportFile, **options: Any) -> Taken:
    """Read files wholly."""
    reading = read(format_name, files, **options)
    batches = tuple(reading)
    return Taken(batches=batches, report=reading.report)


def on_disk(folder: Path, *names: str) -> list[ImportFile]:
    """Name files of the shared folder."""
    return [ImportFile.from_path(folder / name) for name in names]


def uploaded(name: str, content: object) -> ImportFile:
    """Make an upload: of text as it stands, of a list of rows as JSON lines, else as JSON."""
    if isinstance(content, str):
        return ImportFile.from_bytes(name, content.encode())
    if isinstance(content, list) and name.endswith("l"):
        return ImportFile.from_bytes(name, "\n".join(map(json.dumps, content)).encode())
    return ImportFile.from_bytes(name, json.dumps(content).encode())


@cache
def expected(shared: Path) -> dict[str, Any]:
    """Return the numbers that real files give."""
    return json.loads((shared / "real" / "expected.json").read_text(encoding="utf-8"))


def cut_files(format_name: str, path: Path, parts: int = 7) -> None:
    """Read a file cut at several places: it comes in as far as it goes, or is refused in words."""
    data = path.read_bytes()
    for part in range(1, parts + 1):
        cut = ImportFile.from_bytes(path.name, data[: len(data) * part // (parts + 1) + part])
        with suppress(AtomError):
            take(format_name, cut)
    with pytest.raises(AtomError):
        take(format_name, ImportFile.from_bytes(path.name, b""))

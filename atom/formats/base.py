"""What all formats share: files in, batches of records out, and a report of what was met."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Self

from atom.foreign import open_foreign
from atom.formats.column_map import ColumnMap
from atom.formats.intake.batch import Batch
from atom.formats.intake.collector import Collector, Owner
from atom.formats.intake.report import ImportReport
from atom.formats.pictures import NoPictures, PictureFinder


@dataclass(frozen=True, kw_only=True)
class ImportFile:
    """A file to read; opened when it is needed, more than once if need be."""

    name: str
    """Its name without folders, shown in reports and kept with tags."""
    open: Callable[[], BinaryIO]
    folder: Path | None = None
    """Where it lies, when it lies anywhere: picture paths are relative to it."""
    n_bytes: int = 0
    """Its size; 0 where it isn't known."""

    @classmethod
    def from_path(cls, path: Path) -> Self:
        """Read a file on disk."""
        n_bytes = path.stat().st_size if path.is_file() else 0
        return cls(
            name=path.name, open=lambda: open_foreign(path), folder=path.parent, n_bytes=n_bytes
        )

    @classmethod
    def from_bytes(cls, name: str, data: bytes) -> Self:
        """Read an upload."""
        base = name.replace("\\", "/").rsplit("/", 1)[-1]
        return cls(name=base, open=lambda: io.BytesIO(data), n_bytes=len(data))

    @property
    def stem(self) -> str:
        """The name without its last extension."""
        return self.name.rsplit(".", 1)[0] or self.name

    def head(self, n_bytes: int = 65_536) -> bytes:
        """Return the file's first bytes."""
        with self.open() as stream:
            return stream.read(n_bytes)


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read; every format takes the same options and ignores what it has no use for."""

    dataset: str | None = None
    """The data set's name; None = by the column map, else by the file."""
    columns: ColumnMap | None = None
    """Which column is what; None = guessed (generic table only)."""
    pictures: PictureFinder = field(default_factory=NoPictures)
    candidates: Mapping[str, str] = field(default_factory=dict)
    """File name → candidate's name, where the file itself doesn't say."""
    limit: int | None = None
    """At most so many rows; None = all."""
    score: str | None = None
    """The scorer, metric or filter of the file whose verdicts count; None = by the format."""


class Reading(Iterator[Batch]):
    """An import under way: a single pass over batches, with a report that grows."""

    named = False
    """Whether the user named the data set."""
    n_bytes = 0
    """Bytes that are read here, those of files aside that a parser's own process reads."""

    def __init__(self, batches: Iterable[Batch], collector: Collector) -> None:
        self._batches = iter(batches)
        self._collector = collector

    def belongs_to(self, owner: Owner) -> None:
        """Say which study this goes into, before the first batch is read."""
        self._collector.belongs_to(owner, named=self.named)

    def __next__(self) -> Batch:
        """Read on to the next batch."""
        return next(self._batches)

    @property
    def judge(self) -> str | None:
        """The judge that a study without one looks through; None until the batches ended."""
        return self._collector.judge

    @property
    def tree(self) -> str | None:
        """The tree for a study without one; None until the batches ended."""
        return self._collector.tree

    @property
    def synthetic(self) -> bool:
        """Whether the files say that programs made any of it; known once the batches ended."""
        return self._collector.synthetic

    @property
    def report(self) -> ImportReport:
        """What was met so far; whole once the batches have ended."""
        return self._collector.report()


@dataclass(frozen=True, kw_only=True)
class Format:
    """A form of file that can be imported."""

    name: str
    """What the command calls it."""
    about: str
    """One sentence: what it is."""
    patterns: tuple[str, ...]
    """File name patterns, for a file dialog."""
    wanted: str
    """What to name when no file was given."""
    sniff: Callable[[bytes, str], float]
    """(first bytes, file name) → how likely it is this format, 0 to 1."""
    read: Callable[[Sequence[ImportFile], ReadOptions], Reading]
    """Read files; raises FormatError when they can't be this format."""

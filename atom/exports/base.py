"""What all exports share: where they read from, what is asked, and what they say they drop."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

from atom.files import stream
from atom.records import MarkScale, Picture, Record
from atom.store import Store, find_study, scales_of
from atom.store.store import DATABASE
from atom.views.study_data import StudyData, load_study

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class ExportSource:
    """The study that is exported.

    Attributes:
        study_id: its id or name.
        key: what the app's addresses call it.
        judge_id: whose marks are looked at; None = the study's own judge's.
    """

    store: Store
    study_id: str
    key: str = ""
    judge_id: str | None = None

    @cached_property
    def data(self) -> StudyData:
        """The study as the screens see it, read when it's needed."""
        return load_study(self.store, self.study_id, self.judge_id)

    @cached_property
    def n_bytes(self) -> int:
        """What the study takes at most in its store: its whole database, and its pictures."""
        return store_bytes(self.store)

    @cached_property
    def name(self) -> str:
        """The study's name."""
        return find_study(self.store, self.study_id).name

    @cached_property
    def scale_names(self) -> dict[str, str]:
        """What each scale of marks is called: its name, else its id."""
        return {name: scale.name or name for name, scale in self.scales.items()}

    @cached_property
    def scales(self) -> dict[str, MarkScale]:
        """The scales of the store's marks, by id."""
        return scales_of(self.store)


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """What can be chosen; a form ignores what it has no use for.

    Attributes:
        moment: UTC time, for the manifest.
        samples: at most so many samples; None = all.
        models: names or ids of models; empty = the form's own choice.
        progress: told what is done, in words.
    """

    moment: datetime
    samples: int | None = None
    models: tuple[str, ...] = ()
    progress: Callable[[str], None] = field(default=lambda words: None)


class ExportManifest(Record):
    """What an export says of itself; it lies in the file or beside it."""

    form: str
    """The form's name."""
    rests_on: str = ""
    """Where the form is described, when it is another tool's."""
    study: str
    synthetic: bool
    created: str
    """UTC time, ISO 8601."""
    counts: dict[str, int]
    drops: tuple[str, ...]
    """What of the study isn't in here, a line each."""
    notes: tuple[str, ...] = ()
    """What the reader should know, a line each."""


@dataclass(frozen=True, kw_only=True)
class ExportResult:
    """An export that was written.

    Attributes:
        place: the file or folder.
        n_bytes: its size.
        counts: what is in it, by kind.
        drops: what of the study isn't; empty for the exact archive.
        notes: what the reader should know.
    """

    place: Path
    n_bytes: int
    counts: dict[str, int]
    drops: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Exporter:
    """A form that a study can be exported in.

    Attributes:
        name: what the command calls it.
        title: what a screen calls it.
        about: one sentence: what it is for.
        suffix: of the file that it writes when no place is named.
        folder: whether it is several files, so that it can be a folder, too.
        drops: what of a study it never holds; empty = exact.
        write: writes it to a place that isn't there yet.
    """

    name: str
    title: str
    about: str
    suffix: str
    folder: bool
    drops: tuple[str, ...]
    write: Callable[[ExportSource, Path, ExportOptions], ExportResult]


def store_bytes(store: Store) -> int:
    """Return what a store's database and pictures take together."""
    database = store.folder / DATABASE
    pictures = sum(picture.n_bytes for picture in store.select(Picture))
    return pictures + (database.stat().st_size if database.exists() else 0)


def manifest_of(
    form: str,
    source: ExportSource,
    options: ExportOptions,
    counts: dict[str, int],
    drops: tuple[str, ...],
    notes: tuple[str, ...] = (),
    rests_on: str = "",
) -> ExportManifest:
    """Make an export's manifest."""
    study = source.data.study
    return ExportManifest(
        form=form,
        rests_on=rests_on,
        study=study.name,
        synthetic=study.synthetic,
        created=options.moment.isoformat(timespec="seconds"),
        counts=counts,
        drops=drops,
        notes=notes,
    )


def write_json(path: Path, data: object) -> None:
    """Write a value as JSON into an unfinished place; half characters become question marks."""
    text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)
    with stream(path) as file:
        file.write(text.encode("utf-8", "replace"))

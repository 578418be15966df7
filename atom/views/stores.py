"""What can be looked at: the user's store, the bundled one, and the studies in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from atom.errors import AtomError
from atom.records import Study
from atom.settings import Settings
from atom.store import Store, faults, list_studies
from atom.store.store import DATABASE

OpenStore: TypeAlias = Store
"""An open store, for those that hand it on without using it."""
Opener: TypeAlias = Callable[[str, bool], Store]
"""(location, read only) -> store."""
DEMO_MARK = "demo:"
"""Before the id of a study in the bundled store, in the URL."""


@dataclass(frozen=True, kw_only=True)
class StudyEntry:
    """A study that can be picked."""

    key: str
    """What the URL says."""
    study: Study
    bundled: bool
    """Sealed: it is copied before it is changed."""


@dataclass(frozen=True, kw_only=True)
class AllStudies:
    """Everything that can be looked at.

    Attributes:
        entries: the user's studies first, then the bundled ones, each by name.
        faults: stores that can't be opened, in words.
    """

    entries: tuple[StudyEntry, ...]
    faults: tuple[str, ...]

    def find(self, key: str) -> StudyEntry | None:
        """Return the study that the URL names, by key, id or name."""
        for entry in self.entries:
            if key == entry.key:
                return entry
        for entry in self.entries:
            if key in (entry.study.id, entry.study.name):
                return entry
        return None

    @property
    def first(self) -> StudyEntry | None:
        """The study that is shown when none is named: the user's newest, else a bundled one."""
        own = [entry for entry in self.entries if not entry.bundled]
        if own:
            return max(own, key=lambda entry: entry.study.created)
        return self.entries[0] if self.entries else None


def user_location(settings: Settings, *, create: bool = False) -> str | None:
    """Return where the user's store is, or None when it isn't there yet and isn't to be made."""
    here = "://" in settings.store or (Path(settings.store) / DATABASE).exists()
    return settings.store if here or create else None


def demo_location(settings: Settings) -> str | None:
    """Return where the bundled store is, or None when it isn't there."""
    return str(settings.demo) if (settings.demo / DATABASE).exists() else None


def list_all(settings: Settings, opener: Opener) -> AllStudies:
    """List all studies; a store that can't be opened is a fault, not an end.

    Args:
        opener: opens a store, or returns one that is open.
    """
    entries: list[StudyEntry] = []
    faults: list[str] = []
    for location, bundled in ((user_location(settings), False), (demo_location(settings), True)):
        if location is None:
            continue
        try:
            entries += entries_of(opener(location, bundled), bundled=bundled)
        except AtomError as error:
            faults.append(error.message)
    return AllStudies(entries=tuple(entries), faults=tuple(faults))


def entries_of(store: Store, *, bundled: bool) -> list[StudyEntry]:
    """List a store's studies, by name."""
    mark = DEMO_MARK if bundled else ""
    return [
        StudyEntry(key=f"{mark}{study.id}", study=study, bundled=bundled)
        for study in list_studies(store)
    ]


def open_store(location: str, read_only: bool) -> Store:
    """Open a store.

    Raises:
        StoreError: it can't be opened.
    """
    return Store.open(location, read_only=read_only)


def fault_of(error: Exception, settings: Settings) -> AtomError | None:
    """Say in words what a screen met; None where it is a bug."""
    return error if isinstance(error, AtomError) else faults.fault_of(error, settings.store)

"""Finds a study by its name: in the user's store, else in the bundled one.

`import atom` loads this module and nothing behind it: what reads a study is imported by whoever
opens one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from atom.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from atom.notebook.study import Study
    from atom.views.stores import AllStudies, StudyEntry


def open(study: str, *, store: str | Path | None = None, judge: str | None = None) -> Study:
    """Open a study.

    Args:
        study: its name or id, as `studies` and the app list it.
        store: the store's folder, or its `postgresql://` URL; `ATOM_STORE`, else `workspace/`,
            when None. The bundled study is found beside any store.
        judge: whose marks are looked at, by name or id; the study's own judge's when None.

    Returns:
        The study; closed by `close()`, or by a `with` block.

    Raises:
        UsageError: there is no such study, or it has no marks by this judge; the message names
            what there is.
        StoreError: the store can't be opened.
    """
    return _opened(study, store, judge)


def create(study: str, *, store: str | Path | None = None) -> Study:
    """Make an empty study, to be filled with `add_judgments`, and open it.

    Args:
        store: as for `open`; the folder is made when it isn't there.

    Raises:
        UsageError: the name is taken, empty or too long.
        StoreError: the store can't be made.
    """
    from datetime import UTC, datetime

    from atom.engine.clock import stamp
    from atom.engine.imports.importing import study_for
    from atom.settings import load_settings
    from atom.views.stores import open_store

    if _studies(store).find(study) is not None:
        raise UsageError(f"there is a study {study!r} already: open it, or choose another name")
    with open_store(load_settings(store=None if store is None else str(store)).store, False) as own:
        made = study_for(own, study, stamp(datetime.now(UTC)))
        own.put([made])
    return _opened(made.id, store)


def studies(*, store: str | Path | None = None) -> pd.DataFrame:
    """List the studies that can be opened.

    Args:
        store: as for `open`.

    Returns:
        A row a study (`atom.notebook.columns.STUDIES`): the store's own first, then the bundled.
    """
    from atom.notebook.columns import STUDIES, frame_of

    def line(one: StudyEntry) -> tuple[object, ...]:
        study = one.study
        return study.name, study.id, one.bundled, study.synthetic, study.created

    return frame_of(STUDIES, map(line, _studies(store).entries))


def _studies(store: str | Path | None) -> AllStudies:
    from atom.settings import load_settings
    from atom.store import Store
    from atom.views.stores import list_all, open_store

    opened: list[Store] = []

    def opener(location: str, read_only: bool) -> Store:
        opened.append(open_store(location, read_only))
        return opened[-1]

    try:
        return list_all(load_settings(store=None if store is None else str(store)), opener)
    finally:
        for one in opened:
            one.close()


def _opened(study: str, store: str | Path | None, judge: str | None = None) -> Study:
    from atom.notebook.study import Study
    from atom.settings import load_settings
    from atom.views.stores import demo_location, open_store, user_location

    settings = load_settings(store=None if store is None else str(store))
    found = _studies(store)
    entry = found.find(study)
    if entry is None:
        known = ", ".join(repr(one.study.name) for one in found.entries) or "none yet"
        faults = "".join(f"; {fault}" for fault in found.faults)
        raise UsageError(
            f"there is no study {study!r}; studies in {settings.store!r} and bundled: "
            f"{known}{faults}"
        )
    place = demo_location(settings) if entry.bundled else user_location(settings)
    assert place is not None
    return Study(open_store(place, entry.bundled), entry, judge=judge)

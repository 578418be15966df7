"""Opens the store that holds a study: the user's, else the bundled one to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from atom.settings import Settings
from atom.store import Store, find_study, list_studies
from atom.views.stores import DEMO_MARK, demo_location


@contextmanager
def open_study(settings: Settings, name: str) -> Iterator[tuple[Store, str, str]]:
    """Open the store that holds a study.

    Args:
        name: the study's name or id; the user's store is looked in first.

    Yields:
        The store, the study's id, and the key that it has in the app's addresses.

    Raises:
        UsageError: no store holds it.
    """
    with Store.open(settings.store) as store:
        own = {word for study in list_studies(store) for word in (study.name, study.id)}
        bundled = demo_location(settings)
        if name in own or bundled is None:
            study = find_study(store, name)
            yield store, study.id, study.id
            return
    with Store.open(bundled, read_only=True) as store:
        study = find_study(store, name.removeprefix(DEMO_MARK))
        yield store, study.id, f"{DEMO_MARK}{study.id}"

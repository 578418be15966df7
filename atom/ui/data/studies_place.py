"""Where the reader of the Data page is: the tab, the study, what all studies hold."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from atom.ui.data import parts as data_parts
from atom.ui.shell import frame, stores
from atom.views.data.study_table import StudyCard, study_card
from atom.views.filters import Filters
from atom.views.stores import AllStudies, StudyEntry


@dataclass(frozen=True, kw_only=True)
class StudiesPlace:
    """Where the reader is.

    Attributes:
        listed: all studies.
        tab: the tab that is open.
        entry: the study that is looked at; None without any.
        filters: the chain, kept in addresses.
    """

    listed: AllStudies
    tab: str
    entry: StudyEntry | None
    filters: Filters


def look_around() -> StudiesPlace:
    """Read what the reader looks at; the page needs no study."""
    query = frame.query()
    listed = stores.all_studies()
    filters = Filters.from_query(query)
    wanted = query.get("of", [""])[-1]
    keys = [key for key, _ in data_parts.TABS]
    tab = (query.get("tab") or [keys[0]])[-1]
    return StudiesPlace(
        listed=listed,
        tab=tab if tab in keys else keys[0],
        entry=listed.find(wanted) or frame.entry_of(listed, filters),
        filters=filters,
    )


@st.cache_data(show_spinner=False, max_entries=8)
def _cards(revisions: str, _studies: AllStudies) -> tuple[StudyCard, ...]:
    del revisions
    return tuple(study_card(stores.store_of(entry), entry) for entry in _studies.entries)


def cards(listed: AllStudies) -> tuple[StudyCard, ...]:
    """Return every study's counts, read anew only when a store has changed."""
    revisions = [(e.key, e.study.name, stores.store_of(e).revision()) for e in listed.entries]
    return _cards(repr((stores.settings().store, revisions)), listed)

"""What runs have brought since a study was opened: told, and shown when the reader asks."""

from __future__ import annotations

import streamlit as st

from atom.store.holds import is_at_work
from atom.ui.numbers import count
from atom.ui.shell import stores
from atom.views.shelf import StudyEntry

LOOK_EVERY = 5.0
"""Seconds between two looks while a run works."""


def draw(entry: StudyEntry) -> None:
    """Offer the results that came since the study was opened; nothing where none did."""
    if entry.bundled:
        return
    works = is_at_work(stores.store_of(entry), entry.study.id)

    @st.fragment(run_every=LOOK_EVERY if works else None)
    def offer() -> None:
        store = stores.store_of(entry)
        new = store.mark(entry.study.id).results - stores.looked_at(entry).results
        if new > 0:
            label = f"{count(new, 'new result')}: look"
            if st.button(label, key="news_look", icon=":material/refresh:", type="tertiary"):
                stores.look_again(entry)
                st.rerun()

    offer()

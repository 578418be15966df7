"""What runs have brought since a study was opened: told, and shown when the reader asks."""

from __future__ import annotations

import streamlit as st

from atom.display.numbers import count
from atom.ui.shell import stores
from atom.views.runs.news import news
from atom.views.shelf import StudyEntry

LOOK_EVERY = 5.0
"""Seconds between two looks while a run works."""


def draw(entry: StudyEntry) -> None:
    """Offer the results that came since the study was opened; nothing where none did."""
    if entry.bundled:
        return
    store, study_id = stores.store_of(entry), entry.study.id
    at_work = news(store, study_id, stores.looked_at(entry)).at_work

    @st.fragment(run_every=LOOK_EVERY if at_work else None)
    def offer() -> None:
        came = news(store, study_id, stores.looked_at(entry))
        if came.results:
            label = f"{count(came.results, 'new result')}: look"
            if st.button(label, key="news_look", icon=":material/refresh:", type="tertiary"):
                stores.look_again(entry)
                st.rerun()

    offer()

"""What runs have brought since a study was opened: told, and shown when the reader asks."""

from __future__ import annotations

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from atom.display.numbers import count
from atom.ui import kit
from atom.ui.plain import plain
from atom.ui.shell import stores
from atom.views.prepared.ready import PreparedStudy
from atom.views.prepared.words import as_of, told_time
from atom.views.runs.news import news
from atom.views.stores import StudyEntry

LOOK_EVERY = 5.0
"""Seconds between two looks while a run works."""


def draw(entry: StudyEntry, judge_id: str | None = None) -> None:
    """Offer the results that came since the study was opened; nothing where none did.

    Args:
        judge_id: whose marks are looked at; the study's own judge's when None.
    """
    if entry.bundled:
        return
    ready = stores.shown_ready(entry, judge_id)
    if ready is not None:
        _draw_ready(entry, judge_id, ready)
        return
    store, study_id = stores.store_of(entry), entry.study.id
    at_work = news(store, study_id, stores.looked_at(entry)).at_work

    @st.fragment(run_every=LOOK_EVERY if at_work else None)
    def offer() -> None:
        came = news(store, study_id, stores.looked_at(entry))
        others = came.results - stores.brought_here(entry)
        if others > 0:
            label = f"{count(others, 'new result')}: look"
            if st.button(label, key="news_look", icon=":material/refresh:", type="tertiary"):
                stores.look_again(entry)
                st.rerun()

    offer()


def _draw_ready(entry: StudyEntry, judge_id: str | None, shown: PreparedStudy) -> None:
    """Say of when a large study is shown, have what came added, and offer it when that is done."""
    store, study_id = stores.store_of(entry), entry.study.id

    @st.fragment(run_every=LOOK_EVERY if store.mark(study_id) != shown.moment else None)
    def tell() -> None:
        now, last = store.mark(study_id), stores.newest_ready(entry, judge_id)
        clock = datetime.now(_zone())
        if last is not None and last.made > shown.made:
            then, newer = told_time(shown.made, clock), told_time(last.made, clock)
            words = plain(f"As of {then}; newer results are added as of {newer}: look")
            if st.button(words, key="ready_look", icon=":material/refresh:", type="tertiary"):
                stores.look_again(entry)
                st.rerun()
        elif now != shown.moment:
            making = stores.make_ready(entry, judge_id)
            kit.show(kit.notice(as_of(shown, now, clock=clock, making=making)), key="ready_as_of")

    tell()


def _zone() -> tzinfo | None:
    """Return the reader's time zone, as their browser says it; else the server's own."""
    try:
        return ZoneInfo(str(st.context.timezone))
    except (ZoneInfoNotFoundError, ValueError):
        return None

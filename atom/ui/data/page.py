"""The Data page: its tabs, and what an act on it told."""

from __future__ import annotations

import streamlit as st

from atom.ui import kit
from atom.ui.data import bring, export, studies
from atom.ui.data import parts as data_parts
from atom.ui.data import pictures as data_pictures
from atom.ui.data.studies_place import StudiesPlace, cards
from atom.ui.data.working import FAULT, JOB, TOLD, begin, watch


def draw(around: StudiesPlace) -> None:
    """Draw the page below its title."""
    found = cards(around.listed)
    kit.show(data_parts.summary(found), key="data_summary")
    kit.show(data_parts.tabs(around.tab, around.filters), key="data_tabs")
    told, fault = st.session_state.pop(TOLD, None), st.session_state.pop(FAULT, None)
    if told:
        kit.show(kit.notice(told), key="data_told")
    if fault:
        kit.show(kit.fault(fault), key="data_fault")
    if around.tab == "studies":
        studies.draw(around, found)
    elif around.tab == "export":
        export.draw(around)
    elif around.tab == "pictures":
        _draw_pictures(around)
    else:
        bring.draw(around)


def _draw_pictures(around: StudiesPlace) -> None:
    if around.entry is None:
        kit.show(kit.empty("There is no study yet", "Bring files in on the first tab."),
                 key="data_attach_none")  # fmt: skip
        return
    job = st.session_state.get(JOB)
    if job is not None and job[0] == "attach":
        watch(*job)
    data_pictures.draw(around.entry, begin, job is not None)

"""The Judge lab's tab that asks whether the study's judge looks at the picture."""

from __future__ import annotations

import streamlit as st

from atom.display import writers
from atom.ui import kit
from atom.ui.html import el
from atom.ui.lab.sight import form, parts
from atom.ui.runs import control as run_control
from atom.ui.shell import sealed
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.judges.sight_table import every
from atom.views.lab.sight import SightView, sight_view
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData

TAB = form.TAB
FAULT = "sight_fault"
BRANCHES = "sight_branches"


def draw(here: Here) -> None:
    """Draw what is known, and the form that asks for more."""
    chosen = st.session_state.get(f"{BRANCHES}_{here.entry.key}")
    view = _read(here.store.url, here.entry.study.id, here.store.revision(),
                 here.query.get("run", ""), None if chosen is None else tuple(chosen),
                 here.filters, here.store, here.data)  # fmt: skip
    alive = view is not None and run_control.in_a_tab(
        here, view.run.id, counted="calls", key="sight", fault=FAULT, sent=form.SENT
    )
    if view is None:
        kit.show(parts.nothing(), key="sight_none")
    else:
        kit.show(parts.told(here, view), key="sight_told")
        _below(here, view)
    if st.session_state.get(FAULT):
        kit.show(kit.fault(st.session_state[FAULT]), key="sight_fault_shown")
    if here.entry.bundled:
        sealed.offer_copy(
            here, "sight",
            "Judges can’t be asked about a sealed study. In your own copy a judge marks its "
            "answers with the picture and without it.",
            button="Make my own copy", fault=FAULT, keep=("tab",),
        )  # fmt: skip
        return
    if not alive:
        words = "Ask a judge" if view is None else "Ask about more, or another judge"
        with st.expander(words, expanded=view is None, key="sight_form"):
            form.draw(here, FAULT)


@st.cache_resource(show_spinner="Counting marks that moved", max_entries=8)
def _read(
    url: str,
    study_id: str,
    revision: int,
    run_id: str,
    visual: tuple[str, ...] | None,
    filters: Filters,
    _store: OpenStore,
    _data: StudyData,
) -> SightView | None:
    del url, study_id, revision
    return sight_view(_store, _data, filters, run_id or None, visual=visual)


def _below(here: Here, view: SightView) -> None:
    """Let the reader say which branches count, and take the figures along."""
    if view.branches:
        # Another judge was asked about other criteria: a branch that isn't among them goes.
        key = f"{BRANCHES}_{here.entry.key}"
        if key in st.session_state:
            st.session_state[key] = [one for one in st.session_state[key] if one in view.branches]
        st.multiselect(
            "Branches whose criteria the picture settles",
            view.branches,
            default=None if key in st.session_state else view.chosen,
            key=key,
        )
    if view.marks:
        saved = kit.csv_link(writers.csv(every(view)), "judge-with-and-without-the-picture.csv")
        kit.show(el("p", saved, class_="small"), key="sight_csv")

"""The Judge lab's tab of hard pairs: four steps, each with its counts and examples."""

from __future__ import annotations

import streamlit as st

from atom.engine.pairs.keeping import keep_pairs
from atom.errors import AtomError
from atom.exports.hard_pairs import pair_files
from atom.ui import kit, links
from atom.ui.html import el
from atom.ui.lab.hard import form, steps
from atom.ui.pages import JUDGE_LAB
from atom.ui.runs import control as run_control
from atom.ui.shell import sealed, team
from atom.ui.shell.frame import Here
from atom.views.lab.hard_pairs import HardPairs, hard_pairs
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData

TAB = "pairs"
FAULT = "hard_fault"
TOLD = "hard_told"
UNCONFIRMED = "hard_unconfirmed"


def draw(here: Here) -> None:
    """Draw what came of it, and the form that looks for more."""
    view = _read(here.store.url, here.entry.study.id, here.store.revision(),
                 here.query.get("run", ""), here.store, here.data)  # fmt: skip
    alive = view is not None and run_control.in_a_tab(
        here, view.run.id, counted="votes", key="hard", fault=FAULT, sent=form.SENT
    )
    if view is None:
        kit.show(steps.nothing(), key="hard_none")
    else:
        kit.show(steps.told(here, view, TAB), key="hard_pairs")
        _files(here, view)
    _faults()
    if here.entry.bundled:
        sealed.offer_copy(
            here, "hard",
            "Judges can’t be asked about a sealed study. In your own copy weak judges vote on its "
            "pairs, and what they fail at becomes a set.",
            button="Make my own copy", fault=FAULT, keep=("tab",),
        )  # fmt: skip
        return
    if not alive:
        words = "Look for hard pairs" if view is None else "Look for more"
        with st.expander(words, expanded=view is None, key="hard_form"):
            form.draw(here, FAULT)


@st.cache_resource(show_spinner="Counting votes", max_entries=8)
def _read(
    url: str, study_id: str, revision: int, run_id: str, _store: OpenStore, _data: StudyData
) -> HardPairs | None:
    del url, study_id, revision
    return hard_pairs(_store, _data, run_id or None)


def _files(here: Here, view: HardPairs) -> None:
    """Offer the set as files, and as a set of the Judge lab."""
    if not view.chosen(confirmed=False):
        return
    open_ = view.decisions.get("open", 0)
    confirmed = not (
        bool(open_) and st.toggle(f"Also the {open_:,} that nobody has confirmed", key=UNCONFIRMED)
    )
    n = len(view.chosen(confirmed=confirmed))
    if not n:
        return
    store, data = here.store, here.data

    def keep() -> None:
        st.session_state.pop(FAULT, None)
        files = pair_files(store, data, view, confirmed=confirmed)
        try:
            kept = keep_pairs(store, data.study, view.run, files.texts, files.pictures)
        except AtomError as error:
            st.session_state[FAULT] = error.message
            return
        st.session_state[TOLD] = [(one.benchmark, one.id, one.name) for one in kept]

    with st.container(horizontal=True, key="stepbar_hard_files"):
        st.download_button(
            f"The {n:,} as files (VL-RewardBench, Multi-Crit)",
            data=lambda: pair_files(store, data, view, confirmed=confirmed).zipped(),
            file_name=f"hard-pairs-{view.run.id[:8]}.zip", mime="application/zip", key="hard_zip",
        )  # fmt: skip
        if not here.entry.bundled:
            team.button("edit", "Make them sets of the Judge lab", key="hard_keep", on_click=keep)
    told = st.session_state.pop(TOLD, None)
    if told:
        doors = [
            kit.door(f"{name} ({bench})",
                     links.address(JUDGE_LAB.url_path, here.filters, tab=bench, set=set_id[:12]))
            for bench, set_id, name in told
        ]  # fmt: skip
        kit.show(kit.notice(el("span", "Kept: ", [el("span", door, " ") for door in doors])),
                 key="hard_told_shown")  # fmt: skip


def _faults() -> None:
    fault = st.session_state.get(FAULT)
    if fault:
        kit.show(kit.fault(fault), key="hard_fault_shown")

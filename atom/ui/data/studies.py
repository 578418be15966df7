"""The Data page's tab of studies: renaming, copying, deleting them, and undoing imports."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from atom.engine.jobs import Job
from atom.engine.studies import changes
from atom.errors import AtomError
from atom.records import Import, Study
from atom.ui import kit
from atom.ui.data import parts as data_parts
from atom.ui.data.studies_place import StudiesPlace
from atom.ui.data.working import DONE, FAULT, JOB, TOLD, begin, watch
from atom.ui.html import el
from atom.ui.shell import stores, team
from atom.views.data.page import free_name
from atom.views.data.study_table import StudyCard, imports_of
from atom.views.stores import StudyEntry

ASKING = "data_held_asking"
UNDOING = "data_held_undoing"


def ask_undo(import_id: str) -> None:
    """Ask whether an import is to be undone."""
    st.session_state[UNDOING] = import_id


def _undo(import_id: str, study_id: str, with_study: bool) -> None:
    store = stores.user_store()
    assert store is not None
    _act(lambda: changes.take_back(store, import_id, with_study=with_study))
    st.session_state.pop(DONE, None)
    if store.get(Study, study_id) is None:
        for name in ("of", "study"):
            st.query_params.pop(name, None)


def draw(around: StudiesPlace, found: tuple[StudyCard, ...]) -> None:
    """Draw all studies, the chosen one, and its imports."""
    if not found or around.entry is None:
        kit.show(kit.empty("Nothing is in here yet", "Bring files in on the first tab."),
                 key="data_none")  # fmt: skip
        return
    entry = around.entry
    kit.show(data_parts.studies(found, entry.key), key="data_studies")
    study = entry.study
    kit.show(el("h2", study.name, style="margin:14px 0 0", class_="text"), key="data_study")
    with st.container(horizontal=True, vertical_alignment="bottom", key="data_study_bar"):
        free = free_name(around.listed, f"{study.name} (copy)")
        name = st.text_input("Name", value=study.name if not entry.bundled else free,
                             key=f"data_rename_{entry.key}", max_chars=120)  # fmt: skip
        if not entry.bundled:
            team.button(
                "edit",
                "Rename",
                key="data_rename",
                on_click=_act,
                args=(lambda: _rename(entry, name),),
            )
        copy_as = name if name != study.name else free
        job = st.session_state.get(JOB)
        team.button("edit", "Copy", key="data_copy", disabled=job is not None,
                  on_click=lambda: begin("copy", _copying(entry, copy_as)))  # fmt: skip
        if not entry.bundled:
            team.button("delete", "Delete…", key="data_delete", type="tertiary",
                      on_click=lambda: st.session_state.update({ASKING: entry}))  # fmt: skip
    if job is not None and job[0] == "copy":
        watch(*job)
    if entry.bundled:
        kit.show(el("p", "This study came with Atomscope and is sealed. Your own copy of it can "
                    "be changed.", class_="quiet small"), key="data_sealed")  # fmt: skip
    records = imports_of(stores.store_of(entry), study.id)
    kit.show(el("h2", f"Imports ({len(records)})", style="margin:14px 0 0"), key="data_imports")
    for record in records:
        with st.container(horizontal=True, vertical_alignment="top", key=f"data_im_{record.id}"):
            kit.show(data_parts.import_row(record), key=f"data_import_{record.id}")
            if not entry.bundled:
                team.button(
                    "delete",
                    "Undo import…",
                    key=f"data_undo_{record.id}",
                    on_click=ask_undo,
                    args=(record.id,),
                )
    if not records:
        kit.show(el("p", "Nothing was imported into this study.", class_="quiet small"),
                 key="data_no_imports")  # fmt: skip


def _rename(entry: StudyEntry, name: str) -> str:
    return changes.rename(stores.store_of(entry), entry.study.id, name)


def _copying(entry: StudyEntry, name: str) -> Callable[[Job[object]], object]:
    target = stores.user_store(create=True)
    assert target is not None
    source = stores.store_of(entry)
    return lambda _job: changes.copy(source, target, entry.study.id, name)


def _act(what: Callable[[], str]) -> None:
    """Do something to a study, and tell what came of it; what was typed stays."""
    try:
        st.session_state[TOLD] = what()
    except AtomError as error:
        st.session_state[FAULT] = error.message


def draw_question() -> None:
    """Open the dialog that is waiting, if any; call it once at the page's end."""
    entry = st.session_state.pop(ASKING, None)
    if entry is not None:
        _delete(entry)
    import_id = st.session_state.pop(UNDOING, None)
    store = stores.user_store()
    record = store.get(Import, import_id) if store is not None and import_id else None
    study = store.get(Study, record.study_id) if store is not None and record else None
    if store is not None and record is not None and study is not None:
        _take_back(record, study, last=len(imports_of(store, study.id)) == 1)


@st.dialog("Undo this import?")
def _take_back(record: Import, study: Study, *, last: bool) -> None:
    kit.show(data_parts.taking_back(record, study), key="data_undo_words")
    with_study = last and st.checkbox(
        "Delete the study as well, if it holds nothing then", value=True, key="data_undo_study"
    )
    with st.container(horizontal=True):
        if team.button("delete", "Undo import", key="data_undo_yes", type="primary", on_click=_undo,
                     args=(record.id, study.id, with_study)):  # fmt: skip
            st.rerun()
        if st.button("Keep it", key="data_undo_no"):
            st.rerun()


@st.dialog("Delete this study?")
def _delete(entry: StudyEntry) -> None:
    kit.show(
        el(
            "div",
            el("p", el("span", entry.study.name, class_="strong text"),
               " goes from the list, with its runs, imports and experiments."),
            el("p", "Questions, answers and scores stay in the store, so that nothing is paid for "
               "twice. Export it first to keep it whole.", class_="quiet small"),
            style="display:flex;flex-direction:column;gap:8px",
        ),
        key="data_delete_words",
    )  # fmt: skip
    with st.container(horizontal=True):
        if team.button(
            "delete",
            "Delete it",
            key="data_delete_yes",
            type="primary",
            on_click=_really_delete,
            args=(entry,),
        ):
            st.rerun()
        if st.button("Keep it", key="data_delete_no"):
            st.rerun()


def _really_delete(entry: StudyEntry) -> None:
    _act(lambda: changes.delete(stores.store_of(entry), entry.study.id))
    for name in ("of", "study"):
        st.query_params.pop(name, None)

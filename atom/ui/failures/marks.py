"""Marks, flags and notes of the reader on the checkpoint in front of them, by key or by click."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from atom.engine.people import remarks
from atom.engine.people.annotations import annotator_name
from atom.errors import AtomError
from atom.ui import kit, work
from atom.ui.html import Html, el
from atom.ui.people.names import WHO
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here
from atom.ui.shell.sealed import copying, offer_copy
from atom.views.failures.remarks import PeopleRemarks
from atom.views.failures.sample import SampleView

COPY = "failures"
FAULT = "failures_fault"
_DONE = "failures_done"
_MOST_UNDO = 200
SCORES = (1, 2, 3, 4, 5)


def who() -> str:
    """Return the signed-in name, or the one given in this session; empty before that."""
    return team.name() or str(st.session_state.get(WHO, ""))


def panel(here: Here, view: SampleView, said: dict[str, PeopleRemarks]) -> Html | None:
    """Draw what the reader can say of the chosen checkpoint, and what was said.

    Args:
        said: what people said of its checkpoints.
    """
    mark = view.mark
    if mark is None or mark.checkpoint is None:
        return None
    there = said.get(mark.checkpoint.key, PeopleRemarks())
    if here.store.read_only:
        begin: list[Html] = [
            kit.small("This study is sealed."),
            _act("Make my own copy, to score, flag and note", "copy"),
        ]
    elif not who():
        begin = [
            el("label", "Your name, to score, flag and note", for_="mark_who", class_="small"),
            _field("mark_who", "who", "", 60, "any name", key=None),
        ]
    else:
        begin = _tools(there)
    return el(
        "section",
        el("div", begin, class_="row", style="gap:6px"),
        None if there.nothing else _told(there),
        class_="marks",
        aria_label="What people say of this checkpoint",
    )


def _tools(said: PeopleRemarks) -> list[Html]:
    me = who()
    mine = next((value for name, value, _ in said.scores if name == me), None)
    note = next((text for name, text in said.notes if name == me), "")
    flagged = me in said.flags
    return [
        el("span", "I'd score this", class_="small strong"),
        *(
            _act(str(value), f"score:{value}", key=str(value), on=value == mine,
                 tip=f"Score it {value} (key {value})")
            for value in SCORES
        ),
        _act("⚑ Flagged" if flagged else "⚐ Flag", "flag", key="f", on=flagged,
             tip="Flag it, or take the flag off (key F)"),
        _field("mark_note", "note", note, remarks.MOST_NOTE, "a note (N)", key="n"),
        _act("Undo", "undo", key="u", tip="Undo what you did last (key U)",
             off=not st.session_state.get(_DONE)),
        kit.small(f"as {me}"),
        _act("change", "anon", plain=True),
    ]  # fmt: skip


def _act(
    label: str,
    act: str,
    *,
    key: str | None = None,
    on: bool = False,
    tip: str | None = None,
    off: bool = False,
    plain: bool = False,
) -> Html:
    return el(
        "button",
        label,
        type="button",
        class_="plain" if plain else "button act on" if on else "button act",
        data_act=act,
        data_key=None if off else key,
        data_tip=tip,
        disabled=off,
        aria_pressed=("true" if on else "false") if key and act != "undo" else None,
    )


def _field(name: str, act: str, value: str, most: int, hint: str, *, key: str | None) -> Html:
    return el(
        "input",
        type="text",
        id=name,
        value=value,
        maxlength=most,
        placeholder=hint,
        data_say=act,
        data_key=key,
        aria_label=hint,
        class_="say",
        autocomplete="off",
    )


def _told(said: PeopleRemarks) -> Html:
    """Say who said what."""
    lines = [
        el("li", kit.strong(name), f" scores it {value}", kit.quiet(" (blind)") if blind else None)
        for name, value, blind in said.scores
    ]
    lines += [el("li", kit.strong(name), " flags it ⚑") for name in said.flags]
    lines += [
        el("li", kit.strong(name), ": ", el("span", text, class_="text"))
        for name, text in said.notes
    ]
    return el("ul", lines, class_="small told")


def acts(here: Here, view: SampleView | None) -> Callable[[str], None]:
    """Return what does what the reader asks for."""
    key = view.mark.checkpoint.key if view and view.mark and view.mark.checkpoint else None

    def act(text: str) -> None:
        st.session_state.pop(FAULT, None)
        try:
            _do(here, key, text)
        except AtomError as error:
            st.session_state[FAULT] = error.message

    return act


def _do(here: Here, key: str | None, text: str) -> None:
    verb, _, said = text.partition(":")
    if verb == "copy" and here.store.read_only:
        st.session_state[f"{COPY}_copy_job"] = work.start("copy", copying(here))
    elif verb == "who":
        st.session_state[WHO] = annotator_name(said)
    elif verb == "anon":
        st.session_state.pop(WHO, None)
    elif here.store.read_only or not who():
        return
    elif verb == "undo":
        done: list[remarks.RemarkChange] = st.session_state.get(_DONE, [])
        if done and _study(done[-1]) == here.entry.study.id:
            stores.brought(here.entry, remarks.undo(here.store, done.pop()).results)
    elif key is not None:
        _keep(here, _said(here, key, verb, said))


def _said(here: Here, key: str, verb: str, text: str) -> remarks.RemarkChange | None:
    study = here.entry.study.id
    if verb == "score" and text in map(str, SCORES):
        return remarks.score(here.store, study, key, who(), int(text))
    if verb == "flag":
        return remarks.flag(here.store, study, key, who())
    return remarks.note(here.store, study, key, who(), text) if verb == "note" else None


def _keep(here: Here, step: remarks.RemarkChange | None) -> None:
    if step is not None:
        stores.brought(here.entry, step.results)
        st.session_state[_DONE] = [*st.session_state.get(_DONE, []), step][-_MOST_UNDO:]


def _study(step: remarks.RemarkChange) -> str:
    said = step.now or step.before
    return said.study_id if said else ""


def copy_in_sight(here: Here) -> bool:
    """Draw how far the copy of a sealed study is; False where none was asked for."""
    if st.session_state.get(FAULT):
        kit.show(kit.fault(st.session_state[FAULT]), key="failures_went_wrong")
    if f"{COPY}_copy_job" not in st.session_state or not here.store.read_only:
        return False
    offer_copy(here, COPY, "", button="Make my own copy", fault=FAULT, filters=here.filters)
    return True

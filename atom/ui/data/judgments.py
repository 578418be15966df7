"""Judgments on the Data page: which column is what, on which scale, and the whole map as text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from atom.errors import AtomError
from atom.formats import ColumnMap, ImportFile
from atom.ui import kit
from atom.ui.data.mapping import chosen_map, keep_map
from atom.ui.data.parts import clipped
from atom.ui.html import Html, el, join
from atom.views.data.judgments import FIELDS, known_maps, map_form, map_of, with_field
from atom.views.data.page import FilePreview

_NONE = "as it stands"


def draw_needed(looked: FilePreview) -> None:
    """Say what the files still lack."""
    kit.show(
        kit.fault(looked.needed, title="Still needed before these judgments can come in"),
        key="data_needed",
    )


def draw(looked: FilePreview, files: tuple[ImportFile, ...], number: int, fault: str) -> None:
    """Draw which column is what, and the map as text; a change is read at once.

    Args:
        looked: the first rows.
        files: what is read.
        number: the form's round, part of the controls' keys.
        fault: the state's key under which a problem is told.
    """
    mapped = looked.mapped or ColumnMap()
    form = map_form(files, mapped)
    columns = form.columns or (() if mapped.files else looked.columns)
    touched = chosen_map(number) is not None
    with st.expander("How the marks are read", expanded=touched or bool(looked.needed)):
        if touched:
            st.button("As recognised", key=f"data_map_undo_{number}", icon=":material/undo:",
                      on_click=keep_map, args=(number, None),
                      help="Forgets what was said here.")  # fmt: skip
        if columns:
            _draw_fields(mapped, columns, number, fault)
        _draw_text(form.text, number, fault)


def _draw_fields(mapped: ColumnMap, columns: tuple[str, ...], number: int, fault: str) -> None:
    spots = st.columns(4)
    for at, (field, title, words) in enumerate(FIELDS):
        key = f"data_judged_{field}_{number}"
        now = getattr(mapped, field)
        st.session_state[key] = now if now in columns else None
        with spots[at % 4]:
            st.selectbox(title, columns, index=None, placeholder="none", key=key,
                         help=f"{words} ({field})",
                         on_change=partial(_change, mapped, field, key, number, fault))  # fmt: skip


def _draw_text(text: str, number: int, fault: str) -> None:
    known = known_maps()
    key, start = f"data_map_text_{number}", f"data_map_known_{number}"
    st.session_state[key] = text
    st.selectbox("Begin with the map of a known format", [_NONE, *known], key=start,
                 on_change=partial(_begin, known, start, number, fault))  # fmt: skip
    st.text_area("The whole map", key=key, height=260,
                 on_change=partial(_typed, key, number, fault),
                 help="YAML, a line a key: scale, wide, cell, each, tree, path, split, "
                      "criteria, files (docs/import.md). Read as you leave it.")  # fmt: skip
    kit.show(_scales(), key="data_scales_help")


def _scales() -> Html:
    lines = (
        ("scale: {from: 1, to: 10}", "numbers from nothing to all of it"),
        ("scale: {values: {bad: 0, good: 1}}", "words with their values"),
        ("scale: {from: 1, to: 4, na: [0, '']}", "0 and empty cells don't apply"),
        ("scale: {from: 0, to: 10, unreadable: ^guess}", "what is no mark, here or in the reason"),
    )
    rows = [el("p", el("code", code), f" {words}", class_="small quiet") for code, words in lines]
    return join(*rows)


def _keep(make: Callable[[], ColumnMap], number: int, fault: str) -> None:
    try:
        keep_map(number, make())
    except AtomError as error:
        st.session_state[fault] = error.message


def _change(mapped: ColumnMap, field: str, key: str, number: int, fault: str) -> None:
    value = st.session_state[key]
    _keep(lambda: with_field(mapped, field, value), number, fault)


def _begin(known: dict[str, str], key: str, number: int, fault: str) -> None:
    title = st.session_state[key]
    if title in known:
        _keep(lambda: map_of(known[title]), number, fault)


def _typed(key: str, number: int, fault: str) -> None:
    text = st.session_state[key]
    _keep(lambda: map_of(text), number, fault)


def first_marks(looked: FilePreview) -> Html:
    """Draw the first marks as they would come in."""
    return join(
        el(
            "p",
            f"The first {len(looked.marks):,} marks, as they would come in. Nothing is kept yet.",
            class_="quiet small",
        ),
        kit.grid(
            looked.marks,
            kit.MarkupColumn("Question", lambda one: clipped(one.question)),
            kit.MarkupColumn("Model", lambda one: clipped(one.model)),
            kit.MarkupColumn("Criterion", lambda one: clipped(one.criterion)),
            kit.MarkupColumn("Mark as written", lambda one: clipped(one.raw)),
            kit.MarkupColumn("Value, 0 to 1", lambda one: clipped(one.value)),
            kit.MarkupColumn("Judge", lambda one: clipped(one.judge)),
            label="First marks",
        ),
    )

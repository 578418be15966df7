"""Which column of a table is what: the form on the Data page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from atom.errors import AtomError, FormatError
from atom.formats import ColumnMap, ImportFile
from atom.ui import kit
from atom.ui.html import el
from atom.ui.plain import plain
from atom.views.data.mapping import (
    LAYOUT,
    MAPPED,
    MAPPED_MANY,
    MORE_COLUMNS,
    MORE_TEXTS,
    WIDE,
    WideModel,
    mapped_columns,
    refitted,
    wide_models,
    with_model,
)
from atom.views.data.page import FilePreview, table_columns

_FIRST = {None: "found out", 0: "0", 1: "1"}


def chosen_map(number: int) -> ColumnMap | None:
    """Return the map that the reader has made in the form's round; None = as recognised."""
    found = st.session_state.get(_map_key(number))
    return found if isinstance(found, ColumnMap) else None


def keep_map(number: int, columns: ColumnMap | None) -> None:
    """Keep a map for the form's round; None = as recognised."""
    st.session_state[_map_key(number)] = columns


def draw_needed(looked: FilePreview) -> None:
    """Say what a table still lacks."""
    mapped = looked.mapped or ColumnMap()
    title = "This table can't be read like this yet"
    if mapped.question is None:
        title = "Still needed: which column is the question? Choose it below"
    kit.show(kit.fault(looked.needed, title=title), key="data_needed")


def draw(looked: FilePreview, files: tuple[ImportFile, ...], number: int, fault: str) -> None:
    """Draw which column is what; a change is read at once.

    Args:
        looked: the first rows.
        files: the tables.
        number: the form's round, part of the controls' keys.
        fault: the state's key under which a problem is told.
    """
    form = _Form(looked, files, number, fault)
    touched = chosen_map(number) is not None
    # It stays open once something is chosen: it would close under the reader's hands.
    with st.expander("Which column is what", expanded=touched or bool(looked.needed)):
        if touched:
            st.button(
                "As recognised", key=f"data_map_undo_{number}", icon=":material/undo:",
                on_click=_forget, args=(number,),
                help="Forgets what was chosen here, and goes by what the columns look like.",
            )  # fmt: skip
        form.draw_fields()
        form.draw_models()
        form.draw_more()


def _map_key(number: int) -> str:
    return f"data_map_{number}"


def _forget(number: int) -> None:
    st.session_state.pop(_map_key(number), None)


class _Form:
    """The controls of one run of the page, and what they do to the map."""

    def __init__(
        self, looked: FilePreview, files: tuple[ImportFile, ...], number: int, fault: str
    ) -> None:
        self._columns = looked.columns
        self._mapped = looked.mapped or ColumnMap()
        self._given: Mapping[str, object] = self._mapped.model_dump()
        self._files = files
        self._number = number
        self._fault = fault

    def draw_fields(self) -> None:
        """Draw the fields of a question, of an answer, and of a column for each model."""
        spots = st.columns(4)
        for at, (field, title) in enumerate(MAPPED):
            with spots[at % 4]:
                self._column(field, title)
        many = st.columns(2)
        for at, (field, title) in enumerate(MAPPED_MANY):
            with many[at % 2]:
                self._several(field, title, getattr(self._mapped, field) or ())
        kit.show(
            el("p", "A question a row, with all models' answers beside it:", class_="quiet small"),
            key="data_wide",
        )
        wide = st.columns(2)
        for at, (field, title) in enumerate(WIDE):
            with wide[at]:
                self._several(field, title, tuple(getattr(self._mapped, field).values()))

    def draw_models(self) -> None:
        """Draw what each model with columns of its own is called, and which verdicts are its."""
        for at, model in enumerate(wide_models(self._mapped), 1):
            name_key = f"data_model_{model.key}_{self._number}"
            correct_key = f"data_verdict_{model.key}_{self._number}"
            st.session_state[name_key] = model.name
            st.session_state[correct_key] = self._there(model.correct)
            change = partial(self._change_model, model, name_key, correct_key)
            words = "Answers: " if model.response else "Verdicts without answers: "
            column = el("span", model.key, class_="text strong")
            about, one, two = st.columns(3, vertical_alignment="center")
            with about:
                kit.show(el("p", words, column, class_="small"), key=f"data_of_model_{at}")
            with one:
                st.text_input(
                    f"Name of model {plain(at)}", max_chars=120, key=name_key, on_change=change
                )
            with two:
                st.selectbox(f"Model {plain(at)}: right or wrong", self._columns, index=None,
                             placeholder="none", key=correct_key, on_change=change,
                             disabled=model.response is None)  # fmt: skip

    def draw_more(self) -> None:
        """Draw what few tables need."""
        with st.expander("More", key=f"data_more_{self._number}"):
            spots = st.columns(3)
            with spots[0]:
                key = self._key("correct_max")
                st.session_state[key] = self._mapped.correct_max
                st.number_input(
                    "Wholly right is", min_value=1e-6, step=1.0, format="%g", key=key,
                    on_change=partial(self._change, "correct_max"),
                    help="The number that means wholly right, where verdicts are numbers "
                         "(correct_max).",
                )  # fmt: skip
            with spots[1]:
                key = self._key("answer_index_from")
                st.session_state[key] = self._mapped.answer_index_from
                st.selectbox(
                    "The first choice is", list(_FIRST), format_func=_FIRST.__getitem__, key=key,
                    on_change=partial(self._change, "answer_index_from"),
                    help="What the first choice is called, where right answers are positions "
                         "(answer_index_from).",
                )  # fmt: skip
            for at, (field, title, words) in enumerate(MORE_COLUMNS, 2):
                with spots[at % 3]:
                    self._column(field, title, f"{words} ({field})")
            for at, (field, title, words) in enumerate(MORE_TEXTS, 1):
                with spots[at % 3]:
                    key = self._key(field)
                    st.session_state[key] = self._given[field] or ""
                    st.text_input(title, key=key, help=f"{words} ({field})",
                                  max_chars=1 if field == "delimiter" else 40,
                                  placeholder="none" if field == "tag_separator" else "found out",
                                  on_change=partial(self._change, field))  # fmt: skip

    def _column(self, field: str, title: str, words: str | None = None) -> None:
        key = self._key(field)
        st.session_state[key] = self._there(self._given[field])
        st.selectbox(plain(title), self._columns, index=None, placeholder="none", key=key,
                     help=plain(words), on_change=partial(self._change, field))  # fmt: skip

    def _several(self, field: str, title: str, now: tuple[str, ...]) -> None:
        key = self._key(field)
        st.session_state[key] = [one for one in now if one in self._columns]
        st.multiselect(plain(title), self._columns, key=key, placeholder="none",
                       on_change=partial(self._change, field))  # fmt: skip

    def _key(self, field: str) -> str:
        return f"data_col_{field}_{self._number}"

    def _there(self, column: object) -> object:
        return column if column in self._columns else None

    def _keep(self, make: Callable[[], ColumnMap]) -> None:
        try:
            st.session_state[_map_key(self._number)] = make()
        except AtomError as error:
            st.session_state[self._fault] = error.message

    def _change(self, field: str) -> None:
        value = st.session_state[self._key(field)]
        if isinstance(value, str) and field == "encoding":
            value = value.strip()
        self._keep(lambda: self._with(field, value))

    def _with(self, field: str, value: object) -> ColumnMap:
        made = mapped_columns({field: value}, self._mapped)
        if field not in LAYOUT:
            return made
        try:
            return refitted(made, table_columns(self._files, made))
        except FormatError:
            # Said under the files, where the first rows would stand.
            return made

    def _change_model(self, model: WideModel, name_key: str, correct_key: str) -> None:
        name, correct = st.session_state[name_key], st.session_state[correct_key]
        self._keep(lambda: with_model(self._mapped, model.key, name=name, correct=correct))

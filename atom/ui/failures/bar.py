"""The row above the list of failures: search, order, and what else narrows the list."""

from __future__ import annotations

from typing import Any

import streamlit as st

from atom.ui.failures import keep
from atom.ui.failures.groups import GROUPS
from atom.ui.failures.heat import GRID
from atom.ui.plain import plain
from atom.ui.shell.filter_box import set_filters, several
from atom.ui.shell.frame import Here
from atom.views.failures.find import PLACES, STATE_WORDS, TOLD, TOLD_WORDS, Place, Sort
from atom.views.failures.page import FailureList
from atom.views.filters import Filters
from taxonomy import Path, format_path

SORTS: dict[Sort, str] = {
    "loss": "Most weight lost",
    "failed": "Most failed checkpoints",
    "score": "Lowest score",
    "models": "Failed by most models",
    "spread": "Models differ most",
    "order": "The study’s order",
}
PLACE_WORDS: dict[Place, str] = {
    "question": "Questions",
    "criterion": "Criteria",
    "answer": "Answers",
    "reason": "Reasons",
}
_MOST_NODES = 300
LIST = "list"
LAYS = {LIST: "List", GRID: "Grid", GROUPS: "Groups"}


def draw(here: Here, view: FailureList) -> None:
    """Draw the row; what is set there lives in the address."""
    with st.container(key="find_row"):
        words, order, more, kept, lay = st.columns(
            [4, 2, 1.2, 1.4, 1.2], vertical_alignment="center"
        )
        with words:
            _words(here.filters)
        with order:
            _order(here.filters)
        with more:
            _more(here)
        with kept:
            keep.draw(here, view)
        with lay:
            _lay(here)


def _lay(here: Here) -> None:
    key = "find_lay"
    chosen = here.query.get("lay", LIST)
    st.session_state[key] = chosen if chosen in LAYS else LIST

    def changed() -> None:
        # A segmented control that is clicked again has no value.
        lay = st.session_state[key]
        if lay in LAYS and lay != LIST:
            st.query_params["lay"] = lay
        else:
            st.query_params.pop("lay", None)

    st.segmented_control("Lay out", list(LAYS), format_func=lambda one: LAYS[one], key=key,
                         label_visibility="collapsed", on_change=changed)  # fmt: skip


def _to(filters: Filters, **changes: Any) -> None:
    """Look for something else: the sample that was chosen may not be in that list."""
    find = filters.find.but(**changes)
    set_filters(filters.but(find=find, sample=None, criterion=None))


def _words(filters: Filters) -> None:
    key = "find_words"
    st.session_state[key] = filters.find.words
    st.text_input("Search", key=key, max_chars=280, label_visibility="collapsed",
                  placeholder="Search questions, answers, reasons, criteria   ( / )",
                  on_change=lambda: _to(filters, words=st.session_state[key]),
                  help='All words must stand in one text. "a phrase" keeps words together, '
                       "-word leaves out what holds it.")  # fmt: skip


def _order(filters: Filters) -> None:
    key = "find_sort"
    st.session_state[key] = filters.find.sort
    st.selectbox("Order", list(SORTS), format_func=lambda one: SORTS[one], key=key,
                 label_visibility="collapsed",
                 on_change=lambda: _to(filters, sort=st.session_state[key]))  # fmt: skip


def _more(here: Here) -> None:
    filters, find = here.filters, here.filters.find
    active = find.narrows - bool(find.terms) + len(find.places)
    label = f"Narrow ({active})" if active else "Narrow"
    with st.popover(plain(label), width="stretch"), st.container(key="find_grid"):
        _places(filters)
        names = {one.id: one.name for one in here.data.candidates}
        several("Models that fail here", "find_models", names, (find.fails, find.passes),
                lambda fails, passes: _found(filters, fails=fails, passes=passes))  # fmt: skip
        if here.data.has_process:
            nodes = {format_path(path): path for path in _nodes(here)}
            words = {text: " › ".join(path[-2:]) for text, path in nodes.items()}
            chosen = tuple(
                [format_path(path) for path in some] for some in (find.within, find.outside)
            )
            several("Capabilities", "find_nodes", words, (chosen[0], chosen[1]),
                    lambda within, outside: _found(
                        filters, within=tuple(nodes[one] for one in within),
                        outside=tuple(nodes[one] for one in outside)))  # fmt: skip
            several("What the judge says of a checkpoint", "find_states",
                    {str(state): words for state, words in STATE_WORDS.items()
                     if state != "apart" or here.data.table.apart is not None},
                    (find.states, find.stateless),
                    lambda states, stateless: _found(
                        filters, states=states, stateless=stateless))  # fmt: skip
            _told(filters)
        if find.narrows:
            st.button("Clear the search", key="find_clear", on_click=set_filters,
                      args=(filters.but(find=find.cleared),))  # fmt: skip


def _found(filters: Filters, **changes: Any) -> Filters:
    return filters.but(find=filters.find.but(**changes), sample=None, criterion=None)


def _places(filters: Filters) -> None:
    key = "find_places"
    st.session_state[key] = list(filters.find.places)
    st.pills("Search in", PLACES, format_func=lambda one: PLACE_WORDS[one], key=key,
             selection_mode="multi",
             on_change=lambda: _to(filters, places=tuple(st.session_state[key])),
             help="Everywhere, if none is chosen.")  # fmt: skip


def _told(filters: Filters) -> None:
    key = "find_told"
    st.session_state[key] = list(filters.find.told)
    st.pills("People", TOLD, format_func=lambda one: TOLD_WORDS[one].capitalize(), key=key,
             selection_mode="multi",
             on_change=lambda: _to(filters, told=tuple(st.session_state[key])),
             help="Checkpoints that anybody flagged, noted on or scored.")  # fmt: skip


def _nodes(here: Here) -> list[Path]:
    """Return the nodes that anything hangs under, parents before children."""
    paths = {leaf[:depth] for leaf in here.data.table.leaves for depth in range(1, len(leaf) + 1)}
    return sorted(paths)[:_MOST_NODES]

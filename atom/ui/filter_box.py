"""The filters, in a popover; what is set there lives in the URL."""

from __future__ import annotations

from typing import Literal, cast

import streamlit as st

from atom.analysis import Reading
from atom.ui import links
from atom.ui.glossary import meaning
from atom.views.accuracy import answered_by_all
from atom.views.filters import Filters, Show, label_name, processes_of, roots_of
from atom.views.study_data import StudyData, dataset_facet

SHOWS: dict[Show, str] = {
    "failed": "Failed (score 1-2)",
    "imperfect": "Not perfect (below 5)",
    "unscored": "Unscored or failed calls",
    "all": "Everything",
}
OUTCOMES = {"": "Any", "right": "Right answers only", "wrong": "Wrong answers only"}
PROCESSES = {"": "Any", "sound": "Sound (no step fails)", "flawed": "Flawed (a step fails)"}
TERSE = {"": "Any", "yes": "Terse answers only", "no": "Without terse answers"}
READ: dict[Reading, str] = {"strict": "Strict: all steps", "said": "Of what was said"}
_MOST_VALUES = 400
_ANY = ""


def _set(filters: Filters) -> None:
    held = links.clean_query({k: st.query_params.get_all(k) for k in st.query_params})
    local = {key: held[key] for key in links.LOCAL_KEYS if key in held and key != "at"}
    st.query_params.from_dict({**filters.to_query(), **local})


def draw(data: StudyData, filters: Filters) -> None:
    """Draw the button and the filters behind it."""
    label = f"Filters ({filters.active})" if filters.active else "Filters"
    with st.popover(label, width="stretch"):
        _reading(data, filters)
        _model(data, filters)
        _root(data, filters)
        _outcome(data, filters)
        _process(data, filters)
        _terse(data, filters)
        _judge(data, filters)
        _shared(data, filters)
        _show(filters)
        ours = dataset_facet(data.table.facets)
        for name in sorted(data.table.facets, key=lambda name: (name != ours, name)):
            values = data.table.facets[name].values
            if 2 <= len(values) <= _MOST_VALUES:
                _facet(name, values, filters)
        if filters.active:
            st.button("Clear filters", key="filter_clear", on_click=_set, args=(filters.cleared,))


def _model(data: StudyData, filters: Filters) -> None:
    names = {_ANY: "Any", **{c.id: c.name for c in data.candidates}}
    key = "filter_model"
    st.session_state[key] = filters.model if filters.model in names else _ANY

    def changed() -> None:
        _set(filters.but(model=st.session_state[key] or None))

    st.selectbox("Model", list(names), format_func=lambda i: names.get(i, i), key=key,
                 on_change=changed)  # fmt: skip


def _root(data: StudyData, filters: Filters) -> None:
    roots = roots_of(data)
    if len(roots) < 2:
        return
    key = "filter_root"
    st.session_state[key] = filters.root if filters.root in roots else _ANY

    def changed() -> None:
        _set(filters.but(root=st.session_state[key] or None))

    st.selectbox("Root of the tree", [_ANY, *roots], format_func=lambda i: i or "Any", key=key,
                 on_change=changed)  # fmt: skip


def _judge(data: StudyData, filters: Filters) -> None:
    if len(data.judges) < 2:
        return
    own = data.study.judge_id
    names = {
        _ANY: "The study's own",
        **{one.id: one.name for one in data.judges if one.id != own},
    }
    key = "filter_judge"
    st.session_state[key] = filters.judge if filters.judge in names else _ANY

    def changed() -> None:
        _set(filters.but(judge=st.session_state[key] or None))

    st.selectbox("Judge", list(names), format_func=lambda i: names.get(i, i), key=key,
                 on_change=changed)  # fmt: skip


def _outcome(data: StudyData, filters: Filters) -> None:
    if not data.has_outcome:
        return
    key = "filter_outcome"
    st.session_state[key] = filters.outcome or _ANY

    def changed() -> None:
        value = cast("Literal['right', 'wrong', '']", st.session_state[key])
        _set(filters.but(outcome=value or None))

    st.selectbox("Final answer", list(OUTCOMES), format_func=lambda i: OUTCOMES[i], key=key,
                 on_change=changed)  # fmt: skip


def _process(data: StudyData, filters: Filters) -> None:
    if not data.has_process:
        return
    key = "filter_process"
    st.session_state[key] = filters.process or _ANY

    def changed() -> None:
        value = cast("Literal['sound', 'flawed', '']", st.session_state[key])
        _set(filters.but(process=value or None))

    st.selectbox("Steps", list(PROCESSES), format_func=lambda i: PROCESSES[i], key=key,
                 on_change=changed)  # fmt: skip


def _shared(data: StudyData, filters: Filters) -> None:
    n = int(answered_by_all(data.table).sum())
    if data.table.n_models < 2 or not 0 < n < len(data.table.sample_ids):
        return
    key = "filter_shared"
    st.session_state[key] = filters.shared

    def changed() -> None:
        _set(filters.but(shared=st.session_state[key]))

    st.checkbox(f"Only the {n} samples that every model answered", key=key, on_change=changed)


def _terse(data: StudyData, filters: Filters) -> None:
    if not data.has_process or not (processes_of(data).terse.any() or filters.terse):
        return
    key = "filter_terse"
    st.session_state[key] = filters.terse or _ANY

    def changed() -> None:
        value = cast("Literal['yes', 'no', '']", st.session_state[key])
        _set(filters.but(terse=value or None))

    st.selectbox("Length", list(TERSE), format_func=lambda i: TERSE[i], key=key,
                 on_change=changed)  # fmt: skip


def _reading(data: StudyData, filters: Filters) -> None:
    """Let the reader choose how marks are read; it is no filter, and holds on every screen."""
    if not data.has_process:
        return
    key = "filter_reading"
    st.session_state[key] = filters.reading

    def changed() -> None:
        # A segmented control that is clicked again has no value.
        _set(filters.but(reading=st.session_state[key] or "strict"))

    st.segmented_control("Means are over", list(READ), format_func=lambda i: READ[i], key=key,
                         on_change=changed, help=meaning("of what was said"))  # fmt: skip


def _show(filters: Filters) -> None:
    key = "filter_show"
    st.session_state[key] = filters.show

    def changed() -> None:
        _set(filters.but(show=st.session_state[key]))

    st.selectbox("Show checkpoints", list(SHOWS), format_func=lambda i: SHOWS[i], key=key,
                 on_change=changed)  # fmt: skip


def _facet(name: str, values: tuple[str, ...], filters: Filters) -> None:
    key = f"filter_facet_{name}"
    chosen = next((value for facet, value in filters.tags if facet == name), _ANY)
    options = [_ANY, *values]
    st.session_state[key] = chosen if chosen in options else _ANY

    def changed() -> None:
        rest = tuple(tag for tag in filters.tags if tag[0] != name)
        value = st.session_state[key]
        _set(filters.but(tags=(*rest, (name, value)) if value else rest))

    st.selectbox(label_name(name), options, format_func=lambda i: i or "Any", key=key,
                 on_change=changed)  # fmt: skip

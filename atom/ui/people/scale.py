"""People's scale on any screen: what scores are called, and the Judge lab's panel about it."""

from __future__ import annotations

import math

import streamlit as st

from atom.ui import kit, links
from atom.ui.html import Html, el, join
from atom.ui.pages import JUDGE_LAB, find_screen
from atom.ui.people import scale_parts as people_scale_parts
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.people.scale import HALF, people_scale, scale_status
from atom.views.people.scale_csv import scale_csv
from atom.views.people.scale_rows import PeopleScale, ScaleStatus
from atom.views.people.score_labels import Labels, load_labels
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData

HALF_KEY = "half"
_INPUT = "people_scale_half"
_LEAST, _MOST = 0.5, 25.0
HUMAN_CHECK = "human-check"


def address(here: Here) -> str:
    """Return where the panel is."""
    return links.address(JUDGE_LAB.url_path, here.filters, tab="judge")


def labelling(here: Here) -> str | None:
    """Return where people label; None where there is no such screen."""
    found = find_screen(HUMAN_CHECK)
    return None if found is None else links.address(found.url_path, here.filters)


def status(here: Here) -> ScaleStatus:
    """Say whether the study's scores may be read on people's scale."""
    return scale_status(here.data, _labels_of(here), here.filters)


def scale(here: Here, half: float = HALF) -> PeopleScale:
    """Compute the panel, once for each revision, judge, filter and half-width."""
    return _scale(
        here.store.url,
        here.entry.study.id,
        (here.store.revision(), here.data.revision),
        here.data.judge.id if here.data.judge else "",
        (*here.filters.narrowing, here.filters.measure),
        half,
        _labels_of(here),
        here.data,
        here.filters,
    )


def column(here: Here) -> PeopleScale | None:
    """Return what stands beside the judge's scores on the Overview; None while nothing may."""
    found = status(here)
    return scale(here) if found.measure and found.models else None


def word(here: Here) -> Html:
    """Say on whose scale scores are: judge-scale, or the judge's with a door to people's."""
    found = status(here)
    if not found.models:
        return kit.term("judge-scale", kit.OWN_SCALE)
    own = kit.term("judge-scale", "by the judge")
    return join(own, " (", kit.door("on people’s scale", address(here)), ")")


def draw(here: Here) -> None:
    """Draw the judge's scores beside people's scale, with what more labels would bring."""
    found = status(here)
    if not found.measure:
        return
    if not found.checkpoints:
        kit.show(people_scale_parts.nobody(scale(here), labelling(here)), key="people_scale")
        return
    view = scale(here, _half())
    kit.show(people_scale_parts.answer(view, labelling(here)), key="people_scale_answer")
    with st.container(horizontal=True, vertical_alignment="bottom", key="stepbar_people_scale"):
        st.session_state[_INPUT] = view.half
        st.number_input("Intervals no wider than ± points of 100", _LEAST, _MOST, step=0.5,
                        format="%.1f", key=_INPUT, on_change=_asked, width=280)  # fmt: skip
        st.download_button(
            "On people’s scale (CSV)", data=lambda: scale_csv(view),
            file_name="people-scale.csv", mime="text/csv", key="people_scale_csv",
        )  # fmt: skip
    kit.show(
        el(
            "div",
            people_scale_parts.models(view),
            people_scale_parts.branches(view),
            people_scale_parts.capabilities(view, here.filters.model),
            people_scale_parts.differences(view),
            class_="stack",
        ),
        key="people_scale",
    )


def _half() -> float:
    """Read the half-width from the address; what makes no sense is the usual one."""
    held = st.query_params.get(HALF_KEY, "")
    try:
        value = float(held)
    except ValueError:
        return HALF
    return min(max(value, _LEAST), _MOST) if math.isfinite(value) else HALF


def _asked() -> None:
    value = st.session_state[_INPUT]
    st.query_params[HALF_KEY] = f"{HALF if value is None else value:g}"


def _labels_of(here: Here) -> Labels:
    return _labels(
        here.store.url,
        here.entry.study.id,
        (here.store.revision(), here.data.revision),
        here.data.judge.id if here.data.judge else "",
        here.store,
        here.data,
    )


@st.cache_resource(show_spinner=False, max_entries=16)
def _labels(
    url: str,
    study_id: str,
    revision: tuple[int, int],
    judge_id: str,
    _store: OpenStore,
    _data: StudyData,
) -> Labels:
    del url, study_id, revision, judge_id
    return load_labels(_store, _data)


@st.cache_resource(show_spinner="Holding the judge against people’s labels", max_entries=16)
def _scale(
    url: str,
    study_id: str,
    revision: tuple[int, int],
    judge_id: str,
    narrowing: tuple[object, ...],
    half: float,
    _read: Labels,
    _data: StudyData,
    _filters: Filters,
) -> PeopleScale:
    del url, study_id, revision, judge_id, narrowing
    return people_scale(_data, _read, _filters, half=half)

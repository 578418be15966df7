"""Asking a judge with and without the picture: who, on what, what it is shown, and for how much."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from atom.engine.blind.sight import (
    ANSWERS,
    MOST_ANSWERS,
    QUESTIONS,
    SightSpec,
    forecast_sight,
)
from atom.records import SHOWN_WORDS, Endpoint, PictureCondition, content_id
from atom.ui import kit, work
from atom.ui.shell.frame import Here

TAB = "sight"
SENT = "The questions with their pictures, and the answers to them."
_CHOICE: tuple[PictureCondition, ...] = ("none", "other", "caption")


def draw(here: Here, fault: str) -> None:
    """Draw the form.

    Args:
        fault: where an error's words are put in the session's state.
    """
    endpoints = work.endpoints_or_none("sight_endpoints", here.filters)
    if endpoints is None:
        return
    spec = _spec(here, endpoints)
    if spec is None:
        return
    key = content_id("sight", repr(spec), here.data.revision, here.store.url)
    found = work.forecasted(
        "sight", key, lambda: forecast_sight(here.store, spec, endpoints), "sight_forecast"
    )
    if found is not None:
        kit.show(kit.facts(found.facts), key="sight_forecast")
    work.start_button(
        here, "Ask the judge", spec, [endpoints[spec.judge]], key="sight_start", sent=SENT,
        fault=fault, then={"tab": TAB}, primary=True, disabled=found is None or not found.calls,
    )  # fmt: skip


def _spec(here: Here, endpoints: Mapping[str, Endpoint]) -> SightSpec | None:
    judges = [name for name, one in endpoints.items() if "judge" in one.roles]
    usual = work.usual_judge(here.store, here.data, endpoints)
    left, middle, right, last = st.columns([2, 1, 1, 1])
    with left:
        judge = st.selectbox(
            "The judge", judges, index=judges.index(usual) if usual in judges else None,
            key="sight_judge", placeholder="Choose a judge",
        )  # fmt: skip
    with middle:
        samples = st.number_input("Questions", 1, 100_000, QUESTIONS, step=10, key="sight_samples")
    with right:
        answers = st.number_input("Answers to each", 1, MOST_ANSWERS, ANSWERS, key="sight_answers")
    with last:
        budget = st.number_input("Spend at most (USD)", 0.0, 1_000_000.0, None, step=1.0,
                                 placeholder="no cap", key="sight_budget")  # fmt: skip
    shown = st.multiselect(
        "Marked with the picture, and", list(_CHOICE), default=list(_CHOICE), key="sight_shown",
        format_func=lambda name: SHOWN_WORDS[name],
        help="The picture is shown a second time, too, where the study holds no mark of this "
        "judge on the same answer: what moves then moves by chance.",
    )  # fmt: skip
    missing = "Choose a judge." if judge is None else "" if shown else "Choose what else it sees."
    if missing:
        kit.show(kit.notice(missing), key="sight_missing")
        return None
    return SightSpec(
        study_id=here.entry.study.id, judge=str(judge), samples=int(samples), answers=int(answers),
        shown=("picture", "again", *(name for name in _CHOICE if name in shown)), budget=budget,
    )  # fmt: skip

"""Asking a judge with and without the picture: who, on what, what it is shown, and for how much."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from atom.display import numbers
from atom.display.numbers import money
from atom.engine.blind.sight import (
    ANSWERS,
    MOST_ANSWERS,
    QUESTIONS,
    SightForecast,
    SightSpec,
    forecast_sight,
)
from atom.records import Endpoint, Shown, content_id
from atom.ui import kit, work
from atom.ui.html import Html, el
from atom.ui.shell.frame import Here
from atom.views.lab.sight import WORDS

TAB = "sight"
SENT = "The questions with their pictures, and the answers to them."
_CHOICE: tuple[Shown, ...] = ("none", "other", "caption")


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
        kit.show(price(found), key="sight_forecast")
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
        format_func=lambda name: WORDS[name],
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


def price(found: SightForecast) -> Html:
    """Say what a run would ask and cost."""
    if not found.calls:
        return kit.notice(
            f"All {numbers.count(found.answers, 'answer')} are marked in every way already: "
            "nothing is left to do."
        )
    parts = [f"{n:,} {WORDS[name]}" for name, n in found.by.items()]
    first = (
        f" {numbers.count(found.descriptions, 'picture is', 'pictures are')} described by the "
        "judge first."
        if found.descriptions
        else ""
    )
    own = (
        f" {numbers.count(found.own, 'answer has', 'answers have')} this judge’s mark in the "
        "study, which stands for the second look."
        if found.own
        else ""
    )
    alone = (
        f" For {numbers.count(found.alone, 'answer')} no other sample’s picture is fit."
        if found.alone
        else ""
    )
    return el(
        "div",
        el("p", f"{numbers.count(found.calls, 'call')}, {money(found.cost)}: "
           f"{numbers.count(found.answers, 'answer')} to "
           f"{numbers.count(found.samples, 'question')} of {found.eligible:,}.", class_="strong"),
        el("p", f"Marks {', '.join(parts)}.{first}{own}{alone}", class_="quiet small"),
    )  # fmt: skip

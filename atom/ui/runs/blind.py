"""The Runs page's panel for a blind control: the same questions without their pictures."""

from __future__ import annotations

import streamlit as st

from atom.display import numbers
from atom.display.numbers import money
from atom.engine.blind.ground import BlindForecast, BlindSpec, forecast_blind
from atom.records import Endpoint, content_id
from atom.ui import kit, work
from atom.ui.html import Html, el
from atom.ui.shell.frame import Here

FAULT = "blind_fault"
USUAL = 60
_LEAD = (
    "Candidates answer a random part of the questions without seeing the picture, and the judge, "
    "who sees it, marks them at the same criteria. Fingerprints then shows which capabilities need "
    "the picture, and which questions the text alone answers."
)


def draw(here: Here, judge: str, endpoints: dict[str, Endpoint], sent: str) -> None:
    """Draw the switch, and what it would ask and cost.

    Args:
        judge: who judges, as the form above says; empty = nobody is chosen.
        endpoints: endpoints by name.
        sent: what would go to a host that nobody has agreed to yet.
    """
    on = st.toggle("Without the picture", key=f"blind_on_{here.entry.key}", help=_LEAD)
    if not on:
        return
    with st.container(border=True, key="blind_panel"):
        kit.show(el("p", _LEAD, class_="quiet small"), key="blind_lead")
        spec = _spec(here, judge, endpoints)
        if spec is None:
            return
        key = content_id("blind forecast", repr(spec), here.data.revision, here.store.url)
        found = work.forecasted(
            "blind", key, lambda: forecast_blind(here.store, spec, endpoints), "blind_forecast"
        )
        if found is not None:
            kit.show(_told(found), key="blind_forecast")
        asked = [one for name in (judge, *spec.candidates) if (one := endpoints.get(name))]
        work.start_button(
            here, "Ask without the picture", spec, asked, key="blind_start", sent=sent,
            fault=FAULT, disabled=found is None or not found.calls,
        )  # fmt: skip
    if st.session_state.get(FAULT):
        kit.show(kit.fault(st.session_state[FAULT]), key="blind_fault_shown")


def _spec(here: Here, judge: str, endpoints: dict[str, Endpoint]) -> BlindSpec | None:
    there = {one.name for one in here.data.candidates}
    models = [
        name for name, one in endpoints.items() if "candidate" in one.roles and one.model in there
    ]
    left, middle, right = st.columns([2, 1, 1])
    with left:
        chosen = st.multiselect(
            "Models that answer without it", models, default=models, key="blind_models",
            help="At least three, to say what the text answers.",
        )  # fmt: skip
    with middle:
        n = st.number_input("Questions, at random", 1, 100_000, USUAL, step=10, key="blind_n")
    with right:
        budget = st.number_input("Spend at most (USD)", 0.0, 1_000_000.0, None, step=1.0,
                                 placeholder="no cap", key="blind_budget")  # fmt: skip
    missing = (
        "No model of this study has an endpoint: set one up whose model is named as here."
        if not models
        else "Choose models."
        if not chosen
        else ""
        if judge
        else "Choose a judge above."
    )
    if missing:
        kit.show(kit.notice(missing), key="blind_missing")
        return None
    return BlindSpec(
        study_id=here.entry.study.id,
        samples=int(n),
        candidates=tuple(chosen),
        judge=judge,
        budget=budget,
    )


def _told(found: BlindForecast) -> Html:
    if not found.calls:
        return kit.notice(
            f"All {numbers.count(found.samples, 'question')} are asked and marked already: nothing "
            "is left to do."
        )
    return el(
        "p",
        f"{numbers.count(found.samples, 'question')} of {found.eligible:,} that have pictures and "
        f"criteria: {numbers.count(found.answers, 'answer')} and "
        f"{numbers.count(found.scorings, 'marking')}, {money(found.cost)}",
        class_="strong",
    )

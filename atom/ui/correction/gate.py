"""The behavioural leak gate on demand: the model answers without the picture, with the hints that
it was given and without. What it found stands here, and what asking would cost.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import streamlit as st

from atom.analysis.correction.trials import BlindGate
from atom.analysis.intervals import MIN_CLUSTERS
from atom.display import numbers
from atom.display.numbers import money
from atom.engine.correction.gate import GatePlan, GateResult, prepare_gate, read_gate, run_gate
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.jobs import Job
from atom.records import Endpoint, content_id
from atom.ui import kit, work
from atom.ui.correction.experiments import ChosenExperiment
from atom.ui.html import Html, el, join
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here
from atom.views.correction.page import Results

LOOK = "gate forecast"
WORKING = "correction_gate_job"
TROUBLE = "correction_gate_trouble"
_SURE_FROM = 400
"""Answers from which finding no leak says something (METHODS B16)."""


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What the gate would ask, and what its stored replies say."""

    plan: GatePlan
    result: GateResult


def draw(here: Here, looked: ChosenExperiment, found: Results) -> None:
    """Draw the panel; nothing where no hint was given, or while more are being given."""
    if not found.gates.given or looked.alive:
        return
    name = found.experiment.id
    kit.show(
        join(
            el("h2", kit.term("leak gate", "Do the hints help without the picture?")),
            el("p", f"The gates above read the hints. This one tries them: {found.model} answers "
               "the same questions without the picture, once with the hints and once without.",
               class_="quiet small"),
        ),
        key="correction_gate_head",
    )  # fmt: skip
    held = st.session_state.get(WORKING)
    if held is not None and held[0] == name:
        _working(name, held[1])
        return
    gate = _look(here, found)
    if gate is None:
        return
    kit.show(panel(gate.plan, gate.result), key="correction_gate")
    if gate.plan.missing:
        _button(here, found, gate)
    trouble = st.session_state.get(TROUBLE)
    if trouble is not None and trouble[0] == name:
        kit.show(kit.fault(trouble[1]), key="correction_gate_trouble_shown")


# --- what it found --------------------------------------------------------------------------------


def sentence(verdict: BlindGate, *, missing: int) -> str:
    """Say in plain words what the gate found.

    Args:
        verdict: with and without hints, compared.
        missing: calls that are still to be made.
    """
    if not verdict.n:
        return "Not tried yet." if missing else "No pair of answers can be read, so nobody knows."
    begun = "So far: " if missing else ""
    if verdict.leaks:
        return (
            f"{begun}Without the picture the hints alone helped: they may give answers away. What "
            "hints fixed above may be that."
        )
    if verdict.n < MIN_CLUSTERS:
        return f"{begun}Too few answers to tell."
    rare = "" if verdict.n >= _SURE_FROM else f" Under {_SURE_FROM} answers a rare leak is missed."
    return f"{begun}No sign that the hints give answers away.{rare}"


def panel(plan: GatePlan, result: GateResult) -> Html:
    """Draw the verdict and the numbers behind it."""
    verdict = result.verdict
    glyph = "▼" if verdict.leaks else "·" if verdict.n >= MIN_CLUSTERS else "○"
    said = el(
        "p",
        el("span", glyph, class_="glyph", aria_hidden="true"),
        " ",
        sentence(verdict, missing=plan.missing),
        class_="strong text",
    )
    if plan.missing == 2 * len(plan.pairs):
        return said
    facts = []
    if verdict.n:
        facts = [
            (f"{verdict.n:,}", "answers compared"),
            (numbers.percent(100 * verdict.with_hint, verdict.n), "right with the hints"),
            (numbers.percent(100 * verdict.without, verdict.n), "right without them"),
            (f"{verdict.only_with:,}", "right only with the hints"),
            (f"{verdict.only_without:,}", "right only without them"),
            (numbers.p_value(verdict.mid_p), kit.term("McNemar", "McNemar's mid-p")),
        ]
    lacking = (
        "answers that aren't asked both ways yet, or can't be read"
        if plan.missing
        else "answers that can't be read by rule, left out"
    )
    facts.append((f"{result.undecided:,}", lacking))
    rows = [(el("dt", value, class_="num"), el("dd", words)) for value, words in facts]
    return join(said, el("dl", rows, class_="pairs", style="margin-top:4px"))


def price_words(calls: int, cost: float | None, endpoint: Endpoint) -> str:
    """Write `20 calls: $0.0040, to api.host`."""
    counted = numbers.count(calls, "call")
    if endpoint.is_probe and not endpoint.url:
        return f"{counted}: free, offline"
    return f"{counted}: {money(cost)}, to {endpoint.host}"


# --- asking ---------------------------------------------------------------------------------------


def _prepare(here: Here, found: Results) -> GatePlan:
    return prepare_gate(here.store, found.experiment, known_endpoints(stores.settings()))


def _look(here: Here, found: Results) -> Gate | None:
    """Read in the background what is there and what is missing, once for each revision."""
    key = content_id("gate", found.experiment.id, here.store.revision(), here.store.url)

    def read() -> Gate:
        plan = _prepare(here, found)
        return Gate(plan=plan, result=read_gate(here.store, plan))

    state = work.worked_out(LOOK, key, read, "Counting what it would ask…")
    if state is None:
        return None
    if state.result is None:
        words = state.error or "the count was stopped"
        kit.show(
            el("p", kit.told(f"Not possible: {words}"), class_="text small"), key="correction_gate"
        )
        return None
    return state.result


def _button(here: Here, found: Results, gate: Gate) -> None:
    plan, name = gate.plan, found.experiment.id
    if here.entry.bundled:
        words = "This study is sealed: its replies can't be added to."
        kit.show(el("p", words, class_="quiet small"), key="correction_gate_sealed")
        return

    def start() -> None:
        st.session_state.pop(TROUBLE, None)
        st.session_state[WORKING] = (name, _start(here, found))

    def ask() -> None:
        what = (
            f"The questions of {numbers.count(len(plan.pairs), 'answer')} and the hints would "
            "be sent, without pictures"
        )
        work.agree_then(here, [plan.endpoint], what, start)

    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_gate"):
        team.button("run", "Try the hints without the picture", key="gate_start", on_click=ask)
        kit.show(
            el("p", price_words(plan.missing, plan.cost, plan.endpoint), class_="quiet small"),
            key="gate_price",
        )


def _start(here: Here, found: Results) -> str:
    async def work_(job: Job[object]) -> object:
        del job
        # It is prepared anew: the reader may have agreed to a host since the count.
        plan = await asyncio.to_thread(_prepare, here, found)
        return await run_gate(here.store, plan)

    return work.begin("leak gate", work_)


def _working(name: str, job_id: str) -> None:
    st.button(
        "Stop", key="gate_stop", on_click=work.halt, args=(job_id,), help="What has come is kept."
    )

    state = work.ended(job_id, "The model answers without the picture…")
    if state is None:
        return
    st.session_state.pop(WORKING, None)
    work.forget(LOOK)
    result: GateResult | None = state.result
    trouble = state.error if result is None else result.message
    if trouble:
        st.session_state[TROUBLE] = (name, trouble)
    st.rerun()

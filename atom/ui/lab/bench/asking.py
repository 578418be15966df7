"""Asking a judge on a benchmark's set: the form, its price, the start, how far it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from atom.engine.bench.judging import BenchForecast, BenchSpec, forecast_bench
from atom.engine.consent import ConsentNeeded, ConsentQuestion, give_consent, is_remote
from atom.engine.control import RunStatus, list_runs, start_work
from atom.engine.endpoints.configured import known_endpoints
from atom.errors import AtomError
from atom.judgebench.base import Bench
from atom.records import BenchSet, Endpoint, content_id
from atom.ui import kit, work
from atom.ui.html import el, join
from atom.ui.lab.bench.told import FAULT
from atom.ui.plain import plain
from atom.ui.runs import control as run_control
from atom.ui.runs import parts as runs_parts
from atom.ui.shell import stores, team
from atom.views.runs.page import run_view, task_words
from atom.views.stores import OpenStore

FORMS = "lab_forms"


ASKING = "lab_asking"


@dataclass(frozen=True, kw_only=True)
class BenchAskForm:
    """What the form asks for."""

    judge: str = ""
    scorer: str = ""
    votes: int = 1
    parts: tuple[str, ...] = ()
    limit: int | None = None
    budget: float | None = None

    def spec(self, record: BenchSet) -> BenchSpec:
        """Say it to the engine."""
        return BenchSpec(
            set_id=record.id,
            judge=self.judge,
            scorer=self.scorer or None,
            votes=self.votes,
            parts=self.parts,
            limit=self.limit,
            budget=self.budget,
        )


def _first_form(bench: Bench, record: BenchSet, endpoints: Mapping[str, Endpoint]) -> BenchAskForm:
    judges = [name for name, endpoint in endpoints.items() if "judge" in endpoint.roles]
    real = next((name for name in judges if not endpoints[name].is_probe), "")
    judge = "probe-judge" if record.synthetic and "probe-judge" in judges else real
    return BenchAskForm(
        judge=judge,
        scorer=judge if bench.scored & set(bench.usual) else "",
        votes=bench.votes,
        parts=bench.usual,
    )


def draw(store: OpenStore, bench: Bench, record: BenchSet) -> None:
    """Draw the form that asks a judge, its price and its start."""
    endpoints = work.endpoints_or_none("lab_endpoints")
    if endpoints is None:
        return
    held: dict[str, BenchAskForm] = st.session_state.setdefault(FORMS, {})
    form = held.setdefault(record.id, _first_form(bench, record, endpoints))

    def typed(field: str, key: str) -> None:
        value = st.session_state[key]
        if field == "parts":
            value = tuple(part for part in bench.parts if part in (value or ()))
        elif field == "votes":
            value = value or 1
        elif field in ("judge", "scorer"):
            value = value or ""
        changes: dict[str, Any] = {field: value}
        held[record.id] = replace(held[record.id], **changes)

    def bound(field: str, value: object) -> dict[str, Any]:
        key = f"lab_{field}_{record.id[:12]}"
        st.session_state[key] = value
        return {"key": key, "on_change": typed, "args": (field, key)}

    judges = [name for name, endpoint in endpoints.items() if "judge" in endpoint.roles]
    widths = [2, 2, 1, 1, 1] if bench.scored else [2, 1, 1, 1]
    first, *rest = st.columns(widths)
    third, fourth, fifth = rest[-3:]
    with first:
        st.selectbox("Judge that is examined", judges, index=None, placeholder="Choose a judge",
                     **bound("judge", form.judge if form.judge in judges else None))  # fmt: skip
    if bench.scored:
        with rest[0]:
            st.selectbox(
                "Who scores what it writes", judges, index=None, placeholder="nobody",
                **bound("scorer", form.scorer if form.scorer in judges else None),
                help="Critiques and corrections are texts: somebody has to mark them.",
            )  # fmt: skip
    with third:
        st.number_input("Votes a question", 1, 99, step=1, **bound("votes", form.votes),
                        help="Each question is put so often; the majority counts.")  # fmt: skip
    with fourth:
        st.number_input(
            "At most items", 1, 1_000_000, step=1, placeholder="all", **bound("limit", form.limit)
        )
    with fifth:
        st.number_input("At most USD", 0.0, 1_000_000.0, step=1.0, placeholder="no cap",
                        **bound("budget", form.budget))  # fmt: skip
    if len(bench.parts) > 1:
        st.pills("What is asked", list(bench.parts), selection_mode="multi",
                 format_func=lambda part: plain(bench.parts[part]),
                 **bound("parts", list(form.parts)))  # fmt: skip
    form = held[record.id]
    problem = "" if form.judge else "Choose a judge."
    if not form.parts:
        problem = problem or "Choose what is asked."
    if problem:
        kit.show(kit.notice(problem), key="lab_problem")
        return
    if bench.scored & set(form.parts) and not form.scorer:
        words = "Nobody scores what the judge writes, so some figures will stay empty."
        kit.show(kit.notice(words), key="lab_no_scorer")
    spec = form.spec(record)
    found = _forecast(store, spec, endpoints)
    _start_button(store, record, spec, found)


def _forecast(
    store: OpenStore, spec: BenchSpec, endpoints: Mapping[str, Endpoint]
) -> BenchForecast | None:
    """Draw the forecast; it is worked out in the background, once for each form and revision."""
    key = content_id("lab forecast", repr(spec), store.revision(), store.url)
    found = work.forecasted(
        "lab forecast",
        key,
        lambda: forecast_bench(store, spec, endpoints),
        "lab_forecast_shown",
    )
    if found is None:
        return None
    kit.show(kit.facts(found.facts(endpoints)), key="lab_forecast_shown")
    return found


def _start_button(
    store: OpenStore, record: BenchSet, spec: BenchSpec, found: BenchForecast | None
) -> None:
    def start() -> None:
        st.session_state.pop(FAULT, None)
        try:
            start_work(store, spec, stores.settings())
        except ConsentNeeded as needed:
            st.session_state[ASKING] = (store, record, needed.questions, start)
        except AtomError as error:
            st.session_state[FAULT] = error.message

    nothing = found is None or not (sum(found.calls.values()) or found.later)
    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_lab_start"):
        team.button(
            "run", "Start", key="lab_start", type="primary", on_click=start, disabled=nothing
        )
        words = "It goes on when you close this page; Stop loses nothing that is done."
        kit.show(el("p", words, class_="quiet small"), key="lab_start_words")


def draw_progress(store: OpenStore, record: BenchSet) -> bool:
    """Draw the run that works on the set, or that was left; return whether one works."""
    runs = list_runs(store, record.id)
    status = next((one for one in runs if one.alive), None) or (runs[0] if runs else None)
    if status is None or (
        not status.alive and status.run.state == "done" and not status.run.failed
    ):
        return False
    run_id, alive = status.run.id, status.alive

    def watch(seen: RunStatus) -> None:
        who = el("p", f"{seen.run.judge}: {task_words(seen.run)}", class_="quiet small text")
        pace = runs_parts.pace(run_control.watched(seen), "verdicts")
        kit.show(join(who, pace), key=f"lab_run_{run_id}")

    run_control.follow(store, status, watch)

    def ask(go: Callable[[], None]) -> None:
        questions = _open_questions(record, status)
        if questions:
            st.session_state[ASKING] = (store, record, questions, go)
        else:
            go()

    run_control.bar(
        store, run_view(status.run, alive=alive), key="lab_run", fault=FAULT, ask=ask,
        more=lambda: st.button("Show the figures so far", key="lab_refresh"),
    )  # fmt: skip
    return alive


def _open_questions(record: BenchSet, status: RunStatus) -> tuple[ConsentQuestion, ...]:
    """Return what a run that goes on would send to hosts that nobody has agreed to yet."""
    endpoints = known_endpoints(stores.settings())
    asked = [endpoints[n] for n in status.run.asked if n in endpoints]
    return tuple(
        ConsentQuestion(
            host=one.host, endpoints=(one.name,), pictures=record.n_items, texts=record.n_items
        )
        for one in {e.name: e for e in asked}.values()
        if is_remote(one) and one.host not in record.consent
    )


@st.dialog("Send this off this computer?")
def consent(
    store: OpenStore,
    record: BenchSet,
    questions: tuple[ConsentQuestion, ...],
    then: Callable[[], None],
) -> None:
    """Ask whether a set may be sent to hosts that nobody has agreed to yet."""
    kit.show(
        el(
            "div",
            [el("p", f"{one.sentence}.", class_="text") for one in questions],
            el("p", "The agreement is kept with this set, and goes when it is deleted.",
               class_="quiet small"),
            style="display:flex;flex-direction:column;gap:8px",
        ),
        key="lab_consent_words",
    )  # fmt: skip

    def agree() -> None:
        give_consent(store, record.id, [one.host for one in questions])
        then()

    with st.container(horizontal=True):
        if team.button(
            "consent", "Agree and send", key="lab_consent_yes", type="primary", on_click=agree
        ):
            st.rerun()
        if st.button("Send nothing", key="lab_consent_no"):
            st.rerun()

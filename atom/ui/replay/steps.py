"""Live replay: the bar of steps, each with its price, and all of them in a row."""

from __future__ import annotations

import streamlit as st

from atom.engine.endpoints.price import cost_words
from atom.errors import AtomError
from atom.records import Endpoint, total_cost
from atom.ui import kit, work
from atom.ui.html import el
from atom.ui.plain import plain
from atom.ui.replay import parts as replay_parts
from atom.ui.replay.bench import (
    ReplayBench,
    Step,
    left_to_do,
    price,
    stop,
    take,
    who,
    why_not,
)
from atom.ui.shell import team

_LABELS: dict[Step, str] = {
    "replay": "Solve",
    "criteria": "Extract criteria",
    "mapping": "Place in the tree",
    "answer": "Ask the model",
    "scoring": "Score the answer",
}


def step_bar(
    bench: ReplayBench,
    step: Step,
    *,
    candidate: Endpoint | None = None,
    done: bool = False,
    label: str | None = None,
) -> bool:
    """Draw a step's button with its price, or its progress with Stop while it is under way.

    Returns:
        Whether it is under way.
    """
    if bench.step == step:
        _running(bench, step, candidate)
        return True
    problem = why_not(bench, step, candidate)
    if bench.errors.get(step):
        kit.show(kit.fault(bench.errors[step]), key=f"step_fault_{step}")
    if not done:
        text = label or _LABELS[step]
        with st.container(horizontal=True, vertical_alignment="center", key=f"stepbar_{step}"):
            team.button(
                "run",
                plain(text),
                key=f"take_{step}",
                disabled=bool(problem) or bench.busy,
                on_click=take,
                args=(bench, [step], candidate),
            )
            words = problem or price_line(bench, step, candidate)
            kit.show(el("p", kit.told(words), class_="quiet small"), key=f"price_{step}")
    if bench.notes.get(step):
        kit.show(kit.notice(bench.notes[step]), key=f"step_note_{step}")
    return False


def price_line(bench: ReplayBench, step: Step, candidate: Endpoint | None = None) -> str:
    """Say what a step would cost."""
    asked = who(bench, step, candidate)
    try:
        tokens, cost = price(bench, step, candidate)
    except AtomError as error:
        return error.message
    return work.price_words(tokens, cost, asked)


def _running(bench: ReplayBench, step: Step, candidate: Endpoint | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"stepbar_{step}"):
        st.button("Stop", key="stop_step", on_click=stop, args=(bench,))
    words = price_line(bench, step, candidate)

    @st.fragment(run_every=work.LOOK_EVERY)
    def look() -> None:
        job = work.jobs().get(bench.job)
        state = job.snapshot() if job is not None else None
        if state is None or state.status != "running":
            st.rerun()
        if state.seconds >= work.PATIENCE:
            kit.show(
                replay_parts.growing(step, state.text, state.seconds, words),
                key=f"growing_{step}",
            )

    look()


def _left(bench: ReplayBench, candidate: Endpoint | None) -> list[Step]:
    able = candidate is not None and (not candidate.is_probe or bench.live.sample.synthetic)
    asks = bench.answers.mode == "ask" and able
    return left_to_do(bench, asks=asks)


def _take_left(bench: ReplayBench, candidate: Endpoint | None) -> None:
    """Take what is left now: a menu may have changed since the button was drawn."""
    take(bench, _left(bench, candidate), candidate)


def run_all(bench: ReplayBench, candidate: Endpoint | None) -> None:
    """Draw the button that takes all steps that are left, with their price together."""
    steps = _left(bench, candidate)
    if bench.busy:
        _all_running(bench)
        return
    if not steps:
        kit.show(el("p", "All steps are done.", class_="quiet small"), key="run_all_words")
        return
    try:
        prices = [price(bench, step, candidate) for step in steps]
    except AtomError as error:
        kit.show(kit.fault(error), key="run_all_words")
        return
    tokens = sum(number for number, _ in prices)
    asked = [who(bench, step, candidate) for step in steps]
    words = (
        cost_words(tokens, total_cost(cost for _, cost in prices), asked)
        if tokens
        else "nothing to pay: stored replies are used again"
    )
    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_all"):
        team.button(
            "run",
            "Run all steps",
            key="run_all",
            type="primary",
            on_click=_take_left,
            args=(bench, candidate),
        )
        kit.show(
            el("p", f"{len(steps):,} steps: {words}", class_="quiet small"), key="run_all_words"
        )


def _all_running(bench: ReplayBench) -> None:
    """Say what is under way, with Stop; looks on by itself, whether or not the step has a bar."""
    words = f"{_LABELS[bench.step]} … the rest follows" if bench.step and bench.queue else "Working"
    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_all"):
        kit.show(el("p", words, class_="quiet small", role="status"), key="run_all_words")
        st.button("Stop", key="stop_all", on_click=stop, args=(bench,))

    @st.fragment(run_every=work.LOOK_EVERY)
    def watch() -> None:
        job = work.jobs().get(bench.job)
        if job is None or job.snapshot().status != "running":
            st.rerun()

    watch()

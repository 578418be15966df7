"""Testing an endpoint: what it can do, asked of it live."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

import streamlit as st

from atom.engine.endpoints.configured import (
    EndpointTest,
    built_in,
    keep_boxes,
    try_endpoint,
    what_a_test_sends,
)
from atom.engine.jobs import Job
from atom.errors import AtomError
from atom.records import BoxConvention, Endpoint
from atom.ui import kit, work
from atom.ui.html import Html, el
from atom.ui.settings.found import TOLD
from atom.ui.shell import stores, team
from atom.views.settings.page import (
    CHECK_WORDS,
    kept_words,
)

FORM = "settings_form"
TESTS = "settings_tests"
TEST_ASKED = "settings_test_asked"
TEST_AGREED = "settings_test_agreed"


_STATE = {"passed": "✓", "failed": "!", "skipped": "·"}


def draw(endpoint: Endpoint) -> None:
    """Draw the test of an endpoint, and what it found."""
    held: dict[str, str] = st.session_state.setdefault(TESTS, {})
    name = f"{endpoint.name}:{endpoint.base_url}:{endpoint.model}:{endpoint.key_env}"

    agreed: set[str] = st.session_state.setdefault(TEST_AGREED, set())
    question = what_a_test_sends(endpoint)

    def start(*, yes: bool = False) -> None:
        if yes:
            agreed.add(name)
        st.session_state.pop(TEST_ASKED, None)
        if question and name not in agreed:
            st.session_state[TEST_ASKED] = name
            return

        async def work_(job: Job[object]) -> object:
            del job
            return await try_endpoint(endpoint, agreed=[endpoint.host])

        ask: Callable[[Job[object]], Awaitable[object]] = work_
        job = work.jobs().start("test", ask)
        held[name] = job.id
        job.wait(work.PATIENCE)

    job = work.jobs().get(held.get(name, ""))
    state = job.snapshot() if job is not None else None
    running = state is not None and state.status == "running"
    where = (
        f"as it was saved: asks {endpoint.host} what a run asks, with a drawn picture"
        if endpoint.url
        else "offline, free"
    )
    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_test"):
        if running and job is not None:
            st.button("Stop", key="endpoint_test_stop", on_click=job.cancel)
        else:
            team.button("endpoints", "Test", key="endpoint_test", on_click=start)
        kit.show(el("p", where, class_="quiet small"), key="test_words")
    if not running and st.session_state.get(TEST_ASKED) == name:
        words = f"{question} to {endpoint.host}."
        kit.show(kit.notice(words), key="test_question")
        with st.container(horizontal=True, key="stepbar_test_question"):
            team.button(
                "endpoints",
                "Agree and send",
                key="endpoint_test_yes",
                type="primary",
                on_click=start,
                kwargs={"yes": True},
            )
            st.button("Send nothing", key="endpoint_test_no", on_click=st.session_state.pop,
                      args=(TEST_ASKED, None))  # fmt: skip
    elif running:
        _testing(held[name])
    elif state is not None and state.status == "done":
        result = cast("EndpointTest", state.result)
        kit.show(test_result(result), key="test_result")
        found = result.boxes
        own = endpoint.name not in {one.name for one in built_in()}
        if found is not None and found != endpoint.boxes and own:
            team.button("endpoints", "Keep what was found about boxes", key="endpoint_keep_boxes",
                      on_click=_keep_boxes, args=(endpoint.name, found))  # fmt: skip
    elif state is not None and state.status == "failed":
        kit.show(kit.fault(state.error), key="test_result")


def _keep_boxes(name: str, boxes: BoxConvention) -> None:
    try:
        keep_boxes(stores.settings(), name, boxes)
    except AtomError as error:
        st.session_state[TOLD] = error.message
        return
    st.session_state.get(FORM, {}).pop(name, None)
    st.session_state[TOLD] = kept_words(name, boxes)


def _testing(job_id: str) -> None:
    @st.fragment(run_every=work.LOOK_EVERY)
    def look() -> None:
        job = work.jobs().get(job_id)
        state = job.snapshot() if job is not None else None
        if state is None or state.status != "running":
            st.rerun()
        kit.show(el("p", f"Asking… {state.seconds:.0f} s", class_="quiet small"), key="testing")

    look()


def test_result(test: EndpointTest) -> Html:
    """Draw what a test found."""
    cells = []
    for check in test.checks:
        mark = el("span", _STATE[check.state], class_="quiet", aria_hidden="true")
        cells += [
            kit.strong(mark, " ", CHECK_WORDS[check.name]),
            el("span", check.state, class_="status weak" if check.state == "failed" else "quiet"),
            el("span", kit.told(check.words), class_="text"),
        ]
    adapted = [
        el("p", "What the server didn't take", class_="strong small"),
        el("ul", [el("li", line, class_="text") for line in test.adapted], class_="small"),
    ]
    return el("div", el("p", test.verdict, class_="strong", style="margin-bottom:6px"),
              el("div", cells, class_="checks small"),
              adapted if test.adapted else [])  # fmt: skip

"""Watching a run and its buttons, wherever a run shows: stop, resume, ask again what failed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

import streamlit as st

from atom.engine.control import RunStatus, resume_run, run_status, stop_run
from atom.engine.endpoints.configured import known_endpoints
from atom.errors import AtomError, UsageError
from atom.records import Endpoint
from atom.ui import kit, work
from atom.ui.html import el
from atom.ui.runs import parts as runs_parts
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here
from atom.views.runs.page import ProgressSample, RunView, run_view
from atom.views.runs.together import sharing_now
from atom.views.stores import OpenStore

SEEN = "runs_seen"
STOPPING = "runs_stopping"
"""Runs that were told to stop, until they have: the job that tells each."""
EVERY = 0.5
"""Seconds between two looks at a run that works."""
_WATCHED = 40
"""Looks by which the pace is measured."""


def watched(status: RunStatus, label: str = "", store: OpenStore | None = None) -> RunView:
    """Look at a run and remember how far it was, so that its pace is known."""
    held: dict[str, deque[ProgressSample]] = st.session_state.setdefault(SEEN, {})
    seen = held.setdefault(status.run.id, deque(maxlen=_WATCHED))
    if seen and status.run.done < seen[-1].done:
        seen.clear()
    seen.append(ProgressSample(moment=time.monotonic(), done=status.run.done))
    run, known = status.run, priced()
    sharing: tuple[str, ...] = ()
    if store is not None and status.alive:
        sharing = sharing_now(store, run, known)
    return run_view(
        run, alive=status.alive, seen=list(seen), label=label, endpoints=known, sharing=sharing
    )


def priced() -> dict[str, Endpoint]:
    """Return the endpoints by name; none where their file can't be read, which Settings says."""
    try:
        return known_endpoints(stores.settings())
    except AtomError:
        return {}


def follow(store: OpenStore, status: RunStatus, draw: Callable[[RunStatus], None]) -> None:
    """Draw a run, again and again while it works, and the page anew when it has ended.

    Args:
        store: the store that holds the run.
        draw: draws how it is then.
    """
    known = [status]

    def look() -> None:
        try:
            now = known.pop() if known else run_status(store, status.run.id)
        except UsageError:  # it is gone
            st.rerun()
        if status.alive and not now.alive:
            st.rerun()
        draw(now)

    st.fragment(look, run_every=EVERY if status.alive else None)()


def in_a_tab(here: Here, run_id: str, *, counted: str, key: str, fault: str, sent: str) -> bool:
    """Draw a run while it works, or what can be done with it when it broke off.

    Args:
        counted: what its pace counts: "calls", "votes".
        key: the beginning of its places' keys.
        fault: where an error's words are put in the session's state.
        sent: what would be sent to a host that nobody has agreed to yet.

    Returns:
        Whether it works.
    """
    status = run_status(here.store, run_id)
    if status.run.state == "done" and not status.run.failed:
        return False

    def draw(now: RunStatus) -> None:
        kit.show(el("div", runs_parts.pace(watched(now), counted)), key=f"{key}_run")

    follow(here.store, status, draw)
    buttons(
        here, watched(status), key=f"{key}_run", fault=fault, sent=sent,
        more=lambda: st.button("Show what is there so far", key="tab_refresh"),
    )  # fmt: skip
    return status.alive


def buttons(
    here: Here, view: RunView, *, key: str, fault: str, sent: str, more: Callable[[], object]
) -> None:
    """Draw what can be done with a study's run.

    Args:
        key: the beginning of the buttons' keys.
        fault: where an error's words are put in the session's state.
        sent: what would be sent to a host that nobody has agreed to yet.
        more: draws what the page adds beside *Stop*.
    """
    run = view.run

    def ask(go: Callable[[], None]) -> None:
        endpoints = known_endpoints(stores.settings())
        asked = [endpoints[n] for n in run.asked if n in endpoints]
        work.agree_then(here, asked, sent, go)

    bar(here.store, view, key=key, fault=fault, ask=ask, more=more)


def bar(
    store: OpenStore,
    view: RunView,
    *,
    key: str,
    fault: str,
    ask: Callable[[Callable[[], None]], None],
    more: Callable[[], object],
) -> None:
    """Draw the buttons of a run in any store.

    Args:
        store: the store that holds the run.
        key: the beginning of the buttons' keys.
        fault: where an error's words are put in the session's state.
        ask: does what it's given, after asking whether data may be sent where it must.
        more: draws what the page adds beside *Stop*.
    """
    run = view.run

    def act(what: Callable[[], object]) -> None:
        st.session_state.pop(fault, None)
        try:
            what()
        except AtomError as error:
            st.session_state[fault] = error.message

    def again(*, retry: bool = False, unscored: bool = False) -> None:
        def go() -> None:
            act(
                lambda: resume_run(
                    store,
                    run.id,
                    stores.settings(),
                    retry_failed=retry,
                    retry_unscored=unscored,
                )
            )

        ask(go)

    with st.container(horizontal=True, key=f"stepbar_{key}"):
        _stop(store, view, key, fault, more)
        if view.can_resume:
            team.button("run", "Resume", key=f"{key}_resume", type="primary",
                      on_click=lambda: act(lambda: again()))  # fmt: skip
        if view.can_retry_unscored:
            team.button(
                "run",
                "Ask again what the server's fault left unscored",
                key=f"{key}_unscored",
                on_click=lambda: act(lambda: again(unscored=True)),
            )
        if view.can_retry:
            team.button("run", "Try the failed again", key=f"{key}_retry",
                      on_click=lambda: act(lambda: again(retry=True)))  # fmt: skip


def _stop(
    store: OpenStore, view: RunView, key: str, fault: str, more: Callable[[], object]
) -> None:
    """Draw *Stop*, or that it was pressed."""
    run_id = view.run.id
    stopping: dict[str, str] = st.session_state.setdefault(STOPPING, {})

    def halt() -> None:
        # The run's own process may be writing: the click doesn't wait for its turn.
        st.session_state.pop(fault, None)
        stopping[run_id] = work.start("stop", lambda: stop_run(store, run_id))

    told = work.state_of(stopping[run_id]) if run_id in stopping else None
    if told is not None and (told.status == "failed" or not view.can_stop):
        del stopping[run_id]
        if told.status == "failed":
            st.session_state[fault] = told.error
    if not view.can_stop:
        return
    if run_id in stopping:
        kit.show(el("p", "Stopping: calls in flight end first.", class_="quiet", role="status"),
                 key=f"{key}_stopping")  # fmt: skip
        return
    team.button("run", "Stop", key=f"{key}_stop", on_click=halt)
    more()

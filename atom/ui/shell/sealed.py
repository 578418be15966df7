"""What a screen that adds to a study offers where the study is sealed: a copy of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from atom.engine.jobs import JobState
from atom.engine.studies.new import own_copy
from atom.records import Study
from atom.ui import kit, work
from atom.ui.plain import plain
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.stores import open_store

LOOK_EVERY = 1.5
"""Seconds between two looks at a copy, which holds all of a study's records."""


def copying(here: Here) -> Callable[[], Study]:
    """Return what makes the reader's own copy of a study, or finds it; for a job.

    The store is opened there, too: making a new one takes longer than a click may wait.
    """
    source, study_id, place = here.store, here.entry.study.id, stores.settings().store

    def copy() -> Study:
        with open_store(place, False) as own:
            return own_copy(source, study_id, own)

    return copy


def offer_copy(
    here: Here,
    name: str,
    why: str,
    *,
    button: str,
    fault: str,
    keep: Sequence[str] = (),
    filters: Filters | None = None,
) -> None:
    """Offer a copy of the sealed study, make it with its progress in sight, and go there.

    Args:
        name: begins the keys of what is drawn.
        why: why the study itself won't do, and what the copy will be.
        button: the button's words.
        fault: where in the session the page keeps what went wrong.
        keep: keys of the address that go along.
        filters: the chain and the filters that go along, if any.
    """
    at = f"{name}_copy_job"

    def offer() -> None:
        kit.show(kit.empty("The bundled study is sealed", why), key=f"{name}_sealed")
        button_of(here, button, at=at, key=f"{name}_copy", type="primary")

    state = made(here, at, offer)
    if state is None:
        return
    study = state.result
    if study is not None:
        query = {key: here.query[key] for key in keep if key in here.query}
        chain = {} if filters is None else filters.to_query()
        st.query_params.from_dict({**chain, "study": study.id, **query})
    else:
        st.session_state[fault] = state.error
    st.rerun()


def button_of(here: Here, label: str, *, at: str, **how: Any) -> None:
    """Draw the button that begins to copy a study.

    Args:
        label: what stands on it.
        at: where in the session the job is kept.
        how: further options of the button.
    """

    def copy() -> None:
        st.session_state[at] = work.start("copy", copying(here))

    team.button("edit", plain(label), on_click=copy, **how)


def made(here: Here, at: str, offer: Callable[[], None]) -> JobState[Study] | None:
    """Draw the offer of a copy, or how far the copy is; return how it ended, once it has.

    A click on the offer draws these alone anew, so that the answer doesn't wait for the page.

    Args:
        at: where in the session the job is kept.
        offer: draws the offer, with `button_of`.
    """
    job_id = st.session_state.get(at)
    if job_id is not None and work.state_of(job_id).status != "running":
        del st.session_state[at]
        return work.state_of(job_id)

    words = f"Copying {here.entry.study.name}…"

    @st.fragment
    def draw() -> None:
        job_id = st.session_state.get(at)
        if job_id is None:
            offer()
        elif work.ended(job_id, words, every=LOOK_EVERY) is not None:
            st.rerun()

    draw()
    return None

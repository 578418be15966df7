"""What a screen that adds to a study offers where the study is sealed: a copy of one's own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import streamlit as st

from atom.engine.jobs import Job
from atom.engine.own import own_copy
from atom.records import Study
from atom.ui import kit, stores, work
from atom.ui.frame import Here
from atom.ui.html import el

LOST = "the server started anew: try again"


def offer_copy(
    here: Here, name: str, why: str, *, button: str, fault: str, keep: Sequence[str] = ()
) -> None:
    """Offer a copy of the sealed study, make it with its progress in sight, and go there.

    Args:
        here: the study.
        name: begins the keys of what is drawn.
        why: why the study itself won't do, and what the copy will be.
        button: the button's words.
        fault: where in the session the page keeps what went wrong.
        keep: keys of the address that go along.
    """
    at = f"{name}_copy_job"
    job_id = st.session_state.get(at)
    if job_id is not None:
        _copying(here, job_id, at, name, fault, keep)
        return
    kit.show(kit.empty("The bundled study is sealed", why), key=f"{name}_sealed")

    def copy() -> None:
        store = stores.user_store(create=True)
        assert store is not None

        async def work_(job: Job[object]) -> object:
            del job
            return await asyncio.to_thread(own_copy, here.store, here.entry.study.id, store)

        ask: Callable[[Job[object]], Awaitable[object]] = work_
        st.session_state[at] = work.jobs().start("copy", ask).id

    st.button(button, key=f"{name}_copy", type="primary", on_click=copy)


def _copying(here: Here, job_id: str, at: str, name: str, fault: str, keep: Sequence[str]) -> None:
    @st.fragment(run_every=work.LOOK_EVERY)
    def look() -> None:
        job = work.jobs().get(job_id)
        state = job.snapshot() if job is not None else None
        if state is not None and state.status == "running":
            words = f"Copying {here.entry.study.name}… {state.seconds:.0f} s"
            kit.show(el("p", words, class_="quiet"), key=f"{name}_copying_shown")
            return
        st.session_state.pop(at, None)
        if state is not None and state.status == "done":
            query = {key: here.query[key] for key in keep if key in here.query}
            st.query_params.from_dict({"study": cast("Study", state.result).id, **query})
        else:
            st.session_state[fault] = state.error if state else LOST
        st.rerun()

    look()

"""What a screen that adds to a study offers where the study is sealed: a copy of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from atom.engine.studies.new import own_copy
from atom.records import Study
from atom.ui import kit, work
from atom.ui.plain import plain
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here
from atom.views.filters import Filters


def copying(here: Here) -> Callable[[], Study]:
    """Return what makes the reader's own copy of a study, or finds it; for a job."""
    store = stores.user_store(create=True)
    assert store is not None
    source, study_id = here.store, here.entry.study.id
    return lambda: own_copy(source, study_id, store)


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
        here: the study.
        name: begins the keys of what is drawn.
        why: why the study itself won't do, and what the copy will be.
        button: the button's words.
        fault: where in the session the page keeps what went wrong.
        keep: keys of the address that go along.
        filters: the chain and the filters that go along, if any.
    """
    at = f"{name}_copy_job"
    job_id = st.session_state.get(at)
    if job_id is None:
        kit.show(kit.empty("The bundled study is sealed", why), key=f"{name}_sealed")

        def copy() -> None:
            st.session_state[at] = work.start("copy", copying(here))

        team.button("edit", plain(button), key=f"{name}_copy", type="primary", on_click=copy)
        return
    state = work.ended(job_id, f"Copying {here.entry.study.name}…")
    if state is None:
        return
    st.session_state.pop(at, None)
    study: Study | None = state.result
    if study is not None:
        query = {key: here.query[key] for key in keep if key in here.query}
        chain = {} if filters is None else filters.to_query()
        st.query_params.from_dict({**chain, "study": study.id, **query})
    else:
        st.session_state[fault] = state.error
    st.rerun()

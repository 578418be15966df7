"""Work of the Data page that goes on in the background, and what is kept of it when it ends."""

from __future__ import annotations

import asyncio
import atexit
import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import streamlit as st

from atom.engine.imports.attaching import AttachReport
from atom.engine.imports.importing import ImportResult
from atom.engine.jobs import Job
from atom.exports.archive_read import ArchiveImported
from atom.formats import (
    ImportReport,
)
from atom.ui import kit, work
from atom.ui.data import pictures as data_pictures
from atom.ui.html import el

ROUND = "data_held_round"
"""Grows when files have come in, so that the form is empty again."""
JOB = "data_held_job"
CHECKED = "data_held_checked"
DONE = "data_held_done"
HELD_UP = "data_held_up"
"""Why an import stopped before anything came in, and of which files."""
FAULT = "data_held_fault"
TOLD = "data_held_told"
FILES = "data_held_files"


@st.cache_resource(show_spinner=False)
def passing_folder() -> Path:
    """Return a folder for what passes through; it goes with the server."""
    folder = tempfile.mkdtemp(prefix="atomscope-data-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@dataclass(frozen=True, kw_only=True)
class HeldUp:
    """An import that stopped before anything came in.

    Attributes:
        signature: of which files.
        doubts: what must be accepted; empty for a conflict.
        conflict: what stands under the same ids; empty for doubts.
    """

    signature: str
    doubts: tuple[str, ...] = ()
    conflict: str = ""


def begin(
    what: str, do: Callable[[Job[object]], object], stop: threading.Event | None = None
) -> None:
    """Start work in the background; one at a time."""

    async def work_(job: Job[object]) -> object:
        return await asyncio.to_thread(do, job)

    st.session_state.pop(DONE, None)
    st.session_state[JOB] = (what, work.begin(f"data {what}", work_), stop)


_DOING = {
    "check": "Checking every row",
    "bring": "Importing",
    "export": "Writing the file",
    "attach": "Looking for the pictures",
    "copy": "Copying the study, with its pictures",
}


def watch(what: str, job_id: str, stop: threading.Event | None) -> None:
    """Show how far it is; when it has ended, keep what came of it and draw the page anew."""

    @st.fragment(run_every=work.LOOK_EVERY)
    def progress() -> None:
        state = work.state_of(job_id)
        if state.status == "running":
            last = state.text.rstrip("\n").rsplit("\n", 1)[-1]
            words = f"{_DOING[what]}… {last} · {state.seconds:.0f} s"
            kit.show(el("p", words, class_="quiet", role="status"), key=f"data_wait_{job_id}")
            if stop is not None:
                st.button("Stop", key="data_stop", on_click=stop.set)
            return
        st.session_state.pop(JOB, None)
        if state.status != "done":
            st.session_state[FAULT] = state.error or "it was stopped"
        elif what == "check":
            st.session_state[CHECKED] = state.result
        elif what == "export":
            st.session_state[FILES] = state.result
        elif what == "copy":
            st.session_state[TOLD] = state.result
        elif what == "attach":
            data_pictures.took(cast("AttachReport", state.result))
        elif isinstance(state.result, HeldUp):
            st.session_state[HELD_UP] = state.result
        else:
            st.session_state.pop(HELD_UP, None)
            st.session_state[DONE] = _done(cast("ImportResult | ArchiveImported", state.result))
            st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
        st.rerun()

    progress()


def _done(result: ImportResult | ArchiveImported) -> tuple[str, str, ImportReport | None, str]:
    words = f"“{result.study.name}” is in"
    if isinstance(result, ImportResult):
        return words, result.study.id, result.report, result.record.id
    if result.kept:
        words += f"; {sum(result.kept.values()):,} records stay as this store had them"
    if result.consent:
        words += f"; before anything goes to {', '.join(result.consent)} you will be asked again"
    return words, result.study.id, None, ""

"""The Runs page's panel for runs by batches: write files, send them, take replies in."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from atom.display import numbers
from atom.engine.batch.files import Parcel, list_parcels, requests_file
from atom.engine.batch.sending import (
    WrittenBatches,
    fetch_batches,
    open_batch_run,
    send_batches,
    write_batch,
)
from atom.engine.batch.taking import BatchReplies, take_replies
from atom.engine.study.spec import RunSpec
from atom.errors import AtomError
from atom.files import write_file
from atom.records import Endpoint
from atom.ui import kit, work
from atom.ui.html import Html, el
from atom.ui.plain import plain
from atom.ui.shell import team
from atom.ui.shell.frame import Here

JOB = "batch_job"
TOLD = "batch_told"
FAULT = "batch_fault"
FILES = "batch_files"
_SHOWN = 12
_OFFERED = 4
_STATES = {
    "written": "written, not sent from here",
    "sent": "at the service",
    "taken": "taken in",
    "dropped": "forgotten",
}
_LEAD = (
    "A batch often costs half and may take a day. It holds all that can be asked now; what builds "
    "on its replies goes into the next, so a new study takes three or four. Write the files, let "
    "them be answered, take the replies in, and write again until nothing is left."
)


def draw(here: Here, spec: RunSpec, endpoints: dict[str, Endpoint], sent: str) -> None:
    """Draw the panel.

    Args:
        spec: what the form above asks for.
        endpoints: endpoints by name.
        sent: what would go to a host that nobody has agreed to yet.
    """
    parcels = [p for p in list_parcels(here.store) if p.study_id == here.entry.study.id]
    busy = st.session_state.get(JOB)
    with st.expander("As a batch: half the price, up to a day", expanded=bool(parcels or busy)):
        kit.show(el("p", _LEAD, class_="quiet small"), key="batch_lead")
        if busy is not None:
            _working(*busy)
            return
        _buttons(here, spec, endpoints, sent, parcels)
        _say()
        if parcels:
            kit.show(parcel_table(parcels[-_SHOWN:][::-1]), key="batch_table")
            _downloads(here, parcels)
            _uploads(here)


def _start(title: str, do: Callable[[], object]) -> None:
    """Do something in the background; the panel tells when it's over."""
    st.session_state.pop(FAULT, None)
    st.session_state.pop(TOLD, None)
    st.session_state[JOB] = (title, work.start(title, do))


def _working(title: str, job_id: str) -> None:
    state = work.ended(job_id, f"{title}…")
    if state is None:
        return
    st.session_state.pop(JOB, None)
    if state.status == "done":
        st.session_state[TOLD] = state.result
    else:
        st.session_state[FAULT] = state.error
    st.rerun()


def _say() -> None:
    if st.session_state.get(FAULT):
        kit.show(kit.fault(st.session_state[FAULT]), key="batch_fault_shown")
    for number, words in enumerate(st.session_state.get(TOLD) or []):
        kit.show(kit.notice(words), key=f"batch_told_{number}")


def _buttons(
    here: Here,
    spec: RunSpec,
    endpoints: dict[str, Endpoint],
    sent: str,
    parcels: list[Parcel],
) -> None:
    store = here.store

    def write() -> None:
        def do() -> list[str]:
            row = open_batch_run(store, spec, endpoints)
            again = spec.retry_failed
            return written_words(
                asyncio.run(write_batch(store, row.id, endpoints, retry_failed=again))
            )

        _start("Writing what is to be asked", do)

    def agreed() -> None:
        names = [name for name in (spec.judge, *spec.candidates) if name in endpoints]
        work.agree_then(here, [endpoints[name] for name in names if name], sent, write)

    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_batch"):
        team.button("run", "Write files", key="batch_write", on_click=agreed)
        _service_buttons(here, endpoints, parcels)


def _service_buttons(here: Here, endpoints: dict[str, Endpoint], parcels: list[Parcel]) -> None:
    store = here.store

    def send() -> None:
        def do() -> list[str]:
            told: list[str] = []
            for run_id in dict.fromkeys(p.run_id for p in parcels):
                asyncio.run(send_batches(store, endpoints, run_id=run_id, tell=told.append))
            return told

        _start("Sending", do)

    def fetch() -> None:
        def do() -> list[str]:
            told: list[str] = []
            for run_id in dict.fromkeys(p.run_id for p in parcels):
                looked = fetch_batches(store, endpoints, run_id=run_id, tell=told.append)
                _, taken = asyncio.run(looked)
                told += taken.words if taken.lines else []
            return told or ["Nothing is over yet."]

        _start("Looking for replies", do)

    if any(p.state == "written" and p.endpoint.url for p in parcels):
        team.button("run", "Send to the service", key="batch_send", on_click=send)
    if any(p.state == "sent" for p in parcels):
        team.button("run", "Look for replies", key="batch_fetch", on_click=fetch)


def written_words(written: WrittenBatches) -> list[str]:
    """Say what was written."""
    words = []
    if written.parcels:
        asked = numbers.count(written.requests, "request")
        files = numbers.count(len(written.parcels), "file")
        words.append(f"{asked} written into {files}. Nothing was sent yet.")
    if written.waiting:
        waits = numbers.count(written.waiting, "request waits", "requests wait")
        words.append(f"{waits} in files written before: take their replies in first.")
    if not words:
        words.append(
            "Nothing is left to ask." if written.run.state == "done" else written.run.message
        )
    return words


def parcel_table(parcels: list[Parcel]) -> Html:
    """Draw the batches, the newest first."""
    return kit.grid(
        parcels,
        kit.MarkupColumn("Batch", lambda parcel: el("span", parcel.name, class_="text")),
        kit.MarkupColumn("Asks", lambda parcel: el("span", parcel.endpoint.name, class_="text")),
        kit.number("Requests", lambda parcel: f"{parcel.requests:,}"),
        kit.MarkupColumn(
            "State",
            lambda parcel: el(
                "span",
                kit.told(": ".join(x for x in (_STATES[parcel.state], parcel.message) if x)),
                class_="text small",
            ),
            width="34%",
        ),
        kit.number("Replies", lambda parcel: f"{parcel.replies:,}"),
        kit.number("Failed", lambda parcel: f"{parcel.failures:,}"),
        kit.number("Missing", lambda parcel: f"{parcel.missing:,}"),
        label="Batches of this study",
    )


def _downloads(here: Here, parcels: list[Parcel]) -> None:
    """Offer the files that wait to be uploaded by hand."""
    open_ = [p for p in parcels if p.state == "written"]
    for parcel in open_[:_OFFERED]:
        file = requests_file(here.store, parcel)
        st.download_button(
            f"Download {plain(file.name)} ({parcel.n_bytes / 1e6:.1f} MB)",
            # Read when it is clicked: a file may hold 190 MB.
            file.read_bytes,
            file_name=file.name,
            mime="application/jsonl",
            key=f"batch_file_{parcel.name}",
        )
    if len(open_) > _OFFERED:
        words = f"{len(open_) - _OFFERED:,} more files are in {file.parent}."
        kit.show(el("p", words, class_="quiet small text"), key="batch_more")


def _uploads(here: Here) -> None:
    """Take files of replies in."""
    st.file_uploader(
        "Files of replies and errors, in any order", accept_multiple_files=True, key=FILES
    )
    given = st.session_state.get(FILES) or []

    def take() -> None:
        held = [(one.name, one.getvalue()) for one in given]

        def do() -> list[str]:
            with tempfile.TemporaryDirectory(prefix="atomscope-") as folder:
                files = []
                for number, (_, data) in enumerate(held):
                    files.append(Path(folder) / f"{number}.jsonl")
                    write_file(files[-1], data, sync=False)
                taken: BatchReplies = take_replies(here.store, files)
            more = ["Write files again to go on."] if taken.parcels else []
            return [*taken.words, *more]

        _start("Taking replies in", do)

    if given:
        team.button("run", "Take them in", key="batch_take", on_click=take)


def safely(draw_: Callable[[], None]) -> None:
    """Draw the panel; a batch that can't be read doesn't take the page down with it."""
    try:
        draw_()
    except AtomError as error:
        kit.show(kit.fault(error), key="batch_unreadable")

"""The Data page's third tab: pictures for samples that miss theirs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from atom.engine.imports.attaching import (
    AttachReport,
    MissingPicture,
    attach_pictures,
    missing_pictures,
)
from atom.engine.jobs import Job
from atom.errors import AtomError
from atom.formats.picture_stock import stock_of
from atom.records import Study
from atom.ui import kit
from atom.ui.data.chosen_files import typed_paths
from atom.ui.html import Html, el
from atom.ui.shell import stores, team
from atom.views.stores import OpenStore, StudyEntry

FAULT = "data_held_fault"
ROUND = "data_held_attach_round"
RESULT = "data_held_attached"
_LISTED = 60
Begin = Callable[[str, Callable[[Job[object]], object]], None]


@st.cache_data(show_spinner=False, max_entries=4)
def _missing(
    key: str, revision: int, _store: OpenStore, study_id: str
) -> tuple[MissingPicture, ...]:
    del key, revision
    return missing_pictures(_store, study_id)


def draw(entry: StudyEntry, begin: Begin, under_way: bool) -> None:
    """Draw what is missing, the form, and what came of the last look.

    Args:
        begin: starts a piece of work; it shows how far that is.
        under_way: whether one is at work.
    """
    store = stores.store_of(entry)
    missing = _missing(entry.key, store.revision(), store, entry.study.id)
    kit.show(_headline(entry.study, missing), key="data_attach_head")
    done: AttachReport | None = st.session_state.get(RESULT)
    if done is not None and done.study.id == entry.study.id:
        kit.show(result(done), key="data_attach_result")
    if not missing:
        return
    if entry.bundled:
        kit.show(el("p", "This study is sealed. Copy it, and attach pictures to your own copy.",
                    class_="quiet small"), key="data_attach_sealed")  # fmt: skip
        return
    number = st.session_state.setdefault(ROUND, 0)
    one, two = st.columns([1.3, 1], gap="large")
    with one:
        st.file_uploader(
            "Pictures, or a zip of them", accept_multiple_files=True, key=f"data_attach_up_{number}"
        )
    with two:
        st.text_area("or folders and zip files on this computer, one a line", height=70,
                     key=f"data_attach_paths_{number}",
                     placeholder="/data/images")  # fmt: skip
        kit.show(
            el("p", "A file is matched by its name, else by the question's id (17.png, with "
               "several pictures 17_1.png), else by its hash.", class_="quiet small"),
            key="data_attach_how",
        )  # fmt: skip
    given = (
        st.session_state.get(f"data_attach_up_{number}")
        or (st.session_state.get(f"data_attach_paths_{number}") or "").strip()
    )
    if not under_way:
        with st.container(horizontal=True, key="stepbar_attach"):
            team.button("edit", "Attach", key="data_attach", type="primary", disabled=not given,
                      on_click=_start, args=(entry, number, begin, True))  # fmt: skip
            st.button("Check first", key="data_attach_check", disabled=not given,
                      on_click=_start, args=(entry, number, begin, False),
                      help="Says which picture would go where, and keeps nothing.")  # fmt: skip
    if done is None or not done.kept:
        kit.show(_list(missing), key="data_attach_missing")


def _start(entry: StudyEntry, number: int, begin: Begin, keep: bool) -> None:
    held = st.session_state
    uploads = [(one.name, one.getvalue()) for one in held.get(f"data_attach_up_{number}") or []]
    typed = held.get(f"data_attach_paths_{number}") or ""
    held.pop(RESULT, None)
    store, study = stores.store_of(entry), entry.study

    def work(job: Job[object]) -> object:
        places: list[Path] = typed_paths(typed)
        return attach_pictures(
            store,
            study,
            stock_of(places, uploads),
            keep=keep,
            on_places=lambda n, total: job.say(f"{n:,} of {total:,} samples looked at\n"),
        )

    try:
        typed_paths(typed)
    except AtomError as error:
        held[FAULT] = error.message
        return
    begin("attach", work)


def took(done: AttachReport) -> None:
    """Keep what came of a look; the form is empty again when pictures came in by it."""
    st.session_state[RESULT] = done
    if done.kept and done.attached:
        st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1


def _headline(study: Study, missing: tuple[MissingPicture, ...]) -> Html:
    name = el("span", study.name, class_="strong text")
    if not missing:
        return el("p", name, " has all of its pictures.")
    samples = len({one.sample_id for one in missing})
    many = f"{len(missing):,} picture{'s' * (len(missing) != 1)}"
    return el(
        "p",
        name,
        f" misses {many}, in {samples:,} sample{'s' * (samples != 1)}. A sample can be judged "
        "when it has all of its own; its answers and its id stay as they are.",
    )


def _list(missing: tuple[MissingPicture, ...]) -> Html:
    names = list(dict.fromkeys(one.words for one in missing))
    more = [f"and {len(names) - _LISTED:,} more"] if len(names) > _LISTED else []
    return kit.fold(
        f"Expected names ({len(names):,})",
        el("ul", [el("li", name, class_="text") for name in (*names[:_LISTED], *more)],
           class_="small"),
        opened=len(names) <= 20,
    )  # fmt: skip


def result(done: AttachReport) -> Html:
    """Say what came of a look, with what is left to do."""
    lists = [
        kit.fold(
            f"{title} ({len(lines):,})",
            el(
                "ul",
                [el("li", line, class_="text") for line in lines[:_LISTED]],
                el("li", f"and {len(lines) - _LISTED:,} more") if len(lines) > _LISTED else None,
                class_="small",
            ),
            opened=len(lines) <= 12,
        )
        for title, lines in done.lists
    ]
    return el("div", kit.notice(f"{done.headline}."), lists, class_="stack", style="gap:6px")

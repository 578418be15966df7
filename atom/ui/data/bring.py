"""The Data page's tab that brings files in: choosing, checking, importing them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

import streamlit as st

from atom.engine.imports.importing import import_reading
from atom.engine.jobs import Job
from atom.errors import AtomError, ConflictError, DoubtError, UsageError
from atom.exports.archive_read import import_archive, is_archive, read_manifest
from atom.files import write_file
from atom.formats import (
    FORMATS,
    ColumnMap,
    ImportFile,
    ImportReport,
    PictureFinder,
    read,
)
from atom.formats.zip_pictures import only_pictures
from atom.ui import kit
from atom.ui.data import judgments as data_judgments
from atom.ui.data import mapping as data_mapping
from atom.ui.data import parts as data_parts
from atom.ui.data.chosen_files import (
    no_paths,
    picture_finder,
    picture_folders,
    typed_paths,
)
from atom.ui.data.studies import ask_undo
from atom.ui.data.studies_place import StudiesPlace
from atom.ui.data.working import (
    CHECKED,
    DONE,
    FAULT,
    HELD_UP,
    JOB,
    ROUND,
    HeldUp,
    begin,
    passing_folder,
    watch,
)
from atom.ui.html import Html
from atom.ui.plain import plain
from atom.ui.shell import stores, team
from atom.views.data.import_table import so_far_words
from atom.views.data.judgments import JUDGMENTS
from atom.views.data.page import (
    FilePreview,
    free_name,
    look,
)
from atom.views.lab.page import data_files

LOOKED = "data_held_looked"


NEW = "A new study"


_AUTO = "Detect format"


@dataclass(frozen=True, kw_only=True)
class ChosenFiles:
    """Files that were chosen, and how they're read.

    Attributes:
        pictures: makes what looks for their pictures; each run of the page would list zips anew.
        archive: a study's archive instead of files.
        signature: tells one choice from another.
    """

    files: tuple[ImportFile, ...]
    pictures: Callable[[], PictureFinder]
    archive: Path | None
    signature: str


def draw(around: StudiesPlace) -> None:
    """Draw the form that brings files in, and what is recognised in them."""
    done = st.session_state.get(DONE)
    if done is not None:
        _draw_done(around, *done)
    number = st.session_state.setdefault(ROUND, 0)
    _draw_form(number)
    try:
        chosen = read_chosen(number)
        if chosen is None:
            if not _under_way():
                kit.show(_welcome(), key="data_what")
            return
        if chosen.archive is not None:
            _draw_archive(around, chosen)
        else:
            _draw_files(around, chosen, number)
    except AtomError as error:
        kit.show(kit.fault(error, title="These files can't be read as they are"),
                 key="data_unreadable")  # fmt: skip


def _welcome() -> Html:
    """Say what a table should hold, as long as none is chosen."""
    return kit.note(
        "A table has a row an answer: the question or its id, the model that answered and what it "
        "said; the right answer, a verdict and the picture where you have them. Names of columns "
        "are recognised, and you see how before anything comes in."
    )


def _under_way() -> bool:
    """Show how far the work is, if there is any. The form stays: what it holds would be lost."""
    job = st.session_state.get(JOB)
    if job is None or job[0] not in ("check", "bring"):
        return False
    watch(*job)
    return True


def _draw_form(number: int) -> None:
    one, two = st.columns([1.3, 1], gap="large")
    with one:
        st.file_uploader(
            "Drop files here: results, logs, tables with their pictures, or a study's archive",
            accept_multiple_files=True,
            key=f"data_up_{number}",
        )
        st.text_area("or their paths on this computer, one a line", height=70,
                     key=f"data_paths_{number}", placeholder="/data/results.jsonl",
                     disabled=bool(no_paths()), help=plain(no_paths()) or None)  # fmt: skip
    with two:
        st.file_uploader("Pictures, or a zip of them (if the files only name them)",
                         accept_multiple_files=True, key=f"data_pictures_{number}")  # fmt: skip
        st.text_input("or their folder on this computer", key=f"data_folder_{number}",
                      placeholder="beside the files", disabled=bool(no_paths()),
                      help=plain(no_paths()) or None)  # fmt: skip


def read_chosen(number: int) -> ChosenFiles | None:
    """Gather what the form names; None when it names nothing yet.

    Raises:
        AtomError: something isn't there, or isn't what it says.
    """
    held = st.session_state
    dropped = held.get(f"data_up_{number}") or []
    # Whoever drops a table with its pictures in one go means just that.
    shown = [one for one in dropped if only_pictures(one.name, one.getvalue())]
    uploads = [one for one in dropped if one not in shown]
    files = [ImportFile.from_bytes(one.name, one.getvalue()) for one in uploads]
    marks = [f"{one.file_id}" for one in uploads]
    paths: list[Path] = []
    archive = None
    for path in typed_paths(held.get(f"data_paths_{number}") or ""):
        if is_archive(path):
            archive = path
            continue
        found = data_files(path)
        files += [ImportFile.from_path(one) for one in found]
        marks += [f"{one}:{one.stat().st_mtime_ns}" for one in found]
        paths.append(path)
    if len(uploads) == 1 and uploads[0].name.lower().endswith(".zip"):
        kept = passing_folder() / f"{uploads[0].file_id}.zip"
        if not kept.exists():
            write_file(kept, uploads[0].getvalue(), sync=False)
        if is_archive(kept):
            archive, files = kept, []
    if archive is not None and files:
        raise UsageError("bring a study's archive in by itself, without other files")
    if archive is None and not files:
        if shown:
            raise UsageError("these are pictures alone: add the table of answers that names them")
        return None
    folders = picture_folders(held.get(f"data_folder_{number}") or "", paths)
    pictures = [*shown, *(held.get(f"data_pictures_{number}") or [])]
    marks += ["pictures", *(one.file_id for one in pictures), *map(str, folders)]
    return ChosenFiles(
        files=tuple(files),
        pictures=partial(picture_finder, pictures, folders),
        archive=archive,
        signature="|".join(marks),
    )


def _draw_files(around: StudiesPlace, chosen: ChosenFiles, number: int) -> None:
    options = [_AUTO, *FORMATS]
    one, two, three = st.columns([1, 1, 1])
    with one:
        asked = st.selectbox("Format", options, key=f"data_format_{number}",
                             help="Recognised from what is in the files; choose it where "
                                  "that goes wrong.")  # fmt: skip
    with two:
        dataset = st.text_input("Name of the data set", key=f"data_dataset_{number}",
                                max_chars=120, placeholder="the file's name").strip()  # fmt: skip
    own = [entry.study.name for entry in around.listed.entries if not entry.bundled]
    with three:
        into = st.selectbox("Into", [NEW, *own], key=f"data_into_{number}")
    columns = data_mapping.chosen_map(number)
    looked = _looked(chosen, None if asked == _AUTO else asked, dataset or None, columns)
    kit.show(data_parts.recognised(looked), key="data_recognised")
    form = data_judgments if looked.format == JUDGMENTS else data_mapping
    if looked.needed:
        form.draw_needed(looked)
        form.draw(looked, chosen.files, number, FAULT)
        _under_way()
        return
    name = into
    if into == NEW:
        name = st.text_input("Name of the new study", max_chars=120,
                             value=free_name(around.listed, looked.report.dataset),
                             key=f"data_name_{number}_{looked.report.dataset}")  # fmt: skip
    checked = st.session_state.get(CHECKED)
    signature = f"{chosen.signature}|{looked.format}|{dataset}|{columns}|{name}"

    def reading() -> Any:
        return read(looked.format, chosen.files, dataset=dataset or None, columns=columns,
                    pictures=chosen.pictures())  # fmt: skip

    if not _under_way():
        ticks = _draw_ticks(looked, checked, signature, number)
        with st.container(horizontal=True, key="stepbar_data"):
            team.button("import", "Import", key="data_bring", type="primary",
                      on_click=_bring, args=(reading, name, signature, ticks))  # fmt: skip
            st.button("Check all rows first", key="data_check", on_click=_check,
                      args=(reading, signature),
                      help="Reads all, keeps nothing, lists what would be left out.")  # fmt: skip
    if checked is not None and checked[0] == signature:
        kit.show(data_parts.report(checked[1], kept=False), key="data_checked")
    if looked.columns or looked.format == JUDGMENTS:
        form.draw(looked, chosen.files, number, FAULT)
    if looked.marks:
        kit.show(data_judgments.first_marks(looked), key="data_first_marks")
    else:
        kit.show(data_parts.first_rows(looked), key="data_first_rows")


@dataclass(frozen=True, kw_only=True)
class Ticks:
    """What the reader has agreed to."""

    accept: bool = False
    replace: bool = False


def _draw_ticks(
    looked: FilePreview, checked: tuple[str, ImportReport] | None, signature: str, number: int
) -> Ticks:
    """Say what must be looked at first, with a tick to go on all the same."""
    held: HeldUp | None = st.session_state.get(HELD_UP)
    if held is not None and held.signature != signature:
        held = None
    doubts = looked.report.doubts
    if checked is not None and checked[0] == signature:
        doubts = checked[1].doubts
    if held is not None and held.doubts:
        doubts = held.doubts
    accept = replace = False
    if doubts:
        kit.show(data_parts.doubts(doubts), key="data_doubts")
        accept = st.checkbox("Import it as it is", key=f"data_accept_{number}")
    if held is not None and held.conflict:
        kit.show(data_parts.conflict(held.conflict), key="data_conflict")
        replace = st.checkbox("Replace the old import", key=f"data_replace_{number}")
    return Ticks(accept=accept, replace=replace)


def _looked(
    chosen: ChosenFiles, format: str | None, dataset: str | None, columns: ColumnMap | None
) -> FilePreview:
    key = f"{chosen.signature}|{format}|{dataset}|{columns}"
    held = st.session_state.get(LOOKED)
    if held is None or held[0] != key:
        with st.spinner("Reading the first rows"):
            found = look(chosen.files, format=format, dataset=dataset, columns=columns,
                         pictures=chosen.pictures())  # fmt: skip
        held = st.session_state[LOOKED] = (key, found)
    return cast("FilePreview", held[1])


def _draw_archive(around: StudiesPlace, chosen: ChosenFiles) -> None:
    assert chosen.archive is not None
    place = chosen.archive
    manifest = read_manifest(place)
    kit.show(data_parts.archive(manifest), key="data_archive")
    own = [entry.study for entry in around.listed.entries if not entry.bundled]
    taken = any(manifest.study_id == one.id or manifest.study == one.name for one in own)
    name = None
    if taken:
        name = st.text_input(
            "Name of the copy", value=free_name(around.listed, manifest.study), max_chars=120,
            key="data_copy_name",
            help="This study is here already, so it comes in as a copy. Runs and imports "
                 "stay with the original.",
        )  # fmt: skip
    if not _under_way():
        team.button("import", "Import", key="data_bring", type="primary", on_click=_bring_archive,
                  args=(place, name))  # fmt: skip


def _check(reading: Callable[[], Any], signature: str) -> None:
    stop = threading.Event()

    def check(job: Job[object]) -> object:
        found = reading()
        for _ in found:
            job.say(f"{so_far_words(found.report)}\n")
            if stop.is_set():
                raise UsageError("you stopped it; nothing was kept")
        return signature, found.report

    begin("check", check, stop)


def _bring(reading: Callable[[], Any], name: str, signature: str, ticks: Ticks) -> None:
    store = stores.user_store(create=True)
    assert store is not None
    stop = threading.Event()

    def bring(job: Job[object]) -> object:
        def told(report: ImportReport) -> None:
            job.say(f"{so_far_words(report)}\n")
            if stop.is_set():
                raise UsageError("you stopped it; nothing was kept")

        try:
            return import_reading(store, reading(), name, datetime.now(UTC), accept=ticks.accept,
                                  replace=ticks.replace, on_batch=told)  # fmt: skip
        except DoubtError as error:
            return HeldUp(signature=signature, doubts=error.doubts)
        except ConflictError as error:
            return HeldUp(signature=signature, conflict=error.message)

    begin("bring", bring, stop)


def _bring_archive(place: Path, name: str | None) -> None:
    store = stores.user_store(create=True)
    assert store is not None

    def bring(job: Job[object]) -> object:
        return import_archive(
            store,
            place,
            name=name,
            on_kind=lambda kind, n: job.say(f"{kind.replace('_', ' ')}: {n:,}\n"),
        )

    begin("bring", bring)


def _draw_done(
    around: StudiesPlace, words: str, key: str, report: ImportReport | None, import_id: str
) -> None:
    if around.listed.find(key) is None:
        st.session_state.pop(DONE, None)
        return
    kit.show(data_parts.done(words, key, report), key="data_done")
    if import_id:
        team.button("delete", "Undo import…", key="data_undo", type="tertiary", on_click=ask_undo,
                  args=(import_id,))  # fmt: skip

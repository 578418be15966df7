"""The Data page's controls: bringing files in, studies and their imports, exports."""

from __future__ import annotations

import asyncio
import atexit
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

import streamlit as st

from atom.engine.imports.attaching import Attached
from atom.engine.imports.importing import Imported, import_reading
from atom.engine.jobs import Job
from atom.engine.studies import changes as studies
from atom.errors import AtomError, ConflictError, DoubtError, UsageError
from atom.exports.archive_read import ArchiveImported, import_archive, is_archive, read_manifest
from atom.exports.base import Exporter, ExportOptions, Source, Written
from atom.exports.registry import EXPORTERS
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
from atom.records import Import, Study
from atom.ui import kit, work
from atom.ui.data import judgments as data_judgments
from atom.ui.data import mapping as data_mapping
from atom.ui.data import parts as data_parts
from atom.ui.data import pictures as data_pictures
from atom.ui.data.chosen_files import (
    no_paths,
    picture_finder,
    picture_folders,
    typed_paths,
)
from atom.ui.html import Html, el
from atom.ui.plain import plain
from atom.ui.shell import frame, stores, team
from atom.views.data.judgments import JUDGMENTS
from atom.views.data.page import (
    Looked,
    StudyCard,
    free_name,
    imports_of,
    look,
    study_cards,
)
from atom.views.filters import Filters
from atom.views.lab.page import data_files
from atom.views.stores import AllStudies, StudyEntry

ROUND = "data_held_round"
"""Grows when files have come in, so that the form is empty again."""
JOB = "data_held_job"
LOOKED = "data_held_looked"
CHECKED = "data_held_checked"
DONE = "data_held_done"
HELD_UP = "data_held_up"
"""Why an import stopped before anything came in, and of which files."""
FAULT = "data_held_fault"
TOLD = "data_held_told"
ASKING = "data_held_asking"
UNDOING = "data_held_undoing"
FILES = "data_held_files"
NEW = "A new study"
_AUTO = "Detect format"


@dataclass(frozen=True, kw_only=True)
class Around:
    """Where the reader is.

    Attributes:
        listed: all studies.
        tab: the tab that is open.
        entry: the study that is looked at; None without any.
        filters: the chain, kept in addresses.
    """

    listed: AllStudies
    tab: str
    entry: StudyEntry | None
    filters: Filters


def look_around() -> Around:
    """Read what the reader looks at; the page needs no study."""
    query = frame.query()
    listed = stores.all_studies()
    wanted = (query.get("of") or query.get("study") or [""])[-1]
    keys = [key for key, _ in data_parts.TABS]
    tab = (query.get("tab") or [keys[0]])[-1]
    return Around(
        listed=listed,
        tab=tab if tab in keys else keys[0],
        entry=listed.find(wanted) or listed.first,
        filters=Filters.from_query(query),
    )


@st.cache_data(show_spinner=False, max_entries=8)
def _cards(revisions: str, _studies: AllStudies) -> tuple[StudyCard, ...]:
    del revisions
    return study_cards(_studies, stores.store_of)


def cards(listed: AllStudies) -> tuple[StudyCard, ...]:
    """Return every study's counts, read anew only when a store has changed."""
    revisions = [(e.key, e.study.name, stores.store_of(e).revision()) for e in listed.entries]
    return _cards(repr((stores.settings().store, revisions)), listed)


def draw(around: Around) -> None:
    """Draw the page below its title."""
    found = cards(around.listed)
    kit.show(data_parts.summary(found), key="data_summary")
    kit.show(data_parts.tabs(around.tab, around.filters), key="data_tabs")
    told, fault = st.session_state.pop(TOLD, None), st.session_state.pop(FAULT, None)
    if told:
        kit.show(kit.notice(told), key="data_told")
    if fault:
        kit.show(kit.fault(fault), key="data_fault")
    if around.tab == "studies":
        _draw_studies(around, found)
    elif around.tab == "export":
        _draw_export(around)
    elif around.tab == "pictures":
        _draw_pictures(around)
    else:
        _draw_bring(around)


# --- bringing in ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Chosen:
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


def _draw_bring(around: Around) -> None:
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
    _watch(*job)
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


@st.cache_resource(show_spinner=False)
def _folder() -> Path:
    """Return a folder for what passes through; it goes with the server."""
    folder = tempfile.mkdtemp(prefix="atomscope-data-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def read_chosen(number: int) -> Chosen | None:
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
        kept = _folder() / f"{uploads[0].file_id}.zip"
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
    return Chosen(
        files=tuple(files),
        pictures=partial(picture_finder, pictures, folders),
        archive=archive,
        signature="|".join(marks),
    )


def _draw_files(around: Around, chosen: Chosen, number: int) -> None:
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


@dataclass(frozen=True, kw_only=True)
class Ticks:
    """What the reader has agreed to."""

    accept: bool = False
    replace: bool = False


def _draw_ticks(
    looked: Looked, checked: tuple[str, ImportReport] | None, signature: str, number: int
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
    chosen: Chosen, format: str | None, dataset: str | None, columns: ColumnMap | None
) -> Looked:
    key = f"{chosen.signature}|{format}|{dataset}|{columns}"
    held = st.session_state.get(LOOKED)
    if held is None or held[0] != key:
        with st.spinner("Reading the first rows"):
            found = look(chosen.files, format=format, dataset=dataset, columns=columns,
                         pictures=chosen.pictures())  # fmt: skip
        held = st.session_state[LOOKED] = (key, found)
    return cast("Looked", held[1])


def _draw_archive(around: Around, chosen: Chosen) -> None:
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


def _begin(
    what: str, do: Callable[[Job[object]], object], stop: threading.Event | None = None
) -> None:
    async def work_(job: Job[object]) -> object:
        return await asyncio.to_thread(do, job)

    st.session_state.pop(DONE, None)
    st.session_state[JOB] = (what, work.begin(f"data {what}", work_), stop)


def _words(report: ImportReport) -> str:
    return (
        f"{report.rows:,} rows, {report.samples:,} samples, {report.responses:,} answers, "
        f"{report.n_skipped:,} left out"
    )


def _check(reading: Callable[[], Any], signature: str) -> None:
    stop = threading.Event()

    def check(job: Job[object]) -> object:
        found = reading()
        for _ in found:
            job.say(f"{_words(found.report)}\n")
            if stop.is_set():
                raise UsageError("you stopped it; nothing was kept")
        return signature, found.report

    _begin("check", check, stop)


def _bring(reading: Callable[[], Any], name: str, signature: str, ticks: Ticks) -> None:
    store = stores.user_store(create=True)
    assert store is not None
    stop = threading.Event()

    def bring(job: Job[object]) -> object:
        def told(report: ImportReport) -> None:
            job.say(f"{_words(report)}\n")
            if stop.is_set():
                raise UsageError("you stopped it; nothing was kept")

        try:
            return import_reading(store, reading(), name, datetime.now(UTC), accept=ticks.accept,
                                  replace=ticks.replace, on_batch=told)  # fmt: skip
        except DoubtError as error:
            return HeldUp(signature=signature, doubts=error.doubts)
        except ConflictError as error:
            return HeldUp(signature=signature, conflict=error.message)

    _begin("bring", bring, stop)


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

    _begin("bring", bring)


_DOING = {
    "check": "Checking every row",
    "bring": "Importing",
    "export": "Writing the file",
    "attach": "Looking for the pictures",
    "copy": "Copying the study, with its pictures",
}


def _watch(what: str, job_id: str, stop: threading.Event | None) -> None:
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
            data_pictures.took(cast("Attached", state.result))
        elif isinstance(state.result, HeldUp):
            st.session_state[HELD_UP] = state.result
        else:
            st.session_state.pop(HELD_UP, None)
            st.session_state[DONE] = _done(cast("Imported | ArchiveImported", state.result))
            st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
        st.rerun()

    progress()


def _done(result: Imported | ArchiveImported) -> tuple[str, str, ImportReport | None, str]:
    words = f"“{result.study.name}” is in"
    if isinstance(result, Imported):
        return words, result.study.id, result.report, result.record.id
    if result.kept:
        words += f"; {sum(result.kept.values()):,} records stay as this store had them"
    if result.consent:
        words += f"; before anything goes to {', '.join(result.consent)} you will be asked again"
    return words, result.study.id, None, ""


def _draw_done(
    around: Around, words: str, key: str, report: ImportReport | None, import_id: str
) -> None:
    if around.listed.find(key) is None:
        st.session_state.pop(DONE, None)
        return
    kit.show(data_parts.done(words, key, report), key="data_done")
    if import_id:
        team.button("delete", "Undo import…", key="data_undo", type="tertiary", on_click=_ask_undo,
                  args=(import_id,))  # fmt: skip


def _ask_undo(import_id: str) -> None:
    st.session_state[UNDOING] = import_id


def _undo(import_id: str, study_id: str, with_study: bool) -> None:
    store = stores.user_store()
    assert store is not None
    _act(lambda: studies.take_back(store, import_id, with_study=with_study))
    st.session_state.pop(DONE, None)
    if store.get(Study, study_id) is None:
        for name in ("of", "study"):
            st.query_params.pop(name, None)


# --- pictures -------------------------------------------------------------------------------------


def _draw_pictures(around: Around) -> None:
    if around.entry is None:
        kit.show(kit.empty("There is no study yet", "Bring files in on the first tab."),
                 key="data_attach_none")  # fmt: skip
        return
    job = st.session_state.get(JOB)
    if job is not None and job[0] == "attach":
        _watch(*job)
    data_pictures.draw(around.entry, _begin, job is not None)


# --- studies --------------------------------------------------------------------------------------


def _draw_studies(around: Around, found: tuple[StudyCard, ...]) -> None:
    if not found or around.entry is None:
        kit.show(kit.empty("Nothing is in here yet", "Bring files in on the first tab."),
                 key="data_none")  # fmt: skip
        return
    entry = around.entry
    kit.show(data_parts.studies(found, entry.key), key="data_studies")
    study = entry.study
    kit.show(el("h2", study.name, style="margin:14px 0 0", class_="text"), key="data_study")
    with st.container(horizontal=True, vertical_alignment="bottom", key="data_study_bar"):
        free = free_name(around.listed, f"{study.name} (copy)")
        name = st.text_input("Name", value=study.name if not entry.bundled else free,
                             key=f"data_rename_{entry.key}", max_chars=120)  # fmt: skip
        if not entry.bundled:
            team.button(
                "edit",
                "Rename",
                key="data_rename",
                on_click=_act,
                args=(lambda: _rename(entry, name),),
            )
        copy_as = name if name != study.name else free
        job = st.session_state.get(JOB)
        team.button("edit", "Copy", key="data_copy", disabled=job is not None,
                  on_click=lambda: _begin("copy", _copying(entry, copy_as)))  # fmt: skip
        if not entry.bundled:
            team.button("delete", "Delete…", key="data_delete", type="tertiary",
                      on_click=lambda: st.session_state.update({ASKING: entry}))  # fmt: skip
    if job is not None and job[0] == "copy":
        _watch(*job)
    if entry.bundled:
        kit.show(el("p", "This study came with Atomscope and is sealed. Your own copy of it can "
                    "be changed.", class_="quiet small"), key="data_sealed")  # fmt: skip
    records = imports_of(stores.store_of(entry), study.id)
    kit.show(el("h2", f"Imports ({len(records)})", style="margin:14px 0 0"), key="data_imports")
    for record in records:
        with st.container(horizontal=True, vertical_alignment="top", key=f"data_im_{record.id}"):
            kit.show(data_parts.import_row(record), key=f"data_import_{record.id}")
            if not entry.bundled:
                team.button(
                    "delete",
                    "Undo import…",
                    key=f"data_undo_{record.id}",
                    on_click=_ask_undo,
                    args=(record.id,),
                )
    if not records:
        kit.show(el("p", "Nothing was imported into this study.", class_="quiet small"),
                 key="data_no_imports")  # fmt: skip


def _rename(entry: StudyEntry, name: str) -> str:
    return studies.rename(stores.store_of(entry), entry.study.id, name)


def _copying(entry: StudyEntry, name: str) -> Callable[[Job[object]], object]:
    target = stores.user_store(create=True)
    assert target is not None
    source = stores.store_of(entry)
    return lambda _job: studies.copy(source, target, entry.study.id, name)


def _act(what: Callable[[], str]) -> None:
    """Do something to a study, and tell what came of it; what was typed stays."""
    try:
        st.session_state[TOLD] = what()
    except AtomError as error:
        st.session_state[FAULT] = error.message


def draw_question() -> None:
    """Open the dialog that is waiting, if any; call it once at the page's end."""
    entry = st.session_state.pop(ASKING, None)
    if entry is not None:
        _delete(entry)
    import_id = st.session_state.pop(UNDOING, None)
    store = stores.user_store()
    record = store.get(Import, import_id) if store is not None and import_id else None
    study = store.get(Study, record.study_id) if store is not None and record else None
    if store is not None and record is not None and study is not None:
        _take_back(record, study, last=len(imports_of(store, study.id)) == 1)


@st.dialog("Undo this import?")
def _take_back(record: Import, study: Study, *, last: bool) -> None:
    kit.show(data_parts.taking_back(record, study), key="data_undo_words")
    with_study = last and st.checkbox(
        "Delete the study as well, if it holds nothing then", value=True, key="data_undo_study"
    )
    with st.container(horizontal=True):
        if team.button("delete", "Undo import", key="data_undo_yes", type="primary", on_click=_undo,
                     args=(record.id, study.id, with_study)):  # fmt: skip
            st.rerun()
        if st.button("Keep it", key="data_undo_no"):
            st.rerun()


@st.dialog("Delete this study?")
def _delete(entry: StudyEntry) -> None:
    kit.show(
        el(
            "div",
            el("p", el("span", entry.study.name, class_="strong text"),
               " goes from the list, with its runs, imports and experiments."),
            el("p", "Questions, answers and scores stay in the store, so that nothing is paid for "
               "twice. Export it first to keep it whole.", class_="quiet small"),
            style="display:flex;flex-direction:column;gap:8px",
        ),
        key="data_delete_words",
    )  # fmt: skip
    with st.container(horizontal=True):
        if team.button(
            "delete",
            "Delete it",
            key="data_delete_yes",
            type="primary",
            on_click=_really_delete,
            args=(entry,),
        ):
            st.rerun()
        if st.button("Keep it", key="data_delete_no"):
            st.rerun()


def _really_delete(entry: StudyEntry) -> None:
    _act(lambda: studies.delete(stores.store_of(entry), entry.study.id))
    for name in ("of", "study"):
        st.query_params.pop(name, None)


# --- export ---------------------------------------------------------------------------------------


def _draw_export(around: Around) -> None:
    entry = around.entry
    if entry is None:
        kit.show(kit.empty("There is no study yet", "Bring files in on the first tab."),
                 key="data_export_none")  # fmt: skip
        return
    job = st.session_state.get(JOB)
    if job is not None and job[0] == "export":
        _watch(*job)
        return
    name = el("span", entry.study.name, class_="strong text")
    kit.show(el("p", "Files of ", name, ". Nothing leaves this computer.", class_="quiet"),
             key="data_export_of")  # fmt: skip
    ready: Mapping[str, Written] = st.session_state.get(FILES, {})
    for one in EXPORTERS.values():
        left, right = st.columns([2.2, 1], vertical_alignment="center")
        with left:
            kit.show(data_parts.exporter(one), key=f"data_form_{one.name}")
        with right:
            written = ready.get(_file_key(entry, one))
            if written is None:
                st.button("Make the file", key=f"data_make_{one.name}", on_click=_make,
                          args=(entry, one))  # fmt: skip
            else:
                st.download_button(
                    f"Download ({plain(data_parts.size(written.n_bytes))})",
                    # Read when it is clicked: an archive may hold gigabytes.
                    data=written.place.read_bytes,
                    file_name=_file_name(entry, one),
                    key=f"data_get_{one.name}",
                    type="primary",
                    on_click="ignore",
                )
                kit.show(
                    el(
                        "div",
                        [
                            el("p", kit.told(note), class_="quiet small text")
                            for note in written.notes
                        ],
                    ),
                    key=f"data_notes_{one.name}",
                )


def _file_key(entry: StudyEntry, one: Exporter) -> str:
    return f"{entry.key}|{one.name}|{stores.store_of(entry).revision()}"


def _file_name(entry: StudyEntry, one: Exporter) -> str:
    stem = re.sub(r"[^\w-]+", "-", entry.study.name.casefold()).strip("-")[:60] or "study"
    return f"{stem}-{one.name}{one.suffix}"


def _make(entry: StudyEntry, one: Exporter) -> None:
    store = stores.store_of(entry)
    key = _file_key(entry, one)
    ready = dict(st.session_state.get(FILES, {}))
    place = Path(tempfile.mkdtemp(dir=_folder())) / _file_name(entry, one)

    def export(job: Job[object]) -> object:
        options = ExportOptions(
            moment=datetime.now(UTC), progress=lambda words: job.say(f"{words}\n")
        )
        written = one.write(Source(store, entry.study.id, entry.key), place, options)
        return {**ready, key: written}

    _begin("export", export)

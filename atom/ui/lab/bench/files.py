"""Taking a benchmark's data in on the Judge lab: from probes, or from files looked at first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from atom.display import numbers
from atom.engine.bench.picking import read_answers, repeated_answers
from atom.engine.bench.sets import keep_set, make_probe_set, read_set
from atom.errors import AtomError, UsageError
from atom.formats import ImportFile, PictureFinder
from atom.judgebench.base import Bench
from atom.judgebench.best_of_n.benchmark import LEAST
from atom.judgebench.best_of_n.benchmark import NAME as BEST_OF_N
from atom.records import BenchSet
from atom.ui import kit, work
from atom.ui.data.chosen_files import picture_finder, picture_folders, typed_paths
from atom.ui.html import el
from atom.ui.lab.bench import sets
from atom.ui.plain import plain
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here
from atom.views.lab.page import BenchPreview, data_files, preview, read_columns

JOB = "lab_file_job"
"""The job that works on data: (benchmark, what it does, its id)."""
FAULT = "lab_file_fault"
PROBES = 60


def draw(bench: Bench, made: int, here: Here | None) -> None:
    """Draw how data come in.

    Args:
        made: sets that were made from probes already: the next one gets another seed.
        here: the study that is open, whose own answers can become a set for best of n.
    """
    job = st.session_state.get(JOB)
    if job is not None and job[0] == bench.name and job[1] in ("make", "take", "study"):
        _watch(bench, job[1], job[2])
        return
    left, right = st.columns([1, 1.4], gap="large")
    with left:
        _probes(bench, made)
        if bench.name == BEST_OF_N and here is not None:
            _study(bench, here)
    with right:
        _files(bench)


def _probes(bench: Bench, made: int) -> None:
    kit.show(
        el(
            "div",
            el("h2", "From probes", style="margin:0"),
            el("p", "Pictures that a program draws, with answers whose truth is known: offline, "
               "free, and in nobody's training data. It takes about a minute.",
               class_="quiet small"),
        ),
        key="lab_probes_head",
    )  # fmt: skip
    one, two = st.columns(2)
    with one:
        items = st.number_input("Items", 1, 5000, PROBES, step=10, key=f"lab_probes_{bench.name}")
    with two:
        seed = st.number_input("Seed", 0, 1_000_000, made, step=1,
                               key=f"lab_seed_{bench.name}_{made}",
                               help="Another seed makes other items.")  # fmt: skip

    def make() -> None:
        store = stores.user_store(create=True)
        assert store is not None
        _begin(bench, "make", lambda: make_probe_set(store, bench.name, int(items), int(seed)))

    team.button("edit", f"Make {int(items):,} items from probes", key="lab_make", type="primary",
              on_click=make)  # fmt: skip


def _study(bench: Bench, here: Here) -> None:
    """Draw what of the study can become a set: a model's answers, where it gave several."""
    study, source = here.data.study, here.store
    found = repeated_answers(source, study)
    words = (
        f"What a model answered several times in {study.name}, where answers are known to be right "
        "or wrong: real answers, and the judge picks."
        if found
        else f"No model answered a question of {study.name} several times with an outcome. On "
        "Runs, raise Answers per model and the temperature, and have outcomes worked out."
    )
    kit.show(
        el("div", el("h2", "From this study", style="margin:0"),
           el("p", words, class_="quiet small text")),
        key="lab_study_head",
    )  # fmt: skip
    if not found:
        return
    names = {one.candidate.id: one for one in found}
    chosen = st.selectbox("Whose answers", list(names), key="lab_study_model",
                          format_func=lambda one: plain(names[one].candidate.name))  # fmt: skip
    mine = names[chosen]
    most = max(map(len, mine.answers.values()))
    n = int(st.number_input("Answers a question", LEAST, most, mine.n, step=1,
                            key=f"lab_study_n_{chosen[:12]}"))  # fmt: skip
    questions = mine.questions(n)

    def make() -> None:
        store = stores.user_store(create=True)
        assert store is not None
        _begin(
            bench,
            "study",
            lambda: keep_set(store, read_answers(source, study, chosen, n, into=store)),
        )

    team.button(
        "edit",
        f"Make {numbers.count(questions, 'item')} of these answers",
        key="lab_study_make",
        on_click=make,
        disabled=not questions,
    )


@dataclass(frozen=True, kw_only=True)
class BenchUpload:
    """Files that were chosen, and how they're read."""

    files: tuple[ImportFile, ...]
    pictures: PictureFinder
    columns: dict[str, str]
    limit: int | None
    name: str


def _files(bench: Bench) -> None:
    key = bench.name
    kit.show(
        el(
            "div",
            el("h2", "From files", style="margin:0"),
            el("p", "As its authors publish them, from this computer: nothing is fetched. Look "
               "first; nothing is kept until you take it in.", class_="quiet small"),
        ),
        key="lab_files_head",
    )  # fmt: skip
    one, two = st.columns(2)
    with one:
        st.file_uploader("Files", accept_multiple_files=True, key=f"lab_files_{key}")
        st.text_area("or their paths on this computer, one a line", height=70,
                     key=f"lab_paths_{key}", placeholder="/data/benchmark")  # fmt: skip
        st.text_input("Name of the set", key=f"lab_name_{key}", max_chars=120,
                      placeholder="the first file's name")  # fmt: skip
    with two:
        st.file_uploader(
            "Pictures, or a zip of them", accept_multiple_files=True, key=f"lab_pictures_{key}"
        )
        st.text_input("or their folder on this computer", key=f"lab_folder_{key}",
                      placeholder="beside the files")  # fmt: skip
        st.number_input("At most so many items", 1, 1_000_000, None, step=1, placeholder="all",
                        key=f"lab_rows_{key}")  # fmt: skip
    with st.popover("Map columns"):
        st.text_area("our field = the file's column, one a line; or JSON", height=120,
                     key=f"lab_columns_{key}", placeholder="question = prompt")  # fmt: skip
    with st.container(horizontal=True, key="stepbar_lab_files_in"):
        st.button("Look first", key="lab_look", on_click=_look, args=(bench,))
        team.button(
            "edit", "Take them in", key="lab_take", type="primary", on_click=_take, args=(bench,)
        )
    fault = st.session_state.get(FAULT)
    if fault and fault[0] == bench.name:
        kit.show(kit.fault(fault[1]), key="lab_files_fault")
    job = st.session_state.get(JOB)
    if job is not None and job[0] == bench.name and job[1] == "look":
        _watch(bench, "look", job[2])


def read_source(bench: Bench) -> BenchUpload:
    """Gather what the form names.

    Raises:
        AtomError: nothing is named, or something that isn't there.
    """
    held, key = st.session_state, bench.name
    files = [ImportFile.from_bytes(one.name, one.getvalue())
             for one in held.get(f"lab_files_{key}") or []]  # fmt: skip
    paths = typed_paths(held.get(f"lab_paths_{key}") or "")
    files += [ImportFile.from_path(one) for path in paths for one in data_files(path)]
    if not files:
        raise UsageError("choose the benchmark's files first, or write their paths")
    folders = picture_folders(held.get(f"lab_folder_{key}") or "", paths)
    limit = held.get(f"lab_rows_{key}")
    return BenchUpload(
        files=tuple(files),
        pictures=picture_finder(held.get(f"lab_pictures_{key}") or [], folders),
        columns=read_columns(held.get(f"lab_columns_{key}") or ""),
        limit=int(limit) if limit else None,
        name=(held.get(f"lab_name_{key}") or "").strip() or files[0].stem,
    )


def _source_or_fault(bench: Bench) -> BenchUpload | None:
    st.session_state.pop(FAULT, None)
    try:
        return read_source(bench)
    except AtomError as error:
        st.session_state[FAULT] = (bench.name, error.message)
        return None


def _look(bench: Bench) -> None:
    source = _source_or_fault(bench)
    if source is None:
        return
    _begin(
        bench,
        "look",
        lambda: preview(
            bench.name,
            source.files,
            columns=source.columns,
            pictures=source.pictures,
            limit=source.limit,
        ),
    )


def _take(bench: Bench) -> None:
    source = _source_or_fault(bench)
    if source is None:
        return
    store = stores.user_store(create=True)
    assert store is not None
    _begin(
        bench,
        "take",
        lambda: keep_set(
            store,
            read_set(
                store,
                bench.name,
                source.name,
                source.files,
                columns=source.columns,
                pictures=source.pictures,
                limit=source.limit,
            ),
        ),
    )


def _begin(bench: Bench, what: str, do: Callable[[], BenchPreview | BenchSet]) -> None:
    st.session_state.pop(FAULT, None)
    st.session_state[JOB] = (bench.name, what, work.start(f"lab {what}", do))


_WORDS = {
    "make": "Drawing probes and writing their answers…",
    "study": "Gathering the answers…",
    "take": "Taking the files in…",
    "look": "Looking at the files…",
}


def _watch(bench: Bench, what: str, job_id: str) -> None:
    state = work.ended(job_id, _WORDS[what])
    if state is None:
        return
    found: BenchPreview | BenchSet | None = state.result
    if isinstance(found, BenchPreview):
        kit.show(sets.preview(found), key="lab_preview")
        return
    st.session_state.pop(JOB, None)
    if found is not None:
        st.query_params["tab"] = bench.name
        st.query_params["set"] = found.id[:12]
        st.query_params.pop("who", None)
    else:
        st.session_state[FAULT] = (bench.name, state.error)
    st.rerun()

"""Live replay's controls: what to judge, who judges, the steps, and saving."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from atom.engine.imports.uploads import look_at
from atom.engine.live_replay import Live, upload_sample
from atom.engine.members import study_tree
from atom.errors import AtomError
from atom.records import Endpoint, Judge, Sampling, content_id
from atom.ui import kit, links
from atom.ui.html import el
from atom.ui.pages import REPLAY, SETTINGS
from atom.ui.replay import parts as replay_parts
from atom.ui.replay.bench import (
    BenchAnswers,
    ReplayBench,
    bench_for,
    settle,
)
from atom.ui.runs import sampling as sampling_box
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.replay.page import OwnPicture, OwnQuestion, SampleChoice, sample_choices
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData

OWN = "replay_own"
JUDGES = "replay_judges"
ANSWERS = "replay_answers"
UPLOADS = "replay_uploads"
FAULTS = "replay_upload_faults"
HOWS = "replay_hows"
TYPES = ["png", "jpg", "jpeg", "webp", "gif"]
UPLOAD = "upload"
_MOST_LISTED = 1000


# --- what is judged -------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False, max_entries=4)
def _choices(
    url: str, study_id: str, revision: int, _store: OpenStore, _data: StudyData
) -> tuple[SampleChoice, ...]:
    del url, study_id, revision
    return sample_choices(_store, _data, most=_MOST_LISTED)


def is_upload(here: Here) -> bool:
    """Whether the reader brings a question of their own."""
    return here.query.get("tab") == UPLOAD


def draw_source(here: Here) -> None:
    """Draw the choice between a sample of the study and a question of one's own."""
    base = here.filters.but(criterion=None)
    own, page = is_upload(here), REPLAY.url_path
    choices = [
        ("A sample of the study", links.address(page, base), not own),
        ("My own picture", links.address(page, base, tab=UPLOAD), own),
    ]
    kit.show(kit.tabs(choices, label="What is judged"), key="replay_tabs")
    if is_upload(here):
        _own_form()
    else:
        _sample_picker(here)


def _sample_picker(here: Here) -> None:
    choices = _choices(
        here.store.url, here.data.study.id, here.data.revision, here.store, here.data
    )
    labels = {choice.sample_id: choice.label for choice in choices}
    chosen = sample_id(here)
    if chosen is not None and chosen not in labels:
        number = here.data.sample_position.get(chosen, 0) + 1
        labels = {chosen: f"{number}. (further down in the study)", **labels}
    if not labels:
        kit.show(kit.notice("This study has no samples yet: bring a picture of your own."),
                 key="replay_none")  # fmt: skip
        return
    key = f"replay_sample_{here.entry.key}"
    st.session_state[key] = chosen

    def picked() -> None:
        filters = here.filters.but(sample=st.session_state[key], criterion=None)
        st.query_params.from_dict(filters.to_query())

    st.selectbox(
        "Sample",
        list(labels),
        format_func=lambda i: labels.get(i, i),
        key=key,
        on_change=picked,
        label_visibility="collapsed",
    )


def sample_id(here: Here) -> str | None:
    """Return the sample that is judged: the chain's, else the study's first."""
    if here.filters.sample in here.data.sample_position:
        return here.filters.sample
    return here.data.table.sample_ids[0] if here.data.table.sample_ids else None


def own_question() -> OwnQuestion:
    """Return the reader's own question as it was typed so far."""
    held: OwnQuestion = st.session_state.setdefault(OWN, OwnQuestion())
    return held


def _own_form() -> None:
    own = own_question()
    count = st.session_state.setdefault(UPLOADS, 0)
    uploader = f"replay_files_{count}"

    def came() -> None:
        files = st.session_state[uploader] or []
        _take_files([(file.name, file.getvalue()) for file in files])
        st.session_state[UPLOADS] = count + 1

    def typed(name: str, key: str) -> None:
        values: dict[str, Any] = {name: st.session_state[key] or ""}
        st.session_state[OWN] = replace(own_question(), **values)

    st.file_uploader(
        "Pictures: PNG, JPEG, WebP or GIF",
        type=TYPES,
        accept_multiple_files=True,
        max_upload_size=25,
        key=uploader,
        on_change=came,
    )
    for number, fault in enumerate(st.session_state.get(FAULTS, [])):
        kit.show(kit.fault(fault, title="This file was left out"), key=f"replay_fault_{number}")
    for number, picture in enumerate(own.pictures):
        with st.container(
            horizontal=True, key=f"own_picture_{number}", vertical_alignment="center"
        ):
            kit.show(
                el("p", f"Picture {number + 1}: {picture.name[:80]}, {picture.width} × "
                   f"{picture.height}", class_="small text"),
                key=f"own_picture_words_{number}",
            )  # fmt: skip
            st.button("Remove", key=f"own_remove_{number}", on_click=_remove, args=(number,),
                      type="tertiary")  # fmt: skip
    fields: tuple[tuple[str, str, str, int], ...] = (
        ("question", "Question", "What is asked about the pictures?", 68),
        ("choices", "Choices, one a line (none for an open question)", "", 68),
    )
    for name, label, hint, height in fields:
        key = f"own_{name}"
        st.session_state[key] = getattr(own, name)
        st.text_area(label, key=key, height=height, placeholder=hint, on_change=typed,
                     args=(name, key), max_chars=8000)  # fmt: skip
    st.session_state["own_reference"] = own.reference
    st.text_input("Right answer, if you know it", key="own_reference", on_change=typed,
                  args=("reference", "own_reference"), max_chars=500)  # fmt: skip
    if own.problem:
        kit.show(el("p", kit.told(own.problem), class_="quiet small"), key="own_problem")


def _take_files(files: list[tuple[str, bytes]]) -> None:
    own, faults = own_question(), []
    for name, data in files:
        try:
            facts = look_at(name, data)
        except AtomError as error:
            faults.append(error.message)
            continue
        picture = OwnPicture(
            name=name,
            data=data,
            media_type=facts.media_type,
            width=facts.width,
            height=facts.height,
        )
        own = replace(own, pictures=(*own.pictures, picture))
        if facts.probe_question and not own.question.strip():
            choices = "\n".join(facts.probe_choices)
            own = replace(own, question=facts.probe_question, choices=choices)
    st.session_state[OWN], st.session_state[FAULTS] = own, faults


def _remove(number: int) -> None:
    own = own_question()
    kept = tuple(picture for n, picture in enumerate(own.pictures) if n != number)
    st.session_state[OWN] = replace(own, pictures=kept)


# --- who judges -----------------------------------------------------------------------------------


def judges(endpoints: dict[str, Endpoint]) -> list[str]:
    """Return the names of the endpoints that can judge."""
    return [name for name, endpoint in endpoints.items() if "judge" in endpoint.roles]


def pick_judge(here: Here, endpoints: dict[str, Endpoint]) -> Endpoint:
    """Draw the choice of the judge, and return it."""
    names = judges(endpoints)
    held: dict[str, str] = st.session_state.setdefault(JUDGES, {})
    usual = usual_judge(here, endpoints)
    chosen = held.get(here.entry.key, usual)
    key = "replay_judge"
    st.session_state[key] = chosen if chosen in names else usual

    def picked() -> None:
        held[here.entry.key] = st.session_state[key]

    st.selectbox("Judge", names, key=key, on_change=picked,
                 format_func=lambda name: _judge_label(endpoints[name]))  # fmt: skip
    return endpoints[st.session_state[key]]


def _judge_label(endpoint: Endpoint) -> str:
    where = "offline, knows only test pictures" if endpoint.is_probe else endpoint.host
    return f"{endpoint.name} ({where})"


def usual_judge(here: Here, endpoints: dict[str, Endpoint]) -> str:
    """Return the judge that stands first: the study's own, else one that can do the work."""
    names = judges(endpoints)
    mine = next((name for name in names if not endpoints[name].is_probe), None)
    if is_upload(here) and mine is not None:
        return mine
    record = here.data.judge
    own = here.store.get(Judge, record.id) if record else None
    if own is not None and own.endpoint in names:
        return own.endpoint
    if here.data.study.synthetic:
        return "probe-judge"
    return mine or "probe-judge"


# --- how they are asked ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class BenchSettings:
    """How the judge and the model are asked on this bench.

    Attributes:
        judge: the judge's settings.
        answer: the model's settings.
        show_reference: whether the judge is told the right answer when it solves the question.
        blind: whether it scores without the pictures.
    """

    judge: Sampling
    answer: Sampling
    show_reference: bool = False
    blind: bool = False


def how_asked(here: Here) -> BenchSettings:
    """Return how the judge and the model are asked: as the study says, until it's changed here."""
    study = here.data.study
    usual = BenchSettings(judge=study.judge_sampling, answer=study.answer_sampling)
    held: dict[str, BenchSettings] = st.session_state.setdefault(HOWS, {})
    return held.get(here.entry.key, usual)


def draw_how(here: Here, judge: Endpoint, endpoints: dict[str, Endpoint]) -> None:
    """Draw how the judge and the model are asked."""
    how, held = how_asked(here), st.session_state[HOWS]

    def changed(who: sampling_box.SamplingRole, sampling: Sampling) -> None:
        changes: dict[str, Any] = {who: sampling}
        held[here.entry.key] = replace(how_asked(here), **changes)

    def ticked(name: str, key: str) -> None:
        changes: dict[str, Any] = {name: st.session_state[key]}
        held[here.entry.key] = replace(how_asked(here), **changes)

    models = [endpoint for endpoint in endpoints.values() if "candidate" in endpoint.roles]
    sampling_box.draw(
        {"judge": how.judge, "answer": how.answer},
        {"judge": [judge], "answer": models},
        key="replay_sampling",
        on_change=changed,
        note="Holds on this page. The study's own settings are set on Runs.",
    )
    for name, label in (
        ("show_reference", "Show the judge the reference answer"),
        ("blind", "Score without the pictures"),
    ):
        key = f"replay_{name}"
        st.session_state[key] = getattr(how, name)
        st.checkbox(label, key=key, on_change=ticked, args=(name, key))


# --- the bench ------------------------------------------------------------------------------------


def open_bench(here: Here, judge: Endpoint) -> ReplayBench | None:
    """Return the bench of what is chosen, or say what stands in the way.

    Raises:
        AtomError: the sample can't be opened.
    """
    own = own_question()
    if is_upload(here):
        if own.problem:
            return None
        names = [picture.name for picture in own.pictures]
        sample, parts = upload_sample(
            own.question,
            [picture.data for picture in own.pictures],
            choices=own.options,
            reference=own.right,
            names=names,
        )
        identity = content_id("own", sample.id, own.right)[:12]
    else:
        chosen = sample_id(here)
        if chosen is None:
            return None
        identity = chosen

    how = how_asked(here)

    def make() -> ReplayBench:
        study = here.data.study
        tree, _ = study_tree(here.store, study, "")
        if is_upload(here):
            live = Live(
                sample=sample,
                pictures=parts,
                judge=judge,
                store=here.store,
                tree=tree,
            )
        else:
            live = Live.of_study(here.store, identity, judge, study, tree)
        live = replace(live, judge_sampling=how.judge, show_reference=how.show_reference)
        return ReplayBench(key=key, entry=here.entry, live=live, answers=answers)

    shelf: dict[str, BenchAnswers] = st.session_state.setdefault(ANSWERS, {})
    answers = shelf.setdefault(f"{here.entry.key}:{identity}", BenchAnswers())
    asked = (judge.name, judge.model, how.judge.key, how.show_reference)
    key = content_id("bench", here.entry.key, identity, *asked)[:10]
    bench = bench_for(key, make)
    bench.entry = here.entry
    if bench.live.answer_sampling != how.answer:
        bench.live = replace(bench.live, answer_sampling=how.answer)
    if bench.live.score_pictures == how.blind:
        bench.live = replace(bench.live, score_pictures=not how.blind)
        bench.points.clear()
    settle(bench)
    return bench


def knows_it(bench: ReplayBench) -> bool:
    """Whether the judge can know anything about this sample."""
    return not bench.live.judge.is_probe or bench.live.sample.synthetic


def draw_only_probes(here: Here, endpoints: dict[str, Endpoint]) -> None:
    """Say that the test judge knows only test pictures."""
    others = any(not endpoints[name].is_probe for name in judges(endpoints))
    href = links.address(SETTINGS.url_path, Filters(study=here.entry.key))
    kit.show(replay_parts.only_probes(others, href), key="replay_only_probes")

"""Live replay's last column: an answer, its scores, and saving all of it."""

from __future__ import annotations

import streamlit as st

from atom.engine.studies.new import DEMO_COPY, find_copy, new_study, own_copy
from atom.errors import AtomError
from atom.records import Call, Endpoint, Study
from atom.ui import kit, links, work
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES
from atom.ui.replay import parts as replay_parts
from atom.ui.replay.bench import ReplayBench
from atom.ui.replay.steps import step_bar
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.replay.drafts import mappings_of
from atom.views.replay.page import BenchAnswer, counts_in, stored_answers, typed_answer
from atom.views.runs.sampling import sampling_words
from atom.views.stores import OpenStore, StudyEntry

MODES = {"stored": "Stored", "ask": "Ask a model", "type": "Type or paste"}
SAVING = "replay_saving"
SAVED = "replay_saved"
NEW = "new"
COPY = "copy"


# --- answer ---------------------------------------------------------------------------------------


def draw_answer(here: Here, bench: ReplayBench, endpoints: dict[str, Endpoint]) -> None:
    """Draw where the answer comes from, and the answer."""
    stored = stored_answers(here.store, here.data, bench.live.sample.id)
    answers = bench.answers
    modes = [mode for mode in MODES if mode != "stored" or stored]
    if answers.mode not in modes:
        answers.mode = modes[0]
    if answers.mode == "stored" and bench.answer is None and stored:
        wanted = next((a for a in stored if a.candidate.id == here.filters.model), stored[0])
        bench.choose(wanted)
    key = f"answer_mode_{bench.key}"
    st.session_state[key] = answers.mode

    def picked() -> None:
        answers.mode = st.session_state[key] or answers.mode
        if answers.mode != "stored":
            answers.chosen = ""

    st.segmented_control("Answer", modes, format_func=lambda m: MODES[m], key=key,
                         on_change=picked, label_visibility="collapsed")  # fmt: skip
    if answers.mode == "stored":
        _stored(bench, stored)
    elif answers.mode == "ask":
        _ask(bench, endpoints)
    else:
        _type(bench)
    if bench.answer is not None:
        kit.show(replay_parts.answer(bench.answer, bench.card), key="replay_answer")


def chosen_candidate(bench: ReplayBench, endpoints: dict[str, Endpoint]) -> Endpoint | None:
    """Return the model that would be asked: as chosen, else the first that knows the sample."""
    names = candidates(endpoints)
    if bench.answers.candidate in names:
        return endpoints[bench.answers.candidate]
    able = [name for name in names if can_answer(bench, endpoints[name])]
    return endpoints[(able or names)[0]] if names else None


def can_answer(bench: ReplayBench, asked: Endpoint) -> bool:
    """Whether a model can know anything about the sample: the built-in ones know test pictures."""
    return not asked.is_probe or bench.live.sample.synthetic


def candidates(endpoints: dict[str, Endpoint]) -> list[str]:
    """Return the names of the endpoints that can answer."""
    return [name for name, endpoint in endpoints.items() if "candidate" in endpoint.roles]


def _stored(bench: ReplayBench, stored: tuple[BenchAnswer, ...]) -> None:
    names = {answer.response.id: answer for answer in stored}
    key = f"answer_stored_{bench.key}"
    chosen = bench.answers.chosen
    st.session_state[key] = chosen if chosen in names else stored[0].response.id

    def picked() -> None:
        bench.choose(names[st.session_state[key]])

    st.selectbox(
        "Whose answer",
        list(names),
        key=key,
        on_change=picked,
        disabled=bench.busy,
        label_visibility="collapsed",
        format_func=lambda i: f"{names[i].candidate.name}: {replay_parts.verdict(names[i])}",
    )
    if chosen not in names:
        bench.choose(stored[0])


def _ask(bench: ReplayBench, endpoints: dict[str, Endpoint]) -> None:
    names = candidates(endpoints)
    asked = chosen_candidate(bench, endpoints)
    if asked is None:
        kit.show(kit.notice("No endpoint has the role candidate: add one on the Settings page."),
                 key="ask_none")  # fmt: skip
        return
    key = f"answer_ask_{bench.key}"
    st.session_state[key] = asked.name

    def picked() -> None:
        bench.answers.candidate = st.session_state[key]
        bench.answers.chosen = ""

    st.selectbox("Which model", names, key=key, on_change=picked, disabled=bench.busy,
                 label_visibility="collapsed")  # fmt: skip
    if not can_answer(bench, asked):
        words = f"{asked.name} knows only test pictures: choose an endpoint of your own."
        kit.show(kit.notice(words), key="ask_probe")
        return
    step_bar(bench, "answer", candidate=asked, done=bench.answer is not None)


def _type(bench: ReplayBench) -> None:
    answers = bench.answers
    text, writer = f"answer_text_{bench.key}", f"answer_writer_{bench.key}"
    st.session_state[text], st.session_state[writer] = answers.typed, answers.writer

    def typed() -> None:
        answers.typed = st.session_state[text] or ""
        answers.writer = st.session_state[writer] or ""

    st.text_area("The answer", key=text, height=110, max_chars=50_000, on_change=typed,
                 placeholder="Paste an answer here. How it gets to its result counts, too.",
                 label_visibility="collapsed", disabled=bench.busy)  # fmt: skip
    st.text_input("Who wrote it (optional)", key=writer, max_chars=80, on_change=typed,
                  placeholder="Who wrote it (optional)", label_visibility="collapsed",
                  disabled=bench.busy)  # fmt: skip

    def use() -> None:
        typed()
        if answers.typed.strip():
            bench.choose(
                typed_answer(
                    bench.live.sample, answers.typed, answers.writer, bench.live.answer_sampling
                )
            )

    st.button("Use this answer", key="use_typed", on_click=use, disabled=bench.busy)


def draw_scores(bench: ReplayBench) -> None:
    """Draw the scoring step and the chosen answer's scores."""
    card = bench.card
    if card is None and bench.answer is None:
        step_bar(bench, "scoring")
        return
    touched = card is not None and card.scored + card.unscored + card.failed > 0
    missing = len(card.missing) if card else 0
    label = None
    if touched and missing:
        label = f"Score {missing} {'criterion' if missing == 1 else 'criteria'}"
    step_bar(bench, "scoring", done=touched and not missing, label=label)
    if card is not None and touched:
        kit.show(replay_parts.scores(card, calls_of(bench)), key="replay_scores")


def calls_of(bench: ReplayBench) -> dict[str, Call]:
    """Return the calls that were made on this bench, by id."""
    return {call.id: call for call in bench.live.calls}


# --- saving ---------------------------------------------------------------------------------------


def draw_save(here: Here, bench: ReplayBench) -> None:
    """Draw the choice of a study, the button, and what came of it."""
    if bench.solved is None and bench.judged is None and not bench.points:
        return
    saving = st.session_state.get(SAVING)
    if saving is not None and saving[0] == bench.key:
        _saving(saving[1])
        return
    targets, names = _targets(here)
    key, name_key = f"save_to_{bench.key}", "save_name"
    st.session_state.setdefault(key, next(iter(targets)))
    with st.container(horizontal=True, vertical_alignment="bottom", key="stepbar_save"):
        st.selectbox(
            "Save into", list(targets), key=key, format_func=lambda k: names.get(k, k), width=200
        )
        if st.session_state[key] == NEW:
            st.text_input("Its name", key=name_key, max_chars=120, width=220)
        team.button(
            "edit",
            "Save",
            key="save_now",
            disabled=bench.busy,
            on_click=lambda: _save(
                here, bench, st.session_state[key], st.session_state.get(name_key, "")
            ),
        )
    told = st.session_state.get(SAVED)
    if told is not None and told[0] == bench.key:
        kit.show(told[1], key="save_note")


def _targets(here: Here) -> tuple[dict[str, StudyEntry | None], dict[str, str]]:
    listed = stores.all_studies()
    own = [entry for entry in listed.entries if not entry.bundled]
    targets: dict[str, StudyEntry | None] = {}
    names: dict[str, str] = {}
    if here.entry.bundled:
        store = stores.user_store()
        copy = find_copy(store, here.entry.study.id) if store is not None else None
        targets[COPY] = None
        names[COPY] = copy.name if copy else f"{DEMO_COPY}, your own copy"
        own = [entry for entry in own if copy is None or entry.study.id != copy.id]
    else:
        own.sort(key=lambda entry: entry.key != here.entry.key)
    for entry in own:
        targets[entry.key], names[entry.key] = entry, entry.study.name
    targets[NEW], names[NEW] = None, "A new study…"
    return targets, names


def _save(here: Here, bench: ReplayBench, key: str, name: str) -> None:
    st.session_state.pop(SAVED, None)
    targets, _ = _targets(here)
    entry = targets.get(key)

    def into(store: OpenStore) -> Study:
        if key == COPY:
            return own_copy(here.store, here.entry.study.id, store)
        if key == NEW or entry is None:
            live = bench.live
            settings = {
                "judge_sampling": live.judge_sampling,
                "answer_sampling": live.answer_sampling,
            }
            return new_study(store, name, here.entry.study.model_copy(update=settings))
        return entry.study

    try:
        store = stores.user_store(create=True)
    except AtomError as error:
        st.session_state[SAVED] = (bench.key, kit.fault(error))
        return
    assert store is not None
    job_id = work.start("save", lambda: _write(bench, store, into(store)))
    st.session_state[SAVING] = (bench.key, job_id)
    _saved(bench.key, job_id)


def _write(bench: ReplayBench, store: OpenStore, study: Study) -> Html:
    live, result = bench.live, bench.result
    usable = result if result is not None and result.criteria_set.state == "scored" else None
    kept = {c.id for c in usable.criteria} if usable else set()
    given = [
        answer
        for answer in bench.answers.given
        if answer.response.id == bench.answers.chosen
        or any(response_id == answer.response.id for _, response_id in bench.points)
    ]
    points = [
        point
        for (criterion_id, response_id), point in bench.points.items()
        if criterion_id in kept and any(a.response.id == response_id for a in given)
    ]
    mappings = (
        mappings_of(live.sample, bench.drafts, bench.mapped, live.version, live.judge_id)
        if usable
        else ()
    )
    live.save(
        store,
        study.id,
        solved=bench.solved,
        result=usable,
        mappings=mappings,
        answers=[(answer.candidate, answer.response) for answer in given],
        others=[*points, *(answer.outcome for answer in given if answer.outcome is not None)],
    )
    words = [
        "the judge's solution" if bench.solved else "",
        f"{len(kept):,} criteria" if kept else "",
        f"{len(given):,} answer{'s' * (len(given) != 1)}" if given else "",
        f"{len(points):,} scores" if points else "",
    ]
    return _note(bench, study, ", ".join(word for word in words if word))


def _note(bench: ReplayBench, study: Study, what: str) -> Html:
    live = bench.live
    answer = bench.answer
    filters = Filters(
        study=study.id,
        sample=live.sample.id,
        model=answer.candidate.id if answer else None,
        show="all",
    )
    foreign = answer is not None and not counts_in(answer.response, study)
    other_judge = study.judge_id is not None and study.judge_id != live.judge_id
    other_tree = study.tree_version is not None and study.tree_version != live.version
    return el(
        "div",
        el("p", "Saved into ", el("span", study.name, class_="strong text"), f": {what}."),
        el("p", "That study has another judge: its tables go on showing that judge's scores.",
           class_="quiet small") if other_judge else None,
        el("p", "That study uses another version of the capability tree: place the criteria in it "
           "by a run with the stage mapping.", class_="quiet small") if other_tree else None,
        el("p", "That study asks its models otherwise "
           f"({sampling_words(study.answer_sampling)}): this answer doesn't count in it.",
           class_="quiet small") if foreign else None,
        el("div", kit.button("Open in Failures", links.address(FAILURES.url_path, filters),
                             primary=True), class_="row", style="margin-top:6px"),
        class_="notice",
        role="status",
    )  # fmt: skip


def _saved(bench_key: str, job_id: str) -> bool:
    """Take in what saving has brought; False while it is under way."""
    job = work.jobs().get(job_id)
    state = job.snapshot() if job is not None else None
    if state is not None and state.status == "running":
        return False
    st.session_state.pop(SAVING, None)
    if state is None or state.status != "done":
        error = state.error if state is not None else "the server was restarted: save again"
        st.session_state[SAVED] = (bench_key, kit.fault(error, title="Nothing was saved"))
    else:
        st.session_state[SAVED] = (bench_key, state.result)
    return True


def _saving(job_id: str) -> None:
    @st.fragment(run_every=work.LOOK_EVERY)
    def look() -> None:
        job = work.jobs().get(job_id)
        state = job.snapshot() if job is not None else None
        if state is None or state.status != "running":
            _saved(st.session_state[SAVING][0], job_id)
            st.rerun()
        words = f"Saving… {state.seconds:.0f} s. The first time, the bundled study is copied."
        kit.show(el("p", words, class_="quiet small"), key="saving_words")

    look()

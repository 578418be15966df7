"""The Judge lab's forms under "Against people": asking a judge by rival methods, people's rankings.

What a sealed study is asked, or is told by people, goes to a copy of the reader's own.

Reference: ATOM 4.1, Tables 1 and 2, appendix B.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from atom.display import numbers
from atom.engine.bench.fidelity import (
    FidelityForecast,
    FidelitySpec,
    MethodForecast,
    forecast_fidelity,
)
from atom.engine.bench.rankings import (
    PLANTED,
    RankingsTaken,
    import_rankings,
    plant_rankings,
    preview_rankings,
)
from atom.engine.consent import ConsentNeeded
from atom.engine.control import RunStatus, list_runs, start_work
from atom.engine.members import judge_of
from atom.engine.studies.new import DEMO_COPY, find_copy
from atom.errors import AtomError
from atom.formats import ImportFile
from atom.methods.registry import ASKED, METHODS
from atom.records import Endpoint, MethodsTask, Study, content_id
from atom.ui import kit, links, work
from atom.ui.html import Html, el, join
from atom.ui.lab.bench import sets
from atom.ui.pages import JUDGE_LAB
from atom.ui.plain import plain
from atom.ui.runs import control as run_control
from atom.ui.runs import parts as runs_parts
from atom.ui.shell import sealed, stores, team
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.lab.fidelity.tab import FidelityView
from atom.views.runs.page import run_view, task_words

TAB = "people"
FORMS = "people_forms"
FAULT = "people_fault"
TOLD = "people_told"
JOB = "people_job"
"""The job that changes the study: (study's id, what it does, its id)."""
UPLOADS = "people_uploads"
"""How many files were taken in: the next upload gets a box of its own."""
_WORDS = {
    "copy": "Copying the study…",
    "take": "Taking the rankings in…",
    "plant": "Drawing rankings from the truth…",
}


def draw(here: Here, view: FidelityView) -> None:
    """Draw the forms, and the run that works on them."""
    study = here.entry.study
    _show_told(here)
    job = st.session_state.get(JOB)
    if job is not None and job[0] == study.id:
        _watch(here, job[1], job[2])
        return
    if here.store.read_only:
        _sealed(here)
        return
    if view.compared and not _draw_progress(here):
        ranked = bool(view.people.pairs)
        begun = any(row.name in ASKED for row in view.measured)
        with st.expander("Ask a judge to rank the answers", expanded=ranked and not begun,
                         key=f"people_ask_{study.id[:12]}"):  # fmt: skip
            _draw_form(here)
    with st.expander("Take in people’s rankings", expanded=not view.people.pairs,
                     key=f"people_in_{study.id[:12]}"):  # fmt: skip
        _draw_rankings(here, view)


def _show_told(here: Here) -> None:
    fault = st.session_state.get(FAULT)
    if fault:
        kit.show(kit.fault(fault), key="people_fault_shown")
    told: _ChangeNote | None = st.session_state.get(TOLD)
    if told is None or told.place != _place(here):
        st.session_state.pop(TOLD, None)
        return
    more = sets.lines(told.lines) if told.lines else None
    kit.show(kit.notice(join(told.words, more)), key="people_told_shown")


@dataclass(frozen=True, kw_only=True)
class _ChangeNote:
    """What came of a change; it's said until the store changes again."""

    place: tuple[str, str, int]
    words: str
    lines: tuple[str, ...]


def _place(here: Here) -> tuple[str, str, int]:
    return here.store.url, here.entry.study.id, here.store.revision()


# --- a sealed study -------------------------------------------------------------------------------


def _sealed(here: Here) -> None:
    """Offer the reader's own copy, where a judge can be asked and rankings are kept."""
    mine = stores.user_store()
    copy = find_copy(mine, here.entry.study.id) if mine is not None else None
    name = copy.name if copy is not None else DEMO_COPY
    words = (
        "This study is sealed: nobody can be asked about it, and it takes no rankings in. Both "
        f"work in a copy of your own, {name!r}. What was paid for goes with it."
    )

    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_people_copy"):
        team.button("edit", "Open my copy" if copy is not None else "Make a copy of my own",
                  key="people_copy", type="primary",
                  on_click=lambda: _begin(here, "copy", sealed.copying(here)))  # fmt: skip
        kit.show(el("p", words, class_="quiet small text"), key="people_copy_words")


# --- jobs -----------------------------------------------------------------------------------------


def _begin(here: Here, what: str, do: Callable[[], object]) -> None:
    """Change something in the background; the page draws itself anew when it is done."""
    st.session_state.pop(FAULT, None)
    st.session_state[JOB] = (here.entry.study.id, what, work.start(f"people {what}", do))


def _watch(here: Here, what: str, job_id: str) -> None:
    state = work.ended(job_id, _WORDS[what])
    if state is None:
        return
    st.session_state.pop(JOB, None)
    if state.status != "done":
        st.session_state[FAULT] = state.error
    elif what == "copy":
        study = cast("Study", state.result)
        kit.go(links.address(JUDGE_LAB.url_path, Filters(study=study.id), tab=TAB))
    else:
        found = cast("RankingsTaken", state.result)
        words = f"Taken in: {_taken_words(found)}."
        st.session_state[TOLD] = _ChangeNote(
            place=_place(here), words=words, lines=(*found.notes, *found.skipped)
        )
        st.session_state[UPLOADS] = st.session_state.get(UPLOADS, 0) + (what == "take")
    st.rerun()


# --- asking a judge -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MethodsAskForm:
    """What the form asks for."""

    judge: str = ""
    methods: tuple[str, ...] = ASKED
    limit: int | None = None
    budget: float | None = None

    def spec(self, study: Study, methods: tuple[str, ...]) -> FidelitySpec:
        """Say it to the engine."""
        return FidelitySpec(
            study_id=study.id,
            judge=self.judge,
            methods=methods,
            limit=self.limit,
            budget=self.budget,
        )


def _first_judge(here: Here, judges: list[str], endpoints: Mapping[str, Endpoint]) -> str:
    """Return the endpoint that judged the study, else one that knows its truth, else the first."""
    own = here.data.judge
    named = (own.endpoint, own.name) if own is not None else ()
    usual = [name for name in judges if name in named or endpoints[name].model in named]
    probes = ["probe-judge"] if here.entry.study.synthetic and "probe-judge" in judges else []
    real = [name for name in judges if not endpoints[name].is_probe]
    return next(iter([*usual, *probes, *real]), "")


def _draw_form(here: Here) -> None:
    study = here.entry.study
    endpoints = work.endpoints_or_none("people_endpoints", here.filters)
    if endpoints is None:
        return
    judges = [name for name, endpoint in endpoints.items() if "judge" in endpoint.roles]
    held: dict[str, MethodsAskForm] = st.session_state.setdefault(FORMS, {})
    held.setdefault(study.id, MethodsAskForm(judge=_first_judge(here, judges, endpoints)))
    _fields(held, study, judges)
    form = held[study.id]
    rows = st.container(gap="small", key="people_methods")
    if not form.judge:
        kit.show(kit.notice("Choose a judge."), key="people_problem")
    found = _forecast(here, form, endpoints) if form.judge else None
    with rows:
        _methods(held, study, found)
    form = held[study.id]
    if found is not None:
        kit.show(_price(form, found, endpoints[form.judge]), key="people_price")
    _start_button(here, form, found, endpoints)


def _fields(held: dict[str, MethodsAskForm], study: Study, judges: list[str]) -> None:
    form = held[study.id]

    def typed(field: str, key: str) -> None:
        value = st.session_state[key]
        changes: dict[str, Any] = {field: (value or "") if field == "judge" else value}
        held[study.id] = replace(held[study.id], **changes)

    def bound(field: str, value: object) -> dict[str, Any]:
        key = f"people_{field}_{study.id[:12]}"
        st.session_state[key] = value
        return {"key": key, "on_change": typed, "args": (field, key)}

    first, second, third = st.columns([2, 1, 1])
    with first:
        st.selectbox("Judge", judges, index=None, placeholder="Choose a judge",
                     **bound("judge", form.judge if form.judge in judges else None))  # fmt: skip
    with second:
        st.number_input("At most samples", 1, 1_000_000, step=1, placeholder="all",
                        help="Those that people ranked come first.",
                        **bound("limit", form.limit))  # fmt: skip
    with third:
        st.number_input("At most USD", 0.0, 1_000_000.0, step=1.0, placeholder="no cap",
                        **bound("budget", form.budget))  # fmt: skip


def _methods(held: dict[str, MethodsAskForm], study: Study, found: FidelityForecast | None) -> None:
    """Draw a box for each method: what it asks, and how many calls that makes."""
    calls = {one.method: one for one in found.methods} if found is not None else {}

    def ticked(name: str, key: str) -> None:
        form = held[study.id]
        on = [
            one for one in ASKED if (st.session_state[key] if one == name else one in form.methods)
        ]
        held[study.id] = replace(form, methods=tuple(on))

    for name in ASKED:
        key = f"people_method_{name}_{study.id[:12]}"
        st.session_state[key] = name in held[study.id].methods
        method, row = METHODS[name], calls.get(name)
        label = f"{method.title}: {method.about}"
        if row is not None:
            label += f" · {calls_words(row)}"
        st.checkbox(plain(label), key=key, on_change=ticked, args=(name, key))
    kit.show(
        el("p", "ATOM, with its weights or without, is read off the checkpoints that the study’s "
           "own run has scored: nothing is asked here.", class_="quiet small"),
        key="people_atom",
    )  # fmt: skip


def calls_words(row: MethodForecast) -> str:
    """Say how many calls a method would make."""
    blocked = (
        f"; {numbers.count(row.blocked, 'sample')} left out: nobody has solved "
        f"{'it' if row.blocked == 1 else 'them'} yet"
        if row.blocked
        else ""
    )
    if not row.calls:
        return f"nothing left to ask{blocked}"
    later = f", then about {row.later:,}" if row.later else ""
    return f"{numbers.count(row.calls, 'call')}{later}{blocked}"


def _forecast(
    here: Here, form: MethodsAskForm, endpoints: Mapping[str, Endpoint]
) -> FidelityForecast | None:
    """Count what every method would ask, in the background, once for each form and revision."""
    store, study = here.store, here.entry.study
    spec = form.spec(study, ())
    key = content_id("people forecast", repr(spec), store.revision(), store.url)
    state = work.worked_out(
        "people forecast", key, lambda: forecast_fidelity(store, spec, endpoints), work.COUNTING
    )
    if state is not None and state.result is None:
        kit.show(kit.fault(state.error or "the count was stopped"), key="people_forecast")
    return None if state is None else state.result


def _chosen(form: MethodsAskForm, found: FidelityForecast) -> FidelityForecast:
    """Keep what the ticked methods would ask."""
    return replace(found, methods=tuple(one for one in found.methods if one.method in form.methods))


def _price(form: MethodsAskForm, found: FidelityForecast, endpoint: Endpoint) -> Html:
    if not form.methods:
        return kit.notice("Tick at least one method.")
    asked = _chosen(form, found)
    if not asked.calls:
        return kit.notice("Nothing is left to ask: these methods have seen all these answers.")
    return kit.facts(asked.facts(endpoint))


def _start_button(
    here: Here,
    form: MethodsAskForm,
    found: FidelityForecast | None,
    endpoints: Mapping[str, Endpoint],
) -> None:
    store, study = here.store, here.entry.study
    spec = form.spec(study, form.methods)

    def start() -> None:
        st.session_state.pop(FAULT, None)
        try:
            start_work(store, spec, stores.settings())
        except ConsentNeeded as needed:
            pictures = sum(one.pictures for one in needed.questions)
            texts = sum(one.texts for one in needed.questions)
            sent = (
                f"{numbers.count(pictures, 'picture')} and {numbers.count(texts, 'question')} with "
                "all candidates' answers would be sent"
            )
            work.ask_first(here.entry, [one.host for one in needed.questions], sent, start)
            return
        except AtomError as error:
            st.session_state[FAULT] = error.message
            return
        st.query_params["who"] = judge_of(endpoints[spec.judge]).id

    nothing = found is None or not _chosen(form, found).calls
    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_people_start"):
        team.button(
            "run", "Start", key="people_start", type="primary", on_click=start, disabled=nothing
        )
        words = "It goes on when you close this page; Stop loses nothing that is done."
        kit.show(el("p", words, class_="quiet small"), key="people_start_words")


def _draw_progress(here: Here) -> bool:
    """Draw the run that works on the methods, or that was left; return whether one works."""
    found = list_runs(here.store, here.entry.study.id)
    known = [one for one in found if one.run.kind == "methods"]
    status = next((one for one in known if one.alive), None) or (known[0] if known else None)
    if status is None or (
        not status.alive and status.run.state == "done" and not status.run.failed
    ):
        return False
    run_id, alive = status.run.id, status.alive

    def watch(seen: RunStatus) -> None:
        asked = seen.run.task.methods if isinstance(seen.run.task, MethodsTask) else ()
        titles = [METHODS[name].title if name in METHODS else name for name in asked]
        who = el("p", f"{seen.run.judge}: {', '.join(titles)}", class_="quiet small text",
                 data_tip=task_words(seen.run))  # fmt: skip
        pace = runs_parts.pace(run_control.watched(seen), "questions")
        kit.show(join(who, pace), key=f"people_run_{run_id}")

    run_control.follow(here.store, status, watch)
    run_control.buttons(
        here, run_view(status.run, alive=alive), key="people_run", fault=FAULT,
        sent="Pictures and questions with all candidates' answers would be sent",
        more=lambda: st.button("Show the figures so far", key="people_refresh"),
    )  # fmt: skip
    return alive


# --- people's rankings ----------------------------------------------------------------------------


def _draw_rankings(here: Here, view: FidelityView) -> None:
    left, right = st.columns([1.25, 1], gap="large") if view.synthetic else (st.container(), None)
    with left:
        _files(here)
    if right is not None:
        with right:
            _plant(here, view)


def _files(here: Here) -> None:
    store, study = here.store, here.entry.study
    kit.show(
        el(
            "div",
            el("h2", "From files", style="margin:0"),
            el("p", "CSV or JSON lines. A row an answer: ",
               el("code", "sample, candidate, rank, annotator"), " (1 is best, equal ranks "
               "tie); or a row a pair: ",
               el("code", "sample, candidate_a, candidate_b, preferred, annotator"),
               ". A file is looked at first; nothing is kept until you take it in.",
               class_="quiet small"),
        ),
        key="people_files_head",
    )  # fmt: skip
    box = f"people_files_{study.id[:12]}_{st.session_state.get(UPLOADS, 0)}"
    chosen = st.file_uploader("Rankings", accept_multiple_files=True, key=box)
    if not chosen:
        return
    files = [ImportFile.from_bytes(one.name, one.getvalue()) for one in chosen]
    key = content_id(
        "people files", study.id, store.revision(), store.url, *(one.file_id for one in chosen)
    )
    state = work.worked_out(
        "rankings", key, lambda: preview_rankings(store, study.id, files), "Looking at the files…"
    )
    if state is None:
        return
    found = state.result
    if found is None:
        kit.show(kit.fault(state.error or "the look was stopped"), key="people_files_fault")
        return
    kit.show(preview(found), key="people_preview")
    team.button(
        "import", "Take them in", key="people_take", type="primary", disabled=not found.labels,
        on_click=lambda: _begin(here, "take", lambda: import_rankings(store, study.id, files)),
    )  # fmt: skip


def _taken_words(found: RankingsTaken) -> str:
    who = ", ".join(numbers.middle(name, 30) for name in found.annotators[:4])
    more = f" and {len(found.annotators) - 4:,} more" if len(found.annotators) > 4 else ""
    return (
        f"{numbers.count(found.labels, 'ranking or preference', 'rankings or preferences')} of "
        f"{numbers.count(found.samples, 'sample')} by {who}{more}"
    )


def preview(found: RankingsTaken) -> Html:
    """Draw what would come of files of rankings: what is read, what is skipped, and why."""
    read = f"{numbers.count(found.rows, 'row')} read: "
    said = [
        el("p", read, f"{_taken_words(found)} can be taken in.", class_="strong text")
        if found.labels
        else el("p", read, "none ranks two answers of this study.", class_="strong")
    ]
    if found.replaced:
        words = (
            f"{found.replaced:,} of them {'stands' if found.replaced == 1 else 'stand'} in place "
            "of what the same person said before."
        )
        said.append(el("p", words))
    if found.n_skipped:
        cut = f" (the first {len(found.skipped):,})" if found.n_skipped > len(found.skipped) else ""
        title = f"{found.n_skipped:,} left out, and why{cut}"
        said.append(kit.fold(title, sets.lines(found.skipped), opened=True))
    else:
        said.append(el("p", "Nothing is left out.", class_="quiet"))
    if found.notes:
        said.append(kit.fold("What to know about these files", sets.lines(found.notes),
                             opened=True))  # fmt: skip
    return el("div", said, class_="stack", style="gap:6px")


def _plant(here: Here, view: FidelityView) -> None:
    store, study = here.store, here.entry.study
    there = PLANTED in view.people.annotators
    words = (
        "They are there already: the same truth would be drawn again."
        if there
        else "This study’s answers are simulated, so what people would say of each pair can be "
        "drawn from the truth, with people’s noise. Such rankings show that the figures work; "
        "they tell nothing about real people, and are labelled SYNTHETIC wherever they count."
    )
    kit.show(
        el(
            "div",
            el("h2", "From the truth", style="margin:0"),
            kit.synthetic_badge(),
            el("p", words, class_="quiet small"),
        ),
        key="people_plant_head",
    )
    team.button(
        "import", "Plant people’s rankings (synthetic)", key="people_plant", disabled=there,
        on_click=lambda: _begin(here, "plant", lambda: plant_rankings(store, study.id)),
    )  # fmt: skip

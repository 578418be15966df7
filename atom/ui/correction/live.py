"""One answer, tried again on demand: its price, the words as they come, what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import streamlit as st

from atom.display import numbers
from atom.engine.consent import give_consent
from atom.engine.correction.forecast import CorrectionForecast, forecast_experiment
from atom.engine.correction.live import spec_of_answer, try_again
from atom.engine.correction.trials import StepKind, TrialStep
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.jobs import Job
from atom.engine.studies.new import DEMO_COPY, own_copy
from atom.errors import AtomError
from atom.records import Arm, Endpoint, Response, content_id
from atom.ui import kit, links, work
from atom.ui import said as ui_said
from atom.ui.correction import cases as correction_cases
from atom.ui.correction import experiments
from atom.ui.correction.cases import CaseDoors
from atom.ui.correction.doors import ExperimentDoors
from atom.ui.correction.form import default_judge
from atom.ui.html import Html, el
from atom.ui.pages import CORRECTION, FAILURES
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here
from atom.views.correction.case import case_view
from atom.views.correction.cases import CaseQuery
from atom.views.correction.form import ARM_WORDS, ARMS, arms_possible
from atom.views.correction.picked import PickedAnswer, picked_answers
from atom.views.failures.sample import sample_view
from atom.views.filters import Filters

TAB = "one"
WORKING = "correction_one_job"
FAULT = "correction_one_fault"
USUAL: Arm = "guided"
_MARK, _FIELD = "\x1e", "\x1f"
_STEP_WORDS: dict[StepKind, str] = {
    "retry": "the model answers",
    "hint": "a peer writes a hint",
    "scoring": "the judge scores",
    "outcome": "the judge checks the final answer",
    "rejudge": "the judge checks the old answer again",
}


@dataclass(frozen=True, kw_only=True)
class RetryForecast:
    """What trying an answer again would ask."""

    forecast: CorrectionForecast
    arms: tuple[Arm, ...]


def draw(here: Here) -> None:
    """Draw the part of the page that tries one answer again."""
    first = _first(here)
    if first is None:
        kit.show(_choose(here), key="one_choose")
        return
    arm = chosen_arm(here)
    _controls(here, first, arm)
    view = case_view(here.store, here.data, first.id, arm=arm, filters=here.filters)
    if view is None:
        return
    doors = CaseDoors(
        here, ExperimentDoors(filters=here.filters, experiment=None), CaseQuery(), TAB
    )
    if view.chosen is not None and view.chosen.arm != arm:
        view = replace(view, chosen=None, control=None, diff=())
    kit.show(correction_cases.case(here, view, doors), key="one_case")


def chosen_arm(here: Here) -> Arm:
    """Return what is tried: as the address says, else criterion-guided feedback."""
    return next((arm for arm in ARMS if arm == here.query.get("by")), USUAL)


def _first(here: Here) -> Response | None:
    """Return the model's first answer to the chain's sample."""
    filters = here.filters
    if filters.sample is None:
        return None
    view = sample_view(here.store, here.data, filters)
    if view is None or view.answer is None:
        return None
    model = filters.model or view.answer.candidate.id
    mine = [a for a in view.answers if a.candidate.id == model]
    return min((a.response for a in mine), key=lambda r: r.repeat, default=None)


def _choose(here: Here) -> Html:
    picked = picked_answers(here.store, here.data, here.filters)
    if picked:
        return _picked(here, picked)
    door = kit.button(
        "Choose an answer on Failures",
        links.address(FAILURES.url_path, here.filters),
        primary=True,
    )
    return kit.empty(
        "Choose an answer first",
        "Open a failed answer and press “Let the model try again”: it comes back here, and you "
        "watch what it says now, how the judge scores it, and what another try without feedback "
        "brings.",
        door,
    )


def _picked(here: Here, picked: Sequence[PickedAnswer]) -> Html:
    """Offer answers of the study's experiments that show what feedback does."""
    answers = numbers.count(len(picked), "answer")
    return el(
        "section",
        el("p", f"{answers} came right when asked about the failed steps, and stayed wrong in "
           "every control: open one and try it again.", class_="strong"),
        kit.grid(
            picked,
            kit.MarkupColumn(
                "Watch it again",
                lambda one: kit.door(
                    numbers.middle(one.question, 200),
                    links.address(CORRECTION.url_path, one.filters, tab=TAB, by=USUAL),
                ),
                width="56%",
            ),
            kit.MarkupColumn("Model", lambda one: el("span", one.model, class_="model")),
            kit.MarkupColumn(
                "Stayed wrong when",
                lambda one: ", ".join(ARM_WORDS[arm].name.lower() for arm in one.stayed_wrong),
            ),
            label="Picked answers",
        ),
        el("p", "Picked for that, so they prove nothing by themselves; ",
           kit.door("Result", links.address(CORRECTION.url_path, here.filters)),
           " counts all answers. Any other answer can be tried from ",
           kit.door("Failures", links.address(FAILURES.url_path, here.filters)), ".",
           class_="quiet small"),
        class_="stack",
    )  # fmt: skip


# --- what it would cost, and the start ------------------------------------------------------------


def _controls(here: Here, first: Response, arm: Arm) -> None:
    held = st.session_state.get(WORKING)
    if held is not None:
        _working(here, held[0], held[1], held[2])
        return
    possible: list[Arm] = [one for one in arms_possible(here.data) if one != "rejudge"]
    possible = possible or [arm]
    key = "one_arm"
    st.session_state[key] = arm if arm in possible else possible[0]

    def picked() -> None:
        st.query_params["by"] = st.session_state[key]

    with st.container(horizontal=True, key="sentence_one", vertical_alignment="center"):
        st.text("Let the model try again:", width="content")
        st.selectbox("What it hears", possible, key=key, on_change=picked, width=250,
                     format_func=lambda one: ARM_WORDS[one].name,
                     label_visibility="collapsed")  # fmt: skip
        ready = _ready(here, first, arm)
        if ready is not None:
            _button(here, first, arm, ready)
    kit.show(el("p", ARM_WORDS[arm].meaning, class_="quiet small"), key="one_meaning")
    fault = st.session_state.get(FAULT)
    if fault:
        kit.show(kit.fault(fault), key="one_fault")


def _ready(here: Here, first: Response, arm: Arm) -> RetryForecast | None:
    """Work out in the background what would be asked; say why it can't be."""
    try:
        endpoints = known_endpoints(stores.settings())
    except AtomError as error:
        kit.show(experiments.no_endpoint(error.message, here.filters), key="one_ends")
        return None
    key = content_id("one", here.entry.key, first.id, arm, here.store.revision(), here.store.url)
    state = work.worked_out(
        "one forecast", key, lambda: _look(here, first, arm, endpoints),
        "Counting what it would cost…",
    )  # fmt: skip
    if state is None:
        return None
    if state.result is None:
        words = state.error or "the count was stopped"
        kit.show(experiments.no_endpoint(words, here.filters), key="one_forecast")
        return None
    return state.result


def _look(here: Here, first: Response, arm: Arm, endpoints: dict[str, Endpoint]) -> RetryForecast:
    spec = spec_of_answer(
        here.store,
        here.entry.study.id,
        first.id,
        endpoints,
        arms=arms_of(arm),
        judge=default_judge(here, endpoints),
    )
    return RetryForecast(forecast=forecast_experiment(here.store, spec, endpoints), arms=spec.arms)


def arms_of(arm: Arm) -> tuple[Arm, ...]:
    """Return what is tried: the arm, and another try without feedback as its control."""
    return tuple(one for one in get_args(Arm) if one in (arm, "fresh"))


def _button(here: Here, first: Response, arm: Arm, ready: RetryForecast) -> None:
    found = ready.forecast
    skipped = next((w for a in found.arms if a.arm == arm for w in a.skipped), "")
    if arm not in ready.arms:
        words = "This answer was right: only asking about its weakest steps is tried on it."
        kit.show(el("p", words, class_="quiet small"), key="one_right")
        return
    if skipped:
        kit.show(el("p", f"Not possible: {skipped}", class_="quiet small"), key="one_skipped")
        return
    if not found.most_calls:
        kit.show(el("p", "Tried already: what came of it is below.", class_="quiet small"),
                 key="one_done")  # fmt: skip
        return

    def start() -> None:
        if WORKING in st.session_state:  # the second half of a double click
            return
        st.session_state.pop(FAULT, None)
        st.session_state[WORKING] = (_start(here, first, arm), arm, first.id)

    def ask() -> None:
        what = "This picture and question, the answer, and questions about its steps would be sent"
        work.agree_then(here, found.endpoints, what, start)

    team.button("run", "Try again", key="one_start", type="primary", on_click=ask)
    words = f"{numbers.count(found.calls, 'call')}: {found.price}"
    if here.entry.bundled:
        words += f"; kept in your own copy, {DEMO_COPY!r}"
    kit.show(el("p", words, class_="quiet small"), key="one_price")


def _start(here: Here, first: Response, arm: Arm) -> str:
    entry, source = here.entry, here.store
    target = stores.user_store(create=True) if entry.bundled else source
    hosts = work.agreed_now(entry)
    endpoints = known_endpoints(stores.settings())
    judge = default_judge(here, endpoints)

    async def work_(job: Job[object]) -> object:
        assert target is not None
        study_id = entry.study.id
        if entry.bundled:
            copy = await asyncio.to_thread(own_copy, source, entry.study.id, target)
            study_id = copy.id
            if hosts:
                give_consent(target, study_id, hosts)

        def heard(step: TrialStep, text: str) -> None:
            clean = text.replace(_MARK, " ").replace(_FIELD, " ")
            job.say(f"{_MARK}{step.trial.arm}{_FIELD}{step.kind}{_FIELD}{clean}")

        await try_again(
            target,
            study_id,
            first.id,
            endpoints,
            arms=arms_of(arm),
            judge=judge,
            on_text=heard,
        )
        return study_id

    return work.begin("try again", work_)


# --- while it goes on -----------------------------------------------------------------------------


def _working(here: Here, job_id: str, arm: Arm, response_id: str) -> None:
    with st.container(horizontal=True, key="stepbar_one", vertical_alignment="center"):
        st.button("Stop", key="one_stop", on_click=work.halt, args=(job_id,))

    @st.fragment(run_every=work.LOOK_EVERY)
    def watch() -> None:
        state = work.state_of(job_id)
        if state.status == "running":
            kit.show(growing(state.text, state.seconds), key="one_growing")
            return
        st.session_state.pop(WORKING, None)
        if state.result is not None:
            _move(here, state.result, arm, response_id)
        elif state.status == "failed":
            st.session_state[FAULT] = state.error
        st.rerun()

    watch()


def _move(here: Here, study_id: str, arm: Arm, response_id: str) -> None:
    """Show what came of it, in the user's own copy where the study is sealed."""
    key = study_id if here.entry.bundled else here.entry.key
    store = stores.user_store() if here.entry.bundled else here.store
    response = store.get(Response, response_id) if store is not None else None
    chain = Filters() if response is None else here.filters.but(
        sample=response.sample_id, model=response.candidate_id
    )  # fmt: skip
    kit.go(links.address(CORRECTION.url_path, chain.but(study=key), tab=TAB, by=arm))


def growing(text: str, seconds: float) -> Html:
    """Draw what has streamed in so far, a panel for each answer."""
    pieces = parse(text)
    panels = [
        el(
            "div",
            el("h2", f"{ARM_WORDS[arm].name}: {_STEP_WORDS[kind]}"),
            ui_said.said(said, lights=False),
        )
        for arm, kind, said in pieces
        if kind in ("retry", "hint")
    ]
    last = pieces[-1] if pieces else None
    doing = f"{ARM_WORDS[last[0]].name}: {_STEP_WORDS[last[1]]}" if last else "Getting ready"
    return el(
        "div",
        el("p", f"{doing}… {seconds:.0f} s", class_="quiet"),
        el("div", panels, class_="answers"),
        style="display:flex;flex-direction:column;gap:8px",
    )


def parse(text: str) -> list[tuple[Arm, StepKind, str]]:
    """Read the stream of a job back: what each step has said so far."""
    found: list[tuple[Arm, StepKind, str]] = []
    for part in text.split(_MARK)[1:]:
        arm, _, rest = part.partition(_FIELD)
        kind, _, said = rest.partition(_FIELD)
        if arm not in ARMS or kind not in _STEP_WORDS:
            continue
        key = (arm, kind)
        if found and found[-1][:2] == key:
            found[-1] = (*key, found[-1][2] + said)
        else:
            found.append((*key, said))
    return found

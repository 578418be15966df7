"""The Runs page's controls: start, watch, stop, resume."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from atom.engine.control import MOST_PROCESSES, RunStatus, list_runs
from atom.engine.forecast import Forecast, forecast
from atom.engine.members import MOST_REPEATS
from atom.engine.studies.new import DEMO_COPY
from atom.engine.study.spec import JUDGE_STAGES, STAGES, RunSpec
from atom.pipeline import ANSWER
from atom.records import Endpoint, Sampling, content_id
from atom.ui import kit, links, work
from atom.ui.html import el
from atom.ui.looks import panel as settle_panel
from atom.ui.pages import REPLAY, SETTINGS
from atom.ui.plain import plain
from atom.ui.runs import batch as batch_panel
from atom.ui.runs import blind as blind_panel
from atom.ui.runs import control as run_control
from atom.ui.runs import panel as judges_panel
from atom.ui.runs import parts as runs_parts
from atom.ui.runs import sampling as sampling_box
from atom.ui.shell import sealed, stores
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.runs.page import RunForm, log_tail, run_labels, run_view
from atom.views.runs.together import all_runs_now, sharing_now

FORMS = "runs_forms"
FAULT = "runs_fault"


# --- a sealed study -------------------------------------------------------------------------------


def draw_sealed(here: Here) -> None:
    """Draw what has run, and offer a copy, since a sealed study can't be added to."""
    runs = found_runs(here)
    if runs:
        made = runs_parts.made_by([item.run for item in runs], run_control.priced())
        kit.show(made, key="runs_made")
        draw_history(here, runs)
    sealed.offer_copy(
        here,
        "runs",
        "A run adds to a study, and this one can't be changed. Make your own copy: it is called "
        f"{DEMO_COPY!r}, holds everything that is here, and nothing is judged twice.",
        button="Make my own copy",
        fault=FAULT,
    )
    _show_fault()


def _show_fault() -> None:
    fault = st.session_state.get(FAULT)
    if fault:
        kit.show(kit.fault(fault), key="runs_fault_shown")


# --- runs -----------------------------------------------------------------------------------------


def found_runs(here: Here) -> list[RunStatus]:
    """Return the study's runs, the newest first."""
    return list_runs(here.store, here.entry.study.id)


def _looked_at(here: Here, runs: list[RunStatus]) -> RunStatus | None:
    """Return the run that is looked at: the chosen one, else one that works, else the newest."""
    wanted = here.query.get("run")
    return (
        next((item for item in runs if item.run.id == wanted), None)
        or next((item for item in runs if item.alive), None)
        or (runs[0] if runs else None)
    )


def draw_run(here: Here, runs: list[RunStatus]) -> None:
    """Draw the run that is looked at."""
    status = _looked_at(here, runs)
    if status is None:
        return
    run_id = status.run.id
    labels = run_labels(here.store, [status.run])

    def look(now: RunStatus) -> None:
        view = run_control.watched(now, labels.get(run_id, ""), here.store)
        log = "" if now.alive else log_tail(here.store, run_id)
        kit.show(runs_parts.progress(view, Filters(study=here.entry.key), log), key=f"run_{run_id}")

    run_control.follow(here.store, status, look)
    run_control.buttons(
        here, run_view(status.run, alive=status.alive), key="run", fault=FAULT, sent=_sent(here),
        more=lambda: None,
    )  # fmt: skip


# --- starting one ---------------------------------------------------------------------------------


def _form(here: Here, endpoints: dict[str, Endpoint]) -> RunForm:
    held: dict[str, RunForm] = st.session_state.setdefault(FORMS, {})
    if here.entry.key not in held:
        held[here.entry.key] = RunForm(
            judge=work.usual_judge(here.store, here.data, endpoints),
            stages=tuple(stage for stage in STAGES if stage in JUDGE_STAGES),
        )
    return held[here.entry.key]


def draw_start(here: Here, endpoints: dict[str, Endpoint]) -> None:
    """Draw the form that starts a run, with what it would do and cost."""
    form = _form(here, endpoints)
    held: dict[str, RunForm] = st.session_state[FORMS]

    def typed(field: str, key: str) -> None:
        value = st.session_state[key]
        if field == "stages":
            value = tuple(stage for stage in STAGES if stage in (value or ()))
        elif field == "candidates":
            value = tuple(value or ())
            stages = {*held[here.entry.key].stages} | ({ANSWER.name} if value else set())
            kept = tuple(s for s in STAGES if s in stages and (value or s in JUDGE_STAGES))
            held[here.entry.key] = replace(held[here.entry.key], stages=kept)
        elif field in ("repeats", "answer_repeats", "processes"):
            value = value or 1
        changes: dict[str, Any] = {field: value}
        held[here.entry.key] = replace(held[here.entry.key], **changes)

    def bound(field: str, value: object) -> dict[str, Any]:
        key = f"form_{field}_{here.entry.key}"
        st.session_state[key] = value
        return {"key": key, "on_change": typed, "args": (field, key)}

    judges = [name for name, endpoint in endpoints.items() if "judge" in endpoint.roles]
    models = [name for name, endpoint in endpoints.items() if "candidate" in endpoint.roles]
    kit.show(el("h2", "Start a run", style="margin:8px 0 0"), key="runs_start_head")
    left, right = st.columns([1, 1], gap="large")
    with left:
        chosen = form.judge if form.judge in judges else None
        st.selectbox(
            "Judge", judges, **bound("judge", chosen), index=None, placeholder="Choose who judges"
        )
        st.multiselect(
            "Models that answer first (none: judge the answers that are there)",
            models,
            **bound("candidates", [name for name in form.candidates if name in models]),
        )
        st.pills(
            "Stages",
            STAGES,
            selection_mode="multi",
            wrap=True,
            **bound("stages", list(form.stages)),
        )
        kit.show(runs_parts.stages(), key="runs_stages")
        _sampling(here, endpoints, held)
        with st.expander("More settings"):
            _processes(form, bound)
    with right:
        one, two = st.columns(2)
        with one:
            st.number_input("At most so many samples", 1, 1_000_000, step=1, placeholder="all",
                            **bound("limit", form.limit))  # fmt: skip
        with two:
            st.number_input("Spend at most (USD)", 0.0, 1_000_000.0, step=1.0,
                            placeholder="no cap", **bound("budget", form.budget))  # fmt: skip
        one, two = st.columns(2)
        with one:
            st.number_input("Answers per model", 1, MOST_REPEATS, step=1,
                            **bound("answer_repeats", form.answer_repeats),
                            help="Each is scored by itself; a sample's value is their "
                            "mean.")  # fmt: skip
        with two:
            st.number_input("Marks per answer", 1, MOST_REPEATS, step=1,
                            **bound("repeats", form.repeats),
                            help="A score is the mean of them; how far they differ shows how "
                            "steady the judge is.")  # fmt: skip
        st.checkbox("Show the judge the reference answer",
                    **bound("show_reference", form.show_reference),
                    help="It is told when it solves a question. Untold, what it doesn't "
                    "solve by itself is set aside.")  # fmt: skip
        st.checkbox("Score without the pictures", **bound("blind", form.blind),
                    help="The judge marks by the criteria and their truths alone, which costs "
                    "less. Such marks count only where there are none that saw the "
                    "pictures.")  # fmt: skip
        st.checkbox("Ask again for what failed before", **bound("retry_failed", form.retry_failed))
        st.checkbox("Ask again what the server spoiled",
                    **bound("retry_unscored", form.retry_unscored),
                    help="Replies that a server broke or cut off by an error. A refusal, a content "
                    "filter or a judge that declines stays as it is.")  # fmt: skip
        form = held[here.entry.key]
        if problem := form.problem(JUDGE_STAGES):
            kit.show(kit.notice(problem), key="runs_problem")
            return
        spec = spec_of(here, form)
        found = _forecast(here, spec, endpoints)
        _start_button(here, form, spec, endpoints, found)
    _show_fault()
    settle_panel.draw(here, judge=form.judge)
    judges_panel.draw(here, endpoints, _sent(here))
    blind_panel.draw(here, form.judge, endpoints, _sent(here))
    batch_panel.safely(lambda: batch_panel.draw(here, spec, endpoints, _sent(here)))


def _processes(form: RunForm, bound: Callable[[str, object], dict[str, Any]]) -> None:
    """Draw how many processes work at it, and where, where there is a choice."""
    st.number_input("Processes", 1, MOST_PROCESSES, step=1, **bound("processes", form.processes),
                    help="One asks about a hundred calls a second. Several share the samples, one "
                    "budget and the endpoint's limits; nothing is asked twice.")  # fmt: skip
    if cluster := stores.settings().cluster:
        st.selectbox("Where it runs", (False, True), **bound("cluster", form.cluster),
                     format_func=lambda there: "On the cluster" if there else "On this computer",
                     help=plain(f"The cluster is at {cluster}."))  # fmt: skip


def _sampling(here: Here, endpoints: dict[str, Endpoint], held: dict[str, RunForm]) -> None:
    """Draw how the judge and the models are asked."""
    form, study = held[here.entry.key], here.data.study
    names: dict[sampling_box.SamplingRole, Sequence[str]] = {
        "judge": [form.judge],
        "answer": form.candidates,
    }

    def changed(who: sampling_box.SamplingRole, sampling: Sampling) -> None:
        own = study.judge_sampling if who == "judge" else study.answer_sampling
        wanted = None if sampling == own else sampling
        changes: dict[str, Any] = {f"{who}_sampling": wanted}
        held[here.entry.key] = replace(held[here.entry.key], **changes)

    sampling_box.draw(
        {
            "judge": form.judge_sampling or study.judge_sampling,
            "answer": form.answer_sampling or study.answer_sampling,
        },
        {who: [endpoints[n] for n in asked if n in endpoints] for who, asked in names.items()},
        key=f"sampling_{here.entry.key}",
        on_change=changed,
        note="When the run starts, these become the study's settings."
        if form.judge_sampling or form.answer_sampling
        else "",
    )


def spec_of(here: Here, form: RunForm) -> RunSpec:
    """Say what the form asks for."""
    return RunSpec(
        study_id=here.entry.study.id,
        stages=form.stages,
        judge=form.judge or None,
        candidates=form.candidates,
        limit=form.limit,
        repeats=form.repeats,
        answer_repeats=form.answer_repeats,
        budget=form.budget,
        retry_failed=form.retry_failed,
        retry_unscored=form.retry_unscored,
        show_reference=form.show_reference,
        score_pictures=not form.blind,
        judge_sampling=form.judge_sampling,
        answer_sampling=form.answer_sampling,
    )


def _forecast(here: Here, spec: RunSpec, endpoints: dict[str, Endpoint]) -> Forecast | None:
    """Draw the forecast; it is worked out in the background, once for each form and revision."""
    key = content_id("forecast", repr(spec), here.data.revision, here.store.url)
    found = work.forecasted(
        "forecast", key, lambda: forecast(here.store, spec, endpoints), "runs_forecast_shown"
    )
    if found is not None:
        kit.show(runs_parts.forecast(found), key="runs_forecast_shown")
    return found


def _sent(here: Here) -> str:
    count = len(here.data.table.sample_ids)
    return (
        f"The pictures and questions of this study ({count:,} samples), with choices, references "
        "and answers, would be sent"
    )


def _start_button(
    here: Here, form: RunForm, spec: RunSpec, endpoints: dict[str, Endpoint], found: Forecast | None
) -> None:
    nothing = found is not None and not found.stages
    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_start"):
        asked = [
            one for name in (spec.judge or "", *spec.candidates) if (one := endpoints.get(name))
        ]
        work.start_button(
            here, "Start", spec, asked, key="run_start", sent=_sent(here), fault=FAULT,
            primary=True, disabled=found is None or nothing,
            processes=form.processes, cluster=form.cluster and bool(stores.settings().cluster),
        )  # fmt: skip
        words = "It goes on when you close this page; Stop loses nothing that is done."
        kit.show(el("p", words, class_="quiet small"), key="runs_start_words")


def draw_history(here: Here, runs: list[RunStatus]) -> None:
    """Draw the list of runs; it follows those that work."""
    filters = Filters(study=here.entry.key)

    def look() -> None:
        found, endpoints = found_runs(here), run_control.priced()
        labels = run_labels(here.store, [item.run for item in found])
        above = _looked_at(here, found)  # it says there how it goes
        views = [
            run_view(
                item.run,
                alive=item.alive,
                label=labels.get(item.run.id, ""),
                endpoints=endpoints,
                sharing=sharing_now(here.store, item.run, endpoints)
                if item.alive and item is not above
                else (),
            )
            for item in found
        ]
        kit.show(runs_parts.history(views, filters, here.query.get("run")), key="runs_history")

    alive = any(item.alive for item in runs)
    st.fragment(look, run_every=run_control.EVERY * 4 if alive else None)()


def draw_elsewhere(here: Here) -> None:
    """Say what all runs at work use together, and where those are that belong to no study."""
    runs = list_runs(here.store)
    at_work = [item.run for item in runs if item.alive]
    together = all_runs_now(here.store, at_work, run_control.priced())
    if together:
        said = f"Over all studies: {'; '.join(together)}."
        kit.show(el("p", said, class_="quiet small"), key="runs_together")
    benches = sum(item.run.kind == "bench" for item in runs)
    words = runs_parts.elsewhere(benches, Filters(study=here.entry.key))
    if words is not None:
        kit.show(words, key="runs_elsewhere")


def draw_no_samples(here: Here) -> None:
    """Say that there is nothing to run on."""
    kit.show(
        kit.empty(
            "This study has no samples yet",
            "Import answers that you already have, make probes, or bring a picture on Live replay "
            "and save it into this study.",
            kit.button(
                "Open Live replay", links.address(REPLAY.url_path, Filters(study=here.entry.key))
            ),
            kit.button("Set up an endpoint", links.address(SETTINGS.url_path, Filters())),
        ),
        key="runs_no_samples",
    )

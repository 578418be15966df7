"""The Self-correction page's controls: which experiment, setting one up, watching it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from atom.display import numbers
from atom.engine.consent import give_consent
from atom.engine.control import RunStatus, list_runs, start_work
from atom.engine.correction.forecast import (
    ArmForecast,
    CorrectionForecast,
    forecast_experiment,
)
from atom.engine.correction.ground import CorrectionSpec
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.jobs import Job, JobState
from atom.engine.studies.new import DEMO_COPY, own_copy
from atom.errors import AtomError
from atom.records import Arm, Endpoint, Experiment, FailedRule, Judge, content_id, total_cost
from atom.ui import kit, links, work
from atom.ui.correction import parts as correction_parts
from atom.ui.correction.parts import Doors
from atom.ui.html import Html, el, join
from atom.ui.pages import CORRECTION, RUNS
from atom.ui.replay import page as replay_page
from atom.ui.runs import control as run_control
from atom.ui.runs import parts as runs_parts
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here
from atom.views.correction.cases import arms_csv, cases_csv, effects_csv
from atom.views.correction.data import ExperimentRow, list_experiments
from atom.views.correction.form import (
    ARM_WORDS,
    CONTROLS,
    FEEDBACK,
    RULE_WORDS,
    CorrectionForm,
    arms_possible,
    first_form,
    nodes_of,
)
from atom.views.correction.page import Results, results
from atom.views.correction.steps import Table4, table4_view
from atom.views.filters import Filters
from atom.views.runs.page import money, run_view
from atom.views.stores import OpenStore
from taxonomy import format_path

FORMS = "correction_forms"
FAULT = "correction_fault"
STARTING = "correction_starting"
MORE = "correction_more"


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What the reader has of experiments.

    Attributes:
        rows: the study's experiments, the newest first.
        runs: how their runs are, by experiment.
        chosen: the one that is looked at; None where there is none.
        doors: addresses that keep it.
    """

    rows: tuple[ExperimentRow, ...]
    runs: dict[str, RunStatus]
    chosen: ExperimentRow | None
    doors: Doors

    @property
    def status(self) -> RunStatus | None:
        """How the chosen one's run is."""
        return self.runs.get(self.chosen.experiment.id) if self.chosen else None

    @property
    def alive(self) -> bool:
        """Whether a process works on the chosen one."""
        return self.status is not None and self.status.alive


def look(here: Here) -> Looked:
    """Read which experiments there are."""
    rows = tuple(list_experiments(here.store, here.entry.study.id))
    runs: dict[str, RunStatus] = {}
    if rows:
        for status in list_runs(here.store, here.entry.study.id):
            if status.run.experiment_id:
                runs.setdefault(status.run.experiment_id, status)
    wanted = here.query.get("experiment", "")
    # One answer that was tried on demand is no experiment to open on.
    whole = [row for row in rows if len(row.experiment.sample_ids) != 1]
    chosen = (
        next((row for row in rows if wanted and row.experiment.id.startswith(wanted)), None)
        or next((r for r in whole if (s := runs.get(r.experiment.id)) and s.alive), None)
        or next((r for r in whole if r.experiment.candidate_id == here.filters.model), None)
        or (whole[0] if whole else None)
    )
    doors = Doors(
        filters=here.filters,
        experiment=chosen.experiment.id[:12] if chosen else None,
        tries=here.query.get("round"),
    )
    return Looked(rows=rows, runs=runs, chosen=chosen, doors=doors)


@st.cache_resource(show_spinner=False, max_entries=8)
def _results(
    url: str, experiment_id: str, revision: int, tries: int | None, _store: OpenStore
) -> Results:
    del url, revision
    return results(_store, experiment_id, tries)


def read_results(here: Here, looked: Looked) -> Results | None:
    """Work out what came of the chosen experiment, once for each revision of the store."""
    if looked.chosen is None:
        return None
    asked = here.query.get("round", "")
    tries = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 3 else None
    store = here.store
    return _results(store.url, looked.chosen.experiment.id, store.revision(), tries, store)


@st.cache_resource(show_spinner=False, max_entries=4)
def _table4(
    url: str, revision: int, names: tuple[str, ...], _store: OpenStore,
    _rows: tuple[ExperimentRow, ...],
) -> Table4 | None:  # fmt: skip
    del url, revision, names
    return table4_view(_store, _rows)


def several_models(looked: Looked) -> bool:
    """Whether several models have experiments on several answers."""
    return len({row.model for row in looked.rows if row.answers > 1}) > 1


def read_table4(here: Here, looked: Looked) -> Table4 | None:
    """Lay out the paper's Table 4."""
    names = tuple(row.experiment.id for row in looked.rows)
    return _table4(here.store.url, here.store.revision(), names, here.store, looked.rows)


def parts(looked: Looked) -> list[tuple[str | None, str]]:
    """List the parts of the page that there are."""
    found: list[tuple[str | None, str]] = []
    if looked.chosen is not None:
        found += [(None, "Result"), ("where", "Where it helps"), ("cases", "Answers")]
    if several_models(looked):
        found.append(("table4", "Table 4"))
    return [*found, ("new", "New experiment"), ("one", "One answer")]


# --- the list, and progress -----------------------------------------------------------------------


def history(here: Here, looked: Looked) -> Html | None:
    """Draw the list of experiments."""
    if len(looked.rows) < 2:
        return None

    def begun(row: ExperimentRow) -> Html:
        href = Doors(filters=here.filters, experiment=row.experiment.id[:12]).tab(None)
        return kit.cell(runs_parts.when(row.experiment.created), href)

    def state(row: ExperimentRow) -> str:
        status = looked.runs.get(row.experiment.id)
        return run_view(status.run, alive=status.alive).words if status else numbers.NONE

    chosen = looked.chosen.experiment.id if looked.chosen is not None else None
    return kit.fold(
        f"All experiments of this study ({len(looked.rows)})",
        kit.grid(
            looked.rows,
            kit.Column("Begun (UTC)", begun),
            kit.Column("Model", lambda row: el("span", row.model, class_="text")),
            kit.Column(
                "What",
                lambda row: el("span", _asked_words(row.experiment), class_="text small"),
                width="40%",
            ),
            kit.Column("State", state),
            kit.number("Answers", lambda row: f"{row.answers:,}"),
            label="Experiments",
            on=lambda row: row.experiment.id == chosen,
        ),
    )


def _asked_words(asked: Experiment) -> str:
    if len(asked.sample_ids) == 1:
        what = "one answer"
    else:
        what = RULE_WORDS[asked.failed_rule]
        what += f" under {asked.node[-1]}" if asked.node else ""
    arms = ", ".join(ARM_WORDS[arm].name.lower() for arm in asked.arms)
    return f"{what}: {arms}"


def draw_progress(here: Here, looked: Looked) -> None:
    """Draw how far the chosen experiment is, with Stop or Resume; nothing when it is done."""
    status = looked.status
    if status is None or (status.run.state == "done" and not status.run.failed):
        return
    run_id, alive = status.run.id, status.alive

    def watch(now: RunStatus) -> None:
        kit.show(runs_parts.pace(run_control.watched(now), "steps"), key=f"correction_run_{run_id}")

    run_control.follow(here.store, status, watch)
    run_control.buttons(
        here,
        run_view(status.run, alive=alive),
        key="correction",
        fault=FAULT,
        sent=_sent(),
        more=lambda: st.button("Show the figures so far", key="correction_refresh"),
    )


def _sent() -> str:
    return (
        "The pictures and questions of these answers, the answers themselves, and questions about "
        "their steps would be sent"
    )


def show_fault() -> None:
    """Draw what went wrong, if anything did."""
    fault = st.session_state.get(FAULT)
    if fault:
        kit.show(correction_parts.no_endpoint(fault, Filters()), key="correction_fault_shown")


def draw_files(here: Here, found: Results) -> None:
    """Draw the downloads."""
    stem = f"correction-{found.experiment.id[:8]}"
    with st.container(horizontal=True, key="stepbar_correction_files"):
        st.download_button(
            "Effects (CSV)", data=lambda: effects_csv(found), file_name=f"{stem}-effects.csv",
            mime="text/csv", key="correction_effects_csv",
        )  # fmt: skip
        st.download_button(
            "What was tried (CSV)", data=lambda: arms_csv(found), file_name=f"{stem}-arms.csv",
            mime="text/csv", key="correction_arms_csv",
        )  # fmt: skip
        st.download_button(
            "Answers (CSV)", data=lambda: cases_csv(here.store, found),
            file_name=f"{stem}-answers.csv", mime="text/csv", key="correction_cases_csv",
        )  # fmt: skip


# --- setting one up -------------------------------------------------------------------------------


def _form(here: Here) -> CorrectionForm:
    held: dict[str, CorrectionForm] = st.session_state.setdefault(FORMS, {})
    if here.entry.key not in held:
        held[here.entry.key] = first_form(here.data, here.filters)
    return held[here.entry.key]


def draw_form(here: Here) -> None:
    """Draw the sentence that sets an experiment up, what it would cost, and its start."""
    if _start_of(here) is not None:
        _starting(here)
        return
    if not here.data.candidates or not (here.data.has_process or here.data.has_outcome):
        kit.show(
            kit.empty(
                "Nothing can be tried again yet",
                "Self-correction starts from answers that are known to be wrong. This study has "
                "none that are judged: import results, or judge it on Runs.",
                kit.button("Open Runs", links.address(RUNS.url_path, here.filters)),
            ),
            key="correction_nothing",
        )
        return
    form = _form(here)
    with st.container(horizontal=True, key="sentence", vertical_alignment="center"):
        _sentence(here, form)
    if here.filters.active:
        kit.show(
            el("p", "Filters don't narrow an experiment; the menu after “on” above does, by where "
               "answers failed.", class_="quiet small"),
            key="correction_filters",
        )  # fmt: skip
    _arms(here)
    try:
        endpoints = known_endpoints(stores.settings())
    except AtomError as error:
        kit.show(correction_parts.no_endpoint(error.message, here.filters), key="correction_ends")
        return
    with st.expander("More: threshold, right answers, judge, other draws", key=MORE):
        _more(here, endpoints)
    form = _form(here)
    notes = correction_parts.warnings(form)
    if notes is not None:
        kit.show(notes, key="correction_warnings")
    if not here.data.has_process:
        kit.show(correction_parts.no_criteria(here.filters), key="correction_no_criteria")
    if form.problem:
        kit.show(kit.notice(form.problem), key="correction_problem")
        show_fault()
        return
    spec = spec_of(here, form, endpoints)
    found = _forecast(here, spec, endpoints)
    _start_button(here, spec, found)
    show_fault()


def _bound(here: Here, field: str, value: object, *, empty: object = None) -> dict[str, Any]:
    key = f"cform_{field}_{here.entry.key}"
    st.session_state[key] = value

    def typed() -> None:
        held: dict[str, CorrectionForm] = st.session_state[FORMS]
        given = st.session_state[key]
        changes: dict[str, Any] = {field: empty if given is None else given}
        held[here.entry.key] = replace(held[here.entry.key], **changes)

    return {"key": key, "on_change": typed, "label_visibility": "collapsed"}


def _sentence(here: Here, form: CorrectionForm) -> None:
    names = {candidate.id: candidate.name for candidate in here.data.candidates}
    rules: list[FailedRule] = []
    if here.data.has_outcome:
        rules.append("outcome")
    if here.data.has_process:
        rules += ["score", "criterion"]
    nodes = [(), *nodes_of(here.data)]
    node = form.node if form.node in nodes else ()
    st.text("Take", width="content")
    st.selectbox("Model", list(names), format_func=lambda i: names.get(i, i), width=140,
                 **_bound(here, "model", form.model if form.model in names else None))  # fmt: skip
    st.text("’s", width="content")
    st.selectbox("Which answers failed", rules, format_func=lambda i: RULE_WORDS[i], width=205,
                 **_bound(here, "failed_rule", form.failed_rule))  # fmt: skip
    st.text("on", width="content")
    st.selectbox("Where they failed", nodes, width=165,
                 format_func=lambda i: format_path(i) if i else "anything",
                 **_bound(here, "node", node, empty=()))  # fmt: skip
    st.text("at most", width="content")
    st.number_input("Answers at most", 1, 100_000, step=10, placeholder="all", width=78,
                    **_bound(here, "limit", form.limit))  # fmt: skip
    st.text("answers,", width="content")
    st.selectbox("Rounds", [1, 2, 3, 4, 5], width=68, **_bound(here, "rounds", form.rounds))
    words = "round" if form.rounds == 1 else "rounds"
    st.text(f"{words}, at most", width="content")
    st.number_input("Spend at most (USD)", 0.0, 1_000_000.0, step=1.0, placeholder="any",
                    width=82, **_bound(here, "budget", form.budget))  # fmt: skip
    st.text("USD.", width="content")


def _arms(here: Here) -> None:
    possible = arms_possible(here.data)
    groups: tuple[tuple[str, tuple[Arm, ...]], ...] = (
        ("Try controls: what would have happened anyway", CONTROLS),
        ("Try feedback", FEEDBACK),
    )
    held: dict[str, CorrectionForm] = st.session_state[FORMS]

    def ticked(arm: Arm, key: str) -> None:
        form = held[here.entry.key]
        kept = {*form.arms, arm} if st.session_state[key] else {*form.arms} - {arm}
        arms = tuple(one for one in ARM_WORDS if one in kept)
        held[here.entry.key] = replace(form, arms=arms)

    for number, (title, arms) in enumerate(groups):
        kit.show(el("p", title, class_="quiet small"), key=f"correction_arms_{number}")
        with st.container(horizontal=True, key=f"stepbar_arms_{number}", gap="medium"):
            for arm in arms:
                key = f"cform_arm_{arm}_{here.entry.key}"
                st.session_state[key] = arm in held[here.entry.key].arms and arm in possible
                st.checkbox(
                    ARM_WORDS[arm].name,
                    key=key,
                    help=ARM_WORDS[arm].meaning,
                    disabled=arm not in possible,
                    on_change=ticked,
                    args=(arm, key),
                    width="content",
                )


def _more(here: Here, endpoints: dict[str, Endpoint]) -> None:
    form = _form(here)
    judges = ["", *replay_page.judges(endpoints)]
    usual = default_judge(here, endpoints)
    own = usual or (here.data.judge.name if here.data.judge else "the study's own")
    one, two, three, four = st.columns(4)
    with one:
        st.caption("A step counts as failed up to this score")
        st.selectbox("Failed up to", [2, 3, 4], **_bound(here, "threshold", form.threshold))
    with two:
        st.caption("Right answers that get feedback, too (break rate)")
        st.number_input("Right answers", 0, 10_000, step=10,
                        **_bound(here, "right_answers", form.right_answers, empty=0))  # fmt: skip
    with three:
        st.caption("Judge")
        st.selectbox("Judge", judges, format_func=lambda name: name or f"{own} (usual)",
                     **_bound(here, "judge", form.judge if form.judge in judges else "",
                              empty=""))  # fmt: skip
    with four:
        st.caption("Seed: another number draws other answers")
        st.number_input("Seed", 0, 1_000_000, step=1, **_bound(here, "seed", form.seed, empty=0))


def spec_of(here: Here, form: CorrectionForm, endpoints: dict[str, Endpoint]) -> CorrectionSpec:
    """Say what the form asks for."""
    possible = arms_possible(here.data)
    return CorrectionSpec(
        study_id=here.entry.study.id,
        candidate=form.model,
        judge=form.judge or default_judge(here, endpoints),
        arms=tuple(arm for arm in form.arms if arm in possible),
        failed_rule=form.failed_rule,
        threshold=form.threshold,
        rounds=form.rounds,
        node=form.node,
        limit=form.limit,
        right_answers=form.right_answers,
        seed=form.seed,
        budget=form.budget,
    )


def default_judge(here: Here, endpoints: dict[str, Endpoint]) -> str | None:
    """Return who judges when nobody is chosen: None = the study's own judge can be asked."""
    record = here.store.get(Judge, here.data.study.judge_id or "")
    if record is not None and record.endpoint in endpoints:
        return None
    return replay_page.usual_judge(here, endpoints)


def _forecast(
    here: Here, spec: CorrectionSpec, endpoints: dict[str, Endpoint]
) -> CorrectionForecast | None:
    """Draw the forecast; it is worked out in the background, once for each form and revision."""
    key = content_id("correction", repr(spec), here.store.revision(), here.store.url)
    state = work.worked_out(
        "correction forecast",
        key,
        lambda: forecast_experiment(here.store, spec, endpoints),
        "Counting what would be asked, and what it would cost…",
    )
    if state is None:
        return None
    if state.result is None:
        words = state.error or "the count was stopped"
        kit.show(correction_parts.no_endpoint(words, here.filters), key="correction_forecast_shown")
        return None
    kit.show(forecast(state.result), key="correction_forecast_shown")
    return state.result


def forecast(found: CorrectionForecast) -> Html:
    """Draw what an experiment would do and cost, before it starts."""
    who = (
        f"{found.failed:,} of {found.model}'s {numbers.count(found.answers, 'answer')} failed; "
        f"{found.failed_subjects:,} take part"
        + (f", and {found.right_subjects:,} right ones" if found.right_subjects else "")
        + "."
    )
    if not found.failed_subjects and not found.right_subjects:
        return kit.notice(f"{who} Choose another rule, place or model.")
    asked = [part.endpoint for arm in found.arms for part in arm.calls]
    tokens = sum(part.tokens * part.calls for arm in found.arms for part in arm.calls)
    calls = _span(found.calls, found.most_calls)
    price = work.cost_words(tokens, found.cost, asked) if asked else "nothing to pay"
    most = ""
    if found.most_cost and found.cost is not None and found.most_cost > found.cost:
        most = f", at most {money(found.most_cost)}"
    left = [
        el("li", f"{n:,}: {reason}", class_="text")
        for reason, n in sorted(found.left_out.items(), key=lambda item: -item[1])
    ]
    return join(
        el("p", f"{who} {calls} calls: {price}{most}", class_="strong"),
        el(
            "div",
            kit.fold("Calls and price by what is tried", _forecast_table(found)),
            kit.fold(f"Answers left out ({sum(found.left_out.values()):,})",
                     el("ul", left, class_="small", style="margin:0"))
            if left
            else None,
            class_="folds",
        ),
    )  # fmt: skip


def _forecast_table(found: CorrectionForecast) -> Html:
    return kit.grid(
        found.arms,
        kit.Column(
            "What is tried",
            lambda arm: ARM_WORDS[arm.arm].name + _ON.get(arm.cohort, ""),
            width="34%",
        ),
        kit.number("Answers", lambda arm: f"{arm.trials:,}"),
        kit.number("Done already", lambda arm: f"{arm.over:,}"),
        kit.number(
            "Calls",
            lambda arm: _span(sum(p.calls for p in arm.calls), sum(p.most for p in arm.calls)),
        ),
        kit.number("Price, about", _price),
        kit.number(
            "Nothing to ask",
            lambda arm: el(
                "span",
                f"{sum(arm.skipped.values()):,}",
                data_tip="\n".join(arm.skipped) or None,
            ),
        ),
        label="What the experiment would do",
    )


_ON = {"right": ", on right answers"}


def _price(arm: ArmForecast) -> str:
    if not arm.calls:
        return numbers.NONE
    costs = [None if p.price is None else p.price * p.calls for p in arm.calls if p.calls]
    return money(total_cost(costs))


def _span(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def asked_endpoints(found: CorrectionForecast) -> list[Endpoint]:
    """Return every endpoint that an experiment would ask."""
    ends = {part.endpoint.name: part.endpoint for arm in found.arms for part in arm.calls}
    return list(ends.values())


def _start_button(here: Here, spec: CorrectionSpec, found: CorrectionForecast | None) -> None:
    def start() -> None:
        if _start_of(here) is not None:  # the second half of a double click
            return
        st.session_state.pop(FAULT, None)
        st.session_state[STARTING] = (here.entry.key, start_job(here, spec))

    def ask() -> None:
        work.agree_then(here, asked_endpoints(found) if found else [], _sent(), start)

    nobody = found is None or not (found.failed_subjects or found.right_subjects)
    words = "It goes on when you close this page; Stop loses nothing that is done."
    if here.entry.bundled:
        words = (
            f"The bundled study is sealed: this runs in your own copy, {DEMO_COPY!r}, and the page "
            f"moves there. {words}"
        )
    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_correction_start"):
        team.button(
            "run", "Start", key="correction_start", type="primary", on_click=ask, disabled=nobody
        )
        kit.show(el("p", words, class_="quiet small"), key="correction_start_words")
    if here.entry.bundled:
        _own_experiments(here)


def _own_experiments(here: Here) -> None:
    """Lead to what was tried in the user's own copy of this sealed study, running or done."""
    doors = []
    for entry in stores.all_studies().entries:
        if entry.bundled or entry.study.copied_from != here.entry.study.id:
            continue
        rows = list_experiments(stores.store_of(entry), entry.study.id)
        if rows:
            words = f"{numbers.count(len(rows), 'experiment')} in {entry.study.name}"
            doors.append(
                kit.door(words, links.address(CORRECTION.url_path, Filters(study=entry.key)))
            )
    if doors:
        kit.show(kit.notice(join("Tried already in your own copy: ", *doors)), key="correction_own")


def start_job(here: Here, spec: CorrectionSpec) -> str:
    """Start an experiment in the background, in the user's own copy where the study is sealed."""
    settings, entry, source = stores.settings(), here.entry, here.store
    target = stores.user_store(create=True) if entry.bundled else source
    hosts = work.agreed_now(entry)

    async def work_(job: Job[object]) -> object:
        assert target is not None
        asked = spec
        if entry.bundled:
            job.say("copy")
            copy = await asyncio.to_thread(own_copy, source, entry.study.id, target)
            if hosts:
                give_consent(target, copy.id, hosts)
            asked = replace(spec, study_id=copy.id)
        run = await asyncio.to_thread(start_work, target, asked, settings)
        return target.get(Experiment, run.experiment_id or "")

    return work.begin("experiment", work_)


def _start_of(here: Here) -> str | None:
    """Return the job that starts an experiment of this study; other studies' are none of its."""
    key, job_id = st.session_state.get(STARTING, ("", None))
    return job_id if key == here.entry.key else None


def take_start(here: Here) -> None:
    """Move to an experiment of this study that has started, whatever part is being looked at."""
    job_id = _start_of(here)
    if job_id is not None and work.state_of(job_id).status != "running":
        _starting(here)


def _starting(here: Here) -> None:
    """Watch the start, and move to the experiment."""
    job_id = _start_of(here)
    assert job_id is not None

    def doing(now: JobState[Any]) -> str:
        return f"Copying {here.entry.study.name} and starting…" if now.text else "Starting…"

    state = work.ended(job_id, doing)
    if state is None:
        return
    st.session_state.pop(STARTING, None)
    experiment: Experiment | None = state.result
    if experiment is not None:
        filters = Filters(study=experiment.study_id, model=experiment.candidate_id)
        kit.go(links.address(CORRECTION.url_path, filters, experiment=experiment.id[:12]))
    else:
        st.session_state[FAULT] = state.error
    st.rerun()

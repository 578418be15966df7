"""The Judge lab's controls: which set, taking data in, asking a judge, replies from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from atom.analysis.agreement.calibration import NAME as CALIBRATION
from atom.display import numbers, writers
from atom.engine.bench.judging import BenchForecast, BenchSpec, forecast_bench
from atom.engine.bench.sets import delete_set, import_replies
from atom.engine.consent import ConsentNeeded, ConsentQuestion, give_consent, is_remote
from atom.engine.control import RunStatus, list_runs, start_work
from atom.engine.endpoints.configured import known_endpoints
from atom.errors import AtomError
from atom.formats import ImportFile
from atom.judgebench.base import Bench, BenchResult
from atom.judgebench.mm_critic.data import NAME as MM_CRITIC
from atom.judgebench.multi_crit.benchmark import BENCH as MULTI_CRIT
from atom.judgebench.registry import BENCHES
from atom.judgebench.vl_rewardbench.data import NAME as VL_REWARDBENCH
from atom.records import BenchSet, Endpoint, content_id
from atom.ui import kit, links, work
from atom.ui.html import el, join
from atom.ui.lab import describe as lab_describe
from atom.ui.lab import fidelity as lab_fidelity
from atom.ui.lab import files as judge_lab_files
from atom.ui.lab import items as lab_items
from atom.ui.lab import judges as lab_judges
from atom.ui.lab import mm_critic as lab_mm_critic
from atom.ui.lab import multi_crit as lab_multi_crit
from atom.ui.lab import parts as judge_lab_parts
from atom.ui.lab import reliability as lab_reliability
from atom.ui.lab import verdict as lab_verdict
from atom.ui.lab import vl_rewardbench as lab_vl_rewardbench
from atom.ui.lab.hard import page as lab_hard
from atom.ui.lab.parts import LabContext, LabTab
from atom.ui.lab.sight import page as lab_sight
from atom.ui.pages import JUDGE_LAB, OVERVIEW
from atom.ui.plain import plain
from atom.ui.runs import control as run_control
from atom.ui.runs import parts as runs_parts
from atom.ui.shell import frame, sealed, stores, team
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.judges.figures import board_csv, of_result
from atom.views.lab.items import groups_of
from atom.views.lab.page import (
    Standing,
    bench_results,
    bench_sets,
    checked,
    places,
    standings,
)
from atom.views.runs.page import run_view, task_words
from atom.views.stores import OpenStore

FORMS = "lab_forms"
FAULT = "lab_fault"
TOLD = "lab_told"
ASKING = "lab_asking"
DELETING = "lab_deleting"
PUBLISHED = "published"

OfStudy = Callable[[Here], None]
Extra = Callable[[LabContext, BenchSet, tuple[Standing, ...]], None]

STUDY_TABS: Mapping[str, tuple[str, OfStudy]] = {
    lab_verdict.TAB: ("For what it can be trusted", lab_verdict.draw),
    "judge": ("This study’s judge", lab_reliability.draw),
    lab_judges.TAB: ("Its judges", lab_judges.draw),
    lab_fidelity.TAB: ("Against people", lab_fidelity.draw),
    lab_sight.TAB: ("Does it look?", lab_sight.draw),
    lab_hard.TAB: ("Hard pairs", lab_hard.draw),
}
"""What there is about the study itself: key → (title, drawing)."""
EXTRAS: Mapping[str, Extra] = {
    VL_REWARDBENCH: lab_vl_rewardbench.draw,
    CALIBRATION: lab_reliability.draw_bench,
    MULTI_CRIT.name: lab_multi_crit.draw,
    MM_CRITIC: lab_mm_critic.draw,
}
"""What a benchmark draws under the tables that all have: benchmark → drawing."""


@dataclass(frozen=True, kw_only=True)
class Lab:
    """Where the reader is.

    Attributes:
        filters: the study's chain, kept in addresses.
        query: the URL's own keys.
        here: the study; None where there is none.
        tabs: the tabs, each with its parts.
        chosen: the part that is open, by its key.
    """

    filters: Filters
    query: Mapping[str, str]
    here: Here | None
    tabs: tuple[LabTab, ...]
    chosen: str


def look() -> Lab:
    """Read what the reader looks at; the benchmarks need no study."""
    held = frame.query()
    query = {key: held[key][-1] for key in links.LOCAL_KEYS if key in held}
    here = frame.here(JUDGE_LAB) if stores.all_studies().first is not None else None
    tabs = (
        LabTab(title="Verdict", parts=((lab_verdict.TAB, STUDY_TABS[lab_verdict.TAB][0]),)),
        LabTab(
            title="In this study",
            parts=tuple((key, title) for key, (title, _) in STUDY_TABS.items()
                        if key != lab_verdict.TAB),
        ),
        LabTab(
            title="On benchmarks",
            parts=(*((name, bench.title) for name, bench in BENCHES.items()),
                   (PUBLISHED, "Published")),
        ),
    )  # fmt: skip
    keys = [key for tab in tabs for key, _ in tab.parts]
    first = keys[0] if here is not None else next(iter(BENCHES), PUBLISHED)
    asked = query.get("tab", "")
    return Lab(
        filters=here.filters if here is not None else Filters(),
        query=query,
        here=here,
        tabs=tabs,
        chosen=asked if asked in keys else first,
    )


def draw(lab: Lab) -> None:
    """Draw the tab that is open."""
    if lab.chosen in STUDY_TABS:
        if lab.here is not None:
            STUDY_TABS[lab.chosen][1](lab.here)
        else:
            _no_study()
    elif lab.chosen in BENCHES:
        _draw_bench(lab, BENCHES[lab.chosen])
    else:
        _draw_published()


def _no_study() -> None:
    kit.show(
        kit.empty(
            "There is no study yet",
            "This tab judges the judge of a study. The benchmarks beside it need none.",
            kit.button("Open the first screen", links.address(OVERVIEW.url_path, Filters())),
        ),
        key="lab_no_study",
    )


# --- a benchmark ----------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False, max_entries=16)
def _figures(
    url: str, set_id: str, revision: int, _store: OpenStore
) -> tuple[tuple[Standing, ...], dict[str, BenchResult], frozenset[str]]:
    del url, revision
    judges = tuple(standings(_store, set_id))
    results = bench_results(_store, set_id, [one.judge for one in judges])
    return judges, results, groups_of(_store, set_id, results.values())


def read_context(store: OpenStore, bench: Bench, record: BenchSet, lab: Lab) -> LabContext:
    """Read a set's judges and figures, once for each revision of the store."""
    judges, results, groups = _figures(store.url, record.id, store.revision(), store)
    who = lab.query.get("who", "")
    chosen = next((one for one in judges if who in (one.judge, one.name)), None)
    return LabContext(
        store=store,
        bench=bench,
        record=record,
        filters=lab.filters,
        judges=judges,
        chosen=chosen or (judges[0] if judges else None),
        results=results,
        groups=groups,
    )


def _draw_bench(lab: Lab, bench: Bench) -> None:
    kit.show(el("p", bench.about, class_="quiet"), key="lab_about")
    held = _sets(bench)
    sets = list(held.values())
    wanted = lab.query.get("set", "")
    named = next((one for one, _ in sets if wanted and one.id.startswith(wanted)), None)
    _show_told()
    if not sets:
        kit.show(judge_lab_parts.no_sets(bench), key="lab_empty")
        judge_lab_files.draw(bench, len(sets), lab.here)
        return
    if wanted and named is None:
        words = "The link names a set that isn't in your store; this is the newest one."
        kit.show(kit.notice(words), key="lab_other_set")
    record, store = held[(named or sets[0][0]).id]
    context = read_context(store, bench, record, lab)
    if lab_items.wanted(lab.query) and context.chosen is not None:
        lab_items.draw(context, lab.query)
        return
    kit.show(
        el(
            "div",
            judge_lab_parts.set_line(record, lab.filters, [one for one, _ in sets]),
            judge_lab_parts.answer(context),
            judge_lab_parts.headline(context),
            class_="stack",
            style="gap:14px",
        ),
        key="lab_result",
    )
    if store.read_only:
        _draw_proof(context)
        _offer_copy(lab)
    else:
        alive = _draw_progress(store, record)
        if not alive:
            opened = not context.judges
            with st.expander("Ask a judge", expanded=opened, key=f"lab_ask_{record.id[:12]}"):
                _draw_form(store, bench, record)
        _draw_proof(context)
        with st.expander("Score replies made elsewhere", key="lab_replies"):
            _draw_replies(store, record)
    with st.expander(f"Take in more data of {plain(bench.title)}", key="lab_more"):
        judge_lab_files.draw(bench, sum(one.synthetic for one, _ in sets), lab.here)
    if store.read_only:
        return
    with st.container(horizontal=True, key="stepbar_lab_delete"):
        team.button("delete", "Delete this set…", key="lab_delete", type="tertiary",
                  on_click=lambda: st.session_state.update({DELETING: record.id}))  # fmt: skip


def _sets(bench: Bench) -> dict[str, tuple[BenchSet, OpenStore]]:
    """Return a benchmark's sets by id, each with its store: the user's own, then the bundled."""
    found: dict[str, tuple[BenchSet, OpenStore]] = {}
    for store in stores.with_sets():
        for record in bench_sets(store, bench.name):
            found.setdefault(record.id, (record, store))
    return found


def _offer_copy(lab: Lab) -> None:
    """Say that a bundled set is sealed, and offer the copy in which another judge can be asked."""
    if lab.here is None or not lab.here.entry.bundled:
        words = "This set came with Atomscope and is sealed; make one of your own below."
        kit.show(kit.notice(words), key="lab_bundled")
        return
    sealed.offer_copy(
        lab.here,
        "lab",
        "This set came with it. Your own copy brings all sets along, and there you can ask any "
        "judge; what was asked already isn't asked again.",
        button="Make my own copy",
        fault=FAULT,
        keep=("tab",),
    )


def _draw_proof(context: LabContext) -> None:
    """Draw the chosen judge's tables, a benchmark's own drawing, and the papers' models."""
    judge, result = context.chosen, context.result
    if judge is None or result is None:
        lab_describe.draw(context)
        return
    kit.show(judge_lab_parts.tables(context), key="lab_tables")
    extra = EXTRAS.get(context.bench.name)
    if extra is not None:
        extra(context, context.record, context.judges)
    lab_describe.draw(context)
    found = places(context.bench.name, result)
    kit.show(
        judge_lab_parts.among(found, judge.name, synthetic=context.record.synthetic),
        key="lab_among",
    )
    names = {one.judge: one.name for one in context.judges}
    stem = f"{context.bench.name}-{context.record.id[:8]}"
    with st.container(horizontal=True, key="stepbar_lab_files"):
        st.download_button(
            "All judges’ headline figures (CSV)",
            data=lambda: board_csv(context.results, names), file_name=f"{stem}.csv",
            mime="text/csv", key="lab_board_csv",
        )  # fmt: skip
        st.download_button(
            f"All figures of {plain(numbers.middle(judge.name, 30))} (CSV)",
            data=lambda: writers.csv(*of_result(result, name=judge.name)),
            file_name=f"{stem}-judge.csv", mime="text/csv", key="lab_judge_csv",
        )  # fmt: skip


def _show_told() -> None:
    fault = st.session_state.get(FAULT)
    if fault:
        kit.show(kit.fault(fault), key="lab_fault_shown")
    told: tuple[str, tuple[str, ...]] | None = st.session_state.pop(TOLD, None)
    if told:
        more = judge_lab_parts.lines(told[1]) if told[1] else None
        kit.show(kit.notice(join(told[0], more)), key="lab_told_shown")


# --- asking a judge -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AskForm:
    """What the form asks for."""

    judge: str = ""
    scorer: str = ""
    votes: int = 1
    parts: tuple[str, ...] = ()
    limit: int | None = None
    budget: float | None = None

    def spec(self, record: BenchSet) -> BenchSpec:
        """Say it to the engine."""
        return BenchSpec(
            set_id=record.id,
            judge=self.judge,
            scorer=self.scorer or None,
            votes=self.votes,
            parts=self.parts,
            limit=self.limit,
            budget=self.budget,
        )


def _first_form(bench: Bench, record: BenchSet, endpoints: Mapping[str, Endpoint]) -> AskForm:
    judges = [name for name, endpoint in endpoints.items() if "judge" in endpoint.roles]
    real = next((name for name in judges if not endpoints[name].is_probe), "")
    judge = "probe-judge" if record.synthetic and "probe-judge" in judges else real
    return AskForm(
        judge=judge,
        scorer=judge if bench.scored & set(bench.usual) else "",
        votes=bench.votes,
        parts=bench.usual,
    )


def _draw_form(store: OpenStore, bench: Bench, record: BenchSet) -> None:
    endpoints = work.endpoints_or_none("lab_endpoints")
    if endpoints is None:
        return
    held: dict[str, AskForm] = st.session_state.setdefault(FORMS, {})
    form = held.setdefault(record.id, _first_form(bench, record, endpoints))

    def typed(field: str, key: str) -> None:
        value = st.session_state[key]
        if field == "parts":
            value = tuple(part for part in bench.parts if part in (value or ()))
        elif field == "votes":
            value = value or 1
        elif field in ("judge", "scorer"):
            value = value or ""
        changes: dict[str, Any] = {field: value}
        held[record.id] = replace(held[record.id], **changes)

    def bound(field: str, value: object) -> dict[str, Any]:
        key = f"lab_{field}_{record.id[:12]}"
        st.session_state[key] = value
        return {"key": key, "on_change": typed, "args": (field, key)}

    judges = [name for name, endpoint in endpoints.items() if "judge" in endpoint.roles]
    widths = [2, 2, 1, 1, 1] if bench.scored else [2, 1, 1, 1]
    first, *rest = st.columns(widths)
    third, fourth, fifth = rest[-3:]
    with first:
        st.selectbox("Judge that is examined", judges, index=None, placeholder="Choose a judge",
                     **bound("judge", form.judge if form.judge in judges else None))  # fmt: skip
    if bench.scored:
        with rest[0]:
            st.selectbox(
                "Who scores what it writes", judges, index=None, placeholder="nobody",
                **bound("scorer", form.scorer if form.scorer in judges else None),
                help="Critiques and corrections are texts: somebody has to mark them.",
            )  # fmt: skip
    with third:
        st.number_input("Votes a question", 1, 99, step=1, **bound("votes", form.votes),
                        help="Each question is put so often; the majority counts.")  # fmt: skip
    with fourth:
        st.number_input(
            "At most items", 1, 1_000_000, step=1, placeholder="all", **bound("limit", form.limit)
        )
    with fifth:
        st.number_input("At most USD", 0.0, 1_000_000.0, step=1.0, placeholder="no cap",
                        **bound("budget", form.budget))  # fmt: skip
    if len(bench.parts) > 1:
        st.pills("What is asked", list(bench.parts), selection_mode="multi",
                 format_func=lambda part: plain(bench.parts[part]),
                 **bound("parts", list(form.parts)))  # fmt: skip
    form = held[record.id]
    problem = "" if form.judge else "Choose a judge."
    if not form.parts:
        problem = problem or "Choose what is asked."
    if problem:
        kit.show(kit.notice(problem), key="lab_problem")
        return
    if bench.scored & set(form.parts) and not form.scorer:
        words = "Nobody scores what the judge writes, so some figures will stay empty."
        kit.show(kit.notice(words), key="lab_no_scorer")
    spec = form.spec(record)
    found = _forecast(store, spec, endpoints)
    _start_button(store, record, spec, found)


def _forecast(
    store: OpenStore, spec: BenchSpec, endpoints: Mapping[str, Endpoint]
) -> BenchForecast | None:
    """Draw the forecast; it is worked out in the background, once for each form and revision."""
    key = content_id("lab forecast", repr(spec), store.revision(), store.url)
    found = work.forecasted(
        "lab forecast",
        key,
        lambda: forecast_bench(store, spec, endpoints),
        "lab_forecast_shown",
    )
    if found is None:
        return None
    asked = [endpoints[n] for n in (spec.judge, spec.scorer) if n and n in endpoints]
    offline = all(one.is_probe and not one.url for one in asked)
    kit.show(judge_lab_parts.forecast(found, offline), key="lab_forecast_shown")
    return found


def _start_button(
    store: OpenStore, record: BenchSet, spec: BenchSpec, found: BenchForecast | None
) -> None:
    def start() -> None:
        st.session_state.pop(FAULT, None)
        try:
            start_work(store, spec, stores.settings())
        except ConsentNeeded as needed:
            st.session_state[ASKING] = (store, record, needed.questions, start)
        except AtomError as error:
            st.session_state[FAULT] = error.message

    nothing = found is None or not (sum(found.calls.values()) or found.later)
    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_lab_start"):
        team.button(
            "run", "Start", key="lab_start", type="primary", on_click=start, disabled=nothing
        )
        words = "It goes on when you close this page; Stop loses nothing that is done."
        kit.show(el("p", words, class_="quiet small"), key="lab_start_words")


def _draw_progress(store: OpenStore, record: BenchSet) -> bool:
    """Draw the run that works on the set, or that was left; return whether one works."""
    runs = list_runs(store, record.id)
    status = next((one for one in runs if one.alive), None) or (runs[0] if runs else None)
    if status is None or (
        not status.alive and status.run.state == "done" and not status.run.failed
    ):
        return False
    run_id, alive = status.run.id, status.alive

    def watch(seen: RunStatus) -> None:
        who = el("p", f"{seen.run.judge}: {task_words(seen.run)}", class_="quiet small text")
        pace = runs_parts.pace(run_control.watched(seen), "verdicts")
        kit.show(join(who, pace), key=f"lab_run_{run_id}")

    run_control.follow(store, status, watch)

    def ask(go: Callable[[], None]) -> None:
        questions = _open_questions(record, status)
        if questions:
            st.session_state[ASKING] = (store, record, questions, go)
        else:
            go()

    run_control.bar(
        store, run_view(status.run, alive=alive), key="lab_run", fault=FAULT, ask=ask,
        more=lambda: st.button("Show the figures so far", key="lab_refresh"),
    )  # fmt: skip
    return alive


def _open_questions(record: BenchSet, status: RunStatus) -> tuple[ConsentQuestion, ...]:
    """Return what a run that goes on would send to hosts that nobody has agreed to yet."""
    endpoints = known_endpoints(stores.settings())
    asked = [endpoints[n] for n in status.run.asked if n in endpoints]
    return tuple(
        ConsentQuestion(
            host=one.host, endpoints=(one.name,), pictures=record.n_items, texts=record.n_items
        )
        for one in {e.name: e for e in asked}.values()
        if is_remote(one) and one.host not in record.consent
    )


# --- replies, consent, deleting -------------------------------------------------------------------


def _draw_replies(store: OpenStore, record: BenchSet) -> None:
    kit.show(
        el("p", "A file with one reply an item, as the judge wrote it. Nothing is called; what "
           "can't be read is counted as unread, and what belongs to no item is named.",
           class_="quiet small"),
        key="lab_replies_words",
    )  # fmt: skip
    left, right = st.columns([2, 1])
    with left:
        st.file_uploader("Replies", accept_multiple_files=True, key="lab_reply_files")
    with right:
        st.text_input("Whose replies are they?", key="lab_reply_name", max_chars=120,
                      placeholder="the judge's name")  # fmt: skip

    def score() -> None:
        st.session_state.pop(FAULT, None)
        files = [ImportFile.from_bytes(one.name, one.getvalue())
                 for one in st.session_state.get("lab_reply_files") or []]  # fmt: skip
        name = st.session_state.get("lab_reply_name") or ""
        if not files:
            st.session_state[FAULT] = "Choose the file that holds the replies first."
            return
        try:
            found = import_replies(store, record.id, files, name.strip())
        except AtomError as error:
            st.session_state[FAULT] = error.message
            return
        words = f"{numbers.count(len(found.verdicts), 'reply', 'replies')} taken in."
        st.session_state[TOLD] = (words, (*found.notes, *found.skipped))
        st.query_params["who"] = name.strip()

    team.button("run", "Score them", key="lab_reply_score", on_click=score)


def draw_question() -> None:
    """Open the dialog that is waiting, if any; call it once at the page's end."""
    asking = st.session_state.pop(ASKING, None)
    deleting = st.session_state.pop(DELETING, None)
    if asking is not None:
        _consent(*asking)
    elif deleting is not None:
        _delete(deleting)


@st.dialog("Send this off this computer?")
def _consent(
    store: OpenStore,
    record: BenchSet,
    questions: tuple[ConsentQuestion, ...],
    then: Callable[[], None],
) -> None:
    kit.show(
        el(
            "div",
            [el("p", f"{one.sentence}.", class_="text") for one in questions],
            el("p", "The agreement is kept with this set, and goes when it is deleted.",
               class_="quiet small"),
            style="display:flex;flex-direction:column;gap:8px",
        ),
        key="lab_consent_words",
    )  # fmt: skip

    def agree() -> None:
        give_consent(store, record.id, [one.host for one in questions])
        then()

    with st.container(horizontal=True):
        if team.button(
            "consent", "Agree and send", key="lab_consent_yes", type="primary", on_click=agree
        ):
            st.rerun()
        if st.button("Send nothing", key="lab_consent_no"):
            st.rerun()


@st.dialog("Delete this set?")
def _delete(set_id: str) -> None:
    store = stores.user_store()
    record = store.get(BenchSet, set_id) if store is not None else None
    if store is None or record is None:
        kit.show(el("p", "It is gone already."), key="lab_delete_words")
        return
    busy = any(status.alive for status in list_runs(store, set_id))
    words = (
        "A run works on it: stop that first."
        if busy
        else "All verdicts on it go, too, with what was paid for them. What the calls answered "
        "stays in the store: asking the same again costs nothing."
    )
    kit.show(
        join(el("p", record.name, class_="strong text"), el("p", words)), key="lab_delete_words"
    )

    def delete() -> None:
        delete_set(store, set_id)
        st.session_state[TOLD] = (f"Deleted: {record.name}.", ())
        for key in ("set", "who"):
            st.query_params.pop(key, None)

    with st.container(horizontal=True):
        if team.button(
            "delete", "Delete", key="lab_delete_yes", type="primary", disabled=busy, on_click=delete
        ):
            st.rerun()
        if st.button("Keep it", key="lab_delete_no"):
            st.rerun()


# --- published ------------------------------------------------------------------------------------


def _draw_published() -> None:
    titles = {
        "vl_rewardbench": "VL-RewardBench",
        "multi_crit": "Multi-Crit",
        "mm_critic": "MM-CRITIC",
        "critic_bench": "CriticBench",
    }
    kit.show(
        el(
            "div",
            el("p", "What the papers print of the models that they examined, right or wrong. Your "
               "own judge stands among them on a benchmark's tab.", class_="quiet"),
            [judge_lab_parts.printed(title, places(name)) for name, title in titles.items()],
            judge_lab_parts.doubts(checked()),
            class_="stack",
        ),
        key="lab_published",
    )  # fmt: skip

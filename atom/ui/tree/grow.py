"""Growing the tree from the study's criteria: the price first, then to be watched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from atom.display import numbers
from atom.display.numbers import money
from atom.engine.control import start_work, stop_run
from atom.engine.induction.control import (
    InductionStatus,
    newest_induction,
    start_of,
    what_grew,
)
from atom.engine.induction.forecast import InductionForecast, forecast_induction
from atom.engine.induction.ground import InductionSpec, Start, spec_of
from atom.engine.induction.growth_log import read_growth
from atom.errors import AtomError
from atom.records import Endpoint, content_id
from atom.stages.growing.induction import SUBSET
from atom.ui import kit, links, work
from atom.ui.html import Html, el, join
from atom.ui.pages import RUNS
from atom.ui.plain import plain
from atom.ui.shell import sealed, stores, team
from atom.ui.shell.frame import Here
from atom.ui.tree import diff, growing
from atom.ui.tree import history as tree_history
from atom.ui.tree import query as tree_query
from atom.views.filters import Filters
from atom.views.runs.page import STATE_WORDS
from atom.views.tree.edit import use_older
from atom.views.tree.growth import GrowthEvent, GrowthView, growth_view
from atom.views.tree.versions import VersionRow, versions

FORMS = "grow_forms"
FAULT = "grow_fault"
PICTURES = "grow_pictures"
EVERY = 0.7
"""Seconds between two looks at a growing tree."""
PHASES = {
    "": "getting ready",
    "proposing": "the judge gives each criterion a place, and adds leaves where none fits",
    "uniting": "the judge unites leaves that mean the same",
    "weeding": "names that say nothing are taken out",
    "mapping": "every criterion of the study finds its leaf",
}
STARTS: dict[Start, str] = {
    "roots": "From the six roots",
    "current": "Refine the tree of now",
}
_EVENT_WORDS = {
    "added": ("+", "added"),
    "united": ("⇢", "united with"),
    "pruned": ("−", "pruned"),
    "moved": ("→", "moved under"),
    "renamed": ("=", "renamed"),
}


@dataclass(frozen=True, kw_only=True)
class GrowForm:
    """What the form asks for."""

    judge: str
    samples: int | None
    start: Start = "roots"
    budget: float | None = None


def draw(here: Here) -> None:
    """Draw the tab: a growing tree, what came of the last one, and the form for a new one."""
    work.style()
    if not here.data.has_process:
        kit.show(_nothing(here), key="grow_nothing")
        return
    if here.entry.bundled or here.store.read_only:
        grown = newest_induction(here.store, here.data.study.id)
        if grown is not None:
            _watch(here, grown)
        sealed.offer_copy(
            here,
            "grow",
            "A tree grows into a study, and this one can't be changed. Make your own copy: "
            "all that was judged comes along, and the built-in test judge grows a tree in about "
            "half a minute, free.",
            button="Make my own copy",
            fault=FAULT,
            keep=("tab",),
        )
        _show_fault()
        return
    _show_fault()
    status = newest_induction(here.store, here.data.study.id)
    if status is not None:
        _watch(here, status)
    if status is None or not status.alive:
        _form(here, status)


def _show_fault() -> None:
    fault = st.session_state.get(FAULT)
    if fault:
        kit.show(kit.fault(fault), key="grow_fault_shown")


def _nothing(here: Here) -> Html:
    return kit.empty(
        "Nothing to grow a tree from yet",
        "A tree grows from criteria, which a judge cuts from its own solutions. Judge the study "
        "first.",
        kit.button("Judge it on Runs", links.address(RUNS.url_path, Filters(study=here.entry.key))),
    )


# --- watching -----------------------------------------------------------------------------------


def _watch(here: Here, status: InductionStatus) -> None:
    held: dict[str, GrowthView] = st.session_state.setdefault(PICTURES, {})
    start = start_of(here.store, status.row)
    known = [status]

    def look() -> None:
        now = known.pop() if known else newest_induction(here.store, here.data.study.id)
        if now is None or (status.alive and not now.alive):
            st.rerun()
        watched = read_growth(here.store, now.row.id)
        view = growth_view(start, watched.entries, watched.held, held.get(now.row.id))
        held[now.row.id] = view
        head, picture = st.columns([1, 2], gap="medium")
        with head:
            kit.show(_progress(now, view), key="grow_progress")
            if now.alive:
                _stop(here, now)
            kit.show(_events(view), key="grow_events")
        with picture:
            kit.show(growing.picture(view), key="grow_picture")

    if status.alive or status.run.state != "done":
        st.fragment(look, run_every=EVERY if status.alive else None)()
    if status.run.state == "done":
        _came_of_it(here, status)


def _stop(here: Here, status: InductionStatus) -> None:
    def halt() -> None:
        stop_run(here.store, status.run.id)

    team.button(
        "run", "Stop", key="grow_stop", disabled=status.run.state == "stopping", on_click=halt
    )


def _progress(status: InductionStatus, view: GrowthView) -> Html:
    run, phase = status.run, status.row.phase
    said = PHASES.get(phase, phase) if run.state == "running" else STATE_WORDS[run.state]
    counts = [
        (view.leaves, "leaves now"),
        (view.added, "added"),
        (view.united, "united"),
        (view.pruned, "pruned"),
        (view.placed, "criteria on a leaf"),
    ]
    return el(
        "section",
        tree_query.style(),
        el("h2", "Your tree is growing" if status.alive else "The tree that was growing"),
        el("p", said, role="status"),
        kit.progress(run.done, run.total, "calls done"),
        el("p", f"{run.done:,} of about {run.total:,} calls to {run.judge} so far · "
                f"{money(run.cost)}" if run.total else "Reading the study's criteria.",
           class_="quiet small"),
        el("dl", [el("div", el("dd", f"{n:,}"), el("dt", name)) for n, name in counts],
           class_="tally"),
        el("p", kit.told(run.message), class_="text small")
        if run.message and not status.alive else None,
        class_="grow-head",
    )  # fmt: skip


def _events(view: GrowthView) -> Html:
    if not view.events:
        return el("p", "The first proposals are on their way.", class_="quiet small")
    return el(
        "section",
        tree_query.style(),
        el("h3", "What happened last"),
        el("ul", [_event(event) for event in view.events], class_="log grow-log"),
    )


def _event(event: GrowthEvent) -> Html:
    sign, word = _EVENT_WORDS[event.kind]
    into = f" {word} {event.into}" if event.into else f" {word}"
    if event.kind == "pruned" and event.into:
        into = f" pruned into {event.into}"
    return el(
        "li",
        el("span", sign, class_="sign", aria_hidden="true"),
        kit.strong(event.what),
        into,
        el("div", numbers.regrouped(event.why), class_="quiet")
        if event.kind in ("united", "pruned")
        else None,
    )


# --- what came of it ----------------------------------------------------------------------------


def _came_of_it(here: Here, status: InductionStatus) -> None:
    position = status.row.position
    if position is None:
        return
    view = versions(here.store, here.data, str(position - 1), str(position))
    row = next((row for row in view.rows if row.position == position), None)
    if row is None:
        return
    grown = _grown(here, status)
    head, picture = st.columns([1, 2], gap="medium")
    with picture:
        kit.show(growing.picture(grown), key="grow_picture")
    with head:
        _says(here, row, grown)
    before = next((one for one in view.rows if one.position == position - 1), None)
    sealed_here = here.entry.bundled or here.store.read_only
    if row.current and before is not None and before.version != row.version and not sealed_here:
        _undo(here, before)
    if view.diff is not None:
        shown = el("div", tree_query.style(), diff.diff_table(here, view.diff))
        kit.show(shown, key="grow_diff")


def _grown(here: Here, status: InductionStatus) -> GrowthView:
    """Return the picture of a tree that has grown, worked out once a visit from its log."""
    held: dict[str, GrowthView] = st.session_state.setdefault(PICTURES, {})
    key = f"{status.row.id} done"
    if key not in held:
        watched = what_grew(here.store, status.row)
        held[key] = growth_view(start_of(here.store, status.row), watched.entries, watched.held)
    return held[key]


def _says(here: Here, row: VersionRow, grown: GrowthView) -> None:
    roots = sum(len(node.path) == 1 for node in grown.nodes)
    came = (
        f"From {numbers.count(roots, 'root')} the judge added "
        f"{numbers.count(grown.added, 'leaf', 'leaves')}; {grown.united:,} were united and "
        f"{grown.pruned:,} pruned: {numbers.count(grown.leaves, 'leaf', 'leaves')} hold "
        f"{numbers.count(grown.placed, 'criterion', 'criteria')} now."
    )
    kit.show(
        el(
            "section",
            tree_query.style(),
            el("h2", f"{row.name}: {numbers.count(row.leaves, 'leaf', 'leaves')}"),
            el("p", came),
            el("p", numbers.regrouped(row.note), class_="quiet"),
            el("p", "It is the study's tree now." if row.current
               else "It was taken back: another tree is the study's now; Versions holds both.",
               class_="quiet"),
            el("div", kit.button("See it on the map", tree_query.to(here, here.filters, tab="map"),
                                 primary=row.current),
               kit.button("All versions", tree_query.to(here, here.filters, tab="versions")),
               class_="row"),
            _events(grown),
        ),
        key="grow_done",
    )  # fmt: skip


def _undo(here: Here, before: VersionRow) -> None:
    def back() -> None:
        def change() -> str:
            use_older(here.store, here.data.study.id, before.version)
            return f"{before.name!r} is the study's tree again; the grown one stays in Versions."

        tree_history.attempt(change)

    team.button("run", plain(f"Undo: use {before.name!r} again"), key="grow_undo", on_click=back)


# --- beginning ----------------------------------------------------------------------------------


def _form(here: Here, status: InductionStatus | None) -> None:
    endpoints = work.endpoints_or_none("grow_endpoints", here.filters)
    if endpoints is None:
        return
    if status is not None and status.run.state in ("stopped", "failed"):
        _go_on(here, status, endpoints)
    form = _held(here, endpoints)
    judges = [name for name, endpoint in endpoints.items() if "judge" in endpoint.roles]
    again = status is not None
    title = "Grow another tree" if again else "Grow a tree from this study"
    about = (
        "The judge reads this study's criteria, gives each a place in a tree, merges what means "
        "the same and drops what has too little behind it. The current tree stays in the history."
    )
    kit.show(join(el("h2", title), el("p", about, class_="quiet")), key="grow_form_head")
    one, two, three, four = st.columns([1.7, 1.5, 1.6, 1.5], vertical_alignment="bottom")
    bound = _binder(here, form)
    with one:
        st.selectbox("Judge", judges, index=None, placeholder="Choose who judges",
                     **bound("judge", form.judge if form.judge in judges else None))  # fmt: skip
    with two:
        st.number_input("Samples to propose from", 1, 1_000_000, step=50, placeholder="all",
                        help="Proposals are made from these; every criterion of the study is "
                        "mapped in the end.", **bound("samples", form.samples))  # fmt: skip
    with three:
        st.selectbox(
            "Begin", list(STARTS), format_func=lambda at: STARTS[at], **bound("start", form.start)
        )
    with four:
        st.number_input("Spend at most (USD)", 0.0, 1_000_000.0, step=1.0, placeholder="no cap",
                        **bound("budget", form.budget))  # fmt: skip
    if form.judge not in judges:
        kit.show(kit.notice("Choose a judge to see what it would cost."), key="grow_who")
        return
    spec = InductionSpec(
        study_id=here.data.study.id,
        judge=form.judge,
        samples=form.samples,
        start=form.start,
        budget=form.budget,
    )
    found = _forecast(here, spec, endpoints)
    if found is not None:
        _button(here, spec, endpoints[form.judge], "Grow the tree", "grow_start")


def _held(here: Here, endpoints: dict[str, Endpoint]) -> GrowForm:
    held: dict[str, GrowForm] = st.session_state.setdefault(FORMS, {})
    if here.entry.key not in held:
        few = len(here.data.sample_position) <= SUBSET
        judge = work.usual_judge(here.store, here.data, endpoints)
        held[here.entry.key] = GrowForm(judge=judge, samples=None if few else SUBSET)
    return held[here.entry.key]


def _binder(here: Here, form: GrowForm) -> Any:
    def typed(field: str, key: str) -> None:
        changes: dict[str, Any] = {field: st.session_state[key]}
        if field == "judge":
            changes[field] = changes[field] or ""
        st.session_state[FORMS][here.entry.key] = replace(form, **changes)

    def bound(field: str, value: object) -> dict[str, Any]:
        key = f"grow_{field}_{here.entry.key}"
        st.session_state[key] = value
        return {"key": key, "on_change": typed, "args": (field, key)}

    return bound


def _forecast(
    here: Here, spec: InductionSpec, endpoints: dict[str, Endpoint]
) -> InductionForecast | None:
    key = content_id("growth", repr(spec), here.data.revision, here.store.url)
    found = work.forecasted(
        "growth", key, lambda: forecast_induction(here.store, spec, endpoints), "grow_price"
    )
    if found is not None:
        kit.show(kit.facts(found.facts), key="grow_price")
    return found


def _go_on(here: Here, status: InductionStatus, endpoints: dict[str, Endpoint]) -> None:
    judge = endpoints.get(status.row.judge)
    if judge is None:
        words = f"It can't go on: there is no endpoint {status.row.judge!r} any more."
        kit.show(kit.notice(words), key="grow_no_judge")
        return
    kit.show(el("p", "What was answered is kept: going on asks only for the rest.", class_="small"),
             key="grow_kept")  # fmt: skip
    _button(here, spec_of(here.store, status.row.id), judge, "Go on", "grow_go_on")


def _button(here: Here, spec: InductionSpec, judge: Endpoint, words: str, key: str) -> None:
    def start() -> None:
        st.session_state.pop(FAULT, None)
        try:
            start_work(here.store, spec, stores.settings())
        except AtomError as error:
            st.session_state[FAULT] = error.message

    def ask() -> None:
        sent = "The pictures, questions and criteria of this study would be sent"
        work.agree_then(here, [judge], sent, start)

    team.button("run", plain(words), key=key, type="primary", on_click=ask)

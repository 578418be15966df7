"""*Settle this*: what is to be known, the next look with its price, and when it is settled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import streamlit as st

from atom.analysis.looks.choice import Goal
from atom.display import numbers
from atom.display.numbers import money
from atom.engine.control import run_status
from atom.engine.looks.planning import SHARE, NextLook, SettleSpec, plan_look
from atom.errors import UsageError
from atom.records import Endpoint, Run, content_id
from atom.ui import kit, work
from atom.ui.html import Html, el, join
from atom.ui.pages import RUNS
from atom.ui.shell.frame import Here
from atom.views.overview.evidence import GLYPHS
from taxonomy import format_path

FAULT, STARTED, KEPT = "settle_fault", "settle_started", "settle_kept"
GOALS: Final[Mapping[str, Goal]] = {
    "Who leads": "leader",
    "Which weaknesses": "weaknesses",
    "Every capability": "nodes",
}
T = TypeVar("T")
_LEAD = (
    "Marks answers in looks of growing size: the first takes whole questions at random, each later "
    "one goes where it may settle most. It stops when the question is settled. What is said "
    "meanwhile holds although one looks early."
)


def early_notice(here: Here) -> Html | None:
    """Say that the study stands between two looks, and what holds; None at its end."""
    early = here.data.early
    if early is None:
        return None
    return kit.notice(
        join(
            kit.term("early look", f"Early look {early.number}"),
            f": {early.answers:,} of {early.planned:,} answers are marked, chosen where they tell "
            "most. The ranking, and what is said of whole capabilities, hold at every look and "
            "count each capability at its planned share; labels, filters and branches above claim "
            "nothing yet, and other figures describe only what is marked.",
        )
    )


def draw(here: Here, *, judge: str = "", usual: Goal = "weaknesses") -> None:
    """Draw the switch, and what the next look would ask and cost.

    Args:
        judge: who judges, where the page says so; else it is chosen here.
        usual: the goal that is chosen at first.
    """
    place = here.screen.url_path
    if here.entry.bundled or not here.data.candidates:
        return
    key = _restored(f"settle_on_{place}", False)
    if not _keep(key, st.toggle("Settle this", key=key, help=_LEAD)):
        return
    endpoints = work.endpoints_or_none("settle_endpoints", here.filters)
    if endpoints is None:
        return
    with st.container(border=True, key="settle_panel"):
        kit.show(el("p", _LEAD, class_="quiet small"), key="settle_lead")
        spec = _spec(here, endpoints, judge, usual)
        if spec is None:
            return
        of = content_id("settle", repr(spec), here.data.revision, here.store.url)
        now = work.forecasted(
            "settle", of, lambda: plan_look(here.store, spec, endpoints), "settle_plan"
        )
        if now is not None:
            kit.show(told(here, now), key="settle_plan")
            _button(here, now, endpoints)
        if st.session_state.get(FAULT):
            kit.show(kit.fault(st.session_state[FAULT]), key="settle_fault_shown")
        started = st.session_state.get(STARTED)
        if started and started[0] == here.entry.key and _alive(here, started[1]):
            watch = kit.door(
                "Watch it on Runs", f"{RUNS.url_path}?study={here.entry.key}&run={started[1]}"
            )
            kit.show(kit.notice(join("The look is being taken. ", watch)), key="settle_watch")


def _alive(here: Here, run_id: str) -> bool:
    """Whether a look is still being taken; once it isn't, nothing more is said of it."""
    try:
        alive = run_status(here.store, run_id).alive
    except UsageError:  # it is gone
        alive = False
    if not alive:
        st.session_state.pop(STARTED, None)
    return alive


def _restored(key: str, usual: object) -> str:
    """Set a widget to what it was before its page hid it, as Runs does while a run works.

    Returns:
        The widget's key.
    """
    if key not in st.session_state:
        st.session_state[key] = st.session_state.get(KEPT, {}).get(key, usual)
    return key


def _keep(key: str, value: T) -> T:
    """Remember what a widget is set to; it comes back so."""
    st.session_state.setdefault(KEPT, {})[key] = value
    return value


def _spec(
    here: Here, endpoints: Mapping[str, Endpoint], judge: str, usual: Goal
) -> SettleSpec | None:
    names = list(GOALS)
    first, second, third = st.columns([3, 1, 1])
    asked = next(name for name, goal in GOALS.items() if goal == usual)
    with first:
        chosen = st.segmented_control(
            "What should be known?", names, key=_restored("settle_goal", asked)
        )
        goal = GOALS[_keep("settle_goal", chosen or names[1])]
    with second:
        share = st.number_input("Mark at most (% of answers)", 1, 100, step=5,
                                key=_restored("settle_share", round(100 * SHARE)))  # fmt: skip
        _keep("settle_share", share)
    within = 5.0
    if goal == "nodes":
        with third:
            within = st.number_input(
                "To within (points)", 0.5, 50.0, step=0.5, key=_restored("settle_within", within)
            )
            _keep("settle_within", within)
    judges = [name for name, one in endpoints.items() if "judge" in one.roles]
    if not judge:
        known = work.usual_judge(here.store, here.data, dict(endpoints))
        judge = st.selectbox(
            "Judge", judges, index=judges.index(known) if known in judges else None,
            placeholder="Choose who judges", key="settle_judge",
        ) or ""  # fmt: skip
    if not judge:
        kit.show(kit.notice("Choose a judge."), key="settle_missing")
        return None
    answers = int(here.data.table.answered.sum())
    return SettleSpec(
        study_id=here.entry.study.id,
        goal=goal,
        within=within,
        calls=max(round(share / 100 * answers), 1),
        judge=judge,
    )


def told(here: Here, now: NextLook) -> Html:
    """Say how it stands, where the next look goes and what it costs."""
    state = f"{now.spent:,} of {int(now.pool.there.sum()):,} answers are marked"
    state += f"; at most {now.budget:,} are to be." if now.spent < now.budget else "."
    open_ = f" Open: {numbers.count(now.open, 'claim')}." if now.open else ""
    head = el("p", el("strong", now.why), " ", state, open_ if now.standing is not None else "")
    if now.forecast is None:
        return el("div", head, class_="stack")
    price = (
        f"Look {now.number}: {numbers.count(now.sizes[0], 'answer')}, "
        f"{numbers.count(now.forecast.calls, 'call')}, {money(now.forecast.cost)}"
    )
    later = ", ".join(f"{size:,}" for size in now.sizes[1:])
    name = {one.id: one.name for one in here.data.candidates}
    return el(
        "div",
        head,
        el("p", price, class_="strong"),
        el("p", f"If it isn't settled then: {later} answers in later looks.", class_="quiet small")
        if later
        else None,
        kit.grid(
            now.reasons,
            kit.MarkupColumn("Model", lambda one: name.get(one.model_id, one.model_id)),
            kit.MarkupColumn(
                "Capability", lambda one: format_path(one.node) if one.node else "everywhere alike"
            ),
            kit.MarkupColumn(
                "So far", lambda one: " ".join(GLYPHS[one.label]) if one.label else ""
            ),
            kit.number("Need", lambda one: numbers.share(one.need)),
            kit.number("Answers", lambda one: f"{one.answers:,}"),
            label="Where the next look goes",
        ),
        class_="stack",
    )


def _button(here: Here, now: NextLook, endpoints: Mapping[str, Endpoint]) -> None:
    if now.spec is None:
        return
    spec = now.spec

    def begun(run: Run) -> None:
        st.session_state[STARTED] = (here.entry.key, run.id)

    work.start_button(
        here, "Take the next look", spec,
        [one for name, one in endpoints.items() if name == spec.judge], key="settle_start",
        sent="The pictures, questions and answers of this look would be sent", fault=FAULT,
        begun=begun,
    )  # fmt: skip

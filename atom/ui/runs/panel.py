"""The Runs page's form for a panel: further judges mark the same answers."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from atom.display import numbers
from atom.display.numbers import money
from atom.engine.control import start_work
from atom.engine.members import judge_of
from atom.engine.study.panel import PanelForecast, PanelSpec, SeatForecast, forecast_panel
from atom.errors import AtomError
from atom.records import Endpoint, content_id
from atom.ui import kit, links, work
from atom.ui.html import Html, el
from atom.ui.lab.judges import TAB
from atom.ui.pages import JUDGE_LAB
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here
from atom.views.filters import Filters

FAULT = "panel_fault"
_LEAD = (
    "Further judges mark the answers that are there, at the same criteria. Where two or more did, "
    "every score says on how many checkpoints they differ, and Judge lab what they are worth "
    "together: how many it takes, who is lenient, whom to leave out."
)


def draw(here: Here, endpoints: dict[str, Endpoint], sent: str) -> None:
    """Draw the switch, what each judge would be asked, and its price.

    Args:
        endpoints: endpoints by name.
        sent: what would go to a host that nobody has agreed to yet.
    """
    on = st.toggle("Further judges", key=f"panel_on_{here.entry.key}", help=_LEAD)
    if not on:
        return
    with st.container(border=True, key="panel_form"):
        kit.show(el("p", _LEAD, class_="quiet small"), key="panel_lead")
        _together(here)
        spec = _spec(here, endpoints)
        if spec is None:
            return
        key = content_id("panel forecast", repr(spec), here.data.revision, here.store.url)
        found = work.forecasted(
            "panel", key, lambda: forecast_panel(here.store, spec, endpoints), "panel_forecast"
        )
        if found is not None:
            kit.show(told(found), key="panel_forecast")
        left = () if found is None else tuple(one.judge for one in found.seats if one.would.calls)
        _button(here, replace(spec, judges=left), endpoints, sent)
    if st.session_state.get(FAULT):
        kit.show(kit.fault(st.session_state[FAULT]), key="panel_fault_shown")


def _together(here: Here) -> None:
    """Lead to what the judges that marked already are worth together."""
    if here.data.table.apart is None:
        return
    names = [one.name for one in here.data.judges if one.kind != "person"]
    to = links.address(JUDGE_LAB.url_path, Filters(study=here.entry.key), tab=TAB)
    words = f"{', '.join(names)} marked answers of this study: "
    kit.show(el("p", words, kit.door("what they are worth together", to), class_="small"),
             key="panel_together")  # fmt: skip


def _spec(here: Here, endpoints: dict[str, Endpoint]) -> PanelSpec | None:
    own = here.data.study.judge_id
    judges = [
        name for name, one in endpoints.items() if "judge" in one.roles and judge_of(one).id != own
    ]
    left, middle, right = st.columns([2, 1, 1])
    with left:
        chosen = st.multiselect(
            "Who marks the same answers", judges, key="panel_judges", placeholder="Choose judges"
        )
    with middle:
        samples = st.number_input(
            "Samples, at random", 1, 1_000_000, None, step=10, placeholder="all",
            key="panel_samples", help="The same samples for every judge. Thirty or more tell how "
            "many judges it takes.",
        )  # fmt: skip
    with right:
        budget = st.number_input("Spend at most, each (USD)", 0.0, 1_000_000.0, None, step=1.0,
                                 placeholder="no cap", key="panel_budget")  # fmt: skip
    missing = (
        "No endpoint but this study's own judge may judge: set another one up in Settings."
        if not judges
        else "Nothing is judged yet: start a run above first, whose criteria the others mark by."
        if not here.data.has_process
        else ""
        if chosen
        else "Choose who marks."
    )
    if missing:
        kit.show(kit.notice(missing), key="panel_missing")
        return None
    return PanelSpec(
        study_id=here.entry.study.id,
        judges=tuple(chosen),
        samples=None if samples is None else int(samples),
        budget=budget,
    )


def told(found: PanelForecast) -> Html:
    """Say what each judge would be asked, and its price."""
    notices = dict.fromkeys(words for seat in found.seats for words in seat.would.notices)
    whole = None
    if len(found.seats) > 1 and found.calls:
        whole = el("p", f"Together {numbers.count(found.calls, 'call')}, {money(found.cost)}",
                   class_="strong")  # fmt: skip
    return el(
        "div",
        kit.grid(
            found.seats,
            kit.MarkupColumn("Judge", lambda seat: seat.judge),
            kit.number("Samples", lambda seat: f"{seat.would.samples:,}"),
            kit.number("Calls", _calls),
            kit.number(
                "Price, about",
                lambda seat: money(seat.would.cost) if seat.would.calls else numbers.NONE,
            ),
            label="What each judge would be asked",
        ),
        whole,
        [kit.notice(words) for words in notices],
        class_="stack",
        data_testid="panel-forecast",
    )


def _calls(seat: SeatForecast) -> Html | str:
    calls = seat.would.calls
    return f"{calls:,}" if calls else kit.quiet("nothing is left to mark")


def _button(here: Here, spec: PanelSpec, endpoints: dict[str, Endpoint], sent: str) -> None:
    def start() -> None:
        st.session_state.pop(FAULT, None)
        begun = []
        for one in spec.runs:
            try:
                begun.append(start_work(here.store, one, stores.settings()))
            except AtomError as error:
                st.session_state[FAULT] = f"{one.judge}: {error.message}"
        if begun:
            st.query_params.from_dict({"study": here.entry.key, "run": begun[0].id})

    def ask() -> None:
        work.agree_then(here, [endpoints[name] for name in spec.judges], sent, start)

    words = f"Have {numbers.count(len(spec.judges), 'judge')} mark" if spec.judges else "Mark"
    team.button("run", words, key="panel_start", on_click=ask, disabled=not spec.judges)

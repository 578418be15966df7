"""Letting a judge map the rivals of a tree: the price first, how far it is, and Stop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from atom.display import numbers
from atom.display.numbers import money
from atom.engine.induction.rival_maps import (
    RivalForecast,
    RivalProgress,
    RivalsMapped,
    RivalSpec,
    forecast_rivals,
    map_rivals,
)
from atom.engine.jobs import Job
from atom.records import Endpoint
from atom.records.base import content_id
from atom.ui import kit, work
from atom.ui.html import Html, el
from atom.ui.plain import plain
from atom.ui.shell import sealed, team
from atom.ui.shell.frame import Here

_EVERY = 1.0
_JUDGE = "rivals_judge"
_FAULT = "rivals_fault_kept"


@dataclass(kw_only=True)
class _Work:
    """A mapping under way, known to every session of this server."""

    job: str = ""
    now: RivalProgress = field(
        default_factory=lambda: RivalProgress(rival="", done=0, total=0, cost=0.0)
    )
    halt: asyncio.Event = field(default_factory=asyncio.Event)


@st.cache_resource(show_spinner=False)
def _all() -> dict[tuple[str, str], _Work]:
    return {}


def _key(here: Here) -> tuple[str, str]:
    return (here.store.url, here.data.study.id)


def under_way(here: Here) -> bool:
    """Draw how far the mapping of the rivals is, or say how it ended; whether it is going on."""
    found = _all().get(_key(here))
    if found is None:
        return False
    state = work.state_of(found.job)
    if state.status == "running":
        _watch(found)
        return True
    _all().pop(_key(here), None)
    if state.result is not None:
        done: RivalsMapped = state.result
        hung = ", ".join(f"{name} {n:,}" for name, n in done.rivals)
        words = f"Mapped by the judge: {hung} criteria. " if hung else ""
        words += (done.stopped[:1].upper() + done.stopped[1:] + ".") if done.stopped else ""
        kit.show(kit.notice(words), key="rivals_done")
    else:
        kit.show(kit.fault(state.error or "it was stopped"), key="rivals_fault")
    return False


def _watch(found: _Work) -> None:
    @st.fragment(run_every=_EVERY)
    def look() -> None:
        if work.state_of(found.job).status != "running":
            st.rerun()
        kit.show(_progress(found.now), key="rivals_progress")
        st.button("Stop", key="rivals_stop", on_click=found.halt.set, disabled=found.halt.is_set())

    look()


def _progress(now: RivalProgress) -> Html:
    return kit.section("The judge maps the rivals",
        el("p", now.rival or "Looking at what is mapped already", role="status"),
        kit.progress(now.done, now.total, "calls done"),
        el("p", f"{now.done:,} of about {now.total:,} calls · {money(now.cost)}",
           class_="quiet small"),
        class_="grow-head",
    )  # fmt: skip


def offer(here: Here, names: Sequence[str]) -> None:
    """Offer to let a judge map the rivals that words stand for, with the price."""
    text = (
        f"Words stand for the judge in {_listing(names)}: their leaves were chosen by shared "
        "words, this tree's by a judge. To compare like with like, let the same judge map them."
    )
    kit.show(kit.section("Like with like", el("p", text)), key="rivals_why")
    if here.entry.bundled or here.store.read_only:
        sealed.offer_copy(
            here,
            name="rivals",
            why="A mapping is kept with its study. Your copy lies in your own store.",
            button="Make my own copy",
            fault=_FAULT,
            keep=("tab",),
        )
        return
    endpoints = work.endpoints_or_none("rivals_endpoints", here.filters)
    if endpoints is None:
        return
    judges = [name for name, endpoint in endpoints.items() if "judge" in endpoint.roles]
    usual = work.usual_judge(here.store, here.data, endpoints)
    with st.columns([2, 3])[0]:
        chosen = st.selectbox(
            "Judge",
            judges,
            index=judges.index(usual) if usual in judges else None,
            placeholder="Choose who judges",
            key=_JUDGE,
        )
    if chosen is None:
        return
    found = _forecast(here, RivalSpec(study_id=here.data.study.id, judge=chosen), endpoints)
    if found is not None:
        _button(here, found, endpoints)


def _forecast(here: Here, spec: RivalSpec, endpoints: dict[str, Endpoint]) -> RivalForecast | None:
    key = content_id("rivals", repr(spec), here.data.revision, here.store.url)
    found = work.forecasted(
        "rivals", key, lambda: forecast_rivals(here.store, spec, endpoints), "rivals_price"
    )
    if found is not None:
        kit.show(kit.facts(found.facts), key="rivals_price")
    return found


def _button(here: Here, found: RivalForecast, endpoints: dict[str, Endpoint]) -> None:
    spec = RivalSpec(study_id=here.data.study.id, judge=found.judge.name)

    def start() -> None:
        held = _Work()

        async def ask(job: Job[object]) -> object:
            del job

            def told(now: RivalProgress) -> None:
                held.now = now

            return await map_rivals(here.store, spec, endpoints, on_progress=told, halt=held.halt)

        held.job = work.begin("rivals", ask)
        _all()[_key(here)] = held

    def agree() -> None:
        sent = "The pictures, questions and criteria of this study would be sent"
        work.agree_then(here, [found.judge], sent, start)

    n = numbers.count(sum(one.left > 0 for one in found.rivals), "rival")
    team.button("run", plain(f"Map {n}"), key="rivals_start", type="primary", on_click=agree)


def _listing(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

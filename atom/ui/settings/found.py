"""Settings: servers on this computer, and prices from a file of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import streamlit as st

from atom.engine.endpoints.configured import (
    PriceChange,
    known_endpoints,
    price_changes,
    put_endpoint,
    read_prices,
    take_prices,
)
from atom.engine.endpoints.servers import FoundServer, find_servers
from atom.engine.jobs import Job
from atom.errors import AtomError
from atom.ui import kit, work
from atom.ui.html import Html, el
from atom.ui.plain import plain
from atom.ui.shell import stores, team
from atom.views.settings.page import price_words

LOOK = "settings_look"
TOLD = "settings_told"
NEXT = "Test it before you rely on it; then judge answers with it under Runs."
FAULT = "settings_found_fault"
ROUND = "settings_prices_round"
EndpointOpener = Callable[[str | None], None]


def draw(open_endpoint: EndpointOpener) -> None:
    """Draw both, below the list of endpoints; `open_endpoint` opens the form of one."""
    fault = st.session_state.pop(FAULT, None)
    if fault:
        kit.show(kit.fault(fault), key="settings_found_fault_shown")
    _servers(open_endpoint)
    _prices()


# --- servers -------------------------------------------------------------------------------------


def _look() -> None:
    async def look(job: Job[object]) -> object:
        del job
        return await find_servers()

    st.session_state[LOOK] = work.jobs().start("servers", look).id


def _servers(open_endpoint: EndpointOpener) -> None:
    job_id = st.session_state.get(LOOK)
    job = work.jobs().get(job_id) if job_id else None
    state = job.snapshot() if job is not None else None
    running = state is not None and state.status == "running"
    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_servers"):
        team.button("endpoints", "Look for servers on this computer", key="servers_look",
                    on_click=_look, disabled=running)  # fmt: skip
        kit.show(el("p", "Ollama, LM Studio, vLLM, SGLang, llama.cpp, LiteLLM: at their usual "
                    "ports, here and nowhere else.", class_="quiet small"),
                 key="servers_words")  # fmt: skip
    if running and job_id:
        _looking(job_id)
        return
    if state is None:
        return
    if state.status != "done":
        kit.show(kit.fault(state.error or "it was stopped"), key="servers_fault")
        return
    found = cast("tuple[FoundServer, ...]", state.result)
    if not found:
        kit.show(el("p", "None answers. Start one, or add an endpoint by its address.",
                    class_="quiet"), key="servers_none")  # fmt: skip
    for number, server in enumerate(found):
        _server(number, server, open_endpoint)


def _looking(job_id: str) -> None:
    @st.fragment(run_every=work.LOOK_EVERY)
    def look() -> None:
        if work.state_of(job_id).status != "running":
            st.rerun()
        kit.show(el("p", "Looking…", class_="quiet small", role="status"), key="servers_wait")

    look()


def _server(number: int, server: FoundServer, open_endpoint: EndpointOpener) -> None:
    key = f"servers_model_{number}_{server.address}"
    with st.container(horizontal=True, vertical_alignment="center", key=f"server_{number}"):
        kit.show(
            el("p", kit.strong(server.preset.title), " ",
               el("span", server.address, class_="quiet small text")),
            key=f"server_words_{number}",
        )  # fmt: skip
        if server.models:
            st.selectbox("Model", server.models, key=key, label_visibility="collapsed", width=320)
            team.button("endpoints", "Add", key=f"server_add_{number}", type="primary",
                      on_click=_add, args=(server, key, open_endpoint))  # fmt: skip
        else:
            words = "wants a key: add it as an endpoint" if server.wants_key else "lists no model"
            kit.show(el("p", words, class_="quiet small"), key=f"server_none_{number}")


def _add(server: FoundServer, key: str, open_endpoint: EndpointOpener) -> None:
    settings = stores.settings()
    try:
        made = server.endpoint(st.session_state[key], tuple(known_endpoints(settings)))
        put_endpoint(settings, made)
    except AtomError as error:
        st.session_state[FAULT] = error.message
        return
    hint = f" {server.preset.hint}" if server.preset.hint else ""
    st.session_state[TOLD] = f"Added: {made.name}. {NEXT}{hint}"
    open_endpoint(made.name)


# --- prices --------------------------------------------------------------------------------------


def _prices() -> None:
    with st.expander("Prices from a file", key="settings_prices"):
        kit.show(
            el("p", "LiteLLM's model_prices_and_context_window.json, or a table (CSV, YAML) with "
               "model, input and output in USD for a million tokens. Atomscope knows no price of "
               "its own.", class_="quiet small"),
            key="settings_prices_words",
        )  # fmt: skip
        number = st.session_state.setdefault(ROUND, 0)
        file = st.file_uploader("Price list", type=["json", "csv", "tsv", "yaml", "yml"],
                                key=f"settings_prices_{number}",
                                label_visibility="collapsed")  # fmt: skip
        if file is None:
            return
        try:
            changes = price_changes(stores.settings(), read_prices(file.name, file.getvalue()))
        except AtomError as error:
            kit.show(kit.fault(error, title="This file can't be used"), key="settings_prices_fault")
            return
        kit.show(_changes(changes), key="settings_prices_changes")
        count = sum(change.changes for change in changes)
        if count:
            team.button(
                "endpoints",
                plain(f"Take {count:,} price{'s' * (count != 1)}"),
                key="settings_prices_take",
                type="primary",
                on_click=_take,
                args=(changes,),
            )


def _take(changes: tuple[PriceChange, ...]) -> None:
    try:
        names = take_prices(stores.settings(), changes)
    except AtomError as error:
        st.session_state[FAULT] = error.message
        return
    st.session_state[TOLD] = f"Prices taken: {', '.join(names)}."
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
    st.session_state.pop("settings_form", None)


def _changes(changes: tuple[PriceChange, ...]) -> Html:
    if not changes:
        return el("p", "You have added no endpoint yet: there is nothing to price.", class_="quiet")
    return kit.grid(
        changes,
        kit.MarkupColumn("Name", lambda change: el("span", change.endpoint.name, class_="text")),
        kit.MarkupColumn(
            "Model", lambda change: el("span", change.endpoint.model, class_="text"), broad=True
        ),
        kit.MarkupColumn("Now", lambda change: price_words(change.endpoint.prices)),
        kit.MarkupColumn(
            "In the file",
            lambda change: price_words(change.now) if change.now else kit.quiet("not in the file"),
        ),
        label="Prices in the file",
    )

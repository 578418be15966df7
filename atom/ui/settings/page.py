"""The Settings page: endpoints, agreements, and where things are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from atom.engine.endpoints.configured import (
    ANY,
    PRESETS,
    Preset,
    adapted_lately,
    built_in,
    check_variables,
    own_endpoints,
    plain_address,
    put_endpoint,
    remove_endpoint,
    sketch,
)
from atom.errors import AtomError
from atom.records import Endpoint
from atom.ui import kit, links
from atom.ui.html import Html, el, join
from atom.ui.pages import SETTINGS
from atom.ui.settings import check
from atom.ui.settings.check import FORM
from atom.ui.settings.found import NEXT, TOLD
from atom.ui.shell import stores, team
from atom.views.filters import Filters
from atom.views.settings.endpoint_table import endpoint_table
from atom.views.settings.page import (
    BOXES,
    DETAILS,
    FORMS,
    ROLES,
    EndpointForm,
    EndpointLine,
    endpoint_line,
    endpoint_of,
    form_of,
    sampling_words,
    with_address,
    with_model,
    with_preset,
)
from atom.views.stores import OpenStore

_TEXTS = (
    "name",
    "base_url",
    "model",
    "key_env",
    "family",
    "reasoning_effort",
    "extra_body",
    "extra_headers",
    "query",
)

NEW = "+"
"""In the URL, where an endpoint's name stands: one that is to be added."""
FAULT = "settings_fault"
ASKED = "settings_asked"


def address(endpoint: str | None) -> str:
    """Return the page's address with an endpoint open."""
    held = st.query_params.get_all("study")
    return links.address(
        SETTINGS.url_path, Filters(study=held[-1] if held else ""), endpoint=endpoint
    )


# --- the list -------------------------------------------------------------------------------------


def draw_endpoints(chosen: str | None) -> dict[str, Endpoint]:
    """Draw the list of endpoints.

    Returns:
        All endpoints by name; the built-in ones alone when the file can't be read.
    """
    settings = stores.settings()
    try:
        own = own_endpoints(settings)
    except AtomError as error:
        own = ()
        kit.show(kit.fault(error, title="The endpoints file can't be read"), key="endpoints_fault")
    lines = [
        *(endpoint_line(endpoint, built_in=False) for endpoint in own),
        *(endpoint_line(endpoint, built_in=True) for endpoint in built_in()),
    ]
    kit.show(_list(lines, chosen, has_own=bool(own)), key="endpoints_list")
    return {line.endpoint.name: line.endpoint for line in lines}


def _list(lines: list[EndpointLine], chosen: str | None, *, has_own: bool) -> Html:
    own = [line for line in lines if not line.built_in]
    rest = [line for line in lines if line.built_in]
    words = (
        "The built-in ones need no key and no network. They know only probes: pictures that "
        "Atomscope drew itself."
    )
    return el(
        "div",
        el(
            "div",
            el("h2", kit.term("endpoint", "Endpoints"), style="margin:0"),
            kit.button("Add an endpoint", address(NEW), primary=not has_own),
            class_="row",
            style="justify-content:space-between;margin-bottom:6px",
        ),
        _table(own, chosen, "Your endpoints")
        if own
        else el("p", "You have added none yet: any OpenAI-compatible server will do, on this "
                "computer or elsewhere.", class_="quiet"),
        kit.fold(
            f"Built in ({len(rest)})",
            el("p", words, class_="quiet small"),
            _table(rest, chosen, "Built-in endpoints"),
            opened=any(line.built_in and line.endpoint.name == chosen for line in lines),
        ),
        class_="stack",
        style="gap:8px",
    )  # fmt: skip


def _table(lines: list[EndpointLine], chosen: str | None, label: str) -> Html:
    return kit.drawn(
        endpoint_table(lines, label),
        cells={
            "Name": lambda _, name: kit.door(name, address(name), class_="cell text"),
            "Key": lambda line, key: kit.status("failed", key) if line.key_missing else key,
        },
        on=lambda line: line.endpoint.name == chosen,
    )


# --- one endpoint ---------------------------------------------------------------------------------


def draw_chosen(chosen: str | None, endpoints: dict[str, Endpoint]) -> None:
    """Draw what is open: the form of an endpoint, a built-in one's facts, or nothing."""
    told = st.session_state.pop(TOLD, None)
    if told:
        kit.show(kit.notice(told), key="settings_told_shown")
    if chosen is None:
        return
    names = {endpoint.name for endpoint in built_in()}
    if chosen != NEW and chosen not in endpoints:
        kit.show(
            kit.notice(f"There is no endpoint {chosen[:60]!r} here; choose one from the list."),
            key="settings_gone",
        )
        return
    if chosen in names:
        _facts(endpoints[chosen])
        check.draw(endpoints[chosen])
        return
    _form(chosen, endpoints.get(chosen))


def _facts(endpoint: Endpoint) -> None:
    kit.show(
        el(
            "div",
            el("h2", endpoint.name, style="margin:0"),
            el("p", "Built in: it runs inside Atomscope, asks nobody and costs nothing. It can't "
               "be changed or removed.", class_="quiet"),
        ),
        key="settings_facts",
    )  # fmt: skip


def _form(chosen: str, before: Endpoint | None) -> None:
    held: dict[str, EndpointForm] = st.session_state.setdefault(FORM, {})
    if chosen not in held:
        held[chosen] = form_of(before) if before is not None else EndpointForm()
    form = held[chosen]

    def typed(field: str, key: str) -> None:
        held[chosen] = _changed(held[chosen], field, st.session_state[key])

    def bound(field: str) -> dict[str, Any]:
        key = f"endpoint_{field}_{chosen}"
        value = getattr(form, field)
        st.session_state[key] = list(value) if field == "roles" else value
        return {"key": key, "on_change": typed, "args": (field, key)}

    title = f"Change {before.name}" if before is not None else "Add an endpoint"
    kit.show(el("h2", title, style="margin:0"), key="settings_form_head")
    if before is None:
        st.selectbox("Provider or server", ["", *PRESETS], **bound("preset"),
                     format_func=lambda name: PRESETS[name].title if name else "another one",
                     help="Fills in its address, its limits and its habits.")  # fmt: skip
    if form.preset in PRESETS:
        kit.show(_habits(PRESETS[form.preset]), key="settings_habits")
    left, right = st.columns(2, gap="large")
    with left:
        st.text_input("Name", max_chars=80, placeholder="my-judge", **bound("name"))
        st.text_input("Address", placeholder="https://api.openai.com/v1", **bound("base_url"),
                      help="Up to and with the version, without /chat/completions.")  # fmt: skip
        st.text_input(
            "Model", placeholder="the model's name as the server knows it", **bound("model")
        )
        st.text_input("Key variable", placeholder="OPENAI_API_KEY, or empty when none is needed",
                      **bound("key_env"),
                      help="The name of the environment variable that holds the key. The key "
                      "itself is never stored or shown.")  # fmt: skip
        st.pills("Roles", ROLES, selection_mode="multi", **bound("roles"),
                 help="An embedding model turns texts into vectors, to tell which reasons of "
                 "failures and which places of a growing tree are alike.")  # fmt: skip
    with right:
        one, two = st.columns(2)
        with one:
            st.number_input("Price in, $ a million", min_value=0.0, step=0.1,
                            placeholder="unknown", **bound("price_in"))  # fmt: skip
            st.number_input("Requests at a time", 1, 1024, step=1, **bound("concurrency"))
            st.number_input("Requests a minute", min_value=1, step=1, placeholder="no limit",
                            **bound("requests_per_minute"))  # fmt: skip
            st.number_input("Longest side of a picture", 16, 16384, step=64, **bound("max_side"))
        with two:
            st.number_input("Price out, $ a million", min_value=0.0, step=0.1,
                            placeholder="unknown", **bound("price_out"))  # fmt: skip
            st.number_input("Seconds for a reply", min_value=1.0, step=10.0, **bound("timeout"))
            st.number_input("Tokens a minute", min_value=1, step=1000, placeholder="no limit",
                            **bound("tokens_per_minute"))  # fmt: skip
            st.text_input(
                "Model family", placeholder="to spot a judge of its own kin", **bound("family")
            )
        st.selectbox("How structured replies are asked for", list(FORMS),
                     format_func=lambda form: FORMS[form], **bound("structured"))  # fmt: skip
    _more(bound)
    fault = st.session_state.get(FAULT)
    if fault and fault[0] == chosen:
        kit.show(kit.fault(fault[1], title="Not saved"), key="settings_fault_shown")
    with st.container(horizontal=True, key="stepbar_form"):
        team.button("endpoints", "Save", key="endpoint_save", type="primary",
                  on_click=_save, args=(chosen, before))  # fmt: skip
        if before is not None:
            team.button("endpoints", "Remove", key="endpoint_remove", on_click=_ask_removal,
                      args=(before.name,))  # fmt: skip
    if before is not None:
        _known(before)
        check.draw(before)


def _known(endpoint: Endpoint) -> None:
    """Say how it is asked, how it writes boxes, and what its server didn't take lately."""
    adapted = _adapted(endpoint.name)
    facts: list[tuple[str, Html | str]] = [
        ("Sampling", sampling_words(endpoint)),
        ("Boxes", BOXES[endpoint.boxes or ""]),
        ("Adapted",
         el("ul", [el("li", line, class_="text") for line in adapted], class_="small")
         if adapted else "nothing, as far as calls in the store say"),
    ]  # fmt: skip
    kit.show(
        el("dl", [(el("dt", name), el("dd", words)) for name, words in facts], class_="pairs"),
        key="settings_known",
    )


def _adapted(name: str) -> tuple[str, ...]:
    store = stores.user_store()
    if store is None:
        return ()
    return _adapted_lately(name, store.revision(), store)


@st.cache_data(show_spinner=False, max_entries=32)
def _adapted_lately(name: str, revision: int, _store: OpenStore) -> tuple[str, ...]:
    del revision
    return adapted_lately(_store, name)


def _changed(form: EndpointForm, field: str, value: Any) -> EndpointForm:
    """Take over what was typed, and what that tells of other fields."""
    if field == "preset":
        if not value:
            return replace(form, preset="")
        preset = PRESETS[value]
        return with_preset(form, sketch(preset, form.model), preset.address)
    if field == "model":
        preset, model = PRESETS.get(form.preset, ANY), value or ""
        return with_model(form, model, sketch(preset, form.model), sketch(preset, model))
    if field == "base_url":
        return with_address(form, *plain_address(value or ""))
    if field == "roles":
        value = tuple(role for role in ROLES if role in (value or ()))
    if field in _TEXTS:
        value = value or ""
    changes: dict[str, Any] = {field: value}
    return replace(form, **changes)


def _habits(preset: Preset) -> Html:
    """Say what is known of a provider, and where it says so."""
    sources = [
        el(
            "a",
            source.rstrip("/").rsplit("/", 1)[-1].removesuffix(".html").removesuffix(".md"),
            href=source,
            target="_blank",
            rel="noopener",
        )
        for source in preset.sources
    ]
    return el(
        "p",
        f"{preset.title}. ",
        f"{preset.sampling} " if preset.sampling else "",
        f"{preset.hint} " if preset.hint else "",
        "From its documentation: ",
        [piece for source in sources for piece in (source, ", ")][:-1],
        ".",
        class_="quiet small",
    )


def _more(bound: Callable[[str], dict[str, Any]]) -> None:
    """Draw the fields that a preset or the defaults fill well, folded."""
    with st.expander("Sampling, where a study sets none", key="endpoint_more_sampling"):
        one, two, three = st.columns(3)
        with one:
            st.number_input("Temperature", 0.0, 5.0, step=0.1, placeholder="as the server has it",
                            **bound("temperature"))  # fmt: skip
            st.number_input(
                "Top p", 0.0, 1.0, step=0.05, placeholder="as the server has it", **bound("top_p")
            )
        with two:
            st.number_input("Tokens of a reply", min_value=1, step=256, placeholder="4,096",
                            **bound("max_tokens"))  # fmt: skip
            st.number_input("Further tokens for thinking", min_value=0, step=1024,
                            **bound("thinking_tokens"),
                            help="Room for what a reasoning model thinks before it "
                            "replies.")  # fmt: skip
        with three:
            st.text_input("Reasoning effort", placeholder="not said",
                          **bound("reasoning_effort"),
                          help="minimal, low, medium, high: as the server has it.")  # fmt: skip
            st.number_input("Seed", step=1, placeholder="none", **bound("seed"))
    with st.expander("Pictures and boxes", key="endpoint_more_pictures"):
        one, two = st.columns(2)
        with one:
            st.selectbox("How the model writes boxes", list(BOXES),
                         format_func=lambda form: BOXES[form], **bound("boxes"),
                         help="The test below finds it out. A box that doesn't fit is dropped "
                         "with a note.")  # fmt: skip
            st.selectbox("Image detail", list(DETAILS), format_func=lambda form: DETAILS[form],
                         **bound("image_detail"))  # fmt: skip
        with two:
            st.number_input("Shortest side of a picture", 1, 512, step=1, **bound("min_side"),
                            help="A thinner picture is padded.")  # fmt: skip
            st.number_input(
                "Bytes of a picture", min_value=1000, step=500_000, **bound("max_bytes")
            )
            st.number_input("Pictures in a request", min_value=0, step=1, **bound("max_count"))
    with st.expander("The request, tries and further prices", key="endpoint_more_request"):
        one, two = st.columns(2)
        with one:
            st.text_area("Further fields (JSON)", height=90, placeholder='{"top_k": 20}',
                         **bound("extra_body"))  # fmt: skip
            st.text_area("Further headers, one a line", height=90,
                         placeholder="api-key: ${AZURE_OPENAI_API_KEY}", **bound("extra_headers"),
                         help="${NAME} stands for an environment variable: a key itself is never "
                         "written down.")  # fmt: skip
            st.text_area("Address parameters, one a line", height=70,
                         placeholder="api-version=2024-10-21", **bound("query"))  # fmt: skip
            st.toggle("The model knows a system role", **bound("system"))
        with two:
            st.number_input("Tries of a request", 1, 20, step=1, **bound("max_tries"))
            st.number_input(
                "Seconds for all tries", min_value=1.0, step=60.0, **bound("max_seconds")
            )
            st.number_input("Price of cached input", min_value=0.0, step=0.1,
                            placeholder="unknown", **bound("price_cached"))  # fmt: skip
            st.number_input("Share of the price in a batch", 0.0, 1.0, step=0.1,
                            placeholder="unknown", **bound("batch_share"))  # fmt: skip


def _save(chosen: str, before: Endpoint | None) -> None:
    held: dict[str, EndpointForm] = st.session_state[FORM]
    st.session_state.pop(FAULT, None)
    try:
        endpoint = endpoint_of(held[chosen], before)
        check_variables(stores.settings(), endpoint)
        put_endpoint(stores.settings(), endpoint, replaces=before.name if before else None)
    except AtomError as error:
        st.session_state[FAULT] = (chosen, error.message)
        return
    del held[chosen]
    st.session_state[TOLD] = f"Saved: {endpoint.name}. {NEXT}"
    open_endpoint(endpoint.name)


def open_endpoint(endpoint: str | None) -> None:
    """Open an endpoint's form, or none."""
    study = st.query_params.get_all("study")
    query: dict[str, str | list[str]] = {"study": study} if study else {}
    st.query_params.from_dict({**query, **({"endpoint": endpoint} if endpoint else {})})


def _ask_removal(name: str) -> None:
    st.session_state[ASKED] = name


def draw_question() -> None:
    """Open the dialog about a removal when one was asked for."""
    name = st.session_state.pop(ASKED, None)
    if name is not None:
        _removal(name)


@st.dialog("Remove this endpoint?")
def _removal(name: str) -> None:
    words = (
        "What it answered stays in your studies. Runs and samples can no longer be judged by it "
        "until you add it again."
    )
    kit.show(join(el("p", name, class_="strong text"), el("p", words)), key="removal_words")
    with st.container(horizontal=True):
        if team.button("endpoints", "Remove", key="removal_yes", type="primary"):
            try:
                remove_endpoint(stores.settings(), name)
            except AtomError as error:
                st.session_state[TOLD] = error.message
            else:
                st.session_state[TOLD] = f"Removed: {name}."
                st.session_state.get(FORM, {}).pop(name, None)
                open_endpoint(None)
            st.rerun()
        if st.button("Keep it", key="removal_no"):
            st.rerun()

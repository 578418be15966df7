"""The frame around every screen: menu, study picker, evidence chain, filters.

`run` draws it and runs the screen; a screen's own file calls `here` for what it is looking at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import streamlit as st
from streamlit.navigation.page import Page
from streamlit.runtime.scriptrunner import get_script_run_ctx

from atom.display import numbers
from atom.settings import PROJECT_ROOT
from atom.ui import kit, links
from atom.ui.html import Html, el, join
from atom.ui.pages import FAILURES, OVERVIEW, SCREENS, SECTIONS, Screen, find_screen
from atom.ui.plain import plain
from atom.ui.shell import (
    ask_box,
    crowd,
    faults,
    figure_box,
    filter_box,
    help_box,
    news,
    stores,
    team,
    tour,
    warm,
)
from atom.ui.shell.chain import chain
from atom.views.failures.find import NOTHING
from atom.views.filters import Filters, known, unknown
from atom.views.stores import AllStudies, OpenStore, StudyEntry
from atom.views.study_data import StudyData

PICKER = "study_picker"
LOOKED_AT = "atom_study"
_ON_ITS_WAY = "atom_on_its_way"
MENU_WIDTH = 216
"""Pixels; drawn at this width from the start, so that nothing shifts."""


@dataclass(frozen=True, kw_only=True)
class Here:
    """What the reader is looking at.

    Attributes:
        entry: the study in the picker.
        store: the store that holds it.
        data: the study, loaded.
        filters: the chain and the filters, as the URL has them, with the study filled in.
        query: the URL's own keys of this screen (`links.LOCAL_KEYS`).
    """

    screen: Screen
    entry: StudyEntry
    store: OpenStore
    data: StudyData
    filters: Filters
    query: dict[str, str]


def run() -> None:
    """Draw the frame and run the chosen screen, when it is its turn."""
    with crowd.turn():
        _run()


def _run() -> None:
    faults.install()
    team.enter()
    _keep_move()
    pages = {
        screen.url_path: st.Page(
            PROJECT_ROOT / screen.file,
            title=screen.title,
            url_path=screen.url_path or None,
            default=screen is OVERVIEW,
        )
        for screen in SCREENS
    }
    page = st.navigation(list(pages.values()), position="hidden")
    screen = find_screen(page.url_path) or OVERVIEW
    st.session_state[kit.HERE] = screen.url_path
    move = st.session_state.pop(kit.GO, None)
    if move is not None and move[0] in pages:
        st.switch_page(pages[move[0]], query_params=move[1])
    st.set_page_config(page_title=f"{screen.title} · Atomscope")
    try:
        listed = stores.all_studies()
        filters = Filters.from_query(query())
        entry = entry_of(listed, filters)
        _sidebar(pages, listed, entry, filters)
        if entry is not None:
            _top(screen, listed, entry, filters)
        team.note(screen.title if screen.section == "Share" else screen.section)
        page.run()
        warm.served()
    except Exception as error:
        found = faults.fault(error)
        if found is None:
            raise
        kit.show(
            kit.fault(found, kit.button("Open the first screen", links.address("", Filters()))),
            key="fault",
        )


def _keep_move() -> None:
    """Keep a move that the browser hadn't heard of when the next thing was pressed in it.

    A press brings the address that the browser shows. One that comes while a move is on its way
    there would take it back: the page would show what was left, below the address of the move.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or context.context_info is None:
        return
    sent = parse_qs(urlsplit(context.context_info.url).query, keep_blank_values=True)
    held = {key: st.query_params.get_all(key) for key in st.query_params}
    left, moved = st.session_state.pop(_ON_ITS_WAY, (None, {}))
    if held == sent == left and not context.is_history_navigation:
        held = moved
        st.query_params.from_dict(moved)
    if held != sent:
        st.session_state[_ON_ITS_WAY] = (sent, held)


def query() -> dict[str, list[str]]:
    """Return the URL's query: known keys, values of sane size."""
    held = {key: st.query_params.get_all(key) for key in st.query_params}
    return links.clean_query(held)


def entry_of(listed: AllStudies, filters: Filters) -> StudyEntry | None:
    """Return the address's study; without one the last that was looked at, else the first.

    So a study that comes up meanwhile, as one's own copy does, takes nobody's place.
    """
    asked = filters.study or st.session_state.get(LOOKED_AT)
    entry = (listed.find(asked) if asked else None) or listed.first
    st.session_state[LOOKED_AT] = entry.key if entry else None
    return entry


def here(screen: Screen) -> Here | None:
    """Return what the reader is looking at; None when there is no study (the page says so)."""
    listed = stores.all_studies()
    held = query()
    filters = Filters.from_query(held)
    entry = entry_of(listed, filters)
    if entry is None:
        kit.show(
            join(
                head(screen, None),
                el("div", style="height:18px"),
                _no_study(),
            ),
            key="no_study",
        )
        return None
    data = stores.study_data(entry, filters.judge, filters.tree)
    return Here(
        screen=screen,
        entry=entry,
        store=stores.store_of(entry),
        data=data,
        filters=_of_screen(screen, known(data, filters).but(study=entry.key)),
        query=_own_keys(held),
    )


def head(screen: Screen, entry: StudyEntry | None) -> Html:
    """Write a screen's title, its question, and whether a program made the study it is about."""
    synthetic = entry is not None and entry.study.synthetic
    title, question = el("h1", screen.title), el("p", screen.question, class_="ask")
    return el("div", title, question, kit.synthetic_badge() if synthetic else None, class_="head")


def _own_keys(held: Mapping[str, list[str]]) -> dict[str, str]:
    return {key: held[key][-1] for key in links.LOCAL_KEYS if key in held}


def _of_screen(screen: Screen, filters: Filters) -> Filters:
    """Leave out what only the list of failures knows: a claim's checkpoints, and a search."""
    return filters if screen is FAILURES else filters.but(rests=None, find=NOTHING)


def _no_study() -> Html:
    doors = [
        kit.button(screen.title, links.address(screen.url_path, Filters()), primary=number == 0)
        for number, screen in enumerate(s for s in SCREENS if s.section in ("Run", "Share"))
    ]
    return kit.empty(
        "There is no study yet",
        "Make one offline with `python -m atom demo build`, or import answers that you already "
        "have with `python -m atom import`. It appears here by itself.",
        *doors,
    )


# --- menu --------------------------------------------------------------------------------------


def _sidebar(
    pages: Mapping[str, Page], listed: AllStudies, entry: StudyEntry | None, filters: Filters
) -> None:
    with st.sidebar:
        kit.show(
            el(
                "div",
                el("span", "Atomscope", style="font-weight:700;font-size:17px"),
                kit.under("where models break"),
            ),
            key="brand",
        )
        if entry is not None:
            _picker(listed, entry, filters)
        for fault in listed.faults:
            kit.show(kit.notice(fault), key=f"shelf_fault_{listed.faults.index(fault)}")
        held = _held(entry, filters).to_query()
        for section in SECTIONS:
            screens = [screen for screen in SCREENS if screen.section == section]
            if not screens:
                continue
            kit.show(
                el("div", section, class_="quiet small", style="padding-top:5px"),
                key=f"section_{section}",
            )
            for screen in screens:
                st.page_link(
                    pages[screen.url_path],
                    label=plain(screen.title),
                    query_params=held,
                    width="stretch",
                )
        team.draw()


def _held(entry: StudyEntry | None, filters: Filters) -> Filters:
    """Return the filters that a move to another screen takes along."""
    if entry is None:
        return filters
    return known(stores.study_data(entry, filters.judge, filters.tree), filters).but(
        study=entry.key
    )


def _picker(listed: AllStudies, entry: StudyEntry, filters: Filters) -> None:
    # Streamlit tells options apart by their text: two studies of one name would be one.
    mine = {item.study.name for item in listed.entries if not item.bundled}
    names = {
        item.key: item.study.name
        + (" (bundled)" if item.bundled and item.study.name in mine else "")
        for item in listed.entries
    }
    st.session_state[PICKER] = entry.key

    def picked() -> None:
        chosen = st.session_state[PICKER]
        # A move to a study that is new in the list comes back from the browser as a choice.
        if st.query_params.get("study") != chosen:
            st.query_params.from_dict({"study": chosen})

    st.selectbox(
        "Study",
        list(names),
        format_func=lambda key: names.get(key, key),
        key=PICKER,
        on_change=picked,
    )
    data = stores.study_data(entry, filters.judge, filters.tree)
    facts = [
        numbers.count(len(data.table.sample_ids), "sample"),
        numbers.count(len(data.candidates), "candidate"),
        _judge_words(data),
        el("span", f"tree: {numbers.middle(data.tree.name, 40)}", title=data.tree.name)
        if data.tree
        else "no tree",
    ]
    kit.show(
        el(
            "div",
            kit.synthetic_badge() if entry.study.synthetic else None,
            " " if entry.study.synthetic else None,
            kit.badge("BUNDLED", "Sealed: the first change makes your own copy.")
            if entry.bundled
            else None,
            el(
                "div",
                [join(" · " if number else None, fact) for number, fact in enumerate(facts)],
                class_="quiet small",
                style="margin-top:4px",
            ),
        ),
        key="study_facts",
    )


def _judge_words(data: StudyData) -> str | Html:
    """Name the judge; the built-in one by what it is."""
    if data.judge is None:
        return "not judged"
    if not data.judge.synthetic:
        return f"judge: {data.judge.name}"
    tip = f"{data.judge.name}: reads the truth that is stored in each test picture, and errs a bit."
    return el("span", "built-in test judge", class_="term", tabindex="0", data_tip=tip)


# --- top ---------------------------------------------------------------------------------------


def _top(screen: Screen, listed: AllStudies, entry: StudyEntry, filters: Filters) -> None:
    data = stores.study_data(entry, filters.judge, filters.tree)
    named = bool(filters.study) and listed.find(filters.study) is None
    wanted = filters.study
    ignored = () if named else unknown(data, filters)
    filters = known(data, filters).but(study=entry.key)
    with st.container(key="chain_row"):
        figures = figure_box.has(screen)
        left, *boxes = st.columns([8, 1.2, 1.2, 0.95] if figures else [8, 1.2, 0.95])
        with left:
            kit.show(chain(screen, entry, stores.store_of(entry), data, filters), key="chain",
                     act=ask_box.acts(screen, entry, data))  # fmt: skip
        with boxes[0]:
            filter_box.draw(data, filters)
        if figures:
            with boxes[1]:
                figure_box.draw(screen, stores.store_of(entry), data, filters, _own_keys(query()))
        with boxes[-1]:
            help_box.draw(screen, filters)
    other = data.judge is not None and data.judge.id != entry.study.judge_id
    news.draw(entry, data.judge.id if other and data.judge else None)
    ask_box.told(screen, entry, data)
    stops = tour.stops(stores.store_of(entry), data, filters, query())
    if stops is not None:
        kit.show(stops, key="tour")
    if named:
        kit.show(
            kit.notice(
                f"The link names a study that isn't here ({wanted[:60]!r}); this is "
                f"{entry.study.name!r}."
            ),
            key="other_study",
        )
    if ignored:
        kit.show(kit.notice(" ".join(ignored)), key="ignored")

"""The frame around every screen: menu, study picker, evidence chain, filters.

`run` draws it and runs the screen; a screen's own file calls `here` for what it is looking at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from streamlit.navigation.page import Page

from atom.records import Criterion
from atom.settings import PROJECT_ROOT
from atom.ui import faults, filter_box, kit, links, numbers, stores
from atom.ui.html import Html, el, join
from atom.ui.pages import FAILURES, OVERVIEW, SCREENS, SECTIONS, Screen, find_screen
from atom.ui.plain import plain
from atom.views.filters import Filters, known, label_name, unknown
from atom.views.reading import READINGS
from atom.views.shelf import OpenStore, Shelf, StudyEntry
from atom.views.study_data import StudyData
from taxonomy import format_path

PICKER = "study_picker"
_STEPS = ("study", "model", "capability", "criterion", "sample")


@dataclass(frozen=True, kw_only=True)
class Here:
    """What the reader is looking at.

    Attributes:
        screen: which screen.
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
    """Draw the frame and run the chosen screen."""
    faults.install()
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
    kit.frame_style()
    try:
        shelf = stores.shelf()
        filters = Filters.from_query(query())
        entry = (shelf.find(filters.study) if filters.study else None) or shelf.first
        _sidebar(pages, shelf, entry, filters)
        if entry is not None:
            _top(screen, shelf, entry, filters)
        page.run()
    except Exception as error:
        found = faults.fault(error)
        if found is None:
            raise
        kit.show(
            kit.fault(found, kit.button("Open the first screen", links.address("", Filters()))),
            key="fault",
        )


def query() -> dict[str, list[str]]:
    """Return the URL's query: known keys, values of sane size."""
    held = {key: st.query_params.get_all(key) for key in st.query_params}
    return links.clean_query(held)


def here(screen: Screen) -> Here | None:
    """Return what the reader is looking at; None when there is no study (the page says so).

    Args:
        screen: the calling screen.
    """
    shelf = stores.shelf()
    held = query()
    filters = Filters.from_query(held)
    entry = (shelf.find(filters.study) if filters.study else None) or shelf.first
    if entry is None:
        kit.show(
            join(
                kit.page_header(screen.title, screen.question),
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
        query={key: held[key][-1] for key in links.LOCAL_KEYS if key in held},
    )


def _of_screen(screen: Screen, filters: Filters) -> Filters:
    """Leave out what only the list of failures knows: a claim's checkpoints."""
    return filters if screen is FAILURES else filters.but(rests=None)


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


def _sidebar(pages: Mapping[str, Page], shelf: Shelf, entry: StudyEntry | None,
             filters: Filters) -> None:  # fmt: skip
    with st.sidebar:
        kit.show(
            el(
                "div",
                el("span", "Atomscope", style="font-weight:700;font-size:17px"),
                el("div", "where models break", class_="quiet small"),
            ),
            key="brand",
        )
        if entry is not None:
            _picker(shelf, entry, filters)
        for fault in shelf.faults:
            kit.show(kit.notice(fault), key=f"shelf_fault_{shelf.faults.index(fault)}")
        held = _held(entry, filters).to_query()
        for section in SECTIONS:
            screens = [screen for screen in SCREENS if screen.section == section]
            if not screens:
                continue
            kit.show(
                el("div", section, class_="quiet small", style="padding-top:8px"),
                key=f"section_{section}",
            )
            for screen in screens:
                st.page_link(
                    pages[screen.url_path],
                    label=plain(screen.title),
                    query_params=held,
                    width="stretch",
                )


def _held(entry: StudyEntry | None, filters: Filters) -> Filters:
    """Return the filters that a move to another screen takes along."""
    if entry is None:
        return filters
    return known(stores.study_data(entry, filters.judge, filters.tree), filters).but(
        study=entry.key
    )


def _picker(shelf: Shelf, entry: StudyEntry, filters: Filters) -> None:
    # Streamlit tells options apart by their text: two studies of one name would be one.
    mine = {item.study.name for item in shelf.entries if not item.bundled}
    names = {
        item.key: item.study.name
        + (" (bundled)" if item.bundled and item.study.name in mine else "")
        for item in shelf.entries
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
        f"judge: {data.judge.name}" if data.judge else "not judged",
        f"tree: {data.tree.name}" if data.tree else "no tree",
    ]
    kit.show(
        el(
            "div",
            kit.synthetic_badge() if entry.study.synthetic else None,
            " " if entry.study.synthetic else None,
            kit.badge("BUNDLED", "Sealed: the first change makes your own copy.")
            if entry.bundled
            else None,
            el("div", " · ".join(facts), class_="quiet small", style="margin-top:4px"),
        ),
        key="study_facts",
    )


# --- top ---------------------------------------------------------------------------------------


def _top(screen: Screen, shelf: Shelf, entry: StudyEntry, filters: Filters) -> None:
    data = stores.study_data(entry, filters.judge, filters.tree)
    named = bool(filters.study) and shelf.find(filters.study) is None
    wanted = filters.study
    ignored = () if named else unknown(data, filters)
    filters = known(data, filters).but(study=entry.key)
    with st.container(key="chain_row"):
        left, right = st.columns([8, 1.35])
        with left:
            kit.show(_chain(screen, entry, data, filters), key="chain")
        with right:
            filter_box.draw(data, filters)
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


def _chain(screen: Screen, entry: StudyEntry, data: StudyData, filters: Filters) -> Html:
    """Draw `Study ▸ Model ▸ Capability ▸ Criterion ▸ Sample`, filled as far as it goes."""
    page = screen.url_path
    links_ = [
        _link("Study", entry.study.name, links.address(OVERVIEW.url_path, Filters(study=entry.key)),
              None)
    ]  # fmt: skip
    number = data.model_index(filters.model)
    beyond = filters.but(sample=None, criterion=None)
    if number is not None:
        links_.append(
            _link(
                "Model",
                kit.model(data.candidates[number].name, number),
                links.address(FAILURES.url_path, beyond.but(node=())),
                links.address(page, filters.but(model=None)),
            )
        )
    else:
        links_.append(_unfilled("any model"))
    if filters.node:
        links_.append(
            _link(
                "Capability",
                numbers.middle(filters.node[-1], 30),
                links.address(FAILURES.url_path, beyond),
                links.address(page, filters.but(node=())),
                tip=format_path(filters.node),
            )
        )
    else:
        links_.append(_unfilled("any capability"))
    links_ += _sample_links(page, entry, data, filters)
    return el(
        "nav",
        [_step(link, name) for link, name in zip(links_, _STEPS, strict=True)],
        _chips(page, entry, data, filters),
        el("span", class_="gap"),
        kit.copy_button(),
        class_="chain",
        aria_label="Evidence chain",
    )


def _sample_links(page: str, entry: StudyEntry, data: StudyData, filters: Filters) -> list[Html]:
    position = data.sample_position.get(filters.sample or "")
    if position is None:
        return [_unfilled("criterion"), _unfilled("sample")]
    found: list[Html] = []
    criterion = (
        stores.store_of(entry).get(Criterion, filters.criterion) if filters.criterion else None
    )
    if criterion is not None:
        found.append(
            _link(
                "Criterion",
                criterion.question[:120],
                links.address(FAILURES.url_path, filters),
                links.address(page, filters.but(criterion=None)),
                tip=criterion.question,
            )
        )
    else:
        found.append(_unfilled("any criterion"))
    found.append(
        _link(
            "Sample",
            f"no. {position + 1}",
            links.address(FAILURES.url_path, filters),
            links.address(page, filters.but(sample=None, criterion=None)),
        )
    )
    return found


def _link(
    kind: str, label: str | Html, to: str, off: str | None, *, tip: str | None = None
) -> Html:
    return el(
        "span",
        el(
            "a",
            el("span", kind, class_="kind"),
            label if isinstance(label, Html) else el("span", label, class_="cut"),
            href=to,
            data_go=True,
            class_="to",
            data_tip=tip,
        ),
        el("a", "×", href=off, data_go=True, class_="off", aria_label=f"Clear {kind.lower()}")
        if off
        else None,
        class_="link",
    )


def _unfilled(words: str) -> Html:
    return el("span", words, class_="none")


def _step(link: Html, name: str) -> Html:
    arrow = None if name == "study" else el("span", "▸", class_="arrow", aria_hidden="true")
    todo = " todo" if link.startswith('<span class="none"') else ""
    return el("span", arrow, link, class_=f"step {name}{todo}")


def _chips(page: str, entry: StudyEntry, data: StudyData, filters: Filters) -> list[Html]:
    """Draw each active filter with a way to clear it."""
    found = [
        (
            f"{label_name(facet).lower()}: {value}",
            filters.but(tags=tuple(t for t in filters.tags if t != (facet, value))),
        )
        for facet, value in filters.tags
    ]
    if filters.root:
        found.append((f"under {filters.root}", filters.but(root=None)))
    if filters.judge:
        name = next((one.name for one in data.judges if one.id == filters.judge), filters.judge)
        found.append((f"judge: {name}", filters.but(judge=None)))
    if filters.tree and filters.tree != entry.study.tree_version and data.tree is not None:
        found.append((f"tree: {data.tree.name}", filters.but(tree=None, node=(), root=None)))
    if filters.outcome:
        found.append((f"answer {filters.outcome}", filters.but(outcome=None)))
    if filters.process:
        found.append((f"steps {filters.process}", filters.but(process=None)))
    if filters.terse:
        words = "terse answers" if filters.terse == "yes" else "no terse answers"
        found.append((words, filters.but(terse=None)))
    if filters.reading == "said":
        found.append((READINGS["said"], filters.but(reading="strict")))
    if filters.rests:
        found.append(("what the claim rests on", filters.but(rests=None)))
    if filters.show != "failed":
        found.append((filter_box.SHOWS[filters.show].lower(), filters.but(show="failed")))
    return [
        el(
            "span",
            el("span", label, class_="cut", style="padding:0 8px"),
            el("a", "×", href=links.address(page, less), data_go=True, class_="off",
               aria_label=f"Clear filter {label}"),
            class_="link",
        )
        for label, less in found
    ]  # fmt: skip

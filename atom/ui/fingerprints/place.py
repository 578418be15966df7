"""Where the reader of the Fingerprints page is: its tabs, addresses, what stands out."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import streamlit as st

from atom.ui import commands, kit, links
from atom.ui.html import Html, el
from atom.ui.pages import COMPARE, FAILURES, FINGERPRINTS
from atom.ui.shell.frame import Here
from atom.views.filters import Filters, Measure
from atom.views.fingerprints.shape import Shape
from atom.views.overview.statements import Statement

LOCAL = ("tab", "facet", "rows", "cols", "colour", "beside", "layer")
_PAGES = {
    "failures": FAILURES.url_path,
    "compare": COMPARE.url_path,
    "fingerprints": FINGERPRINTS.url_path,
}
VALUES: dict[Measure, str] = {
    "process": "score",
    "outcome": "share of right answers",
    "preference": "share of votes won",
}
TABS = (
    ("shapes", "Shapes"), ("answers", "Answer by answer"), ("apart", "Told apart"),
    ("errors", "Kinds of error"),
)  # fmt: skip


def local(here: Here, **changes: str | None) -> dict[str, str]:
    """Return the page's own keys with some changed; None takes a key out."""
    held = {key: value for key, value in here.query.items() if key in LOCAL}
    return {key: value for key, value in {**held, **changes}.items() if value}


def to(here: Here, filters: Filters, **changes: str | None) -> str:
    """Write an address on this page."""
    return links.address(FINGERPRINTS.url_path, filters, **local(here, **changes))


def move(here: Here, **changes: str | None) -> None:
    """Change the page's own keys in the address; call it from a callback."""
    st.query_params.from_dict({**here.filters.to_query(), **local(here, **changes)})


def show(*content: Html | None, key: str) -> None:
    """Put a part of the page on it."""
    kit.show(el("div", *content, class_="stack prints"), key=key)


# --- empty -------------------------------------------------------------------------------------


def nothing(here: Here, form: Shape) -> Html:
    """Say what is missing, and what to do next."""
    name = here.entry.study.name
    judge = f"python -m atom run start --study {shlex.quote(name)}"
    if here.filters.active and len(here.data.table.sample):
        return kit.empty(
            "Nothing passes these filters",
            "Clear them to see the shapes of the whole study.",
            kit.button("Clear filters", to(here, here.filters.cleared), primary=True),
        )
    if not len(here.data.table.sample):
        return kit.empty(
            "This study has no answers yet",
            "A shape is made of scored answers. Let candidates answer, or import answers that you "
            "have.",
            commands.shown(here, judge),
        )
    if not form.facets and not here.data.table.leaves and here.data.has_process:
        return kit.empty(
            "No capabilities to draw a shape of",
            "The answers are scored, but the criteria belong to no tree and the samples carry no "
            "labels. Grow a tree from them.",
            commands.shown(here, f"python -m atom tree induce --study {shlex.quote(name)}"),
        )
    if not form.facets and not here.data.has_process:
        return kit.empty(
            "No labels to draw a shape of",
            "There are outcomes, but no label that groups the samples. Import them again with a "
            "column of skills or categories, or judge the answers.",
            commands.shown(here, judge),
        )
    return kit.empty(
        "Nothing is scored yet",
        "There are answers, but no judged checkpoints and no known outcomes. Judge them.",
        commands.shown(here, judge),
    )


# --- the top -----------------------------------------------------------------------------------


def facts(here: Here, statements: Sequence[Statement]) -> Html:
    """List what stands out, each sentence a door."""

    def href(one: Statement) -> str:
        page = _PAGES[one.page]
        if page == FINGERPRINTS.url_path:
            return to(here, one.filters, tab="apart")
        return links.address(page, one.filters)

    return el(
        "section",
        el("h2", "What stands out", class_="aside"),
        el("ul", [kit.fact(one.text, href(one)) for one in statements], class_="facts"),
    )


def tab_of(here: Here) -> str:
    """Return the chosen tab; the first where the address names none that there is."""
    asked = here.query.get("tab", "")
    return asked if asked in dict(TABS) else TABS[0][0]


def head(here: Here, title: Html, chosen: str) -> Html:
    """Draw the title with the page's tabs."""
    doors = [
        (words, to(here, here.filters, tab=None if tab == TABS[0][0] else tab), tab == chosen)
        for tab, words in TABS
    ]
    return el("div", title, kit.tabs(doors, label="Views of the fingerprints"), class_="topline")


def no_answers(here: Here) -> Html:
    """Say that nothing is known answer by answer."""
    if here.filters.active:
        return kit.empty(
            "Nothing passes these filters",
            "Clear them to see every answer.",
            kit.button("Clear filters", to(here, here.filters.cleared), primary=True),
        )
    return kit.empty(
        "Nothing to tell answer by answer",
        "This needs judged answers, or right and wrong answers of two models to the same samples.",
    )

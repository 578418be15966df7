"""Help on every screen: the words of this page, its part of the guide, the tour, light or dark."""

from __future__ import annotations

import re
from functools import cache

import streamlit as st

from atom.settings import PROJECT_ROOT
from atom.ui import kit, links
from atom.ui.html import Html, el, join
from atom.ui.pages import OVERVIEW, SCREENS, Screen
from atom.ui.shell.glossary import meaning
from atom.ui.shell.tour import FIRST
from atom.views.filters import Filters

DOCS = PROJECT_ROOT / "docs"
_HEADING = re.compile(r"^(#{2,3}) (?:\d+\. )?(.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]+)\]\((?!http)[^)\[]+\)")
THEMES = {"System": "As the computer", "Light": "Light", "Dark": "Dark"}
"""Streamlit's name for a theme -> what a button says."""


def draw(screen: Screen, filters: Filters) -> None:
    """Draw the button and what is behind it."""
    with st.popover("Help", width="stretch"), st.container(key="help_body"):
        kit.show(join(_ways(filters), _words(screen)), key="help")
        if st.button("Read the guide", key="help_guide"):
            _guide(screen)


def _ways(filters: Filters) -> Html:
    """Draw the ways that begin here, and the switch for light and dark."""
    home = Filters(study=filters.study)
    return el(
        "div",
        el(
            "div",
            kit.button("Take the tour", links.address(OVERVIEW.url_path, home, tour=FIRST)),
            kit.button("Welcome page", links.address(OVERVIEW.url_path, home, welcome="yes")),
            class_="row",
        ),
        el(
            "div",
            kit.small("Theme"),
            [
                el("button", words, type="button", class_="plain", data_theme=name)
                for name, words in THEMES.items()
            ],
            class_="row",
            role="group",
            aria_label="Theme",
            data_pages=" ".join(screen.url_path for screen in SCREENS),
        ),
        style="display:flex;flex-direction:column;gap:10px",
    )


def _words(screen: Screen) -> Html:
    """List what the words of a screen mean."""
    known = [(word, text) for word in screen.terms if (text := meaning(word))]
    rows = [
        join(el("dt", word[:1].upper() + word[1:]), el("dd", text[:1].upper() + text[1:]))
        for word, text in known
    ]
    return join(
        el("h2", f"Words on {screen.title}", style="margin-top:14px"),
        el("dl", rows, class_="terms small"),
    )


@st.dialog("Guide", width="large")
def _guide(screen: Screen) -> None:
    file, heading = screen.guide
    st.markdown(guide_part(file, heading))
    if heading:
        with st.expander("The whole guide"):
            st.markdown(guide_part(file, ""))


@cache
def guide_part(file: str, heading: str) -> str:
    """Return a part of the documentation, without links to files that the app doesn't serve.

    Args:
        file: its name in `docs`.
        heading: the heading that it stands under, without its number; the whole file when empty.

    Returns:
        Markdown; a sentence where the file or the heading is gone.
    """
    try:
        text = (DOCS / file).read_text(encoding="utf-8")
    except OSError:
        return f"The guide (docs/{file}) isn't in this installation."
    text = _LINK.sub(r"\1", text)
    found = list(_HEADING.finditer(text))
    for number, match in enumerate(found):
        if match[2] != heading:
            continue
        ends = (m.start() for m in found[number + 1 :] if len(m[1]) <= len(match[1]))
        return text[match.start() : next(ends, len(text))].strip()
    return text if not heading else f"docs/{file} has no part {heading!r}."

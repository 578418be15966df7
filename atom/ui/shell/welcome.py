"""The door: what this is, shown on one failed criterion, and three ways in."""

from __future__ import annotations

import streamlit as st

from atom.ui import kit, links, score_marks
from atom.ui.html import Html, el, join
from atom.ui.media import media_address
from atom.ui.pages import DATA, OVERVIEW, SETTINGS
from atom.ui.picture import RegionMark, picture
from atom.ui.shell.frame import Here, query
from atom.ui.shell.tour import FIRST
from atom.views.filters import Filters
from atom.views.overview.welcome import ExampleCase, picked_case
from atom.views.pictures import read_picture

COOKIE = "atomscope_welcome"
"""Set by the browser when one of the ways is taken (`kit.js`)."""
SEEN = "welcome_seen"
_CUT = 220


def due() -> bool:
    """Whether the first screen is the door: nothing was chosen, and it wasn't dismissed."""
    asked = query()
    if asked.get("welcome") == ["yes"]:
        return True
    if asked or st.session_state.get(SEEN):
        st.session_state[SEEN] = True
        return False
    return st.context.cookies.get(COOKIE) != "seen"


def draw(here: Here) -> None:
    """Draw the door."""
    picked = picked_case(here.store, here.data)
    kit.show(
        el(
            "div",
            el(
                "div",
                el("h1", "See where a model breaks, and why"),
                el(
                    "p",
                    "A judge model solves each question about a picture, cuts its solution into "
                    "small steps, and marks every answer at every step: so a score leads down to "
                    "the place in the picture and the words that explain it.",
                    class_="ask",
                ),
                class_="head",
            ),
            _ways(here),
            _example(here, picked) if picked is not None else None,
            class_="welcome",
        ),
        key="welcome",
    )


def _way(title: str, words: str, href: str, *, primary: bool = False) -> Html:
    return el(
        "a",
        kit.strong(title),
        el("span", words, class_="small"),
        href=href,
        data_go=True,
        data_seen=True,
        class_="button way primary" if primary else "button way",
    )


def _ways(here: Here) -> Html:
    home = Filters(study=here.entry.key)
    return el(
        "nav",
        _way(
            "Take the tour",
            "five stops, three minutes",
            links.address(OVERVIEW.url_path, home, tour=FIRST),
            primary=True,
        ),
        _way(
            "Bring my results",
            "a table or a log that you have",
            links.address(DATA.url_path, home, tab="import"),
        ),
        _way(
            "Judge my model",
            "by its address; nothing is sent yet",
            links.address(SETTINGS.url_path, home),
        ),
        kit.door(
            "Go to the example study",
            links.address(OVERVIEW.url_path, home),
            data_seen=True,
            class_="small",
        ),
        class_="row",
        aria_label="Ways in",
    )


def _example(here: Here, picked: ExampleCase) -> Html:
    """Draw the picture with the failed criterion's region, and what was said of it."""
    case = picked.case
    assert case.criterion is not None
    assert case.answer is not None
    assert case.mark is not None
    file = read_picture(here.store, case.sample.pictures[0].picture_id or "")
    address = media_address(file, "welcome")
    criterion, point = case.criterion, case.mark.checkpoint
    to = links.address("failures", picked.filters.but(study=here.entry.key))
    marks = [
        RegionMark(number=criterion.number, light=criterion.criterion.id, box=region.box,
                   words=criterion.criterion.question, href=to)
        for region in picked.regions
    ]  # fmt: skip
    name, colour = case.answer.candidate.name, case.answer.colour
    reason = point.reason if point else ""
    return el(
        "section",
        el("div", picture(address, f"Picture of the question: {case.sample.question[:120]}", marks,
                          criterion.criterion.id, file.size if file else None) if address else None,
           class_="shown"),
        el(
            "dl",
            _line("Question", case.sample.question),
            _line("One step of it", criterion.criterion.question),
            _line("Right", criterion.criterion.ground_truth),
            join(
                el("dt", kit.model(name, colour)),
                el("dd", el("span", point.quote[:_CUT], class_="quoted") if picked.quoted and point
                   else kit.quiet("says nothing of it")),
            ),
            join(
                el("dt", "The judge"),
                el("dd", score_marks.score_chip(case.mark.near, text=case.mark.label), " of 5: ",
                   reason[:_CUT]),
            ),
            join(
                el("dt", ""),
                el("dd", kit.door("Open this case", to), el(
                    "p", _source(here, picked), class_="quiet small", style="margin-top:6px")),
            ),
            class_="pairs",
        ),
        class_="example",
        aria_label="One failed step",
    )  # fmt: skip


def _line(kind: str, words: str) -> Html:
    short = words if len(words) <= _CUT else words[: _CUT - 1] + "…"
    return join(el("dt", kind), el("dd", short, class_="text"))


def _source(here: Here, picked: ExampleCase) -> str:
    drawn = (
        "test pictures that a program drew, with weaknesses planted in simulated models "
        "(SYNTHETIC): you can see whether they are found"
        if here.entry.study.synthetic
        else here.entry.study.name
    )
    of = (
        f" One of {picked.finding.samples:,} samples behind a confirmed weakness."
        if picked.finding
        else ""
    )
    return f"From {drawn}.{of}"

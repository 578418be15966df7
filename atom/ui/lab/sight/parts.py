"""Draws whether a judge looks: the sentence, the figures, and marks that moved."""

from __future__ import annotations

import math

from atom.analysis.agreement.sight import MOVED, Finding, Group, MarkShift
from atom.display import numbers
from atom.records import SHOWN, SHOWN_WORDS
from atom.ui import kit, links
from atom.ui.html import Child, Html, el
from atom.ui.lab.drawing import svg_text
from atom.ui.lab.sight.form import TAB
from atom.ui.pages import FAILURES, JUDGE_LAB
from atom.ui.shell.frame import Here
from atom.views.judges.sight_table import CRITERIA, Line, moved, sight_table
from atom.views.lab.sight import (
    GROUP_WORDS,
    SightCase,
    SightView,
    said_of,
    shown_figures,
)
from taxonomy import format_path

_SHOWN = 160
_WIDE, _LEFT, _RIGHT, _LANE, _TOP, _FOOT = 640.0, 190.0, 56.0, 16.0, 8.0, 24.0
_INK = {"visual": "var(--accent)", "all": "var(--accent)", "rest": "var(--quiet)"}
_TITLES: dict[Finding, str] = {
    "reads": "Marks move with the picture",
    "text": "Marks hardly move, whatever the judge is shown",
    "refuses": "Without the picture there are no marks",
    "unclear": "How far marks move isn’t settled yet",
    "few": "How far marks move so far",
}


def nothing() -> Html:
    """Say what this is, where no judge was asked."""
    return kit.empty(
        "No judge was asked with and without the picture yet",
        "A judge marks the same answers with the picture, without it, with another sample’s and "
        "with a description alone. If its marks don’t move where the picture settles the answer, "
        "it marks the text. Choose a judge below and press Ask the judge.",
    )


def told(here: Here, view: SightView) -> Html:
    """Draw what is known of one judge."""
    return el(
        "div",
        el("div", el("h2", "Does this judge look at the picture?", style="margin:0"),
           kit.synthetic_badge() if view.synthetic else None, class_="row"),
        _judges(here, view),
        el("p", said_of(view) if view.marks else "No mark has come yet.", class_="strong",
           data_testid="sight-said"),
        el("p", _basis(view), class_="quiet small") if view.marks or view.unread else None,
        _figures(view) if view.marks else None,
        _cases(view),
        class_="stack",
        data_testid="sight",
    )  # fmt: skip


def _judges(here: Here, view: SightView) -> Html | None:
    if len(view.others) < 2:
        return el("p", view.judge, class_="text")
    return _narrow(kit.tabs(
        (
            (name, links.address(JUDGE_LAB.url_path, here.filters, tab=TAB, run=run.id),
             name == view.judge)
            for run, name in view.others
        ),
        label="Judges",
    ))  # fmt: skip


def _narrow(tabs: Html) -> Html:
    return el("div", tabs, style="width:fit-content;max-width:100%")


def _basis(view: SightView) -> str:
    words = [
        f"{numbers.count(view.marks, 'mark')} with the picture, on "
        f"{numbers.count(view.answers, 'answer')} to {numbers.count(view.questions, 'question')}."
    ]
    if view.how == "branches":
        words.append(f"The picture settles the criteria under {', '.join(view.chosen)}.")
    elif view.how == "regions":
        words.append("The picture settles the criteria that point at a region of it.")
    else:
        words.append(
            "Nothing says which criteria the picture settles: choose branches of the tree below."
            if view.branches
            else "Without a tree, or regions in the pictures, all criteria count alike."
        )
    if view.own:
        words.append(
            f"On {numbers.count(view.own, 'answer')} the mark in the study stands for the second "
            "look."
        )
    if view.unread:
        told = ", ".join(f"{n:,} {SHOWN_WORDS[name]}" for name, n in view.unread.items())
        words.append(f"Unread or failed: {told}.")
    return " ".join(words)


# --- figures --------------------------------------------------------------------------------------


def _figures(view: SightView) -> Html:
    return kit.section(_TITLES[view.sight.finding],
        el("figure", el("figcaption", "Share of marks that change sides (reached or not), or fall "
           "silent, against the marks with the picture, in %", class_="small quiet"),
           _chart(view), style="margin:0;max-width:760px"),
        kit.drawn(sight_table(view), cells={CRITERIA: _criteria}),
        kit.note("A mark changes sides where it reaches its criterion (4 or 5) under one condition "
           "and not under the other. What moves when the picture is simply shown again moves by "
           "chance; the sentence above is about what moves beyond that. Intervals draw whole "
           "questions again."),
        data_testid="sight-figures",
    )  # fmt: skip


def _criteria(one: Line, text: str) -> Html:
    return el("span", text, class_="quiet" if one[1] == "rest" else None)


def _chart(view: SightView) -> Html:
    """Draw the share that changed sides, a lane for each condition and kind of criteria."""
    lanes = shown_figures(view)
    right = _WIDE - _RIGHT

    def x(share: float) -> float:
        return _LEFT + (right - _LEFT) * min(max(share, 0.0), 1.0)

    marks: list[Html] = []
    y, drawn = _TOP, 0
    heights: list[tuple[float, Group, MarkShift]] = []
    for name in MOVED:
        mine = [(group, one) for shown, group, one in lanes if shown == name]
        if not mine:
            continue
        y += 8 if drawn else 0
        marks.append(
            svg_text(SHOWN_WORDS[name], _LEFT - 12, y + _LANE * len(mine) / 2 + 4, "end", "name")
        )
        for group, one in mine:
            heights.append((y + _LANE / 2, group, one))
            y += _LANE
        drawn += 1
    high = y + _FOOT
    for tick in (0, 25, 50, 75, 100):
        marks += [
            el("line", x1=f"{x(tick / 100):.1f}", x2=f"{x(tick / 100):.1f}", y1=f"{_TOP:.1f}",
               y2=f"{y + 4:.1f}", class_="track"),
            svg_text(f"{tick} %", x(tick / 100), high - 6, "middle", "tick"),
        ]  # fmt: skip
    named: set[Group] = set()
    for at, group, one in heights:
        ink, share = _INK[group], one.moved
        tip = f"{GROUP_WORDS[group]}: {moved(one)}, {numbers.count(one.n, 'mark')}"
        if math.isfinite(share.lo):
            marks.append(el("line", x1=f"{x(share.lo):.1f}", x2=f"{x(share.hi):.1f}",
                            y1=f"{at:.1f}", y2=f"{at:.1f}", stroke=ink, stroke_width="3",
                            data_tip=tip))  # fmt: skip
        marks.append(el("circle", cx=f"{x(share.value):.1f}", cy=f"{at:.1f}", r="4.5", fill=ink,
                        data_tip=tip))  # fmt: skip
        if group not in named and group != "all":
            named.add(group)
    said = "; ".join(
        f"{SHOWN_WORDS[name]}, {GROUP_WORDS[group]}: {moved(one)}" for name, group, one in lanes
    )
    plot = el("svg", marks, class_="plot", viewBox=f"0 0 {_WIDE:.0f} {high:.0f}", role="img",
              aria_label=f"Share of marks that change sides. {said}")  # fmt: skip
    return el("div", _key() if named else None, plot)


def _key() -> Html:
    """Say which colour stands for which criteria."""

    def dot(group: Group) -> Child:
        words = {"visual": "criteria that the picture settles", "rest": "other criteria"}[group]
        return el("span", el("span", "●", style=f"color:{_INK[group]}"), f" {words}",
                  class_="small", style="margin-right:16px")  # fmt: skip

    return el("div", dot("visual"), dot("rest"), style="margin:4px 0")


# --- marks that moved -----------------------------------------------------------------------------


def _cases(view: SightView) -> Html | None:
    if not view.cases:
        return None
    return kit.section(
        "Marks that moved without the picture or with another one",
        kit.grid(
            view.cases,
            kit.MarkupColumn("Criterion", _criterion),
            *kit.each(
                [name for name in SHOWN if any(name in case.scores for case in view.cases)],
                lambda name: SHOWN_WORDS[name],
                lambda case, name: _mark(case.scores.get(name, 0)),
            ),
            label="Marks that moved",
        ),
        data_testid="sight-cases",
    )


def _mark(score: int | None) -> Child:
    if score == 0:
        return kit.quiet(numbers.NONE)
    return kit.quiet("no mark") if score is None else f"{score}"


def _criterion(case: SightCase) -> Html:
    where = format_path(case.path[-1:]) if case.path else ""
    kind = "" if case.visual else "the picture shouldn’t count here"
    more = " · ".join(filter(None, (case.model, where, kind)))
    return el(
        "div",
        kit.door(numbers.middle(" ".join(case.criterion.split()), _SHOWN),
                 links.address(FAILURES.url_path, case.filters)),
        " ", el("span", numbers.middle(" ".join(case.truth.split()), 60), class_="text strong"),
        el("div", more, class_="quiet small text"),
    )  # fmt: skip

"""Capability tree › Criteria: which are unsound, and does the ranking hang on their weights?"""

from __future__ import annotations

import math

import streamlit as st

from atom.display import numbers
from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES, HUMAN_CHECK
from atom.ui.shell import stores
from atom.ui.shell.frame import Here
from atom.ui.tree import query as tree_query
from atom.views.study_data import StudyData
from atom.views.tree.criteria import (
    TITLES,
    CriteriaView,
    Kind,
    ShakenModel,
    SuspectCriterion,
    SuspectGroup,
    WeightRobustness,
    criteria_view,
)
from taxonomy import format_path

_OPEN = 6
"""Criteria of a kind before the fold."""
_ABOUT: dict[Kind, str] = {
    "backwards": "Answers that get the rest of the sample right fail it, and the other way round: "
    "its truth may be wrong, or turned round.",
    "apart": "Two judges give the same answers very different marks: its wording leaves room.",
    "doubted": "Somebody who labelled it finds its question unclear or its truth wrong.",
    "passed": "It tells no model from another: too easy, or given away by the question.",
    "failed": "It tells no model from another: very hard, or its truth is wrong.",
    "twins": "One ability is counted twice, and weighs twice.",
}


@st.cache_resource(show_spinner="Looking at every criterion", max_entries=8)
def _view(key: tuple[object, ...], _here: Here) -> CriteriaView:
    del key

    def load(judge: str) -> StudyData:
        return stores.study_data(_here.entry, judge, _here.filters.tree)

    return criteria_view(_here.store, _here.data, _here.filters, load)


def draw(here: Here) -> None:
    """Draw the tab."""
    if not here.data.has_process:
        kit.show(
            kit.empty(
                "No criterion is scored yet",
                "Criteria come from a judge, with their marks. Judge the study, or import "
                "judgments.",
            ),
            key="criteria_none",
        )
        return
    view = _view((*tree_query.key_of(here), here.filters.narrowing), here)
    kit.show(
        el(
            "div",
            tree_query.style(),
            _answer(here, view),
            [_group(group) for group in view.groups],
            _shaken(view.shaken),
            class_="stack",
        ),
        key="tree_criteria",
    )


def _answer(here: Here, view: CriteriaView) -> Html:
    wrong = view.criteria - view.sound
    said = "; ".join(f"{TITLES[group.kind].casefold()}: {group.n:,}" for group in view.groups)
    if not wrong:
        answer = f"Nothing is known against any of the {view.criteria:,} criteria."
    else:
        answer = (
            f"{view.sound:,} of {numbers.count(view.criteria, 'criterion', 'criteria')} are "
            f"sound as far as is known; something speaks against {wrong:,}."
        )
    notes = []
    if view.judges < 2:
        notes.append("One judge marked them, so nobody can disagree: let a second one score.")
    else:
        notes.append(f"The marks of {view.judges} judges were compared.")
    people = (
        f"People labelled {numbers.count(view.labelled, 'criterion', 'criteria')}. "
        if view.labelled
        else "Nobody has labelled criteria yet. "
    )
    label = links.address(HUMAN_CHECK.url_path, here.filters, queue="criteria")
    return el(
        "section",
        el("div", answer, class_="answer"),
        el("p", f"{said[:1].upper()}{said[1:]}." if said else ""),
        el("p", " ".join(notes), " ", people, kit.door("Label criteria", label),
           class_="quiet small"),
        class_="verdict" if not wrong else "verdict weak",
    )  # fmt: skip


def _group(group: SuspectGroup) -> Html:
    left = group.n - len(group.rows)
    return kit.section(
        f"{TITLES[group.kind]}: {group.n:,}",
        kit.note(_ABOUT[group.kind]),
        kit.grid(
            group.rows,
            kit.MarkupColumn("Criterion", _asked, width="38%"),
            kit.MarkupColumn("Capability", _leaf),
            kit.MarkupColumn("What speaks against it",
                             lambda one: el("span", one.why, class_="small"), width="26%"),
            kit.number("Mean 0–100", lambda one: numbers.score(one.mean)),
            kit.number("Answers", lambda one: one.n),
            label=TITLES[group.kind],
            most=_OPEN,
        ),
        kit.note(f"and {left:,} more") if left > 0 else None,
        data_testid=f"criteria-{group.kind}",
    )  # fmt: skip


def _asked(one: SuspectCriterion) -> Html:
    href = links.address(FAILURES.url_path, one.filters)
    question = kit.door(one.question[:200], href, tip=f"opens sample {one.sample}")
    return el("span", question, kit.under(one.truth[:120]) if one.truth else None)


def _leaf(one: SuspectCriterion) -> Html:
    return el("span", one.leaf[-1] if one.leaf else numbers.NONE, class_="small",
              data_tip=format_path(one.leaf) or None)  # fmt: skip


# --- weights -----------------------------------------------------------------------------------


def _shaken(view: WeightRobustness | None) -> Html | None:
    if view is None:
        return None
    agree = "" if math.isnan(view.kendall) else (
        f" With equal weights the order agrees with a Kendall’s τ of {view.kendall:.2f}."
    )  # fmt: skip
    return kit.section(
        f"Do the weights decide? {view.rows[0].name} stays first in "
        f"{100 * view.same_first:.0f} of 100 draws",
        el("p", f"The whole order stays in {100 * view.same_order:.0f} of 100.{agree}"),
        kit.grid(
            view.rows,
            kit.MarkupColumn("Model", lambda one: kit.model(one.name, one.model)),
            kit.number("As weighted", lambda one: numbers.score(one.score)),
            kit.number("Equal weights", lambda one: numbers.score(one.equal)),
            kit.number("Varied weights, 95 %", lambda one: numbers.ends(one.lo, one.hi)),
            kit.MarkupColumn("Lowest capability", _worst),
            kit.number("Stays lowest", lambda one: numbers.share(one.same_worst)),
            kit.MarkupColumn("With equal weights", _equal_worst),
            label="Under other weights",
        ),
        kit.note(
            f"Each criterion’s weight is multiplied by a chance factor, {view.draws:,} times: "
            "in 95 of 100 draws between 0.4 and 2.7, the same for all models. A capability counts "
            "from five criteria and five samples on."
        ),
        data_testid="criteria-weights",
    )


def _worst(one: ShakenModel) -> Html | str:
    if not one.worst:
        return numbers.NONE
    href = links.address(FAILURES.url_path, one.filters)
    return kit.door(one.worst[-1], href, tip=format_path(one.worst))


def _equal_worst(one: ShakenModel) -> Html | str:
    if one.equal_worst == one.worst:
        return "the same"
    return el("span", one.equal_worst[-1] if one.equal_worst else numbers.NONE,
              data_tip=format_path(one.equal_worst) or None)  # fmt: skip

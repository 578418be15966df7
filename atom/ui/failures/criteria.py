"""A sample's criteria, with the mark of each answer."""

from __future__ import annotations

from atom.display import numbers
from atom.ui import kit, score_marks
from atom.ui.failures.doors import SampleDoors
from atom.ui.failures.why import said_beside
from atom.ui.html import Html, el, join
from atom.ui.shell.frame import Here
from atom.views.failures.marked import CheckpointView
from atom.views.failures.sample import AnswerView, CriterionView, SampleView
from taxonomy import format_path


def criteria(here: Here, view: SampleView, doors: SampleDoors) -> Html:
    """Draw the criteria, each with the mark of every answer."""
    if not view.criteria:
        detail = view.criteria_set.detail if view.criteria_set else ""
        state = view.criteria_set.state if view.criteria_set else ""
        words = f"The judge's criteria are {state}: {detail}" if state else "Nothing judged yet."
        return el("div", el("h2", "Criteria"), el("p", kit.told(words), class_="quiet text"))
    shown = view.answer.response.id if view.answer else None
    marks = {
        (item.criterion.id, mark.checkpoint.response_id): mark
        for item in view.criteria
        for mark in item.marks
        if mark.checkpoint
    }

    def model(answer: AnswerView, short: str) -> kit.MarkupColumn[CriterionView]:
        chosen = answer.response.id == shown
        return kit.MarkupColumn(
            _model_head(answer, short),
            lambda item: kit.door(
                mark_chip(here, marks.get((item.criterion.id, answer.response.id)), chosen),
                doors.answer(answer.candidate.id, item.criterion.id),
                aria_label=f"{answer.candidate.name}, criterion {item.number}",
            ),
            slim=True,
        )

    short = numbers.short_names([answer.candidate.name for answer in view.answers])
    notes = view.criteria_set.adjustments if view.criteria_set else ()
    return el(
        "div",
        el(
            "div",
            el("h2", "Criteria: what a right solution must get right", style="margin:0"),
            score_marks.score_legend(ours=here.data.table.ours),
            class_="row",
            style="justify-content:space-between;margin-bottom:4px",
        ),
        kit.grid(
            view.criteria,
            kit.MarkupColumn("#", lambda item: kit.quiet(item.number)),
            kit.MarkupColumn(
                kit.term("criterion", "Criterion"),
                lambda item: join(
                    kit.door(
                        item.criterion.question,
                        doors.criterion(item.criterion.id),
                        data_light=item.criterion.id,
                        class_="text",
                    ),
                    el("span", " ", _leaf(item), class_="narrow small quiet"),
                ),
                width="32%",
            ),
            kit.MarkupColumn(
                kit.term("ground truth", "Truth"),
                lambda item: el("span", item.criterion.ground_truth, class_="text"),
                width="15%",
            ),
            kit.MarkupColumn("Capability", _leaf, broad=True),
            kit.number(kit.term("weight", "w"), _weight),
            *map(model, view.answers, short),
            label="Criteria and scores",
            on=lambda item: item.chosen,
            light=lambda item: item.criterion.id,
        ),
        kit.fold(
            f"What was adjusted when the judge's reply was read ({len(notes)})",
            el("ul", [el("li", note) for note in notes], class_="small", style="margin:0"),
        )
        if notes
        else None,
    )


def _model_head(answer: AnswerView, short: str) -> Html:
    dot = el("span", class_="dot", style=f"background:{kit.colour(answer.colour)}")
    return el(
        "span",
        dot,
        el("span", short),
        class_="model",
        style="flex-direction:column;gap:3px",
        data_tip=answer.candidate.name,
    )


def _leaf(item: CriterionView) -> Html:
    if item.leaf:
        return el("span", item.leaf[-1], data_tip=format_path(item.leaf))
    return kit.quiet("○ not mapped", data_tip=item.leaf_detail)


def _weight(item: CriterionView) -> Html:
    other = item.stated_weight is not None and item.stated_weight != item.weight
    tip = f"the judge said {item.stated_weight:g}" if other else None
    return el("span", item.weight_words, data_tip=tip)


def mark_chip(here: Here, mark: CheckpointView | None, chosen: bool) -> Html:
    """Draw a checkpoint's score, or the glyph of what it is instead."""
    if mark is None or mark.checkpoint is None:
        return score_marks.score_chip(None, glyph="…", note="still to be scored", chosen=chosen)
    checkpoint = mark.checkpoint
    name = here.data.candidates[mark.colour].name
    words = checkpoint.reason or checkpoint.detail
    state = checkpoint.state.replace("_", " ")
    each = ", ".join(f"{one.judge.name} {one.mark.label}" for one in mark.panel)
    differ = f"≠ judges differ: {each}" if mark.apart else ""
    told = [f"{name}: {state}", said_beside(checkpoint), mark.spread, differ, words[:300]]
    note = "\n".join(line for line in told if line)
    label = f"{mark.label}≠" if mark.apart else mark.label
    return score_marks.score_chip(mark.near, text=label, glyph=label, note=note, chosen=chosen)

"""A sample laid open: pictures, question, criteria, answers and reasons."""

from __future__ import annotations

from atom.ui import kit, links
from atom.ui import said as ui_said
from atom.ui.failures import beside, marks
from atom.ui.failures.answer import answer_text, side_by_side, thoughts, verdict
from atom.ui.failures.criteria import criteria
from atom.ui.failures.doors import SampleDoors
from atom.ui.failures.question import pictures, question, replayed, turn
from atom.ui.failures.why import why
from atom.ui.html import Html, el
from atom.ui.lab import preference as preference_parts
from atom.ui.pages import CORRECTION
from atom.ui.shell.frame import Here
from atom.views.failures.beside import difference, others
from atom.views.failures.remarks import said_of
from atom.views.failures.sample import SampleView


def case(here: Here, view: SampleView, before: str | None = None, after: str | None = None) -> Html:
    """Draw one sample in full.

    Args:
        before: the address of the sample before it in the list.
        after: the address of the one after it.
    """
    doors = SampleDoors(here, view)
    said = said_of(here.store, here.entry.study.id, view)
    return el(
        "article",
        _case_head(here, view, before, after),
        el(
            "div",
            pictures(here, view, doors.criterion),
            el("div", question(view), _why(here, view), marks.panel(here, view, said)),
            class_="top",
        ),
        criteria(here, view, doors),
        _answer(here, view, doors),
        preference_parts.sample_votes(view.votes),
        side_by_side(view, doors),
        replayed(view.replay),
        class_="case",
        data_case=view.sample.id,
    )


def _case_head(here: Here, view: SampleView, before: str | None, after: str | None) -> Html:
    sample = view.sample
    position = here.data.sample_position[sample.id] + 1
    words = [sample.dataset, sample.source_id or "", *(f"{a}: {b}" for a, b in view.tags[:6])]
    text = " · ".join(word for word in words if word)
    return el(
        "div",
        el(
            "div",
            kit.strong(f"Sample no. {position}"),
            kit.synthetic_badge() if sample.synthetic else None,
            kit.status("quarantined", "set aside: judge and reference disagree")
            if view.quarantined
            else None,
            el("span", text, class_="quiet small cut", title=text),
            class_="row",
            style="min-width:0;flex-wrap:nowrap;white-space:nowrap",
        ),
        el(
            "div",
            _again(here, view),
            turn("← Previous", before, "ArrowLeft"),
            turn("Next →", after, "ArrowRight"),
            class_="row",
            style="flex-wrap:nowrap",
        ),
        class_="heads",
    )


def _again(here: Here, view: SampleView) -> Html | None:
    """Draw the door to self-correction of the answer that is read."""
    answer = view.answer
    if answer is None or answer.response.state != "scored":
        return None
    chain = here.filters.but(
        sample=view.sample.id,
        model=answer.candidate.id,
        criterion=view.criterion.criterion.id if view.criterion else None,
    )
    href = links.address(CORRECTION.url_path, chain, tab="one")
    return kit.button("Let the model try again", href)


def _answer(here: Here, view: SampleView, doors: SampleDoors) -> Html:
    answer = view.answer
    if answer is None:
        return el("div", el("h2", "Answer"), el("p", "No model has answered it.", class_="quiet"))
    spans = []
    for item in view.criteria:
        for mark in item.marks:
            point = mark.checkpoint
            if point and point.span and point.response_id == answer.response.id:
                spans.append(
                    ui_said.Span(start=point.span[0], end=point.span[1], light=item.criterion.id,
                             on=item.chosen)
                )  # fmt: skip
    there = others(here.store, here.data, view)
    apart = difference(view, there, here.query.get("vs"))
    return el(
        "div",
        el(
            "h2",
            "Answer of ",
            kit.model(answer.candidate.name, answer.colour),
            " ",
            kit.small(verdict(answer.outcomes)),
        ),
        beside.doors(there, here.query.get("vs"), doors.beside),
        answer_text(answer, spans) if apart is None else beside.both(apart),
        thoughts(answer),
    )


def _why(here: Here, view: SampleView) -> Html | None:
    if view.criterion is None or view.answer is None:
        return None
    return why(here, view, view.criterion, view.mark, view.answer.candidate.name)

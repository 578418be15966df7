"""The answers behind a number: a list, and one of them before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from atom.display import numbers
from atom.records import Arm
from atom.ui import kit, links, said, score_marks
from atom.ui.correction.doors import ExperimentDoors
from atom.ui.differ import diff_side
from atom.ui.failures.question import pictures, question, turn
from atom.ui.html import Child, Html, el
from atom.ui.media import thumbnail
from atom.ui.pages import CORRECTION, FAILURES
from atom.ui.shell.frame import Here
from atom.views.correction.case import CaseView, StepLine, Try
from atom.views.correction.cases import OF_STEPS, CaseQuery, CaseRow, Cases, write_query
from atom.views.correction.form import ARM_WORDS
from taxonomy import format_path

PAGE_SIZE = 50
_LETTERS: dict[Arm, str] = {
    "rejudge": "judged", "fresh": "again", "told": "told", "sham": "sham", "guided": "guided",
    "peer": "hints", "guided_peer": "both", "oracle": "truth",
}  # fmt: skip
_REASON = 1500


def mark_words(right: bool | None) -> str:
    """Write a result in one word."""
    return {True: "right", False: "wrong", None: "unknown"}[right]


# --- the list -------------------------------------------------------------------------------------


class CaseDoors:
    """Addresses of cases: another answer, another arm, another step.

    A case is an answer under a query (which list it's in), looked at after one arm.
    """

    def __init__(
        self, here: Here, doors: ExperimentDoors, query: CaseQuery, tab: str = "cases"
    ) -> None:
        self._here = here
        self._doors = doors
        self._query = query
        self._tab = tab

    def to(
        self, sample: str | None, *, by: str | None = None, criterion: str | None = None,
        at: str | None = None,
    ) -> str:  # fmt: skip
        """Return a case's address."""
        filters = self._here.filters.but(sample=sample, criterion=criterion)
        local = {
            "experiment": self._doors.experiment,
            "round": self._doors.tries,
            "tab": self._tab,
            **write_query(self._query),
            "by": by,
            "at": at,
        }
        return links.address(CORRECTION.url_path, filters, **local)


def listing(
    here: Here, cases: Cases, rows: Sequence[CaseRow], chosen: str | None, page: int,
    doors: CaseDoors,
) -> Html:  # fmt: skip
    """Draw the list of answers."""
    count = numbers.count(len(cases.ids), "answer")
    if cases.query.came in OF_STEPS:
        count = f"{numbers.count(cases.count, 'step')} in {count}"
    by = here.query.get("by")
    at = here.query.get("at")
    items = [_item(here, row, row.response_id == chosen, doors, by, at) for row in rows]
    pages = max(1, -(-len(cases.ids) // PAGE_SIZE))
    pager = None
    if pages > 1:
        pager = el(
            "div",
            kit.button("‹", doors.to(None, at=str(page)), disabled=page == 0),
            f"page {page + 1:,} of {pages:,}",
            kit.button("›", doors.to(None, at=str(page + 2)), disabled=page == pages - 1),
            class_="pager",
        )
    return el(
        "div",
        el("p", cases.words, class_="strong", style="margin:0 0 2px 4px"),
        el(
            "p",
            count,
            data_count=cases.count,
            class_="note",
            style="margin:0 0 6px 4px",
        ),
        el("div", items, pager, class_="listing", data_scroll=True),
        class_="beside",
    )


def _item(
    here: Here, row: CaseRow, on: bool, doors: CaseDoors, by: str | None, at: str | None
) -> Html:
    thumb = thumbnail(here.store, row.sample_id, row.picture_id, "picture")
    marks = [arm_mark(arm, right) for arm, right in row.marks]
    steps = kit.small(numbers.count(row.steps, "step")) if row.steps else None
    return el(
        "a",
        thumb,
        el("span", el("span", row.question or "(no question)", class_="lines"), steps),
        el("span", marks, class_="across"),
        href=doors.to(row.sample_id, by=by, at=at),
        data_go=True,
        class_="item on" if on else "item",
        aria_current="true" if on else None,
        data_reveal="1" if on else None,
    )


def arm_mark(arm: Arm, right: bool | None, *, chosen: bool = False) -> Html:
    """Draw an arm's result on an answer: a glyph and a word."""
    glyph = {True: "✓", False: "✗", None: "∅"}[right]
    words = f"{ARM_WORDS[arm].name}: {mark_words(right)}"
    return el(
        "span",
        f"{glyph} {_LETTERS[arm]}",
        class_=f"came {mark_words(right)}{' chosen' if chosen else ''}",
        data_tip=words,
        aria_label=words,
    )


# --- one answer -----------------------------------------------------------------------------------


def case(
    here: Here, view: CaseView, doors: CaseDoors, before: str | None = None,
    after: str | None = None,
) -> Html:  # fmt: skip
    """Draw one answer before and after.

    Args:
        before: the address of the answer before it in the list.
        after: the address of the one after it.
    """
    return el(
        "article",
        _head(here, view, before, after),
        _arm_tabs(view, doors),
        said_of(view),
        el(
            "div",
            pictures(here, view.sample, _to_step(view, doors)),
            el("div", question(view.sample), _why(view)),
            class_="top",
        ),
        before_after(view),
        steps(view, doors),
        sent(view),
        class_="case",
        data_case=f"{view.first.id}.{view.chosen.arm if view.chosen else ''}",
    )


def _head(here: Here, view: CaseView, before: str | None, after: str | None) -> Html:
    sample = view.sample.sample
    position = here.data.sample_position[sample.id] + 1
    number = here.data.model_index(view.first.candidate_id) or 0
    filters = here.filters.but(sample=sample.id, model=view.first.candidate_id)
    return el(
        "div",
        el(
            "div",
            kit.strong(f"Sample no. {position}"),
            kit.model(here.data.candidates[number].name, number),
            kit.synthetic_badge() if sample.synthetic else None,
            kit.door("Open in Failures", links.address(FAILURES.url_path, filters), class_="small"),
            class_="row",
        ),
        el(
            "div",
            turn("← Previous", before, "ArrowLeft"),
            turn("Next →", after, "ArrowRight"),
            class_="row",
            style="flex-wrap:nowrap",
        )
        if before or after
        else None,
        class_="heads",
    )


def _arm_tabs(view: CaseView, doors: CaseDoors) -> Html | None:
    if not view.tries:
        return None
    sample = view.sample.sample.id
    criterion = view.sample.criterion.criterion.id if view.sample.criterion else None
    chosen = view.chosen.arm if view.chosen else None
    return el(
        "nav",
        [
            kit.door(
                arm_mark(one.arm, one.right, chosen=one.arm == chosen),
                doors.to(sample, by=one.arm, criterion=criterion),
                aria_current="true" if one.arm == chosen else None,
            )
            for one in view.tries
        ],
        class_="row",
        style="gap:5px",
        aria_label="What was tried",
    )


def said_of(view: CaseView) -> Html | None:
    """Say in words what became of the answer, and how much of that is luck."""
    chosen = view.chosen
    if chosen is None:
        return None
    words = ARM_WORDS[chosen.arm]
    if chosen.response is None:
        reason = chosen.correction.detail or chosen.correction.state
        return kit.notice(f"“{words.name}” brought no new answer: {reason}")
    before = {True: "right", False: "wrong", None: "not decided"}[view.was_right]
    now = {True: "right", False: "still wrong", None: "not decided"}[chosen.right]
    if view.was_right and chosen.right is not None:
        now = "still right" if chosen.right else "wrong now: the feedback broke it"
    parts: list[Child] = [
        kit.strong(f"After {words.does}: the answer was {before}, and is {now}."),
        _scores(view),
    ]
    return el("div", parts, _luck(view), class_="notice outcome", style="font-size:var(--body)")


def _scores(view: CaseView) -> Html | None:
    old, new = view.mean("before"), view.mean("after")
    if old is None or new is None:
        return None
    words = (
        f" Steps: {old:.2f} → {new:.2f} of 5; failed ones: {view.failed('before')} → "
        f"{view.failed('after')}."
    )
    return el("span", words)


def _luck(view: CaseView) -> Html | None:
    chosen, control = view.chosen, view.control
    if chosen is None or chosen.arm == "rejudge":
        return None
    if control is None:
        return el("p", "How much of it is luck isn't known: no control was tried on this answer.",
                  class_="quiet")  # fmt: skip
    name = ARM_WORDS[control.arm].does
    mean = view.mean("control")
    score = f", steps {mean:.2f} of 5" if mean is not None else ""
    words = f"The control, {name}: {mark_words(control.right)}{score}. "
    if chosen.right and control.right:
        words += "It came right there, too, so here the feedback proves nothing."
    elif chosen.right and control.right is False:
        words += "So here the feedback did more than its control did. One answer may still be luck."
    elif control.right and chosen.right is False:
        words += "The control did better here."
    elif chosen.right is False and control.right is False:
        words += "Neither came right."
    return el("p", words, data_luck=True)


def _to_step(view: CaseView, doors: CaseDoors) -> Callable[[str], str]:
    by = view.chosen.arm if view.chosen else None
    return lambda criterion: doors.to(view.sample.sample.id, by=by, criterion=criterion)


def _why(view: CaseView) -> Html | None:
    criterion = view.sample.criterion
    step = next(
        (s for s in view.steps if criterion and s.view.criterion.id == criterion.criterion.id), None
    )
    if step is None or not (step.why_before or step.why_after):
        return None
    parts: list[Html] = []
    pairs = (("before", step.before, step.why_before), ("after", step.after, step.why_after))
    for name, score, reason in pairs:
        if reason:
            parts.append(
                el("div", kit.small(f"{name} "),
                   score_marks.score_chip(score), " ", el("span", reason[:_REASON], class_="text"))
            )  # fmt: skip
    return el(
        "div",
        kit.strong(f"Why step {step.view.number} scores so"),
        parts,
        class_="why",
        data_why=True,
    )


# --- before and after -----------------------------------------------------------------------------


def before_after(view: CaseView) -> Html:
    """Draw the answer before and after, what changed marked."""
    old = el(
        "div",
        el("h2", "Before ", kit.small(mark_words(view.was_right))),
        diff_side(view.diff, "gone") if view.diff else _text(view.first.text),
    )
    chosen = view.chosen
    if chosen is None or chosen.arm == "rejudge" or chosen.response is None:
        words = (
            "The same answer: it was only judged again."
            if chosen is not None and chosen.arm == "rejudge"
            else "No new answer yet."
        )
        new = el("div", el("h2", "After"), el("p", words, class_="quiet"))
    else:
        new = el(
            "div",
            el(
                "h2",
                f"After {ARM_WORDS[chosen.arm].does} ",
                kit.small(mark_words(chosen.right)),
            ),
            diff_side(view.diff, "new"),
        )
    control = view.control
    beside = None
    if control is not None and control.response is not None and control.arm != "rejudge":
        beside = el(
            "div",
            el(
                "h2",
                f"The control: {ARM_WORDS[control.arm].does} ",
                kit.small(mark_words(control.right)),
            ),
            _text(control.response.text),
        )
    return el("div", old, new, beside, class_="answers", data_diff=True)


def _text(text: str) -> Html:
    return said.said(text, lights=False)


def steps(view: CaseView, doors: CaseDoors) -> Html:
    """Draw each step's score before and after."""
    if not view.steps:
        return el(
            "p", "This sample has no criteria, so nothing is scored step by step.", class_="quiet"
        )
    sample = view.sample.sample.id
    by = view.chosen.arm if view.chosen else None

    def question(step: StepLine) -> Html:
        criterion = step.view.criterion
        to = doors.to(sample, by=by, criterion=criterion.id)
        return kit.door(criterion.question, to, data_light=criterion.id, class_="text")

    return el(
        "div",
        el(
            "div",
            el("h2", "Each step before and after", style="margin:0"),
            score_marks.score_legend(),
            class_="row",
            style="justify-content:space-between;margin-bottom:4px",
        ),
        kit.grid(
            view.steps,
            kit.MarkupColumn("#", lambda step: kit.quiet(step.view.number)),
            kit.MarkupColumn("Step", question, width="38%"),
            kit.MarkupColumn("Capability", _leaf, broad=True),
            kit.number(kit.term("weight", "w"), lambda step: step.view.weight),
            kit.MarkupColumn(
                "Asked",
                lambda step: el("span", "asked", class_="small") if step.asked else "",
                slim=True,
            ),
            kit.MarkupColumn("Before", lambda step: _chip(step.before), slim=True),
            kit.MarkupColumn(
                "Judged again",
                lambda step: _chip(step.again),
                slim=True,
                when=any(step.again is not None for step in view.steps),
            ),
            kit.MarkupColumn("After", lambda step: _chip(step.after), slim=True),
            kit.MarkupColumn(
                "Control",
                lambda step: _chip(step.control),
                slim=True,
                when=view.control is not None,
            ),
            label="Steps before and after",
            on=lambda step: step.view.chosen,
            light=lambda step: step.view.criterion.id,
        ),
    )


def _leaf(step: StepLine) -> Html:
    item = step.view
    if not item.leaf:
        return el("span", "not mapped", data_tip=item.leaf_detail)
    return el("span", item.leaf[-1], data_tip=format_path(item.leaf))


def _chip(score: int | None) -> Html:
    return score_marks.score_chip(score, glyph="–" if score is None else "∅")


def sent(view: CaseView) -> Html | None:
    """Draw the exact feedback, the hints with their writers, and what the gates did."""
    chosen = view.chosen
    if chosen is None:
        return None
    correction = chosen.correction
    tries = f" (round {correction.round})" if chosen.rounds > 1 else ""
    feedback = (
        said.said(correction.feedback, lights=False)
        if correction.feedback
        else el("p", "Nothing was said to the model.", class_="quiet")
    )
    return el(
        "div",
        el("h2", f"The feedback, word for word{tries}"),
        feedback,
        _hints(chosen),
        kit.fold(
            f"What the leak gates noted ({len(correction.gates)})",
            el("ul", [el("li", line, class_="text") for line in correction.gates], class_="small"),
        )
        if correction.gates
        else None,
    )


def _hints(chosen: Try) -> Html | None:
    if not chosen.hints:
        return None
    lines = [
        el(
            "li",
            kit.strong(f"{hint.peer}"),
            f" on step {hint.number}: " if hint.number else ": ",
            el("span", hint.text, class_="text"),
        )
        for hint in chosen.hints
    ]
    return kit.fold(f"Who wrote the hints ({len(lines)})", el("ul", lines, class_="small"))

"""What the Compare page shows of pairs: the list of shared samples, and one with both answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom.display import numbers
from atom.ui import kit, links, said, score_marks
from atom.ui.compare import marks, sides
from atom.ui.compare.sides import pinned
from atom.ui.failures import answer as failures_answer
from atom.ui.failures import criteria, question, why
from atom.ui.html import Html, el, join
from atom.ui.media import thumbnail
from atom.ui.pages import FAILURES
from atom.ui.shell.frame import Here
from atom.views.compare.page import Comparison
from atom.views.compare.pairs import PairList, PairMark, PairRow, PairView, Tab
from atom.views.compare.sides import SideChoice
from atom.views.failures.sample import AnswerView
from atom.views.filters import Filters
from taxonomy import format_path

_SHORT = 22


def pairs(here: Here, view: Comparison, listed: PairList, shown: PairView | None) -> Html:
    """Draw the list of pairs with the chosen one beside it."""
    title = f"Pairs inside {view.node[-1]}" if view.node else "Pair by pair"
    base = pinned(here, view.picked)
    clear = sides.to(here, view.picked, base.but(node=(), sample=None, criterion=None))
    return el(
        "section",
        sides.style(),
        el(
            "div",
            el("h2", title, style="margin:0"),
            kit.door("All pairs", clear, class_="small") if view.node else None,
            class_="row",
            style="margin-bottom:8px",
        ),
        _tabs(here, view, listed),
        el(
            "div",
            _listing(here, view, listed, shown),
            el("div", _shown(here, view, listed, shown), style="min-width:0"),
            class_="split",
            style="margin-top:12px",
        ),
    )


def _tabs(here: Here, view: Comparison, listed: PairList) -> Html:
    first, second = (numbers.middle(name, _SHORT) for name in sides.short(view))
    words: dict[Tab, str] = {
        "all": "All",
        "second": f"{second} better",
        "first": f"{first} better",
        "fail": "Both fail",
        "first_fails": f"only {first} fails",
        "second_fails": f"only {second} fails",
        "first_right": f"only {first} right",
        "second_right": f"only {second} right",
        "both_right": "both right",
        "neither_right": "neither right",
    }
    always: Sequence[Tab] = ("all", "second", "first", "fail")
    if view.measure == "preference":
        always = ("all", "second", "first")
    filters = pinned(here, view.picked).but(sample=None, criterion=None)
    return kit.tabs(
        (
            (
                f"{words[tab]} {listed.counts[tab]:,}",
                sides.to(here, view.picked, filters, tab=None if tab == "all" else tab),
                tab == listed.tab,
            )
            for tab in words
            if tab in always or tab == listed.tab
        ),
        label="Which pairs",
    )


# --- list ----------------------------------------------------------------------------------------


def _listing(here: Here, view: Comparison, listed: PairList, shown: PairView | None) -> Html:
    chosen = shown.sample.sample.id if shown is not None else None
    order = "most lost together first" if listed.tab == "fail" else "largest difference first"
    equal = f", {listed.equal:,} equal" if listed.tab == "all" and listed.equal else ""
    count = numbers.count(listed.total, "shared sample")
    return el(
        "div",
        kit.note(f"{count}{equal}, {order}", style="margin:0 0 4px 4px"),
        el(
            "div",
            [_item(here, view, row, row.sample_id == chosen) for row in listed.rows],
            _pager(here, view, listed),
            class_="listing",
            data_scroll=True,
        ),
        class_="beside",
    )


def _item(here: Here, view: Comparison, row: PairRow, on: bool) -> Html:
    thumb = thumbnail(here.store, row.sample_id, row.picture_id, row.picture_name)
    verdict = "first" if row.difference > 0 else "second" if row.difference < 0 else "none"
    scores = [
        el(
            "span",
            el("span", class_="dot", style=f"background:{kit.colour(side.colour)}"),
            f"{value:.0f}",
            kit.quiet(_right_word(right)) if right is not None else None,
            class_="model",
            data_tip=f"{side.label}: {value:.1f} of 100{_right_tip(right)}",
        )
        for side, value, right in (
            (view.picked.first, row.first, row.first_right),
            (view.picked.second, row.second, row.second_right),
        )
    ]
    base = pinned(here, view.picked)
    filters = row.filters.but(model=base.model, peers=base.peers)
    return el(
        "a",
        thumb,
        el("span", el("span", row.question or "(no question)", class_="lines")),
        el(
            "span",
            scores,
            marks.difference(row.difference, math.nan, math.nan, verdict),
            class_="pairline",
        ),
        href=sides.to(here, view.picked, filters, at=here.query.get("at")),
        data_go=True,
        class_="item on" if on else "item",
        aria_current="true" if on else None,
        data_reveal="1" if on else None,
    )


def _right_word(right: bool | None) -> str:
    return "" if right is None else "right" if right else "wrong"


def _right_tip(right: bool | None) -> str:
    return "" if right is None else f", final answer {_right_word(right)}"


def _pager(here: Here, view: Comparison, listed: PairList) -> Html | None:
    if listed.pages < 2:
        return None
    filters = pinned(here, view.picked).but(sample=None, criterion=None)

    def door(page: int) -> str:
        return sides.to(here, view.picked, filters, at=str(page))

    return el(
        "div",
        kit.button("‹", door(listed.page), disabled=listed.page == 0),
        f"page {listed.page + 1:,} of {listed.pages:,}",
        kit.button("›", door(listed.page + 2), disabled=listed.page == listed.pages - 1),
        class_="pager",
    )


# --- one pair ------------------------------------------------------------------------------------


def _shown(here: Here, view: Comparison, listed: PairList, shown: PairView | None) -> Html:
    if shown is None:
        if here.filters.sample is not None:
            return kit.empty(
                "This sample isn't in the study",
                "The link names a sample that was removed, or that belongs to another study.",
            )
        return kit.empty("No pair here", "Choose another tab, or clear the filters.")
    sample = shown.sample.sample
    note = None
    if sample.id not in listed.order:
        note = kit.notice("This sample isn't in the list of pairs under the present choice.")

    def door(criterion: str) -> str:
        return sides.to(
            here, view.picked, _here(here, view, shown, criterion), at=here.query.get("at")
        )

    return el(
        "article",
        note,
        _head(here, view, listed, shown),
        el(
            "div",
            question.pictures(here, shown.sample, door),
            el("div", question.question(shown.sample), style="min-width:0"),
            class_="top",
        ),
        _criteria(here, view, shown),
        _reasons(here, view, shown),
        _answers(view, shown),
        class_="case pair",
        data_case=sample.id,
    )


def _here(here: Here, view: Comparison, shown: PairView, criterion: str | None) -> Filters:
    return pinned(here, view.picked).but(sample=shown.sample.sample.id, criterion=criterion)


def _head(here: Here, view: Comparison, listed: PairList, shown: PairView) -> Html:
    sample = shown.sample.sample
    position = here.data.sample_position[sample.id] + 1
    at = listed.order.index(sample.id) if sample.id in listed.order else None

    def step(by: int) -> str | None:
        if at is None or not 0 <= at + by < len(listed.order):
            return None
        filters = _here(here, view, shown, None).but(sample=listed.order[at + by])
        return sides.to(here, view.picked, filters)

    whole = _here(here, view, shown, None).but(show="all", node=())
    return el(
        "div",
        el(
            "div",
            kit.strong(f"Sample no. {position}"),
            kit.synthetic_badge() if sample.synthetic else None,
            kit.status("quarantined") if shown.sample.quarantined else None,
            kit.door("Open in Failures", links.address(FAILURES.url_path, whole), class_="small"),
            class_="row",
        ),
        el(
            "div",
            question.turn("← Previous", step(-1), "ArrowLeft"),
            question.turn("Next →", step(1), "ArrowRight"),
            class_="row",
            style="flex-wrap:nowrap",
        ),
        class_="heads",
    )


def _side_head(side: SideChoice, judge: str | None) -> Html:
    label = side.label if judge is None else f"{side.label} by {judge}"
    return kit.model(numbers.middle(label, _SHORT + 6), side.colour, full=label)


def _judges(view: Comparison) -> tuple[str | None, str | None]:
    if view.picked.judge_id is None:
        return None, None
    return view.first_judge, view.second_judge


def _criteria(here: Here, view: Comparison, shown: PairView) -> Html | None:
    if not shown.marks:
        return None
    judges = _judges(view)

    def criterion(mark: PairMark) -> Html:
        identity = mark.criterion.criterion.id
        to = sides.to(
            here, view.picked, _here(here, view, shown, identity), at=here.query.get("at")
        )
        words = mark.criterion.criterion.question
        return join(
            kit.door(words, to, data_light=identity, class_="text"),
            el("span", " ", _leaf(view, mark), class_="narrow small quiet"),
        )

    return el(
        "div",
        el(
            "div",
            el("h2", "Criteria, both answers", style="margin:0"),
            score_marks.score_legend(ours=here.data.table.ours),
            class_="row",
            style="justify-content:space-between;margin-bottom:4px",
        ),
        kit.grid(
            shown.marks,
            kit.MarkupColumn("#", lambda mark: kit.quiet(mark.criterion.number)),
            kit.MarkupColumn(kit.term("criterion", "Criterion"), criterion, width="34%"),
            kit.MarkupColumn(
                kit.term("ground truth", "Truth"),
                lambda mark: el("span", mark.criterion.criterion.ground_truth, class_="text"),
                width="16%",
            ),
            kit.MarkupColumn("Capability", lambda mark: _leaf(view, mark), broad=True),
            kit.number(kit.term("weight", "w"), lambda mark: mark.criterion.weight_words),
            kit.MarkupColumn(
                _side_head(view.picked.first, judges[0]),
                lambda mark: criteria.mark_chip(here, mark.first, False),
                slim=True,
            ),
            kit.MarkupColumn(
                _side_head(view.picked.second, judges[1]),
                lambda mark: criteria.mark_chip(here, mark.second, False),
                slim=True,
            ),
            kit.number("Difference", _gap),
            label="Criteria with both scores",
            on=lambda mark: mark.criterion.chosen,
            light=lambda mark: mark.criterion.criterion.id,
        ),
    )


def _leaf(view: Comparison, mark: PairMark) -> Html:
    leaf = mark.criterion.leaf
    if not leaf:
        return kit.quiet("○ not mapped", data_tip=mark.criterion.leaf_detail)
    inside = view.node and leaf[: len(view.node)] == view.node
    return el("span", leaf[-1], data_tip=format_path(leaf), class_="strong" if inside else None)


def _gap(mark: PairMark) -> Html:
    gap = mark.difference
    if gap is None:
        return kit.quiet(numbers.NONE)
    verdict = "none" if not gap else "first" if gap > 0 else "second"
    return marks.mark(_gap_words(mark, gap) if gap else "0", verdict)


def _gap_words(mark: PairMark, gap: float) -> str:
    """Write a difference in points of 1..5, or of 100 on another scale."""
    ours = mark.first is not None and mark.first.ours
    number = numbers.signed(gap) if ours else numbers.signed(25 * gap, 0)
    return number.removesuffix(".0")


def _reasons(here: Here, view: Comparison, shown: PairView) -> Html | None:
    """Put the judge's reasons for the chosen criterion side by side."""
    mark = next((one for one in shown.marks if one.criterion.chosen), None)
    if mark is None:
        return None
    names = sides.names(view)
    return el(
        "div",
        [
            why.why(here, shown.sample, mark.criterion, point, name)
            for point, name in zip((mark.first, mark.second), names, strict=True)
        ],
        class_="two",
    )


def _answers(view: Comparison, shown: PairView) -> Html:
    judges = _judges(view)
    return el(
        "div",
        el("h2", "Answers"),
        el(
            "div",
            _answer(view.picked.first, judges[0], shown.first, shown, first=True),
            _answer(view.picked.second, judges[1], shown.second, shown, first=False),
            class_="two",
        ),
    )


def _answer(
    side: SideChoice, judge: str | None, answer: AnswerView | None, shown: PairView, *, first: bool
) -> Html:
    if answer is None:
        return el("div", _side_head(side, judge), el("p", "It gave no answer.", class_="quiet"))
    spans = []
    for mark in shown.marks:
        view = mark.first if first else mark.second
        point = view.checkpoint if view is not None else None
        if point is not None and point.span is not None:
            spans.append(
                said.Span(start=point.span[0], end=point.span[1], light=mark.criterion.criterion.id,
                         on=mark.criterion.chosen)
            )  # fmt: skip
    many = sum(one.candidate.id == side.model_id for one in shown.sample.answers)
    return el(
        "div",
        el(
            "div",
            _side_head(side, judge),
            kit.small(f"answer 1 of {many}") if side.answer is None and many > 1 else None,
            kit.small(answer.score_words) if answer.score is not None else None,
            kit.small(failures_answer.verdict(answer.outcomes)),
            class_="row",
            style="margin-bottom:4px",
        ),
        failures_answer.answer_text(answer, spans),
    )

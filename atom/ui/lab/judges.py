"""The Judge lab's tab that holds a study's judges against each other, people among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from atom.analysis.agreement.two_judges import BoundedFigure, TwoJudges
from atom.display import numbers
from atom.records import Checkpoint, Judge
from atom.ui import kit, links
from atom.ui.html import Child, Html, el
from atom.ui.judges import panel
from atom.ui.pages import FAILURES, JUDGE_LAB, RUNS
from atom.ui.shell import stores
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.judges import TOGETHER, JudgesView, MarkGroup, MarkPair, PairCell, judges_view
from atom.views.people.rubric import TITLES
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData
from taxonomy import format_path

R = TypeVar("R")
TAB = "judges"
UNREAD = "by"
"""The key that says how marks that couldn't be read count."""
_REASON = 400
_KINDS = {"model": "", "person": "person", "program": "program"}


def draw(here: Here) -> None:
    """Draw who agrees with whom, two judges by part, and the marks that they disagree on."""
    view = read(here)
    if len(view.judges) < 2:
        kit.show(
            kit.empty(
                "One judge marked this study",
                "Have a second judge mark the same answers, or take in people’s marks: then this "
                "tab says how far they agree, criterion by criterion.",
                kit.button(
                    "Further judges, on Runs",
                    links.address(RUNS.url_path, Filters(study=here.entry.key)),
                ),
            ),
            key="judges_none",
        )
        return
    kit.show(
        el(
            "div",
            el("h2", "Do its judges say the same?", style="margin:0"),
            _answer(view),
            _matrix(here, view),
            _pair(here, view),
            class_="stack",
            data_testid="judges-side-by-side",
        ),
        key="judges",
    )
    panel.draw(here)


def read(here: Here) -> JudgesView:
    """Compare the judges, once for each revision, choice and filter."""
    asked = [here.query.get(key, "") for key in ("left", "right", "of", "at", UNREAD)]
    return _read(
        here.store.url,
        here.entry.study.id,
        here.data.revision,
        here.data.judge.id if here.data.judge else "",
        (*here.filters.narrowing, here.filters.node, here.filters.model),
        (*asked,),
        here.store,
        here,
    )


@st.cache_resource(show_spinner="Comparing the judges’ marks", max_entries=12)
def _read(
    url: str,
    study_id: str,
    revision: int,
    judge_id: str,
    narrowing: tuple[object, ...],
    asked: tuple[str, ...],
    _store: OpenStore,
    _here: Here,
) -> JudgesView:
    del url, study_id, revision, judge_id, narrowing
    left, right, question, page, unread = asked

    def load(judge: str) -> StudyData:
        return stores.study_data(_here.entry, judge, _here.filters.tree)

    return judges_view(
        _store,
        _here.data,
        load,
        _here.filters,
        first=left or None,
        second=right or None,
        question=question,
        page=int(page) - 1 if page.isdigit() else 0,
        unread="unmet" if unread == "unmet" else "left out",
    )


def _address(here: Here, filters: Filters, view: JudgesView, **local: str | None) -> str:
    unread = here.query.get(UNREAD)
    left = view.first.id if view.first else None
    right = view.second.id if view.second else None
    held: dict[str, str | None] = {"tab": TAB, "left": left, "right": right, UNREAD: unread}
    return links.address(JUDGE_LAB.url_path, filters, **(held | local))


def name_of(judge: Judge) -> str:
    """Return a judge's name, with what it is unless it is a model or people together."""
    if judge in TOGETHER:
        return judge.name[0].lower() + judge.name[1:]
    kind = _KINDS[judge.kind]
    if not kind:
        return judge.name
    told = judge.name.removesuffix(")")
    return f"{told}, {kind})" if told != judge.name else f"{told} ({kind})"


# --- who with whom -------------------------------------------------------------------------------


def _answer(view: JudgesView) -> Html:
    if not view.cells:
        return el("p", "No two judges marked the same criteria of the same answers.")
    known = [one for one in view.cells if math.isfinite(one.found.alpha.value)]
    words: list[Child] = []
    if known:
        best = max(known, key=lambda one: one.found.alpha.value)
        worst = min(known, key=lambda one: one.found.alpha.value)
        if best is worst:
            words = [kit.strong(f"{_both(best)}: alpha {_told(best.found.alpha)}")]
        else:
            words = [
                kit.strong(f"{_both(best)} agree most: alpha {_told(best.found.alpha)}"),
                f"; {_both(worst)} least: {_told(worst.found.alpha)}",
            ]
        words.append(". 1 is complete agreement, 0 what chance alone would give. ")
    if view.people is not None:
        found = view.people
        kappa = f", Fleiss’ kappa {numbers.plain(found.fleiss)}"
        fleiss = "" if math.isnan(found.fleiss) else kappa
        words.append(
            f"{found.people} people among themselves: alpha {_told(found.alpha)}{fleiss} on "
            f"{numbers.count(found.n, 'mark')} that two or more gave. "
        )
    if view.left_out:
        words.append(f"{numbers.count(view.left_out, 'judge')} with fewer marks aren’t compared. ")
    return el("p", words)


def _both(cell: PairCell) -> str:
    return f"{_in_words(cell.first)} and {_in_words(cell.second)}"


def _in_words(judge: Judge) -> str:
    return name_of(judge) if judge in TOGETHER else judge.name


def _matrix(here: Here, view: JudgesView) -> Html:
    def judges(cell: PairCell) -> Html:
        to = _address(here, here.filters, view, left=cell.first.id, right=cell.second.id)
        return kit.door(f"{name_of(cell.first)} and {name_of(cell.second)}", to)

    def chosen(cell: PairCell) -> bool:
        if view.first is None or view.second is None:
            return False
        return {cell.first.id, cell.second.id} == {view.first.id, view.second.id}

    return el(
        "section",
        kit.grid(
            view.cells,
            kit.MarkupColumn("Judges", judges),
            *_figures(lambda cell: cell.found),
            kit.number("answers, Spearman", lambda cell: _with_n(cell.answers), broad=True),
            label="Agreement of every two judges",
            on=chosen,
        ),
        kit.note(
            kit.term("weighted kappa", "Weighted kappa"),
            " counts a difference by its square, kappa all alike; ",
            kit.term("Krippendorff's alpha", "alpha"),
            " takes marks as an order; Spearman correlates ranks. Shift: the second judge’s mean "
            "less the first’s, in points of 0–100. Marks are compared by their worth on their own "
            "scale, answers by the weighted mean of a judge’s marks, whichever criteria it marked; "
            "what doesn’t apply is left out. Intervals (95 %) draw whole samples.",
        ),
    )


_FIGURES: Sequence[kit.MarkupColumn[TwoJudges]] = (
    kit.number("n", lambda found: _n(found)),
    kit.number("same mark", lambda found: _percent(found.exact)),
    kit.number("kappa", lambda found: _cell(found.kappa), broad=True),
    kit.number("weighted kappa", lambda found: _cell(found.weighted_kappa)),
    kit.number("alpha", lambda found: _cell(found.alpha)),
    kit.number("Spearman", lambda found: _cell(found.spearman)),
    kit.number("shift", lambda found: _shift(found.shift), broad=True),
)


def _figures(
    found: Callable[[R], TwoJudges], to: Callable[[R], str] | None = None
) -> list[kit.MarkupColumn[R]]:
    """Make the columns of two judges' figures.

    Args:
        found: a row's figures.
        to: what each of them opens.
    """

    def column(figure: kit.MarkupColumn[TwoJudges]) -> kit.MarkupColumn[R]:
        def cell(row: R) -> Child:
            words = figure.of(found(row))
            return words if to is None else kit.door(words, to(row), class_="plain")

        return kit.number(figure.title, cell, broad=figure.broad)

    return [column(figure) for figure in _FIGURES]


def _n(found: TwoJudges) -> Html:
    tip = numbers.count(
        found.clusters,
        "sample that shares no picture with another",
        "samples that share no picture",
    )
    return kit.quiet(f"{found.n:,}", data_tip=tip)


def _cell(figure: BoundedFigure) -> Html:
    more = kit.small(_range(figure)) if _range(figure) else None
    return el("span", numbers.plain(figure.value), more)


def _range(figure: BoundedFigure) -> str:
    if math.isnan(figure.lo):
        return ""
    return f" ({numbers.plain(figure.lo)} to {numbers.plain(figure.hi)})"


def _told(figure: BoundedFigure) -> str:
    return f"{numbers.plain(figure.value)}{_range(figure)}"


def _percent(figure: BoundedFigure) -> Html:
    more = numbers.share_ends(figure.lo, figure.hi)
    return el("span", numbers.share(figure.value, 1), kit.small(more))


def _shift(figure: BoundedFigure) -> Html:
    if math.isnan(figure.value):
        return el("span", numbers.NONE)
    tip = None
    if not math.isnan(figure.lo):
        tip = numbers.signed_ends(100 * figure.lo, 100 * figure.hi)
    return el("span", numbers.signed(100 * figure.value), data_tip=tip)


# --- two of them ---------------------------------------------------------------------------------


def _pair(here: Here, view: JudgesView) -> Html | None:
    if view.first is None or view.second is None:
        return None
    title = el("h2", f"{view.first.name} and {view.second.name}, part by part")
    title = el("div", title, _unread(here, view))
    if view.whole is None:
        words = "They share no mark that the filters keep."
        return el("section", title, el("p", words, class_="quiet"), _of_answers(view))
    return el(
        "section",
        title,
        _groups(here, view, "Capability", view.nodes),
        _groups(here, view, "Model", view.models),
        _groups(here, view, "Question", view.questions),
        _of_answers(view),
        _marks(here, view),
    )


def _unread(here: Here, view: JudgesView) -> Html | None:
    """Offer both ways of counting marks that couldn't be read, where there are any."""
    chosen = here.query.get(UNREAD, "")
    if not view.unread and not chosen:
        return None
    of = here.query.get("of") or None
    ways = [("left out", None), ("as not met", "unmet")]
    return el(
        "div",
        kit.quiet(f"{numbers.count(view.unread, 'mark')} couldn’t be read: "),
        kit.tabs(
            [
                (words, _address(here, here.filters, view, of=of, by=way), chosen == (way or ""))
                for words, way in ways
            ],
            label="Marks that couldn’t be read",
        ),
        class_="row",
        style="margin-bottom:8px",
    )


def _of_answers(view: JudgesView) -> Html | None:
    """Draw how alike the two put whole answers, by every rule that the criteria declare."""
    if not view.answers:
        return None
    drawn = kit.grid(
        view.answers,
        kit.MarkupColumn(
            "Answers",
            lambda one: (
                TITLES[one.rule] if one.model < 0 else kit.model(view.names[one.model], one.model)
            ),
        ),
        kit.number("n", lambda one: kit.quiet(f"{one.found.n:,}")),
        kit.number("Spearman", lambda one: _cell(one.found.spearman)),
        kit.number("Kendall tau\u2011b", lambda one: _cell(one.found.kendall)),
        kit.number("Pearson", lambda one: _cell(one.found.pearson)),
        kit.number("RMSE", lambda one: f"{100 * one.found.rmse.value:.1f}", broad=True),
        kit.number("shift", lambda one: _shift(one.found.shift), broad=True),
        label="Agreement on answers",
    )
    return el("div", drawn, style="margin-bottom:14px")


def _with_n(found: TwoJudges) -> Html:
    if not found.n:
        return el("span", numbers.NONE)
    return el("span", _cell(found.spearman), data_tip=numbers.count(found.n, "answer"))


def _groups(here: Here, view: JudgesView, title: str, groups: Sequence[MarkGroup]) -> Html | None:
    if not groups:
        return None

    def to(group: MarkGroup) -> str:
        return _address(here, group.filters, view, of=group.question or None)

    drawn = kit.grid(
        groups,
        kit.MarkupColumn(title, lambda group: _part(group, to(group))),
        *_figures(lambda group: group.found, to),
        label=f"Agreement by {title.lower()}",
        on=lambda group: _chosen(here, group),
    )
    return el("div", drawn, style="margin-bottom:14px")


def _chosen(here: Here, group: MarkGroup) -> bool:
    if group.path:
        return here.filters.node == group.path
    if group.question:
        return here.query.get("of", "") == group.question[:300]
    return here.filters.model == group.filters.model


def _part(group: MarkGroup, href: str) -> Html:
    if group.model >= 0:
        return kit.door(kit.model(group.name, group.model), href)
    indent = f"padding-left:{14 * (len(group.path) - 1)}px" if len(group.path) > 1 else None
    tip = format_path(group.path) if group.path else group.name if len(group.name) > 70 else None
    return kit.door(numbers.middle(group.name, 70), href, style=indent, tip=tip)


# --- marks ---------------------------------------------------------------------------------------


def _marks(here: Here, view: JudgesView) -> Html:
    assert view.first is not None
    assert view.second is not None
    where = [
        format_path(here.filters.node),
        next((one.name for one in here.data.candidates if one.id == here.filters.model), ""),
        here.query.get("of", ""),
    ]
    part = " · ".join(text for text in where if text)
    clear = here.filters.but(node=(), model=None, criterion=None, sample=None)
    title = el(
        "div",
        el("h2", f"Their marks{f' of {part}' if part else ''}, furthest apart first",
           style="margin:0"),
        kit.button("Show all", _address(here, clear, view)) if part else None,
        class_="row",
    )  # fmt: skip
    return el(
        "section",
        title,
        kit.note(f"{view.apart:,} of {numbers.count(view.listed, 'mark')} differ."),
        kit.grid(
            view.marks,
            kit.MarkupColumn("Sample and criterion", _marked),
            kit.MarkupColumn("Model", lambda one: kit.model(view.names[one.model], one.model)),
            kit.MarkupColumn(
                view.first.name, lambda one: _said(one.first, one.first_marks, one.first_door)
            ),
            kit.MarkupColumn(
                view.second.name, lambda one: _said(one.second, one.second_marks, one.second_door)
            ),
            label="Marks of both judges",
            tight=False,
        ),
        _pages(here, view),
        data_testid="marks-of-both",
    )


def _marked(one: MarkPair) -> Html:
    to = links.address(FAILURES.url_path, one.first_door)
    sample = kit.door(one.sample or one.sample_id[:12], to)
    return el("div", sample, el("div", one.criterion, class_="quiet small text"))


def _said(value: float, marks: Sequence[Checkpoint], door: Filters) -> Html:
    """Draw a judge's mark as it was written, what it is worth, and why."""
    raw = ", ".join(raw_mark(mark) for mark in marks)
    reasons = [mark.reason.strip() for mark in marks if mark.reason.strip()]
    worth = f"{100 * value:.0f} of 100"
    return el(
        "div",
        kit.door(raw or worth, links.address(FAILURES.url_path, door), class_="strong", tip=worth),
        kit.small(f" {worth}"),
        [
            el("div", numbers.middle(" ".join(text.split()), _REASON), class_="small text")
            for text in reasons
        ],
        style="min-width:180px",
    )


def raw_mark(mark: Checkpoint) -> str:
    """Return a mark as it was written."""
    return mark.raw.strip() or mark.state


def _pages(here: Here, view: JudgesView) -> Html | None:
    if view.pages < 2:
        return None
    question = here.query.get("of") or None
    chain = here.filters

    def door(page: int, words: str) -> Html | None:
        if not 0 <= page < view.pages:
            return None
        return kit.button(words, _address(here, chain, view, of=question, at=str(page + 1)))

    return el(
        "div",
        door(view.page - 1, "Previous"),
        kit.small(f"page {view.page + 1:,} of {view.pages:,}"),
        door(view.page + 1, "Next"),
        class_="row",
    )

"""Why an answer has its score on a criterion: the judge's words, each judge's mark, the sources."""

from __future__ import annotations

from atom.display import numbers
from atom.records import JUDGE_SCALE, Checkpoint, Judge
from atom.ui import kit, said, score_marks
from atom.ui.failures.listing import to
from atom.ui.html import Child, Html, el
from atom.ui.shell.frame import Here
from atom.views.failures.marked import CheckpointView
from atom.views.failures.sample import CriterionView, SampleView

_REASON = 4000
"""Characters of a judge's reason that are shown; the raw reply holds all."""


def said_beside(point: Checkpoint) -> str:
    """Say what a mark says beside its score: silence, or an error carried forward."""
    if point.addressed is False:
        return "not said: held against no capability"
    return "carried: wrong only because an earlier step was" if point.carried else ""


def why(
    here: Here, view: SampleView, item: CriterionView, mark: CheckpointView | None, name: str
) -> Html:
    """Say why an answer has its score on a criterion, in the judge's words.

    Args:
        view: the sample, with the raw replies.
        mark: its checkpoint on the answer; None while it is still to be scored.
        name: whose answer it is.
    """
    if mark is None or mark.checkpoint is None:
        words = f"Criterion {item.number} of {name}'s answer is still to be scored."
        return el("div", el("p", words, class_="quiet"), class_="why")
    point = mark.checkpoint
    if point.state == "scored":
        reason: Child = (point.reason or "(the judge gave no reason)")[:_REASON]
        shown: Html = score_marks.score_chip(mark.near, text=mark.label)
    else:
        why = point.reason or point.detail if point.state == "not_applicable" else point.detail
        reason = kit.told((why or point.reason or "(no reason was kept)")[:_REASON])
        shown = _no_score(point)
    title = f"Why {name} gets" if point.state == "scored" else f"{name} has no score:"
    return el(
        "div",
        el(
            "div",
            kit.strong(title),
            shown,
            kit.small(f"on criterion {item.number}"),
            kit.small(said_beside(point)) if said_beside(point) else None,
            kit.small(mark.spread) if mark.spread else None,
            class_="row",
            style="gap:6px",
        ),
        _each_said(here, mark) or el("div", reason, class_="reason text"),
        _quote(point),
        _panel(here, view, item, mark),
        _sources(here, view, point),
        class_="why",
        data_why=True,
    )


def _each_said(here: Here, mark: CheckpointView) -> Html | None:
    """Give the mark and the reason of each where several people marked; nothing for one judge."""
    if len({one.judge_id for one in mark.repeats}) < 2:
        return None
    names = {judge.id: judge.name for judge in here.data.judges}
    return el(
        "div",
        [
            el(
                "div",
                kit.strong(names.get(one.judge_id, one.judge_id)),
                f" {one.raw or one.state}: ",
                el("span", one.reason[:_REASON] or one.detail[:_REASON] or "(no reason was kept)"),
                class_="reason text",
            )
            for one in mark.repeats
        ],
    )


def _panel(here: Here, view: SampleView, item: CriterionView, mark: CheckpointView) -> Html | None:
    """Say what each of several judges gives, each a door to the study as that judge sees it."""
    if not mark.panel:
        return None
    filters = here.filters.but(
        sample=view.sample.id, criterion=item.criterion.id, model=mark.model_id
    )
    looked = here.data.judge.id if here.data.judge else ""
    judges = numbers.count(len(mark.panel), "judge")
    head = f"≠ The {judges} differ" if mark.apart else f"The {judges} agree"
    return el(
        "div",
        el("p", head, class_="strong small", style="margin:0"),
        [
            el(
                "div",
                score_marks.score_chip(one.mark.near, text=one.mark.label, glyph=one.mark.label),
                el(
                    "span",
                    _seat(one.judge, to(filters.but(judge=one.judge.id)), one.judge.id == looked),
                    None if one.judge.id == looked else _said_by(one.mark),
                ),
                class_="panel-mark",
            )
            for one in mark.panel
        ],
        class_="panel-marks",
        data_testid="panel-marks",
    )


def _seat(judge: Judge, href: str, looked: bool) -> Html:
    """Name a judge; another than the one that is looked at is a door to the study as it marks."""
    if looked:
        return el("span", judge.name, class_="strong small")
    tip = "See the study as it marks"
    return kit.door(judge.name, href, class_="small", tip=tip)


def _said_by(mark: CheckpointView) -> Html:
    """Give another judge's reason, the rest of a long one in its tip."""
    point = mark.checkpoint
    words = (point.reason or point.detail) if point else ""
    text = words[:_REASON] or "(the judge gave no reason)"
    return el("span", text, class_="small quiet text lines", data_tip=text)


def _no_score(point: Checkpoint) -> Html:
    """Say in what state a mark without a score is."""
    if point.state == "not_applicable":
        return el("span", "doesn’t apply", class_="quiet small", data_tip="In no mean, and counted")
    return kit.status("unscored" if point.state == "unscored" else "failed")


def _quote(point: Checkpoint) -> Html | None:
    if not point.quote:
        return None
    words = numbers.middle(" ".join(point.quote.split()), 160)
    if point.span is None:
        return el("p", "It quotes words that the answer doesn't hold: ", el("span", f"“{words}”"),
                  class_="note text")  # fmt: skip
    return el("p", "It points at ", el("mark", words), class_="small text")


def _sources(here: Here, view: SampleView, point: Checkpoint) -> Html:
    """Fold away what the score came from: the raw reply, the judge, the prompt, the cost."""
    names = {judge.id: judge.name for judge in here.data.judges}
    judge = names.get(point.judge_id, point.judge_id)
    facts = [("Judge", judge), ("Prompt", point.prompt)]
    if point.scale != JUDGE_SCALE.id and point.value is not None:
        facts += [("Mark", f"{point.raw[:200]} (worth {100 * point.value:g} of 100)")]
    call = view.calls.get(point.call_id or "")
    if call is not None:
        facts += [
            ("Model asked", call.model),
            ("Reply form", call.form),
            ("Requests", str(call.attempts)),
            ("Cost", "unknown" if call.cost is None else f"${call.cost:.4f}"),
        ]
    raw = call and kit.fold("Raw reply", said.said(call.reply or call.error or "", lights=False))
    pairs = el("dl", [(el("dt", a), el("dd", b)) for a, b in facts], class_="pairs")
    return el("div", raw, kit.fold("Judge and prompt", pairs), class_="folds")

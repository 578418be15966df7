"""A sample laid open: pictures, question, criteria, answers and reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from atom.display import numbers
from atom.records import JUDGE_SCALE, Checkpoint, Judge, Outcome, PictureSlot, Replay
from atom.ui import kit, links
from atom.ui.failures import beside, marks
from atom.ui.failures.listing import to
from atom.ui.html import Child, Html, el, join
from atom.ui.lab import preference as preference_parts
from atom.ui.media import media_address
from atom.ui.pages import CORRECTION
from atom.ui.picture import Mark, missing, picture
from atom.ui.shell.frame import Here
from atom.views.failures.beside import difference, others
from atom.views.failures.marked import CheckpointView
from atom.views.failures.said import said_of
from atom.views.failures.sample import AnswerView, CriterionView, SampleView
from atom.views.pictures import read_picture
from taxonomy import format_path

_REASON = 4000
"""Characters of a judge's reason that are shown; the raw reply holds all."""


# --- case --------------------------------------------------------------------------------------


def case(here: Here, view: SampleView, before: str | None = None, after: str | None = None) -> Html:
    """Draw one sample in full.

    Args:
        before: the address of the sample before it in the list.
        after: the address of the one after it.
    """
    doors = _Doors(here, view)
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
        _criteria(here, view, doors),
        _answer(here, view, doors),
        preference_parts.sample_votes(view.votes),
        _side_by_side(view, doors),
        _replay(view.replay),
        class_="case",
        data_case=view.sample.id,
    )


class _Doors:
    """Addresses inside a case: another criterion, another candidate's answer.

    Reading another candidate's answer leaves the chain, and with it the list, as it is.
    """

    def __init__(self, here: Here, view: SampleView) -> None:
        """Keep what the addresses have in common."""
        criterion = view.criterion.criterion.id if view.criterion else None
        self._filters = here.filters.but(sample=view.sample.id, criterion=criterion)
        self._by = here.query.get("by")
        self._at = here.query.get("at")
        self._vs = here.query.get("vs")

    def criterion(self, identity: str) -> str:
        return to(self._filters.but(criterion=identity), by=self._by, at=self._at, vs=self._vs)

    def beside(self, key: str) -> str:
        return to(self._filters, by=self._by, at=self._at, vs=key)

    def answer(self, candidate: str, criterion: str | None = None) -> str:
        filters = self._filters.but(criterion=criterion) if criterion else self._filters
        return to(filters, by=candidate, at=self._at, vs=self._vs)


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
        style="display:flex;gap:14px;justify-content:space-between;align-items:center",
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


def turn(label: str, address: str | None, key: str) -> Html:
    """Make a button to the sample before or after, which a key presses, too."""
    return el(
        "a",
        label,
        href=address,
        data_go=address is not None,
        data_key=key if address else None,
        class_="button",
        aria_disabled=None if address else "true",
    )


def pictures(here: Here, view: SampleView, door: Callable[[str], str]) -> Html:
    """Draw a sample's pictures with the criteria's regions; `door` leads to a criterion by id."""
    slots = view.sample.pictures
    if not slots:
        return el("div", el("p", "This sample has no picture.", class_="quiet"))
    return el(
        "div",
        [
            _one_picture(here, view, door, number, slot)
            for number, slot in enumerate(slots, start=1)
        ],
        class_="several" if len(slots) > 1 else None,
        style="display:flex;flex-direction:column;gap:10px",
    )


def _one_picture(
    here: Here, view: SampleView, door: Callable[[str], str], number: int, slot: PictureSlot
) -> Html:
    address, file = None, None
    if slot.picture_id is not None:
        file = read_picture(here.store, slot.picture_id)
        address = media_address(file, f"picture.{view.sample.id}.{number}")
    if address is None:
        return missing(slot.name, here.entry.key)
    marks = [
        Mark(
            number=criterion.number,
            light=criterion.criterion.id,
            box=region.box,
            words=criterion.criterion.question,
            href=door(criterion.criterion.id),
        )
        for criterion in view.criteria
        for region in criterion.regions
        if region.picture == number
    ]
    chosen = view.criterion.criterion.id if view.criterion else None
    total = len(view.sample.pictures)
    label = f"Picture {number:,} of {total:,}" if total > 1 else "Picture"
    return el(
        "div",
        picture(
            address,
            f"{label} of the question: {view.sample.question[:120]}",
            marks,
            chosen,
            file.size if file else None,
        ),
        el("p", f"{label}: {slot.name}" if slot.name else label, class_="caption")
        if total > 1
        else None,
    )


def question(view: SampleView) -> Html:
    """Write the question, its choices and the reference answer."""
    sample = view.sample
    choices = [
        el(
            "li",
            kit.quiet(f"{chr(65 + number)}"),
            el("span", choice, class_="text strong" if choice == sample.reference else "text"),
            kit.small("reference") if choice == sample.reference else None,
        )
        for number, choice in enumerate(sample.choices[:26])
    ]
    known = sample.reference is not None
    reference = el("span", sample.reference or "none given", class_="text" if known else "quiet")
    marked = known and sample.reference in sample.choices
    return el(
        "div",
        el("h2", "Question", style="margin-bottom:4px"),
        el("p", sample.question, class_="text"),
        el("ol", choices, class_="choices") if choices else None,
        el(
            "dl",
            el("dt", kit.term("reference answer", "Reference")),
            el("dd", reference),
            class_="pairs",
            style="margin-top:8px",
        )
        if not marked
        else None,
    )


def _criteria(here: Here, view: SampleView, doors: _Doors) -> Html:
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

    def model(answer: AnswerView, short: str) -> kit.Column[CriterionView]:
        chosen = answer.response.id == shown
        return kit.Column(
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
            kit.score_legend(ours=here.data.table.ours),
            class_="row",
            style="justify-content:space-between;margin-bottom:4px",
        ),
        kit.grid(
            view.criteria,
            kit.Column("#", lambda item: kit.quiet(item.number)),
            kit.Column(
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
            kit.Column(
                kit.term("ground truth", "Truth"),
                lambda item: el("span", item.criterion.ground_truth, class_="text"),
                width="15%",
            ),
            kit.Column("Capability", _leaf, broad=True),
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


def _beside(point: Checkpoint) -> str:
    """Say what a mark says beside its score: silence, or an error carried forward."""
    if point.addressed is False:
        return "not said: held against no capability"
    return "carried: wrong only because an earlier step was" if point.carried else ""


def mark_chip(here: Here, mark: CheckpointView | None, chosen: bool) -> Html:
    """Draw a checkpoint's score, or the glyph of what it is instead."""
    if mark is None or mark.checkpoint is None:
        return kit.score_chip(None, glyph="…", note="still to be scored", chosen=chosen)
    checkpoint = mark.checkpoint
    name = here.data.candidates[mark.colour].name
    words = checkpoint.reason or checkpoint.detail
    state = checkpoint.state.replace("_", " ")
    each = ", ".join(f"{one.judge.name} {one.mark.label}" for one in mark.panel)
    differ = f"≠ judges differ: {each}" if mark.apart else ""
    told = [f"{name}: {state}", _beside(checkpoint), mark.spread, differ, words[:300]]
    note = "\n".join(line for line in told if line)
    label = f"{mark.label}≠" if mark.apart else mark.label
    return kit.score_chip(mark.near, text=label, glyph=label, note=note, chosen=chosen)


# --- answer and reason -------------------------------------------------------------------------


def _answer(here: Here, view: SampleView, doors: _Doors) -> Html:
    answer = view.answer
    if answer is None:
        return el("div", el("h2", "Answer"), el("p", "No model has answered it.", class_="quiet"))
    spans = []
    for item in view.criteria:
        for mark in item.marks:
            point = mark.checkpoint
            if point and point.span and point.response_id == answer.response.id:
                spans.append(
                    kit.Span(start=point.span[0], end=point.span[1], light=item.criterion.id,
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
        _thoughts(answer),
    )


def _thoughts(answer: AnswerView) -> Html | None:
    """Show what the model thought before it answered, folded: no judge reads it."""
    thoughts = answer.response.thoughts
    if not thoughts:
        return None
    said = kit.said(thoughts, lights=False)
    return kit.fold("What it thought first (not judged)", said)


CAUSES = {
    "refused": "the model refused",
    "filtered": "a content filter stopped it",
    "cut": "cut by the token limit",
    "empty": "nothing came",
}


def answer_text(answer: AnswerView, spans: Sequence[kit.Span] = ()) -> Html:
    """Show an answer as plain text, or why there is none."""
    response = answer.response
    if response.state == "scored" and not response.text and response.detail:
        return el("p", kit.told(f"{response.detail}."), class_="quiet text")
    if response.state == "scored":
        return kit.said(response.text, spans)
    state: kit.Status = "unscored" if response.state == "unscored" else "failed"
    why = CAUSES.get(response.cause, response.state)
    return join(
        kit.status(state, f"no answer ({why})"),
        el("p", kit.told(response.detail), class_="text quiet"),
    )


def verdict(outcomes: Sequence[Outcome]) -> str:
    """Say whether a final answer is right, and who says so."""
    known = [outcome for outcome in outcomes if outcome.value is not None]
    if not known:
        return "final answer not marked right or wrong"
    words = []
    for outcome in known:
        value = outcome.value or 0.0
        word = "right" if value >= 1 else "wrong" if value <= 0 else f"{numbers.share(value)} right"
        words.append(f"final answer {word} ({outcome.how})")
    return ", ".join(dict.fromkeys(words))


def _why(here: Here, view: SampleView) -> Html | None:
    if view.criterion is None or view.answer is None:
        return None
    return why(here, view, view.criterion, view.mark, view.answer.candidate.name)


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
        shown: Html = kit.score_chip(mark.near, text=mark.label)
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
            kit.small(_beside(point)) if _beside(point) else None,
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
                kit.score_chip(one.mark.near, text=one.mark.label, glyph=one.mark.label),
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
    raw = call and kit.fold("Raw reply", kit.said(call.reply or call.error or "", lights=False))
    pairs = el("dl", [(el("dt", a), el("dd", b)) for a, b in facts], class_="pairs")
    return el("div", raw, kit.fold("Judge and prompt", pairs), class_="folds")


def _side_by_side(view: SampleView, doors: _Doors) -> Html | None:
    if len(view.answers) < 2:
        return None
    cards = [
        el(
            "div",
            el(
                "div",
                kit.door(
                    kit.model(answer.candidate.name, answer.colour),
                    doors.answer(answer.candidate.id),
                ),
                kit.small(answer.score_words),
                kit.small(verdict(answer.outcomes)),
                class_="row",
                style="margin-bottom:4px",
            ),
            answer_text(answer),
        )
        for answer in view.answers
    ]
    every = "Both" if len(cards) == 2 else f"All {len(cards)}"
    title = f"{every} answers side by side"
    return kit.fold(title, el("div", cards, class_="answers"))


def _replay(replay: Replay | None) -> Html | None:
    if replay is None:
        return None
    if replay.state != "scored":
        state: kit.Status = "unscored" if replay.state == "unscored" else "failed"
        return el("div", kit.status(state, f"the judge's own solution is {replay.state}"),
                  el("p", kit.told(replay.detail), class_="text quiet"))  # fmt: skip
    agrees = {True: "agrees with the reference", False: "disagrees with the reference", None: ""}
    steps = [el("li", el("span", step.text, class_="text")) for step in replay.steps]
    return kit.fold(
        "The judge's own solution (replay)",
        el(
            "div",
            el("ol", steps, style="margin:0;padding-left:20px"),
            el("p", "Final answer: ", el("span", replay.final_answer, class_="text strong"), " ",
               kit.small(agrees[replay.agrees]), style="margin-top:8px"),
            class_="said",
            style="white-space:normal",
        ),
    )  # fmt: skip

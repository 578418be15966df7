"""An answer as it was given, or why there is none, and whether it is right."""

from __future__ import annotations

from collections.abc import Sequence

from atom.display import numbers
from atom.records import Outcome
from atom.ui import kit
from atom.ui import said as ui_said
from atom.ui.failures.doors import SampleDoors
from atom.ui.html import Html, el, join
from atom.views.failures.sample import AnswerView, SampleView


def thoughts(answer: AnswerView) -> Html | None:
    """Show what the model thought before it answered, folded: no judge reads it."""
    thoughts = answer.response.thoughts
    if not thoughts:
        return None
    said = ui_said.said(thoughts, lights=False)
    return kit.fold("What it thought first (not judged)", said)


CAUSES = {
    "refused": "the model refused",
    "filtered": "a content filter stopped it",
    "cut": "cut by the token limit",
    "empty": "nothing came",
}


def answer_text(answer: AnswerView, spans: Sequence[ui_said.Span] = ()) -> Html:
    """Show an answer as plain text, or why there is none."""
    response = answer.response
    if response.state == "scored" and not response.text and response.detail:
        return el("p", kit.told(f"{response.detail}."), class_="quiet text")
    if response.state == "scored":
        return ui_said.said(response.text, spans)
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


def side_by_side(view: SampleView, doors: SampleDoors) -> Html | None:
    """Fold all answers side by side, where there are several."""
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
    title = f"{numbers.every(len(cards), 'answers')} side by side"
    return kit.fold(title, el("div", cards, class_="answers"))

"""Around the deck of labels: how far a person is, how well people agree, the end."""

from __future__ import annotations

import math

from atom.display import numbers
from atom.ui import kit
from atom.ui.html import Child, Html, el, join
from atom.ui.people.desk import Desk
from atom.ui.people.guides import GUIDES, KIND_WORDS, SCORE_WORDS
from atom.views.people.annotations import KindAgreement
from atom.views.people.page import (
    KINDS,
)


def top(desk: Desk) -> Html:
    """Draw how far this has come, and how far people agree, now."""
    progress = desk.progress()
    words: list[Child] = [el("span", numbers.count(progress.mine, "label"), " by you here")]
    if progress.skipped:
        words.append(el("span", f"{progress.skipped:,} skipped"))
    if desk.queue == "scores":
        few = progress.there < progress.wanted
        wanted = min(progress.there, progress.wanted)
        share = 100 * min(progress.whole / max(wanted, 1), 1)
        done = f"{progress.whole:,} of {progress.wanted:,} samples needed for human calibration"
        if progress.whole >= progress.wanted:
            done = f"{numbers.count(progress.whole, 'whole sample')}: enough for human calibration"
        elif few:
            done = f"{progress.whole:,} of {numbers.count(progress.there, 'sample')} labelled"
        if desk.only:
            done += " for this model"
        if progress.whole < progress.wanted and progress.keys:
            done += f": about {numbers.count(progress.keys, 'more label')}, a key each"
        if few:
            done += f"; human calibration needs {progress.wanted:,} samples, more than are here"
        words.insert(0, kit.strong(done))
        words.insert(0, el("span", el("i", style=f"width:{share:.0f}%"), class_="progress",
                           role="img", aria_label=done))  # fmt: skip
    kinds = KINDS[desk.queue] if desk.queue != "conflicts" else ()
    words += [kit.quiet(agreement_words(desk.agreement(kind))) for kind in kinds]
    return el("div", words, class_="standing", data_progress=progress.mine)


def agreement_words(found: KindAgreement) -> str:
    """Say in one line how far people agree on a kind of label."""
    name = KIND_WORDS[found.kind]
    if found.people < 2 or not found.both:
        return f"{name}: a second person's labels will show agreement" if found.labels else ""
    figures = [f"{name}: {numbers.share(found.exact)} equal on {found.both}"]
    if not math.isnan(found.kappa):
        figures.append(f"kappa {found.kappa:.2f}")
    if not math.isnan(found.alpha):
        figures.append(f"alpha {numbers.plain(found.alpha)}")
    if found.conflicts:
        figures.append(numbers.count(found.conflicts, "conflict"))
    return ", ".join(figures)


def foot(desk: Desk) -> Html:
    """Draw the keys and the guidelines."""
    digits = {"scores": "1..5", "criteria": "1..3", "errors": "1..9", "ranking": "1..9",
              "pairs": "1..3", "own": "1..9", "reports": "1..9",
              "conflicts": "1..9"}[desk.queue]  # fmt: skip
    keys = [(digits, "place" if desk.queue == "ranking" else "label, and next")]
    if desk.queue in ("ranking", "conflicts"):
        keys += [("T", "tie"), ("Enter", "keep the ranking")]
    else:
        keys.append(("Enter", "next"))
    keys += [("J", "next"), ("K", "back"), ("S", "skip"), ("U", "undo"), ("?", "guidelines")]
    if not desk.items:
        keys = []
    hints = [el("span", el("kbd", key), words) for key, words in keys]
    lines = [el("li", line) for line in GUIDES[desk.queue]]
    scale = None
    if desk.queue in ("scores", "conflicts"):
        marks = [el("li", f"{at + 1}: {words}") for at, words in enumerate(SCORE_WORDS)]
        scale = el("ul", list(reversed(marks)), style="list-style:none;padding:0")
    guide = el("div", el("ul", lines), scale, class_="guide")
    return join(
        el("div", hints, class_="hints", aria_label="Keys") if hints else None,
        kit.fold("Guidelines", guide),
    )


def end(desk: Desk) -> Html:
    """Say that nothing is left, and what to do next."""
    progress = desk.progress()
    again = el("button", el("kbd", "Enter"), el("span", "take up what was skipped"),
               type="button", class_="key", data_press="again")  # fmt: skip
    if desk.items:
        what = "Nothing is left here"
        next_ = {
            "scores": "Every checkpoint has your label. A second person's labels show how far "
            "people agree; where they differ, a third settles it under Conflicts.",
            "conflicts": "All conflicts that you can settle are settled.",
            "reports": matched_words(desk),
        }.get(desk.queue, "Everything here has your label. A second person's show agreement.")
    else:
        what, next_ = _nothing(desk)
    return kit.empty(what, next_, *((again,) if progress.skipped and not desk.again else ()))


def matched_words(desk: Desk) -> str:
    """Say how many reports were matched rightly, and how many guessing would match."""
    given = [label for item in desk.items if (label := desk.mine(item)) is not None]
    said = [label for label in given if label.state == "given"]
    if not said:
        return "You skipped all reports."
    right = sum(label.label == label.subject_id for label in said)
    luck = len(said) / max(len(desk.profile_order), 1)
    return (
        f"{right:,} of {len(said):,} reports are matched rightly; guessing would match about "
        f"{luck:.1f}."
    )


def _nothing(desk: Desk) -> tuple[str, str]:
    if desk.queue == "conflicts":
        if desk.own_conflicts:
            return (
                f"{numbers.count(desk.own_conflicts, 'conflict')} between you and somebody else",
                "A third person settles them: have somebody else open this page with their name.",
            )
        return ("No conflicts", "They appear here when two people label the same thing otherwise.")
    if desk.queue == "errors":
        return (
            "Nothing to explain yet",
            "Give scores first: where yours and the judge's lie a point or more apart, this asks "
            "why.",
        )
    if desk.queue == "reports":
        return ("No reports to match", "This needs two models with scores and a capability tree.")
    if desk.queue == "pairs":
        return (
            "No hard pairs yet",
            "Judge lab, Hard pairs, has weak judges vote on pairs of answers; what they fail at "
            "comes here to be confirmed.",
        )
    if desk.queue == "ranking":
        return ("Nothing to rank", "No sample has two answers. Add another model's answers first.")
    return (
        "Nothing to label yet",
        "No answer of this study is scored. Let a judge score it first (Runs), then come back.",
    )

"""Self-correction round by round: what it costs, whose gates held, how answers rose."""

from __future__ import annotations

import math

from atom.analysis.correction.effects import Cost
from atom.analysis.correction.quality import Rise
from atom.display import numbers
from atom.display.numbers import money
from atom.records import Arm
from atom.ui import kit
from atom.ui.correction.doors import ExperimentDoors
from atom.ui.html import Child, Html, el, join
from atom.views.correction.form import ARM_WORDS
from atom.views.correction.page import Results


def rounds(found: Results, doors: ExperimentDoors) -> Html | None:
    """Draw what each round fixed, with the choice of how many count."""
    if found.experiment.rounds < 2:
        return None
    last = found.experiment.rounds
    choices = [
        (
            f"after {number}",
            ExperimentDoors(
                filters=doors.filters,
                experiment=doors.experiment,
                tries=None if number == last else str(number),
            ).tab(None),
            number == found.tries,
        )
        for number in range(1, last + 1)
    ]
    after = {(row.arm, row.round): row for row in found.rounds}

    def standing(arm: Arm, number: int) -> Html:
        row = after.get((arm, number))
        if row is None:
            return kit.quiet(numbers.NONE)
        share = numbers.percent(100 * row.standing.value, row.standing.n)
        return join(share, kit.small(f" · {row.new} new"))

    return el(
        "section",
        el(
            "div",
            el("h2", "Round by round", style="margin:0"),
            kit.small("figures on this page:"),
            kit.tabs(choices, label="Rounds that count"),
            class_="row",
            style="margin-bottom:5px",
        ),
        kit.grid(
            dict.fromkeys(row.arm for row in found.rounds),
            kit.MarkupColumn("Right after", lambda arm: ARM_WORDS[arm].name),
            *kit.each(
                sorted({row.round for row in found.rounds}),
                lambda number: f"round {number}",
                standing,
            ),
            label="Rounds",
        ),
        kit.note(
            "Another round is another draw of luck, in every arm. “New” are answers right for "
            "the first time."
        ),
    )


def costs_and_gates(found: Results) -> Html | None:
    """Draw what it costs and what the leak gates did, side by side."""
    pieces = [piece for piece in (costs(found), gates(found)) if piece is not None]
    return el("div", pieces, class_="figures") if pieces else None


def costs(found: Results) -> Html | None:
    """Draw what a recovered answer costs."""
    if not found.costs:
        return None
    if all(cost.arm_cost == 0 == cost.control_cost for cost in found.costs):
        return kit.section(
            "What a recovered answer costs",
            el("p", "Nothing was paid: only free endpoints were asked.", class_="quiet"),
        )
    return kit.section(
        "What a recovered answer costs",
        kit.grid(
            found.costs,
            kit.MarkupColumn(
                "Feedback",
                lambda cost: join(
                    ARM_WORDS[cost.arm].name,
                    kit.under(f"against {ARM_WORDS[cost.control].name}"),
                ),
                width="34%",
            ),
            kit.number("An answer", lambda cost: _usd(cost.arm_cost)),
            kit.number("Its control", lambda cost: _usd(cost.control_cost)),
            kit.number("A recovered answer", lambda cost: _per_point(cost)),
            label="Costs",
        ),
    )


def _usd(value: float) -> str:
    return "unknown" if math.isnan(value) else money(value)


def _per_point(cost: Cost) -> Html:
    if math.isnan(cost.per_point):
        return kit.quiet("unknown")
    if math.isinf(cost.per_point):
        return kit.quiet("recovers none")
    if cost.per_point == 0:
        return el("span", "free")
    ends = [money(end) if math.isfinite(end) else "no end" for end in (cost.lo, cost.hi)]
    return join(money(cost.per_point), kit.under(" to ".join(ends)))


def gates(found: Results) -> Html | None:
    """Draw what the leak gates did."""
    counts = found.gates
    if not counts.any:
        return None
    facts = [
        (counts.written, "hints written"),
        (counts.leaked, "gave something away"),
        (counts.again, "written again for it"),
        (counts.dropped, "left out of a feedback"),
        (counts.no_peer, "steps that no peer had passed"),
        (counts.questions, "questions left out: they give their own answer away"),
        (counts.held, "feedbacks held back whole"),
        (counts.failed, "hints whose call failed"),
    ]
    rows = [(el("dt", f"{n:,}", class_="num"), el("dd", words)) for n, words in facts if n]
    return kit.section(
        kit.term("leak gate", "What the leak gates did"),
        el("dl", rows, class_="pairs"),
    )


def quality(found: Results) -> Html | None:
    """Draw the failed steps' scores before and after."""
    if not found.quality:
        return None
    return kit.section(
        "The steps themselves, before and after",
        kit.grid(
            found.quality,
            kit.MarkupColumn(
                "Failed steps, mean score 1–5", lambda one: ARM_WORDS[one.arm].name, width="27%"
            ),
            kit.number("Steps", lambda one: f"{one.n:,}"),
            kit.number("Chosen by", lambda one: _score(one.before)),
            kit.number(
                kit.term("independent judgement", "Judged again"),
                lambda one: _score(one.baseline),
            ),
            kit.number("After", lambda one: _score(one.after)),
            kit.number("Rise (95 %)", _rise),
            kit.number("Too much by", lambda one: _signed(one.bias), broad=True),
            label="Scores of failed steps",
        ),
        kit.note(
            "A step was chosen since it scored low, so it rises when it's merely judged again. "
            "The rise is therefore counted from an independent judgement of the old answer; “too "
            "much by” is what counting from the first score would add.",
            style="margin-top:4px",
        ),
    )


def _score(value: float) -> Child:
    return f"{value:.2f}" if math.isfinite(value) else kit.quiet(numbers.NONE)


def _signed(value: float) -> Child:
    return numbers.signed(value, 2) if math.isfinite(value) else kit.quiet(numbers.NONE)


def _rise(one: Rise) -> Child:
    if not math.isfinite(one.rise):
        return _signed(one.rise)
    known = math.isfinite(one.lo) and math.isfinite(one.hi)
    ends = f" ({numbers.signed_ends(one.lo, one.hi, 2)})" if known else ""
    return join(_signed(one.rise), kit.small(ends))

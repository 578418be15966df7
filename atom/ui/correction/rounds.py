"""Self-correction round by round: what it costs, whose gates held, how answers rose."""

from __future__ import annotations

import math

from atom.analysis.correction.effects import Cost
from atom.analysis.correction.quality import Rise
from atom.display import numbers
from atom.ui import kit
from atom.ui.correction.parts import Doors
from atom.ui.html import Child, Html, el, join
from atom.views.correction.form import ARM_WORDS
from atom.views.correction.page import Results
from atom.views.runs.page import money


def rounds(found: Results, doors: Doors) -> Html | None:
    """Draw what each round fixed, with the choice of how many count."""
    if found.experiment.rounds < 2:
        return None
    last = found.experiment.rounds
    choices = [
        (
            f"after {number}",
            Doors(
                filters=doors.filters,
                experiment=doors.experiment,
                tries=None if number == last else str(number),
            ).tab(None),
            number == found.tries,
        )
        for number in range(1, last + 1)
    ]
    numbers_ = sorted({row.round for row in found.rounds})
    columns = [
        kit.Head(title="Right after"),
        *(kit.Head(title=f"round {number}", number=True) for number in numbers_),
    ]
    names = list(dict.fromkeys(row.arm for row in found.rounds))
    cell = {(row.arm, row.round): row for row in found.rounds}
    rows = []
    for arm in names:
        marks: list[Child] = []
        for number in numbers_:
            row = cell.get((arm, number))
            if row is None:
                marks.append(kit.quiet(numbers.NONE))
                continue
            share = numbers.percent(100 * row.standing.value, row.standing.n)
            marks.append(join(share, kit.small(f" · {row.new} new")))
        rows.append(kit.Row(cells=[ARM_WORDS[arm].name, *marks]))
    return el(
        "section",
        el("div", el("h2", "Round by round", style="margin:0"),
           kit.small("figures on this page:"),
           kit.tabs(choices, label="Rounds that count"), class_="row",
           style="margin-bottom:5px"),
        kit.table(columns, rows, label="Rounds", tight=True),
        kit.note("Another round is another draw of luck, in every arm. “New” are answers right for "
           "the first time."),
    )  # fmt: skip


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
            kit.Column(
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
    columns = [
        kit.Head(title="Failed steps, mean score 1–5", width="27%"),
        kit.Head(title="Steps", number=True),
        kit.Head(title="Chosen by", number=True),
        kit.Head(title=kit.term("independent judgement", "Judged again"), number=True),
        kit.Head(title="After", number=True),
        kit.Head(title="Rise (95 %)", number=True),
        kit.Head(title="Too much by", number=True, broad=True),
    ]
    rows = [kit.Row(cells=_rise(rise)) for rise in found.quality]
    return kit.section(
        "The steps themselves, before and after",
        kit.table(columns, rows, label="Scores of failed steps", tight=True),
        kit.note(
            "A step was chosen since it scored low, so it rises when it's merely judged again. "
            "The rise is therefore counted from an independent judgement of the old answer; “too "
            "much by” is what counting from the first score would add.",
            style="margin-top:4px",
        ),
    )


def _rise(rise: Rise) -> list[Child]:
    none = kit.quiet(numbers.NONE)

    def score(value: float) -> Child:
        return f"{value:.2f}" if math.isfinite(value) else none

    known = math.isfinite(rise.lo) and math.isfinite(rise.hi)
    ends = f" ({numbers.signed_ends(rise.lo, rise.hi, 2)})" if known else ""
    return [
        ARM_WORDS[rise.arm].name,
        f"{rise.n:,}",
        score(rise.before),
        score(rise.baseline),
        score(rise.after),
        join(numbers.signed(rise.rise, 2), kit.small(ends)) if math.isfinite(rise.rise) else none,
        numbers.signed(rise.bias, 2) if math.isfinite(rise.bias) else none,
    ]

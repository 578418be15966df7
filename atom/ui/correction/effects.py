"""The answer of an experiment, and what each kind of feedback adds to its control."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from atom.analysis.correction.effects import Effect
from atom.display import numbers
from atom.display.estimate import Estimate
from atom.ui import kit
from atom.ui.correction.doors import ExperimentDoors, opening
from atom.ui.html import Child, Html, el, join
from atom.views.correction.cases import CaseQuery, write_query
from atom.views.correction.effect_table import (
    ARM_ONLY,
    BAR,
    CONCLUSION,
    CONTROL_ONLY,
    EFFECT,
    PAIRS,
    POINTS,
    apart_words,
    effect_table,
    points,
)
from atom.views.correction.form import ARM_WORDS, EFFECT_WORDS, RULE_WORDS
from atom.views.correction.page import Results

_VERDICTS: dict[str, tuple[str, str, str]] = {
    "gain": ("▲", "strong-at", "More than its control, beyond chance, with all effects of this "
             "experiment allowed for."),
    "worse": ("▼", "weak", "Less than its control, beyond chance."),
    "no gain shown": ("·", "", "The difference may be chance: more answers would tell."),
    "luck, not a gain": ("≈", "", "It comes without any feedback, so no feedback may claim it."),
    "ceiling, not a gain": ("≈", "", "The truth was shown; feedback can't do more."),
    "beyond Re-eval, not a gain": ("≈", "", "More than hearing only that the answer is wrong, "
                                   "which asks about no step: it doesn't say that the diagnosis "
                                   "did it."),
    "too few pairs": ("○", "", "Under five independent answers can be compared."),
    "refused: no control ran": ("⊘", "weak", "An arm is never called a gain without its control."),
}  # fmt: skip


def verdict(effect: Effect) -> Html:
    """Write what may be said of an effect: a glyph and a word."""
    glyph, class_, tip = _VERDICTS[effect.verdict]
    return el(
        "span",
        el("span", glyph, class_="glyph", aria_hidden="true"),
        effect.verdict.replace("Re-eval", "being told"),
        class_=f"status {class_}",
        data_tip=tip,
    )


def effects(found: Results, doors: ExperimentDoors) -> Html:
    """Draw the effects as a forest, then the paper's gain by itself."""
    order = {"value": 0, "control": 1, "ceiling": 2, "printed": 3}
    ordered = sorted(found.effects, key=lambda effect: order[effect.role])
    span = half_width((*found.effects, *found.printed))
    parts: list[Child] = []
    if ordered:
        parts += [
            el("h2", "What each adds to its control, on the same answers"),
            _forest(ordered, doors, span, "Effects with their controls"),
            _apart(found, doors),
        ]
    if found.printed:
        parts += [
            el(
                "h2",
                kit.term("gain as printed", "The gain as the paper prints it"),
                ": not controlled",
                style="margin-top:16px",
            ),
            el("p", "Held against being told alone, which asks nothing. Whatever a long message "
               "does by itself is in it.", class_="quiet small", style="margin-bottom:4px"),
            _forest(found.printed, doors, span, "The paper's gain"),
        ]  # fmt: skip
    return el("section", parts)


def half_width(found: Sequence[Effect]) -> float:
    """Return half the width of the scale, a round number of points."""
    ends = [abs(100 * end) for e in found for end in (e.lo, e.hi, e.estimate) if math.isfinite(end)]
    most = max(ends, default=25.0)
    return next((float(size) for size in (10, 25, 50, 75) if most <= size), 100.0)


def _forest(found: Sequence[Effect], doors: ExperimentDoors, span: float, label: str) -> Html:
    def only(came: str, number: int, effect: Effect, what: str) -> Html:
        return opening(number, _pairs(doors, effect, came), what)

    cells: dict[str, Callable[[Effect, str], Child]] = {
        EFFECT: lambda one, _: _effect_name(one),
        BAR: lambda one, _: effect_bar(one.estimate, one.lo, one.hi, span),
        POINTS: lambda one, _: estimate(points(one)),
        PAIRS: lambda one, _: only("pairs", one.n, one, f"{one.name}: pairs"),
        ARM_ONLY: lambda one, _: only("first", one.arm_only, one, "only the arm right"),
        CONTROL_ONLY: lambda one, _: only(
            "second", one.control_only, one, "only the control right"
        ),
        CONCLUSION: lambda one, _: verdict(one),
    }
    return kit.drawn(effect_table(found, label), cells=cells, heads={BAR: axis(span)})


def _effect_name(effect: Effect) -> Html:
    words = EFFECT_WORDS[effect.name]
    arm, control = ARM_WORDS[effect.arm], ARM_WORDS[effect.control]
    role = {"control": " · a control", "ceiling": " · a ceiling"}.get(effect.role, "")
    return join(
        el("span", words.name, class_="term strong", tabindex="0", data_tip=words.meaning),
        kit.small(role),
        kit.under(
            el("span", arm.name, class_="term", data_tip=arm.meaning),
            " against ",
            el("span", control.name, class_="term", data_tip=control.meaning),
        ),
    )


def _pairs(doors: ExperimentDoors, effect: Effect, came: str) -> str:
    query = write_query(CaseQuery(effect=effect.name))
    return doors.tab("cases", **{**query, "came": came})


def estimate(one: Estimate) -> Html:
    """Write a difference in points over its interval."""
    if not one.ends:
        return el("span", one.text, class_=None if one.known else "quiet")
    return join(kit.strong(one.text), kit.under(one.ends))


def axis(span: float) -> Html:
    """Write the scale that effects are drawn on."""
    return el(
        "span",
        el("span", f"−{span:.0f}"),
        el("span", "◂ worse"),
        el("span", "0"),
        el("span", "better ▸"),
        el("span", f"+{span:.0f}"),
        class_="axis",
    )


def effect_bar(value: float, lo: float, hi: float, span: float) -> Html:
    """Draw a difference of shares with its interval about zero.

    Args:
        value: the difference, -1..1.
        lo: lower end of its interval; NaN = none.
        span: half the width of the scale, in points.
    """

    def at(share: float) -> str:
        return f"{50 + 50 * max(-1.0, min(1.0, 100 * share / span)):.2f}%"

    lines = [
        el("line", class_="track", x1="0", x2="100%", y1="9", y2="9"),
        el("line", class_="zero", x1="50%", x2="50%", y1="0", y2="18"),
    ]
    if not math.isfinite(value):
        return el("svg", lines, class_="bar effect", role="img", aria_label="no value")
    side = "up" if value >= 0 else "down"
    if math.isfinite(lo) and math.isfinite(hi):
        lines.append(el("line", class_=f"span {side}", x1=at(lo), x2=at(hi), y1="9", y2="9"))
    lines.append(el("circle", class_=f"mid {side}", cx=at(value), cy="9", r="4.5"))
    words = f"{numbers.points(value)} points, interval {numbers.points_ends(lo, hi)}"
    return el("svg", lines, class_="bar effect", role="img", aria_label=words)


def _apart(found: Results, doors: ExperimentDoors) -> Html | None:
    """Say who couldn't be paired."""
    effect = next((e for e in found.effects if e.apart), None)
    if effect is None:
        return None
    query = CaseQuery(effect=effect.name, came="apart")
    return kit.note(
        kit.door(numbers.count(effect.apart, "answer"), doors.cases(query)),
        f" {apart_words(effect.apart)}",
        style="margin-top:5px",
    )


def what(found: Results) -> str:
    """Say what an experiment does, in words."""
    asked = found.experiment
    where = f" under {asked.node[-1]}" if asked.node else ""
    tries = f", up to {asked.rounds:,} rounds" if asked.rounds > 1 else ""
    right = f", {numbers.count(found.right, 'right one')}" if found.right else ""
    tried = found.tried  # in words, "12 of 40" while it runs
    rule = RULE_WORDS[asked.failed_rule]
    return f"{found.model}'s {rule}{where}: {tried} tried again{right}{tries}"


def answer(found: Results, *, alive: bool) -> Html:
    """Draw the answer to the page's question."""
    said = found.headline
    notes = []
    if alive:
        notes.append("So far: the experiment isn't over.")
    if said.luck:
        notes.append(said.luck)
    if not found.controlled and found.arms:
        notes.append(
            "No gain is claimed: judging the old answers again and another try without feedback "
            "didn't both run."
        )
    notes += _net_words(found)
    return el(
        "div",
        el("p", said.sentence, class_="strong", style="font-size:17px;line-height:1.35"),
        el("p", " ".join(notes), class_="text") if notes else None,
        class_="notice",
        style="font-size:var(--body);padding:10px 14px;display:flex;flex-direction:column;gap:5px",
    )


def _net_words(found: Results) -> list[str]:
    words = []
    if found.broken.n:
        share = numbers.percent(100 * found.broken.value, found.broken.n)
        words.append(f"It broke {share} of {found.broken.n:,} right answers.")
    if found.net is not None:
        net = found.net
        words.append(
            "Applied to every answer, right or wrong, this feedback would change accuracy by "
            f"{numbers.points_interval(net.value, net.lo, net.hi)} points, chance included."
        )
    return words

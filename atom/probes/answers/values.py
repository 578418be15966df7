"""What an answer says of each step: a value, a vague one, two of them, nothing of use, or nothing.

Misses keep the form of the truth (decimals, currency, `h:mm`) and stay in their band. A slip is
*inherited*: what rests on a value that was stated wrong is stated as it follows from that value, so
an answer never contradicts itself, and the step counts as carried.

Reference: METHODS T1, T2, D2; PROBES "How an answer is made and read back", "Coherence".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from atom.probes.answers.derivation import (
    NUMBER,
    RIGHT,
    Value,
    derive,
    follows,
    printed_scale,
    wrapped,
    write_value,
)
from atom.probes.draws import Draws
from atom.probes.program import Band, Program, ProgramStep, band

Silence = Literal["unable", "unsaid"]
"""How an answer is silent on a step: it says that it can't tell, or nothing."""
Form = Literal["plain", "vague", "either", "passing", "unable", "unsaid"]
"""How a step is said: its value; the value without a detail; one of two values; the step without a
result; that it can't be told; not at all."""

_PER_SIDE = 6
"""Values offered on each side of the truth."""


@dataclass(frozen=True, kw_only=True)
class PlantedMark:
    """What an answer is worth on a step.

    Reference: METHODS T1 (score, addressed), T2 (carried).
    """

    score: int
    """1..5 on the scale of ATOM's appendix D."""
    addressed: bool = True
    """Whether the answer says anything about the step."""
    carried: bool = False
    """Whether it is wrong only because an earlier step is: it follows from what was stated."""


@dataclass(frozen=True, kw_only=True)
class StatedValue:
    """A value that an answer states."""

    value: Value
    text: str
    either: str | None = None
    """Set where the answer says "either A or B": the other value's text."""


@dataclass(frozen=True, kw_only=True)
class AnswerPlan:
    """What an answer says, step by step."""

    marks: Mapping[str, PlantedMark]
    """What the text will carry: what was drawn or the nearest that can be written, except where a
    slip is inherited or the step is passed over in silence."""
    forms: Mapping[str, Form]
    stated: Mapping[str, StatedValue]
    """Nothing for a step without a value."""
    coherent: frozenset[str]
    """Derived steps whose value follows from the stated ones."""

    @property
    def scores(self) -> Mapping[str, int]:
        """The scores that the text will carry."""
        return {name: mark.score for name, mark in self.marks.items()}


def values_in_band(step: ProgramStep, wanted: Band) -> tuple[Value, ...]:
    """List values that an answer could state for a step so that they fall in the band.

    Returns:
        At most a dozen values; none where the step has no such value (a near miss of a yes/no).
    """
    if wanted == "exact":
        return (step.truth,) if step.value is None else (step.value,)
    if step.kind in ("cat", "text"):
        return tuple(o for o in step.options if band(step, o) == wanted)
    assert step.value is not None
    grain = _grain(step)
    inner = step.tolerance if wanted == "near" else step.near
    outer = step.near if wanted == "near" else max(step.near * 3, inner + 4 * grain)
    if step.modulus:
        outer = min(outer, step.modulus / 2)
    first = int(inner / grain + 1e-9) + 1
    last = int(outer / grain + 1e-9)
    stride = max((last - first + 1) // _PER_SIDE, 1)
    found: list[Value] = []
    for count in range(first, last + 1, stride):
        for value in (step.value + count * grain, step.value - count * grain):
            made = wrapped(step, round(value, 6))
            legal = made >= (grain if step.value >= 0 else float("-inf"))
            if legal and band(step, made) == wanted:
                found.append(made)
    return tuple(dict.fromkeys(found))


def _grain(step: ProgramStep) -> float:
    if step.kind == "time" and ":" in step.truth:
        return 1.0 if step.near < 30 else 5.0
    hit = NUMBER.search(step.truth)
    decimals = len(hit.group().partition(".")[2]) if hit else 0
    return printed_scale(step) * 10.0**-decimals


def _offer(step: ProgramStep, score: int) -> tuple[Form, tuple[Value, ...]]:
    """Return the form that carries a score, with the values to choose among.

    A score that no value of the step can carry becomes the nearest that can: a near miss of a step
    without one is "either A or B"; a far miss of a step without one is a near miss.
    """
    if score == 2:
        return "passing", ()
    if score >= RIGHT:
        return ("plain" if score == 5 else "vague"), values_in_band(step, "exact")
    near, far = values_in_band(step, "near"), values_in_band(step, "far")
    if score == 3:
        return ("plain", near) if near else ("either", far) if far else ("passing", ())
    values = far or near
    return ("plain", values) if values else ("passing", ())


def choose_values(
    program: Program,
    scores: Mapping[str, int],
    draws: Draws,
    *,
    silent: Mapping[str, Silence] | None = None,
    given: Collection[str] = (),
) -> AnswerPlan:
    """Choose what an answer states so that each step carries its score, and slips are inherited.

    Args:
        scores: the drawn score 1..5 of each step.
        draws: where the choice is drawn from.
        silent: steps on which the answer is silent whatever was drawn, and how.
        given: steps that are stated as drawn even where an earlier slip would lead elsewhere.

    Returns:
        What is said. A derived step whose result goes wrong by an earlier slip states what follows
        from that slip, whatever was drawn for it; so a carried step tells nothing of its own
        ability, and leaving it out leaves out no kind of outcome more than another.
    """
    silent = silent or {}
    forms: dict[str, Form] = {}
    offers: dict[str, tuple[Value, ...]] = {}
    for step in program.steps:
        forms[step.id], offers[step.id] = _offer(step, scores[step.id])
        if step.id in silent:
            forms[step.id], offers[step.id] = silent[step.id], ()
    picked: dict[str, Value] = {}
    for step in program.steps:
        made = None
        if step.id not in silent and step.id not in given:
            made = _inherited(program, step, picked, forms)
        if made is not None:
            forms[step.id], picked[step.id] = "plain", made
        elif offers[step.id]:
            picked[step.id] = draws.pick(offers[step.id], "value", step.id)
    stated = {
        step.id: _state(step, picked[step.id], forms[step.id], draws)
        for step in program.steps
        if step.id in picked
    }
    single = {name: one.value for name, one in stated.items() if one.either is None}
    coherent = frozenset(
        step.id
        for step in program.steps
        if step.id in single and follows(program.steps, step, single[step.id], single)
    )
    marks: dict[str, PlantedMark] = {}
    for step in program.steps:
        score = _score(step, forms[step.id], picked.get(step.id))
        slipped = any(name in single and marks[name].score < RIGHT for name in step.depends_on)
        marks[step.id] = PlantedMark(
            score=score,
            addressed=forms[step.id] not in ("unable", "unsaid"),
            carried=score < RIGHT and slipped and step.id in coherent,
        )
    return AnswerPlan(marks=marks, forms=forms, stated=stated, coherent=coherent)


def _inherited(
    program: Program, step: ProgramStep, picked: Mapping[str, Value], forms: Mapping[str, Form]
) -> Value | None:
    """Return the wrong value that follows for a step from what it rests on, if there is one.

    None as well where slips before it leave the result right: then the step's own outcome shows.
    """
    single = {
        name: picked[name] for name in step.depends_on if name in picked and forms[name] != "either"
    }
    made = derive(program.steps, step, single)
    if made is None or band(step, made) == "exact":
        return None
    if isinstance(made, str) or step.kind != "num":
        return made
    printed = NUMBER.search(write_value(step, made))
    made = float(printed.group().replace(",", "")) * printed_scale(step) if printed else made
    return None if band(step, made) == "exact" else made


def _score(step: ProgramStep, form: Form, value: Value | None) -> int:
    if value is None:
        return 2
    if form == "either":
        return 3
    place = band(step, value)
    if place == "exact":
        return 5 if form == "plain" else RIGHT
    return 3 if place == "near" else 1


def _state(step: ProgramStep, value: Value, form: Form, draws: Draws) -> StatedValue:
    text = step.truth if band(step, value) == "exact" else write_value(step, value)
    if form != "either":
        return StatedValue(value=value, text=text)
    pair = [step.truth, text]
    if draws.uniform("either", step.id) < 0.5:
        pair.reverse()
    return StatedValue(value=value, text=pair[0], either=pair[1])

"""Which values an answer may state for a step, and how a value is written.

Misses keep the form of the truth (decimals, currency, `h:mm`), stay in their band, and are chosen
*jointly*, so that what an answer derives follows from what it states wherever a choice allows it.

Reference: METHODS D2; PROBES "How an answer is made and read back".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from atom.probes.draws import Draws
from atom.probes.program import Band, Program, Step, band

Value = float | str

_NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
_PER_SIDE = 6
"""Values offered on each side of the truth."""
_TRIES = 80
"""Joint choices that are looked at for one answer."""


@dataclass(frozen=True, kw_only=True)
class Stated:
    """A value that an answer states."""

    value: Value
    text: str
    either: str | None = None
    """Set for a near miss that can only be written as "either A or B": the other value's text."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What an answer states, step by step."""

    scores: Mapping[str, int]
    """The scores that the text will carry: those drawn, or the nearest that can be written."""
    stated: Mapping[str, Stated]
    """Nothing for a step that isn't mentioned."""
    coherent: frozenset[str]
    """Derived steps whose value follows from the stated ones."""


def write_value(step: Step, value: Value) -> str:
    """Write a value in the form of the step's truth."""
    if isinstance(value, str):
        return value
    if step.kind == "time" and (clock := _CLOCK.search(step.truth)):
        minutes = round(value) % (1440 if (step.modulus or 0) > 720 else 720)
        hour, minute = divmod(minutes, 60)
        if (step.modulus or 720) <= 720 and int(clock.group(1)) <= 12:
            hour = hour or 12
        text = f"{hour:02d}" if clock.group(1).startswith("0") else str(hour)
        return step.truth[: clock.start()] + f"{text}:{minute:02d}" + step.truth[clock.end() :]
    hit = _NUMBER.search(step.truth)
    if hit is None:
        return f"{value:g}"
    shown = hit.group()
    decimals = len(shown.partition(".")[2])
    scale = _scale(step)
    text = f"{value / scale:,.{decimals}f}" if "," in shown else f"{value / scale:.{decimals}f}"
    return step.truth[: hit.start()] + text + step.truth[hit.end() :]


def _scale(step: Step) -> float:
    """Return value units for one printed unit (60 where minutes are printed as hours)."""
    hit = _NUMBER.search(step.truth)
    if hit is None or step.value is None:
        return 1.0
    printed = float(hit.group().replace(",", ""))
    if printed and step.value and abs(printed - step.value) > 1e-6 * abs(step.value):
        ratio = step.value / printed
        return 60.0 if abs(ratio - 60) < 1e-6 else 1.0
    return 1.0


def values_in_band(step: Step, wanted: Band) -> tuple[Value, ...]:
    """List values that an answer could state for a step so that they fall in the band.

    Args:
        step: the step.
        wanted: the band.

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
            made = _wrapped(step, round(value, 6))
            legal = made >= (grain if step.value >= 0 else float("-inf"))
            if legal and band(step, made) == wanted:
                found.append(made)
    return tuple(dict.fromkeys(found))


def _grain(step: Step) -> float:
    if step.kind == "time" and ":" in step.truth:
        return 1.0 if step.near < 30 else 5.0
    hit = _NUMBER.search(step.truth)
    decimals = len(hit.group().partition(".")[2]) if hit else 0
    return _scale(step) * 10.0**-decimals


def _wrapped(step: Step, value: float) -> float:
    return value % step.modulus if step.modulus else value


def derive(program: Program, step: Step, stated: Mapping[str, Value]) -> Value | None:
    """Work out a derived step from stated values.

    Args:
        program: the program.
        step: a step with `derive`.
        stated: values by step id.

    Returns:
        The value that follows, or None when a value it rests on isn't stated.
    """
    parents = [program.step(name) for name in step.depends_on]
    if step.derive is None or not parents or any(p.id not in stated for p in parents):
        return None
    values = [stated[p.id] for p in parents]
    if step.derive == "larger":
        return _larger(step, parents, values)
    numbers = [v for v in values if isinstance(v, float)]
    truths = [p.value for p in parents if p.value is not None]
    if len(numbers) != len(values) or len(truths) != len(parents) or step.value is None:
        return None
    if step.derive == "difference":
        made = numbers[0] - sum(numbers[1:])
        signed = truths[0] - sum(truths[1:])
        made = made if abs(signed - step.value) < 1e-6 else abs(made)
    elif step.derive == "product":
        made, true = 1.0, 1.0
        for number, truth in zip(numbers, truths, strict=True):
            made, true = made * number, true * truth
        made *= step.value / true if true else 1.0
    else:
        made = sum(numbers) + (step.value - sum(truths))
    made = round(made, 6)
    if made < 0 <= step.value and not step.modulus:
        return None
    return _wrapped(step, made)


def _larger(step: Step, parents: list[Step], values: list[Value]) -> Value | None:
    truths = [p.value for p in parents]
    if len(step.options) != len(parents) or any(t is None for t in truths):
        return None
    true_best = max(range(len(truths)), key=lambda i: truths[i] or 0.0)
    shift = step.options.index(step.truth) - true_best
    numbers = [v if isinstance(v, float) else 0.0 for v in values]
    if len(set(numbers)) != len(numbers):
        return None
    best = max(range(len(numbers)), key=lambda i: numbers[i])
    return step.options[(best + shift) % len(step.options)]


def _writable(step: Step, score: int) -> tuple[int, tuple[Value, ...]]:
    """Return the nearest score that the step's values can carry, with these values."""
    if score == 1:
        return 1, ()
    if score >= 4:
        return score, values_in_band(step, "exact")
    values = values_in_band(step, "near" if score == 3 else "far")
    if values:
        return score, values
    if score == 3:
        others = values_in_band(step, "far")
        return (3, others) if others else _writable(step, 2)
    near = values_in_band(step, "near")
    return (3, near) if near else (1, ())


def choose_values(program: Program, scores: Mapping[str, int], draws: Draws) -> Choice:
    """Choose what an answer states so that each step carries its score, coherently where possible.

    Args:
        program: the program.
        scores: the drawn score 1..5 of each step.
        draws: where the choice is drawn from.

    Returns:
        The stated values; `coherent` names the derived steps that follow from them.
    """
    written: dict[str, int] = {}
    offers: dict[str, tuple[Value, ...]] = {}
    for step in program.steps:
        written[step.id], offers[step.id] = _writable(step, scores[step.id])
    derived = [s for s in program.steps if s.derive and written[s.id] > 1]
    best: dict[str, Value] = {}
    coherent: frozenset[str] = frozenset()
    chance = draws.generator("values").random
    for _ in range(_TRIES if derived else 1):
        picked = {
            name: values[int(chance() * len(values))] for name, values in offers.items() if values
        }
        follows: set[str] = set()
        for step in derived:
            made = derive(program, step, picked)
            if made is not None and _carries(step, made, written[step.id]):
                picked[step.id] = made
                follows.add(step.id)
        if not best or len(follows) > len(coherent):
            best, coherent = picked, frozenset(follows)
        if len(follows) == len(derived):
            break
    stated = {
        step.id: _state(step, best[step.id], written[step.id], draws)
        for step in program.steps
        if step.id in best
    }
    return Choice(scores=written, stated=stated, coherent=coherent)


def _carries(step: Step, value: Value, score: int) -> bool:
    place = band(step, value)
    if score == 3 and place == "far":
        return not values_in_band(step, "near")
    return place == {5: "exact", 4: "exact", 3: "near", 2: "far"}[score]


def _state(step: Step, value: Value, score: int, draws: Draws) -> Stated:
    text = step.truth if score >= 4 else write_value(step, value)
    if score == 3 and band(step, value) == "far":
        pair = [step.truth, text]
        if draws.uniform("either", step.id) < 0.5:
            pair.reverse()
        return Stated(value=value, text=pair[0], either=pair[1])
    return Stated(value=value, text=text)

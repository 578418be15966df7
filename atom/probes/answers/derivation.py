"""What a step's record says of its value: how it is written, and what follows from earlier ones.

The writer of answers and the judge share this, as they share `band`: a value that an answer states
*follows* when it is, as written, what the step makes of the values stated before it.

Reference: PROBES "Coherence"; METHODS T2 (errors carried forward).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from atom.probes.program import ProgramStep

Value = float | str

RIGHT: Final = 4
"""A step with this score or more is right, up to a small omission."""

SILENCE: Final = 2
"""The score of a step that an answer is silent on."""

NUMBER: Final = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")


def write_value(step: ProgramStep, value: Value) -> str:
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
    hit = NUMBER.search(step.truth)
    if hit is None:
        return f"{value:g}"
    shown = hit.group()
    decimals = len(shown.partition(".")[2])
    scale = printed_scale(step)
    text = f"{value / scale:,.{decimals}f}" if "," in shown else f"{value / scale:.{decimals}f}"
    return step.truth[: hit.start()] + text + step.truth[hit.end() :]


def printed_scale(step: ProgramStep) -> float:
    """Return value units for one printed unit (60 where minutes are printed as hours)."""
    hit = NUMBER.search(step.truth)
    if hit is None or step.value is None:
        return 1.0
    printed = float(hit.group().replace(",", ""))
    if printed and step.value and abs(printed - step.value) > 1e-6 * abs(step.value):
        ratio = step.value / printed
        return 60.0 if abs(ratio - 60) < 1e-6 else 1.0
    return 1.0


def derive(
    steps: Iterable[ProgramStep], step: ProgramStep, stated: Mapping[str, Value]
) -> Value | None:
    """Work out a derived step from stated values.

    Args:
        steps: the program's steps.
        step: one of them, with `derive`.
        stated: values by step id.

    Returns:
        The value that follows, or None when a value it rests on isn't stated.
    """
    by_id = {each.id: each for each in steps}
    parents = [by_id[name] for name in step.depends_on if name in by_id]
    if step.derive is None or not parents or any(name not in stated for name in step.depends_on):
        return None
    values = [stated[p.id] for p in parents]
    if step.derive == "larger":
        return _larger(step, parents, values)
    pairs = list(zip(parents, values, strict=True))
    numbers = [wrapped(p, v) for p, v in pairs if isinstance(v, float)]
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
    return wrapped(step, made)


def _larger(step: ProgramStep, parents: list[ProgramStep], values: list[Value]) -> Value | None:
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


def follows(
    steps: Iterable[ProgramStep], step: ProgramStep, value: Value, stated: Mapping[str, Value]
) -> bool:
    """Tell whether a stated value is what the step makes of the values stated before it.

    Args:
        steps: the program's steps.
        stated: single values stated for other steps, by id.

    Returns:
        Whether both are the same as written; False for a step that isn't derived, or where a value
        that it rests on isn't stated.
    """
    made = derive(steps, step, stated)
    return made is not None and write_value(step, made) == write_value(step, value)


def wrapped(step: ProgramStep, value: float) -> float:
    """Bring a value below the step's modulus, where it has one."""
    return value % step.modulus if step.modulus else value

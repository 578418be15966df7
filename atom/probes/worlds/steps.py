"""Short constructors for program steps, and the seeded choices that every family makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from numpy.random import PCG64, Generator

from atom.probes.program import Box, Derivation, ProgramStep
from atom.probes.worlds.leaves import Leaf

T = TypeVar("T")


def generator(seed: int, index: int) -> Generator:
    """Return the random generator of one sample.

    Raises:
        ValueError: a negative seed or index.
    """
    if seed < 0 or index < 0:
        raise ValueError(f"seed and index must be 0 or more, got {seed!r} and {index!r}")
    return Generator(PCG64([seed, index]))


def pick(rng: Generator, items: Sequence[T]) -> T:
    """Return one item, each equally likely."""
    return items[int(rng.integers(len(items)))]


def sample(rng: Generator, items: Sequence[T], count: int) -> list[T]:
    """Return `count` different items in random order."""
    return [items[int(i)] for i in rng.permutation(len(items))[:count]]


def whole(rng: Generator, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`, both included."""
    return int(rng.integers(low, high + 1))


def chance(rng: Generator, probability: float) -> bool:
    """Return true with the given probability."""
    return bool(rng.random() < probability)


def clock_text(minutes: int) -> str:
    """Return minutes after twelve as a clock face shows them (`0` is `12:00`)."""
    return f"{minutes // 60 % 12 or 12}:{minutes % 60:02d}"


def number(
    step_id: str,
    question: str,
    value: float,
    *,
    weight: int,
    leaf: Leaf,
    regions: Sequence[Box],
    near: float,
    phrases: Sequence[str],
    tolerance: float = 0.0,
    decimals: int = 0,
    unit: str = "",
    modulus: float | None = None,
    anchors_all: Sequence[str] = (),
    anchors_any: Sequence[str] = (),
    constants: Sequence[str] = (),
    depends_on: Sequence[str] = (),
    derive: Derivation | None = None,
) -> ProgramStep:
    """Make a step whose value is a number."""
    return ProgramStep(
        id=step_id,
        question=question,
        truth=f"{value:.{decimals}f}",
        weight=weight,
        leaf=leaf,
        regions=tuple(regions),
        kind="num",
        value=float(value),
        tolerance=tolerance,
        near=near,
        unit=unit,
        modulus=modulus,
        anchors_all=tuple(anchors_all),
        anchors_any=tuple(anchors_any),
        constants=tuple(constants),
        depends_on=tuple(depends_on),
        derive=derive,
        phrases=tuple(phrases),
    )


def moment(
    step_id: str,
    question: str,
    minutes: int,
    *,
    truth: str,
    weight: int,
    leaf: Leaf,
    regions: Sequence[Box],
    phrases: Sequence[str],
    modulus: float = 720,
    anchors_all: Sequence[str] = (),
    anchors_any: Sequence[str] = (),
    constants: Sequence[str] = (),
    depends_on: Sequence[str] = (),
    derive: Derivation | None = None,
) -> ProgramStep:
    """Make a step whose value is a time of day: within 1 minute exact, within 15 near."""
    return ProgramStep(
        id=step_id,
        question=question,
        truth=truth,
        weight=weight,
        leaf=leaf,
        regions=tuple(regions),
        kind="time",
        value=float(minutes),
        tolerance=1.0,
        near=15.0,
        modulus=modulus,
        anchors_all=tuple(anchors_all),
        anchors_any=tuple(anchors_any),
        constants=tuple(constants),
        depends_on=tuple(depends_on),
        derive=derive,
        phrases=tuple(phrases),
    )


def option(
    step_id: str,
    question: str,
    truth: str,
    *,
    options: Sequence[str],
    near: Sequence[str],
    weight: int,
    leaf: Leaf,
    regions: Sequence[Box],
    phrases: Sequence[str],
    kind: str = "cat",
    synonyms: Mapping[str, Sequence[str]] | None = None,
    anchors_all: Sequence[str] = (),
    anchors_any: Sequence[str] = (),
    constants: Sequence[str] = (),
    depends_on: Sequence[str] = (),
    derive: Derivation | None = None,
) -> ProgramStep:
    """Make a step whose value is one of a closed list."""
    offered = set(options)
    return ProgramStep(
        id=step_id,
        question=question,
        truth=truth,
        weight=weight,
        leaf=leaf,
        regions=tuple(regions),
        kind="text" if kind == "text" else "cat",
        options=tuple(options),
        near_options=tuple(word for word in near if word in offered and word != truth),
        synonyms={
            word: tuple(others) for word, others in (synonyms or {}).items() if word in offered
        },
        anchors_all=tuple(anchors_all),
        anchors_any=tuple(anchors_any),
        constants=tuple(constants),
        depends_on=tuple(depends_on),
        derive=derive,
        phrases=tuple(phrases),
    )


def choice_list(
    rng: Generator, answer: str, others: Sequence[str], *, probability: float = 0.35
) -> tuple[str, ...]:
    """Return the lettered choices of a multiple-choice twin, or none for an open question.

    Args:
        answer: the right choice.
        others: wrong choices, the best distractors first; the first three new ones are used.
        probability: how often the question is asked with choices.
    """
    asked = chance(rng, probability)
    wrong = [word for word in dict.fromkeys(others) if word != answer][:3]
    order = rng.permutation(len(wrong) + 1)
    if not asked or not wrong:
        return ()
    texts = [answer, *wrong]
    return tuple(texts[int(i)] for i in order)


def spread(value: int, gaps: Sequence[int]) -> list[str]:
    """Return wrong whole numbers around a value, none of them negative."""
    return [str(value + gap) for gap in gaps if value + gap >= 0]


def blend(*shares: tuple[float, float]) -> float:
    """Return a difficulty from (weight, share) pairs, each share in 0..1, rounded to 3 places."""
    total = sum(weight for weight, _ in shares)
    return round(sum(w * min(1.0, max(0.0, s)) for w, s in shares) / total, 3)

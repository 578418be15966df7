"""What the methods share: the answers that are compared, how they are shown, scores as integers.

A method gives each answer of a sample a whole number, or none where the judge's reply couldn't be
used. Numbers compare within a sample only (they share a denominator there), so ties are exact.

Reference: ATOM 4.1, appendix B; METHODS 0 and A6.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from atom.judge.request import PicturePart
from atom.records import Replay, Response, Sample, Sampling, Verdict
from atom.stages.scoring import MAX_ANSWER
from atom.stages.verdicts import Worklist

MIN_SHOWN = 4_000
"""Characters that each of many answers keeps in one request."""

MethodName = Literal[
    "pointwise", "batch", "scan", "atom", "no_replay", "no_decomposition", "no_weights"
]
Source = Literal["verdicts", "checkpoints"]
Scores = Mapping[str, int | None]
"""Answer's id → its number; None where the judge said nothing usable."""


@dataclass(frozen=True, kw_only=True)
class MethodSample:
    """A sample whose answers are to be ranked.

    Args:
        responses: the answers that are compared, one a candidate, two at least.
        replay: the solution that its criteria were cut from, where there is one.
    """

    sample: Sample
    responses: tuple[Response, ...]
    replay: Replay | None = None


@dataclass(frozen=True, kw_only=True)
class MethodPlan:
    """What a judge is to be asked.

    Args:
        samples: the samples, in the order in which they are asked.
        pictures: gives a sample's pictures as request parts, in order.
        judge: the judge's id.
    """

    study_id: str
    samples: Sequence[MethodSample]
    pictures: Callable[[Sample], tuple[PicturePart, ...]]
    judge: str
    sampling: Sampling = field(default_factory=Sampling)


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to rank a sample's answers.

    Args:
        name: as in commands and verdicts' parts.
        title: as on screens.
        about: what it asks of the judge, one sentence.
        removes: what of ATOM is taken away; empty for whatever isn't an ablation.
        source: what its scores are made of.
        worklist: what is to be asked; None where everything is in the checkpoints.
        scores: from one sample's verdicts of this method, what each answer got: the answers' ids,
            the verdicts.
    """

    name: MethodName
    title: str
    about: str
    removes: str = ""
    source: Source = "verdicts"
    worklist: Callable[[MethodPlan], Worklist] | None = None
    scores: Callable[[Sequence[str], Sequence[Verdict]], Scores] | None = None


def shuffled(sample_id: str, responses: Sequence[Response], salt: str) -> tuple[Response, ...]:
    """Order answers as if at random, the same way whenever it is asked.

    The order depends on the sample and the answers' ids alone, so no candidate has a place of its
    own, and a resumed run asks the same question.
    """

    def draw(response: Response) -> bytes:
        text = f"{salt}\x1f{sample_id}\x1f{response.id}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=8).digest()

    return tuple(sorted(responses, key=lambda each: (draw(each), each.id)))


def letter(number: int) -> str:
    """Name the answer at a 0-based place: A, B, ..., Z, AA, AB, ..."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


def shown(answer: str, n_answers: int = 1) -> str:
    """Return an answer as a judge is shown it beside others: a very long one without its middle."""
    limit = max(MAX_ANSWER // max(n_answers, 1), MIN_SHOWN)
    if len(answer) <= limit:
        return answer
    half = limit // 2
    return (
        f"{answer[:half]}\n[... {len(answer) - 2 * half} characters left out ...]\n"
        + (answer[-half:])
    )


def whole_number(value: object) -> int | None:
    """Read a whole number: 7, 7.0, "7" and "7/10" (the part before the stroke); else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value == value // 1 and abs(value) < 1e9 else None
    if isinstance(value, str):
        head = value.strip().split("/", 1)[0].strip().removesuffix(".0")
        return int(head) if head.isascii() and head.isdigit() and len(head) < 10 else None
    return None


def part_of(method: str, what: str) -> str:
    """Name a verdict's part: `pointwise/<response id>`, `scan/criteria`."""
    return f"{method}/{what}"


def answers_of(method: str, verdicts: Iterable[Verdict]) -> dict[str, Verdict]:
    """Return a method's verdicts by what stands behind its name in their part."""
    prefix = f"{method}/"
    return {
        verdict.part.removeprefix(prefix): verdict
        for verdict in verdicts
        if verdict.part.startswith(prefix)
    }

"""What reads each part of a mark from a row of one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from atom.formats.judgments.plan import FilePlan, getter


@dataclass(kw_only=True)
class Getters:
    """What reads each part from a row of one file."""

    id: Callable[[Mapping[str, object]], object]
    question: Callable[[Mapping[str, object]], object]
    answer: Callable[[Mapping[str, object]], object]
    model: Callable[[Mapping[str, object]], object]
    version_of: Callable[[Mapping[str, object]], object] | None
    response: Callable[[Mapping[str, object]], object]
    repeat: Callable[[Mapping[str, object]], object]
    judge: Callable[[Mapping[str, object]], object]
    criterion: Callable[[Mapping[str, object]], object]
    text: Callable[[Mapping[str, object]], object]
    truth: Callable[[Mapping[str, object]], object]
    mark: Callable[[Mapping[str, object]], object]
    reason: Callable[[Mapping[str, object]], object] | None
    weight: Callable[[Mapping[str, object]], object]
    parents: Callable[[Mapping[str, object]], object]
    gate: Callable[[Mapping[str, object]], object]
    correct: Callable[[Mapping[str, object]], object] | None
    capability: tuple[Callable[[Mapping[str, object]], object], ...]
    pictures: tuple[Callable[[Mapping[str, object]], object], ...]
    probabilities: Mapping[str, Callable[[Mapping[str, object]], object]]


def getters_of(plan: FilePlan) -> Getters:
    """Return what reads each part from a row of this file; a part that nobody named is None."""
    columns = plan.columns
    capability = columns.capability
    layers = (capability,) if isinstance(capability, str) else capability or ()
    return Getters(
        id=getter(columns.id if columns.id != "row" else None),
        question=getter(columns.question),
        answer=getter(columns.answer),
        model=getter(columns.model),
        version_of=None if columns.version_of is None else getter(columns.version_of),
        response=getter(columns.response),
        repeat=getter(columns.repeat),
        judge=getter(columns.judge or columns.annotator),
        criterion=getter(columns.criterion),
        text=getter(columns.criterion_text),
        truth=getter(columns.truth),
        mark=getter(columns.mark),
        reason=None if columns.reason is None else getter(columns.reason),
        weight=getter(columns.weight),
        parents=getter(columns.parents),
        gate=getter(columns.gate),
        correct=None if columns.correct is None else getter(columns.correct),
        capability=tuple(map(getter, layers)),
        pictures=tuple(map(getter, columns.pictures)),
        probabilities={str(word): getter(column) for word, column in columns.probabilities.items()},
    )

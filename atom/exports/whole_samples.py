"""A study's samples one after the other, each with its answers and scores, in small memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from atom.exports.base import ExportSource
from atom.records import Checkpoint, CriteriaSet, Criterion, CriterionUse, Response, Sample, Tag
from atom.records import Mapping as MappingRecord
from atom.store import study_places
from atom.store.standing.marks import repeated_marks
from atom.views.filters import Filters, root_scores
from taxonomy import Path

_CHUNK = 100
WHOLE = Filters()
SAID = Filters(reading="said")
"""No filter: the study as it is."""


@dataclass(frozen=True, kw_only=True)
class PlacedCriterion:
    """A criterion as it stands for a sample."""

    criterion: Criterion
    use: CriterionUse
    leaf: Path | None

    @property
    def weight(self) -> float:
        """Its weight as written."""
        return self.use.weight


@dataclass(frozen=True, kw_only=True)
class ScoredAnswer:
    """A model's answer to a sample.

    Attributes:
        model: the model's index in the study.
        row: its index among the study's answers.
        right: 0..1; None when it isn't known.
        score: the sample score, 0-100; None where nothing is scored.
        preferred: share of its votes won, 0..1; None without votes.
        marks: the looked-at judge's checkpoints by criterion, one a repeat.
    """

    model: int
    response: Response
    row: int
    right: float | None
    score: float | None
    preferred: float | None
    marks: dict[str, tuple[Checkpoint, ...]]

    def mark(self, criterion_id: str) -> Checkpoint | None:
        """Return the judge's first mark of a criterion, or None."""
        return next(iter(self.marks.get(criterion_id, ())), None)


@dataclass(frozen=True, kw_only=True)
class WholeSample:
    """A sample with everything that an export tells of it."""

    sample: Sample
    number: int
    """0-based place in the study."""
    quarantined: bool
    tags: tuple[tuple[str, str], ...]
    criteria: tuple[PlacedCriterion, ...]
    answers: tuple[ScoredAnswer, ...]


def whole_samples(
    source: ExportSource, limit: int | None = None, *, numbers: Sequence[int] | None = None
) -> Iterator[WholeSample]:
    """Go through a study's samples.

    Args:
        limit: at most so many samples.
        numbers: which ones, by their places in the study; None = all, in its order.
    """
    reader = _Reader(source)
    wanted = range(len(source.data.table.sample_ids)) if numbers is None else numbers
    wanted = wanted if limit is None else wanted[:limit]
    for start in range(0, len(wanted), _CHUNK):
        yield from reader.read(wanted[start : start + _CHUNK])


class _Reader:
    def __init__(self, source: ExportSource) -> None:
        self._store, self._data = source.store, source.data
        table = self._data.table
        self._order = np.argsort(table.sample, kind="stable")
        self._sorted = table.sample[self._order]
        self._value = root_scores(self._data).value
        self._preferred = table.preferred
        self._sets = {
            place.sample_id: place.criteria_set_id
            for place in study_places(self._store, self._data.study.id)
            if place.criteria_set_id
        }
        judge = self._data.judge
        self._judge = (self._data.study.judge_id or "") if judge is None else judge.id

    def read(self, numbers: Sequence[int]) -> Iterator[WholeSample]:
        table, store = self._data.table, self._store
        ids = tuple(table.sample_ids[number] for number in numbers)
        samples = {one.id: one for one in store.get_many(Sample, ids)}
        first = np.searchsorted(self._sorted, numbers, side="left")
        last = np.searchsorted(self._sorted, numbers, side="right")
        rows = [int(row) for lo, hi in zip(first, last, strict=True) for row in self._order[lo:hi]]
        answers = [table.response_ids[row] for row in rows]
        responses = {one.id: one for one in store.get_many(Response, answers)}
        marks: dict[str, dict[str, tuple[Checkpoint, ...]]] = {}
        held = repeated_marks(store, self._data.study, answers, self._judge, self._data.scale)
        for (criterion, answer), points in held.items():
            marks.setdefault(answer, {})[criterion] = points
        criteria = self._criteria(ids)
        tags = self._tags(ids)
        by_sample: dict[int, list[ScoredAnswer]] = {}
        for row in rows:
            response = responses.get(table.response_ids[row])
            if response is not None:
                by_sample.setdefault(int(table.sample[row]), []).append(
                    ScoredAnswer(
                        model=int(table.model[row]),
                        response=response,
                        row=row,
                        right=_known(table.outcome[row]),
                        score=_known(100 * self._value[row]),
                        preferred=_known(self._preferred[row]),
                        marks=marks.get(response.id, {}),
                    )
                )
        for number, name in zip(numbers, ids, strict=True):
            if name in samples:
                yield WholeSample(
                    sample=samples[name],
                    number=number,
                    quarantined=bool(table.quarantined[number]),
                    tags=tags.get(name, ()),
                    criteria=criteria.get(name, ()),
                    answers=tuple(
                        sorted(
                            by_sample.get(number, ()),
                            key=lambda one: (one.model, one.response.repeat),
                        )
                    ),
                )

    def _criteria(self, ids: tuple[str, ...]) -> dict[str, tuple[PlacedCriterion, ...]]:
        sets = self._store.get_many(
            CriteriaSet, [self._sets[name] for name in ids if name in self._sets]
        )
        names = [use.criterion_id for one in sets for use in one.uses]
        known = {one.id: one for one in self._store.get_many(Criterion, names)}
        leaves = {
            one.criterion_id: one.leaf
            for one in self._store.get_many(MappingRecord, names, "criterion_id")
            if one.tree_version == self._data.study.tree_version
        }
        return {
            one.sample_id: tuple(
                PlacedCriterion(
                    criterion=known[use.criterion_id],
                    use=use,
                    leaf=leaves.get(use.criterion_id),
                )
                for use in sorted(one.uses, key=lambda use: use.position)
                if use.criterion_id in known
            )
            for one in sets
        }

    def _tags(self, ids: tuple[str, ...]) -> dict[str, tuple[tuple[str, str], ...]]:
        found: dict[str, set[tuple[str, str]]] = {}
        for tag in self._store.get_many(Tag, ids, "subject_id"):
            if tag.subject == "sample":
                found.setdefault(tag.subject_id, set()).add((tag.facet, tag.value))
        return {name: tuple(sorted(pairs)) for name, pairs in found.items()}


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

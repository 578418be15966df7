"""The agreement of two judges cut into parts: by capability, by model, by question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from atom.analysis.agreement.two_judges import JointMarks
from atom.analysis.intervals import Ints
from atom.records import Criterion
from atom.store import Store
from atom.views.filters import Filters
from atom.views.judges.mark_groups import (
    OF_MARKS,
    MarkGroup,
)
from atom.views.judges.marks import (
    AllJudgesMarks,
)
from taxonomy import Path

LEAST = 10
"""Fewer marks than this in common make no row of their own."""
_MOST_QUESTIONS = 60
_MOST_TEXTS = 50_000


@dataclass(frozen=True, kw_only=True)
class GroupSources:
    """What groups are cut from."""

    all_: AllJudgesMarks
    key: Ints
    marks: JointMarks
    chain: Filters
    rng: Generator | None
    node: Path
    model: int | None

    @property
    def of_model(self) -> NDArray[np.bool_]:
        """Which marks are about the chosen model; all without one."""
        if self.model is None:
            return np.ones(len(self.key), dtype=np.bool_)
        table = self.all_.data.table
        return np.asarray(table.model[self.all_.answer(self.key)] == self.model)


def by_node(parts: GroupSources) -> tuple[MarkGroup, ...]:
    """Cut by capability, parents before children; those with few marks make no row."""
    order = sorted(parts.all_.leaves)
    paths = dict.fromkeys(leaf[:size] for leaf in order for size in range(1, len(leaf) + 1))
    found = []
    for path in paths:
        rows = parts.all_.under(path, parts.key) & parts.of_model
        if rows.sum() >= LEAST:
            agreement = parts.marks.agreement(rows, parts.rng, figures=OF_MARKS)
            chain = parts.chain.but(node=path, model=_model_id(parts))
            found.append(MarkGroup(name=path[-1], path=path, found=agreement, filters=chain))
    return tuple(found)


def by_model(parts: GroupSources) -> tuple[MarkGroup, ...]:
    """Cut by model, within the chosen capability."""
    data = parts.all_.data
    model = data.table.model[parts.all_.answer(parts.key)]
    under = parts.all_.under(parts.node, parts.key)
    return tuple(
        MarkGroup(
            name=candidate.name,
            model=at,
            found=parts.marks.agreement(rows, parts.rng, figures=OF_MARKS),
            filters=parts.chain.but(model=candidate.id, node=parts.node),
        )
        for at, candidate in enumerate(data.candidates)
        if (rows := under & (model == at)).sum() >= LEAST
    )


def _model_id(parts: GroupSources) -> str | None:
    return None if parts.model is None else parts.all_.data.candidates[parts.model].id


@dataclass(frozen=True, kw_only=True)
class MarkQuestions:
    """Which question each shared mark is about, -1 = asked once; and the texts."""

    code: Ints
    texts: tuple[str, ...]


def asked_questions(store: Store, all_: AllJudgesMarks, key: Ints) -> MarkQuestions:
    """Find the wordings of criteria that are asked of many samples."""
    criterion = all_.criterion(key)
    used = np.unique(criterion)
    if len(used) > _MOST_TEXTS:
        return MarkQuestions(code=np.full(len(key), -1, dtype=np.int64), texts=())
    names = [all_.criterion_ids[at] for at in used]
    records = {one.id: one for one in store.get_many(Criterion, names)}
    about: dict[str, set[str]] = {}
    for one in records.values():
        about.setdefault(one.question, set()).add(one.sample_id)
    texts = tuple(text for text, samples in about.items() if len(samples) > 1)[:_MOST_QUESTIONS]
    at = {text: number for number, text in enumerate(texts)}
    codes = np.full(all_.width, -1, dtype=np.int64)
    for place, name in zip(used, names, strict=True):
        if name in records:
            codes[place] = at.get(records[name].question, -1)
    return MarkQuestions(code=codes[criterion], texts=texts)


def by_question(parts: GroupSources, asked: MarkQuestions) -> tuple[MarkGroup, ...]:
    """Cut by a criterion's wording, where one is asked of many samples."""
    return tuple(
        MarkGroup(
            name=text,
            question=text,
            found=parts.marks.agreement(rows, parts.rng, figures=OF_MARKS),
            filters=parts.chain.but(model=_model_id(parts)),
        )
        for at, text in enumerate(asked.texts)
        if (rows := (asked.code == at) & parts.of_model).sum() >= LEAST
    )

"""How the place of an answer decides: in the study's own votes, and in pairs of the Judge lab.

Reference: METHODS B12.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from atom.analysis.compare.votes import VOTE_A, VOTE_B, VOTE_TIE, PositionBias, position_bias
from atom.judgebench.registry import BENCHES
from atom.records import BenchSet, Judge
from atom.store import Store
from atom.store.verdicts import votes_in_orders
from atom.views.study_data import StudyData

_VOTE = {"a": VOTE_A, "b": VOTE_B, "tie": VOTE_TIE}


@dataclass(frozen=True, kw_only=True)
class PositionRow:
    """How the place of an answer decides, of one judge on one kind of pairs."""

    judge: str
    where: str
    found: PositionBias


def study_positions(data: StudyData) -> tuple[PositionRow, ...]:
    """Measure the pull of the place from the study's own votes, by judge."""
    votes = data.votes
    if votes is None:
        return ()
    names = {one.id: one.name for one in data.judges}
    rows = []
    for at, judge in enumerate(votes.judges):
        mine = votes.judge == at
        key = np.stack([votes.a, votes.b, votes.repeat], axis=1)[mine]
        _, group = np.unique(key, axis=0, return_inverse=True)
        group = group.reshape(-1).astype(np.int64)
        found = position_bias(
            votes.verdict[mine], votes.first[mine], group, int(group.max(initial=-1)) + 1
        )
        if found.pairs:
            rows.append(
                PositionRow(judge=names.get(judge, judge), where="votes of this study", found=found)
            )
    return tuple(rows)


def lab_positions(
    store: Store, judge: Judge | None, others: Sequence[Store]
) -> tuple[PositionRow, ...]:
    """Measure the pull of the place from pairs that this judge compared in the Judge lab."""
    if judge is None:
        return ()
    rows = []
    for place in {one.url: one for one in (store, *others)}.values():
        found = votes_in_orders(place, judge.id, tuple(_VOTE))
        sets = {row.id: row for row in place.select(BenchSet)} if found else {}
        for group, votes in groupby(found, key=lambda row: row.group):
            mine = list(votes)
            pair: dict[tuple[str, str], int] = {}
            bias = position_bias(
                np.array([_VOTE[row.label] for row in mine], dtype=np.int8),
                np.array([row.order == "ba" for row in mine], dtype=np.int8),
                np.array([pair.setdefault((row.subject_id, row.part), len(pair)) for row in mine]),
                len(pair),
            )
            if bias.pairs:
                of = sets.get(group)
                where = f"{BENCHES[of.benchmark].title}: {of.name}" if of else "pairs of this study"
                rows.append(PositionRow(judge=judge.name, where=where, found=bias))
    return tuple(rows)

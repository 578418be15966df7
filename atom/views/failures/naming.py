"""What a judge is told of groups of failures' reasons, so that it can name them."""

from __future__ import annotations

from typing import Final

import numpy as np

from atom.stages.reasons.name_groups import GroupMaterial
from atom.store import Store
from atom.views.failures.grouping import Grouping, grouping_of
from atom.views.failures.texts import reasons_at
from atom.views.study_data import StudyData

REASONS: Final = 8
"""Reasons of a group that are shown to the judge."""


def material_of(store: Store, data: StudyData) -> tuple[Grouping, tuple[GroupMaterial, ...]]:
    """Return a study's groups, and what is told of each: reasons at even steps through it.

    The same groups always give the same material, so that a judge's names are paid for once.
    """
    found = grouping_of(store, data)
    picked = [_spread(found, at) for at in range(len(found.groups))]
    read = reasons_at(store, data, [row for some in picked for row in some])
    return found, tuple(
        GroupMaterial(
            failures=int((found.code == at).sum()),
            words=group.terms,
            reasons=tuple(dict.fromkeys(filter(None, (read.get(row, "") for row in picked[at])))),
        )
        for at, group in enumerate(found.groups)
    )


def _spread(found: Grouping, group: int) -> list[int]:
    rows = found.rows[found.code == group]
    steps = np.linspace(0, len(rows) - 1, min(REASONS, len(rows))).round().astype(np.int64)
    return [int(row) for row in rows[np.unique(steps)]]

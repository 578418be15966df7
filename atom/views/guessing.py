"""How many right answers with a failed process plain guessing would give.

Reference: METHODS B15.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from atom.analysis.guessing import lucky_by_guessing
from atom.store import Store
from atom.store.reading.marks import choice_texts
from atom.views.filters import Filters, answers_kept, processes_of
from atom.views.study_data import StudyData


def lucky_by_chance(store: Store, data: StudyData, filters: Filters) -> Mapping[str, float]:
    """Say how often a right answer would have a failed process if failing models just guessed.

    Args:
        store: the study's store, which knows each sample's options.
        filters: what narrows it; the chain doesn't.

    Returns:
        Model id -> share in percent, for models with answers to multiple-choice questions; the
        guess rate is one over the number of options, and nothing for an open question.

    Reference:
        METHODS B15: `(1 - pi) g / (pi + (1 - pi) g)`.
    """
    options = _options(store, data.study.id, data.revision, data.table.sample_ids)
    if not options.any():
        return {}
    chosen = data.table
    process = processes_of(data)
    usable = answers_kept(data, filters) & np.isfinite(chosen.outcome) & process.told
    passes = process.sound
    found = {}
    for number, model_id in enumerate(chosen.model_ids):
        mine = usable & (chosen.model == number)
        failing = options[chosen.sample[mine & ~passes]]
        if not mine.any() or not options[chosen.sample[mine]].any():
            continue
        rate = float((1 / failing[failing > 0]).sum() / len(failing)) if len(failing) else 0.0
        found[model_id] = 100 * lucky_by_guessing(float(passes[mine].mean()), rate)
    return found


@lru_cache(maxsize=4)
def _options(
    store: Store, study_id: str, revision: int, sample_ids: tuple[str, ...]
) -> NDArray[np.int64]:
    """Count each sample's options, 0 for an open question, in the order of the ids."""
    del revision
    count = {name: len(json.loads(text)) for name, text in choice_texts(store, study_id).items()}
    return np.array([count.get(name, 0) for name in sample_ids], dtype=np.int64)

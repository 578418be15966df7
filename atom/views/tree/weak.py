"""The gravest confirmed weaknesses of a study, for whoever opens its tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atom.analysis.capability.diagnosis import LABELS
from atom.views.filters import Filters
from atom.views.fingerprints.claims import claim_words, claims
from atom.views.fingerprints.shape import shape
from atom.views.study_data import StudyData
from taxonomy import Path

MOST = 5


@dataclass(frozen=True, kw_only=True)
class Weak:
    """One model on one capability.

    Attributes:
        index: its place in the study.
        path: the capability.
        words: the effect with its interval and what it is held against.
        filters: leads to the capability with the model chosen.
    """

    model: str
    index: int
    path: Path
    words: str
    filters: Filters


def gravest(data: StudyData, filters: Filters, most: int = MOST) -> tuple[Weak, ...]:
    """Return confirmed weaknesses on leaves, the largest first.

    Args:
        most: how many.

    Returns:
        None of them where nothing may be claimed.
    """
    form = shape(data, filters)
    said = claims(data, form) if form.facet is None else None
    if said is None:
        return ()
    label, effect = (one[:, form.finest] for one in (said.seen.label, said.seen.pooled))
    weak = label == LABELS.index("confirmed")
    order = np.argsort(np.where(weak, np.nan_to_num(effect), np.inf), axis=None, kind="stable")
    found = []
    for model, place in zip(*np.unravel_index(order[:most], effect.shape), strict=True):
        if not weak[model, place]:
            break
        node = int(form.finest[place])
        found.append(
            Weak(
                model=form.names[int(model)].name,
                index=int(model),
                path=form.paths[node],
                words=claim_words(said.at(int(model), node), None),
                filters=filters.but(model=form.names[int(model)].model_id, node=form.paths[node]),
            )
        )
    return tuple(found)

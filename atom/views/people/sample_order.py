"""The order in which a study's samples are labelled."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal

import numpy as np

from atom.analysis.intervals import Floats
from atom.analysis.score_table import ScoreTable
from atom.store import Store
from atom.store.reading.marks import doubtful_marks
from atom.views.study_data import StudyData

_SEED = "human check"


def number_of(*parts: str) -> float:
    """Return a number 0..1 that depends on these texts alone."""
    digest = hashlib.sha256("\x1f".join((_SEED, *parts)).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def shuffled(names: Iterable[str], annotator: str, place: str) -> tuple[str, ...]:
    """Order things in a way of a person's own, the same each time.

    Args:
        names: what is ordered.
        annotator: whose order.
        place: where it is shown, such as the sample's id.
    """
    return tuple(sorted(names, key=lambda name: (number_of(annotator, place, name), name)))


def sample_order(store: Store, data: StudyData, pick: Pick) -> tuple[str, ...]:
    """Return the study's samples in the order in which they are labelled.

    Random: drawn by the study's id, so that each first part of the order holds every root in its
    proportion. Unsure: the samples with the largest share of checkpoints where the judge is
    unsure come first (see `unsure_share`).
    """
    table = data.table
    luck = [number_of(data.study.id, name) for name in table.sample_ids]
    if pick == "unsure":
        share = unsure_share(store, data)
        places = sorted(range(len(luck)), key=lambda at: (-share[at], luck[at]))
        return tuple(table.sample_ids[at] for at in places)
    strata: dict[str, list[int]] = {}
    for at, root in enumerate(sample_roots(table)):
        strata.setdefault(root, []).append(at)
    due: dict[int, float] = {}
    for root, members in strata.items():
        start = number_of(data.study.id, "stratum", root)
        for place, at in enumerate(sorted(members, key=lambda at: luck[at])):
            due[at] = (place + start) / len(members)
    return tuple(table.sample_ids[at] for at in sorted(due, key=lambda at: (due[at], luck[at])))


def sample_roots(table: ScoreTable) -> list[str]:
    """Return each sample's root: the one with most of its checkpoints' weight; empty without."""
    roots = sorted({leaf[0] for leaf in table.leaves})
    if not roots:
        return [""] * len(table.sample_ids)
    of_leaf = np.array([roots.index(leaf[0]) for leaf in table.leaves], dtype=np.int64)
    kept = table.leaf >= 0
    sample = table.sample[table.response[kept]].astype(np.int64)
    key = sample * len(roots) + of_leaf[table.leaf[kept]]
    size = len(table.sample_ids) * len(roots)
    weight = np.bincount(key, weights=table.weight[kept], minlength=size).reshape(-1, len(roots))
    return [
        roots[at] if total > 0 else ""
        for at, total in zip(weight.argmax(axis=1), weight.sum(axis=1), strict=True)
    ]


def unsure_share(store: Store, data: StudyData) -> Floats:
    """Return each sample's share of checkpoints where the judge is unsure, shape (S,).

    Unsure: the score is 3; another judging or another judge gave another score; or the judge
    quotes nothing of the answer though it takes a stand (a score above 1).
    """
    table = data.table
    if not len(table.score):
        return np.zeros(len(table.sample_ids))
    rows: set[tuple[int, int]] = {
        (int(response), int(criterion))
        for response, criterion in zip(
            table.response[table.score == 3], table.criterion[table.score == 3], strict=True
        )
    }
    answers = {name: at for at, name in enumerate(table.response_ids)}
    criteria = {name: at for at, name in enumerate(table.criterion_ids)}
    for answer, criterion in doubtful_marks(store, data.study, data.scale):
        if answer in answers and criterion in criteria:
            rows.add((answers[answer], criteria[criterion]))
    scored = table.score > 0
    samples = len(table.sample_ids)
    total = np.bincount(table.sample[table.response[scored]], minlength=samples)
    doubt = np.zeros(samples)
    if rows:
        of = np.array([answer for answer, _ in rows], dtype=np.int64)
        doubt = np.bincount(table.sample[of], minlength=samples).astype(np.float64)
    share: Floats = np.divide(doubt, total, out=np.zeros(samples), where=total > 0)
    return share


Pick = Literal["random", "unsure"]

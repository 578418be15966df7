"""What people say of criteria, and of the capabilities that criteria are of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from atom.analysis.agreement.criteria_quality import (
    CriteriaQuality,
    HitRates,
    criteria_quality,
    hit_rates,
)
from atom.analysis.intervals import Floats
from atom.records import Annotation
from atom.store import Store
from atom.store.standing.criteria import leaves_of, samples_of_criteria
from atom.views.study_data import StudyData
from taxonomy import Path, fold, parse_path

UNMAPPED = "no capability"


@dataclass(frozen=True, kw_only=True)
class QualityRow:
    """People's labels of criteria under one root; `root` is empty for all."""

    root: str
    quality: CriteriaQuality


def labels_of_criteria(
    store: Store, labels: Sequence[Annotation], own: StudyData
) -> tuple[tuple[QualityRow, ...], HitRates | None, int]:
    """Say what people's labels of criteria and of their capabilities say.

    Args:
        labels: labels of any kind.

    Returns:
        Criteria quality, all first, then by root; hit rates, None without labels of leaves; and on
        how many leaves people don't agree.
    """
    given = [label for label in labels if label.state == "given"]
    about = {
        label.subject_id for label in given if label.kind in ("accuracy", "necessity", "mapping")
    }
    if not about:
        return (), None, 0
    leaves = leaves_of(store, own.study.tree_version, about)
    sample_of = samples_of_criteria(store, about)
    quality = _quality(given, sample_of, leaves, own)
    chosen, undecided = _people_leaves(given)
    names = [name for name in sorted(chosen) if name in sample_of]
    if not names:
        return quality, None, undecided
    hits = hit_rates(
        [leaves.get(name, ()) for name in names],
        [chosen[name] for name in names],
        own.clusters_of([sample_of[name] for name in names]),
    )
    return quality, hits, undecided


def _quality(
    labels: Sequence[Annotation],
    sample_of: Mapping[str, str],
    leaves: Mapping[str, Path],
    own: StudyData,
) -> tuple[QualityRow, ...]:
    values: dict[str, dict[str, list[float]]] = {}
    for label in labels:
        known = label.kind in ("accuracy", "necessity") and label.subject_id in sample_of
        if known and label.value is not None and label.value in (1, 2, 3):
            kinds = values.setdefault(label.subject_id, {})
            if label.adjudicates:
                kinds[f"{label.kind} settled"] = [label.value]
            kinds.setdefault(label.kind, []).append(label.value)
    names = sorted(values)
    if not names:
        return ()
    cluster = own.clusters_of([sample_of[name] for name in names])

    def column(kind: str) -> Floats:
        found = [values[name].get(f"{kind} settled") or values[name].get(kind) for name in names]
        return np.array([np.mean(each) if each else math.nan for each in found], dtype=np.float64)

    right, needed = column("accuracy"), column("necessity")
    own_root = [leaves[name][0] if name in leaves else UNMAPPED for name in names]
    rows = [QualityRow(root="", quality=criteria_quality(right, needed, cluster))]
    for root, _ in Counter(own_root).most_common():
        here = np.array([each == root for each in own_root], dtype=np.bool_)
        found = criteria_quality(right[here], needed[here], cluster[here])
        rows.append(QualityRow(root=root, quality=found))
    return tuple(rows)


def _people_leaves(labels: Sequence[Annotation]) -> tuple[dict[str, Path], int]:
    """Return people's leaf of each criterion: the most named one; and how many have none."""
    named: dict[str, Counter[Path]] = {}
    settled: dict[str, Path] = {}
    spelled: dict[Path, Path] = {}
    for label in labels:
        if label.kind != "mapping" or not label.label.strip():
            continue
        path = parse_path(label.label)
        path = spelled.setdefault(fold(path), path)
        if label.adjudicates:
            settled[label.subject_id] = path
        named.setdefault(label.subject_id, Counter())[path] += 1
    chosen = dict(settled)
    undecided = 0
    for name, count in named.items():
        ranked = count.most_common(2)
        if name in chosen:
            continue
        if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
            undecided += 1
        else:
            chosen[name] = ranked[0][0]
    return chosen, undecided

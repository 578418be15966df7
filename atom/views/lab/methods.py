"""Several judges of one study: methods beside people, criteria and capabilities, in one table.

Reference: ATOM Tables 1, 2 and 5, Figure 7; METHODS A6 (pairwise accuracy), A7 (hit rate), A8
(criteria quality).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from atom.analysis.agreement.criteria_quality import CriteriaQuality, HitRates
from atom.analysis.agreement.fidelity import FidelityShare, share_of
from atom.methods.base import MethodName
from atom.methods.checkpoints import atom_scores
from atom.methods.registry import METHODS
from atom.records import Annotation, Judge
from atom.store import Store
from atom.store.reading.authors import authors_of, mappers_of
from atom.store.standing.criteria import samples_of_criteria
from atom.views.lab.fidelity.comparison import FidelityGround, ground_of
from atom.views.lab.fidelity.criteria_labels import labels_of_criteria
from atom.views.lab.fidelity.tab import FidelityView, fidelity_of
from atom.views.snapshot import open_study
from atom.views.study_data import StudyData, judge_of_id

MOST_JUDGES = 8
"""Judges that stand side by side, the first ones of the study."""
_ATOM: MethodName = "atom"


@dataclass(frozen=True, kw_only=True)
class JudgeRow:
    """One judge.

    Attributes:
        accuracy: method's name -> share of pairs of answers ordered as people do, unread ones
            wrong; without those that the judge wasn't asked by.
        samples: samples behind them.
        by_root: capability -> the same for ATOM's own scores.
        quality: people's labels of the criteria that this judge cut; None without any.
        hits: people's leaves against those that this judge chose; None without any.
    """

    judge: Judge
    accuracy: Mapping[str, FidelityShare]
    samples: int
    by_root: Mapping[str, FidelityShare]
    quality: CriteriaQuality | None
    hits: HitRates | None


@dataclass(frozen=True, kw_only=True)
class OrderPair:
    """How often two judges' scores put two answers in the same order (better, worse or tied)."""

    first: Judge
    second: Judge
    alike: FidelityShare


@dataclass(frozen=True, kw_only=True)
class JudgeMethods:
    """Judges by methods.

    Attributes:
        rows: the judges that there is anything of.
        methods: (name, title) of methods that any of them was asked by, in their order.
        roots: capabilities with pairs, the most first.
        orders: every two judges' orders of answers.
        left_out: how many further judges there are.
        settling: people who marked only what others disagree on: a share of the hardest alone says
            nothing beside the judges', so they have no row.
    """

    rows: tuple[JudgeRow, ...]
    methods: tuple[tuple[str, str], ...]
    roots: tuple[str, ...]
    orders: tuple[OrderPair, ...]
    left_out: int
    settling: tuple[Judge, ...] = ()


def judge_methods(store: Store, data: StudyData, judge_ids: Sequence[str]) -> JudgeMethods:
    """Hold several judges against people, and against each other.

    Args:
        data: the study, as it is looked at.
        judge_ids: the judges, in their order.
    """
    ground = ground_of(store, data.study)
    found = [judge_of_id(store, name) for name in judge_ids]
    known = [one for one in found if one is not None]
    settling = tuple(one for one in known if _only_settles(one, ground.labels))
    known = [one for one in known if one not in settling]
    chosen = known[:MOST_JUDGES]
    views = {one.id: fidelity_of(store, data, one.id, ground) for one in chosen}
    labels = [label for label in ground.labels if label.state == "given"]
    about = {label.subject_id for label in labels if label.kind in _OF_CRITERIA}
    wrote = authors_of(store, set(samples_of_criteria(store, about).values())) if about else {}
    hung = mappers_of(store, data.study.tree_version, about) if about else {}
    rows = []
    for one in chosen:
        mine = {name for name in about if one.id in wrote.get(name, ())}
        placed = {name for name in about if hung.get(name) == one.id}
        quality, hits = _labelled(store, labels, data, mine, placed)
        row = _row(one, views[one.id], quality, hits)
        if row.accuracy or quality is not None or hits is not None:
            rows.append(row)
    used = {name for row in rows for name in row.accuracy}
    return JudgeMethods(
        rows=tuple(rows),
        methods=tuple((name, one.title) for name, one in METHODS.items() if name in used),
        roots=tuple(dict.fromkeys(root for row in rows for root in row.by_root)),
        orders=_orders(store, data, chosen, ground),
        left_out=max(len(judge_ids) - len(chosen) - len(settling), 0),
        settling=settling,
    )


def _only_settles(judge: Judge, labels: Sequence[Annotation]) -> bool:
    """Whether a person's marks are all of what two others disagree on."""
    if judge.kind != "person":
        return False
    own = [
        label.adjudicates
        for label in labels
        if label.annotator == judge.name and label.kind == "score" and label.state == "given"
    ]
    return bool(own) and all(own)


_OF_CRITERIA = ("accuracy", "necessity", "mapping")


def _row(
    judge: Judge, view: FidelityView, quality: CriteriaQuality | None, hits: HitRates | None
) -> JudgeRow:
    accuracy = {
        row.name: row.accuracy.strict
        for row in view.rows
        if row.accuracy is not None and row.accuracy.strict.n
    }
    atom = next((row for row in view.rows if row.name == _ATOM and row.name in accuracy), None)
    return JudgeRow(
        judge=judge,
        accuracy=accuracy,
        samples=max((row.samples for row in view.rows if row.name in accuracy), default=0),
        by_root={} if atom is None else atom.by_root,
        quality=quality,
        hits=hits,
    )


def _labelled(
    store: Store,
    labels: Sequence[Annotation],
    data: StudyData,
    wrote: Collection[str],
    placed: Collection[str],
) -> tuple[CriteriaQuality | None, HitRates | None]:
    """Return what people say of the criteria that a judge cut, and of the leaves it chose."""
    of_criteria = [one for one in labels if one.kind != "mapping" and one.subject_id in wrote]
    of_leaves = [one for one in labels if one.kind == "mapping" and one.subject_id in placed]
    quality, _, _ = labels_of_criteria(store, of_criteria, data)
    _, hits, _ = labels_of_criteria(store, of_leaves, data)
    return (quality[0].quality if quality else None), hits


def _orders(
    store: Store, data: StudyData, judges: Sequence[Judge], ground: FidelityGround
) -> tuple[OrderPair, ...]:
    """Compare the orders in which two judges' scores put the answers to each sample."""
    pairs = [
        (sample, one, other)
        for sample, mine in ground.responses.items()
        for one, other in combinations(mine, 2)
    ]
    cluster = data.clusters_of([sample for sample, _, _ in pairs])
    gaps = {}
    for judge in judges:
        same = data.judge is not None and data.judge.id == judge.id
        seen = data if same else open_study(store, data.study.id, judge.id)
        score = atom_scores(seen.table, _ATOM)
        gaps[judge.id] = np.array(
            [
                np.sign(float(score[one] - score[other]))
                if one in score and other in score
                else np.nan
                for _, one, other in pairs
            ],
            dtype=np.float64,
        )
    found = []
    for first, second in combinations(judges, 2):
        one, other = gaps[first.id], gaps[second.id]
        both = np.isfinite(one) & np.isfinite(other)
        if both.any():
            alike = share_of(one[both] == other[both], cluster[both])
            found.append(OrderPair(first=first, second=second, alike=alike))
    return tuple(found)

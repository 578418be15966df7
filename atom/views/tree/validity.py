"""Is the tree worth its leaves? The paper's measure, a verdict, and rivals side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from atom.analysis.capability.partitions import (
    adjusted_mutual_information,
    adjusted_rand,
    path_credit,
)
from atom.analysis.capability.rivals import by_chance, renumber
from atom.analysis.capability.validity import Atoms, ValidityVerdict, validity
from atom.analysis.intervals import Ints
from atom.store import Store, tree_versions
from atom.views.overview.quadrants import MIN_SAMPLES
from atom.views.study_data import StudyData
from atom.views.tree.by_hand import ByHand, by_hand
from atom.views.tree.node_table import PlacedCriteria, placed
from atom.views.tree.rivals import SEED, RivalGrouping, rival_groupings

MIN_CRITERIA = 5
TIE = 0.001
"""Adjusted deltas this close, in points of 1..5, are level: shuffles are drawn by chance."""
_SHUFFLES = 3
_RIVAL_SHUFFLES = 99
_MANY, _HUGE = 200_000, 600_000
Tell = Callable[[str, int, int], None]
"""Told what is being computed: a word, how many are done, how many there are."""


@dataclass(frozen=True, kw_only=True)
class RivalRow:
    """One grouping, judged.

    Attributes:
        about: how it was made.
        own: whether it is the study's tree.
        leaves: groups that have criteria.
        thin: groups under five criteria or five samples.
        placed: criteria that have a group.
        verdict: the numbers; on points of 1..5.
        guessed: whether words stand for the judge that could have mapped it.
    """

    name: str
    about: str
    own: bool
    leaves: int
    thin: int
    placed: int
    verdict: ValidityVerdict
    guessed: bool = False


@dataclass(frozen=True, kw_only=True)
class Stability:
    """How alike two inductions map the same criteria.

    Attributes:
        first: position of one version.
        second: position of the other.
        n: criteria mapped in both.
        ari: adjusted Rand index of the leaves.
        ami: adjusted mutual information of the leaves.
        credit: mean share of layers in common, where names agree.
    """

    first: int
    second: int
    n: int
    ari: float
    ami: float
    credit: float


@dataclass(frozen=True, kw_only=True)
class Validity:
    """Whether a tree predicts scores, and how it stands among its rivals.

    Attributes:
        own: the study's tree.
        rivals: the other groupings, in a fixed order.
        left_out: rivals that can't be made here, and why, in words.
        stability: the two latest inductions; None with fewer than two.
        permutations: shuffled trees that the study's tree was compared with.
        scores: checkpoints that were counted.
        samples: samples that were counted.
        by_hand: people's own mapping; None where nobody has mapped.
    """

    own: RivalRow
    rivals: tuple[RivalRow, ...]
    left_out: tuple[str, ...]
    stability: Stability | None
    permutations: int
    scores: int
    samples: int
    by_hand: ByHand | None = None

    @property
    def ahead(self) -> tuple[RivalRow, ...]:
        """Rivals that predict more than the tree, best first."""
        mine = self.own.verdict.delta_adjusted
        found = [row for row in self.rivals if row.verdict.delta_adjusted > mine + TIE]
        return tuple(sorted(found, key=lambda row: -row.verdict.delta_adjusted))

    @property
    def level(self) -> tuple[RivalRow, ...]:
        """Rivals that can't be told from the tree by this measure."""
        mine = self.own.verdict.delta_adjusted
        return tuple(row for row in self.rivals if abs(row.verdict.delta_adjusted - mine) <= TIE)

    @property
    def guessed(self) -> tuple[RivalRow, ...]:
        """Rivals that a judge could map as it mapped the tree, and that words stand for."""
        return tuple(row for row in self.rivals if row.guessed)

    @property
    def rank(self) -> int:
        """1 + how many rivals predict more."""
        return 1 + len(self.ahead)


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """Scored checkpoints as the verdict needs them, and each one's criterion."""

    atoms: Atoms
    criterion: Ints


def tree_validity(store: Store, data: StudyData, tell: Tell | None = None) -> Validity | None:
    """Judge a study's tree and its rivals.

    Args:
        data: the study; its tree is the one that is judged.
        tell: told of progress.

    Returns:
        The view-model, or None when fewer than five samples have scores in the tree.

    Reference:
        ATOM Table 3; METHODS A5 (printed), B19 (verdict).
    """
    tree = data.tree
    if tree is None:
        return None
    where = placed(store, data)
    rows = _rows(data, where)
    if len(np.unique(rows.atoms.sample)) < MIN_SAMPLES:
        return None
    tell = tell or (lambda word, done, total: None)
    n = len(rows.criterion)
    permutations = 199 if n <= _MANY else 99 if n <= _HUGE else 39
    fewer = min(permutations, _RIVAL_SHUFFLES)
    tell("the rival taxonomies", 0, 1)
    own = RivalGrouping(name=tree.name, about="this study's tree", group=renumber(list(where.leaf)))
    from threadpoolctl import threadpool_limits

    # One thread: for arrays of this size several wait for each other more than they work.
    with threadpool_limits(1):
        groupings, left_out = rival_groupings(store, data, where, own.group)
    judged = []
    for number, grouping in enumerate((own, *groupings)):
        tell(grouping.name, number, len(groupings) + 2)
        own_ = number == 0
        judged.append(_judge(rows, where, grouping, permutations if own_ else fewer, own=own_))
    tell("Random", len(groupings) + 1, len(groupings) + 2)
    judged.append(_random(rows, where, own.group, fewer))
    tell("stability", len(groupings) + 2, len(groupings) + 2)
    return Validity(
        own=judged[0],
        rivals=tuple(judged[1:]),
        left_out=tuple(left_out),
        stability=_stability(store, data),
        permutations=permutations,
        scores=n,
        samples=len(np.unique(rows.atoms.sample)),
        by_hand=by_hand(store, data, where),
    )


def _rows(data: StudyData, where: PlacedCriteria) -> _Rows:
    """Take the first repeat's scores of criteria that hang in the tree; none of set-aside samples.

    Every criterion gets its place within its sample, the same for every model, so that a missing
    score doesn't shift the rest.
    """
    scores = data.table
    at = {criterion: number for number, criterion in enumerate(where.criterion)}
    known = np.array([leaf is not None for leaf in where.leaf], dtype=np.bool_)
    code = np.array([at.get(name, -1) for name in scores.criterion_ids], dtype=np.int64)
    answer = scores.response
    good = (
        (scores.score > 0)
        & scores.answered[answer]
        & ~scores.quarantined[scores.sample[answer]]
        & (scores.repeat[answer] == 0)
    )
    rows = np.flatnonzero(good)
    criterion = code[scores.criterion[rows]] if len(rows) else np.zeros(0, dtype=np.int64)
    keep = (criterion >= 0) & known[criterion] if len(known) else np.zeros(0, dtype=np.bool_)
    rows, criterion = rows[keep], criterion[keep]
    answer = scores.response[rows]
    return _Rows(
        atoms=Atoms(
            score=scores.score[rows].astype(np.float64),
            model=scores.model[answer].astype(np.int64),
            sample=scores.sample[answer].astype(np.int64),
            leaf=np.zeros(len(rows), dtype=np.int64),
        ),
        criterion=criterion,
    )


def _judge(
    rows: _Rows, where: PlacedCriteria, grouping: RivalGrouping, permutations: int, *, own: bool
) -> RivalRow:
    group = grouping.group[rows.criterion]
    keep = group >= 0
    criterion = rows.criterion[keep]
    atoms = Atoms(
        score=rows.atoms.score[keep],
        model=rows.atoms.model[keep],
        sample=rows.atoms.sample[keep],
        leaf=group[keep],
        place=_places(criterion, where.sample),
    )
    used = grouping.group >= 0
    size = Counter(grouping.group[used].tolist())
    samples = Counter(
        group for group, _ in set(zip(grouping.group[used].tolist(), where.sample[used].tolist(),
                                      strict=True))
    )  # fmt: skip
    return RivalRow(
        name=grouping.name,
        about=grouping.about,
        own=own,
        leaves=len(size),
        thin=sum(size[g] < MIN_CRITERIA or samples[g] < MIN_SAMPLES for g in size),
        placed=int(used.sum()),
        verdict=validity(atoms, np.random.default_rng(SEED), permutations),
        guessed=grouping.guessed,
    )


def _random(rows: _Rows, where: PlacedCriteria, own: Ints, permutations: int) -> RivalRow:
    """Judge shuffles of the tree's own leaves, and return the middle one of them."""
    drawn = [
        _judge(
            rows,
            where,
            RivalGrouping(
                name="Random",
                about=f"this tree's leaves shuffled between criteria; the middle of {_SHUFFLES}",
                group=by_chance(own, np.random.default_rng([SEED, number])),
            ),
            permutations,
            own=False,
        )
        for number in range(_SHUFFLES)
    ]
    return sorted(drawn, key=lambda row: row.verdict.delta_adjusted)[_SHUFFLES // 2]


def _places(criterion: Ints, sample_of: Ints) -> Ints:
    """Number the criteria of each sample, without gaps, in the study's order."""
    if not len(criterion):
        return criterion
    known, inverse = np.unique(criterion, return_inverse=True)
    sample = sample_of[known]
    order = np.lexsort((known, sample))
    new = np.r_[True, sample[order][1:] != sample[order][:-1]]
    first = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    place = np.empty(len(known), dtype=np.int64)
    place[order] = np.arange(len(order)) - first
    return place[inverse]


def _stability(store: Store, data: StudyData) -> Stability | None:
    """Compare the two latest trees that were grown, on the criteria that both have."""
    grown = [p for p in tree_versions(store, data.study.id) if p.origin == "induced"]
    latest = {point.version: point for point in grown}
    points = sorted(latest.values(), key=lambda point: point.position)[-2:]
    if len(points) < 2:
        return None
    one, other = (placed(store, data, point.version).leaf_of for point in points)
    common = [criterion for criterion in one if criterion in other]
    if len(common) < 2:
        return None
    a, b = [one[c] for c in common], [other[c] for c in common]
    return Stability(
        first=points[0].position,
        second=points[1].position,
        n=len(common),
        ari=adjusted_rand(a, b),
        ami=adjusted_mutual_information(a, b),
        credit=float(np.mean([path_credit(x, y) for x, y in zip(a, b, strict=True)])),
    )

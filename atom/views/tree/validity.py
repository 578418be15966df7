"""Is the tree worth its leaves? The paper's measure, a verdict, and rivals side by side."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from PIL import Image, UnidentifiedImageError

from atom.analysis.capability.partitions import (
    adjusted_mutual_information,
    adjusted_rand,
    path_credit,
)
from atom.analysis.capability.rivals import (
    NOWHERE,
    by_chance,
    by_picture,
    by_text,
    by_words,
    picture_features,
    renumber,
    text_matrix,
)
from atom.analysis.capability.validity import Atoms, Verdict, validity
from atom.analysis.intervals import Floats, Ints
from atom.analysis.kept import Kept
from atom.errors import PictureError
from atom.records import AnnotationKind, Criterion, Sample
from atom.records import Mapping as LeafMapping
from atom.store import Store, leaf_mappings, tree_versions
from atom.store.labels import labels_of
from atom.store.reading.rivals import RivalTree, rival_trees
from atom.views.overview.page import MIN_SAMPLES
from atom.views.people.annotations import standing
from atom.views.study_data import StudyData, data_facets, dataset_facet
from atom.views.tree.node_table import Placed, placed
from taxonomy import Path, parse_path

SEED = 20261127
MIN_CRITERIA = 5
TIE = 0.001
"""Adjusted deltas this close, in points of 1..5, are level: shuffles are drawn by chance."""
_MAPPED = 0.9
"""Share of the criteria from which on a judge's mapping stands for a tree."""
_PIXELS = 64
_FEATURES = Kept(2_000)
"""Features of pictures, which no edit of a tree changes: 2.5 KB each."""
_SHUFFLES = 3
_RIVAL_SHUFFLES = 99
_MANY, _HUGE = 200_000, 600_000
Tell = Callable[[str, int, int], None]
"""Told what is being computed: a word, how many are done, how many there are."""


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """A way to group the study's criteria.

    Attributes:
        about: how it was made, in a sentence.
        group: group of each criterion, -1 = none, shape (C,).
        guessed: whether words stand for the judge that could have mapped it.
    """

    name: str
    about: str
    group: Ints
    guessed: bool = False


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
    verdict: Verdict
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
class ByHand:
    """How far people put criteria where the judge put them.

    Attributes:
        n: criteria that people mapped to a leaf of this tree, and that the judge mapped, too.
        hits: those on the same leaf.
        roots: those under the same root.
        elsewhere: criteria that people mapped to a leaf that isn't in this tree.
        conflicts: criteria on which people disagree.
    """

    n: int
    hits: int
    roots: int
    elsewhere: int
    conflicts: int


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
    own = Grouping(name=tree.name, about="this study's tree", group=renumber(list(where.leaf)))
    from threadpoolctl import threadpool_limits

    # One thread: for arrays of this size several wait for each other more than they work.
    with threadpool_limits(1):
        groupings, left_out = _rivals(store, data, where, own.group)
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


_MAPPED_BY_HAND: tuple[AnnotationKind, ...] = ("mapping",)


def by_hand(store: Store, data: StudyData, where: Placed) -> ByHand | None:
    """Hold the judge's mapping against the one that people gave on Human check.

    Args:
        where: its criteria in the tree.

    Returns:
        The counts; None where nobody has mapped a criterion.
    """
    stands = standing(labels_of(store, data.study.id, _MAPPED_BY_HAND))
    if not stands or data.tree is None:
        return None
    judged, leaves = where.leaf_of, set(data.tree.leaves)
    pairs, elsewhere = [], 0
    for (_, criterion), one in stands.items():
        if one.label is None:
            continue
        path = data.tree.find_leaf(parse_path(one.label.label))
        if path is None or path not in leaves:
            elsewhere += 1
        elif criterion in judged:
            pairs.append((path, judged[criterion]))
    return ByHand(
        n=len(pairs),
        hits=sum(mine == theirs for mine, theirs in pairs),
        roots=sum(mine[0] == theirs[0] for mine, theirs in pairs),
        elsewhere=elsewhere,
        conflicts=sum(one.state == "conflict" for one in stands.values()),
    )


def _rows(data: StudyData, where: Placed) -> _Rows:
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
    rows: _Rows, where: Placed, grouping: Grouping, permutations: int, *, own: bool
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


def _random(rows: _Rows, where: Placed, own: Ints, permutations: int) -> RivalRow:
    """Judge shuffles of the tree's own leaves, and return the middle one of them."""
    drawn = [
        _judge(
            rows,
            where,
            Grouping(
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


# --- rivals ------------------------------------------------------------------------------------


def _rivals(
    store: Store, data: StudyData, where: Placed, own: Ints
) -> tuple[list[Grouping], list[str]]:
    rng = np.random.default_rng(SEED)
    texts = _texts(store, where)
    n_groups = max(len(set(own.tolist()) - {NOWHERE}), 2)
    found: list[Grouping] = []
    left_out: list[str] = []
    trees = {rival.kind: rival for rival in rival_trees(store, data.study)}
    if "unpruned" not in trees:
        left_out.append("No prune: the tree has no pruning in its history.")
    if "seed" not in trees:
        left_out.append("No data: the study's tree is the seed tree itself.")
    found += [_tree(store, data, rival, where, texts) for rival in trees.values()]
    labels = _labels(data, where)
    if labels is None:
        left_out.append("Labels of the data: no facet gives each sample one of several labels.")
    else:
        found.append(labels)
    pictures = _pictures(store, data, where, n_groups)
    if pictures is None:
        left_out.append("By picture: no picture of the study can be read.")
    else:
        found.append(pictures)
    found.append(
        Grouping(name="By text", about="criteria whose wording is alike (TF-IDF, k-means)",
                 group=by_text(texts, n_groups, rng))
    )  # fmt: skip
    return found, left_out


def _texts(store: Store, where: Placed) -> list[str]:
    heads = {c.id: c for c in store.get_many(Criterion, where.criterion)}
    return [
        f"{heads[name].question} {heads[name].ground_truth}" if name in heads else ""
        for name in where.criterion
    ]


def _tree(
    store: Store, data: StudyData, rival: RivalTree, where: Placed, texts: Sequence[str]
) -> Grouping:
    """Group by another tree: as a judge mapped it, else by shared words."""
    mapped = leaf_mappings(store, rival.version, list(where.criterion))
    known = {name: one for name, one in mapped.items() if one.state != "failed"}
    if len(known) >= _MAPPED * len(where.criterion):
        leaves = [known[one].leaf if one in known else None for one in where.criterion]
        who = _who(store, data, where, known)
        return Grouping(
            name=rival.name, about=f"{rival.about}; mapped by {who}", group=renumber(leaves)
        )
    if rival.sources is None:
        group, how = by_words(texts, rival.tree), "mapped by shared words"
    else:
        group, how = _split(where, texts, rival.sources), "split by shared words"
    return Grouping(name=rival.name, about=f"{rival.about}; {how}", group=group, guessed=True)


def _who(store: Store, data: StudyData, where: Placed, known: Mapping[str, LeafMapping]) -> str:
    """Say who mapped a rival: the judge that mapped the study's tree, or another one."""
    own = leaf_mappings(store, data.study.tree_version or "", list(where.criterion))
    ours, theirs = (
        Counter(one.judge_id for one in each.values()).most_common(1) for each in (own, known)
    )
    same = bool(ours) and bool(theirs) and ours[0][0] == theirs[0][0]
    return "the same judge" if same else "another judge than this tree was"


def _labels(data: StudyData, where: Placed) -> Grouping | None:
    """Group by the facet with most labels, among those that give every sample one label."""
    best: tuple[int, str, Ints] | None = None
    scores = data.table
    for name, facet in data_facets(scores.facets).items():
        sample = scores.sample[facet.response]
        label = np.full(len(scores.sample_ids), NOWHERE, dtype=np.int64)
        label[sample] = facet.value
        single = bool((label[sample] == facet.value).all())
        n = len(facet.values)
        usable = single and 2 <= n <= max(len(scores.sample_ids) // MIN_SAMPLES, 2)
        if usable and (best is None or (n, name != dataset_facet(scores.facets)) > (best[0], True)):
            best = (n, name, label)
    if best is None:
        return None
    return Grouping(
        name=f"Labels: {best[1]}",
        about="labels that came with the data",
        group=best[2][where.sample],
    )


def _pictures(store: Store, data: StudyData, where: Placed, n_groups: int) -> Grouping | None:
    """Group samples whose first pictures look alike."""
    ids = [data.table.sample_ids[int(sample)] for sample in np.unique(where.sample)]
    features: dict[str, Floats] = {}
    for sample in store.get_many(Sample, ids):
        slot = sample.pictures[0] if sample.pictures else None
        found = _described(store, slot.picture_id) if slot and slot.picture_id else None
        if found is not None:
            features[sample.id] = found
    if len(features) < MIN_SAMPLES:
        return None
    known = list(features)
    group = by_picture(
        np.array([features[name] for name in known]), n_groups, np.random.default_rng(SEED)
    )
    of = np.full(len(data.table.sample_ids), NOWHERE, dtype=np.int64)
    of[[data.sample_position[name] for name in known]] = group
    return Grouping(
        name="By picture",
        about="samples whose pictures look alike (16 × 16 grey and colours, k-means)",
        group=of[where.sample],
    )


def _described(store: Store, picture_id: str) -> Floats | None:
    """Return a picture's features, kept by its bytes; None where it can't be read."""
    try:
        file = store.pictures.thumbnail(picture_id)
        return _FEATURES.get(sha256(file).digest(), lambda: picture_features(_pixels(file)))
    except (PictureError, UnidentifiedImageError, OSError):
        return None


def _pixels(file: bytes) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    with Image.open(io.BytesIO(file)) as image:
        colours = image if image.mode == "RGB" else image.convert("RGB")
        return np.asarray(colours.resize((_PIXELS, _PIXELS)), dtype=np.uint8)


def _split(where: Placed, texts: Sequence[str], sources: Mapping[Path, Sequence[Path]]) -> Ints:
    """Give each criterion one of the leaves that its own leaf was made of.

    The definitive mapping knows the final leaves only, so shared words must tell them apart.
    """
    found: list[object] = []
    by_leaf: dict[Path, list[int]] = {}
    for number, leaf in enumerate(where.leaf):
        found.append(leaf)
        if leaf is not None and len(sources.get(leaf, ())) > 1:
            by_leaf.setdefault(leaf, []).append(number)
    for leaf, numbers in by_leaf.items():
        names = sources[leaf]
        both = text_matrix([*(" ".join(n[1:]) for n in names), *(texts[i] for i in numbers)])
        likeness = (both[len(names) :] @ both[: len(names)].T).toarray()
        for number, best in zip(numbers, likeness.argmax(axis=1), strict=True):
            found[number] = names[int(best)]
    return renumber(found)


# --- stability ---------------------------------------------------------------------------------


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

"""What a tree is held against: other trees, labels, groups of texts and pictures."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from PIL import Image, UnidentifiedImageError

from atom.analysis.capability.rivals import (
    NOWHERE,
    by_picture,
    by_text,
    by_words,
    picture_features,
    renumber,
    text_matrix,
)
from atom.analysis.intervals import Floats, Ints
from atom.analysis.result_cache import ResultCache
from atom.errors import PictureError
from atom.records import Criterion, Sample
from atom.records import Mapping as LeafMapping
from atom.store import Store, leaf_mappings
from atom.store.reading.rivals import RivalTree, rival_trees
from atom.views.facets import data_facets, dataset_facet
from atom.views.overview.quadrants import MIN_SAMPLES
from atom.views.study_data import StudyData
from atom.views.tree.node_table import PlacedCriteria
from taxonomy import Path

_MAPPED = 0.9
"""Share of the criteria from which on a judge's mapping stands for a tree."""
_PIXELS = 64
_FEATURES = ResultCache(2_000)
"""Features of pictures, which no edit of a tree changes: 2.5 KB each."""


@dataclass(frozen=True, kw_only=True)
class RivalGrouping:
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


def rival_groupings(
    store: Store, data: StudyData, where: PlacedCriteria, own: Ints
) -> tuple[list[RivalGrouping], list[str]]:
    """Return what the tree is held against, and what had to be left out."""
    rng = np.random.default_rng(SEED)
    texts = _texts(store, where)
    n_groups = max(len(set(own.tolist()) - {NOWHERE}), 2)
    found: list[RivalGrouping] = []
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
        RivalGrouping(name="By text", about="criteria whose wording is alike (TF-IDF, k-means)",
                      group=by_text(texts, n_groups, rng))
    )  # fmt: skip
    return found, left_out


def _texts(store: Store, where: PlacedCriteria) -> list[str]:
    heads = {c.id: c for c in store.get_many(Criterion, where.criterion)}
    return [
        f"{heads[name].question} {heads[name].ground_truth}" if name in heads else ""
        for name in where.criterion
    ]


def _tree(
    store: Store, data: StudyData, rival: RivalTree, where: PlacedCriteria, texts: Sequence[str]
) -> RivalGrouping:
    """Group by another tree: as a judge mapped it, else by shared words."""
    mapped = leaf_mappings(store, rival.version, list(where.criterion))
    known = {name: one for name, one in mapped.items() if one.state != "failed"}
    if len(known) >= _MAPPED * len(where.criterion):
        leaves = [known[one].leaf if one in known else None for one in where.criterion]
        who = _who(store, data, where, known)
        return RivalGrouping(
            name=rival.name, about=f"{rival.about}; mapped by {who}", group=renumber(leaves)
        )
    if rival.sources is None:
        group, how = by_words(texts, rival.tree), "mapped by shared words"
    else:
        group, how = _split(where, texts, rival.sources), "split by shared words"
    return RivalGrouping(name=rival.name, about=f"{rival.about}; {how}", group=group, guessed=True)


def _who(
    store: Store, data: StudyData, where: PlacedCriteria, known: Mapping[str, LeafMapping]
) -> str:
    """Say who mapped a rival: the judge that mapped the study's tree, or another one."""
    own = leaf_mappings(store, data.study.tree_version or "", list(where.criterion))
    ours, theirs = (
        Counter(one.judge_id for one in each.values()).most_common(1) for each in (own, known)
    )
    same = bool(ours) and bool(theirs) and ours[0][0] == theirs[0][0]
    return "the same judge" if same else "another judge than this tree was"


def _labels(data: StudyData, where: PlacedCriteria) -> RivalGrouping | None:
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
    return RivalGrouping(
        name=f"Labels: {best[1]}",
        about="labels that came with the data",
        group=best[2][where.sample],
    )


def _pictures(
    store: Store, data: StudyData, where: PlacedCriteria, n_groups: int
) -> RivalGrouping | None:
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
    return RivalGrouping(
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


def _split(
    where: PlacedCriteria, texts: Sequence[str], sources: Mapping[Path, Sequence[Path]]
) -> Ints:
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


SEED = 20261127

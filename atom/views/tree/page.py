"""Capability tree: what is being tested, and who fails where?

Nodes are numbered in the tree's own order, parents before children, so that the leaves under a node
are a run of numbers and roll-ups need no second sort.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Cells, Floats, Ints, NodeStats, node_stats
from atom.analysis.nodes import index_nodes
from atom.records import Criterion, Sample
from atom.store import Store, study_places
from atom.store.standing import in_order, leaves_of, standing_sets
from atom.views.filters import Filters
from atom.views.overview.page import MIN_SAMPLES, Estimate
from atom.views.overview.weaknesses import Evidence, NodeEvidence, node_means, whole_means
from atom.views.reading import mean_rows_kept
from atom.views.study_data import StudyData
from atom.views.tree.colours import FULL_DIFFERENCE
from taxonomy import Path, Tree, fold, format_path, parse_path

Colouring = Literal["score", "difference", "support", "evidence"]
COLOURINGS: tuple[Colouring, ...] = get_args(Colouring)
_NOWHERE: Path = ("",)
_MOST_WORST = 3
_MOST_LOOKED_AT = 60
_LEAST_SPAN = 30
_LINK = 280
"""A path longer than this is cut in a link, and found again by its beginning."""


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A study's criteria, and the leaf that each hangs on in one tree.

    Attributes:
        criterion: ids, in the study's order.
        sample: the sample's index in the study, shape (C,).
        leaf: path of the leaf; None where the criterion hangs nowhere.
    """

    criterion: tuple[str, ...]
    sample: Ints
    leaf: tuple[Path | None, ...]

    @property
    def leaf_of(self) -> dict[str, Path]:
        """Criterion id -> leaf, for those that hang somewhere."""
        pairs = zip(self.criterion, self.leaf, strict=True)
        return {criterion: leaf for criterion, leaf in pairs if leaf is not None}


@dataclass(frozen=True, kw_only=True)
class NodeTable:
    """Every node of a tree with its support and scores.

    Shapes: M nodes, K models.

    Attributes:
        tree: the tree.
        paths: M paths, parents first; the first is empty and stands for the whole tree.
        parent: index of the parent, shape (M,); -1 for the whole tree.
        end: shape (M,); the nodes under node i are i+1 .. end[i]-1.
        is_leaf: shape (M,).
        criteria: criteria under the node, shape (M,).
        samples: distinct samples under the node, shape (M,).
        mean: mean score 0..100, shape (K, M); NaN where nothing is scored.
        lo: lower end of the 95 % interval, shape (K, M).
        hi: upper end, shape (K, M).
        n: scored checkpoints, shape (K, M).
        clusters: distinct samples scored, shape (K, M).
        unplaced: criteria that hang nowhere in this tree.
        leaf_of: criterion id -> leaf.
        criterion_node: node of each criterion of the score table, -1 = nowhere.
    """

    tree: Tree
    paths: tuple[Path, ...]
    parent: Ints
    end: Ints
    is_leaf: NDArray[np.bool_]
    criteria: Ints
    samples: Ints
    mean: Floats
    lo: Floats
    hi: Floats
    n: Ints
    clusters: Ints
    unplaced: int
    leaf_of: Mapping[str, Path]
    criterion_node: Ints

    @property
    def n_leaves(self) -> int:
        """Leaves of the tree."""
        return int(self.is_leaf.sum())

    def estimate(self, model: int, node: int) -> Estimate:
        """Return a model's mean on a node."""
        return Estimate(
            value=float(self.mean[model, node]),
            lo=float(self.lo[model, node]),
            hi=float(self.hi[model, node]),
            n=int(self.n[model, node]),
            samples=int(self.clusters[model, node]),
        )


@dataclass(frozen=True, kw_only=True)
class Shown:
    """Which nodes are drawn, and in which colour.

    Attributes:
        nodes: indices of the nodes, parents first.
        value: what the colour stands for, shape (M,): a score 0..100, a difference in points,
            criteria, or (by evidence) the effect in points; NaN where there is none.
        colouring: which of these.
        model: index of the model; None = the mean of all.
        hidden: leaves that the filters leave out.
        span: what the colours' two ends stand for.
        evidence: by evidence, what is said of each of the M nodes; None for the whole tree.
    """

    nodes: Ints
    value: Floats
    colouring: Colouring
    model: int | None
    hidden: int
    span: tuple[float, float]
    evidence: tuple[NodeEvidence | None, ...] = ()

    def said(self, index: int) -> NodeEvidence | None:
        """Return what the diagnosis says of a node; None unless colours stand for evidence."""
        return self.evidence[index] if self.evidence else None


@dataclass(frozen=True, kw_only=True)
class WorstCriterion:
    """A criterion that goes wrong, and the door to it."""

    question: str
    truth: str
    leaf: Path
    score: float
    """Mean score 1..5 over the models looked at."""
    n: int
    picture_id: str | None
    picture_name: str
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class ModelScore:
    """A model on a node, and the door to its failures there."""

    name: str
    model_id: str
    colour: int
    estimate: Estimate
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class NodeCard:
    """One node in full.

    Attributes:
        index: its number.
        path: its path; empty for the whole tree.
        name: its name.
        meaning: what it means, in words; may be empty.
        kind: `tree`, `root`, `category`, `parent`, `capability`, or `layer n` of deeper trees.
        criteria: criteria under it.
        samples: distinct samples under it.
        leaves: leaves under it (1 for a leaf).
        children: indices of its children.
        scores: every model, in the study's order.
        worst: at most three criteria, worst first.
        thin: too few samples for a claim.
    """

    index: int
    path: Path
    name: str
    meaning: str
    kind: str
    criteria: int
    samples: int
    leaves: int
    children: tuple[int, ...]
    scores: tuple[ModelScore, ...]
    worst: tuple[WorstCriterion, ...]
    thin: bool


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A node that a search found."""

    index: int
    path: Path
    criteria: int


# --- reading -----------------------------------------------------------------------------------


def placed(store: Store, data: StudyData, version: str | None = None) -> Placed:
    """Read where a study's criteria hang in one version of its tree.

    Args:
        store: the store.
        data: the study.
        version: a tree version; None = the study's own.
    """
    version = version or data.study.tree_version or ""
    return data.table.kept.get(placed_key(version), lambda: _placed(store, data, version))


def placed_key(version: str | None) -> tuple[str, str]:
    """Return under what a study keeps where its criteria hang in a version of its tree."""
    return ("placed", version or "")


def _placed(store: Store, data: StudyData, version: str) -> Placed:
    places = study_places(store, data.study.id)
    sets = standing_sets(store, places)
    leaf_of = leaves_of(store, version)
    pairs = [
        (use.criterion_id, data.sample_position[place.sample_id])
        for place in places
        if place.sample_id in sets
        for use in in_order(sets[place.sample_id])
    ]
    return Placed(
        criterion=tuple(criterion for criterion, _ in pairs),
        sample=np.array([sample for _, sample in pairs], dtype=np.int64),
        leaf=tuple(leaf_of.get(criterion) for criterion, _ in pairs),
    )


# --- numbers -----------------------------------------------------------------------------------


def node_table(data: StudyData, tree: Tree, where: Placed, filters: Filters) -> NodeTable:
    """Compute support and scores of every node of a tree.

    Support counts all criteria of the study; scores count the answers that pass the filters.

    Args:
        data: the study.
        tree: the tree; its leaves' names are those in `where`.
        where: the study's criteria in that tree.
        filters: tags, outcome and process narrow the scores; the chain doesn't.

    Returns:
        The table.

    Reference:
        METHODS A4 (mean over the atoms under the node), B2 (intervals).
    """
    held = data.table.kept.get(("support", id(where)), lambda: _support(data, tree, where))
    if held.where is not where:
        held = _support(data, tree, where)
    stats = _means(data, held, filters)
    shape = (data.table.n_models, len(held.paths))
    return NodeTable(
        tree=tree,
        paths=held.paths,
        parent=held.parent,
        end=_ends(held.depth),
        is_leaf=held.is_leaf,
        criteria=held.criteria,
        samples=held.samples,
        mean=100 * stats.mean.reshape(shape),
        lo=100 * stats.lo.reshape(shape),
        hi=100 * stats.hi.reshape(shape),
        n=stats.n.reshape(shape),
        clusters=stats.clusters.reshape(shape),
        unplaced=held.unplaced,
        leaf_of=held.leaf_of,
        criterion_node=held.criterion_node,
    )


@dataclass(frozen=True, kw_only=True)
class _Support:
    """What of a node table no filter changes; see `NodeTable` for the fields that it shares."""

    where: Placed
    paths: tuple[Path, ...]
    parent: Ints
    depth: Ints
    is_leaf: NDArray[np.bool_]
    criteria: Ints
    samples: Ints
    unplaced: int
    leaf_of: Mapping[str, Path]
    criterion_node: Ints
    own: bool
    """The score table's criteria hang where the table itself hangs them."""


def _support(data: StudyData, tree: Tree, where: Placed) -> _Support:
    paths = ((), *(path for path, _ in tree.walk()))
    at = {path: number for number, path in enumerate(paths)}
    parent = np.array([at[path[:-1]] if path else -1 for path in paths], dtype=np.int64)
    ends = set(tree.leaves)
    is_leaf = np.array([path in ends for path in paths], dtype=np.bool_)
    depth = np.array([len(path) for path in paths], dtype=np.int64)
    leaf_of = where.leaf_of
    known = np.array([at.get(leaf, -1) if leaf else -1 for leaf in where.leaf], dtype=np.int64)
    inside = known >= 0
    support = _roll_up(known[inside], where.sample[inside], np.ones(len(known))[inside], at, paths)
    node_of = np.array(
        [at.get(leaf_of.get(c, _NOWHERE), -1) for c in data.table.criterion_ids], dtype=np.int64
    )
    return _Support(
        where=where,
        paths=paths,
        parent=parent,
        depth=depth,
        is_leaf=is_leaf,
        criteria=_counted(support, len(paths)),
        samples=np.bincount(support.node, minlength=len(paths)).astype(np.int64),
        unplaced=int((~inside).sum()),
        leaf_of=leaf_of,
        criterion_node=node_of,
        own=_is_own(data, node_of, at),
    )


def _is_own(data: StudyData, node_of: Ints, at: Mapping[Path, int]) -> bool:
    """Say whether the score table's criteria hang here where the table itself hangs them."""
    table_ = data.table
    leaf = np.full(len(table_.criterion_ids), -1, dtype=np.int64)
    leaf[table_.criterion] = table_.leaf
    node = np.array([*(at.get(path, -1) for path in table_.leaves), -1], dtype=np.int64)
    return bool((node[leaf] == node_of).all())


def _means(data: StudyData, held: _Support, filters: Filters) -> NodeStats:
    """Estimate every (model, node): by the study's own layout where the tree is its own."""
    k, m = data.table.n_models, len(held.paths)
    at = {path: number for number, path in enumerate(held.paths)}
    if not held.own or not data.table.leaves:
        cells = _scored_cells(data, filters, held.criterion_node, at, held.paths)
        return node_stats(cells, k * m, np.tile(held.depth, k))
    below, whole = node_means(data, filters), whole_means(data, filters)
    place = np.array([at[path] for path in index_nodes(data.table.leaves).paths], dtype=np.int64)

    def spread(name: str, empty: float) -> Floats:
        found = np.full((k, m), empty)
        found[:, place] = getattr(below, name).reshape(k, -1)
        found[:, 0] = getattr(whole, name)
        return found.reshape(-1)

    return NodeStats(
        n=spread("n", 0).astype(np.int64),
        clusters=spread("clusters", 0).astype(np.int64),
        mean=spread("mean", np.nan),
        se=spread("se", np.nan),
        lo=spread("lo", np.nan),
        hi=spread("hi", np.nan),
    )


def _counted(cells: Cells, n_nodes: int) -> Ints:
    count = np.bincount(cells.node, weights=cells.count, minlength=n_nodes)
    return count.round().astype(np.int64)


def _ends(depth: Ints) -> Ints:
    end = np.full(len(depth), len(depth), dtype=np.int64)
    open_: list[int] = []
    for number, layer in enumerate(depth):
        while open_ and depth[open_[-1]] >= layer:
            end[open_.pop()] = number
        open_.append(number)
    return end


def _scored_cells(
    data: StudyData,
    filters: Filters,
    node_of: Ints,
    at: Mapping[Path, int],
    paths: tuple[Path, ...],
) -> Cells:
    """Sum scores by (cluster, model and node), every node above a leaf included."""
    scores = data.table
    rows = np.flatnonzero(mean_rows_kept(data, filters) & (scores.score > 0))
    node = node_of[scores.criterion[rows]] if len(rows) else node_of[:0]
    rows, node = rows[node >= 0], node[node >= 0]
    answer = scores.response[rows]
    cluster = scores.cluster[scores.sample[answer]].astype(np.int64)
    n_clusters = max(int(scores.cluster.max(initial=-1)) + 1, 1)
    group = scores.model[answer].astype(np.int64) * n_clusters + cluster
    value = (scores.score[rows].astype(np.float64) - 1) / 4
    cells = _roll_up(node, group, value, at, paths)
    return Cells(
        cluster=cells.cluster % n_clusters,
        node=cells.cluster // n_clusters * len(paths) + cells.node,
        total=cells.total,
        count=cells.count,
    )


def _roll_up(
    node: Ints, group: Ints, value: Floats, at: Mapping[Path, int], paths: tuple[Path, ...]
) -> Cells:
    """Sum values by (group, node) for the nodes given and all above them.

    One sort; after it, rows of one group lie in the tree's order, so that what rolls up into one
    parent are neighbours.
    """
    parent = np.array([at[path[:-1]] if path else -1 for path in paths], dtype=np.int64)
    depth = np.array([len(path) for path in paths], dtype=np.int64)
    unique, inverse = np.unique(group * len(paths) + node, return_inverse=True)
    total = np.bincount(inverse, weights=value, minlength=len(unique)).astype(np.float64)
    count = np.bincount(inverse, minlength=len(unique)).astype(np.float64)
    groups, nodes = unique // len(paths), unique % len(paths)
    parts: list[tuple[Ints, Ints, Floats, Floats]] = []
    for layer in range(int(depth.max()), -1, -1):
        here = depth[nodes] == layer
        parts.append((groups[here], nodes[here], total[here], count[here]))
        if layer == 0 or not len(nodes):
            break
        nodes = np.where(here, parent[nodes], nodes)
        new = (groups[1:] != groups[:-1]) | (nodes[1:] != nodes[:-1])
        starts = np.flatnonzero(np.r_[True, new])
        total, count = np.add.reduceat(total, starts), np.add.reduceat(count, starts)
        groups, nodes = groups[starts], nodes[starts]
    return Cells(
        cluster=np.concatenate([part[0] for part in parts]),
        node=np.concatenate([part[1] for part in parts]),
        total=np.concatenate([part[2] for part in parts]),
        count=np.concatenate([part[3] for part in parts]),
    )


# --- choosing ----------------------------------------------------------------------------------


def resolve(tree: Tree, path: Path) -> Path:
    """Find the node that a link means; the deepest that fits, empty when none does.

    Links hold paths as text, so names with separators in them, and very long paths, come back
    changed; they are compared in the form that a link gives them.
    """
    if not path or path in tree:
        return path
    wanted = format_path(fold(path))
    cut = len(format_path(path)) >= _LINK
    for other, _ in tree.walk():
        written = format_path(fold(parse_path(format_path(other))))
        if written == wanted or (cut and written.startswith(wanted)):
            return other
    return ()


def shown(
    nodes: NodeTable,
    *,
    model: int | None = None,
    colouring: Colouring = "score",
    min_criteria: int = 0,
    max_depth: int | None = None,
    evidence: Evidence | None = None,
) -> Shown:
    """Choose the nodes to draw and what their colour stands for.

    Args:
        nodes: the table.
        model: whose scores; None = the mean over models.
        colouring: `difference` is the model minus the mean of the others; without a model it
            shows scores. So does `evidence`, which is about one model.
        min_criteria: nodes with fewer criteria are left out.
        max_depth: deepest layer drawn; None = all.
        evidence: the model's evidence; without it `evidence` shows scores.
    """
    if model is None and colouring in ("difference", "evidence"):
        colouring = "score"
    if colouring == "evidence" and evidence is None:
        colouring = "score"
    depth = np.array([len(path) for path in nodes.paths], dtype=np.int64)
    keep = nodes.criteria >= min_criteria
    keep[0] = True
    hidden = int((nodes.is_leaf & ~keep).sum())
    if max_depth is not None:
        keep &= depth <= max_depth
    said: tuple[NodeEvidence | None, ...] = ()
    if colouring == "evidence" and evidence is not None:
        said = tuple(evidence.at(path) for path in nodes.paths)
        value = np.array([math.nan if one is None else one.effect for one in said])
    else:
        value = node_values(nodes, colouring, model)
    return Shown(
        nodes=np.flatnonzero(keep).astype(np.int64),
        value=value,
        colouring=colouring,
        model=model,
        hidden=hidden,
        span=_span(value[keep], colouring),
        evidence=said,
    )


def _span(value: Floats, colouring: Colouring) -> tuple[float, float]:
    """Return the range of a colour scale: tens around what is drawn, at least thirty wide."""
    if colouring in ("difference", "evidence"):
        return -FULL_DIFFERENCE, FULL_DIFFERENCE
    known = value[np.isfinite(value)]
    if colouring == "support":
        return 0.0, float(max(known.max(initial=1.0), 1.0))
    if not len(known):
        return 0.0, 100.0
    lo, hi = 10 * math.floor(known.min() / 10), 10 * math.ceil(known.max() / 10)
    while hi - lo < _LEAST_SPAN:
        lo, hi = max(lo - 10, 0), min(hi + 10, 100)
    return float(lo), float(hi)


def node_values(nodes: NodeTable, colouring: Colouring, model: int | None) -> Floats:
    """Return what a colour stands for, shape (M,); evidence is no number of the table's."""
    if colouring == "support":
        return nodes.criteria.astype(np.float64)
    if model is None:
        return _mean(nodes.mean)
    if colouring == "difference":
        others = np.delete(nodes.mean, model, axis=0)
        return np.asarray(nodes.mean[model] - _mean(others))
    return np.asarray(nodes.mean[model])


def _mean(rows: Floats) -> Floats:
    known = np.isfinite(rows)
    count = known.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, rows, 0.0).sum(axis=0) / np.where(count, count, np.nan))


def search(nodes: NodeTable, words: str, limit: int = 12) -> tuple[Hit, ...]:
    """Find nodes that have all words in their name, path or meaning.

    Names count more than meanings, and whole names most; then the number of criteria.
    """
    wanted = words.casefold().split()
    if not wanted:
        return ()
    found = []
    for number, path in enumerate(nodes.paths):
        if not path:
            continue
        name = path[-1].casefold()
        around = f"{format_path(path)} {nodes.tree.node(path).meaning}".casefold()
        if not all(word in around for word in wanted):
            continue
        inside = sum(word in name for word in wanted)
        rank = (name != " ".join(wanted), -inside, -int(nodes.criteria[number]), number)
        found.append((rank, Hit(index=number, path=path, criteria=int(nodes.criteria[number]))))
    return tuple(hit for _, hit in sorted(found, key=lambda pair: pair[0])[:limit])


# --- the card ----------------------------------------------------------------------------------

_KINDS = {1: "root", 2: "category", 3: "parent", 4: "capability"}


def node_card(store: Store, data: StudyData, nodes: NodeTable, filters: Filters) -> NodeCard:
    """Describe one node, or the whole tree when the filters name none.

    Args:
        store: where questions are read from.
        data: the study.
        nodes: its tree in numbers.
        filters: `node` and `model` choose; the rest narrows.
    """
    path = resolve(nodes.tree, filters.node)
    index = nodes.paths.index(path)
    here = filters.but(node=path, sample=None, criterion=None)
    samples = int(nodes.samples[index])
    return NodeCard(
        index=index,
        path=path,
        name=path[-1] if path else nodes.tree.name,
        meaning=nodes.tree.node(path).meaning if path else "",
        kind=node_kind(nodes, index),
        criteria=int(nodes.criteria[index]),
        samples=samples,
        leaves=int(nodes.is_leaf[index : int(nodes.end[index])].sum()),
        children=tuple(int(child) for child in np.flatnonzero(nodes.parent == index)),
        scores=tuple(
            ModelScore(
                name=candidate.name,
                model_id=candidate.id,
                colour=number,
                estimate=nodes.estimate(number, index),
                filters=here.but(model=candidate.id),
            )
            for number, candidate in enumerate(data.candidates)
        ),
        worst=_worst(store, data, nodes, index, here),
        thin=samples < MIN_SAMPLES,
    )


def node_kind(nodes: NodeTable, index: int) -> str:
    """Name a node's layer in words."""
    layer = len(nodes.paths[index])
    if layer == 0:
        return "tree"
    if nodes.is_leaf[index]:
        return "capability"
    deep = max(len(path) for path in nodes.paths) > max(_KINDS)
    return f"layer {layer}" if deep and layer > 1 else _KINDS[layer]


def _worst(
    store: Store, data: StudyData, nodes: NodeTable, index: int, filters: Filters
) -> tuple[WorstCriterion, ...]:
    """Find the criteria of a node that lose most, at most one a sample."""
    scores = data.table
    kept = mean_rows_kept(data, filters)
    model = data.model_index(filters.model)
    if model is not None:
        kept = kept & scores.of_answers(scores.model == model)
    rows = np.flatnonzero(kept & (scores.score > 0))
    if index and len(rows):
        rows = rows[_under(nodes, index)[scores.criterion[rows]]]
    n = len(scores.criterion_ids)
    code = scores.criterion[rows]
    score = scores.score[rows]
    count = np.bincount(code, minlength=n)
    loss = np.bincount(code, weights=(5 - score) * scores.weight[rows], minlength=n)
    cost = loss / np.maximum(count, 1)
    order = _largest(cost, _MOST_LOOKED_AT)
    found: list[WorstCriterion] = []
    seen: set[str] = set()
    for start in range(0, len(order), 12):
        batch = [scores.criterion_ids[c] for c in order[start : start + 12]]
        heads = {criterion.id: criterion for criterion in store.get_many(Criterion, batch)}
        samples = {
            sample.id: sample
            for sample in store.get_many(Sample, [c.sample_id for c in heads.values()])
        }
        for code_, name in zip(order[start : start + 12], batch, strict=True):
            criterion = heads.get(name)
            sample = samples.get(criterion.sample_id) if criterion else None
            if criterion is None or sample is None or sample.id in seen:
                continue
            seen.add(sample.id)
            slot = sample.pictures[0] if sample.pictures else None
            worst = rows[code == code_]
            answer = scores.response[worst[np.argmin(scores.score[worst])]]
            found.append(
                WorstCriterion(
                    question=criterion.question,
                    truth=criterion.ground_truth,
                    leaf=nodes.leaf_of.get(criterion.id, ()),
                    score=float(score[code == code_].sum(dtype=np.float64) / count[code_]),
                    n=int(count[code_]),
                    picture_id=slot.picture_id if slot else None,
                    picture_name=slot.name if slot else "",
                    filters=filters.but(
                        sample=sample.id,
                        criterion=criterion.id,
                        model=filters.model or scores.model_ids[int(scores.model[answer])],
                    ),
                )
            )
            if len(found) == _MOST_WORST:
                return tuple(found)
    return tuple(found)


def _largest(values: Floats, most: int) -> list[int]:
    """Return where the largest values above 0 are, largest first, of equal ones the first first."""
    at = np.flatnonzero(values > 0)
    if len(at) > most:
        least = np.partition(values[at], len(at) - most)[len(at) - most]
        at = at[values[at] >= least]
    return [int(c) for c in at[np.argsort(-values[at], kind="stable")][:most]]


def _under(nodes: NodeTable, index: int) -> NDArray[np.bool_]:
    """Say which of the table's criteria hang under a node, shape (criteria of the table,)."""
    return np.asarray((nodes.criterion_node >= index) & (nodes.criterion_node < nodes.end[index]))

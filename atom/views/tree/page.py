"""Capability tree: what is being tested, and who fails where?

Nodes are numbered in the tree's own order, parents before children, so that the leaves under a node
are a run of numbers and roll-ups need no second sort.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from atom.display.estimate import Estimate
from atom.records import Criterion, Sample
from atom.store import Store
from atom.views.filters import Filters
from atom.views.overview.evidence import Evidence, NodeEvidence
from atom.views.overview.quadrants import MIN_SAMPLES
from atom.views.reading import mean_rows_kept
from atom.views.study_data import StudyData
from atom.views.tree.colours import FULL_DIFFERENCE
from atom.views.tree.node_table import NodeTable
from taxonomy import Path, Tree, fold, format_path, parse_path

Colouring = Literal["score", "difference", "support", "evidence"]
COLOURINGS: tuple[Colouring, ...] = get_args(Colouring)
_MOST_WORST = 3
_MOST_LOOKED_AT = 60
_LEAST_SPAN = 30
_LINK = 280
"""A path longer than this is cut in a link, and found again by its beginning."""


@dataclass(frozen=True, kw_only=True)
class DrawnNodes:
    """Which nodes are drawn, and in which colour.

    Attributes:
        nodes: indices of the nodes, parents first.
        value: what the colour stands for, shape (M,): a score 0..100, a difference in points,
            criteria, or (by evidence) the effect in points; NaN where there is none.
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
class NodeHit:
    """A node that a search found."""

    index: int
    path: Path
    criteria: int


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
) -> DrawnNodes:
    """Choose the nodes to draw and what their colour stands for.

    Args:
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
    return DrawnNodes(
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


def search(nodes: NodeTable, words: str, limit: int = 12) -> tuple[NodeHit, ...]:
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
        found.append((rank, NodeHit(index=number, path=path, criteria=int(nodes.criteria[number]))))
    return tuple(hit for _, hit in sorted(found, key=lambda pair: pair[0])[:limit])


# --- the card ----------------------------------------------------------------------------------

_KINDS = {1: "root", 2: "category", 3: "parent", 4: "capability"}


def node_card(store: Store, data: StudyData, nodes: NodeTable, filters: Filters) -> NodeCard:
    """Describe one node, or the whole tree when the filters name none.

    Args:
        store: where questions are read from.
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

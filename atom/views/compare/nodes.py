"""Two sides capability by capability (or label by label), each with its test and its doors.

Reference: METHODS A4 (node means), B9 (paired differences), B5 (multiplicity).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from atom.analysis.compare.paired import PairedNodes, PairedSamples, paired_items
from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask, facet_layout
from atom.analysis.nodes import index_nodes
from atom.analysis.score_table import Facet
from atom.views.compare.sides import Sides, layout_of
from atom.views.facets import dataset_facet
from atom.views.failures.page import answers_shown, checkpoints_shown, rows_here
from atom.views.filters import Filters, Measure, answer_values, answers_kept
from atom.views.reading import mean_rows_kept
from taxonomy import Path

Q = 0.10
"""False discovery rate that differences are reported at (METHODS B5)."""
Verdict = Literal["first", "second", "none", "thin"]
"""Who is ahead beyond chance; `none` = not told apart, `thin` = under five samples."""


@dataclass(frozen=True, kw_only=True)
class NodeGap:
    """First less second on one capability (or label), in points of 0-100.

    Attributes:
        path: its path in the tree; empty for a label.
        label: (facet, value) for a label; None for a capability.
        depth: 1 for a root ... 4 for a capability; 1 for a label.
        n: shared criteria (or samples, for a label).
        samples: shared samples.
        first: the first side's mean over them.
        second: the second side's.
        gap: first less second.
        lo: lower end of its 95 % interval; NaN under two clusters.
        se: its standard error.
        df: degrees of freedom of that.
        p: two-sided; NaN where it wasn't tested.
        adjusted: after control for multiplicity within its level of the tree.
        verdict: who is ahead.
        repeats: whether a node below it holds the same criteria and says the same.
        inside: where its pairs are listed, on this page.
        first_fails: shared samples that only the first side fails here.
        second_fails: shared samples that only the second side fails here.
        filters: where the list of the first side's failures is.
        failed: how many samples that list has.
        answered: how many samples the first side answered here.
    """

    name: str
    path: Path
    label: tuple[str, str] | None
    depth: int
    n: int
    samples: int
    first: float
    second: float
    gap: float
    lo: float
    hi: float
    se: float
    df: float
    p: float
    adjusted: float
    verdict: Verdict
    repeats: bool
    inside: Filters
    first_fails: int
    second_fails: int
    filters: Filters
    failed: int
    answered: int


def tree_nodes(
    sides: Sides, second: Floats, both: Mask, sample: Ints, fails: tuple[Mask, Mask]
) -> tuple[NodeGap, ...]:
    """Compare on every node of the tree.

    Args:
        second: the second side's value of each criterion, NaN = none.
        both: which criteria both sides have a value for.
        sample: sample of each criterion.
        fails: which criteria either side fails.

    Returns:
        Parents before what is below them.
    """
    data, table = sides.data, sides.data.table
    nodes = index_nodes(table.leaves)
    mine = layout_of(table, sides.first_model)
    rows = mean_rows_kept(data, sides.filters) & table.of_answers(sides.a)
    found = paired_items(mine.layout, rows[mine.rows], second)
    leaf_of = np.full(len(table.criterion_ids), -1, dtype=np.int64)
    leaf_of[table.criterion] = table.leaf
    both = both & (leaf_of >= 0)
    size = (len(table.sample_ids), len(nodes.paths))

    def seen(criteria: Mask) -> Mask:
        return _seen(nodes.ancestor, leaf_of[criteria], sample[criteria], size)

    samples = seen(both).sum(axis=0)
    only = _one_only(*(seen(both & one) for one in fails))
    behind = _behind(sides) & (table.leaf >= 0)

    def spread(rows: Mask) -> Ints:
        where = table.sample[table.response[rows]].astype(np.int64)
        leaf = table.leaf[rows].astype(np.int64)
        return np.asarray(_seen(nodes.ancestor, leaf, where, size).sum(axis=0), dtype=np.int64)

    answered = spread(behind)
    failed = spread(behind & checkpoints_shown(table, "failed"))
    chain = sides.filters.but(sample=None, criterion=None)
    door = _door(sides)
    made = {
        at: _node(
            found,
            at,
            samples=int(samples[at]),
            only=(int(only[0][at]), int(only[1][at])),
            failed=int(failed[at]),
            answered=int(answered[at]),
            name=nodes.paths[at][-1],
            path=nodes.paths[at],
            depth=len(nodes.paths[at]),
            inside=chain.but(node=nodes.paths[at]),
            filters=door.but(node=nodes.paths[at]),
        )
        for at in _in_tree_order(nodes.paths)
    }
    for child, parent in enumerate(nodes.parent.tolist()):
        # The same criteria, and the same said of them.
        same = parent >= 0 and made[parent].n == made[child].n
        if same and made[parent].verdict == made[child].verdict:
            made[parent] = replace(made[parent], repeats=True)
    return tuple(made.values())


def _in_tree_order(paths: tuple[Path, ...]) -> list[int]:
    """Order nodes so that each stands above what is below it, siblings as they come."""
    place = {path: number for number, path in enumerate(paths)}

    def key(number: int) -> tuple[int, ...]:
        path = paths[number]
        return tuple(place[path[:depth]] for depth in range(1, len(path) + 1))

    return sorted(range(len(paths)), key=key)


def _seen(ancestor: Ints, leaf: Ints, sample: Ints, size: tuple[int, int]) -> Mask:
    """Say which samples lie under which node, shape (S, M) = `size`."""
    seen = np.zeros(size, dtype=bool)
    for row in ancestor:
        node = row[leaf]
        seen[sample[node >= 0], node[node >= 0]] = True
    return seen


def _one_only(first: Mask, second: Mask) -> tuple[Ints, Ints]:
    """Count what only one side fails, in each column: the first side's, the second side's."""
    return (first & ~second).sum(axis=0), (second & ~first).sum(axis=0)


def _behind(sides: Sides) -> Mask:
    """Say which checkpoints of the first model's the list of failures is made from, shape (N,)."""
    return sides.data.table.of_answers(_answers_behind(sides)) & rows_here(
        sides.data, sides.filters.but(node=())
    )


def _answers_behind(sides: Sides) -> Mask:
    """Say which answers the list of failures is made from: all of the first model's, shape (R,)."""
    table = sides.data.table
    return np.asarray(answers_kept(sides.data, sides.filters) & (table.model == sides.first_model))


def _door(sides: Sides) -> Filters:
    """Say what the list of failures shows: the first model's, the second's answers beside them."""
    first, second = sides.picked.first.model_id, sides.picked.second.model_id
    return sides.filters.but(
        model=first,
        peers=(second,) if second != first else (),
        node=(),
        sample=None,
        criterion=None,
        show="failed",
    )


def choose_facet(facet: str | None, facets: tuple[str, ...]) -> str | None:
    """Return the facet asked for, else the one that groups best; None without any."""
    if facet in facets:
        return facet
    usual = [
        name for name in ("skills", "skill", "capability", "category", "task") if name in facets
    ]
    rest = [name for name in facets if name != dataset_facet(facets)]
    return next(iter((*usual, *rest, *facets)), None)


def label_nodes(
    sides: Sides,
    pairs: PairedSamples,
    facet: str,
    measure: Measure,
    fails: tuple[Mask, Mask],
) -> tuple[NodeGap, ...]:
    """Compare by label; a sample has a label when the answer of either side carries it.

    Args:
        fails: on which samples either side fails.
    """
    table = sides.data.table
    group = table.facets[facet]
    size = len(group.values)
    mine = sides.a | sides.b if sides.other is sides.data else sides.a
    carried = mine[group.response]
    has = np.zeros((len(table.sample_ids), size), dtype=bool)
    has[table.sample[group.response[carried]], group.value[carried]] = True
    # One answer of the first side stands for the pair, and carries its labels.
    rows = np.flatnonzero(sides.a)[::-1]
    row_of = np.full(len(table.sample_ids), -1, dtype=np.int64)
    row_of[table.sample[rows]] = rows
    has &= (pairs.shared & (row_of >= 0))[:, None]
    sample, label = np.nonzero(has)
    labels = Facet(
        values=group.values,
        response=row_of[sample].astype(np.int32),
        value=label.astype(np.int32),
    )
    value = np.full(len(table.sample), np.nan)
    good = pairs.shared & (row_of >= 0)
    value[row_of[good]] = pairs.first[good]
    layout = facet_layout(replace(table, facets={facet: labels}), facet, value)
    # Both sides pass through the layout's precision, so that equal values stay equal.
    second = pairs.second.astype(np.float32).astype(np.float64)
    found = paired_items(layout, np.isfinite(value), second)
    failed, answered = _failed_by_label(sides, group, measure)
    only = _one_only(*(has & one[:, None] for one in fails))
    chain, door = sides.filters.but(sample=None, criterion=None), _door(sides)
    return tuple(
        _node(
            found,
            at,
            samples=int(found.n[at]),
            only=(int(only[0][at]), int(only[1][at])),
            failed=int(failed[at]),
            answered=int(answered[at]),
            name=name,
            label=(facet, name),
            depth=1,
            inside=chain.but(tags=_with(chain.tags, (facet, name))),
            filters=door.but(tags=_with(door.tags, (facet, name))),
        )
        for at, name in enumerate(group.values)
    )


def _with(tags: tuple[tuple[str, str], ...], tag: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys((*tags, tag)))


def _failed_by_label(sides: Sides, group: Facet, measure: Measure) -> tuple[Ints, Ints]:
    """Count by label the samples that the first model failed, and those that it answered."""
    table, door = sides.data.table, _door(sides)
    behind = _answers_behind(sides)
    if measure == "process":
        rows = _behind(sides)
        answered, failed = np.zeros_like(behind), np.zeros_like(behind)
        answered[table.response[rows]] = True
        failed[table.response[rows & checkpoints_shown(table, "failed")]] = True
    else:
        answered = behind
        failed = behind & answers_shown(answer_values(sides.data, door, measure), door)

    def count(answers: Mask) -> Ints:
        carried = answers[group.response]
        seen = np.zeros((len(table.sample_ids), len(group.values)), dtype=bool)
        seen[table.sample[group.response[carried]], group.value[carried]] = True
        return np.asarray(seen.sum(axis=0), dtype=np.int64)

    return count(failed), count(answered)


def _node(
    found: PairedNodes,
    at: int,
    *,
    samples: int,
    only: tuple[int, int],
    failed: int,
    answered: int,
    name: str,
    depth: int,
    inside: Filters,
    filters: Filters,
    path: Path = (),
    label: tuple[str, str] | None = None,
) -> NodeGap:
    gap, adjusted = float(found.gap[at]), float(found.adjusted[at])
    verdict: Verdict = "none"
    if math.isnan(found.p[at]):
        verdict = "thin"
    elif adjusted <= Q and gap != 0:
        verdict = "first" if gap > 0 else "second"
    return NodeGap(
        name=name,
        path=path,
        label=label,
        depth=depth,
        n=int(found.n[at]),
        samples=samples,
        first=100 * float(found.first[at]),
        second=100 * float(found.second[at]),
        gap=100 * gap,
        lo=100 * float(np.maximum(found.lo[at], -1)),
        hi=100 * float(np.minimum(found.hi[at], 1)),
        se=100 * float(found.se[at]),
        df=float(found.df[at]),
        p=float(found.p[at]),
        adjusted=adjusted,
        verdict=verdict,
        repeats=False,
        inside=inside,
        first_fails=only[0],
        second_fails=only[1],
        filters=filters,
        failed=failed,
        answered=answered,
    )

"""Failures in groups: what goes wrong in one way across capabilities, and in which models.

Filters choose what is counted in the groups; the groups themselves are the study's (`grouping`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from atom.analysis.intervals import Floats, Ints, make_cells, node_stats
from atom.analysis.reasons.groups import GroupCountTrial, Tell, UngroupedCause
from atom.analysis.reasons.signature import Signatures, signatures
from atom.display.estimate import Estimate
from atom.store import Store
from atom.views.compare.nodes import Q
from atom.views.failures.grouping import Group, Grouping, grouping_of
from atom.views.failures.page import failed_checkpoints
from atom.views.failures.texts import reasons_at
from atom.views.filters import Filters, answers_kept, rows_in_node
from atom.views.study_data import StudyData

EXAMPLES: Final = 3


@dataclass(frozen=True, kw_only=True)
class Example:
    """A failed checkpoint of a group.

    Attributes:
        reason: why it failed, as the judge wrote it.
        model: index of the model.
        leaf: the last name of its capability; empty for none.
        filters: where its door leads.
    """

    reason: str
    model: int
    leaf: str
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class GroupRow:
    """A group, counted under the filters.

    Attributes:
        n: failed checkpoints.
        samples: samples that they are of.
        share: of all failures counted; the interval counts clusters.
        lost: weight lost: weight x (5 - score) / 4, in shares of 10 a sample.
        lost_share: of all weight lost by failures, 0 to 1.
        by_model: failed checkpoints of each model, shape (K,).
        capabilities: how many leaves of the tree they hang under.
        silent: share that the answer says nothing of, 0 to 1.
        examples: typical ones, the heaviest first.
        filters: where its door leads: the list of its samples.
    """

    group: Group
    n: int
    samples: int
    share: Estimate
    lost: float
    lost_share: float
    by_model: tuple[int, ...]
    capabilities: int
    silent: float
    examples: tuple[Example, ...]
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class FailureGroups:
    """A study's failures in groups.

    Attributes:
        rows: a row a group, in the order of the grouping.
        n: failed checkpoints counted.
        without: of these, in no group.
        models: names, in the study's order.
        signature: the models' shares; None with no group.
        none: why there are no groups.
        chosen: what speaks for the number of groups.
        grouping: the groups themselves, and how they were made.
    """

    rows: tuple[GroupRow, ...]
    n: int
    without: int
    models: tuple[str, ...]
    signature: Signatures | None
    none: UngroupedCause | None
    chosen: GroupCountTrial | None
    grouping: Grouping

    @property
    def standing_out(self) -> tuple[tuple[int, int], ...]:
        """Model and group whose share is told apart from the others', the largest gap first."""
        found = self.signature
        if found is None:
            return ()
        held = np.argwhere(found.adjusted <= Q)
        return tuple(
            (int(m), int(g))
            for m, g in sorted(held.tolist(), key=lambda one: -abs(found.gap[one[0], one[1]]))
        )


def failure_groups(
    store: Store, data: StudyData, filters: Filters, tell: Tell | None = None
) -> FailureGroups:
    """Count failures in groups under some filters.

    Args:
        filters: what is counted: labels, node, root, outcome, and what is searched for; a chosen
            model only narrows the rows, never the signatures.
    """
    found = grouping_of(store, data, tell)
    table = data.table
    keep = answers_kept(data, filters)[table.response[found.rows]]
    for path in filter(None, (filters.node, (filters.root,) if filters.root else ())):
        keep = keep & rows_in_node(data, path)[found.rows]
    find = filters.find.but(kind="")
    if find.narrows:
        sought = failed_checkpoints(store, data, filters.but(model=None, find=find))
        keep = keep & np.isin(found.rows, sought)
    model = table.model[table.response[found.rows]].astype(np.int64)
    cluster = table.cluster[table.sample[table.response[found.rows]]].astype(np.int64)
    code = found.code
    signed = None
    if found.groups:
        signed = signatures(
            model[keep], code[keep], cluster[keep], table.n_models, groups=len(found.groups)
        )
    number = data.model_index(filters.model)
    counted = np.flatnonzero(keep if number is None else keep & (model == number))
    rows = _rows(store, data, filters, found, counted, cluster)
    return FailureGroups(
        rows=rows,
        n=len(counted),
        without=int((code[counted] < 0).sum()),
        models=tuple(one.name for one in data.candidates),
        signature=signed,
        none=found.none,
        chosen=found.chosen,
        grouping=found,
    )


def _rows(
    store: Store, data: StudyData, filters: Filters, found: Grouping, counted: Ints, cluster: Ints
) -> tuple[GroupRow, ...]:
    """Count each group among the failures that are counted."""
    table, k = data.table, len(found.groups)
    if not k:
        return ()
    row = found.rows[counted]
    code = found.code[counted]
    response = table.response[row]
    cost = table.weight[row].astype(np.float64) * (1 - table.value[row])
    shares = _shares(code, cluster[counted], k)
    examples = _examples(store, data, filters, found, code, row, cost)
    said = []
    for at, group in enumerate(found.groups):
        mine = code == at
        n = int(mine.sum())
        lost = float(cost[mine].sum())
        said.append(
            GroupRow(
                group=group,
                n=n,
                samples=len(np.unique(table.sample[response[mine]])),
                share=shares[at],
                lost=lost,
                lost_share=lost / cost.sum() if cost.sum() else 0.0,
                by_model=tuple(
                    np.bincount(table.model[response[mine]], minlength=table.n_models).tolist()
                ),
                capabilities=len(set(table.leaf[row[mine]].tolist()) - {-1}),
                silent=float((~table.addressed[row[mine]]).mean()) if n else 0.0,
                examples=examples[at],
                filters=opened(filters, group),
            )
        )
    return tuple(said)


def opened(filters: Filters, group: Group, model: str | None = None) -> Filters:
    """Return the filters of the list that holds a group's samples.

    Args:
        model: whose failures; as on the page where left out.
    """
    find = filters.find.but(kind=group.key)
    return filters.but(sample=None, criterion=None, show="failed", rests=None,
                       model=model or filters.model, find=find)  # fmt: skip


def _shares(code: Ints, cluster: Ints, k: int) -> list[Estimate]:
    """Return each group's share of failures, with intervals over clusters (METHODS B1, B2)."""
    node = np.repeat(np.arange(k), len(code))
    value = (np.tile(code, k) == node).astype(np.float64)
    stats = node_stats(make_cells(value, node, np.tile(cluster, k), k), k)
    return [
        Estimate(
            value=float(stats.mean[at]),
            lo=float(stats.lo[at]),
            hi=float(stats.hi[at]),
            unit="share",
        )
        for at in range(k)
    ]


def _examples(
    store: Store,
    data: StudyData,
    filters: Filters,
    found: Grouping,
    code: Ints,
    row: Ints,
    cost: Floats,
) -> list[tuple[Example, ...]]:
    """Choose for each group its heaviest failures, of different models and capabilities."""
    table = data.table
    model = table.model[table.response[row]]
    picked: list[list[int]] = []
    for at in range(len(found.groups)):
        mine = np.flatnonzero(code == at)
        heaviest = mine[np.argsort(-cost[mine], kind="stable")][:400].tolist()
        places = [(int(model[one]), int(table.leaf[row[one]])) for one in heaviest]
        picked.append([int(row[heaviest[one]]) for one in _apart(places)])
    reasons = reasons_at(store, data, [one for some in picked for one in some])
    return [
        tuple(_example(data, opened(filters, group), one, reasons.get(one, "")) for one in some)
        for group, some in zip(found.groups, picked, strict=True)
    ]


def _apart(places: Sequence[tuple[int, int]]) -> list[int]:
    """Choose places of which no two share a model or a capability, as far as there are such."""
    chosen: list[int] = []
    for strict in (True, False):
        for at, (model, leaf) in enumerate(places):
            near = any(model == places[one][0] or leaf == places[one][1] for one in chosen)
            if at not in chosen and len(chosen) < EXAMPLES and not (strict and near):
                chosen.append(at)
    return chosen


def _example(data: StudyData, filters: Filters, row: int, reason: str) -> Example:
    table = data.table
    answer = int(table.response[row])
    leaf = int(table.leaf[row])
    number = int(table.model[answer])
    return Example(
        reason=reason,
        model=number,
        leaf=table.leaves[leaf][-1] if leaf >= 0 else "",
        filters=filters.but(
            sample=table.sample_ids[int(table.sample[answer])],
            criterion=table.criterion_ids[int(table.criterion[row])],
            model=table.model_ids[number],
        ),
    )

"""Compare: which of two is better, where, and how sure is that?

Two sides are held against each other on what both have a value for: two models, two answers of one
model, or one model as two judges see it.

Reference: METHODS B9 (paired comparison), B5 (multiplicity), B10 (how many more), A1-A4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from atom.analysis.compare.paired import PairedSamples
from atom.analysis.exact import snapped
from atom.analysis.intervals import MIN_CLUSTERS, Floats, Ints
from atom.analysis.layout import Mask
from atom.analysis.score_table import ScoreTable
from atom.views.compare.gap import (
    ALPHA,
    Gap,
    Rights,
    are_identical,
    gap_of,
    more_samples_of,
    overall_p,
    right_of,
    rights_of,
)
from atom.views.compare.nodes import NodeGap, Verdict, choose_facet, label_nodes, tree_nodes
from atom.views.compare.paired_items import PairedItems, answer_pairs, criteria_pairs, direct_votes
from atom.views.compare.sides import ComparedSides, Sides, make_sides, samples_with
from atom.views.facets import data_facets
from atom.views.filters import Filters, Measure, measure_of, rows_in_node
from atom.views.overview.accuracy import Accuracy, accuracies
from atom.views.reading import carries, mean_rows_kept, score_rows_kept
from atom.views.study_data import StudyData
from taxonomy import Path

_MOST_LABELS = 60


@dataclass(frozen=True, kw_only=True)
class UnpairedSamples:
    """Samples of the study that are in no pair, each counted once.

    Attributes:
        first_only: only the first side answered.
        second_only: only the second side answered.
        neither: neither side did.
        quarantined: both did; judge and reference disagree.
        filtered: both did; a filter drops one of the answers or both.
        unknown: both count; there is nothing that both have a value for.
    """

    first_only: int
    second_only: int
    neither: int
    quarantined: int
    filtered: int
    unknown: int

    @property
    def n(self) -> int:
        """How many in all."""
        return sum(
            (self.first_only, self.second_only, self.neither, self.quarantined, self.filtered,
             self.unknown)
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SamplePairs:
    """Every sample of the study as a pair, arrays of shape (S,).

    Attributes:
        first: the first side's value in [0, 1] over what both have; NaN where there is no pair.
        second: the second side's.
        ahead: 1 where the first side's value is larger, -1 where the second's is, 0 where they are
            equal as fractions or there is no pair.
        weight: total weight of the criteria that both have a score for; 1 by any other measure.
        first_fails: whether the first side fails: by a criterion, or with a wrong answer.
        second_fails: whether the second side does.
        first_right: 1 right, 0 wrong, NaN not known.
        second_right: the same for the second side.
    """

    first: Floats
    second: Floats
    ahead: Ints
    weight: Floats
    first_fails: Mask
    second_fails: Mask
    first_right: Floats
    second_right: Floats
    sample_ids: tuple[str, ...]

    @property
    def both_fail(self) -> Mask:
        """Whether both sides fail: a failed criterion each, or a wrong answer each."""
        return self.first_fails & self.second_fails


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Everything on the Compare page but the list of pairs.

    Attributes:
        measure: what the numbers are.
        picked: which two are compared.
        first_judge: name of the judge behind the first side; None without one.
        second_judge: name of the judge behind the second.
        direct: by votes: whether the two were voted on against each other.
        gap: the mean paired difference.
        rights: right answers of both; None without outcomes, or by the measure preference.
        accuracy: how often either side is right, of all asked and of answers given.
        left_out: samples in no pair.
        identical: whether both sides have the same value everywhere.
        decided: whether the difference is beyond chance.
        more: further shared samples that would settle it; infinite where none would; NaN where
            there is nothing to settle.
        nodes: parents before children; labels in the facet's order.
        facet: the facet that `nodes` are labels of; None = capabilities.
        facets: facets that can be chosen.
        tested: nodes with enough evidence.
        node: the chain's node that `pairs` are limited to; empty = all.
        pairs: for the list of pairs.
    """

    measure: Measure
    picked: ComparedSides
    first_judge: str | None
    second_judge: str | None
    direct: bool
    gap: Gap
    rights: Rights | None
    accuracy: tuple[Accuracy, Accuracy]
    left_out: UnpairedSamples
    identical: bool
    decided: bool
    more: float
    nodes: tuple[NodeGap, ...]
    facet: str | None
    facets: tuple[str, ...]
    tested: int
    node: Path
    pairs: SamplePairs

    @property
    def thin(self) -> int:
        """Nodes with shared samples, but too few to test."""
        return sum(node.verdict == "thin" and node.samples > 0 for node in self.nodes)

    def found(self, verdict: Verdict) -> tuple[NodeGap, ...]:
        """Return nodes where one side is ahead, the surest first.

        A node that has one child only repeats it and is left out.
        """
        mine = [node for node in self.nodes if node.verdict == verdict and not node.repeats]
        return tuple(sorted(mine, key=lambda one: (one.adjusted, one.p, -abs(one.gap))))


def compare(
    data: StudyData,
    filters: Filters,
    picked: ComparedSides,
    other: StudyData | None = None,
    *,
    facet: str | None = None,
) -> Comparison:
    """Hold two sides against each other.

    Args:
        data: the study, as the first side's judge sees it.
        filters: what narrows it; a pair needs both answers kept. The chain's node limits the list
            of pairs and nothing else.
        picked: the two sides.
        other: the same study as the second side's judge sees it; None = the same judge.
        facet: labels to group by; None = capabilities where there are any.

    Returns:
        The view-model.
    """
    if other is not None:  # its own revision isn't in a key
        return _compare(data, filters, picked, other, facet)
    key = ("compare", filters, picked, facet)
    return data.views.get(key, lambda: _compare(data, filters, picked, data, facet))


def _compare(
    data: StudyData, filters: Filters, picked: ComparedSides, other: StudyData, facet: str | None
) -> Comparison:
    sides = make_sides(data, filters, picked, other)
    measure = measure_of(data, filters)
    size = len(data.table.sample_ids)
    votes = direct_votes(sides) if measure == "preference" else None
    if measure == "process":
        items = criteria_pairs(sides, score_rows_kept)
        # Carried steps count in an answer's own score, and in no capability.
        own = criteria_pairs(sides, mean_rows_kept) if carries(sides.data, sides.other) else items
    else:
        own = items = votes or answer_pairs(sides, measure)
    pairs = items.pairs(size)
    rights = right_of(sides)
    gap = gap_of(pairs, data.table.cluster)
    counted = None if measure == "preference" else rights_of(*rights, pairs.shared)
    few = gap.clusters < MIN_CLUSTERS
    p = math.nan if few else overall_p(measure, gap, counted, pairs)
    identical = bool(pairs.shared.any()) and are_identical(items, counted)
    facets = tuple(
        name
        for name, group in data_facets(data.table.facets).items()
        if 2 <= len(group.values) <= _MOST_LABELS
    )
    by_label = facet in facets or measure != "process" or not data.table.leaves
    chosen = choose_facet(facet, facets) if by_label else None
    failed = _failed(data.table, items, measure)
    if not by_label:
        failed_own = failed if own is items else _failed(data.table, own, measure)
        nodes = tree_nodes(sides, own.second, own.both, own.sample, failed_own)
    else:
        nodes = (
            ()
            if chosen is None
            else label_nodes(sides, pairs, chosen, measure, _fails(failed, items, pairs, None))
        )
    # Only the tree's nodes limit the list: a label is a filter.
    node = filters.node if measure == "process" else ()
    only = _in_node(data, node) if node else None
    inside = own.pairs(size, only) if node else pairs
    fails = _fails(failed, items, inside, only)
    return Comparison(
        measure=measure,
        picked=picked,
        first_judge=data.judge.name if data.judge else None,
        second_judge=sides.other.judge.name if sides.other.judge else None,
        direct=votes is not None,
        gap=replace(gap, p=p),
        rights=counted,
        accuracy=(
            accuracies(sides.data.table, sides.a)[picked.first.colour],
            accuracies(sides.other.table, sides.b)[picked.second.colour],
        ),
        left_out=_left_out(sides, pairs.shared),
        identical=identical,
        decided=p < ALPHA,
        more=math.nan
        if few or identical or p < ALPHA
        else more_samples_of(measure, gap, counted, pairs),
        nodes=nodes,
        facet=chosen,
        facets=facets,
        tested=sum(not math.isnan(one.p) for one in nodes),
        node=node,
        pairs=SamplePairs(
            first=inside.first,
            second=inside.second,
            ahead=(own if node else items).ahead(size, only),
            weight=inside.weight,
            first_fails=fails[0],
            second_fails=fails[1],
            first_right=rights[0],
            second_right=rights[1],
            sample_ids=data.table.sample_ids,
        ),
    )


def _left_out(sides: Sides, shared: Mask) -> UnpairedSamples:
    """Count the samples in no pair, each under the first reason that holds."""
    first, second = sides.first_on(sides.had_a), sides.second_on(sides.had_b)
    both = first & second
    aside = both & sides.data.table.quarantined
    kept = both & ~aside & sides.first_on(sides.a) & sides.second_on(sides.b)
    return UnpairedSamples(
        first_only=int((first & ~second).sum()),
        second_only=int((~first & second).sum()),
        neither=int((~first & ~second).sum()),
        quarantined=int(aside.sum()),
        filtered=int((both & ~aside & ~kept).sum()),
        unknown=int((kept & ~shared).sum()),
    )


def _failed(table: ScoreTable, items: PairedItems, measure: Measure) -> tuple[Mask, Mask]:
    """Say which items either side fails: criteria (METHODS A2), or answers that are wrong."""
    process = measure == "process"
    bound = snapped(table.fails_at) if process else np.full(len(items.first), 0.5)

    def failed(side: Floats) -> Mask:
        value = snapped(side)
        return np.asarray(items.both & (value <= bound if process else value < bound))

    return failed(items.first), failed(items.second)


def _fails(
    failed: tuple[Mask, Mask], items: PairedItems, pairs: PairedSamples, only: Mask | None
) -> tuple[Mask, Mask]:
    """Say on which samples either side fails: by one of its items at least."""
    size = len(pairs.shared)
    first, second = (
        pairs.shared & samples_with(items.sample[one if only is None else one & only], size)
        for one in failed
    )
    return first, second


def _in_node(data: StudyData, node: Path) -> Mask:
    """Say which criteria hang under a node."""
    table = data.table
    found = np.zeros(len(table.criterion_ids), dtype=bool)
    found[table.criterion[rows_in_node(data, node)]] = True
    return found

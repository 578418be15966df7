"""Compare: which of two is better, where, and how sure is that?

Two sides are held against each other on what both have a value for: two models, two answers of one
model, or one model as two judges see it.

Reference: METHODS B9 (paired comparison), B5 (multiplicity), B10 (how many more), A1-A4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from atom.analysis.compare.paired import PairedSamples, mcnemar, paired_gap, paired_samples
from atom.analysis.exact import signs, simple, snapped
from atom.analysis.intervals import MIN_CLUSTERS, Floats, Ints
from atom.analysis.layout import Mask
from atom.analysis.power import needed_pairs, needed_samples
from atom.analysis.score_table import ScoreTable
from atom.views.compare.nodes import NodeGap, Verdict, choose_facet, label_nodes, tree_nodes
from atom.views.compare.sides import (
    Picked,
    Sides,
    criterion_means,
    make_sides,
    mean_by_sample,
    samples_with,
)
from atom.views.filters import (
    Filters,
    Measure,
    answer_values,
    measure_of,
    rows_in_node,
)
from atom.views.lab.preferences import compare as combined
from atom.views.lab.preferences import share_won
from atom.views.overview.accuracy import Accuracy, accuracies
from atom.views.reading import carries, mean_rows_kept, score_rows_kept
from atom.views.study_data import StudyData, data_facets
from taxonomy import Path

ALPHA = 0.05
"""Level of the two sides' overall comparison."""
_MOST_LABELS = 60


@dataclass(frozen=True, kw_only=True)
class Gap:
    """First less second, in points of 0-100.

    Attributes:
        value: NaN where there is no pair.
        lo: lower end of the 95 % interval; NaN under two clusters.
        se: cluster-robust standard error; NaN under two clusters.
        p: two-sided; NaN under five clusters.
        first: the first side's mean over the shared samples.
        second: the second side's.
        samples: shared samples.
        clusters: independent groups among them.
    """

    value: float
    lo: float
    hi: float
    se: float
    p: float
    first: float
    second: float
    samples: int
    clusters: int


@dataclass(frozen=True, kw_only=True)
class Rights:
    """Final answers of both sides on the shared samples where both outcomes are known.

    Attributes:
        both: samples that both get right.
        first_only: samples that only the first gets right.
        second_only: samples that only the second gets right.
        neither: samples that neither gets right.
        mid_p: McNemar's mid-p-value.
    """

    both: int
    first_only: int
    second_only: int
    neither: int
    mid_p: float

    @property
    def n(self) -> int:
        """Shared samples with both outcomes known."""
        return self.both + self.first_only + self.second_only + self.neither


@dataclass(frozen=True, kw_only=True)
class LeftOut:
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
class Pairs:
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
    picked: Picked
    first_judge: str | None
    second_judge: str | None
    direct: bool
    gap: Gap
    rights: Rights | None
    accuracy: tuple[Accuracy, Accuracy]
    left_out: LeftOut
    identical: bool
    decided: bool
    more: float
    nodes: tuple[NodeGap, ...]
    facet: str | None
    facets: tuple[str, ...]
    tested: int
    node: Path
    pairs: Pairs

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


@dataclass(frozen=True, kw_only=True)
class _Items:
    """What both sides are compared on: criteria, or samples; shape (n,)."""

    first: Floats
    second: Floats
    sample: Ints
    weight: Floats

    @property
    def both(self) -> Mask:
        """Whether both sides have a value."""
        return np.asarray(np.isfinite(self.first) & np.isfinite(self.second))

    def pairs(self, n_samples: int, only: Mask | None = None) -> PairedSamples:
        """Bring them up to samples."""
        first = self.first if only is None else np.where(only, self.first, np.nan)
        return paired_samples(self.sample, self.weight, first, self.second, n_samples)

    def ahead(self, n_samples: int, only: Mask | None = None) -> Ints:
        """Say which side is ahead on each sample, ties being exact."""
        rows = self.both if only is None else self.both & only
        sides = self.first[rows], self.second[rows]
        return signs(self.sample[rows], self.weight[rows], *sides, n_samples)


def compare(
    data: StudyData,
    filters: Filters,
    picked: Picked,
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
    data: StudyData, filters: Filters, picked: Picked, other: StudyData, facet: str | None
) -> Comparison:
    sides = make_sides(data, filters, picked, other)
    measure = measure_of(data, filters)
    size = len(data.table.sample_ids)
    votes = _direct_votes(sides) if measure == "preference" else None
    if measure == "process":
        items = _criteria(sides, score_rows_kept)
        # Carried steps count in an answer's own score, and in no capability.
        own = _criteria(sides, mean_rows_kept) if carries(sides.data, sides.other) else items
    else:
        own = items = votes or _answers(sides, measure)
    pairs = items.pairs(size)
    rights = _right(sides)
    gap = _gap(pairs, data.table.cluster)
    counted = None if measure == "preference" else _rights(*rights, pairs.shared)
    few = gap.clusters < MIN_CLUSTERS
    p = math.nan if few else _overall_p(measure, gap, counted, pairs)
    identical = bool(pairs.shared.any()) and _identical(items, counted)
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
        more=math.nan if few or identical or p < ALPHA else _more(measure, gap, counted, pairs),
        nodes=nodes,
        facet=chosen,
        facets=facets,
        tested=sum(not math.isnan(one.p) for one in nodes),
        node=node,
        pairs=Pairs(
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


def _criteria(sides: Sides, rows: Callable[[StudyData, Filters], Mask]) -> _Items:
    """Compare criterion by criterion, several answers of a side averaged.

    Args:
        rows: which of a study's checkpoints count, shape (N,).
    """
    table, other = sides.data.table, sides.other.table
    mine = rows(sides.data, sides.filters) & table.of_answers(sides.a)
    theirs = rows(sides.other, sides.filters) & other.of_answers(sides.b)
    second = criterion_means(other, theirs)
    if other.criterion_ids != table.criterion_ids:
        at = {name: number for number, name in enumerate(other.criterion_ids)}
        place = np.array([at.get(name, -1) for name in table.criterion_ids], dtype=np.int64)
        second = np.append(second, np.nan)[place]
    size = len(table.criterion_ids)
    sample, weight = np.zeros(size, dtype=np.int64), np.ones(size)
    sample[table.criterion] = table.sample[table.response]
    weight[table.criterion] = table.weight
    return _Items(first=criterion_means(table, mine), second=second, sample=sample, weight=weight)


def _answers(sides: Sides, measure: Measure) -> _Items:
    """Compare sample by sample, by a value of the answer itself."""
    size = len(sides.data.table.sample_ids)
    first = mean_by_sample(
        sides.data.table.sample, answer_values(sides.data, sides.filters, measure), sides.a, size
    )
    second = _second_by_sample(sides, answer_values(sides.other, sides.filters, measure), sides.b)
    return _of_samples(first, second)


def _of_samples(first: Floats, second: Floats) -> _Items:
    size = len(first)
    return _Items(first=first, second=second, sample=np.arange(size), weight=np.ones(size))


def _second_by_sample(sides: Sides, value: Floats, answers: Mask) -> Floats:
    place = sides.second_sample[sides.other.table.sample]
    size = len(sides.data.table.sample_ids)
    return mean_by_sample(np.maximum(place, 0), value, answers & (place >= 0), size)


def _direct_votes(sides: Sides) -> _Items | None:
    """Take the votes on the two against each other; None where there is none.

    The first side's share of the votes on a sample is set against the second's, which is the rest.
    """
    votes = sides.data.votes
    if votes is None or sides.other is not sides.data:
        return None
    found = combined(votes)
    ahead = sides.a[found.a] & sides.b[found.b]
    among = ahead | (sides.b[found.a] & sides.a[found.b])
    if not among.any():
        return None
    chosen = among[found.group]
    fields = {
        name: getattr(votes, name)[chosen]
        for name in ("a", "b", "first", "verdict", "judge", "repeat")
    }
    table = sides.data.table
    share = share_won(replace(votes, **fields), len(table.sample)).astype(np.float64)
    size = len(table.sample_ids)
    first = mean_by_sample(table.sample, share, sides.a, size)
    return _of_samples(first, 1 - first)


def _gap(pairs: PairedSamples, cluster: NDArray[np.integer]) -> Gap:
    shared = pairs.shared
    found = paired_gap(pairs.gap[shared], cluster[shared].astype(np.int64), bound=1.0)
    means = [
        100 * float(side[shared].mean()) if found.n else math.nan
        for side in (pairs.first, pairs.second)
    ]
    return Gap(
        value=100 * found.gap,
        # Values lie in [0, 1], so a difference can't be larger.
        lo=100 * max(found.lo, -1.0) if found.clusters > 1 else math.nan,
        hi=100 * min(found.hi, 1.0) if found.clusters > 1 else math.nan,
        se=100 * found.se,
        p=found.p,
        first=means[0],
        second=means[1],
        samples=found.n,
        clusters=found.clusters,
    )


def _right(sides: Sides) -> tuple[Floats, Floats]:
    """Say whether either side is right on each sample: 1, 0, NaN; of several answers most."""
    first = mean_by_sample(
        sides.data.table.sample,
        sides.data.table.outcome.astype(np.float64),
        sides.a,
        len(sides.data.table.sample_ids),
    )
    second = _second_by_sample(sides, sides.other.table.outcome.astype(np.float64), sides.b)
    return _halves(first), _halves(second)


def _halves(value: Floats) -> Floats:
    return np.where(np.isfinite(value), (value >= 0.5).astype(np.float64), np.nan)


def _rights(first: Floats, second: Floats, shared: Mask) -> Rights | None:
    known = shared & np.isfinite(first) & np.isfinite(second)
    if not known.any():
        return None
    a, b = first[known] > 0, second[known] > 0
    only = int((a & ~b).sum()), int((~a & b).sum())
    return Rights(
        both=int((a & b).sum()),
        first_only=only[0],
        second_only=only[1],
        neither=int((~a & ~b).sum()),
        mid_p=mcnemar(*only).mid_p,
    )


def _binary(pairs: PairedSamples) -> bool:
    values = np.concatenate([pairs.first[pairs.shared], pairs.second[pairs.shared]])
    return bool(np.isin(values, (0.0, 1.0)).all())


def _overall_p(measure: Measure, gap: Gap, rights: Rights | None, pairs: PairedSamples) -> float:
    """Return the p-value that decides: McNemar's where samples are independent and right or wrong.

    Samples that share pictures aren't independent, so there the clusters decide.
    """
    alone = gap.clusters == gap.samples
    if measure == "outcome" and rights is not None and alone and _binary(pairs):
        return rights.mid_p
    return gap.p


def _identical(items: _Items, rights: Rights | None) -> bool:
    both = items.both
    same = np.array_equal(snapped(items.first[both]), snapped(items.second[both]))
    return same and (rights is None or rights.first_only + rights.second_only == 0)


def _more(measure: Measure, gap: Gap, rights: Rights | None, pairs: PairedSamples) -> float:
    """Forecast how many further shared samples would settle a difference of this size."""
    if math.isnan(gap.se):
        return math.nan
    if simple(gap.value / 100) == 0:
        return math.inf
    if measure == "outcome" and rights is not None and _binary(pairs):
        off = (rights.first_only + rights.second_only) / rights.n
        return max(needed_pairs(gap.value / 100, off, alpha=ALPHA) - gap.samples, 1.0)
    # The forecast counts independent groups; each has as many samples as now.
    found = float(
        needed_samples(
            np.array(gap.value / 100),
            np.array(gap.se / 100),
            np.array(float(gap.clusters)),
            alpha=ALPHA / 2,
        )
    )
    return max(float(math.ceil((found - gap.clusters) * gap.samples / gap.clusters)), 1.0)


def _left_out(sides: Sides, shared: Mask) -> LeftOut:
    """Count the samples in no pair, each under the first reason that holds."""
    first, second = sides.first_on(sides.had_a), sides.second_on(sides.had_b)
    both = first & second
    aside = both & sides.data.table.quarantined
    kept = both & ~aside & sides.first_on(sides.a) & sides.second_on(sides.b)
    return LeftOut(
        first_only=int((first & ~second).sum()),
        second_only=int((~first & second).sum()),
        neither=int((~first & ~second).sum()),
        quarantined=int(aside.sum()),
        filtered=int((both & ~aside & ~kept).sum()),
        unknown=int((kept & ~shared).sum()),
    )


def _failed(table: ScoreTable, items: _Items, measure: Measure) -> tuple[Mask, Mask]:
    """Say which items either side fails: criteria (METHODS A2), or answers that are wrong."""
    process = measure == "process"
    bound = snapped(table.fails_at) if process else np.full(len(items.first), 0.5)

    def failed(side: Floats) -> Mask:
        value = snapped(side)
        return np.asarray(items.both & (value <= bound if process else value < bound))

    return failed(items.first), failed(items.second)


def _fails(
    failed: tuple[Mask, Mask], items: _Items, pairs: PairedSamples, only: Mask | None
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

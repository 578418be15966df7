"""What two models are compared on: criteria, answers or direct votes, both values of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from atom.analysis.compare.paired import PairedSamples, paired_samples
from atom.analysis.exact import signs
from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask
from atom.views.compare.sides import Sides, criterion_means, mean_by_sample
from atom.views.filters import Filters, Measure, answer_values
from atom.views.lab.preferences import compare as combined
from atom.views.lab.preferences import share_won
from atom.views.study_data import StudyData


@dataclass(frozen=True, kw_only=True)
class PairedItems:
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


def criteria_pairs(sides: Sides, rows: Callable[[StudyData, Filters], Mask]) -> PairedItems:
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
    return PairedItems(
        first=criterion_means(table, mine), second=second, sample=sample, weight=weight
    )


def answer_pairs(sides: Sides, measure: Measure) -> PairedItems:
    """Compare sample by sample, by a value of the answer itself."""
    size = len(sides.data.table.sample_ids)
    first = mean_by_sample(
        sides.data.table.sample, answer_values(sides.data, sides.filters, measure), sides.a, size
    )
    second = second_by_sample(sides, answer_values(sides.other, sides.filters, measure), sides.b)
    return _of_samples(first, second)


def _of_samples(first: Floats, second: Floats) -> PairedItems:
    size = len(first)
    return PairedItems(first=first, second=second, sample=np.arange(size), weight=np.ones(size))


def second_by_sample(sides: Sides, value: Floats, answers: Mask) -> Floats:
    """Bring the second side's values to the first side's samples."""
    place = sides.second_sample[sides.other.table.sample]
    size = len(sides.data.table.sample_ids)
    return mean_by_sample(np.maximum(place, 0), value, answers & (place >= 0), size)


def direct_votes(sides: Sides) -> PairedItems | None:
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

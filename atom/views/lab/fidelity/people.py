"""People's rankings, and how far they agree with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atom.analysis.agreement.fidelity import (
    FidelityShare,
    orders_of,
    people_agreement,
    people_pairs,
)
from atom.records import Annotation
from atom.views.study_data import StudyData

MIN_MET = 5
"""Samples on which two people must have met before their agreement bounds what a judge can do."""


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """Labels of one kind, and how far two of their givers agree.

    Attributes:
        planted: drawn from probes' truth, by no person.
        labels: rankings and preferences.
        agreed: share of two givers' orders of one pair that are equal, with its cluster interval.
        samples: samples on which two of them met.
    """

    planted: bool
    labels: int
    annotators: tuple[str, ...]
    agreed: FidelityShare
    samples: int

    @property
    def met(self) -> int:
        """Times that two gave the same pair an order."""
        return self.agreed.n

    def bounds(self, best: float) -> bool:
        """Whether their agreement may be called what a judge can't be expected to beat.

        Args:
            best: the best method's share of pairs in people's order; NaN = none is measured.
        """
        return not self.planted and self.samples >= MIN_MET and not best > self.agreed.hi


@dataclass(frozen=True, kw_only=True)
class People:
    """People's rankings.

    Attributes:
        labels: rankings and preferences.
        pairs: pairs of answers that somebody ordered.
        ties: share of pairs that are ties; NaN without any.
        kinds: people's labels, then planted ones, each with its own agreement; those there are.
        foreign: ranked answers that aren't among those compared.
        synthetic: some are drawn from probes' truth.
    """

    labels: int
    annotators: tuple[str, ...]
    pairs: int
    samples: int
    ties: float
    kinds: tuple[Meeting, ...]
    foreign: int
    synthetic: bool


def is_planted(label: Annotation) -> bool:
    """Say whether a label was drawn from a probe's truth."""
    return label.note.startswith("synthetic")


def kinds_of(
    labels: Sequence[Annotation], sample_of: Mapping[str, str], data: StudyData
) -> tuple[Meeting, ...]:
    """Return people's labels and planted ones apart: a person's never meets a planted one."""
    found = []
    for planted in (False, True):
        mine = [one for one in labels if one.state == "given" and is_planted(one) is planted]
        if not mine:
            continue
        pairs = people_pairs(orders_of(mine, sample_of)[0])
        met = {name for name, n in zip(pairs.sample, pairs.meetings, strict=True) if n}
        found.append(
            Meeting(
                planted=planted,
                labels=len(mine),
                annotators=tuple(sorted({label.annotator for label in mine})),
                agreed=people_agreement(pairs, data.clusters_of(pairs.sample)),
                samples=len(met),
            )
        )
    return tuple(found)

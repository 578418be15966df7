"""A candidate and the versions before it: what was fixed, what broke, and since when.

Reference: METHODS B9 (paired comparison), B5 (multiplicity), A2 (failed criteria).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from atom.analysis.compare.paired import beyond_margin
from atom.analysis.multiplicity import adjust
from atom.store import Store
from atom.store.versions import line_of, versions_of
from atom.views.compare.nodes import Q
from atom.views.compare.page import Comparison, compare
from atom.views.compare.sides import ComparedSides, SideChoice, choices
from atom.views.filters import Filters, label_name
from atom.views.study_data import StudyData
from taxonomy import Path

WHOLE = "all shared samples"


@dataclass(frozen=True, kw_only=True)
class VersionChange:
    """The later version less the earlier on one capability, label, or the whole.

    Attributes:
        name: of the capability or label; `WHOLE` for all.
        path: a capability's path; empty otherwise.
        before: the earlier version's mean over the shared samples, of 100.
        after: the later one's.
        gap: after less before, in points.
        lo: lower end of its 95 % interval.
        p: that the difference is within the margin; NaN where it wasn't tested.
        adjusted: after control for all that was tested together.
        samples: shared samples.
        fixed: samples that the earlier version fails here and the later one doesn't.
        broke: samples that the later version fails here and the earlier one didn't.
        inside: where these pairs are listed.
    """

    name: str
    path: Path
    before: float
    after: float
    gap: float
    lo: float
    hi: float
    p: float
    adjusted: float
    samples: int
    fixed: int
    broke: int
    inside: Filters | None

    @property
    def verdict(self) -> str:
        """`worse`, `better`, `same` (not told apart) or `thin` (too little evidence)."""
        if math.isnan(self.adjusted):
            return "thin"
        if self.adjusted > Q or self.gap == 0:
            return "same"
        return "better" if self.gap > 0 else "worse"


@dataclass(frozen=True, kw_only=True)
class VersionStep:
    """Two versions held against each other.

    Attributes:
        before: name of the earlier one.
        after: name of the later one.
        measure: what the numbers are.
        judge: who marked; None where nobody did.
        margin: points that a change must exceed.
        whole: over all shared samples.
        changes: capabilities or labels with shared samples, in the tree's order.
        facet: the facet that they are labels of; None = capabilities.
    """

    before: str
    after: str
    measure: str
    judge: str | None
    margin: float
    whole: VersionChange
    changes: tuple[VersionChange, ...]
    facet: str | None = None

    @property
    def unit(self) -> str:
        """What each of the changes is about, as a heading says it."""
        return "Capability" if self.facet is None else label_name(self.facet)

    @property
    def tested(self) -> int:
        """How much was tested together, the whole included."""
        return sum(not math.isnan(one.p) for one in (self.whole, *self.changes))

    def found(self, verdict: str) -> tuple[VersionChange, ...]:
        """Return changes of a kind, the whole first, then the surest."""
        mine = [one for one in self.changes if one.verdict == verdict]
        first = [self.whole] if self.whole.verdict == verdict else []
        return (*first, *sorted(mine, key=lambda one: (one.adjusted, one.p, -abs(one.gap))))

    @property
    def regressed(self) -> tuple[VersionChange, ...]:
        """What the later version is worse at, beyond chance and the margin."""
        return self.found("worse")


@dataclass(frozen=True, kw_only=True)
class FailingSince:
    """Samples that the latest version fails, by the version since which it is so.

    Attributes:
        name: the version.
        samples: how many samples fail since then without a break.
        first: whether no earlier version is known.
    """

    name: str
    samples: int
    first: bool


@dataclass(frozen=True, kw_only=True)
class VersionLine:
    """A candidate with what came before it.

    Attributes:
        sides: its versions, the earliest first.
        steps: each against the one before; empty for the first.
        since: of the samples that the latest fails.
    """

    sides: tuple[SideChoice, ...]
    steps: tuple[VersionStep, ...]
    since: tuple[FailingSince, ...]


def version_step(view: Comparison, margin: float = 0.0) -> VersionStep:
    """Read a comparison as a step from the second side to the first.

    The whole and every capability (or label) with enough evidence are tested together, so that
    where nothing changed something is claimed in one of ten steps at most, and a loss in half of
    those. A capability that only repeats its one child counts once.

    Args:
        view: the later version is its first side.
        margin: points of 100 that a change must exceed, not negative.

    Reference:
        METHODS B9, B5 (Benjamini-Hochberg at q .10).
    """
    nodes = [node for node in view.nodes if node.samples and not node.repeats]
    gap = view.gap
    columns = [
        (gap.value, gap.se, gap.clusters - 1, gap.p),
        *((node.gap, node.se, node.df, node.p) for node in nodes),
    ]
    values, se, df, p = np.array(columns, dtype=np.float64).T
    p = beyond_margin(values, se, df, p, margin)
    adjusted = adjust(p, np.zeros(len(p), dtype=np.int64))
    pairs = view.pairs
    whole = VersionChange(
        name=WHOLE, path=(), before=gap.second, after=gap.first, gap=gap.value, lo=gap.lo,
        hi=gap.hi, p=float(p[0]), adjusted=float(adjusted[0]), samples=gap.samples,
        fixed=int((pairs.second_fails & ~pairs.first_fails).sum()),
        broke=int((pairs.first_fails & ~pairs.second_fails).sum()), inside=None,
    )  # fmt: skip
    return VersionStep(
        before=view.picked.second.label,
        after=view.picked.first.label,
        measure=view.measure,
        judge=view.first_judge,
        margin=margin,
        whole=whole,
        facet=view.facet,
        changes=tuple(
            VersionChange(
                name=node.name, path=node.path, before=node.second, after=node.first,
                gap=node.gap, lo=node.lo, hi=node.hi, p=float(p[at]),
                adjusted=float(adjusted[at]), samples=node.samples, fixed=node.second_fails,
                broke=node.first_fails, inside=node.inside,
            )
            for at, node in enumerate(nodes, start=1)
        ),
    )  # fmt: skip


def version_line(
    data: StudyData,
    filters: Filters,
    declared: Mapping[str, str],
    model: str,
    *,
    facet: str | None = None,
    margin: float = 0.0,
) -> VersionLine | None:
    """Follow a candidate back through its versions.

    Args:
        filters: what narrows it; a node limits nothing here.
        declared: candidate -> the one that it is a version of.
        model: the latest version.
        facet: labels to group by; None = capabilities where there are any.
        margin: points that a change must exceed.

    Returns:
        The line; None where the candidate is a version of none that answered here.
    """
    there = {one.model_id: one for one in choices(data) if one.answer is None}
    sides = [there[one] for one in line_of(declared, model) or () if one in there]
    if len(sides) < 2 or sides[0].model_id != model:
        return None
    filters = filters.but(node=(), model=None, peers=(), sample=None, criterion=None)
    views = [
        compare(data, filters, ComparedSides(first=later, second=earlier), facet=facet)
        for later, earlier in pairwise(sides)
    ]
    return VersionLine(
        sides=tuple(reversed(sides)),
        steps=tuple(version_step(view, margin) for view in reversed(views)),
        since=_since(sides, views),
    )


def declared_versions(store: Store, study_id: str) -> dict[str, str]:
    """Return a study's declarations: candidate's id -> id of the one that it comes after."""
    return versions_of(store, study_id)


def latest_with(
    data: StudyData, declared: Mapping[str, str], first: str, second: str
) -> str | None:
    """Return the latest version of the line in which both candidates are; None without one."""
    for latest in latest_of(data, declared):
        if {first, second} <= set(line_of(declared, latest) or ()) and first != second:
            return latest
    return None


def latest_of(data: StudyData, declared: Mapping[str, str]) -> tuple[str, ...]:
    """Return the candidates that no other is a version of, and that are versions themselves."""
    before = set(declared.values())
    return tuple(one.id for one in data.candidates if one.id in declared and one.id not in before)


def _since(sides: Sequence[SideChoice], views: Sequence[Comparison]) -> tuple[FailingSince, ...]:
    """Walk back from what the latest fails: each sample until a version that holds, or isn't known.

    Args:
        sides: versions, the latest first.
        views: each version against the one before.
    """
    left = views[0].pairs.first_fails
    found = []
    for side, view in zip(sides, views, strict=False):
        further = left & view.pairs.second_fails
        found.append(
            FailingSince(name=side.name, samples=int((left & ~further).sum()), first=False)
        )
        left = further
    found.append(FailingSince(name=sides[-1].name, samples=int(left.sum()), first=True))
    return tuple(reversed(found))

"""Each model's weaknesses and strengths, ready to be shown: frame, effect, interval, n, door.

Nothing here is judged by eye: a name appears because
`atom.analysis.capability.weaknesses.diagnose` labelled it.

Claims rest on steps that an answer speaks of and that are its own (`atom.views.reading`); means of
capabilities follow the reading that the filters choose.

Reference: METHODS B4 (frames), B5 (multiplicity), B7 (suspected), F (decisions), T1, T2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from atom.analysis.capability.diagnosis import INSUFFICIENT, Diagnosis, NodeFinding
from atom.analysis.nodes import index_nodes
from atom.views.filters import Filters, Measure
from atom.views.overview.asked_rows import benchmarks_of
from atom.views.overview.diagnosis import diagnosis_of
from atom.views.overview.evidence import NOTHING_LEFT_OUT, UnusedMarks, left_out_of, possible_end
from atom.views.study_data import StudyData
from taxonomy import Path

Status = Literal["confirmed", "suspected", "strength"]
ORDER: tuple[Status, ...] = ("confirmed", "suspected", "strength")
WEAK: tuple[Status, ...] = ("confirmed", "suspected")


@dataclass(frozen=True, kw_only=True)
class Weakness:
    """One labelled weakness (or strength) of one model. Effects are in points of 0-100.

    Attributes:
        status: what may be claimed.
        name: the capability's (or label's) own name.
        path: its path in the tree; empty for a label.
        label: (facet, value) for a label; None for a capability.
        frame: what the model was held against: `peer` or `own`.
        measure: what was counted.
        effect: departure from what the frame expects; negative = weaker.
        lo: lower end of its 95 % interval.
        pooled: the departure after partial pooling: what findings are ordered by.
        mean: the model's mean there, 0-100, over the checkpoints that the claim rests on.
        n: checkpoints (or answers) that it rests on.
        samples: distinct samples (clusters).
        more_samples: how many more would settle a suspicion; infinite where more can't; NaN where
            there is no suspicion.
        filters: where its door leads.
        p: one-sided p-value of the label's direction; NaN where it wasn't tested.
        p_adjusted: after control for multiplicity.
        left_out: checkpoints there that the claim doesn't rest on.
    """

    status: Status
    name: str
    path: Path
    label: tuple[str, str] | None
    frame: str
    measure: Measure
    effect: float
    lo: float
    hi: float
    pooled: float
    mean: float
    n: int
    samples: int
    more_samples: float
    filters: Filters
    p: float = math.nan
    p_adjusted: float = math.nan
    left_out: UnusedMarks = NOTHING_LEFT_OUT

    @property
    def confounded(self) -> bool:
        """Whether a hard capability would look the same as a weakness."""
        return self.frame == "own"

    def under(self, other: Weakness) -> bool:
        """Say whether this lies below another one in the tree."""
        depth = len(other.path)
        return 0 < depth < len(self.path) and self.path[:depth] == other.path


@dataclass(frozen=True, kw_only=True)
class ModelWeaknesses:
    """What was found for one model.

    Attributes:
        found: confirmed ones, then suspected ones, then strengths, each the largest first.
        tested: capabilities (or labels) with enough evidence to be tested.
    """

    found: tuple[Weakness, ...] = ()
    tested: int = 0


@dataclass(frozen=True, kw_only=True)
class Weaknesses:
    """What was found for all models.

    Attributes:
        frame: what models were held against.
        facet: the facet whose labels were looked at; None = capabilities.
        margin: smallest departure worth reporting, in points of 0-100.
        q: false discovery rate aimed at.
        models: one a model, in the study's order.
        benchmarks: data sets that labels were looked at within, each by itself; 1 = all together.
    """

    frame: str
    facet: str | None
    margin: float
    q: float
    models: tuple[ModelWeaknesses, ...]
    benchmarks: int = 1

    @property
    def confounded(self) -> bool:
        """Whether a hard capability would look the same as a weakness."""
        return self.frame == "own"


def weaknesses(
    data: StudyData,
    filters: Filters,
    measure: Measure,
    facet: str | None = None,
    without: int | None = None,
) -> Weaknesses | None:
    """Label what every model is weak and strong at.

    Args:
        filters: what the doors keep; they say which answers count.
        measure: capabilities of the tree are looked at by process, labels by any measure.
        facet: labels to look at; None = capabilities.
        without: a model that isn't looked at: an anchor.

    Returns:
        The findings; None when there is no tree and no facet to look at.
    """
    table = data.table
    if facet is None and (measure != "process" or not table.leaves):
        return None
    seen = diagnosis_of(data, filters, measure, facet, without)
    paths = index_nodes(table.leaves).paths if facet is None else ()
    left = left_out_of(data, filters, without) if facet is None else None
    models = []
    for number, model_id in enumerate(table.model_ids):
        mine = filters.but(model=model_id, sample=None, criterion=None)
        found = [
            _weakness(seen, finding, measure, mine, paths[finding.node], left(number, finding.node))
            if left is not None
            else _label_weakness(seen, finding, measure, mine, _label_of(data, facet, finding.node))
            for finding in seen.findings(number, ORDER)
        ]
        models.append(
            ModelWeaknesses(
                found=_in_order(found), tested=int((seen.label[number] < INSUFFICIENT).sum())
            )
        )
    return Weaknesses(
        frame=seen.frame,
        facet=facet,
        margin=100 * seen.settings.margin,
        q=seen.settings.q,
        models=tuple(models),
        benchmarks=1 if facet is None else benchmarks_of(data, facet),
    )


def _label_of(data: StudyData, facet: str | None, node: int) -> tuple[str, str]:
    assert facet is not None
    return facet, data.table.facets[facet].values[node]


def _weakness(
    seen: Diagnosis,
    finding: NodeFinding,
    measure: Measure,
    filters: Filters,
    path: Path,
    left_out: UnusedMarks,
) -> Weakness:
    rests = "yes" if left_out.words else None
    door = filters.but(node=path, rests=rests)
    return replace(_make(seen, finding, measure, door, path[-1], path, None), left_out=left_out)


def _label_weakness(
    seen: Diagnosis,
    finding: NodeFinding,
    measure: Measure,
    filters: Filters,
    label: tuple[str, str],
) -> Weakness:
    tags = tuple(dict.fromkeys((*filters.tags, label)))
    return _make(seen, finding, measure, filters.but(tags=tags), label[1], (), label)


def _make(
    seen: Diagnosis,
    finding: NodeFinding,
    measure: Measure,
    filters: Filters,
    name: str,
    path: Path,
    label: tuple[str, str] | None,
) -> Weakness:
    return Weakness(
        status=next(status for status in ORDER if status == finding.label),
        name=name,
        path=path,
        label=label,
        frame=seen.frame,
        measure=measure,
        effect=100 * finding.effect,
        lo=possible_end(finding.effect_lo),
        hi=possible_end(finding.effect_hi),
        pooled=100 * finding.pooled,
        mean=100 * finding.mean,
        n=finding.n,
        samples=finding.samples,
        more_samples=finding.more_samples,
        filters=filters,
        p=finding.p,
        p_adjusted=finding.p_adjusted,
    )


def _in_order(found: Iterable[Weakness]) -> tuple[Weakness, ...]:
    """Order by label and size; of nodes with the same rows keep the surest, then the deepest."""
    kept: list[Weakness] = []
    for item in sorted(found, key=lambda item: (ORDER.index(item.status), -len(item.path))):
        same = (other for other in kept if (other.n, other.samples) == (item.n, item.samples))
        if not any(item.under(other) or other.under(item) for other in same):
            kept.append(item)
    return tuple(sorted(kept, key=lambda item: (ORDER.index(item.status), -abs(item.pooled))))


def leading(found: Iterable[Weakness]) -> tuple[Weakness, ...]:
    """Leave the weaknesses that tell something new, in order.

    A node above another one with the same label is left out (the deeper one says where), and so is
    one on the same branch as a surer one.
    """
    weak = [item for item in found if item.status in WEAK]
    shown: list[Weakness] = []
    for item in weak:
        above = any(other.under(item) for other in weak if other.status == item.status)
        if not above and not any(item.under(other) or other.under(item) for other in shown):
            shown.append(item)
    return tuple(shown)

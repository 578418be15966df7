"""Each model's weaknesses and strengths, ready to be shown: frame, effect, interval, n, door.

Nothing here is judged by eye: a name appears because
`atom.analysis.capability.weaknesses.diagnose` labelled it.

Claims rest on steps that an answer speaks of and that are its own (`atom.views.reading`); means of
capabilities follow the reading that the filters choose.

Reference: METHODS B4 (frames), B5 (multiplicity), B7 (suspected), F (decisions), T1, T2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias, TypeVar

import numpy as np

from atom.analysis.capability.diagnosis import (
    INSUFFICIENT,
    UNTESTED,
    Diagnosis,
    DiagnosisSettings,
    Finding,
    Frame,
    Label,
)
from atom.analysis.capability.weaknesses import default_frame, diagnose_parts, sums_of
from atom.analysis.grounds import Grounds, Moments, NodeSums, find_grounds, unit_moments
from atom.analysis.intervals import NodeStats
from atom.analysis.layout import Layout, facet_layout, tree_layout
from atom.analysis.merged import Adder, Additive
from atom.analysis.nodes import index_nodes
from atom.analysis.readings import Reading
from atom.display import numbers
from atom.views.filters import Filters, Measure, answer_values, answers_kept
from atom.views.looks.early import held_early
from atom.views.reading import claims_of, frame_of, means_of, node_said, rows_at
from atom.views.study_data import StudyData, dataset_facet
from taxonomy import Path

S = TypeVar("S", bound=Additive)
Status = Literal["confirmed", "suspected", "strength"]
Rows: TypeAlias = Literal["claims"] | Reading
"""Which checkpoints count: those that claims rest on, or those of a reading's means."""
ORDER: tuple[Status, ...] = ("confirmed", "suspected", "strength")
WEAK: tuple[Status, ...] = ("confirmed", "suspected")
GLYPHS: Mapping[Label, tuple[str, str]] = {
    "confirmed": ("▼", "confirmed weakness"),
    "suspected": ("▽", "suspected weakness"),
    "strength": ("▲", "strength"),
    "nothing found": ("·", "nothing found"),
    "insufficient": ("○", "insufficient"),
    "not said": ("◌", "insufficient: not said"),
}
"""Every label's glyph and words."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Scored checkpoints of one model under a node that its claim doesn't rest on.

    Attributes:
        carried: wrong only because an earlier step was.
        silent: the answer doesn't speak of them.
        unreached: they rest on a failed step (where the judge wasn't asked what is carried).
    """

    carried: int = 0
    silent: int = 0
    unreached: int = 0

    @property
    def words(self) -> str:
        """Say what is left out, `12 carried, 3 not said`; empty where nothing is."""
        named = (
            (self.carried, "carried"),
            (self.silent, "not said"),
            (self.unreached, "after a failed step"),
        )
        return ", ".join(f"{n:,} {word}" for n, word in named if n)


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
    left_out: LeftOut = LeftOut()

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


def benchmarks_of(data: StudyData, facet: str) -> int:
    """Return how many data sets a facet's labels are looked at within; 1 = all together.

    Benchmarks differ in difficulty: a label is held against the rest of its own one. Whoever picks
    the data sets themselves as labels compares across them.
    """
    ours = dataset_facet(data.table.facets)
    sources = data.table.facets.get(ours)
    return 1 if sources is None or facet == ours else max(1, len(sources.values))


@dataclass(frozen=True, kw_only=True)
class NodeEvidence:
    """What the diagnosis says of one model on one node. Effects are in points of 0-100.

    Attributes:
        label: what may be claimed, "nothing found" and "insufficient" included.
        frame: what the model was held against.
        effect: departure from what the frame expects, negative = weaker; NaN where there is none.
        lo: lower end of its 95 % interval.
        n: checkpoints that the claim rests on.
        samples: distinct samples (clusters) of these.
        more_samples: how many more would settle a suspicion; NaN where there is none.
        left_out: checkpoints there that it doesn't rest on.
    """

    label: Label
    frame: Frame
    effect: float
    lo: float
    hi: float
    n: int
    samples: int
    more_samples: float
    left_out: LeftOut = LeftOut()

    @classmethod
    def of(cls, one: Finding, left_out: LeftOut | None = None) -> Self:
        """Bring a finding to points of 0-100."""
        return cls(
            label=one.label,
            frame=one.frame,
            effect=100 * one.effect,
            lo=_possible(one.effect_lo),
            hi=_possible(one.effect_hi),
            n=one.n,
            samples=one.samples,
            more_samples=one.more_samples,
            left_out=left_out or LeftOut(),
        )

    @property
    def confounded(self) -> bool:
        """Whether a hard capability would look the same as a weakness."""
        return self.frame == "own"

    @property
    def glyph(self) -> str:
        """The label's glyph."""
        return GLYPHS[self.label][0]

    @property
    def words(self) -> str:
        """The label in words."""
        return GLYPHS[self.label][1]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the diagnosis says of one model on every node.

    Attributes:
        frame: what models were held against.
        margin: smallest departure worth reporting, in points of 0-100.
        q: false discovery rate aimed at.
        nodes: path -> what is said there, of the nodes that have criteria in the score table.
    """

    frame: Frame
    margin: float
    q: float
    nodes: Mapping[Path, NodeEvidence]

    @property
    def confounded(self) -> bool:
        """Whether a hard capability would look the same as a weakness."""
        return self.frame == "own"

    def at(self, path: Path) -> NodeEvidence | None:
        """Return what is said of a node; None for the whole tree, of which nothing is claimed."""
        if not path:
            return None
        nan = math.nan
        none = NodeEvidence(label="insufficient", frame=self.frame, effect=nan, lo=nan, hi=nan,
                            n=0, samples=0, more_samples=nan)  # fmt: skip
        return self.nodes.get(path, none)


def evidence(data: StudyData, filters: Filters, model: int) -> Evidence:
    """Say what the diagnosis says of one model on every node, by the process.

    It's the diagnosis behind `weaknesses`: the same answers, frame and settings.

    Args:
        filters: tags, outcome and process narrow; the chain doesn't.
        model: index of the model.
    """
    table = data.table
    if not table.leaves:
        usual = DiagnosisSettings()
        return Evidence(
            frame=default_frame(table.n_models), margin=100 * usual.margin, q=usual.q, nodes={}
        )
    seen = diagnosis_of(data, filters, "process", None)
    left = left_out_of(data, filters)
    return Evidence(
        frame=seen.frame,
        margin=100 * seen.settings.margin,
        q=seen.settings.q,
        nodes={
            path: NodeEvidence.of(seen.finding(model, number), left(model, number))
            for number, path in enumerate(index_nodes(table.leaves).paths)
        },
    )


def left_out_of(
    data: StudyData, filters: Filters, without: int | None = None
) -> Callable[[int, int], LeftOut]:
    """Return a look-up: what a model's claim on a node of the tree doesn't rest on.

    Args:
        filters: they say which answers count; the chain doesn't.
        without: a model that isn't looked at: an anchor.
    """
    said = node_said(data, filters, without)
    silent = said.own - said.addressed

    def at(model: int, node: int) -> LeftOut:
        return LeftOut(
            carried=int(said.carried[model, node]),
            silent=int(silent[model, node]),
            unreached=int(said.unreached[model, node]),
        )

    return at


def _label_of(data: StudyData, facet: str | None, node: int) -> tuple[str, str]:
    assert facet is not None
    return facet, data.table.facets[facet].values[node]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which rows of a study are looked at, and by which nodes.

    Attributes:
        filters: tags, root, outcome and process narrow; the chain doesn't.
        measure: what is counted.
        facet: the facet whose labels are the nodes; None = the tree's.
        which: which checkpoints count, of those that the filters leave.
        frame: what models are held against.
        without: a model that isn't looked at: an anchor.
    """

    filters: Filters
    measure: Measure
    facet: str | None
    which: Rows
    frame: Frame
    without: int | None = None

    @property
    def root(self) -> str | None:
        """The root that narrows: an answer's own outcome and votes are of no root."""
        return self.filters.root if self.measure == "process" else None

    @property
    def key(self) -> tuple[object, ...]:
        """What the rows depend on."""
        # An answer's own value follows the reading, too.
        by = (self.which, self.frame) if self.facet is None else self.filters.reading
        return (self.measure, self.facet, by, self.root, self.without, *self.filters.answering)


def over(data: StudyData, asked: Asked) -> Adder:
    """Add up over the rows asked about, part by part: what is collected takes their `Grounds`."""
    return lambda collect, *given: data.adder(_on_grounds, asked, collect, given)


def _on_grounds(
    data: StudyData, asked: Asked, collect: Callable[..., S], given: tuple[Any, ...]
) -> S:
    return collect(_grounds(data, asked), *given)


def _grounds(data: StudyData, asked: Asked) -> Grounds:
    """Say which rows of a part count."""
    mask = None
    if asked.facet is None:
        which = asked.which
        mask = claims_of(data, asked.frame) if which == "claims" else means_of(data, which)

    def make() -> Grounds:
        if asked.facet is None:
            rows = rows_at(data, asked.filters)
            rows = rows if mask is None else rows[mask[rows]]
            model = data.table.model[data.table.response[rows]]
        else:
            rows = np.flatnonzero(answers_kept(data, asked.filters))
            model = data.table.model[rows]
        if asked.without is not None:
            rows = rows[model != asked.without]
        return find_grounds(layout_of(data, asked), rows)

    # Where all checkpoints count either way, they are looked at once.
    same = asked.facet is None and mask is None
    key = replace(asked, which="strict", frame="own").key if same else asked.key
    return data.table.at_work.get(("grounds", *key), make)


def _asked(
    data: StudyData,
    filters: Filters,
    measure: Measure,
    facet: str | None,
    which: Rows,
    without: int | None = None,
) -> Asked:
    return Asked(filters=filters, measure=measure, facet=facet, which=which, without=without,
                 frame=frame_of(data, filters, without))  # fmt: skip


def diagnosis_of(
    data: StudyData,
    filters: Filters,
    measure: Measure,
    facet: str | None,
    without: int | None = None,
) -> Diagnosis:
    """Diagnose the answers that filters keep; by process what the root filter leaves of them.

    Args:
        filters: tags, root, outcome and process narrow; the chain doesn't.
        facet: labels to look at; None = capabilities.
        without: a model that isn't looked at: an anchor.
    """
    asked = _asked(data, filters, measure, facet, "claims", without)

    def make() -> Diagnosis:
        silent = None if facet is not None else node_said(data, filters, without).silent
        seen = diagnose_parts(
            layout_of(data, asked),
            over(data, asked),
            DiagnosisSettings(frame=asked.frame),
            silent,
        )
        if data.early is None:
            return seen
        paths = index_nodes(data.table.leaves).paths if facet is None else ()
        whole = facet is None and measure == "process" and not filters.active
        return held_early(seen, data.early, paths, whole=whole)

    return data.table.recent.get(("diagnosis", *asked.key), make)


def node_means(data: StudyData, filters: Filters) -> NodeStats:
    """Return the means of every model on every node of the tree, by the process.

    Args:
        filters: tags, root, outcome and process narrow; the chain doesn't. The reading says which
            checkpoints count.

    Returns:
        Statistics on [0, 1] by model, then node, in the order of `index_nodes(table.leaves)`.
    """
    return value_means(data, filters, "process", None)


def value_means(
    data: StudyData,
    filters: Filters,
    measure: Measure,
    facet: str | None,
    without: int | None = None,
) -> NodeStats:
    """Return the means of every model on every node, or every label of a facet.

    Args:
        filters: see `node_means`.
        facet: the facet whose labels are the nodes; None = the tree's.
        without: a model that isn't looked at: an anchor.
    """
    asked = _asked(data, filters, measure, facet, filters.reading, without)

    def make() -> NodeStats:
        sums: NodeSums = over(data, asked)(sums_of)
        layout = layout_of(data, asked)
        return sums.nodes.stats(np.tile(layout.level, layout.n_models))

    return data.table.recent.get(("means", *asked.key), make)


def whole_means(data: StudyData, filters: Filters) -> NodeStats:
    """Return every model's mean over all its mapped checkpoints: the whole tree as one node.

    Args:
        filters: see `node_means`.

    Returns:
        Statistics on [0, 1] by model.
    """
    asked = _asked(data, filters, "process", None, filters.reading)

    def make() -> NodeStats:
        found: Moments = over(data, asked)(_whole)
        return found.stats()

    return data.table.recent.get(("whole means", *asked.key), make)


def _whole(grounds: Grounds) -> Moments:
    layout = grounds.layout
    shape = layout.n_models, layout.n_clusters
    size = shape[0] * shape[1]
    total = np.bincount(layout.unit, weights=grounds.values, minlength=size)
    count = np.bincount(layout.unit, weights=grounds.keep, minlength=size)
    return unit_moments(
        total.astype(np.float64).reshape(shape), count.astype(np.float64).reshape(shape)
    )


def layout_of(data: StudyData, asked: Asked) -> Layout:
    """Lay a part out once; a filter then costs no sort."""
    return lay_out(data, asked.measure, asked.facet, asked.root, asked.filters.reading)


def lay_out(
    data: StudyData,
    measure: Measure,
    facet: str | None,
    root: str | None,
    reading: Reading = "strict",
) -> Layout:
    """Lay a study out once; a filter then costs no sort."""
    table = data.table
    if facet is None:
        return table.kept.get(("tree layout",), lambda: tree_layout(table))
    value = (
        table.outcome.astype(np.float64)
        if measure == "outcome"
        else answer_values(data, Filters(root=root, reading=reading), measure)
    )
    within = dataset_facet(data.table.facets) if benchmarks_of(data, facet) > 1 else None
    return table.kept.get(
        ("facet layout", measure, facet, root, reading),
        lambda: facet_layout(table, facet, value, within=within),
    )


def _weakness(
    seen: Diagnosis,
    finding: Finding,
    measure: Measure,
    filters: Filters,
    path: Path,
    left_out: LeftOut,
) -> Weakness:
    rests = "yes" if left_out.words else None
    door = filters.but(node=path, rests=rests)
    return replace(_make(seen, finding, measure, door, path[-1], path, None), left_out=left_out)


def _label_weakness(
    seen: Diagnosis,
    finding: Finding,
    measure: Measure,
    filters: Filters,
    label: tuple[str, str],
) -> Weakness:
    tags = tuple(dict.fromkeys((*filters.tags, label)))
    return _make(seen, finding, measure, filters.but(tags=tags), label[1], (), label)


def _make(
    seen: Diagnosis,
    finding: Finding,
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
        lo=_possible(finding.effect_lo),
        hi=_possible(finding.effect_hi),
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


def _possible(end: float) -> float:
    """Write an interval's end in points of 100: no two scores differ by more than 100."""
    return min(max(100 * end, -100.0), 100.0) if math.isfinite(end) else 100 * end


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


def effect_words(item: Weakness) -> str:
    """Write the effect with its interval and what it is held against."""
    size = _size_words(item.effect, item.lo, item.hi, higher=item.status == "strength")
    if item.label is None:
        return f"{size} {_against_words(item.frame)}"
    return f"{size} {_against_words(item.frame, 'questions', 'answers')}"


def evidence_words(item: NodeEvidence) -> str:
    """Write a node's effect with its interval and what it is held against, or why there is none."""
    if not item.n:
        return "no score here yet"
    if not math.isfinite(item.effect):
        return "nothing to compare it with"
    higher = item.effect >= 0 if item.label in ("nothing found", *UNTESTED) else (
        item.label == "strength"
    )  # fmt: skip
    size = _size_words(item.effect, item.lo, item.hi, higher=higher)
    return f"{size} {_against_words(item.frame)}"


def _size_words(effect: float, lo: float, hi: float, *, higher: bool) -> str:
    sign = 1 if higher else -1
    lo, hi = sorted((sign * lo, sign * hi))
    size = numbers.plain(sign * effect, 1)
    if math.isfinite(lo) and math.isfinite(hi):
        size += f" ({numbers.ends(lo, hi)})"
    return f"{size} points of 100 {'higher' if higher else 'lower'}"


def _against_words(frame: str, peers: str = "criteria", own: str = "criteria") -> str:
    if frame == "peer":
        return f"than the other models' scores on the same {peers} predict"
    return f"than on the rest of its own {own}"


def frame_words(item: Weakness | Weaknesses | NodeEvidence | Evidence) -> str:
    """Name the frame, and what it can't tell apart."""
    note = ", confounded with difficulty" if item.confounded else ""
    if isinstance(item, Weaknesses) and item.benchmarks > 1:
        note += f", within each of {item.benchmarks:,} benchmarks"
    return f"{item.frame} frame{note}"


def more_words(item: Weakness | NodeEvidence) -> str:
    """Say what would settle a suspicion; empty for anything else."""
    claim = item.status if isinstance(item, Weakness) else item.label
    if claim != "suspected" or math.isnan(item.more_samples):
        return ""
    if math.isinf(item.more_samples):
        return "more samples alone would not settle it"
    number = math.ceil(item.more_samples)
    return f"about {number:,} more {'sample' if number == 1 else 'samples'} there would settle it"

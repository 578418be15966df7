"""What is found of a model’s capabilities: labels, settings, findings."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atom.analysis.intervals import (
    Floats,
    Ints,
)

Frame = Literal["absolute", "own", "peer"]


Label = Literal["confirmed", "suspected", "strength", "nothing found", "insufficient", "not said"]


Multiplicity = Literal["bh", "by", "tree"]


LABELS: tuple[Label, ...] = (
    "confirmed", "suspected", "strength", "nothing found", "insufficient", "not said"
)  # fmt: skip


_CLAIMED: tuple[Label, ...] = ("confirmed",)


CONFIRMED, SUSPECTED, STRENGTH, NOTHING, INSUFFICIENT, NOT_SAID = range(6)


UNTESTED: tuple[Label, ...] = ("insufficient", "not said")
"""Too few samples; or the model is silent on most of the node's steps."""


MIN_ROWS = 5


PEER_MODELS = 4
"""From this many models on `peer` is the default frame."""


MARGIN = 0.025
"""Smallest departure worth reporting: 0.10 points on 1..5, 2.5 on 0-100."""


@dataclass(frozen=True, kw_only=True)
class DiagnosisSettings:
    """How weaknesses are looked for.

    Attributes:
        frame: what a node is held against; None = `peer` from four models on, else `own`.
        margin: smallest departure worth reporting, on [0, 1].
        q: false discovery rate aimed at.
        multiplicity: `bh` or `by` within a family, or `tree` for TreeBH over the whole tree (inner
            nodes then stand for their leaves, by Simes).
        joint: whether all models of a level share a family (for claims across models), instead of
            one family a model and level.
        line: what `absolute` holds a mean against, on [0, 1].
        confidence: coverage of intervals.
        suspect: probability of a departure beyond the margin from which on it's suspected.
    """

    frame: Frame | None = None
    margin: float = MARGIN
    q: float = 0.10
    multiplicity: Multiplicity = "bh"
    joint: bool = False
    line: float = 0.5
    confidence: float = 0.95
    suspect: float = 0.8


@dataclass(frozen=True, kw_only=True)
class NodeFinding:
    """What is said of one model on one node. All values are on [0, 1].

    Attributes:
        model: index.
        node: index in the layout's nodes.
        label: what may be claimed.
        frame: what the node was held against.
        n: rows (checkpoints, or answers).
        samples: distinct samples (clusters).
        mean: the node's mean; `lo`, `hi` its interval.
        lo: lower end.
        effect: departure from what the frame expects, negative = weaker.
        effect_lo: lower end of its interval.
        pooled: the departure after partial pooling: what to rank by.
        p: one-sided p-value of the label's direction (weakness unless a strength).
        p_adjusted: after control for multiplicity.
        probability: that the departure lies beyond the margin (weakness).
        replication: that a new study of the same size shows the same sign at one-sided .05.
        more_samples: how many more samples of the node would settle a suspicion; NaN where there is
            none, infinite where it can't.
    """

    model: int
    node: int
    label: Label
    frame: Frame
    n: int
    samples: int
    mean: float
    lo: float
    hi: float
    effect: float
    effect_lo: float
    effect_hi: float
    pooled: float
    p: float
    p_adjusted: float
    probability: float
    replication: float
    more_samples: float


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Every model on every node, arrays of shape (K, M); values on [0, 1].

    Attributes:
        frame: what nodes were held against.
        confounded: the frame mixes weakness with difficulty (`own`: say so beside the claims).
        settings: how it was looked for.
        n: rows in the node, those without peers included.
        samples: distinct clusters in the node.
        mean: node means; `lo`, `hi` their moderated Wilson intervals.
        lo: lower ends.
        effect: departures by the frame; NaN where they can't be formed.
        se: their moderated standard errors.
        effect_lo: lower ends of their intervals.
        pooled: departures after partial pooling.
        p_weak: one-sided p-values of a weakness beyond the margin; NaN = not tested.
        p_strong: the mirrored test.
        adjusted_weak: after control for multiplicity (for `tree`: q where selected, else 1).
        adjusted_strong: the same for strengths.
        probability: P(departure < -margin) after partial pooling.
        replication: P(a new study of the same size shows the same sign at one-sided .05).
        more_samples: samples still needed where suspected, else NaN.
        label: int8, index into `LABELS`.
        without_peers: rows of each model that the peer frame had to leave out, shape (K,).
    """

    frame: Frame
    settings: DiagnosisSettings
    n: Ints
    samples: Ints
    mean: Floats
    lo: Floats
    hi: Floats
    effect: Floats
    se: Floats
    effect_lo: Floats
    effect_hi: Floats
    pooled: Floats
    p_weak: Floats
    p_strong: Floats
    adjusted_weak: Floats
    adjusted_strong: Floats
    probability: Floats
    replication: Floats
    more_samples: Floats
    label: np.ndarray[tuple[int, ...], np.dtype[np.int8]]
    without_peers: Ints

    @property
    def confounded(self) -> bool:
        """Whether the frame can't tell a weak model from a hard node."""
        return self.frame == "own"

    def finding(self, model: int, node: int) -> NodeFinding:
        """Return what is said of one model on one node."""
        at = model, node
        label = LABELS[int(self.label[at])]
        strong = label == "strength"
        return NodeFinding(
            model=model,
            node=node,
            label=label,
            frame=self.frame,
            n=int(self.n[at]),
            samples=int(self.samples[at]),
            mean=float(self.mean[at]),
            lo=float(self.lo[at]),
            hi=float(self.hi[at]),
            effect=float(self.effect[at]),
            effect_lo=float(self.effect_lo[at]),
            effect_hi=float(self.effect_hi[at]),
            pooled=float(self.pooled[at]),
            p=float((self.p_strong if strong else self.p_weak)[at]),
            p_adjusted=float((self.adjusted_strong if strong else self.adjusted_weak)[at]),
            probability=float(self.probability[at]),
            replication=float(self.replication[at]),
            more_samples=float(self.more_samples[at]),
        )

    def findings(self, model: int, labels: Collection[Label] = _CLAIMED) -> tuple[NodeFinding, ...]:
        """List a model's findings with these labels, largest pooled departure first."""
        wanted = [number for number, label in enumerate(LABELS) if label in labels]
        nodes = np.flatnonzero(np.isin(self.label[model], wanted) & (self.n[model] > 0))
        order = np.argsort(-np.abs(np.nan_to_num(self.pooled[model, nodes])), kind="stable")
        return tuple(self.finding(model, int(node)) for node in nodes[order])

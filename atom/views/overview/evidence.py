"""What the diagnosis says of one model on every node, found or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from atom.analysis.capability.diagnosis import DiagnosisSettings, Frame, Label, NodeFinding
from atom.analysis.capability.weaknesses import default_frame
from atom.analysis.nodes import index_nodes
from atom.views.filters import Filters
from atom.views.overview.diagnosis import diagnosis_of
from atom.views.reading import node_said
from atom.views.study_data import StudyData
from taxonomy import Path

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
class UnusedMarks:
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


NOTHING_LEFT_OUT = UnusedMarks()


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
    left_out: UnusedMarks = NOTHING_LEFT_OUT

    @classmethod
    def of(cls, one: NodeFinding, left_out: UnusedMarks | None = None) -> Self:
        """Bring a finding to points of 0-100."""
        return cls(
            label=one.label,
            frame=one.frame,
            effect=100 * one.effect,
            lo=possible_end(one.effect_lo),
            hi=possible_end(one.effect_hi),
            n=one.n,
            samples=one.samples,
            more_samples=one.more_samples,
            left_out=left_out or NOTHING_LEFT_OUT,
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
) -> Callable[[int, int], UnusedMarks]:
    """Return a look-up: what a model's claim on a node of the tree doesn't rest on.

    Args:
        filters: they say which answers count; the chain doesn't.
        without: a model that isn't looked at: an anchor.
    """
    said = node_said(data, filters, without)
    silent = said.own - said.addressed

    def at(model: int, node: int) -> UnusedMarks:
        return UnusedMarks(
            carried=int(said.carried[model, node]),
            silent=int(silent[model, node]),
            unreached=int(said.unreached[model, node]),
        )

    return at


def possible_end(end: float) -> float:
    """Write an interval's end in points of 100: no two scores differ by more than 100."""
    return min(max(100 * end, -100.0), 100.0) if math.isfinite(end) else 100 * end

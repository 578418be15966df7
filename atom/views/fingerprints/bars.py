"""Skill bars of one model, the surest evidence first."""

from __future__ import annotations

from dataclasses import dataclass

from atom.analysis.capability.diagnosis import LABELS, Frame
from atom.views.fingerprints.claims import Claims
from atom.views.fingerprints.shape import Shape, ShapeMark, ShapeModel, full_name
from atom.views.lab.judge_marks import JudgeMark
from atom.views.overview.evidence import NodeEvidence
from taxonomy import Path


@dataclass(frozen=True, kw_only=True)
class SkillBar:
    """A skill bar.

    Attributes:
        name: the capability's (or label's) own name.
        path: its path; empty for a label.
        label: (facet, value) for a label; None for a capability.
        mark: the model's value.
        held: what the model's value is held against there, 0-100: what the frame expects of it
            where there is a departure, else the other models' mean; NaN without either.
        claim: what the diagnosis says; None where nothing may be claimed.
        judge: what is wrong with the judge there; None = nothing known.
    """

    name: str
    path: Path
    label: tuple[str, str] | None
    mark: ShapeMark
    held: float
    claim: NodeEvidence | None
    judge: JudgeMark | None = None

    @property
    def full(self) -> str:
        """The whole path, or the label with its facet."""
        return full_name(self.path, self.label)


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Skill bars of one model, the surest evidence first.

    Attributes:
        rows: confirmed weaknesses, suspected ones, strengths, the rest; each by evidence.
        frame: what the model is held against; None where nothing may be claimed.
        margin: smallest departure worth reporting, in points of 0-100.
        q: false discovery rate aimed at.
        looks: capabilities (or labels) on which the model was looked at.
        selected: which answers are looked at, when they are chosen by how they went.
    """

    model: ShapeModel
    rows: tuple[SkillBar, ...]
    frame: Frame | None
    margin: float
    q: float
    looks: int
    selected: str


def bars(form: Shape, said: Claims | None, model: int | None = None) -> Bars | None:
    """Make the skill bars of a model, the surest evidence first.

    Args:
        said: what is claimed; without it the tree's order stays.
        model: whose; the first one drawn when None.

    Returns:
        The bars; None without any model.
    """
    drawn = form.drawn()
    if not drawn:
        return None
    one = drawn[0] if model is None else model
    nodes = [int(node) for node in form.finest if form.n[one, node]]
    if said is not None:
        nodes.sort(
            key=lambda node: (
                LABELS.index(said.label(one, node)),
                said.doubt(one, node),
                -int(form.n[one, node]),
            )
        )
    peers = form.of_peers()
    said_at = {node: None if said is None else said.at(one, node) for node in nodes}
    return Bars(
        model=form.names[one],
        rows=tuple(
            SkillBar(
                name=form.name_at(node),
                path=form.path_at(node),
                label=form.label_at(node),
                mark=form.mark(one, node),
                held=_held(form.mark(one, node), said_at[node], float(peers[one, node])),
                claim=said_at[node],
                judge=form.judge_at(node),
            )
            for node in nodes
        ),
        frame=None if said is None else said.frame,
        margin=0.0 if said is None else said.margin,
        q=0.0 if said is None else said.q,
        looks=0 if said is None else said.looks(one),
        selected=form.selected,
    )


def _held(mark: ShapeMark, claim: NodeEvidence | None, peers: float) -> float:
    """Return what a value is held against: the departure is the value less this."""
    if claim is None:
        return peers
    return mark.estimate.value - claim.effect

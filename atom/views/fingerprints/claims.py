"""What the diagnosis says of each model on each capability or label.

Reference: METHODS B4-B5 (claims).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from atom.analysis.capability.diagnosis import LABELS, Diagnosis, Frame, Label
from atom.views.fingerprints.shape import Shape, anchor_at
from atom.views.overview.diagnosis import diagnosis_of
from atom.views.overview.evidence import NodeEvidence, UnusedMarks, left_out_of
from atom.views.overview.weakness_words import evidence_words
from atom.views.study_data import StudyData


def claim_words(claim: NodeEvidence, facet: str | None) -> str:
    """Write a claim's effect with its interval and what it is held against."""
    words = evidence_words(claim)
    if facet is None:
        return words
    return words.replace("same criteria", "same questions").replace("own criteria", "own answers")


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What the diagnosis says of every model on every capability or label.

    Attributes:
        left: model, node -> the checkpoints that it doesn't rest on; None for labels.
    """

    seen: Diagnosis
    left: Callable[[int, int], UnusedMarks] | None = None

    @property
    def frame(self) -> Frame:
        """What models are held against."""
        return self.seen.frame

    @property
    def margin(self) -> float:
        """Smallest departure worth reporting, in points of 0-100."""
        return 100 * self.seen.settings.margin

    @property
    def q(self) -> float:
        """The false discovery rate aimed at."""
        return self.seen.settings.q

    def label(self, model: int, node: int) -> Label:
        """Return what may be claimed."""
        return LABELS[int(self.seen.label[model, node])]

    def at(self, model: int, node: int) -> NodeEvidence:
        """Return what is said of one model on one capability or label."""
        left = None if self.left is None else self.left(model, node)
        return NodeEvidence.of(self.seen.finding(model, node), left)

    def looks(self, model: int) -> int:
        """Return on how many capabilities (or labels) a model was looked at."""
        return int((self.seen.label[model] < LABELS.index("insufficient")).sum())

    def sure(self, model: int) -> int:
        """Return how many weaknesses and strengths of a model are confirmed, leaves or not."""
        wanted = [LABELS.index("confirmed"), LABELS.index("strength")]
        return int(np.isin(self.seen.label[model], wanted).sum())

    def doubt(self, model: int, node: int) -> float:
        """Return the smaller p-value of the two directions; 1 where nothing was tested."""
        found = [float(p[model, node]) for p in (self.seen.p_weak, self.seen.p_strong)]
        return min((p for p in found if not math.isnan(p)), default=1.0)


def opened(form: Shape, said: Claims | None) -> Shape:
    """Draw the models with most to show first, while none is chosen.

    Args:
        said: what is claimed; without it, or without a claim, the best models stay first.
    """
    if said is None:
        return form
    sure = {one: said.sure(one) for one in form.models}
    if not any(sure.values()):
        return form
    best = form.best()
    lead = sorted(form.models, key=lambda one: (-sure[one], best.index(one)))[:3]
    return replace(form, lead=tuple(lead))


def claims(data: StudyData, form: Shape) -> Claims | None:
    """Say what the diagnosis says; None where nothing may be claimed.

    Answers chosen by how they went are other samples for every model, and one model alone on
    labels of nothing has nothing to be held against.
    """
    if form.selected or not form.models or not len(form.finest):
        return None
    without = anchor_at(data, form.measure)
    return Claims(
        seen=diagnosis_of(data, form.filters, form.measure, form.facet, without),
        left=left_out_of(data, form.filters, without) if form.facet is None else None,
    )

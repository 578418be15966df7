"""Which checkpoints a number about capabilities is made of, and what is left out of it in sight.

Reference: METHODS T1 (what was said), T2 (errors carried forward).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.capability.weaknesses import Frame, default_frame
from atom.analysis.intervals import Floats, Ints
from atom.analysis.nodes import index_nodes
from atom.analysis.readings import ENOUGH_SAID, Reading, claim_rows, mean_rows, reached_rows
from atom.views.filters import Filters, answers_kept, processes_of, rows_in_node, rows_kept
from atom.views.study_data import StudyData

Mask = NDArray[np.bool_]
READINGS: dict[Reading, str] = {"strict": "strict", "said": "of what was said"}
"""What screens call them."""


def means_of(data: StudyData, reading: Reading) -> Mask | None:
    """Say which checkpoints make the means of capabilities, shape (N,); None = all do."""
    return _unless_all(data, ("mean rows", reading), lambda: mean_rows(data.table, reading))


def frame_of(data: StudyData, answers: Mask) -> Frame:
    """Return what models are held against, by how many of them have answers that count.

    A model without any (an anchor, say) is nobody's peer.

    Args:
        data: the study.
        answers: answers that count, shape (R,).
    """
    peers = int((np.bincount(data.table.model[answers]) > 0).sum()) or data.table.n_models
    return default_frame(peers)


def claims_of(data: StudyData, frame: Frame) -> Mask | None:
    """Say which checkpoints weaknesses and strengths rest on, shape (N,); None = all do."""
    peers = frame == "peer"
    return _unless_all(data, ("claim rows", peers), lambda: claim_rows(data.table, peers=peers))


def _unless_all(data: StudyData, key: tuple[object, ...], make: Callable[[], Mask]) -> Mask | None:
    def look() -> Mask | None:
        found = make()
        return None if found.all() else found

    return data.table.kept.get(key, look)


def mean_rows_kept(data: StudyData, filters: Filters) -> Mask:
    """Say which of the checkpoints that a view counts make its capabilities' means, shape (N,)."""
    mask = means_of(data, filters.reading)
    rows = rows_kept(data, filters)
    return rows if mask is None else rows & mask


def score_rows_kept(data: StudyData, filters: Filters) -> Mask:
    """Say which of the checkpoints that a view counts make an answer's own score, shape (N,)."""
    rows = rows_kept(data, filters)
    return rows & data.table.addressed if filters.reading == "said" else rows


def carries(*studies: StudyData) -> bool:
    """Say whether any checkpoint of these is carried."""
    return any(data.table.carried.any() for data in studies)


def claim_rows_kept(data: StudyData, filters: Filters) -> Mask:
    """Say which of the checkpoints that a view counts its claims rest on, shape (N,)."""
    mask = claims_of(data, frame_of(data, answers_kept(data, filters)))
    rows = rows_kept(data, filters)
    return rows if mask is None else rows & mask


@dataclass(frozen=True, kw_only=True)
class NodeSaid:
    """What of every model's scored checkpoints on every node counts, arrays of shape (K, M).

    Nodes come in the order of `index_nodes(table.leaves)`.

    Attributes:
        scored: checkpoints with a score.
        carried: of these, those wrong only because an earlier step was; in no mean.
        addressed: of the rest, those that the answer says something about.
        unreached: addressed ones that rest on a failed step, where carried marks aren't known and
            models are held against their peers; in the means, and in no claim.
    """

    scored: Ints
    carried: Ints
    addressed: Ints
    unreached: Ints

    @property
    def own(self) -> Ints:
        """Checkpoints of the strict mean."""
        return self.scored - self.carried

    @property
    def share(self) -> Floats:
        """Share of the strict mean's checkpoints that are addressed; NaN where there are none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.addressed / self.own)

    @property
    def silent(self) -> Mask:
        """Where a model addresses less than half of what there is."""
        return np.asarray((self.own > 0) & (self.addressed < ENOUGH_SAID * self.own))


def node_said(data: StudyData, filters: Filters, answers: Mask | None = None) -> NodeSaid:
    """Count what of every model's checkpoints on every node is said, carried, unreached.

    Args:
        data: the study.
        filters: tags, root, outcome, process and terse narrow; the chain doesn't.
        answers: answers that count, shape (R,); those that the filters keep when None.
    """
    table = data.table
    keep = answers_kept(data, filters) if answers is None else answers
    usual = keep is answers_kept(data, filters)

    def make() -> NodeSaid:
        rows = rows_kept(data, filters)
        if not usual:
            rows = table.of_answers(keep)
            rows = rows & rows_in_node(data, (filters.root,)) if filters.root else rows
        rows = rows & (table.score > 0) & (table.leaf >= 0)
        membership = index_nodes(table.leaves).membership
        leaves = len(table.leaves)

        def count(mask: Mask) -> Ints:
            at = np.flatnonzero(mask)
            place = table.model[table.response[at]].astype(np.int64) * leaves + table.leaf[at]
            of_leaf = np.bincount(place, minlength=table.n_models * leaves)
            found = of_leaf.reshape(table.n_models, leaves) @ membership.T
            return np.asarray(found.round().astype(np.int64))

        scored = count(rows)
        nothing = np.zeros_like(scored)
        carried = count(rows & table.carried) if table.carried.any() else nothing
        own = rows & ~table.carried
        addressed = scored - carried
        if not table.addressed.all():
            addressed = count(own & table.addressed)
        unreached = nothing
        peers = frame_of(data, keep) == "peer"
        if peers and not table.carried_known and bool(table.chained.any() or table.parents.size):
            reached = table.kept.get("reached rows", lambda: reached_rows(table))
            unreached = count(own & table.addressed & ~reached)
        return NodeSaid(scored=scored, carried=carried, addressed=addressed, unreached=unreached)

    if not usual:
        return make()
    return table.recent.get(("node said", *filters.but(reading="strict").narrowing), make)


@dataclass(frozen=True, kw_only=True)
class ModelSaid:
    """How much every model's answers say, arrays of shape (K,).

    Attributes:
        scored: checkpoints with a score.
        addressed: of these, those that the answer says something about.
        carried: of these, those wrong only because an earlier step was.
        terse: answers that address less than half of their weight.
        told: answers that address at least half of it.
    """

    scored: Ints
    addressed: Ints
    carried: Ints
    terse: Ints
    told: Ints

    @property
    def share(self) -> Floats:
        """Share of scored checkpoints that are addressed, 0-100; NaN without any."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(100 * self.addressed / self.scored)


def model_said(data: StudyData, filters: Filters) -> ModelSaid:
    """Count how much every model's answers say.

    Args:
        data: the study.
        filters: tags, root, outcome, process and terse narrow; the chain doesn't.
    """
    table = data.table

    def make() -> ModelSaid:
        rows = rows_kept(data, filters) & (table.score > 0)
        found = processes_of(data)
        keep = answers_kept(data, filters)

        def of_rows(mask: Mask) -> Ints:
            at = table.model[table.response[np.flatnonzero(mask)]]
            return np.bincount(at, minlength=table.n_models).astype(np.int64)

        def of_answers(mask: Mask) -> Ints:
            return np.bincount(table.model[keep & mask], minlength=table.n_models).astype(np.int64)

        scored = of_rows(rows)
        return ModelSaid(
            scored=scored,
            addressed=scored if table.addressed.all() else of_rows(rows & table.addressed),
            carried=of_rows(rows & table.carried),
            terse=of_answers(found.terse),
            told=of_answers(found.told),
        )

    return table.recent.get(("model said", *filters.but(reading="strict").narrowing), make)

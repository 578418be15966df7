"""Which checkpoints a number about capabilities is made of, and what is left out of it in sight.

Reference: METHODS T1 (what was said), T2 (errors carried forward).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.capability.diagnosis import Frame
from atom.analysis.capability.weaknesses import default_frame
from atom.analysis.intervals import Floats, Ints
from atom.analysis.merged import Additive
from atom.analysis.nodes import index_nodes
from atom.analysis.readings import ENOUGH_SAID, Reading, claim_rows, mean_rows, reached_rows
from atom.views.filters import Filters, answers_kept, leaves_under, processes_of, rows_kept
from atom.views.study_data import StudyData

Mask = NDArray[np.bool_]
READINGS: dict[Reading, str] = {"strict": "strict", "said": "of what was said"}
"""What screens call them."""
FEW = 0.25
"""Where a view counts this share of the answers or less, it reads their checkpoints alone."""


def means_of(data: StudyData, reading: Reading) -> Mask | None:
    """Say which checkpoints make the means of capabilities, shape (N,); None = all do."""
    return _unless_all(data, ("mean rows", reading), lambda: mean_rows(data.table, reading))


@dataclass(frozen=True, kw_only=True)
class _Answers(Additive):
    """Answers that count, by model, shape (K,)."""

    n: Ints


def _answers_by_model(data: StudyData, filters: Filters) -> _Answers:
    table = data.table
    kept = table.model[answers_kept(data, filters)]
    return _Answers(n=np.bincount(kept, minlength=table.n_models))


def frame_of(data: StudyData, filters: Filters, without: int | None = None) -> Frame:
    """Return what models are held against, by how many of them have answers that count.

    A model without any is nobody's peer.

    Args:
        filters: they say which answers count; the chain doesn't.
        without: a model that isn't looked at: an anchor.
    """

    def make() -> Frame:
        found: _Answers = data.adder(_answers_by_model, filters)
        there = int(np.count_nonzero(np.delete(found.n, [] if without is None else without)))
        return default_frame(there or data.table.n_models)

    return data.table.recent.get(("frame", without, *filters.answering), make)


def claims_of(data: StudyData, frame: Frame) -> Mask | None:
    """Say which checkpoints weaknesses and strengths rest on, shape (N,); None = all do."""
    peers = frame == "peer"
    return _unless_all(data, ("claim rows", peers), lambda: claim_rows(data.table, peers=peers))


def _unless_all(data: StudyData, key: tuple[object, ...], make: Callable[[], Mask]) -> Mask | None:
    def look() -> Mask | None:
        found = make()
        return None if found.all() else found

    return data.table.kept.get(key, look)


def few_left(answers: Mask) -> bool:
    """Say whether so few answers, shape (R,), are left that numbers cost less than masks."""
    return bool(np.count_nonzero(answers) <= FEW * len(answers))


def rows_at(data: StudyData, filters: Filters) -> Ints:
    """Number the checkpoints that `rows_kept` keeps, ascending: the fewer, the less it costs."""
    key = ("rows at", *filters.answering, filters.root)
    return data.table.at_work.get(key, lambda: _rows_at(data, filters))


def _rows_at(data: StudyData, filters: Filters) -> Ints:
    answers = answers_kept(data, filters)
    if not few_left(answers):
        return np.flatnonzero(rows_kept(data, filters))
    rows = data.table.rows_of(answers)
    if filters.root is None:
        return rows
    return np.asarray(rows[leaves_under(data, (filters.root,))[data.table.leaf[rows]]])


def models_at(data: StudyData, filters: Filters) -> Ints:
    """Return the model of each of the checkpoints that `rows_at` numbers."""
    key = ("models at", *filters.answering, filters.root)

    def look() -> Ints:
        table = data.table
        return table.model.astype(np.intp)[table.response[rows_at(data, filters)]]

    return data.table.at_work.get(key, look)


def mean_rows_at(data: StudyData, filters: Filters) -> Ints:
    """Number the checkpoints that `mean_rows_kept` keeps, ascending."""
    mask, rows = means_of(data, filters.reading), rows_at(data, filters)
    return rows if mask is None else rows[mask[rows]]


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


@dataclass(frozen=True, kw_only=True)
class NodeSaid(Additive):
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


def node_said(data: StudyData, filters: Filters, without: int | None = None) -> NodeSaid:
    """Count what of every model's checkpoints on every node is said, carried, unreached.

    Args:
        filters: tags, root, outcome, process and terse narrow; the chain doesn't.
        without: a model that isn't looked at: an anchor.
    """
    key = ("node said", without, *filters.but(reading="strict").narrowing)
    return data.table.recent.get(
        key,
        lambda: data.adder(_node_said, filters, without, frame_of(data, filters, without)),
    )


def _node_said(data: StudyData, filters: Filters, without: int | None, frame: Frame) -> NodeSaid:
    table = data.table
    rows, model = rows_at(data, filters), models_at(data, filters)
    counts = (table.score[rows] > 0) & (table.leaf[rows] >= 0)
    if without is not None:
        counts &= model != without
    if not counts.all():
        rows, model = rows[counts], model[counts]
    membership = index_nodes(table.leaves).membership
    leaves = len(table.leaves)
    place = model * leaves + table.leaf[rows]

    def count(which: Mask | slice) -> Ints:
        of_leaf = np.bincount(place[which], minlength=table.n_models * leaves)
        found = of_leaf.reshape(table.n_models, leaves) @ membership.T
        return np.asarray(found.round().astype(np.int64))

    scored = count(slice(None))
    nothing = np.zeros_like(scored)
    own = ~table.carried[rows]
    carried = scored - count(own) if table.carried.any() else nothing
    said = own & table.addressed[rows]
    addressed = count(said) if not table.addressed.all() else scored - carried
    unreached = nothing
    rests = bool(table.chained.any() or table.parents.size)
    if frame == "peer" and not table.carried_known and rests:
        reached = table.kept.get("reached rows", lambda: reached_rows(table))
        unreached = count(said & ~reached[rows])
    return NodeSaid(scored=scored, carried=carried, addressed=addressed, unreached=unreached)


@dataclass(frozen=True, kw_only=True)
class ModelSaid(Additive):
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
        filters: tags, root, outcome, process and terse narrow; the chain doesn't.
    """
    key = ("model said", *filters.but(reading="strict").narrowing)
    return data.table.recent.get(key, lambda: data.adder(_model_said, filters))


def _model_said(data: StudyData, filters: Filters) -> ModelSaid:
    table, k = data.table, data.table.n_models
    found, keep = processes_of(data), answers_kept(data, filters)
    rows, model = rows_at(data, filters), models_at(data, filters)
    if not (marked := table.score[rows] > 0).all():
        rows, model = rows[marked], model[marked]

    def by_model(mask: Mask) -> Ints:
        return np.bincount(model[mask[rows]], minlength=k)

    def of_answers(mask: Mask) -> Ints:
        return np.bincount(table.model[keep & mask], minlength=k).astype(np.int64)

    scored = np.bincount(model, minlength=k)
    return ModelSaid(
        scored=scored,
        addressed=scored if table.addressed.all() else by_model(table.addressed),
        carried=by_model(table.carried),
        terse=of_answers(found.terse),
        told=of_answers(found.told),
    )

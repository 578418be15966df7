"""What needs the picture: a study's answers with it against its blind control's without.

Reference: METHODS T8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from atom.analysis.capability.visual import (
    LEAST_MODELS,
    NamedMarks,
    Need,
    NodeGains,
    TextAnswerable,
    node_gains,
    number_marks,
    text_answerable,
)
from atom.analysis.intervals import Floats, Ints
from atom.analysis.nodes import NodeIndex, index_nodes
from atom.display.estimate import Estimate
from atom.records import ANSWERABLE, ANSWERABLE_YES, Sample
from atom.stages import blind
from atom.store import Store
from atom.store.standing.answers import answers_apart
from atom.store.standing.marks import marks_of
from atom.views.filters import Filters, rows_kept
from atom.views.overview.page import overview
from atom.views.overview.ranking import RankRow
from atom.views.study_data import StudyData
from taxonomy import Path

MOST_LISTED = 200
EASY = (ANSWERABLE, ANSWERABLE_YES)
"""The label of a question that the text answers."""


def left_out(filters: Filters) -> Filters:
    """Leave questions that the text answers out of everything."""
    return without_easy(filters).but(without=(*without_easy(filters).without, EASY))


def alone(filters: Filters) -> Filters:
    """Keep only questions that the text answers."""
    return without_easy(filters).but(tags=(*without_easy(filters).tags, EASY))


def without_easy(filters: Filters) -> Filters:
    """Return the filters as if nobody had chosen what the text answers, or the rest."""
    return filters.but(
        tags=tuple(one for one in filters.tags if one[0] != ANSWERABLE),
        among=tuple(one for one in filters.among if one[0] != ANSWERABLE),
        without=tuple(one for one in filters.without if one[0] != ANSWERABLE),
    )


@dataclass(frozen=True, kw_only=True)
class NodeNeed:
    """How much the picture helps on a capability.

    Attributes:
        path: the capability.
        seen: mean with the picture, 0-100.
        blind: mean without it.
        gain: their difference in points of 0-100, with its interval, pairs of marks and questions.
        need: what that says.
        filters: where its door leads.
    """

    path: Path
    seen: float
    blind: float
    gain: Estimate
    need: Need
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class EasyQuestion:
    """A question that models answered without its picture.

    Attributes:
        text: what it asks.
        criteria: how many criteria it has.
        models: models that were asked.
        filters: where its door leads.
    """

    sample_id: str
    text: str
    criteria: int
    models: int
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class RankMove:
    """A model's place with and without the questions that the text answers.

    Attributes:
        now: its row with all questions.
        less: its row without those; None where nothing of it is left.
    """

    now: RankRow
    less: RankRow | None


@dataclass(frozen=True, kw_only=True)
class BlindView:
    """What a blind control found.

    Attributes:
        questions: questions that were asked without the picture and whose marks are there.
        models: models that were asked.
        unanswered: answers without the picture that were none (a refusal, an empty one).
        criteria: criteria that at least `LEAST_MODELS` models were asked.
        easy_criteria: those of them that can be answered from the text.
        measured: questions of which every criterion was put to so many models.
        easy: questions of only such criteria, in the study's order, `MOST_LISTED` at most.
        n_easy: how many there are.
        overall: the gain over everything; None where no criterion is mapped.
        nodes: capabilities, in the tree's order.
        moved: models in the order of the ranking; empty where nothing can be left out.
        other_judge: whether only another judge's marks of such answers are there.
    """

    questions: int
    models: int
    unanswered: int
    criteria: int
    easy_criteria: int
    measured: int
    easy: tuple[EasyQuestion, ...]
    n_easy: int
    overall: Estimate | None
    nodes: tuple[NodeNeed, ...]
    moved: tuple[RankMove, ...]
    other_judge: bool = False

    @property
    def few_models(self) -> bool:
        """Whether too few models were asked to say what the text answers."""
        return self.models < LEAST_MODELS


def needs_by_node(view: BlindView | None) -> Mapping[Path, NodeNeed]:
    """Return what is known by capability; empty without a control."""
    return {} if view is None else {node.path: node for node in view.nodes}


def blind_view(
    store: Store, data: StudyData, filters: Filters, *, ranks: bool = True
) -> BlindView | None:
    """Put a study's blind control beside its own answers.

    Args:
        store: where the answers without pictures are.
        filters: what narrows it; the filter on what the text answers doesn't, since that is what
            is found here.
        ranks: whether to work out how ranks move.

    Returns:
        What was found; None where nothing was asked without pictures.
    """
    wide = without_easy(filters)
    key = ("blind", *wide.narrowing, ranks)
    return data.table.kept.get(key, lambda: _view(store, data, wide, ranks=ranks))


def _view(store: Store, data: StudyData, filters: Filters, *, ranks: bool) -> BlindView | None:
    answers = answers_apart(store, data.study.id, blind.ARM)
    if not answers or data.judge is None:
        return None
    given = [one for one in answers if one.state != "failed"]
    marks = marks_of(store, data.study, [one.id for one in given], data.judge.id)
    of_sample = _criteria_of(data, filters)
    named = number_marks(
        (one.sample_id, criterion, one.candidate_id, None if mark is None else mark.value)
        for one in given
        for criterion in of_sample.get(one.sample_id, ())
        for mark in [marks.get((one.id, 0), {}).get(criterion)]
    )
    found = text_answerable(named.marks, len(named.criteria), len(named.samples))
    nodes, gains = _gains(data, filters, named)
    easy = [name for at, name in enumerate(named.samples) if found.sample[at]]
    table = {one.id: one for one in store.get_many(Sample, easy[:MOST_LISTED])}
    return BlindView(
        questions=len(named.samples),
        models=len(named.models),
        unanswered=sum(one.state == "unscored" for one in given),
        criteria=int((found.asked >= LEAST_MODELS).sum()),
        easy_criteria=int(found.criterion.sum()),
        measured=int(found.measured.sum()),
        easy=_listed(easy, table, found, named, filters),
        n_easy=len(easy),
        overall=_estimate(gains, nodes.n_nodes) if gains.n[-1] else None,
        nodes=tuple(
            NodeNeed(
                path=path,
                seen=100 * float(gains.seen[at]),
                blind=100 * float(gains.blind[at]),
                gain=_estimate(gains, at),
                need=gains.need[at],
                filters=filters.but(node=path, sample=None, criterion=None, show="all"),
            )
            for at, path in enumerate(nodes.paths)
            if gains.n[at]
        ),
        moved=_moved(data, filters) if easy and ranks else (),
        other_judge=not marks,
    )


def _criteria_of(data: StudyData, filters: Filters) -> dict[str, list[str]]:
    """Return the criteria of each question that is looked at."""
    table = data.table
    rows = np.flatnonzero(rows_kept(data, filters))
    sample = table.sample[table.response[rows]].astype(np.int64)
    pairs = np.unique(sample * len(table.criterion_ids) + table.criterion[rows])
    found: dict[str, list[str]] = {}
    for pair in pairs:
        at, criterion = divmod(int(pair), len(table.criterion_ids))
        found.setdefault(table.sample_ids[at], []).append(table.criterion_ids[criterion])
    return found


def _gains(data: StudyData, filters: Filters, named: NamedMarks) -> tuple[NodeIndex, NodeGains]:
    """Pair each model's mark with the picture and without; a last node holds everything."""
    table, marks = data.table, named.marks
    n_criteria = len(table.criterion_ids)
    rows = np.flatnonzero(rows_kept(data, filters) & (table.score > 0))
    model = table.model[table.response[rows]].astype(np.int64)
    key = model * n_criteria + table.criterion[rows]
    pairs, first, at = np.unique(key, return_index=True, return_inverse=True)
    seen = np.bincount(at, weights=(table.score[rows] - 1) / 4) / np.bincount(at)
    leaf = table.leaf[rows][first].astype(np.int64)
    cluster = table.cluster[table.sample[table.response[rows]]][first].astype(np.int64)
    place = {name: number for number, name in enumerate(table.criterion_ids)}
    of_model = {name: number for number, name in enumerate(table.model_ids)}
    good = np.flatnonzero(np.isfinite(marks.value))
    wanted = np.array(
        [
            of_model[named.models[m]] * n_criteria + place[named.criteria[c]]
            for m, c in zip(marks.model[good], marks.criterion[good], strict=True)
        ],
        dtype=np.int64,
    )
    value = marks.value[good]
    where = np.searchsorted(pairs, wanted)
    there = where < len(pairs)
    there[there] = pairs[where[there]] == wanted[there]
    return _with_all(
        data, seen[where[there]], value[there], leaf[where[there]], cluster[where[there]]
    )


def _with_all(
    data: StudyData, seen: Floats, without: Floats, leaf: Ints, cluster: Ints
) -> tuple[NodeIndex, NodeGains]:
    nodes = index_nodes(data.table.leaves)
    own = node_gains(seen, without, leaf, cluster, nodes)
    whole = node_gains(seen, without, np.zeros_like(leaf), cluster, index_nodes([("all",)]))
    joined = {
        name: np.concatenate([getattr(own, name), getattr(whole, name)])
        for name in ("n", "samples", "seen", "blind", "gain", "lo", "hi")
    }
    return nodes, NodeGains(**joined, need=(*own.need, *whole.need))


def _estimate(gains: NodeGains, at: int) -> Estimate:
    return Estimate(
        value=100 * float(gains.gain[at]),
        lo=100 * float(gains.lo[at]),
        hi=100 * float(gains.hi[at]),
        n=int(gains.n[at]),
        samples=int(gains.samples[at]),
    )


def _listed(
    easy: list[str],
    samples: Mapping[str, Sample],
    found: TextAnswerable,
    named: NamedMarks,
    filters: Filters,
) -> tuple[EasyQuestion, ...]:
    of = dict(zip(named.samples, range(len(named.samples)), strict=True))
    sample_of = np.zeros(len(named.criteria), dtype=np.int64)
    sample_of[named.marks.criterion] = named.marks.sample
    return tuple(
        EasyQuestion(
            sample_id=name,
            text=samples[name].question if name in samples else "",
            criteria=int((sample_of == of[name]).sum()),
            models=int(found.asked[sample_of == of[name]].min()),
            filters=filters.but(sample=name, criterion=None, node=(), show="all"),
        )
        for name in easy[:MOST_LISTED]
    )


def _moved(data: StudyData, filters: Filters) -> tuple[RankMove, ...]:
    now = overview(data, filters).ranking
    less = {row.model_id: row for row in overview(data, left_out(filters)).ranking}
    return tuple(
        RankMove(
            now=row,
            less=other if (other := less.get(row.model_id)) and other.score.known else None,
        )
        for row in now
        if row.score.known
    )

"""A judge's methods and people's orders of the same answers, read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from atom.analysis.agreement.criteria_quality import dominant_root
from atom.analysis.agreement.fidelity import PeoplePairs, orders_of, people_pairs
from atom.analysis.intervals import Floats
from atom.analysis.score_table import ScoreTable
from atom.methods.base import Method, Scores
from atom.methods.checkpoints import atom_scores
from atom.methods.registry import METHODS
from atom.records import Annotation, Study, Verdict
from atom.store import Store
from atom.store.labels import labels_of
from atom.store.reading.calls import scoring_calls, solution_calls
from atom.store.standing.answers import compared_answers
from atom.store.verdicts import first_verdicts
from atom.views.study_data import StudyData


@dataclass(frozen=True, kw_only=True)
class MethodRead:
    """One method, read from the store: its numbers, and whom it was asked about."""

    scores: Mapping[str, int | Fraction]
    asked: frozenset[str]
    unscored: int
    failed: int
    calls: Mapping[str, frozenset[str]]
    """Sample's id → call ids."""


@dataclass(frozen=True, kw_only=True)
class PeopleComparison:
    """A judge's methods and people's orders of the same answers, read.

    Attributes:
        labels: people's labels of any kind.
        ranking: those of them that order answers.
        sample_of: answer's id -> sample's id, of the answers that are compared.
        compared: samples with two answers.
        foreign: ranked answers that aren't among those.
        pairs: what people say of each pair.
        read: method's name -> what it says.
        shared: samples that people ranked and all these methods were asked about.
        roots: sample's id -> its capability.
    """

    labels: Sequence[Annotation]
    ranking: Sequence[Annotation]
    sample_of: Mapping[str, str]
    compared: int
    foreign: int
    pairs: PeoplePairs
    read: Mapping[str, MethodRead]
    shared: frozenset[str]
    roots: Mapping[str, str]

    def gaps(self, method: str) -> Floats:
        """Return a method's number of each pair's first answer less its second's; NaN unread."""
        return gaps_of(self.read[method].scores, self.pairs)

    def counted(self, method: str) -> NDArray[np.bool_]:
        """Say which pairs a method's figures are of, shape (P,)."""
        asked = self.read[method].asked
        if not asked:
            return np.zeros(len(self.pairs.order), dtype=np.bool_)
        return pairs_among(self.pairs, self.shared or asked)


@dataclass(frozen=True, kw_only=True)
class FidelityGround:
    """What of a study is held against every judge.

    Attributes:
        responses: the answers that are ranked, by sample.
        labels: all that people said.
    """

    responses: Mapping[str, tuple[str, ...]]
    labels: Sequence[Annotation]


def ground_of(store: Store, study: Study) -> FidelityGround:
    """Read what of a study is held against every judge; several judges share it."""
    return FidelityGround(responses=_compared(store, study), labels=labels_of(store, study.id))


def hold(
    store: Store,
    data: StudyData,
    own: StudyData | None = None,
    ground: FidelityGround | None = None,
) -> PeopleComparison:
    """Read what a judge's methods and people say of a study's answers; arguments as `fidelity`."""
    ground = ground or ground_of(store, data.study)
    responses, labels = ground.responses, ground.labels
    sample_of = {answer: sample for sample, answers in responses.items() for answer in answers}
    ranking = [label for label in labels if label.kind in ("ranking", "preference")]
    orders, foreign = orders_of(ranking, sample_of)
    pairs = people_pairs(orders)
    judge = data.judge
    read = {}
    if len(pairs.order):
        read = _read_methods(store, data, responses, judge.id if judge else None)
    having = [one for one in read.values() if one.asked]
    ranked = frozenset(pairs.sample)
    return PeopleComparison(
        labels=labels,
        ranking=ranking,
        sample_of=sample_of,
        compared=len(responses),
        foreign=foreign,
        pairs=pairs,
        read=read,
        shared=ranked.intersection(*(one.asked for one in having)) if having else frozenset(),
        roots=_roots((own or data).table),
    )


def _compared(store: Store, study: Study) -> dict[str, tuple[str, ...]]:
    """Return the answers that are ranked, by sample; the same ones as when they are asked about."""
    found = compared_answers(store, study)
    return {
        sample: tuple(each.id for each in answers)
        for sample, answers in found.items()
        if len(answers) > 1
    }


def _read_methods(
    store: Store, data: StudyData, responses: Mapping[str, Sequence[str]], judge: str | None
) -> dict[str, MethodRead]:
    study = data.study
    verdicts = first_verdicts(store, study.id, judge, study.judge_sampling) if judge else {}
    own = _read_checkpoints(store, data, responses, judge)
    return {
        name: replace(own, scores=atom_scores(data.table, method.name))
        if method.source == "checkpoints"
        else _read_verdicts(store, method, responses, verdicts, data.study.id)
        for name, method in METHODS.items()
    }


def _read_verdicts(
    store: Store,
    method: Method,
    responses: Mapping[str, Sequence[str]],
    verdicts: Mapping[str, Sequence[Verdict]],
    study_id: str,
) -> MethodRead:
    scores: dict[str, int | Fraction] = {}
    calls: dict[str, frozenset[str]] = {}
    asked = set()
    states: Counter[str] = Counter()
    prefix = f"{method.name}/"
    for sample, answers in responses.items():
        mine = [one for one in verdicts.get(sample, ()) if one.part.startswith(prefix)]
        if not mine or method.scores is None:
            continue
        asked.add(sample)
        states.update(one.state for one in mine)
        got: Scores = method.scores(answers, mine)
        scores.update({name: value for name, value in got.items() if value is not None})
        calls[sample] = frozenset(one.call_id for one in mine if one.call_id)
    if method.name == "no_decomposition":
        for sample, call in solution_calls(store, study_id, asked, criteria=False):
            calls[sample] = calls.get(sample, frozenset()) | {call}
    return MethodRead(
        scores=scores,
        asked=frozenset(asked),
        unscored=states["unscored"],
        failed=states["failed"],
        calls=calls,
    )


def _read_checkpoints(
    store: Store,
    data: StudyData,
    responses: Mapping[str, Sequence[str]],
    judge: str | None,
) -> MethodRead:
    """Read whom the study's own checkpoints are about, without the numbers made of them."""
    table = data.table
    ranked = {answer for answers in responses.values() for answer in answers}
    touched = {table.response_ids[at] for at in np.unique(table.response)} & ranked
    asked = {sample for sample, answers in responses.items() if touched.intersection(answers)}
    mine = np.array([name in ranked for name in table.response_ids], dtype=np.bool_)
    state = table.score[mine[table.response]] if len(table.response) else table.score
    calls: dict[str, set[str]] = {}
    if judge is not None:
        for sample, call in solution_calls(store, data.study.id, asked, criteria=True):
            calls.setdefault(sample, set()).add(call)
        sample_of = {answer: sample for sample in asked for answer in responses[sample]}
        for answer, call in scoring_calls(store, sample_of, judge):
            calls.setdefault(sample_of[answer], set()).add(call)
    return MethodRead(
        scores={},
        asked=frozenset(asked),
        unscored=int((state == 0).sum()),
        failed=int((state < 0).sum()),
        calls={sample: frozenset(ids) for sample, ids in calls.items()},
    )


def gaps_of(scores: Mapping[str, int | Fraction], pairs: PeoplePairs) -> Floats:
    """Return each pair's first number less its second; NaN where one is missing."""
    return np.array(
        [
            float(scores[one] - scores[other]) if one in scores and other in scores else math.nan
            for one, other in zip(pairs.first, pairs.second, strict=True)
        ],
        dtype=np.float64,
    )


def pairs_among(pairs: PeoplePairs, samples: frozenset[str]) -> NDArray[np.bool_]:
    """Say which pairs are of these samples, shape (P,)."""
    return np.array([name in samples for name in pairs.sample], dtype=np.bool_)


def _roots(table: ScoreTable) -> dict[str, str]:
    """Return each sample's capability: the root with most of its criteria's weight."""
    _, first = np.unique(table.criterion, return_index=True)
    parts: dict[int, list[tuple[int, str, int]]] = {}
    for at in first.tolist():
        leaf = int(table.leaf[at])
        root = table.leaves[leaf][0] if leaf >= 0 else ""
        sample = int(table.sample[table.response[at]])
        parts.setdefault(sample, []).append((int(table.position[at]), root, int(table.weight[at])))
    found = {}
    for sample, rows in parts.items():
        rows.sort()
        root = dominant_root([row[1] for row in rows], [row[2] for row in rows])
        if root:
            found[table.sample_ids[sample]] = root
    return found

"""What a study that is judged in looks could judge, and what it has judged of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.records import Look, Run, Study, StudyTask
from atom.store.schema import table
from atom.store.standing.answers import study_answers
from atom.store.standing.criteria import leaves_of, quarantined, standing_sets
from atom.store.standing.marks import scores_of
from atom.store.standing.members import study_candidates, study_places
from atom.store.store import Store
from taxonomy import Path

Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class EligibleAnswers:
    """A study's answers and criteria: K models, N samples with criteria, A criteria.

    Attributes:
        sample_ids: N names.
        model_ids: K names, in the study's order.
        criterion_ids: A names.
        leaves: paths of the nodes.
        value: marks in [0, 1], NaN = not judged, shape (K, A).
        planned: whether a mark is planned at all, shape (K, A).
        sample: sample of each criterion, shape (A,).
        node: node of each criterion, shape (A,).
        weight: of each criterion in its sample's score, shape (A,).
        there: answers that can be marked, shape (K, N).
        judged: answers that are marked, shape (K, N).
        bare: samples whose criteria aren't cut yet: no look knows where they lie.
    """

    sample_ids: tuple[str, ...]
    model_ids: tuple[str, ...]
    criterion_ids: tuple[str, ...]
    leaves: tuple[Path, ...]
    value: NDArray[np.float64]
    planned: Mask
    sample: NDArray[np.int64]
    node: NDArray[np.int64]
    weight: NDArray[np.float64]
    there: Mask
    judged: Mask
    bare: tuple[str, ...]

    def of(self, asked: Iterable[tuple[str, tuple[str, ...]]]) -> Mask:
        """Return which answers a look names, shape (K, N)."""
        sample = {name: at for at, name in enumerate(self.sample_ids)}
        model = {name: at for at, name in enumerate(self.model_ids)}
        found = np.zeros(self.there.shape, dtype=bool)
        for sample_id, models in asked:
            if sample_id in sample:
                found[[model[one] for one in models if one in model], sample[sample_id]] = True
        return found


def read_looks(store: Store, study_id: str) -> list[Look]:
    """Return the looks that a study was judged in, oldest first; one that broke off and was gone
    on with is one.
    """
    return list({look.number: look for look, _ in _looked(store, study_id)}.values())


def unfinished_look(store: Store, study_id: str) -> Look | None:
    """Return the last look if its run came to no end, as one that was stopped or killed."""
    looked = _looked(store, study_id)
    return looked[-1][0] if looked and looked[-1][1].state != "done" else None


def _looked(store: Store, study_id: str) -> list[tuple[Look, Run]]:
    runs = table(Run)
    found = store.select(Run, runs.c.study_id == study_id, order_by=[runs.c.created, runs.c.id])
    return [
        (run.task.look, run)
        for run in found
        if isinstance(run.task, StudyTask) and run.task.look is not None
    ]


def read_pool(store: Store, study: Study, judge_id: str | None) -> EligibleAnswers:
    """Read what could be judged of a study; questions that are set aside stay out.

    Args:
        judge_id: whose marks count; None = nothing is marked yet.
    """
    places = study_places(store, study.id)
    aside = quarantined(store, places)
    open_places = [place for place in places if place.sample_id not in aside]
    sets = {name: one for name, one in standing_sets(store, open_places).items() if one.uses}
    leaf_of = leaves_of(store, study.tree_version)
    samples = tuple(place.sample_id for place in open_places if place.sample_id in sets)
    uses = [
        (at, use)
        for at, name in enumerate(samples)
        for use in sets[name].uses
        if use.criterion_id in leaf_of
    ]
    leaves = tuple(sorted({leaf_of[use.criterion_id] for _, use in uses}))
    node = {leaf: at for at, leaf in enumerate(leaves)}
    models = tuple(one.id for one in study_candidates(store, study.id))
    sample = np.array([at for at, _ in uses], dtype=np.int64)
    criteria = [use.criterion_id for _, use in uses]
    there, value = _marked(store, study, judge_id, samples, models, criteria)
    known = np.isfinite(value)
    judged = np.zeros(there.shape, dtype=bool)
    for model, row in enumerate(known):
        judged[model, sample[row]] = True
    # A step of an answer that was marked but has no score won't get one by another look.
    planned = (there[:, sample] & ~judged[:, sample]) | known
    return EligibleAnswers(
        sample_ids=samples,
        model_ids=models,
        criterion_ids=tuple(criteria),
        leaves=leaves,
        value=value,
        planned=planned,
        sample=sample,
        node=np.array([node[leaf_of[use.criterion_id]] for _, use in uses], dtype=np.int64),
        weight=np.array([float(use.weight) for _, use in uses]),
        there=there,
        judged=judged,
        bare=tuple(place.sample_id for place in open_places if place.sample_id not in sets),
    )


def _marked(
    store: Store,
    study: Study,
    judge_id: str | None,
    samples: tuple[str, ...],
    models: tuple[str, ...],
    criteria: list[str],
) -> tuple[Mask, NDArray[np.float64]]:
    """Return which answers are there, (K, N), and the mean marks in [0, 1], NaN = none, (K, A)."""
    sample_at = {name: at for at, name in enumerate(samples)}
    model_at = {name: at for at, name in enumerate(models)}
    column = {name: at for at, name in enumerate(criteria)}
    there = np.zeros((len(models), len(samples)), dtype=bool)
    total = np.zeros((len(models), len(criteria)))
    count = np.zeros(total.shape)
    answers = {}
    for one in study_answers(store, study):
        if one.judgeable and one.sample_id in sample_at and one.candidate_id in model_at:
            answers[one.id] = model_at[one.candidate_id]
            there[model_at[one.candidate_id], sample_at[one.sample_id]] = True
    if judge_id is not None:
        for (name, _), scores in scores_of(store, study, answers, judge_id).items():
            for criterion, score in scores.items():
                if criterion in column:
                    total[answers[name], column[criterion]] += (score - 1) / 4
                    count[answers[name], column[criterion]] += 1
    with np.errstate(invalid="ignore"):
        return there, np.where(count > 0, total / count, np.nan)

"""Self-correction trials read from the store as columns, for the analysis.

Pure reading: the result depends on (store, experiments) alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom.analysis.correction.trials import (
    ARMS,
    BROKEN,
    DROPPED,
    FAILED_COHORT,
    RIGHT,
    RIGHT_COHORT,
    SCORED,
    Trials,
)
from atom.errors import UsageError
from atom.records import APART, Candidate, Correction, Experiment, Hint, Judge, Study, StudySample
from atom.store import Store, find_study, study_places, table
from atom.store.reading.calls import calls_of, paid_for
from atom.store.reading.trials import clusters_of, count_trials
from atom.store.standing.answers import first_answers, study_answers
from atom.store.standing.criteria import in_order, leaves_of, standing_sets
from atom.store.standing.marks import scores_of
from atom.store.standing.outcomes import values_of
from taxonomy import Path

_STATE = {"scored": SCORED, "unscored": DROPPED, "failed": BROKEN}


@dataclass(frozen=True, kw_only=True)
class ExperimentRow:
    """An experiment in a list.

    Args:
        model: whose answers are tried again.
        judge: who scores.
        trials: rows by state, one an answer, arm and round.
        answers: initial answers that were tried again.
    """

    experiment: Experiment
    model: str
    judge: str
    trials: dict[str, int]
    answers: int


def list_experiments(store: Store, study_id: str | None = None) -> list[ExperimentRow]:
    """Return the experiments, the newest first."""
    columns = table(Experiment).c
    where = [] if study_id is None else [columns.study_id == study_id]
    found = store.select(Experiment, *where, order_by=[columns.created.desc(), columns.id])
    models = {c.id: c.name for c in store.get_many(Candidate, [e.candidate_id for e in found])}
    judges = {j.id: j.name for j in store.get_many(Judge, [e.judge_id for e in found])}
    counts = count_trials(store)
    return [
        ExperimentRow(
            experiment=experiment,
            model=models.get(experiment.candidate_id, experiment.candidate_id),
            judge=judges.get(experiment.judge_id, experiment.judge_id),
            trials=counts[experiment.id].by_state if experiment.id in counts else {},
            answers=counts[experiment.id].answers if experiment.id in counts else 0,
        )
        for experiment in found
    ]


def find_experiment(store: Store, name: str) -> Experiment:
    """Return an experiment by its id, or by the beginning of it.

    Raises:
        UsageError: there is none, or there are several.
    """
    found = store.select(Experiment, table(Experiment).c.id.startswith(name, autoescape=True))
    if len(found) == 1 and name:
        return found[0]
    what = "several experiments begin with" if found and name else "there is no experiment"
    raise UsageError(f"{what} {name!r}; `correct list` lists them")


@dataclass(frozen=True, kw_only=True)
class TrialData:
    """Trials with the names behind their codes.

    Args:
        answer_ids: initial answers by code.
        criterion_ids: criteria by code.
        failed_share: share of the model's judged answers whose final answer is wrong; NaN where
            the failed set goes by another rule.
    """

    trials: Trials
    answer_ids: tuple[str, ...]
    criterion_ids: tuple[str, ...]
    failed_share: float


def load_trials(store: Store, experiment_ids: Sequence[str]) -> TrialData:
    """Read the trials of one model's experiments.

    Where two experiments did the same thing with an answer, the first one named counts.

    Args:
        experiment_ids: experiments on one study with one model, judge and threshold.

    Raises:
        UsageError: there is no such experiment, or they don't belong together.
    """
    experiments = [find_experiment(store, name) for name in experiment_ids]
    if not experiments:
        raise UsageError("no experiment is named")
    kinds = {(e.study_id, e.candidate_id, e.judge_id, e.threshold) for e in experiments}
    if len(kinds) > 1:
        raise UsageError(
            "these experiments differ in study, model, judge or threshold: look at them one by one"
        )
    one = experiments[0]
    rows = _rows(store, [e.id for e in experiments])
    first_ids = tuple(dict.fromkeys(row.response_id for row in rows))
    results = {row.result_id for row in rows if row.result_id}
    study = find_study(store, one.study_id)
    samples = _samples(store, first_ids, study_places(store, study.id))
    ids = sorted({*first_ids, *results})
    points = scores_of(store, study, ids, one.judge_id, repeats=(0, APART))
    values = values_of(store, ids, one.judge_id)
    used = [c for s in samples.values() for c, _ in s.uses]
    leaf_of = leaves_of(store, study.tree_version, used)
    leaves = tuple(sorted(set(leaf_of.values())))
    roots = tuple(dict.fromkeys(leaf[0] for leaf in leaves))
    costs = _costs(store, rows)
    answer_at = {name: code for code, name in enumerate(first_ids)}
    cluster_at = _codes(samples[name].cluster for name in first_ids)
    criterion_at: dict[str, int] = {}
    leaf_at = {leaf: code for code, leaf in enumerate(leaves)}
    root_at = {root: code for code, root in enumerate(roots)}
    trials: list[tuple[float, ...]] = []
    criteria: list[tuple[int, ...]] = []
    for row in rows:
        sample = samples[row.response_id]
        before = points.get((row.response_id, 0), {})
        scores = [before[c] for c, _ in sample.uses if c in before]
        trials.append(
            (
                answer_at[row.response_id],
                cluster_at[sample.cluster],
                ARMS.index(row.arm),
                RIGHT_COHORT if row.cohort == "right" else FAILED_COHORT,
                row.round,
                _STATE[row.state],
                np.nan if row.value is None else row.value,
                values.get(row.response_id, np.nan),
                costs[row.response_id, row.arm, row.round],
                any(score <= one.threshold for score in scores),
                any(score > one.threshold for score in scores),
            )
        )
        if row.state != "scored" or row.result_id is None:
            continue
        baseline = points.get((row.response_id, APART), {})
        after = baseline if row.arm == "rejudge" else points.get((row.result_id, 0), {})
        asked = set(row.criterion_ids)
        for criterion_id, weight in sample.uses:
            leaf = leaf_of.get(criterion_id)
            criteria.append(
                (
                    len(trials) - 1,
                    criterion_at.setdefault(criterion_id, len(criterion_at)),
                    -1 if leaf is None else leaf_at[leaf],
                    -1 if leaf is None else root_at[leaf[0]],
                    max(1, round(weight)),
                    before.get(criterion_id, 0),
                    baseline.get(criterion_id, 0),
                    after.get(criterion_id, 0),
                    criterion_id in asked,
                )
            )
    return TrialData(
        trials=_columns(trials, criteria, leaves, roots, one.threshold),
        answer_ids=first_ids,
        criterion_ids=tuple(criterion_at),
        failed_share=_failed_share(store, study, one)
        if one.failed_rule == "outcome"
        else float("nan"),
    )


def _columns(
    trials: Sequence[tuple[float, ...]],
    criteria: Sequence[tuple[int, ...]],
    leaves: tuple[Path, ...],
    roots: tuple[str, ...],
    threshold: int,
) -> Trials:
    one = np.array(trials, dtype=np.float64).reshape(-1, 11)
    other = np.array(criteria, dtype=np.int64).reshape(-1, 9)

    def whole(column: NDArray[Any]) -> NDArray[np.int64]:
        return column.astype(np.int64)

    return Trials(
        answer=whole(one[:, 0]),
        cluster=whole(one[:, 1]),
        arm=whole(one[:, 2]),
        cohort=whole(one[:, 3]),
        round=whole(one[:, 4]),
        state=whole(one[:, 5]),
        right=one[:, 6].copy(),
        was_right=one[:, 7].copy(),
        cost=one[:, 8].copy(),
        had_failed=one[:, 9] > 0,
        had_passed=one[:, 10] > 0,
        trial=whole(other[:, 0]),
        criterion=whole(other[:, 1]),
        leaf=whole(other[:, 2]),
        root=whole(other[:, 3]),
        weight=whole(other[:, 4]),
        before=whole(other[:, 5]),
        baseline=whole(other[:, 6]),
        after=whole(other[:, 7]),
        asked=other[:, 8] > 0,
        leaves=leaves,
        roots=roots,
        threshold=threshold,
    )


def _codes(names: Iterable[str]) -> dict[str, int]:
    return {name: code for code, name in enumerate(dict.fromkeys(names))}


def _rows(store: Store, experiment_ids: Sequence[str]) -> list[Correction]:
    columns = table(Correction).c
    found: dict[tuple[str, str, int], Correction] = {}
    for experiment_id in experiment_ids:
        mine = store.select(
            Correction,
            columns.experiment_id == experiment_id,
            order_by=[columns.response_id, columns.arm, columns.round],
        )
        arms = {(row.response_id, row.arm) for row in mine}
        known = {key[:2] for key in found} & arms
        for row in mine:
            if (row.response_id, row.arm) not in known:
                found[row.response_id, row.arm, row.round] = row
    return list(found.values())


@dataclass(frozen=True, kw_only=True)
class _AnsweredSample:
    """What an initial answer answers: its cluster, and the criteria that stand for its sample."""

    cluster: str
    uses: tuple[tuple[str, float], ...]


def _samples(
    store: Store, first_ids: Sequence[str], places: Sequence[StudySample]
) -> dict[str, _AnsweredSample]:
    uses = {
        name: tuple((use.criterion_id, use.weight) for use in in_order(one))
        for name, one in standing_sets(store, places).items()
    }
    return {
        name: _AnsweredSample(cluster=cluster, uses=uses.get(sample_id, ()))
        for name, (sample_id, cluster) in clusters_of(store, first_ids).items()
    }


def _costs(store: Store, rows: Sequence[Correction]) -> dict[tuple[str, str, int], float]:
    """Return what each trial cost: its answer, its judgement, and its hints with every attempt.

    A hint that two arms used counts in both: either would have had to pay for it. Judging an old
    final answer again isn't counted: its call is kept, but nothing names it.
    """
    calls = calls_of(store, sorted({row.result_id for row in rows if row.result_id}))
    hinted = _hint_calls(store, rows)
    paid = paid_for(
        store, sorted({c for group in (*calls.values(), *hinted.values()) for c in group})
    )
    prices = {name: np.nan if one.cost is None else one.cost for name, one in paid.items()}
    costs: dict[tuple[str, str, int], float] = {}
    for row in rows:
        repeat = APART if row.arm == "rejudge" else 0
        mine = set(calls.get((row.result_id or "", repeat), ()))
        for use in row.hints:
            mine |= hinted.get((use.criterion_id, use.peer_id), set())
        costs[row.response_id, row.arm, row.round] = sum(prices.get(call, np.nan) for call in mine)
    return costs


def _hint_calls(store: Store, rows: Sequence[Correction]) -> dict[tuple[str, str], set[str]]:
    wanted = {use.criterion_id for row in rows for use in row.hints}
    found: dict[tuple[str, str], set[str]] = {}
    for hint in store.get_many(Hint, sorted(wanted), "criterion_id"):
        if hint.call_id is not None:
            found.setdefault((hint.criterion_id, hint.peer_id), set()).add(hint.call_id)
    return found


def _failed_share(store: Store, study: Study, one: Experiment) -> float:
    """Return the share of wrong final answers among the model's first ones that are judged."""
    firsts = first_answers(study_answers(store, study, candidate_ids=[one.candidate_id]))
    values = list(values_of(store, [first.id for first in firsts.values()], one.judge_id).values())
    return sum(value < RIGHT for value in values) / len(values) if values else float("nan")

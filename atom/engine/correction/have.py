"""Reads what is there of a self-correction experiment."""

from __future__ import annotations

from collections.abc import Sequence

from atom.engine.correction.trials import BASELINE, Rules, Trial, TrialRecords
from atom.records import Checkpoint, Correction, Hint, Outcome, Response
from atom.stages import correction
from atom.store import Store, table


def load_have(store: Store, rules: Rules, trials: Sequence[Trial]) -> TrialRecords:
    """Read what is there of an experiment."""
    columns = table(Correction).c
    rows = store.select(Correction, columns.experiment_id == rules.experiment.id)
    firsts = {trial.subject.first.id for trial in trials}
    rows = [row for row in rows if row.response_id in firsts]
    have = TrialRecords()
    have.fold(rows)
    results = {row.result_id for row in rows if row.result_id} - firsts
    have.fold(store.get_many(Response, sorted(results)))
    have.fold(store.get_many(Outcome, sorted(results), "response_id"))
    points = store.get_many(Checkpoint, sorted(results | firsts), "response_id")
    wanted = (p for p in points if p.repeat == (BASELINE if p.response_id in firsts else 0))
    have.fold(wanted)
    if correction.HINTED & set(rules.experiment.arms):
        criteria = {c for trial in trials for c in trial.subject.peers}
        have.fold(store.get_many(Hint, sorted(criteria), "criterion_id"))
    return have

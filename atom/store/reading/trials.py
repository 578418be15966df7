"""What trials of self-correction rest on: how many there are, and what they are about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sqlalchemy as sa

from atom.records import Correction, Response, Sample
from atom.store.schema import table
from atom.store.standing.members import parts
from atom.store.store import Store


@dataclass(frozen=True, kw_only=True)
class TrialCount:
    """How many trials an experiment has.

    Args:
        by_state: rows by state, one an answer, arm and round.
        answers: initial answers that were tried again.
    """

    by_state: dict[str, int]
    answers: int


def count_trials(store: Store) -> dict[str, TrialCount]:
    """Count every experiment's trials."""
    rows = table(Correction).c
    states: dict[str, dict[str, int]] = {}
    answers: dict[str, int] = {}
    with store.read() as connection:
        for name, state, count in connection.execute(
            sa.select(rows.experiment_id, rows.state, sa.func.count()).group_by(
                rows.experiment_id, rows.state
            )
        ):
            states.setdefault(name, {})[state] = count
        for name, count in connection.execute(
            sa.select(rows.experiment_id, sa.func.count(rows.response_id.distinct())).group_by(
                rows.experiment_id
            )
        ):
            answers[name] = count
    return {
        name: TrialCount(by_state=counts, answers=answers.get(name, 0))
        for name, counts in states.items()
    }


def clusters_of(store: Store, response_ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Read what answers answer: answer -> (sample, what the sample shares its pictures with)."""
    responses, samples = table(Response).c, table(Sample).c
    found: dict[str, tuple[str, str]] = {}
    with store.read() as connection:
        for part in parts(response_ids):
            for name, sample_id, cluster in connection.execute(
                sa.select(responses.id, samples.id, samples.cluster).where(
                    responses.id.in_(part), samples.id == responses.sample_id
                )
            ):
                found[name] = (sample_id, cluster or sample_id)
    return found

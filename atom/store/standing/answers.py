"""A study's answers, their first ones, and the votes on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from atom.records import HAND_MADE, Preference, Response, Sampling, State, Study
from atom.store.schema import table
from atom.store.standing.members import (
    candidate_ids_of,
    closed,
    members,
    of_study,
    parts,
    same_settings,
    study_candidates,
    study_places,
)
from atom.store.store import Store


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer of a study, without its text.

    Args:
        id: the response.
        repeat: which of the candidate's answers.
        silent: whether it has no text.
    """

    id: str
    sample_id: str
    candidate_id: str
    repeat: int
    state: State
    silent: bool

    @property
    def judgeable(self) -> bool:
        """Whether a judge can be asked about it: it is there, and has a text.

        An outcome, vote or label on it counts all the same.
        """
        return self.state == "scored" and not self.silent


def study_answers(
    store: Store,
    study: Study,
    *,
    sample_ids: Iterable[str] | None = None,
    candidate_ids: Sequence[str] | None = None,
) -> list[Answer]:
    """Return a study's answers, by sample, candidate, repeat and id.

    Args:
        sample_ids: only answers to these of its samples; None = to all.
        candidate_ids: only answers of these of its candidates; None = of all.
    """
    response = table(Response).c
    with store.read() as connection:
        of_samples, of_candidates = members(connection, study.id)
        if candidate_ids is not None:
            of_candidates = response.candidate_id.in_(list(candidate_ids))
        chosen = (
            [of_samples]
            if sample_ids is None
            else [response.sample_id.in_(part) for part in parts(sample_ids)]
        )
        return _answers(connection, study.answer_sampling, of_candidates, chosen)


def answers_apart(store: Store, study_id: str, arm: str) -> list[Response]:
    """Return answers of a study's candidates that are none of its own, by sample and candidate.

    Args:
        arm: what keeps them apart, as `blind`.
    """
    response = table(Response).c
    with store.read() as connection:
        mine = members(connection, study_id)
    return store.select(
        Response,
        response.arm == arm,
        *mine,
        order_by=[response.sample_id, response.candidate_id, response.id],
    )


def answers_under(
    store: Store, wanted: Sampling, sample_ids: Iterable[str], candidate_ids: Sequence[str]
) -> list[Answer]:
    """Return answers as a run sees them, which asks candidates before they have a seat.

    Args:
        wanted: the settings that the study asks for.

    Returns:
        By sample, candidate, repeat and id.
    """
    response = table(Response).c
    with store.read() as connection:
        return _answers(
            connection,
            wanted,
            response.candidate_id.in_(list(candidate_ids)),
            [response.sample_id.in_(part) for part in parts(sample_ids)],
        )


def _answers(
    connection: sa.Connection,
    wanted: Sampling,
    of_candidates: sa.ColumnElement[bool],
    of_samples: Sequence[sa.ColumnElement[bool]],
) -> list[Answer]:
    response = table(Response).c
    statement = (
        sa.select(
            response.id,
            response.sample_id,
            response.candidate_id,
            response.repeat,
            response.prompt,
            response.sampling,
            response.state,
            (response.text == "").label("silent"),
        )
        .where(of_candidates, response.arm.is_(None), *closed(connection, "response", response.id))
        .order_by(response.sample_id, response.candidate_id, response.repeat, response.id)
    )
    return [
        Answer(
            id=row.id,
            sample_id=row.sample_id,
            candidate_id=row.candidate_id,
            repeat=row.repeat,
            state=row.state,
            silent=bool(row.silent),
        )
        for where in of_samples
        for row in connection.execute(statement.where(where))
        if row.prompt in HAND_MADE or same_settings(row.sampling, wanted)
    ]


def answers_to(
    store: Store, study: Study, sample_id: str, candidate_id: str | None = None
) -> list[Response]:
    """Return a study's answers to one of its samples as records, by candidate, repeat and id.

    Args:
        candidate_id: only this one's; None = everybody's.
    """
    response = table(Response).c
    with store.read() as connection:
        seats = candidate_ids_of(connection, study.id)
        conditions = closed(connection, "response", response.id)
    rows = store.select(
        Response,
        response.sample_id == sample_id,
        response.candidate_id.in_(seats),
        response.arm.is_(None),
        *([] if candidate_id is None else [response.candidate_id == candidate_id]),
        *conditions,
        order_by=[response.candidate_id, response.repeat, response.id],
    )
    return [row for row in rows if of_study(row, study)]


def first_answers(answers: Iterable[Answer]) -> dict[tuple[str, str], Answer]:
    """Return each candidate's first answer to each sample: (sample, candidate) -> answer.

    Args:
        answers: by repeat and id, as `study_answers` gives them.
    """
    found: dict[tuple[str, str], Answer] = {}
    for answer in answers:
        key = (answer.sample_id, answer.candidate_id)
        there = found.get(key)
        if there is None or (answer.judgeable and not there.judgeable):
            found[key] = answer
    return found


def compared_answers(store: Store, study: Study) -> dict[str, tuple[Answer, ...]]:
    """Return the answers that are ranked against each other: sample -> its answers.

    Returns:
        Each candidate's first answer that can be judged, in the study's order of samples and of
        candidates.
    """
    firsts = first_answers(study_answers(store, study))
    usable = {key: one for key, one in firsts.items() if one.judgeable}
    names = [one.id for one in study_candidates(store, study.id)]
    samples = [one.sample_id for one in study_places(store, study.id)]
    return {
        sample: tuple(usable[sample, name] for name in names if (sample, name) in usable)
        for sample in samples
    }


def votes_on(store: Store, sample_id: str) -> list[Preference]:
    """Read the votes between answers to a sample, by id."""
    vote = table(Preference).c
    with store.read() as connection:
        done = closed(connection, "preference", vote.id)
    return store.select(Preference, vote.sample_id == sample_id, *done, order_by=[vote.id])

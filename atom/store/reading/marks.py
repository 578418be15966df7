"""Marks beyond the one that counts: other judges', repeats, doubtful ones; and texts' lengths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import sqlalchemy as sa

from atom.records import (
    APART,
    Checkpoint,
    Judge,
    Response,
    Sample,
    Sampling,
    Scale,
    Study,
    StudySample,
    scale_of,
)
from atom.store.schema import table
from atom.store.standing.marks import marks_of, prompt_order
from atom.store.standing.members import members, parts, placed, settings_of_study
from atom.store.store import Store

HUMAN_CHECK = "human_check/1"
"""What a person's mark was asked with on Human check: its label says the same."""


class FurtherMark(NamedTuple):
    """A score by some judge.

    Args:
        judge_id: who gave it.
        score: 1 to 5; `1 + 4 value` on a scale that isn't our own judges'.
        setting: the prompt and settings it was asked with.
    """

    response_id: str
    criterion_id: str
    judge_id: str
    repeat: int
    score: float
    setting: tuple[str, str]


def further_marks(store: Store, judge_id: str, scale: Scale) -> list[FurtherMark]:
    """Read other judges' scores, and a judge's own of answers that it scored more than once.

    People are no judge's noise: they are left out.

    Args:
        judge_id: the judge that is looked at.
        scale: the scale of its marks; scores on another one can't be held against them.

    Returns:
        The newest prompt's last. Second judgements that belong to an experiment are left out.
    """
    column = table(Checkpoint).c
    own = column.judge_id == judge_id
    again = sa.select(column.response_id).where(own, column.repeat > 0, column.repeat < APART)
    statement = (
        sa.select(
            column.response_id,
            column.criterion_id,
            column.judge_id,
            column.repeat,
            column.score,
            column.value,
            column.prompt,
            sa.cast(column.sampling, sa.Text).label("settings"),
            column.key,
        )
        .where(column.value.is_not(None), column.repeat < APART)
        .where(sa.or_(sa.not_(own), column.response_id.in_(again)))
        .where(sa.or_(own, column.judge_id.not_in(_people())))
    )
    with store.read() as connection:
        rows = [row for row in connection.execute(statement) if scale_of(row.prompt) == scale]
    rows.sort(key=lambda row: (prompt_order(row.prompt), row.key))
    return [
        FurtherMark(
            response_id=row.response_id,
            criterion_id=row.criterion_id,
            judge_id=row.judge_id,
            repeat=row.repeat,
            score=1 + 4 * row.value if row.score is None else row.score,
            setting=(row.prompt, row.settings),
        )
        for row in rows
    ]


def _people() -> sa.Select[tuple[str]]:
    judge = table(Judge).c
    return sa.select(judge.id).where(judge.kind == "person")


class PersonMark(NamedTuple):
    """What a person gave a criterion of an answer.

    Args:
        judge_id: who gave it.
        value: 0 to 1.
    """

    response_id: str
    criterion_id: str
    judge_id: str
    value: float


def person_marks(store: Store, study: Study, *, but: str) -> list[PersonMark]:
    """Read the marks that people gave a study's answers, whether or not a judge did.

    Args:
        but: marks under this prompt are left out.

    Returns:
        By answer, criterion and person.
    """
    point, response = table(Checkpoint).c, table(Response).c
    with store.read() as connection:
        rows = connection.execute(
            sa.select(point.response_id, point.criterion_id, point.judge_id, point.value)
            .where(
                point.response_id == response.id,
                *members(connection, study.id),
                settings_of_study(connection, study),
                point.judge_id.in_(_people()),
                point.value.is_not(None),
                point.prompt != but,
            )
            .order_by(point.response_id, point.criterion_id, point.judge_id, point.key)
        )
        return [PersonMark(*row) for row in rows]


def doubtful_marks(store: Store, study: Study, scale: Scale) -> list[tuple[str, str]]:
    """Return (answer, criterion) of marks that contradict each other, or rest on no words.

    Args:
        scale: marks on another scale contradict nothing.
    """
    point, response = table(Checkpoint).c, table(Response).c
    with store.read() as connection:
        prompts = [
            prompt
            for prompt in connection.execute(sa.select(point.prompt).distinct()).scalars()
            if scale_of(prompt) == scale
        ]
        quoted = sa.func.max(sa.func.length(point.quote))
        rows = connection.execute(
            sa.select(point.response_id, point.criterion_id)
            .where(
                point.response_id == response.id,
                *members(connection, study.id),
                settings_of_study(connection, study),
                point.state == "scored",
                point.prompt.in_(prompts),
                point.judge_id.not_in(_people()),
            )
            .group_by(point.response_id, point.criterion_id)
            .having(
                sa.or_(
                    sa.func.max(point.value) > sa.func.min(point.value),
                    sa.and_(sa.func.max(point.score) > 1, quoted == 0),
                )
            )
        ).all()
    return [(row.response_id, row.criterion_id) for row in rows]


def marks_asked_as(
    store: Store,
    study: Study,
    response_ids: Iterable[str],
    judge_id: str,
    prompt: str,
    sampling: Sampling,
) -> dict[str, dict[str, Checkpoint]]:
    """Read a judge's first marks that just this prompt and these settings brought.

    Returns:
        Answer -> criterion -> the mark, failed ones left out.
    """
    found: dict[str, dict[str, Checkpoint]] = {}
    for (name, _), marks in marks_of(store, study, response_ids, judge_id).items():
        mine = {
            criterion: mark
            for criterion, mark in marks.items()
            if (mark.prompt, mark.sampling) == (prompt, sampling) and mark.state != "failed"
        }
        if mine:
            found[name] = mine
    return found


def subjects_of_marks(store: Store, keys: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return what marks are about: key -> (answer, criterion)."""
    column = table(Checkpoint).c
    found: dict[str, tuple[str, str]] = {}
    with store.read() as connection:
        for part in parts(keys):
            rows = connection.execute(
                sa.select(column.key, column.response_id, column.criterion_id).where(
                    column.key.in_(part)
                )
            )
            found.update((row.key, (row.response_id, row.criterion_id)) for row in rows)
    return found


def answer_lengths(store: Store) -> dict[str, int]:
    """Return the characters of every answer that is there."""
    column = table(Response).c
    with store.read() as connection:
        rows = connection.execute(
            sa.select(column.id, sa.func.length(column.text)).where(column.state == "scored")
        )
        return {name: size or 0 for name, size in rows}


def choice_texts(store: Store, study_id: str) -> dict[str, str]:
    """Return the options of a study's multiple-choice questions, as JSON lists."""
    sample, place = table(Sample).c, table(StudySample).c
    with store.read() as connection:
        rows = connection.execute(
            sa.select(sample.id, sample.choices).where(
                place.sample_id == sample.id,
                placed(connection, study_id),
                sample.choices != "[]",
            )
        )
        return {name: text for name, text in rows if text}


def quoting(store: Store, candidate_id: str, sample_ids: Iterable[str]) -> set[str]:
    """Return the criteria at which some judge points at words of a candidate's answers.

    Args:
        candidate_id: whose answers.
        sample_ids: answers to which samples.
    """
    mark, answer = table(Checkpoint).c, table(Response).c
    found: set[str] = set()
    with store.read() as connection:
        for part in parts(sample_ids):
            found.update(
                connection.execute(
                    sa.select(mark.criterion_id)
                    .join(table(Response), answer.id == mark.response_id)
                    .where(
                        answer.sample_id.in_(part),
                        mark.span.is_not(None),
                        answer.candidate_id == candidate_id,
                    )
                    .distinct()
                ).scalars()
            )
    return found

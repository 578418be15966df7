"""Which samples, candidates and settings are a study's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal, TypeVar

import sqlalchemy as sa

from atom.records import (
    HAND_MADE,
    Candidate,
    Import,
    Response,
    Sampling,
    Study,
    StudyCandidate,
    StudySample,
)
from atom.store.schema import import_links, table
from atom.store.store import Store

LinkKind = Literal[
    "sample", "response", "candidate", "place", "seat", "outcome", "preference", "annotation",
    "verdict",
]  # fmt: skip
_PART = 400
_T = TypeVar("_T")


def parts(names: Iterable[_T], size: int = _PART) -> Iterator[list[_T]]:
    """Cut names into lists that a statement can hold."""
    wanted = list(dict.fromkeys(names))
    for start in range(0, len(wanted), size):
        yield wanted[start : start + size]


def closed(
    connection: sa.Connection,
    kind: LinkKind,
    column: sa.ColumnElement[Any],
    study_id: str | None = None,
) -> tuple[sa.ColumnElement[bool], ...]:
    """Return conditions that leave out what only unfinished imports brought.

    Args:
        kind: the kind of record, as imports name it.
        column: where the record's id stands.
        study_id: only imports of this study: places and seats are one study's.

    Returns:
        Nothing where all imports came to their end, so that the usual case costs nothing.
    """
    imports, links = table(Import).c, import_links.c
    unfinished = sa.select(imports.id).where(imports.closed.is_(False))
    if study_id is not None:
        unfinished = unfinished.where(imports.study_id == study_id)
    if connection.execute(unfinished.limit(1)).first() is None:
        return ()
    brought = sa.select(links.record_id).where(links.kind == kind, links.import_id.in_(unfinished))
    # An unfinished import may have met what another one brought: that one's stays.
    kept = sa.select(links.record_id).where(links.kind == kind, links.import_id.not_in(unfinished))
    return (sa.or_(column.not_in(brought), column.in_(kept)),)


def of_settings(prompt: str, sampling: Sampling, wanted: Sampling) -> bool:
    """Say whether an answer was given under a study's settings.

    Args:
        prompt: the answer's prompt; what was imported or typed has no settings.
        wanted: what the study asks for; what it leaves open may be anything.
    """
    if prompt in HAND_MADE:
        return True
    asked, given = wanted.model_dump(), sampling.model_dump()
    return all(value is None or given[name] == value for name, value in asked.items())


def of_study(response: Response, study: Study) -> bool:
    """Say whether an answer to a sample of a study, by a candidate of it, counts there."""
    return response.arm is None and of_settings(
        response.prompt, response.sampling, study.answer_sampling
    )


@lru_cache(maxsize=512)
def read_sampling(text: str | None) -> Sampling:
    """Read settings as they are stored."""
    return Sampling.model_validate(json.loads(text or "{}"))


@lru_cache(maxsize=512)
def same_settings(sampling: str, wanted: Sampling) -> bool:
    """Say whether an answer with these settings belongs where others are wanted."""
    return of_settings("", read_sampling(sampling), wanted)


def settings_of_study(connection: sa.Connection, study: Study) -> sa.ColumnElement[bool]:
    """Return the condition on answers that they count in a study, apart from whose they are."""
    response = table(Response).c
    first = response.arm.is_(None)
    there = connection.execute(sa.select(response.sampling).where(first).distinct()).scalars()
    same = [text for text in there if same_settings(text, study.answer_sampling)]
    return sa.and_(
        first,
        sa.or_(response.prompt.in_(HAND_MADE), response.sampling.in_(same)),
        *closed(connection, "response", response.id),
    )


def placed(connection: sa.Connection, study_id: str) -> sa.ColumnElement[bool]:
    """Return the condition on a study's places that they count there."""
    place = table(StudySample).c
    return sa.and_(
        place.study_id == study_id, *closed(connection, "place", place.sample_id, study_id)
    )


def seated(connection: sa.Connection, study_id: str) -> sa.ColumnElement[bool]:
    """Return the condition on a study's seats that they count there."""
    seat = table(StudyCandidate).c
    return sa.and_(
        seat.study_id == study_id, *closed(connection, "seat", seat.candidate_id, study_id)
    )


def study_candidates(store: Store, study_id: str) -> list[Candidate]:
    """Return a study's candidates in its order."""
    seats = table(StudyCandidate)
    with store.read() as connection:
        mine = seated(connection, study_id)
    rows = store.select(StudyCandidate, mine, order_by=[seats.c.position, seats.c.candidate_id])
    found = {c.id: c for c in store.get_many(Candidate, [row.candidate_id for row in rows])}
    return [found[row.candidate_id] for row in rows if row.candidate_id in found]


def study_places(store: Store, study_id: str) -> list[StudySample]:
    """Return a study's samples' places in its order."""
    places = table(StudySample)
    with store.read() as connection:
        mine = placed(connection, study_id)
    return store.select(StudySample, mine, order_by=[places.c.position, places.c.sample_id])


def sample_ids_of(connection: sa.Connection, study_id: str) -> sa.Select[tuple[str]]:
    """Return the selection of a study's samples."""
    return sa.select(table(StudySample).c.sample_id).where(placed(connection, study_id))


def candidate_ids_of(connection: sa.Connection, study_id: str) -> sa.Select[tuple[str]]:
    """Return the selection of a study's candidates."""
    return sa.select(table(StudyCandidate).c.candidate_id).where(seated(connection, study_id))


def members(
    connection: sa.Connection, study_id: str
) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions on answers that their sample and their candidate are a study's."""
    response = table(Response).c
    return (
        response.sample_id.in_(sample_ids_of(connection, study_id)),
        response.candidate_id.in_(candidate_ids_of(connection, study_id)),
    )

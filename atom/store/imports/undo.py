"""Undo an import: what only that import brought goes; what anything else needs stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from atom.errors import UsageError
from atom.records import (
    Annotation,
    Candidate,
    Checkpoint,
    Correction,
    CriteriaSet,
    Criterion,
    Import,
    Outcome,
    Preference,
    Record,
    Replay,
    Response,
    Sample,
    StudyCandidate,
    StudySample,
    Tag,
    Verdict,
)
from atom.store.imports.judgments import take_back_marks
from atom.store.schema import import_links, table
from atom.store.store import Store, Writer

ALSO = "also"
"""Kind of a link to a record that was there before: `<kind>:<id>` is its id."""
_CHUNK = 400
_RULES = ("exact", "numeric", "choice")
"""Outcomes that rules made: they cost nothing, and go with their answer."""


@dataclass(frozen=True, kw_only=True)
class UndoneImport:
    """What undoing an import removed.

    Args:
        record: the import, as the study kept it.
        samples: samples that went from the study.
        responses: answers that are gone.
        preferences: votes that are gone.
        kept: samples and answers that stay in the store, because another study, import or run
            needs them.
    """

    record: Import
    samples: int
    responses: int
    preferences: int
    kept: int


def undo_import(store: Store, import_id: str) -> UndoneImport:
    """Remove what only this import brought, in one transaction.

    Places in the study go, unless another import of that study brought the sample, too. A record
    goes when no other import brought it, no other study holds its sample, and nothing that a run
    paid for hangs on it. Picture files and labels on samples that stay are left as they are.

    Raises:
        UsageError: there is no such import.
    """
    if store.get(Import, import_id) is None:
        known = ", ".join(found.id for found in store.select(Import)) or "none yet"
        raise UsageError(f"there is no import {import_id!r}; imports in this store: {known}")
    with store.write("delete") as writer:
        return take_back(writer, import_id)


def take_back(writer: Writer, import_id: str) -> UndoneImport:
    """Remove what only this import brought, inside a transaction that is under way."""
    record = writer.one(Import, table(Import).c.id == import_id)
    words = f"{record.format}: {record.samples:,} questions, {record.responses:,} answers"
    writer.tell("undo import", study=record.study_id, subject=import_id, before=words)
    brought = _brought(writer, import_id)
    of_study = _others(writer, import_id, record.study_id)
    everywhere = _others(writer, import_id, None)
    places = brought.get("place", set()) - of_study.get("place", set())
    seats = brought.get("seat", set()) - of_study.get("seat", set())
    _delete(writer, StudySample, "sample_id", places, study_id=record.study_id)
    _delete(writer, StudyCandidate, "candidate_id", seats, study_id=record.study_id)

    mine = {
        kind: brought.get(kind, set()) - everywhere.get(kind, set())
        for kind in (
            "sample", "response", "candidate", "preference", "outcome", "annotation", "verdict",
            "criterion", "criteria", "mark",
        )
    }  # fmt: skip
    _delete(writer, Annotation, "id", mine["annotation"])
    _delete(writer, Verdict, "key", mine["verdict"])
    take_back_marks(
        writer,
        record.study_id,
        checkpoints=mine["mark"],
        criteria=mine["criterion"],
        sets=mine["criteria"],
    )
    placed = _elsewhere(writer, record.study_id, _samples_of(writer, mine))
    free = _on_free_samples(writer, Response, mine["response"], placed)
    votes = _on_free_samples(writer, Preference, mine["preference"], placed)
    _delete(writer, Preference, "id", votes)
    settled = _on_free_samples(writer, Response, mine["outcome"], placed)
    _delete(writer, Outcome, "response_id", settled, how="imported")
    responses = free - _needed_responses(writer, free)
    _delete(writer, Tag, "subject_id", responses, subject="response")
    for how in _RULES:
        _delete(writer, Outcome, "response_id", responses, how=how)
    _delete(writer, Response, "id", responses)
    samples = mine["sample"] - _among(writer, StudySample, "sample_id", mine["sample"])
    samples -= _needed_samples(writer, mine["sample"])
    _delete(writer, Tag, "subject_id", samples, subject="sample")
    _delete(writer, Sample, "id", samples)
    candidates = mine["candidate"]
    for kind in (StudyCandidate, Response):
        candidates = candidates - _among(writer, kind, "candidate_id", candidates)
    _delete(writer, Candidate, "id", candidates)
    _hand_over(writer, import_id)
    writer.execute(sa.delete(import_links).where(import_links.c.import_id == import_id))
    writer.delete(Import, table(Import).c.id == import_id)
    return UndoneImport(
        record=record,
        samples=len(places),
        responses=len(responses),
        preferences=len(votes),
        kept=len(brought.get("sample", set()) - samples)
        + len(brought.get("response", set()) - responses),
    )


def _chunks(ids: Iterable[str]) -> Iterator[list[str]]:
    wanted = sorted(ids)
    for start in range(0, len(wanted), _CHUNK):
        yield wanted[start : start + _CHUNK]


def _pairs(writer: Writer, statement: sa.Executable) -> list[tuple[str, str]]:
    rows = writer.execute(statement).mappings().all()
    return [(str(first), str(second)) for first, second in (row.values() for row in rows)]


def _grouped(rows: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for kind, record_id in rows:
        if kind == ALSO:
            kind, _, record_id = record_id.partition(":")
        found.setdefault(kind, set()).add(record_id)
    return found


def _brought(writer: Writer, import_id: str) -> dict[str, set[str]]:
    """Return what the import brought first; records that were there before are no part of it."""
    links = import_links.c
    return _grouped(
        _pairs(
            writer,
            sa.select(links.kind, links.record_id).where(
                links.import_id == import_id, links.kind != ALSO
            ),
        )
    )


def _others(writer: Writer, import_id: str, study_id: str | None) -> dict[str, set[str]]:
    """Return what other imports brought, first or again; of one study, or of all."""
    links, imports = import_links.c, table(Import)
    statement = (
        sa.select(links.kind, links.record_id)
        .select_from(import_links.join(imports, imports.c.id == links.import_id))
        .where(links.import_id != import_id)
    )
    if study_id is not None:
        statement = statement.where(imports.c.study_id == study_id)
    return _grouped(_pairs(writer, statement))


def _hand_over(writer: Writer, import_id: str) -> None:
    """Let the next import that brought a record again be the one that brought it."""
    links = import_links.c
    first = {
        (kind, record_id) for kind, ids in _brought(writer, import_id).items() for record_id in ids
    }
    rows = _pairs(
        writer,
        sa.select(links.import_id, links.record_id)
        .where(links.import_id != import_id, links.kind == ALSO)
        .order_by(links.import_id),
    )
    taken: set[tuple[str, str]] = set()
    moved: dict[str, list[tuple[str, str]]] = {}
    for other, name in rows:
        kind, _, record_id = name.partition(":")
        if (kind, record_id) in first and (kind, record_id) not in taken:
            taken.add((kind, record_id))
            moved.setdefault(other, []).append((kind, record_id))
    for other, pairs in moved.items():
        writer.link_import(other, pairs)


def _among(
    writer: Writer,
    kind: type[Record],
    column: str,
    ids: Iterable[str],
    *where: sa.ColumnElement[bool],
) -> set[str]:
    """Return which of these ids a table's column holds."""
    field = table(kind).c[column]
    return {
        name
        for part in _chunks(ids)
        for name in writer.execute(
            sa.select(field).where(field.in_(part), *where).distinct()
        ).scalars()
    }


def _elsewhere(writer: Writer, study_id: str, ids: Iterable[str]) -> set[str]:
    """Return which of these samples another study holds."""
    places = table(StudySample).c
    return {
        str(name)
        for part in _chunks(ids)
        for name in writer.execute(
            sa.select(places.sample_id).where(
                places.sample_id.in_(part), places.study_id != study_id
            )
        ).scalars()
    }


def _delete(
    writer: Writer, kind: type[Record], column: str, ids: Iterable[str], **where: str
) -> None:
    columns = table(kind).c
    for part in _chunks(ids):
        conditions = [columns[name] == value for name, value in where.items()]
        writer.delete(kind, sa.and_(columns[column].in_(part), *conditions))


def _samples_of(writer: Writer, mine: dict[str, set[str]]) -> set[str]:
    found = set(mine["sample"])
    for kind, name in ((Response, "response"), (Preference, "preference"), (Response, "outcome")):
        found |= set(_sample_of(writer, kind, mine[name]).values())
    return found


def _sample_of(writer: Writer, kind: type[Record], ids: Iterable[str]) -> dict[str, str]:
    columns = table(kind).c
    return {
        record_id: sample_id
        for part in _chunks(ids)
        for record_id, sample_id in _pairs(
            writer, sa.select(columns.id, columns.sample_id).where(columns.id.in_(part))
        )
    }


def _on_free_samples(
    writer: Writer, kind: type[Record], ids: Iterable[str], placed: set[str]
) -> set[str]:
    """Return those whose sample no other study holds."""
    return {
        record_id
        for record_id, sample_id in _sample_of(writer, kind, ids).items()
        if sample_id not in placed
    }


def _needed_responses(writer: Writer, ids: set[str]) -> set[str]:
    """Return answers that something else hangs on: scores, other verdicts, votes, corrections."""
    return (
        _among(writer, Checkpoint, "response_id", ids)
        | _among(writer, Outcome, "response_id", ids, table(Outcome).c.how.not_in(_RULES))
        | _among(writer, Preference, "response_a", ids)
        | _among(writer, Preference, "response_b", ids)
        | _among(writer, Correction, "response_id", ids)
        | _among(writer, Response, "parent_id", ids)
    )


def _needed_samples(writer: Writer, ids: set[str]) -> set[str]:
    """Return samples that something else hangs on: answers, replays, criteria."""
    found: set[str] = set()
    for kind in (Response, Replay, Criterion, CriteriaSet):
        found |= _among(writer, kind, "sample_id", ids)
    return found

"""Moves what a format read into a study: batch by batch, each in one transaction.

An import is all or nothing: one that breaks off is taken back at once. Where the process itself is
killed there is no one left to do that; the study then holds an import that says so, and
`import undo` takes it back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import sqlalchemy as sa

from atom.engine.clock import stamp
from atom.errors import PictureError, UsageError
from atom.formats import Batch, ImportReport, Reading
from atom.records import (
    Annotation,
    Candidate,
    Import,
    Picture,
    Preference,
    Response,
    Sample,
    Study,
    StudyCandidate,
    StudySample,
    Verdict,
    content_id,
)
from atom.store import ALSO, Store, delete_study, list_studies, study_candidates, undo_import
from atom.store.schema import table

UNFINISHED = "this import broke off before its end; take it back with `import undo`"
"""The note that an import bears until it is done."""
_CHUNK = 400
_Named = TypeVar("_Named", Sample, Response, Candidate, Preference, Annotation, Verdict)


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What an import brought.

    Args:
        study: the study that it went into.
        record: the import as the study keeps it.
        report: what was met in the files.
        broken_pictures: pictures that couldn't be kept, with the reason.
    """

    study: Study
    record: Import
    report: ImportReport
    broken_pictures: tuple[str, ...]


def study_for(store: Store, name: str, created: str, *, synthetic: bool = False) -> Study:
    """Return the study of this name, made now if there is none.

    Raises:
        UsageError: the name is empty or too long.
    """
    name = name.strip()
    if not 1 <= len(name) <= 120:
        raise UsageError(f"a study's name has 1 to 120 characters, {name!r:.60} has {len(name)}")
    for study in list_studies(store):
        if name in (study.id, study.name):
            return study
    study = Study(id=Study.make_id(name), name=name, created=created, synthetic=synthetic)
    store.put([study])
    return study


def import_reading(
    store: Store,
    reading: Reading,
    study_name: str,
    moment: datetime,
    *,
    on_batch: Callable[[ImportReport], None] | None = None,
) -> Imported:
    """Put everything that a format reads into a study, or nothing.

    Samples and answers that the store holds already are shared, not doubled.

    Args:
        store: the store.
        reading: the format's single pass.
        study_name: the study; made when there is none.
        moment: UTC time.
        on_batch: told the report after each batch.

    Returns:
        What it brought. The study keeps an `Import`, so that it can be undone.

    Raises:
        FormatError: the files can't be read; nothing of them stays.
    """
    created = stamp(moment)
    there = {study.id for study in list_studies(store)}
    study = study_for(store, study_name, created)
    number = _next_position(store, study.id)
    import_id = _free_id(store, study.id, created, number)
    begun = reading.report.to_import(import_id, study.id, created)
    begun = begun.model_copy(update={"notes": (UNFINISHED,)})
    store.put([begun])
    broken: list[str] = []
    refused: set[str] = set()
    try:
        for batch in reading:
            kept, problems = _keep_pictures(store, batch, refused)
            broken += problems
            # A reading gives a picture once; later batches may name one that was refused before.
            for picture_id in refused:
                batch = batch.without_picture(picture_id)
            _write(store, study, begun, batch, kept)
            if on_batch is not None:
                on_batch(reading.report)
    except BaseException:
        # Whatever went wrong, a reader's stop included: half an import is worse than none.
        undo_import(store, import_id)
        if study.id not in there:
            delete_study(store, study.id)
        raise
    report = reading.report
    record = report.to_import(import_id, study.id, created)
    if broken:
        record = record.model_copy(update={"skipped": (*record.skipped, *broken)[:200]})
    store.replace([record])
    return Imported(study=study, record=record, report=report, broken_pictures=tuple(broken))


def _free_id(store: Store, study_id: str, created: str, number: int) -> str:
    """Name an import; another one of the same second and size gets another name."""
    while (
        store.get(Import, found := content_id("import", study_id, created, number)[:16]) is not None
    ):
        number += 1
    return found


def _keep_pictures(
    store: Store, batch: Batch, refused: set[str]
) -> tuple[list[Picture], list[str]]:
    kept, problems = [], []
    for picture in batch.pictures:
        try:
            kept.append(store.pictures.add(picture.data, picture.name))
        except PictureError as error:
            refused.add(picture.id)
            problems.append(f"picture {picture.name}: {error.message}")
    return kept, problems


def _write(
    store: Store, study: Study, begun: Import, batch: Batch, pictures: list[Picture]
) -> None:
    """Write a batch: records, places and what the import brought, all or nothing."""
    labels = [label.in_study(study.id, begun.created) for label in batch.annotations]
    verdicts = [verdict.in_study(study.id) for verdict in batch.verdicts]
    there = _placed(store, study.id, [sample.id for sample in batch.samples])
    seats = {candidate.id for candidate in study_candidates(store, study.id)}
    new_samples = list(dict.fromkeys(s.id for s in batch.samples if s.id not in there))
    new_candidates = list(dict.fromkeys(c.id for c in batch.candidates if c.id not in seats))
    first = _next_position(store, study.id)
    links = [
        *_links("sample", batch.samples, _new(store, Sample, batch.samples)),
        *_links("response", batch.responses, _new(store, Response, batch.responses)),
        *_links("candidate", batch.candidates, _new(store, Candidate, batch.candidates)),
        *_links("place", batch.samples, new_samples),
        *_links("seat", batch.candidates, new_candidates),
        *(("outcome", record.response_id) for record in batch.outcomes),
        *_links("preference", batch.preferences, _new(store, Preference, batch.preferences)),
        *_links("annotation", labels, _new(store, Annotation, labels)),
        *_links("verdict", verdicts, _new(store, Verdict, verdicts)),
    ]
    told = _told_now(store, batch)
    with store.write() as writer:
        writer.put([*pictures, *batch.records(), *labels, *verdicts])
        writer.replace(told)
        writer.put(
            StudySample(study_id=study.id, sample_id=sample_id, position=first + number)
            for number, sample_id in enumerate(new_samples)
        )
        writer.put(
            StudyCandidate(study_id=study.id, candidate_id=name, position=len(seats) + number)
            for number, name in enumerate(new_candidates)
        )
        writer.link_import(begun.id, links)


def _next_position(store: Store, study_id: str) -> int:
    """Return the place after the last one: the study's samples themselves are never read."""
    places = table(StudySample).c
    with store.read() as connection:
        last = connection.execute(
            sa.select(sa.func.max(places.position)).where(places.study_id == study_id)
        ).scalar()
    return 0 if last is None else int(last) + 1


def _placed(store: Store, study_id: str, ids: Sequence[str]) -> set[str]:
    """Return which of these samples the study holds already."""
    places = table(StudySample).c
    found: set[str] = set()
    with store.read() as connection:
        for start in range(0, len(ids), _CHUNK):
            part = ids[start : start + _CHUNK]
            found |= set(
                connection.execute(
                    sa.select(places.sample_id).where(
                        places.study_id == study_id, places.sample_id.in_(part)
                    )
                ).scalars()
            )
    return found


def _name(record: _Named) -> str:
    return record.key if isinstance(record, Verdict) else record.id


def _links(kind: str, records: Iterable[_Named], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Note what came in for the first time, and what another import or run had brought before."""
    fresh = set(new)
    for record in records:
        name = _name(record)
        yield (kind, name) if name in fresh else (ALSO, f"{kind}:{name}")


def _new(store: Store, kind: type[_Named], records: Sequence[_Named]) -> list[str]:
    """Return the ids that the store doesn't hold yet."""
    ids = list(dict.fromkeys(_name(record) for record in records))
    known = {_name(record) for record in store.get_many(kind, ids)}
    return [record_id for record_id in ids if record_id not in known]


def _told_now(store: Store, batch: Batch) -> list[Response]:
    """Return answers whose text comes only now: until here they were known from votes alone."""
    told = {record.id: record for record in batch.responses if record.text}
    return [
        told[record.id]
        for record in store.get_many(Response, told)
        if record.prompt == "imported" and record.state == "scored" and not record.text
    ]

"""Moves what a format read into a study: batch by batch, each in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from atom.engine.clock import stamp
from atom.errors import PictureError, UsageError
from atom.formats import Batch, ImportReport, Reading
from atom.records import (
    Candidate,
    Import,
    Picture,
    Preference,
    Response,
    Sample,
    Study,
    StudyCandidate,
    StudySample,
    content_id,
)
from atom.store import ALSO, Store, list_studies, study_candidates, study_places

_Named = TypeVar("_Named", Sample, Response, Candidate, Preference)


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
    """Put everything that a format reads into a study.

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
        FormatError: the files can't be read; batches before the bad place stay.
    """
    created = stamp(moment)
    study = study_for(store, study_name, created)
    number = len(study_places(store, study.id))
    import_id = content_id("import", study.id, created, number)[:16]
    broken: list[str] = []
    for batch in reading:
        kept, problems = _keep_pictures(store, batch)
        broken += problems
        _write(store, study, import_id, batch, kept)
        if on_batch is not None:
            on_batch(reading.report)
    report = reading.report
    record = report.to_import(import_id, study.id, created)
    if broken:
        record = record.model_copy(update={"skipped": (*record.skipped, *broken)[:200]})
    store.put([record])
    return Imported(study=study, record=record, report=report, broken_pictures=tuple(broken))


def _keep_pictures(store: Store, batch: Batch) -> tuple[list[Picture], list[str]]:
    kept, problems = [], []
    for picture in batch.pictures:
        try:
            kept.append(store.pictures.add(picture.data, picture.name))
        except PictureError as error:
            problems.append(f"picture {picture.name}: {error.message}")
    return kept, problems


def _write(
    store: Store, study: Study, import_id: str, batch: Batch, pictures: list[Picture]
) -> None:
    """Write a batch: records, places and what the import brought, all or nothing."""
    good = {picture.id for picture in pictures}
    for picture in batch.pictures:
        if picture.id not in good:
            batch = batch.without_picture(picture.id)
    places = study_places(store, study.id)
    there = {place.sample_id for place in places}
    seats = {candidate.id for candidate in study_candidates(store, study.id)}
    new_samples = [s.id for s in dict.fromkeys(batch.samples) if s.id not in there]
    new_candidates = [c.id for c in dict.fromkeys(batch.candidates) if c.id not in seats]
    first = max((place.position for place in places), default=-1) + 1
    links = [
        *_links("sample", batch.samples, _new(store, Sample, batch.samples)),
        *_links("response", batch.responses, _new(store, Response, batch.responses)),
        *_links("candidate", batch.candidates, _new(store, Candidate, batch.candidates)),
        *_links("place", batch.samples, new_samples),
        *_links("seat", batch.candidates, new_candidates),
        *(("outcome", record.response_id) for record in batch.outcomes),
        *_links("preference", batch.preferences, _new(store, Preference, batch.preferences)),
    ]
    told = _told_now(store, batch)
    with store.write() as writer:
        writer.put([*pictures, *batch.records()])
        writer.replace(told)
        writer.put(
            StudySample(study_id=study.id, sample_id=sample_id, position=first + number)
            for number, sample_id in enumerate(new_samples)
        )
        writer.put(
            StudyCandidate(study_id=study.id, candidate_id=name, position=len(seats) + number)
            for number, name in enumerate(new_candidates)
        )
        writer.link_import(import_id, links)


def _links(kind: str, records: Sequence[_Named], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Note what came in for the first time, and what another import or run had brought before."""
    fresh = set(new)
    for record in records:
        yield (kind, record.id) if record.id in fresh else (ALSO, f"{kind}:{record.id}")


def _new(store: Store, kind: type[_Named], records: Sequence[_Named]) -> list[str]:
    """Return the ids that the store doesn't hold yet."""
    ids = list(dict.fromkeys(record.id for record in records))
    known = {record.id for record in store.get_many(kind, ids)}
    return [record_id for record_id in ids if record_id not in known]


def _told_now(store: Store, batch: Batch) -> list[Response]:
    """Return answers whose text comes only now: until here they were known from votes alone."""
    told = {record.id: record for record in batch.responses if record.text}
    return [
        told[record.id]
        for record in store.get_many(Response, told)
        if record.prompt == "imported" and record.state == "scored" and not record.text
    ]

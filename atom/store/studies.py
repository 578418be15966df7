"""Studies in a store: find, copy, rename, delete, and what a study selects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import sqlalchemy as sa

from atom.errors import UsageError
from atom.records import (
    Annotation,
    BenchItem,
    BenchSet,
    Call,
    Correction,
    Experiment,
    Import,
    Judge,
    PairsTask,
    Picture,
    Response,
    Run,
    SightTask,
    Study,
    StudyCandidate,
    StudySample,
    Verdict,
    content_id,
)
from atom.store.schema import KINDS, table
from atom.store.selection import ITS_OWN, Selection
from atom.store.standing.members import members, placed, seated, settings_of_study, study_places
from atom.store.store import Store, Writer
from atom.store.trees import forget_trees, tree_edits, tree_versions

StudyOrSet = TypeVar("StudyOrSet", Study, BenchSet)


@dataclass(frozen=True, kw_only=True)
class StudyCounts:
    """What counts in a study, for its card."""

    samples: int
    candidates: int
    responses: int


def list_studies(store: Store) -> list[Study]:
    """Return all studies by name."""
    return store.select(Study, order_by=[table(Study).c.name])


def find_study(store: Store, name_or_id: str) -> Study:
    """Return a study by its name or id.

    Raises:
        UsageError: there is none; the message names those that exist.
    """
    for study in list_studies(store):
        if name_or_id in (study.id, study.name):
            return study
    names = ", ".join(repr(study.name) for study in list_studies(store)) or "none yet"
    raise UsageError(f"there is no study {name_or_id!r}; studies in this store: {names}")


def count_study(store: Store, study_id: str) -> StudyCounts:
    """Count what counts in a study."""
    study = store.get(Study, study_id)
    samples, candidates, responses = table(StudySample), table(StudyCandidate), table(Response)

    def count(source: sa.Table, *where: sa.ColumnElement[bool]) -> int:
        rows = sa.select(sa.func.count()).select_from(source).where(*where)
        return int(connection.execute(rows).scalar_one())

    with store.read() as connection:
        return StudyCounts(
            samples=count(samples, placed(connection, study_id)),
            candidates=count(candidates, seated(connection, study_id)),
            responses=0
            if study is None
            else count(
                responses, *members(connection, study_id), settings_of_study(connection, study)
            ),
        )


def set_sampling(writer: Writer, study: Study) -> None:
    """Write a study's sampling settings: answers given under others no longer stand for it."""
    columns, row = table(Study), KINDS[Study].to_row(study)
    settings = {name: row[name] for name in ("judge_sampling", "answer_sampling")}
    writer.execute(sa.update(columns).where(columns.c.id == study.id).values(settings))


def rename_study(store: Store, study_id: str, name: str) -> Study:
    """Give a study another name; its id, and links to it, stay.

    Raises:
        UsageError: the name is empty or taken.
    """
    name = name.strip()
    study = find_study(store, study_id)
    columns = table(Study).c
    with store.write() as writer:
        taken = writer.rows_of(KINDS[Study], "name", [name])
        if not name or any(row["id"] != study.id for row in taken):
            raise UsageError(f"{name!r} is {'taken' if name else 'empty'}: choose another name")
        writer.execute(sa.update(table(Study)).where(columns.id == study.id).values(name=name))
        writer.tell("rename", study=study.id, subject=study.id, before=study.name, after=name)
        return writer.one(Study, columns.id == study.id)


def change_consent(
    store: Store,
    name: str,
    record: type[StudyOrSet] = Study,  # type: ignore[assignment]
    *,
    add: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> StudyOrSet:
    """Change which hosts may be sent what a study, or a judge's set, holds.

    Only that column is written, as it stands at this moment: what somebody else changes meanwhile,
    their consent too, stays.

    Args:
        add: hosts that may, from now on.
        drop: hosts that no longer may.

    Returns:
        The record as it is now.
    """
    rows = table(record)
    with store.write("consent") as writer:
        before: tuple[str, ...] = writer.one(record, rows.c.id == name).consent
        kept = [host for host in dict.fromkeys([*before, *add]) if host not in drop]
        writer.execute(sa.update(rows).where(rows.c.id == name).values(consent=json.dumps(kept)))
        hosts = {"before": ", ".join(before), "after": ", ".join(kept)}
        writer.tell("consent", study=name if record is Study else "", subject=name, **hosts)
        return writer.one(record, rows.c.id == name)


def delete_study(store: Store, study_id: str) -> None:
    """Remove a study. Shared records stay, so that what was paid for is never asked again."""
    study = find_study(store, study_id)
    with store.write("delete") as writer:
        writer.tell("delete study", study=study.id, subject=study.id, before=study.name)
        for kind in (StudySample, StudyCandidate, Run, Import):
            writer.delete(kind, table(kind).c.study_id == study.id)
        experiments = table(Experiment).c
        mine = sa.select(experiments.id).where(experiments.study_id == study.id)
        writer.delete(Correction, table(Correction).c.experiment_id.in_(mine))
        writer.delete(Experiment, experiments.study_id == study.id)
        writer.delete(Annotation, table(Annotation).c.study_id == study.id)
        writer.delete(Verdict, table(Verdict).c.group == study.id)
        forget_trees(writer, study.id)
        writer.delete(Study, table(Study).c.id == study.id)


def copy_study(
    source: Store, target: Store, study_id: str, name: str, *, created: str = ""
) -> Study:
    """Copy a study, with everything it selects, into a store (which may be the same one).

    Args:
        name: the copy's name; must be free in the target.
        created: UTC time for the copy's record.

    Raises:
        UsageError: the name is taken or the study doesn't exist.
    """
    study = find_study(source, study_id)
    name = name.strip()
    if not name or any(other.name == name for other in list_studies(target)):
        raise UsageError(f"{name!r} is {'taken' if name else 'empty'}: choose another name")
    copy = study.model_copy(
        update={
            "id": _free_id(target, name),
            "name": name,
            "copied_from": study.id,
            "created": created or study.created,
        }
    )
    places = study_places(source, study.id)
    candidates = table(StudyCandidate)
    seats = source.select(StudyCandidate, candidates.c.study_id == study.id)
    versions = tree_versions(source, study.id)
    edits = tree_edits(source, study.id) if versions else []
    experiments = _copied_experiments(source, study.id, copy.id)
    rows = source.get_many(Correction, experiments, "experiment_id")
    labels = source.select(Annotation, table(Annotation).c.study_id == study.id)
    verdicts = source.select(Verdict, table(Verdict).c.group == study.id)
    runs = source.select(Run, table(Run).c.study_id == study.id)
    if source.url != target.url or source.folder != target.folder:
        _copy_records(source, target, study)
    with target.write() as writer:
        writer.put([copy])
        writer.tell("copy study", study=copy.id, subject=copy.id, before=study.name, after=name)
        writer.put(place.model_copy(update={"study_id": copy.id}) for place in places)
        writer.put(seat.model_copy(update={"study_id": copy.id}) for seat in seats)
        writer.put(v.model_copy(update={"study_id": copy.id}) for v in versions)
        writer.put(edit.model_copy(update={"study_id": copy.id}) for edit in edits)
        writer.put(experiments.values())
        writer.put(
            row.model_copy(update={"experiment_id": experiments[row.experiment_id].id})
            for row in rows
        )
        writer.put(_for_study(label, copy.id) for label in labels)
        writer.put(_for_group(verdict, copy.id) for verdict in verdicts)
        writer.put(_copied_runs(runs, copy.id))
    return copy


def copy_sets(source: Store, target: Store) -> None:
    """Copy every judge benchmark's set, with its verdicts and runs, that the target hasn't yet."""
    for record in source.select(BenchSet):
        if target.get(BenchSet, record.id) is not None:
            continue
        items = source.select(BenchItem, table(BenchItem).c.set_id == record.id)
        verdicts = source.select(Verdict, table(Verdict).c.group == record.id)
        runs = source.select(Run, table(Run).c.study_id == record.id)
        judges = source.get_many(Judge, {verdict.judge for verdict in verdicts})
        calls = source.get_many(Call, {v.call_id for v in verdicts if v.call_id is not None})
        names = {slot.picture_id for item in items for slot in item.pictures}
        pictures = source.get_many(Picture, {name for name in names if name is not None})
        for picture in pictures:
            target.pictures.copy_from(source.pictures, picture.id)
        with target.write() as writer:
            writer.put([*pictures, *judges, *calls, record, *items, *verdicts, *runs])


def _for_study(label: Annotation, study_id: str) -> Annotation:
    """Return a person's label as another study has it."""
    name = Annotation.make_id(study_id, label.kind, label.subject_id, label.annotator)
    return label.model_copy(update={"id": name, "study_id": study_id})


def _for_group(verdict: Verdict, group: str) -> Verdict:
    """Return a verdict as another study has it: there the same question is answered already."""
    key = Verdict.make_key(
        group,
        verdict.subject_id,
        verdict.part,
        verdict.judge,
        verdict.prompt,
        verdict.sampling,
        verdict.repeat,
        verdict.order,
    )
    return verdict.model_copy(update={"key": key, "group": group})


def _copied_runs(runs: Sequence[Run], study_id: str) -> list[Run]:
    """Return the runs that say what verdicts are of (hard pairs, judges that were shown less)."""
    return [
        run.model_copy(update={"id": run.task.run_id(study_id), "study_id": study_id})
        for run in runs
        if isinstance(run.task, (PairsTask, SightTask)) and run.state == "done"
    ]


def _copied_experiments(source: Store, study_id: str, copy_id: str) -> dict[str, Experiment]:
    """Return a study's experiments by id, as its copy has them.

    An experiment is named by what it asks for, its study among that, so that asking for the same
    in the copy finds it. One whose peers were chosen has a name that can't be made again.
    """
    found = {}
    for experiment in source.select(Experiment, table(Experiment).c.study_id == study_id):
        copy = experiment.model_copy(update={"study_id": copy_id})
        plain = Experiment.make_id(experiment) == experiment.id
        name = (
            Experiment.make_id(copy) if plain else content_id("experiment", experiment.id, copy_id)
        )
        found[experiment.id] = copy.model_copy(update={"id": name})
    return found


def _free_id(store: Store, name: str) -> str:
    """A renamed study keeps its id, so a name's own id may be taken."""
    study_id = Study.make_id(name)
    number = 1
    while store.get(Study, study_id) is not None:
        number += 1
        study_id = Study.make_id(f"{name} ({number})")
    return study_id


def _copy_records(source: Store, target: Store, study: Study) -> None:
    """Copy what a study rests on; what is its own gets other names, and isn't copied here."""
    for kind, chunks in Selection(source, study).kinds():
        records = [record for chunk in chunks for record in chunk]
        if kind in ITS_OWN:
            continue
        for record in records:
            if isinstance(record, Picture):
                target.pictures.copy_from(source.pictures, record.id)
        target.put(records)

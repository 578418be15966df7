"""What imported judgments change in a study: the criteria that stand, its judge and its tree.

A sample whose criteria came with files gets one set of them: those of a later import join those
that are there. Criteria that our own judges cut, or people wrote, stay as they stand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar, cast

import sqlalchemy as sa

from atom.records import (
    Checkpoint,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Mapping,
    Record,
    Study,
    StudySample,
    TreeRecord,
)
from atom.store.schema import KINDS, table
from atom.store.store import Writer
from atom.store.trees import TreeDraft, add_version, use_version
from taxonomy import parse_tree

_CHUNK = 400
R = TypeVar("R", bound=Record)
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class CriteriaImport:
    """What came of criteria that an import brought.

    Args:
        joined: samples whose criteria joined others that had come with files.
        aside: samples that keep their own criteria, so that the imported ones don't stand.
        other_tree: whether the study keeps the tree that it has.
        made: sets that were made of several.
    """

    joined: int = 0
    aside: int = 0
    other_tree: bool = False
    made: tuple[str, ...] = ()


def stand(
    writer: Writer, study: Study, staged: str, *, judge: str | None, tree: str | None, created: str
) -> CriteriaImport:
    """Let staged criteria stand for the study's samples, and fill in its judge and its tree.

    Args:
        writer: the transaction, in which all records were inserted.
        staged: the table of criteria sets that came in (`id`, `sample_id`).
        judge: whose marks a study without a judge shows.
        tree: the tree of a study without one.
        created: UTC time.
    """
    writer.execute(
        sa.text(
            f"UPDATE study_samples SET criteria_set_id = s.id FROM {staged} s "
            "WHERE study_samples.study_id = :study AND study_samples.criteria_set_id IS NULL "
            "AND s.sample_id = study_samples.sample_id"
        ).bindparams(study=study.id)
    )
    others = writer.execute(
        sa.text(
            "SELECT p.sample_id AS sample, p.criteria_set_id AS old, s.id AS new "
            "FROM study_samples p JOIN "
            f"{staged} s ON s.sample_id = p.sample_id "
            "WHERE p.study_id = :study AND p.criteria_set_id <> s.id"
        ).bindparams(study=study.id)
    ).mappings()
    rows = [(str(row["sample"]), str(row["old"]), str(row["new"])) for row in others]
    joined, aside, made = _join(writer, study.id, rows)
    current = writer.one(Study, table(Study).c.id == study.id)
    if current.judge_id is None and judge is not None:
        studies = table(Study)
        writer.execute(sa.update(studies).where(studies.c.id == study.id).values(judge_id=judge))
    other_tree = False
    if tree is not None and current.tree_version is None:
        record = writer.one(TreeRecord, table(TreeRecord).c.version == tree)
        draft = TreeDraft(
            tree=parse_tree(record.body, depth=None),
            origin="imported",
            note="The capabilities as the imported files name them.",
        )
        add_version(writer, study.id, draft, created)
        use_version(writer, study.id, tree)
    else:
        other_tree = tree is not None and current.tree_version != tree
    return CriteriaImport(joined=joined, aside=aside, other_tree=other_tree, made=made)


def _join(
    writer: Writer, study_id: str, rows: Iterable[tuple[str, str, str]]
) -> tuple[int, int, tuple[str, ...]]:
    """Join sets that came in with the sets that stand, where these came with files as well."""
    joined = aside = 0
    made: list[str] = []
    for part in _parts(list(rows)):
        sets = _sets(writer, [name for _, old, new in part for name in (old, new)])
        for sample_id, old, new in part:
            standing = sets.get(old)
            if standing is None or standing.source != "imported":
                aside += 1
                continue
            uses = _united([standing, sets[new]])
            if len(uses) == len(standing.uses):
                continue
            made.append(_stand_one(writer, study_id, sample_id, standing, uses))
            joined += 1
    return joined, aside, tuple(made)


def _united(sets: Iterable[CriteriaSet]) -> tuple[CriterionUse, ...]:
    """Return the uses of several sets, each criterion once, in order."""
    found: dict[str, CriterionUse] = {}
    for one in sets:
        for use in sorted(one.uses, key=lambda use: use.position):
            found.setdefault(use.criterion_id, use)
    return tuple(use.model_copy(update={"position": at}) for at, use in enumerate(found.values()))


def _stand_one(
    writer: Writer,
    study_id: str,
    sample_id: str,
    like: CriteriaSet,
    uses: tuple[CriterionUse, ...],
) -> str:
    """Make a set of these uses and let it stand for the sample; returns its id."""
    content = [use.model_dump(mode="json", exclude_defaults=True) for use in uses]
    name = CriteriaSet.make_id(sample_id, like.judge_id, like.prompt, like.sampling, 0, content)
    writer.put([like.model_copy(update={"id": name, "uses": uses})])
    _place(writer, study_id, sample_id, name)
    return name


def _place(writer: Writer, study_id: str, sample_id: str, set_id: str | None) -> None:
    places = table(StudySample)
    writer.execute(
        sa.update(places)
        .where(places.c.study_id == study_id, places.c.sample_id == sample_id)
        .values(criteria_set_id=set_id)
    )


def take_back_marks(
    writer: Writer,
    study_id: str,
    *,
    checkpoints: Collection[str],
    criteria: Collection[str],
    sets: Collection[str],
) -> None:
    """Remove marks, criteria and sets that only an import brought, and let the others stand.

    Criteria on which other marks hang stay, with the marks.

    Args:
        study_id: the study that the import went into.
        checkpoints: keys of marks.
        criteria: ids of criteria.
        sets: ids of criteria sets.
    """
    if not (checkpoints or criteria or sets):
        return
    _delete(writer, Checkpoint, "key", checkpoints)
    marked = table(Checkpoint).c.criterion_id
    needed = {
        str(name)
        for part in _parts(sorted(criteria))
        for name in writer.execute(sa.select(marked).where(marked.in_(part)).distinct()).scalars()
    }
    gone = set(criteria) - needed
    touched = {one.sample_id for one in _read(writer, Criterion, "id", gone)}
    touched |= {one.sample_id for one in _read(writer, CriteriaSet, "id", sets)}
    _delete(writer, Mapping, "criterion_id", gone)
    _delete(writer, Criterion, "id", gone)
    for sample_id in sorted(touched):
        _stand_again(writer, sample_id, gone, set(sets))
    _forget_settings(writer, study_id)


def _stand_again(writer: Writer, sample_id: str, gone: set[str], sets: set[str]) -> None:
    """Let what is left of a sample's imported criteria stand wherever a set of them stood."""
    there = _read(writer, CriteriaSet, "sample_id", [sample_id])
    imported = [one for one in there if one.source == "imported"]
    away = [
        one
        for one in imported
        if one.id in sets or any(use.criterion_id in gone for use in one.uses)
    ]
    uses = _united(
        one.model_copy(
            update={"uses": tuple(use for use in one.uses if use.criterion_id not in gone)}
        )
        for one in imported
    )
    ids = {one.id for one in away}
    _delete(writer, CriteriaSet, "id", ids)
    for place in _read(writer, StudySample, "sample_id", [sample_id]):
        if place.criteria_set_id not in ids:
            continue
        if uses:
            _stand_one(writer, place.study_id, sample_id, imported[0], uses)
        else:
            _place(writer, place.study_id, sample_id, None)


def _forget_settings(writer: Writer, study_id: str) -> None:
    """Take the judge and tree from a study that nothing judged any more."""
    places, studies = table(StudySample).c, table(Study)
    left = writer.execute(
        sa.select(places.sample_id)
        .where(places.study_id == study_id, places.criteria_set_id.is_not(None))
        .limit(1)
    ).first()
    if left is None:
        writer.execute(
            sa.update(studies)
            .where(studies.c.id == study_id)
            .values(judge_id=None, tree_version=None)
        )


def _sets(writer: Writer, ids: Iterable[str]) -> dict[str, CriteriaSet]:
    return {one.id: one for one in _read(writer, CriteriaSet, "id", ids)}


def _read(writer: Writer, kind: type[R], column: str, values: Iterable[str]) -> list[R]:
    stored = KINDS[kind]
    return [cast(R, stored.from_row(row)) for row in writer.rows_of(stored, column, values)]


def _delete(writer: Writer, kind: type[Record], column: str, ids: Iterable[str]) -> None:
    for part in _parts(sorted(set(ids))):
        writer.delete(kind, table(kind).c[column].in_(part))


def _parts(items: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(items), _CHUNK):
        yield items[start : start + _CHUNK]

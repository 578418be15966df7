"""Tags that people put on samples, the slices they saved, and what they say of checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from atom.access import Action
from atom.records import PERSON_SOURCE, TAG_FACET, Annotation, AnnotationKind, Tag
from atom.store.labels import labels_of
from atom.store.schema import table
from atom.store.store import Store

_CHUNK = 400
_KINDS: dict[str, AnnotationKind] = {"flagged": "flag", "noted": "remark", "rated": "score"}


def tags_of_samples(store: Store, samples: Sequence[str], name: str | None = None) -> list[Tag]:
    """Return the tags that people put on samples.

    Args:
        samples: ids of samples.
        name: only this tag; None = all.
    """
    column = table(Tag).c
    which = [] if name is None else [column.value == name]
    found: list[Tag] = []
    for start in range(0, len(samples), _CHUNK):
        found += store.select(
            Tag,
            column.subject == "sample",
            column.subject_id.in_(list(samples[start : start + _CHUNK])),
            column.facet == TAG_FACET,
            column.source.startswith(PERSON_SOURCE, autoescape=True),
            *which,
        )
    return found


def delete_tags(store: Store, tags: Sequence[Tag], action: Action) -> None:
    """Remove exactly these tags, in one transaction.

    Args:
        action: what that is, for whom the store lets do it.
    """
    column = table(Tag).c
    groups: dict[tuple[str, str, str], list[str]] = {}
    for tag in tags:
        groups.setdefault((tag.source, tag.facet, tag.value), []).append(tag.subject_id)
    if not groups:
        return
    with store.write(action) as writer:
        for (source, facet, value), ids in groups.items():
            for start in range(0, len(ids), _CHUNK):
                writer.delete(
                    Tag,
                    (column.subject == "sample")
                    & (column.source == source)
                    & (column.facet == facet)
                    & (column.value == value)
                    & column.subject_id.in_(ids[start : start + _CHUNK]),
                )


def said_here(store: Store, study_id: str, keys: Sequence[str]) -> list[Annotation]:
    """Return what people said of some checkpoints: scores, flags and notes, the oldest first."""
    column = table(Annotation).c
    return store.select(
        Annotation,
        column.study_id == study_id,
        column.kind.in_(["score", "flag", "remark"]),
        column.state == "given",
        column.subject_id.in_(list(keys)),
        order_by=(column.created, column.id),
    )


def told_keys(store: Store, study_id: str, told: Sequence[str]) -> list[str]:
    """Return the keys of checkpoints that people flagged, noted on or scored.

    Args:
        told: `flagged`, `noted`, `rated`: any of these.
    """
    kinds = [_KINDS[one] for one in told]
    column = table(Annotation).c
    query = (
        sa.select(column.subject_id)
        .distinct()
        .where(column.study_id == study_id, column.kind.in_(kinds), column.state == "given")
    )
    with store.read() as connection:
        return sorted(connection.execute(query).scalars())


def saved_slices(store: Store, study_id: str) -> list[Annotation]:
    """Return a study's saved slices, by name."""
    found = labels_of(store, study_id, ["slice"])
    return sorted(found, key=lambda one: (one.subject_id.casefold(), one.subject_id))

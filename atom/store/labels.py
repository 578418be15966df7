"""People's labels, read for what is counted from them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, get_args

import sqlalchemy as sa

from atom.records import UNASKED, Annotation, AnnotationKind
from atom.store.schema import table
from atom.store.standing.members import closed
from atom.store.store import Store


class PairLabel(NamedTuple):
    """What a person said of two answers.

    Args:
        subject_id: both answers' ids, a slash between.
        label: who is better.
        adjudicates: whether it settles a conflict of others.
        note: what was noted with it.
    """

    subject_id: str
    annotator: str
    label: str
    adjudicates: bool
    note: str


class GivenScore(NamedTuple):
    """A person's score of something.

    Args:
        subject_id: the sample and what is scored, a slash between.
        adjudicates: whether it settles a conflict of others.
    """

    subject_id: str
    annotator: str
    value: float
    adjudicates: bool


def given_pairs(store: Store, study_id: str, labels: Collection[str]) -> list[PairLabel]:
    """Read people's preferences between a study's answers, in the order they were given.

    Args:
        labels: the labels that count.
    """
    column = table(Annotation).c
    with store.read() as connection:
        rows = connection.execute(
            sa.select(
                column.subject_id, column.annotator, column.label, column.adjudicates, column.note
            )
            .where(
                column.study_id == study_id,
                column.kind == "preference",
                column.state == "given",
                column.label.in_(list(labels)),
                *closed(connection, "annotation", column.id),
            )
            .order_by(column.created, column.id)
        )
        return [PairLabel(*row) for row in rows]


def given_scores(store: Store, study_id: str) -> list[GivenScore]:
    """Read people's scores of things of a study's samples, in the order they were given."""
    column = table(Annotation).c
    with store.read() as connection:
        rows = connection.execute(
            sa.select(column.subject_id, column.annotator, column.value, column.adjudicates)
            .where(
                column.study_id == study_id,
                column.kind == "score",
                column.state == "given",
                column.value.is_not(None),
                column.subject_id.like("%/%"),
                *closed(connection, "annotation", column.id),
            )
            .order_by(column.created, column.id)
        )
        return [GivenScore(*row) for row in rows]


def everything_said(store: Store, study_id: str) -> list[Annotation]:
    """Read all that people said of a study, asked or not, in the order it was said."""
    return labels_of(
        store, study_id, [kind for kind in get_args(AnnotationKind) if kind != "version"]
    )


def labels_of(
    store: Store, study_id: str, kinds: Collection[AnnotationKind] = ()
) -> list[Annotation]:
    """Read a study's labels as records, in the order they were given.

    Args:
        kinds: only these; empty = all that people were asked for.
    """
    column = table(Annotation).c
    with store.read() as connection:
        done = closed(connection, "annotation", column.id)
    some = [column.kind.in_(list(kinds))] if kinds else [column.kind.not_in(UNASKED)]
    return store.select(
        Annotation, column.study_id == study_id, *some, *done,
        order_by=(column.created, column.id),
    )  # fmt: skip

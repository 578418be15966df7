"""A study's rows, all of them, read at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json
import sqlalchemy as sa
from numpy.typing import NDArray

from atom.records import (
    Candidate,
    Checkpoint,
    Outcome,
    Preference,
    Response,
    Sample,
    Study,
    StudyCandidate,
    StudySample,
    Tag,
)
from atom.records import Mapping as MappingRecord
from atom.store.reading import packed as fast
from atom.store.reading.columns.answers import (
    AnswerColumns,
    SampleColumns,
    answers_of_study,
    read_answers,
    read_outcomes,
    read_places,
    scanned_outcomes,
)
from atom.store.reading.columns.mark_columns import scanned_marks
from atom.store.reading.columns.marks import JudgeMarks, read_marks
from atom.store.reading.columns.uses import Uses, read_leaves, read_uses
from atom.store.reading.packed import Ints
from atom.store.schema import table
from atom.store.standing.members import closed, placed, sample_ids_of, seated
from atom.store.store import Store
from atom.store.together.revisions import read_mark
from taxonomy import Path

_VERDICTS = ("a", "b", "tie")
_SCAN_SHARE = 0.25
"""A study with this share of a store's samples is read by scans over whole tables."""


@dataclass(frozen=True, kw_only=True)
class VoteColumns:
    """Votes between a study's answers, in the order of their ids, shape (V,)."""

    a: Ints
    """Index of an answer."""
    b: Ints
    first: Ints
    """Who was shown first: 0 = a, 1 = b."""
    verdict: Ints
    """0 = a, 1 = b, 2 = tie, -1 = none."""
    strength: Ints
    judge: Ints
    """Index into `judges`."""
    repeat: Ints
    judges: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class StudyRows:
    """A study's rows.

    Attributes:
        models: ids of the candidates, in the study's order.
        places: its samples.
        outcome: float32, shape (R,), 0..1: each answer's outcome that counts; NaN = not known.
        uses: the criteria that stand for its samples.
        leaf: int64, shape (U,): where each use hangs, as an index into `leaves`; -1 = nowhere.
        leaves: leaves of the tree that anything hangs on, in its order.
        marks: the marks of the judge that is looked at.
        panel: the marks of each judge, people left out; empty where fewer than two marked anything.
        votes: votes between its answers; None = no vote at all.
        sample_tags: (index of a sample, facet, value).
        answer_tags: (index of an answer, facet, value).
    """

    models: tuple[str, ...]
    places: SampleColumns
    answers: AnswerColumns
    outcome: NDArray[np.float32]
    uses: Uses
    leaf: Ints
    leaves: tuple[Path, ...]
    marks: JudgeMarks
    votes: VoteColumns | None
    sample_tags: tuple[tuple[int, str, str], ...]
    answer_tags: tuple[tuple[int, str, str], ...]
    panel: tuple[JudgeMarks, ...] = ()

    @property
    def pending(self) -> int:
        """Marks that could be made and aren't there yet."""
        per_sample = np.bincount(self.uses.sample, minlength=len(self.places.ids))
        expected = per_sample[self.answers.sample]
        response, use = self.marks.response, self.marks.use
        again = (response[1:] == response[:-1]) & (use[1:] == use[:-1])
        first = np.append(True, ~again)[: len(use)]
        there = np.bincount(response[first], minlength=len(self.answers.ids))
        return int((expected - there)[self.answers.judgeable].sum())


def read_study(store: Store, study: Study, judge_id: str | None) -> tuple[StudyRows, int]:
    """Read everything of a study that comes in rows, and the store's revision that it is of.

    Args:
        judge_id: whose marks.
    """
    with ExitStack() as stack:
        connection, beside = (stack.enter_context(store.read()) for _ in range(2))
        stack.enter_context(fast.without_collector())
        for one in (connection, beside):
            stack.enter_context(fast.mapped(one))
        revision = read_mark(connection, study.id).revision
        # A writer may have come between the two: then they don't see the same store.
        same = read_mark(beside, study.id).revision == revision
        return read_rows(connection, study, judge_id, beside=beside if same else None), revision


def newest_rows(store: Store, study_id: str) -> tuple[int, list[Any]]:
    """Return a study's revision, and name the last rows of the tables that are read.

    A store put back from a backup may count as many changes as another one.
    """
    found: list[Any] = []
    with store.read() as connection:
        revision = read_mark(connection, study_id).revision
        if connection.dialect.name != "sqlite":
            return revision, found
        for record in (Response, Checkpoint, Outcome, MappingRecord, Tag):
            source = table(record)
            rowid = sa.literal_column("rowid", sa.Integer)
            last = sa.select(rowid, next(iter(source.primary_key))).select_from(source)
            row = connection.execute(last.order_by(rowid.desc()).limit(1)).first()
            found.append(list(row) if row is not None else None)
    return revision, found


def read_rows(
    connection: sa.Connection,
    study: Study,
    judge_id: str | None,
    *,
    beside: sa.Connection | None = None,
) -> StudyRows:
    """Read everything of a study that comes in rows.

    Args:
        judge_id: whose marks.
        beside: another one that sees the same; the marks are scanned through it meanwhile.
    """
    models = _models(connection, study.id)
    scan = _scan(connection, study.id)
    source = beside or connection
    between: list[list[pa.Array]] = [[]]
    scanned = chain(scanned_marks(source), between, scanned_outcomes(source)) if scan else iter(())
    with fast.ahead(scanned, at_once=scan and beside is not None) as rows:
        places = read_places(connection, study.id)
        answers = read_answers(connection, study, places, models, scan=scan)
        uses = read_uses(connection, study.id, places)
        leaf, leaves = read_leaves(connection, study, uses, scan=scan)
        chunks = takewhile(bool, rows)
        marks, panel = read_marks(
            connection, study, judge_id, answers, uses, chunks if scan else None
        )
        # Where nothing was wanted of them, some are left.
        deque(chunks, maxlen=0)
        outcome = read_outcomes(
            connection, study.id, answers, judge_id, list(rows) if scan else None
        )
    return StudyRows(
        models=tuple(models),
        places=places,
        answers=answers,
        outcome=outcome,
        uses=uses,
        leaf=leaf,
        leaves=leaves,
        marks=marks,
        votes=_votes(connection, study.id, answers),
        sample_tags=tuple(_tags_of_samples(connection, study.id, places)),
        answer_tags=tuple(_tags_of_answers(connection, study.id, answers)),
        panel=panel,
    )


def _models(connection: sa.Connection, study_id: str) -> dict[str, int]:
    seat, candidate = table(StudyCandidate), table(Candidate)
    rows = connection.execute(
        sa.select(seat.c.candidate_id)
        .select_from(seat.join(candidate, candidate.c.id == seat.c.candidate_id))
        .where(seated(connection, study_id))
        .order_by(seat.c.position, seat.c.candidate_id)
    ).scalars()
    return {str(name): number for number, name in enumerate(rows)}


def _scan(connection: sa.Connection, study_id: str) -> bool:
    """Say whether to read whole tables, leaving out other studies' rows, or to look rows up.

    A scan reads pages in order, which is far faster where most of what it reads is wanted.
    """
    place, sample = table(StudySample), table(Sample)
    count = sa.func.count
    mine = sa.select(count()).select_from(place).where(place.c.study_id == study_id)
    everything = connection.execute(sa.select(count()).select_from(sample)).scalar_one()
    return int(connection.execute(mine).scalar_one()) >= _SCAN_SHARE * everything


def _votes(connection: sa.Connection, study_id: str, answers: AnswerColumns) -> VoteColumns | None:
    """Read a study's votes; None where there is none."""
    vote = table(Preference).c
    rows = connection.execute(
        sa.select(
            vote.response_a,
            vote.response_b,
            vote.first,
            vote.verdict,
            vote.strength,
            vote.judge,
            vote.repeat,
        )
        .where(
            vote.sample_id.in_(sample_ids_of(connection, study_id)),
            *closed(connection, "preference", vote.id),
        )
        .order_by(vote.id)
    ).all()
    judges: dict[str, int] = {}
    found: list[tuple[int, ...]] = []
    for id_a, id_b, first, verdict, strength, judge, repeat in rows:
        a, b = answers.at.get(id_a), answers.at.get(id_b)
        if a is None or b is None or a == b:
            continue
        code = _VERDICTS.index(verdict) if verdict in _VERDICTS else -1
        number = judges.setdefault(judge, len(judges))
        found.append((a, b, int(first == "b"), code, strength, number, repeat))
    if not found:
        return None
    a_, b_, first_, verdict_, strength_, judge_, repeat_ = np.array(found, dtype=np.int64).T
    return VoteColumns(
        a=a_, b=b_, first=first_, verdict=verdict_, strength=strength_, judge=judge_,
        repeat=repeat_, judges=tuple(judges),
    )  # fmt: skip


def _tags_of_samples(
    connection: sa.Connection, study_id: str, places: SampleColumns
) -> Iterator[tuple[int, str, str]]:
    tag, place = table(Tag), table(StudySample)
    statement = (
        sa.select(tag.c.subject_id, tag.c.facet, tag.c.value)
        .select_from(tag.join(place, place.c.sample_id == tag.c.subject_id))
        .where(placed(connection, study_id), tag.c.subject == "sample")
    )
    for chunk in fast.chunks(connection, statement):
        for sample_id, facet, value in zip(*chunk, strict=True):
            if sample_id in places.at:
                yield places.at[sample_id], facet, value


def _tags_of_answers(
    connection: sa.Connection, study_id: str, answers: AnswerColumns
) -> Iterator[tuple[int, str, str]]:
    tag, response = table(Tag), table(Response)
    statement = (
        answers_of_study(connection, study_id)
        .add_columns(tag.c.subject_id, tag.c.facet, tag.c.value)
        .where(tag.c.subject_id == response.c.id, tag.c.subject == "response")
    )
    for chunk in fast.chunks(connection, statement):
        for response_id, facet, value in zip(*chunk, strict=True):
            if response_id in answers.at:
                yield answers.at[response_id], facet, value

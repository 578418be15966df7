"""How marks are read: what a mark may be, as one text, and the columns of many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json
import sqlalchemy as sa

from atom.records import (
    FIRMNESS_PROMPTS,
    JUDGING_STAGES,
    Checkpoint,
    MarkScale,
    Response,
    Scale,
    Study,
)
from atom.store.reading import packed as fast
from atom.store.reading.columns.answers import AnswerColumns, answers_of_study
from atom.store.reading.columns.uses import Uses
from atom.store.reading.packed import Ints
from atom.store.reading.scales import scales_within
from atom.store.schema import table
from atom.store.standing.marks import REPEATS, mark_rank
from atom.store.standing.members import read_sampling

_SCORES = (*"12345", "unscored", "failed", "not_applicable", "scored")
VALUED = 6
"""A mark on a scale that isn't our own judges': its value stands in a column of its own."""
SAID = ("", " silent")
CARRIED = ("", " own", " carried")
"""Wasn't asked; not carried; carried."""
SCALES: tuple[Scale, ...] = ("appendix_d", "firmness", "other")
"""Of the scales that a judge's marks are on, the first is the one that is shown."""
_MARKS = tuple(
    f"{score}{said}{carried} {scale}"
    for score in _SCORES
    for said in SAID
    for carried in CARRIED
    for scale in SCALES
)
"""All that a mark may be, as the one text that is read of it."""
_FAILED = _MARKS.index(f"failed {SCALES[0]}")
EACH = len(_MARKS) // len(_SCORES)
WIDTH = 5
"""Rows of an array of marks: answer, use, mark, judge, repeat; what was asked with, where that is
wanted; value (as its bits) and scale, where there are scales of others."""
_BATCH = 20
"""Chunks whose texts are looked up in one go."""


def _prompt_column() -> sa.ColumnElement[Any]:
    checkpoint = table(Checkpoint).c
    return (
        sa.cast(checkpoint.prompt, sa.Text)
        .concat(" ")
        .concat(sa.func.coalesce(sa.cast(checkpoint.sampling, sa.Text), ""))
    )


def prompts_of(connection: sa.Connection, study: Study, judge_id: str) -> list[str]:
    """Return what a judge was asked with, prompt and settings: the one that counts last."""
    column = table(Checkpoint).c
    rows = connection.execute(
        sa.select(column.prompt, column.sampling, _prompt_column())
        .where(column.judge_id == judge_id, column.repeat < REPEATS)
        .distinct()
    ).all()
    ranked = sorted(
        (mark_rank(prompt, read_sampling(sampling), study.judge_sampling), text)
        for prompt, sampling, text in rows
    )
    return [text for _, text in ranked]


def _mark_columns(connection: sa.Connection) -> tuple[sa.ColumnElement[Any], ...]:
    """Return what is read of a mark; its value and scale only where there are others' scales."""
    checkpoint = table(Checkpoint)
    value: sa.ColumnElement[Any] = sa.func.coalesce(checkpoint.c.value, -1)
    if connection.dialect.name == "sqlite":
        # Its own way of writing a number drops the last digits.
        value = sa.func.printf("%!.17g", value)
    of_others = (value, checkpoint.c.scale) if len(scales_within(connection)) > 1 else ()
    mark = sa.func.coalesce(sa.cast(checkpoint.c.score, sa.Text), checkpoint.c.state)
    said = sa.case((checkpoint.c.addressed.is_(False), SAID[1]), else_=SAID[0])
    carried = sa.case(
        (checkpoint.c.carried.is_(True), CARRIED[2]),
        (checkpoint.c.carried.is_(False), CARRIED[1]),
        else_=CARRIED[0],
    )
    stages = (checkpoint.c.prompt.startswith(f"{stage}/") for stage in sorted(JUDGING_STAGES))
    scale = sa.case(
        (checkpoint.c.prompt.in_(sorted(FIRMNESS_PROMPTS)), " firmness"),
        (sa.or_(*stages), " appendix_d"),
        else_=" other",
    )
    again = sa.case(
        (checkpoint.c.repeat > 0, sa.literal(" ").concat(sa.cast(checkpoint.c.repeat, sa.Text))),
        else_="",
    )
    return (
        checkpoint.c.response_id,
        checkpoint.c.criterion_id,
        checkpoint.c.judge_id,
        mark.concat(said).concat(carried).concat(scale).concat(again),
        *of_others,
    )


def scanned_marks(connection: sa.Connection) -> Iterator[list[pa.Array]]:
    """Read the columns of all marks of a store, in chunks."""
    checkpoint = table(Checkpoint)
    first = checkpoint.c.repeat < REPEATS
    for chunk in fast.packed(connection, checkpoint, _mark_columns(connection), first):
        yield [fast.array(column) for column in chunk]


def marks_of_study(
    connection: sa.Connection, study_id: str, prompts: Sequence[str] = ()
) -> Iterator[list[pa.Array]]:
    """Read the columns of a study's marks, in chunks.

    Args:
        prompts: what the judge was asked with; given where that is to be read, too.
    """
    checkpoint = table(Checkpoint)
    statement = (
        answers_of_study(connection, study_id)
        .add_columns(*_mark_columns(connection), *([_prompt_column()] if prompts else []))
        .where(checkpoint.c.repeat < REPEATS, checkpoint.c.response_id == table(Response).c.id)
    )
    for chunk in fast.chunks(connection, statement):
        yield [fast.array(column) for column in chunk]


def look_up_marks(
    chunks: Iterable[list[pa.Array]],
    judges: Sequence[str],
    answers: AnswerColumns,
    uses: Uses,
    scales: Sequence[MarkScale],
    prompts: Sequence[str] = (),
) -> Ints:
    """Read marks as (answer, use, mark, judge, repeat, ...), shape (5 or more, N), of any judge.

    Args:
        chunks: columns of marks, any order, other studies' among them.
        judges: ids of all judges.
        scales: all scales of the store; where there are others than ours, two more rows say what
            a mark is worth, as the bits of a float, and on which scale.
        prompts: what the judge was asked with; where they are given, a sixth row says with which.
    """
    valued = len(scales) > 1
    width = WIDTH + bool(prompts) + 2 * valued
    if not judges or not answers.ids or not uses.ids:
        return np.zeros((width, 0), dtype=np.int64)
    known = [fast.array(names) for names in (answers.ids, uses.ids, judges, _all_marks())]
    named = fast.array([scale.id for scale in scales])
    asked_with = fast.array(prompts) if prompts else None
    parts = []
    rows = iter(chunks)
    while batch := list(islice(rows, _BATCH)):
        columns = [[chunk[at] for chunk in batch] for at in range(len(batch[0]))]
        answer, use, judge_at, mark = (
            fast.look_up(column, among) for column, among in zip(columns, known, strict=False)
        )
        more = [] if asked_with is None else [fast.look_up(columns[-1], asked_with)]
        if valued:
            number = fast.numbers(columns[4], pa.float64())
            more += [number.view(np.int64), fast.look_up(columns[5], named)]
        mark = np.where(mark < 0, _FAILED, mark)
        repeat, mark = np.divmod(mark, len(_MARKS))
        part = np.stack([answer, use, mark, judge_at, repeat, *more])
        part = part[:, (part[[0, 1, 3]] >= 0).all(axis=0)]
        part = part[:, answers.sample[part[0]] == uses.sample[part[1]]]
        parts.append(part if valued else part.astype(np.int32))
    return np.concatenate([np.zeros((width, 0), dtype=np.int64), *parts], axis=1)


@lru_cache(maxsize=1)
def _all_marks() -> tuple[str, ...]:
    """Return all that a mark may be in any repeat: repeat by repeat."""
    return tuple(
        f"{mark} {repeat}" if repeat else mark for repeat in range(REPEATS) for mark in _MARKS
    )

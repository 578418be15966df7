"""A study's texts as columns, to be searched: questions, criteria, answers and judges' reasons.

All texts of a kind come in one go, in Arrow's memory; `packed` says why that is fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from atom.records import Checkpoint, Criterion, Response, Sample
from atom.records.base import Record
from atom.store.people import PEOPLE, persons
from atom.store.reading import packed as fast
from atom.store.reading.packed import Ints
from atom.store.schema import table
from atom.store.store import Store

_SCAN_SHARE = 0.25
"""A study with this share of a table's rows is read by a scan over the whole table."""
_CHUNK = 400


@dataclass(frozen=True, kw_only=True)
class DistinctTexts:
    """Texts of one kind, each different one once.

    Attributes:
        distinct: the texts, shape (D,).
        code: which text each thing has, an index into `distinct`; -1 = none.
    """

    distinct: pa.Array
    code: Ints


@dataclass(frozen=True, kw_only=True)
class StudyTexts:
    """All texts of a study that words are looked for in.

    Attributes:
        question: of each sample, shape (S,): with its choices and its reference answer.
        criterion: of each criterion, shape (C,): with its ground truth.
        answer: of each answer, shape (R,).
        reason: of each checkpoint, shape (N,): why it has its score, or why it has none.
    """

    question: DistinctTexts
    criterion: DistinctTexts
    answer: DistinctTexts
    reason: DistinctTexts


def read_texts(
    store: Store,
    judge_id: str | None,
    *,
    samples: Sequence[str],
    criteria: Sequence[str],
    answers: Sequence[str],
    response: Ints,
    criterion: Ints,
) -> StudyTexts:
    """Read the texts of a study's things.

    Args:
        judge_id: whose reasons.
        samples: ids, shape (S,).
        criteria: ids, shape (C,).
        answers: ids, shape (R,).
        response: the answer of each checkpoint, an index into `answers`, shape (N,).
        criterion: its criterion, an index into `criteria`, shape (N,).

    Returns:
        The texts, in the order of what was given.
    """
    sample, rule, answer, mark = table(Sample), table(Criterion), table(Response), table(Checkpoint)
    break_ = "\n"
    choices: Any = sample.c.choices
    for sign, plain in (('["', ""), ('"]', ""), ("[]", ""), ('","', break_)):
        choices = sa.func.replace(choices, sign, plain)
    question = sample.c.question.concat(break_).concat(choices)
    question = question.concat(break_).concat(sa.func.coalesce(sample.c.reference, ""))
    asked = rule.c.question.concat(break_).concat(rule.c.ground_truth)
    with store.read() as connection, fast.without_collector(), fast.mapped(connection):
        return StudyTexts(
            question=_texts(connection, Sample, question, samples),
            criterion=_texts(connection, Criterion, asked, criteria),
            answer=_texts(connection, Response, answer.c.text, answers),
            reason=_reasons(connection, judge_id, criteria, answers, response, criterion, mark),
        )


def _texts(
    connection: sa.Connection, record: type[Record], text: Any, ids: Sequence[str]
) -> DistinctTexts:
    """Read one text of each record."""
    key = table(record).c.id
    names, bodies = fast.arrays(_chunks(connection, record, (key, text), key, ids), 2)
    at = fast.look_up(names, fast.array(ids))
    return _shared(at, bodies, len(ids))


def _reasons(
    connection: sa.Connection,
    judge_id: str | None,
    criteria: Sequence[str],
    answers: Sequence[str],
    response: Ints,
    criterion: Ints,
    mark: sa.Table,
) -> DistinctTexts:
    """Read why each checkpoint has its score."""
    why = sa.case((mark.c.reason != "", mark.c.reason), else_=mark.c.detail)
    judges = persons(connection) if judge_id == PEOPLE else [judge_id or ""]
    columns = (mark.c.response_id, mark.c.criterion_id, why)
    chunks = _chunks(
        connection, Checkpoint, columns, mark.c.response_id, answers, mark.c.judge_id.in_(judges)
    )
    ours, theirs, bodies = fast.arrays(chunks, 3)
    size = max(len(criteria), 1)
    answer = fast.look_up(ours, fast.array(answers))
    rule = fast.look_up(theirs, fast.array(criteria))
    wanted = np.where((answer >= 0) & (rule >= 0), answer * size + rule, -1)
    return _shared(
        _find(wanted, response.astype(np.int64) * size + criterion), bodies, len(response)
    )


def _find(wanted: Ints, among: Ints) -> Ints:
    """Return where each number stands among others; -1 where it doesn't."""
    if not len(among):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(among, kind="stable")
    at = order[np.searchsorted(among, wanted, sorter=order).clip(max=len(among) - 1)]
    return np.where(among[at] == wanted, at, -1)


def _chunks(
    connection: sa.Connection,
    record: type[Record],
    columns: Sequence[Any],
    key: Any,
    ids: Sequence[str],
    *where: Any,
) -> Iterator[list[Any]]:
    """Read columns of records by an id, in chunks: by a scan where most of a table is wanted."""
    source = table(record)
    rows = connection.execute(sa.select(sa.func.count()).select_from(source)).scalar_one()
    each = 1 if record is not Checkpoint else 4
    if len(ids) * each >= _SCAN_SHARE * int(rows):
        yield from fast.packed(connection, source, columns, *where)
        return
    for start in range(0, len(ids), _CHUNK):
        part = key.in_(list(ids[start : start + _CHUNK]))
        yield from fast.chunks(connection, sa.select(*columns).where(part, *where))


def _shared(at: Ints, bodies: Sequence[pa.Array], size: int) -> DistinctTexts:
    """Keep each different text once, made ready for a search (`ready`).

    Args:
        at: whose each text is; -1 = nobody's.
        bodies: the texts, a separator after each.
        size: how many there are to have one.
    """
    code = np.full(size, -1, dtype=np.int64)
    if not len(at):
        return DistinctTexts(distinct=pa.array([], pa.large_string()), code=code)
    whole = pa.chunked_array(bodies, pa.large_string()).dictionary_encode().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    number = np.asarray(whole.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    mine = at >= 0
    code[at[mine]] = number[mine]
    return DistinctTexts(distinct=ready(pc.utf8_rtrim(whole.dictionary, "\x1f")), code=code)


def ready(texts: pa.Array) -> pa.Array:
    """Make texts alike that people hold to be the same: composed letters, small ones, one space."""
    if not pc.all(pc.string_is_ascii(texts)).as_py():
        texts = pc.utf8_normalize(texts, form="NFC")
    return pc.utf8_lower(texts)

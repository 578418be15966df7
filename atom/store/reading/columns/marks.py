"""A judge's marks that count, as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.json
import sqlalchemy as sa
from numpy.typing import NDArray

from atom.records import FAILED, NOT_APPLICABLE, UNSCORED, Judge, MarkScale, Scale, Study
from atom.store.people import PEOPLE, persons
from atom.store.reading.columns.answers import AnswerColumns
from atom.store.reading.columns.mark_columns import (
    CARRIED,
    EACH,
    SAID,
    SCALES,
    VALUED,
    WIDTH,
    look_up_marks,
    marks_of_study,
    prompts_of,
)
from atom.store.reading.columns.uses import Floats, Uses
from atom.store.reading.packed import Ints
from atom.store.reading.scales import scales_within
from atom.store.schema import table
from atom.store.standing.marks import REPEATS

_SCORE_CODES = np.array([1, 2, 3, 4, 5, UNSCORED, FAILED, NOT_APPLICABLE, VALUED], dtype=np.int8)
"""What the texts above stand for."""
_MOST_JUDGES = 12
"""Judges whose marks are read to say where they differ, those with the most first."""


@dataclass(frozen=True, kw_only=True)
class JudgeMarks:
    """Marks of one judge by answer, criterion and repeat, shape (N,)."""

    response: Ints
    use: Ints
    """Index into the uses."""
    repeat: Ints
    mark: Ints
    judge_ids: tuple[str, ...]
    """Judges that marked anything of the study, the most first."""
    scale: Scale
    left_out: int
    """Marks on an older scale that no newer one replaces."""
    value: Floats | None = None
    """What each mark is worth on its scale, 0 to 1; None where all are on our own judges'."""
    on: Ints | None = None
    """The declared scale of each mark, as an index into `scales`; None likewise."""
    scales: tuple[MarkScale, ...] = ()

    @property
    def score(self) -> NDArray[np.int8] | Floats:
        """1..5, 0 = unscored, -1 = failed, -2 = not applicable.

        A value on a scale that isn't our own judges' stands where it would on theirs, at
        `1 + 4 value`.
        """
        code = np.asarray(_SCORE_CODES[self.mark // EACH])
        if self.value is None:
            # "scored", but without a score: whatever that is, it's no mark.
            return np.where(code == VALUED, np.int8(FAILED), code)
        known = (self.value >= 0) & (self.value <= 1)
        valued = np.where(known, 1 + 4 * self.value, FAILED)
        return np.where(code == VALUED, valued, code.astype(np.float64))

    @property
    def addressed(self) -> NDArray[np.bool_]:
        """Whether the answer says anything about the step; True where the judge wasn't asked."""
        each = len(CARRIED) * len(SCALES)
        return np.asarray(self.mark // each % len(SAID) == 0)

    @property
    def carried(self) -> NDArray[np.bool_]:
        """Whether the step is wrong only because an earlier one was."""
        return np.asarray(self.mark // len(SCALES) % len(CARRIED) == CARRIED.index(" carried"))

    @property
    def carried_known(self) -> bool:
        """Whether the judge was asked which steps are carried."""
        return bool((self.mark // len(SCALES) % len(CARRIED) > 0).any())


def read_marks(
    connection: sa.Connection,
    study: Study,
    judge_id: str | None,
    answers: AnswerColumns,
    uses: Uses,
    scanned: Iterable[list[pa.Array]] | None,
) -> tuple[JudgeMarks, tuple[JudgeMarks, ...]]:
    """Read the marks that count: the newest scale's, then the newest prompt's, all its repeats.

    Args:
        scanned: all of the store's marks; None = the study's are looked up.

    Returns:
        The marks of the judge, and of the study's panel (see `StudyRows.panel`).
    """
    judge = table(Judge)
    judges = [str(name) for name in connection.execute(sa.select(judge.c.id)).scalars()]
    if study.judge_id is not None and study.judge_id not in judges:
        judges.append(study.judge_id)
    scales = scales_within(connection)
    chunks = marks_of_study(connection, study.id) if scanned is None else scanned
    found = look_up_marks(chunks, judges, answers, uses, scales)
    counts = np.bincount(found[3], minlength=len(judges))
    names = tuple(judges[at] for at in np.argsort(-counts, kind="stable") if counts[at])
    people = persons(connection)

    def asked(prompts: Sequence[str]) -> Ints:
        chunks = marks_of_study(connection, study.id, prompts)
        return look_up_marks(chunks, judges, answers, uses, scales, prompts)

    def marks_of(behind: Sequence[str | None]) -> JudgeMarks:
        parts = [
            _of_judge(connection, study, judges, judges.index(one) if one in judges else -1, found,
                      asked, len(uses.ids))
            for one in behind or [None]
        ]  # fmt: skip
        return _together(parts, names, scales, len(uses.ids))

    mine = marks_of(people if judge_id == PEOPLE else [judge_id])
    panel = [one for one in names if one not in people][:_MOST_JUDGES]
    if len(panel) < 2:
        return mine, ()
    return mine, tuple(mine if one == judge_id else marks_of([one]) for one in panel)


def _together(
    parts: Sequence[tuple[Ints, Scale, int]],
    names: tuple[str, ...],
    scales: Sequence[MarkScale],
    n_uses: int,
) -> JudgeMarks:
    """Put what `_of_judge` chose of one judge, or of several people, in the order of marks."""
    mine = np.concatenate([one for one, _, _ in parts], axis=1)
    _, scale, _ = parts[0]
    place = mine[0].astype(np.int64) * max(n_uses, 1) + mine[1]
    mine = mine[:, np.argsort(place * REPEATS + mine[4], kind="stable")]
    value, on, used = _valued(mine, scales)
    response, use, mark, _, repeat = mine[:WIDTH].astype(np.int64)
    return JudgeMarks(
        response=response,
        use=use,
        repeat=repeat,
        mark=mark,
        judge_ids=names,
        scale=scale,
        left_out=sum(left for _, _, left in parts),
        value=value,
        on=on,
        scales=used,
    )


def _of_judge(
    connection: sa.Connection,
    study: Study,
    judges: Sequence[str],
    at: int,
    found: Ints,
    asked: Callable[[Sequence[str]], Ints],
    n_uses: int,
) -> tuple[Ints, Scale, int]:
    """Choose the marks of one judge that count.

    Args:
        judges: ids of all judges.
        at: which of them; -1 = none.
        found: (answer, use, mark, judge, repeat, ...), shape (..., N), of all judges.
        asked: reads them anew with what they were asked with, in a row of its own.

    Returns:
        Its marks, in the rows of `found`; the scale that they are on; and how many criteria on
        answers have a score on an older scale alone.
    """
    mine = found[:, found[3] == at]
    several = _several(mine, n_uses)
    if several:
        again = asked(prompts_of(connection, study, judges[at]))
        mine = again[:, again[3] == at]
    mine, scale, left_out = _newest_scale(mine, n_uses)
    if several:
        mine = np.delete(_newest_prompt(mine, n_uses), WIDTH, axis=0)
    if scale == "firmness":
        # Under the old prompt a second mark may be the baseline of an experiment, made of failed
        # answers alone.
        mine = mine[:, mine[4] == 0]
    return mine, scale, left_out


def _valued(
    mine: Ints, scales: Sequence[MarkScale]
) -> tuple[Floats | None, Ints | None, tuple[MarkScale, ...]]:
    """Return marks' values and scales, and the scales that are used; nothing where all are ours."""
    if len(scales) < 2 or not mine.shape[1]:
        return None, None, ()
    number = np.maximum(mine[-1], 0)
    used = np.unique(number)
    if used.tolist() == [0]:
        return None, None, ()
    value = np.ascontiguousarray(mine[-2]).view(np.float64)
    return value, np.searchsorted(used, number), tuple(scales[at] for at in used)


def _newest_scale(found: Ints, n_uses: int) -> tuple[Ints, Scale, int]:
    """Leave out marks on older scales than the newest that any is on.

    Args:
        found: (answer, use, mark, ...), shape (..., N), of one judge.

    Returns:
        What is left, the scale it is on, and how many criteria on answers have a score on an older
        scale alone.
    """
    scored = _SCORE_CODES[found[2] // EACH] > 0
    scale = found[2] % len(SCALES)
    newest = int(scale[scored].min(initial=len(SCALES) - 1)) if scored.any() else 0
    shown = (scale == newest) | ~scored.any()
    key = _keys(found, n_uses)
    left_out = scored & ~shown & ~np.isin(key, key[shown])
    return found[:, shown], SCALES[newest], len(np.unique(key[left_out]))


def _newest_prompt(found: Ints, n_uses: int) -> Ints:
    """Keep of each criterion on each answer the marks of the prompt and settings that count.

    Args:
        found: (answer, use, mark, judge, repeat, prompt), shape (6, N), of one judge.
    """
    if not found.shape[1]:
        return found
    key = _keys(found, n_uses)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.append(True, key[order][1:] != key[order][:-1]))
    best = np.maximum.reduceat(found[5][order], starts)
    newest = np.repeat(best, np.diff(np.append(starts, len(order))))
    return np.asarray(found[:, order[found[5][order] == newest]])


def _keys(found: Ints, n_uses: int) -> Ints:
    return np.asarray(found[0].astype(np.int64) * max(n_uses, 1) + found[1])


def _several(found: Ints, n_uses: int) -> bool:
    """Say whether any criterion was marked more than once on an answer."""
    key = np.sort(_keys(found, n_uses))
    return bool((key[1:] == key[:-1]).any())

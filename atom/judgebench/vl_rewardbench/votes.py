"""VL-RewardBench: a judge's votes on pairs and grades of single answers, as matrices."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from atom.analysis.compare.votes import VOTE_NONE
from atom.analysis.intervals import Floats, Ints
from atom.judgebench.rates import INVALID, RIGHT, WRONG
from atom.judgebench.vl_rewardbench.ask import PAIR, POINT_PARTS
from atom.judgebench.vl_rewardbench.measures import (
    ABSENT,
)
from atom.records import BenchItem, Verdict

_FLAG_CODES: Final = {"agree": RIGHT, "reject": WRONG, "doesntMatch": INVALID}
_SIDE: Final = {"a": 0, "b": 1}


@dataclass(frozen=True, kw_only=True)
class JudgeVotes:
    """A judge's votes on the pairs, all asked in the same way.

    Attributes:
        items: the pairs with at least one vote, n of them.
        codes: 1 right, 0 wrong, -1 unreadable, -2 not there; shape (n, K).
        released: the same, as the released code reads the replies; shape (n, K).
        side: which answer was preferred, 0 = a, 1 = b, -1 = none; shape (n, K).
        swapped: whether b was shown first; shape (n, K).
        left_out: votes that were asked in another way, and so aren't among these.
        failed: votes whose call failed.
    """

    items: tuple[BenchItem, ...]
    codes: Ints
    released: Ints
    side: NDArray[np.int8]
    swapped: NDArray[np.bool_]
    left_out: int = 0
    failed: int = 0

    @property
    def category(self) -> list[str]:
        """Each pair's category."""
        return [str(item.data["category"]) for item in self.items]

    @property
    def counts(self) -> Ints:
        """How many votes each pair has."""
        return np.asarray((self.codes != ABSENT).sum(axis=1), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Grades:
    """A judge's grades of answers by themselves.

    Attributes:
        items: the pairs with at least one reply on either answer, n of them.
        scores: mean grade of each pair's better and worse answer over repeats; NaN = none could
            be read; shape (n, 2).
        repeats: most repeats that an answer has.
    """

    items: tuple[BenchItem, ...]
    scores: Floats
    repeats: int


def gather_votes(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> JudgeVotes:
    """Lay a judge's votes on pairs out as matrices.

    Votes that were asked in different ways (another prompt, another temperature) aren't mixed: the
    way with the most votes counts.
    """
    pairs = [one for one in verdicts if one.part == PAIR]
    told = [one for one in pairs if one.state != "failed"]
    alike = asked_alike(told)
    mine: dict[str, list[Verdict]] = {}
    for one in sorted(alike, key=lambda one: (one.repeat, one.order)):
        mine.setdefault(one.subject_id, []).append(one)
    kept = tuple(item for item in items if item.id in mine)
    most = max((len(mine[item.id]) for item in kept), default=0)
    shape = (len(kept), most)
    codes, released = np.full(shape, ABSENT, np.int64), np.full(shape, ABSENT, np.int64)
    side, swapped = np.full(shape, VOTE_NONE, np.int8), np.zeros(shape, np.bool_)
    for row, item in enumerate(kept):
        for column, one in enumerate(mine[item.id]):
            said = _SIDE.get(one.label) if one.state == "scored" else None
            right = INVALID if said is None else int(one.label == item.data["better"])
            codes[row, column] = right
            released[row, column] = _FLAG_CODES.get(str(one.data.get("flag")), right)
            side[row, column] = VOTE_NONE if said is None else said
            swapped[row, column] = one.order == "ba"
    return JudgeVotes(
        items=kept,
        codes=codes,
        released=released,
        side=side,
        swapped=swapped,
        left_out=len(told) - len(alike),
        failed=len(pairs) - len(told),
    )


def asked_alike(told: Sequence[Verdict]) -> list[Verdict]:
    """Return those verdicts that were asked in the way that most of them were."""
    kinds = Counter((one.prompt, one.sampling.key) for one in told)
    chosen = min(kinds, key=lambda kind: (-kinds[kind], kind), default=None)
    return [one for one in told if (one.prompt, one.sampling.key) == chosen]


def gather_grades(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> Grades:
    """Lay a judge's grades of single answers out, the better answer first."""
    told = [one for one in verdicts if one.part in POINT_PARTS and one.state != "failed"]
    values: dict[tuple[str, str], list[float]] = {}
    for one in asked_alike(told):
        there = values.setdefault((one.subject_id, one.part), [])
        if one.state == "scored" and one.value is not None:
            there.append(one.value)
    kept = tuple(item for item in items if any((item.id, part) in values for part in POINT_PARTS))
    scores = np.full((len(kept), 2), np.nan)
    for row, item in enumerate(kept):
        order = POINT_PARTS if item.data["better"] == "a" else POINT_PARTS[::-1]
        for column, part in enumerate(order):
            found = values.get((item.id, part), [])
            scores[row, column] = float(np.mean(found)) if found else math.nan
    return Grades(items=kept, scores=scores, repeats=max(map(len, values.values()), default=0))

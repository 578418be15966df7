"""VL-RewardBench: what a judge is asked, and how its replies are read.

A pair is put K times, in an order that is drawn and balanced; or each answer is graded alone.

Reference: VL-RewardBench 3.2 (K votes in random order, majority), 4.3 (pointwise against
pairwise); METHODS A13.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

import numpy as np

from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.judgebench.base import BenchPlan
from atom.judgebench.rates import balanced_orders
from atom.records import BenchItem, Verdict, content_id
from atom.stages.asking import make_request
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import a_text, a_whole, an_object, one_of
from atom.stages.scoring import shown
from atom.stages.verdicts import Ask, RespondentName, blank, scored, unscored

PAIR: Final = "pair"
POINT: Final = "point"
HARD_PART: Final = "hard_pair"
"""Of verdicts on a study's own pairs, which belong to the study and no benchmark."""
POINT_PARTS: Final = ("point/a", "point/b")
"""Each answer alone: the first and the second of the file."""
PAIR_PROMPT: Final = "vlrb_pair/1"
POINT_PROMPT: Final = "vlrb_point/1"
LOWEST, HIGHEST = 1, 10
"""Grades of an answer by itself."""
Order = Literal["ab", "ba"]
MOST_VOTES: Final = 100

PAIR_SCHEMA: Final = an_object(reason=a_text(800), verdict=one_of("first", "second"))
POINT_SCHEMA: Final = an_object(reason=a_text(800), score=a_whole(LOWEST, HIGHEST))
_PLACES: Final = {"first": 1, "second": 2, "1": 1, "2": 2}
_WORDS_AROUND = re.compile(r"(?:the )?(?:answer[ _]?)?(first|second|1|2)(?:[ _]?(?:answer|one))?")
_GRADE = re.compile(r"(\d{1,2})(?:\.0+)?(?:\s*/\s*10)?")


def orders_of(item_id: str, votes: int) -> tuple[Order, ...]:
    """Return in which order an item is shown in each of its votes.

    Votes come in twos, each two showing the pair in both orders; which comes first is drawn from
    the item. So any number of votes is balanced as far as it can be, and the first five of nine
    are the five that were asked before.

    Args:
        item_id: the item; the same one is always shown in the same orders.
        votes: K.

    Reference:
        METHODS A13 (balanced order: floor or ceil of K/2).
    """
    rng = np.random.default_rng(int(content_id("vl_rewardbench orders", item_id), 16))
    swapped = balanced_orders(MOST_VOTES // 2, 2, rng).ravel()[:votes]
    return tuple("ba" if swap else "ab" for swap in swapped)


@dataclass(frozen=True)
class PairWorklist:
    """All questions of VL-RewardBench to one judge.

    Args:
        plan: what is asked, and how often.
        part: what verdicts on pairs are called.
    """

    plan: BenchPlan
    part: str = PAIR
    by: RespondentName = "judge"

    def asks(self, have: Mapping[str, Verdict]) -> list[Ask]:
        """Return all questions, item by item; none builds on another."""
        del have
        asks: list[Ask] = []
        for item in self.plan.items:
            if PAIR in self.plan.parts or not self.plan.parts:
                orders = orders_of(item.id, self.plan.votes)
                asks += [self._pair(item, vote, order) for vote, order in enumerate(orders)]
            if POINT in self.plan.parts:
                asks += [
                    self._point(item, part, vote)
                    for vote in range(self.plan.votes)
                    for part in POINT_PARTS
                ]
        return asks

    def _pair(self, item: BenchItem, vote: int, order: Order) -> Ask:
        plan = self.plan
        return Ask(
            blank=blank(
                plan.set_id, item.id, self.part, plan.judge, PAIR_PROMPT, plan.sampling,
                repeat=vote, order=order,
            ),
            build=partial(build_pair, plan, item, vote, order),
            read=read_pair,
            by=self.by,
        )  # fmt: skip

    def _point(self, item: BenchItem, part: str, vote: int) -> Ask:
        plan = self.plan
        return Ask(
            blank=blank(
                plan.set_id, item.id, part, plan.judge, POINT_PROMPT, plan.sampling, repeat=vote
            ),
            build=partial(build_point, plan, item, part, vote),
            read=read_point,
        )


def worklist(plan: BenchPlan) -> PairWorklist:
    """Return what there is to ask."""
    return PairWorklist(plan)


def build_pair(plan: BenchPlan, item: BenchItem, vote: int, order: Order) -> Request:
    """Build the request that shows both answers.

    Args:
        vote: 0-based number of the vote.
        order: `ab` = as in the file, `ba` = swapped.
    """
    first, second = item.data["responses"] if order == "ab" else item.data["responses"][::-1]
    return make_request(
        PAIR_PROMPT,
        {
            "question": item.data["query"],
            "first_answer": shown(first),
            "second_answer": shown(second),
        },
        pictures=plan.pictures(item),
        sampling=plan.sampling,
        repeat=vote,
        schema=PAIR_SCHEMA,
    )


def build_point(plan: BenchPlan, item: BenchItem, part: str, vote: int) -> Request:
    """Build the request that shows one answer by itself.

    Args:
        part: `point/a` or `point/b`.
        vote: 0-based number of the vote.
    """
    answer = item.data["responses"][POINT_PARTS.index(part)]
    return make_request(
        POINT_PROMPT,
        {"question": item.data["query"], "answer": shown(answer)},
        pictures=plan.pictures(item),
        sampling=plan.sampling,
        repeat=vote,
        schema=POINT_SCHEMA,
    )


def read_pair(reply: Reply, blank: Verdict) -> Verdict:
    """Read which answer a judge prefers, by its place in the file, whatever the order shown."""
    usable = read_reply(reply, "verdict")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    stated = text_of(usable.data["verdict"])
    match = _WORDS_AROUND.fullmatch(stated.casefold().strip(" .!*\"'`[]"))
    if match is None:
        return unscored(blank, f"{one_line(stated, 60)!r} names neither answer.", reply.call.id)
    return scored(
        blank,
        reply,
        label=side_shown(_PLACES[match[1]], blank.order),
        data={"reason": one_line(text_of(usable.data.get("reason")))},
    )


def side_shown(place: int, order: str) -> str:
    """Return which answer of the file was shown in a place: 1 or 2."""
    return "ab"[place - 1] if order != "ba" else "ba"[place - 1]


def read_point(reply: Reply, blank: Verdict) -> Verdict:
    """Read the grade of an answer by itself."""
    usable = read_reply(reply, "score")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    stated = text_of(usable.data["score"])
    match = _GRADE.fullmatch(stated)
    if match is None or not LOWEST <= int(match[1]) <= HIGHEST:
        detail = f"{one_line(stated, 60)!r} is no grade from {LOWEST} to {HIGHEST}."
        return unscored(blank, detail, reply.call.id)
    return scored(
        blank,
        reply,
        value=float(match[1]),
        data={"reason": one_line(text_of(usable.data.get("reason")))},
    )

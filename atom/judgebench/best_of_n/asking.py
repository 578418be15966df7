"""Best of n: how a judge is asked to pick one of n answers, and what it picked.

By pairs, the best answer so far meets the next one, shown in both orders, in an order drawn for
each question; that takes n - 1 meetings, and the best of the first m is known on the way. By
grades, each answer is graded alone. The prompts are VL-RewardBench's, so that what a judge does
there and what its picks are worth come from the same question.

Reference: METHODS T10; VL-RewardBench 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from atom.judge.request import Request
from atom.judgebench.base import BenchPlan
from atom.judgebench.vl_rewardbench.ask import (
    PAIR_PROMPT,
    PAIR_SCHEMA,
    POINT_PROMPT,
    POINT_SCHEMA,
    read_pair,
    read_point,
)
from atom.records import BenchItem, Verdict, content_id
from atom.stages.asking import make_request
from atom.stages.scoring import shown
from atom.stages.verdicts import Ask, blank

PAIR: Final = "pair"
POINT: Final = "point"
ORDERS: Final = ("ab", "ba")

VerdictsByAnswer = Mapping[tuple[str, str], Sequence[Verdict]]
"""Verdicts that came through, by part and order."""


def meeting_order(item: BenchItem) -> tuple[int, ...]:
    """Return the order in which an item's answers meet; the same one for whoever is asked.

    Answers of the same text come once: nobody can choose between them.
    """
    texts = [str(one["text"]).strip() for one in item.data["answers"]]
    first = [texts.index(text) for text in texts]
    rng = np.random.default_rng(int(content_id("best of n order", item.id), 16))
    return tuple(int(at) for at in rng.permutation(len(texts)) if first[at] == at)


def meeting(one: int, other: int) -> str:
    """Name the part in which two answers meet, the earlier of the file first."""
    low, high = sorted((one, other))
    return f"{PAIR}/{low}/{high}"


def winner(holder: int, challenger: int, verdicts: Sequence[Verdict]) -> int:
    """Say who goes on: the challenger with more votes over both orders, else who was ahead.

    Args:
        holder: the best answer so far.
        challenger: the one that it meets.
        verdicts: of their meeting; `a` is the earlier of the file.
    """
    side = "a" if challenger < holder else "b"
    votes = [one.label for one in verdicts if one.state == "scored"]
    return challenger if votes.count(side) > len(votes) - votes.count(side) else holder


def best_so_far(item: BenchItem, found: VerdictsByAnswer, votes: int = 1) -> list[int]:
    """Return the best of the first 1, 2, ... answers by pairs, as far as it is known.

    Args:
        item: the question with its answers.
        found: one judge's verdicts on it.
        votes: how often each order must have been asked.
    """
    order = meeting_order(item)
    best = [order[0]]
    for challenger in order[1:]:
        part = meeting(best[-1], challenger)
        said = [found.get((part, order), ()) for order in ORDERS]
        if any(len(one) < votes for one in said):
            break
        best.append(winner(best[-1], challenger, [v for one in said for v in one]))
    return best


@dataclass(frozen=True)
class PickWorklist:
    """What is asked of a judge that picks: each meeting once the one before it is settled."""

    plan: BenchPlan

    def asks(self, have: Mapping[str, Verdict]) -> Sequence[Ask]:
        """Return what can be asked by now; as `Worklist` says."""
        parts = self.plan.parts or (PAIR,)
        asks: list[Ask] = []
        for item in self.plan.items:
            if PAIR in parts:
                asks += self._meetings(item, have)
            if POINT in parts:
                asks += [
                    self._ask(item, f"{POINT}/{at}", repeat, "")
                    for at in meeting_order(item)
                    for repeat in range(self.plan.votes)
                ]
        return asks

    def later(self, have: Mapping[str, Verdict]) -> int:
        """Count the meetings' questions that come once those that are open now are answered."""
        if PAIR not in (self.plan.parts or (PAIR,)):
            return 0
        each = len(ORDERS) * self.plan.votes
        return sum(
            each * (len(meeting_order(item)) - 1) - sum(1 for _ in self._meetings(item, have))
            for item in self.plan.items
        )

    def _meetings(self, item: BenchItem, have: Mapping[str, Verdict]) -> Iterator[Ask]:
        order = meeting_order(item)
        holder = order[0]
        for challenger in order[1:]:
            part = meeting(holder, challenger)
            asked = [
                self._ask(item, part, repeat, shown_as)
                for shown_as in ORDERS
                for repeat in range(self.plan.votes)
            ]
            yield from asked
            there = [have.get(one.key) for one in asked]
            if any(one is None or one.state == "failed" for one in there):
                return
            holder = winner(holder, challenger, [one for one in there if one is not None])

    def _ask(self, item: BenchItem, part: str, repeat: int, order: str) -> Ask:
        plan, pair = self.plan, part.startswith(PAIR)
        return Ask(
            blank=blank(
                plan.set_id, item.id, part, plan.judge, PAIR_PROMPT if pair else POINT_PROMPT,
                plan.sampling, repeat=repeat, order=order,
            ),
            build=partial(build, plan, item, part, repeat, order),
            read=read_pair if pair else read_point,
        )  # fmt: skip


def build(plan: BenchPlan, item: BenchItem, part: str, repeat: int, order: str) -> Request:
    """Build the request that shows two answers, or one.

    Args:
        item: the question with its answers.
        part: `pair/LOW/HIGH` or `point/AT`, by the answers' places in the file.
        repeat: which of the votes.
        order: `ab` = the earlier of the file is shown first; empty for one answer.
    """
    at = [int(place) for place in part.split("/")[1:]]
    texts: list[Any] = [shown(item.data["answers"][place]["text"]) for place in at]
    if order == "ba":
        texts.reverse()
    names = ("first_answer", "second_answer") if order else ("answer",)
    return make_request(
        PAIR_PROMPT if order else POINT_PROMPT,
        {"question": item.data["question"], **dict(zip(names, texts, strict=True))},
        pictures=plan.pictures(item),
        sampling=plan.sampling,
        repeat=repeat,
        schema=PAIR_SCHEMA if order else POINT_SCHEMA,
    )

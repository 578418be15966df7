"""The votes on one sample: who won in which order, and what both orders say together."""

from __future__ import annotations

from dataclasses import dataclass

from atom.analysis.compare.votes import PairOutcome, combine
from atom.records import Judge, PreferenceVerdict, Side
from atom.store import Store
from atom.store.standing.answers import votes_on
from atom.views.study_data import StudyData

_SIDES: tuple[Side, Side] = ("a", "b")


@dataclass(frozen=True, kw_only=True)
class OrderVote:
    """One vote in one order.

    Attributes:
        first: whose answer was shown first.
        verdict: who won; None where the vote says nothing.
        detail: why it says nothing.
        reason: the judge's words, if any were kept.
    """

    first: Side
    verdict: PreferenceVerdict | None
    detail: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PairVotes:
    """One judge's votes on one pair of answers, at most one an order.

    Attributes:
        a: the first model's name.
        a_colour: its place in the study.
        b: the second model's name.
        b_colour: its place in the study.
        judge: the judge's name; empty when the files don't say.
        orders: its votes, those with `a` shown first at the front.
        together: what both orders say.
    """

    a: str
    a_colour: int
    b: str
    b_colour: int
    judge: str
    orders: tuple[OrderVote, ...]
    together: PairOutcome

    def name(self, side: str) -> str:
        """Return the name of a side."""
        return self.a if side == "a" else self.b


def sample_votes(store: Store, data: StudyData, sample_id: str) -> tuple[PairVotes, ...]:
    """Read the votes on one sample between the study's own answers.

    Returns:
        One entry a pair, judge and repeat, in the study's order of candidates.
    """
    if data.votes is None:
        return ()
    found = votes_on(store, sample_id)
    rows = _models(data, sample_id)
    names = {judge.id: judge.name for judge in store.get_many(Judge, {v.judge for v in found})}
    groups: dict[tuple[int, int, str, str, str, int], dict[Side, OrderVote]] = {}
    for vote in sorted(found, key=lambda vote: vote.id):
        a, b = rows.get(vote.response_a), rows.get(vote.response_b)
        if a is None or b is None or vote.response_a == vote.response_b:
            continue
        one = OrderVote(
            first=vote.first, verdict=vote.verdict, detail=vote.detail, reason=vote.reason
        )
        ids = (vote.response_a, vote.response_b)
        if (a, vote.response_a) > (b, vote.response_b):
            a, b, ids, one = b, a, (ids[1], ids[0]), _turned(one)
        key = (a, b, *ids, names.get(vote.judge, vote.judge), vote.repeat)
        groups.setdefault(key, {}).setdefault(one.first, one)
    return tuple(
        PairVotes(
            a=data.candidates[a].name,
            a_colour=a,
            b=data.candidates[b].name,
            b_colour=b,
            judge=judge,
            orders=tuple(orders[side] for side in _SIDES if side in orders),
            together=combine(_verdict(orders.get("a")), _verdict(orders.get("b"))),
        )
        for (a, b, _, _, judge, _), orders in sorted(groups.items(), key=lambda pair: pair[0])
    )


def _models(data: StudyData, sample_id: str) -> dict[str, int]:
    """Return the model of each of the sample's answers."""
    at = data.sample_position[sample_id]
    table_ = data.table
    return {
        table_.response_ids[row]: int(table_.model[row])
        for row in (table_.sample == at).nonzero()[0]
    }


def _verdict(vote: OrderVote | None) -> PreferenceVerdict | None:
    return None if vote is None else vote.verdict


def _turned(vote: OrderVote) -> OrderVote:
    other: dict[str, Side] = {"a": "b", "b": "a"}
    verdict = vote.verdict if vote.verdict in (None, "tie") else other[vote.verdict or ""]
    return OrderVote(
        first=other[vote.first], verdict=verdict, detail=vote.detail, reason=vote.reason
    )

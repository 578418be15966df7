"""One item of a judge benchmark, laid open: what was shown, what is true, what judges said.

Every benchmark keeps its items' own fields; here they become one shape, so that a list, a screen
and a file can show any of them, and a figure can name the items that it is of.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from atom.judgebench.base import MetricRow
from atom.judgebench.cards import (
    CARDS,
    ERROR,
    SAYS,
    SCORER,
    Card,
    JudgeRemark,
    plain_card,
    said_plainly,
)
from atom.judgebench.multi_crit.figures import AGAINST, CONFLICT
from atom.judgebench.rates import INVALID, RIGHT, majority
from atom.records import BenchItem, Verdict

Standing = Literal["right", "wrong", "unread", "marked", "silent"]
"""`marked` = there is a number beside people's, which is neither right nor wrong; `silent` = the
judge has no verdict on it."""


@dataclass(frozen=True, kw_only=True)
class ItemStanding:
    """Where a judge stands on an item.

    Attributes:
        standing: all together.
        torn: whether two orders or votes on the same thing disagree.
        apart: the largest distance from people's number; None where there is none.
        said: everything, in order.
    """

    standing: Standing
    torn: bool
    apart: float | None
    said: tuple[JudgeRemark, ...]


def card_of(benchmark: str, item: BenchItem) -> Card:
    """Lay an item open; one that lacks its benchmark's fields shows those that it has."""
    try:
        return CARDS.get(benchmark, plain_card)(item.data)
    except (KeyError, TypeError, ValueError):  # fields of another version, or made by hand
        return plain_card(item.data)


def judged(benchmark: str, item: BenchItem, verdicts: Iterable[Verdict]) -> ItemStanding:
    """Say where one judge stands on an item.

    Args:
        benchmark: the item's benchmark.
        verdicts: one judge's on it, with what scorers said of its texts; failed calls count
            nowhere.
    """
    say = SAYS.get(benchmark, said_plainly)
    mine = [one for one in verdicts if one.state != "failed"]
    mine.sort(key=lambda one: (one.part.startswith(SCORER), one.part, one.repeat, one.order))
    return stand_of([found for one in mine for found in say(item.data, one)])


def stand_of(said: Sequence[JudgeRemark]) -> ItemStanding:
    """Say where whoever said all this stands on an item."""
    said = tuple(said)
    return ItemStanding(
        standing=_standing(said),
        torn=any(len({one.code for one in group} - {None}) > 1 for group in _by_about(said)),
        apart=max((one.apart for one in said if one.apart is not None), key=abs, default=None),
        said=said,
    )


def one_way(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Keep, of each part, the verdicts asked in the way that most of a set's were.

    Figures never mix prompts and settings; what is shown as behind them mustn't either.
    """
    ways: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for one in verdicts:
        if one.state != "failed":
            ways[_family(one.part)][one.prompt, one.sampling.key] += 1
    kept = {part: min(way, key=lambda k: (-way[k], k)) for part, way in ways.items()}
    return [
        one for one in verdicts if kept.get(_family(one.part)) == (one.prompt, one.sampling.key)
    ]


def _family(part: str) -> str:
    return part.rpartition("/")[2] if part.startswith(SCORER) else part.partition("/")[0]


def _by_about(said: Sequence[JudgeRemark]) -> list[list[JudgeRemark]]:
    groups: dict[tuple[str, str], list[JudgeRemark]] = defaultdict(list)
    for one in said:
        groups[one.verdict.part, one.about].append(one)
    return list(groups.values())


def _standing(said: Sequence[JudgeRemark]) -> Standing:
    """Bring all down to one word: right needs every thing that was asked right by majority."""
    codes = [
        int(majority(np.array([[one.code for one in group]]))[0])
        for group in _by_about([one for one in said if one.code is not None])
    ]
    if not codes:
        return "marked" if any(one.apart is not None or one.words for one in said) else "silent"
    if all(code == RIGHT for code in codes):
        return "right"
    return "unread" if all(code == INVALID for code in codes) else "wrong"


# --- any --------------------------------------------------------------------------------------


# --- VL-RewardBench ---------------------------------------------------------------------------


# --- Multi-Crit -------------------------------------------------------------------------------


# --- MM-CRITIC --------------------------------------------------------------------------------


# --- CriticBench ------------------------------------------------------------------------------


# --- calibration ------------------------------------------------------------------------------


# --- best of n --------------------------------------------------------------------------------


_ASKED_FOR: Final[Mapping[str, str]] = {
    "acc_critic": "critique",
    "critique_score": "critique",
    "correction_critique_score": "correction",
    "acc_prefer": "preference",
}
"""MM-CRITIC's figure -> what was asked of the items that it is of."""
_BY_LABEL: Final = frozenset({"criterion_accuracy", CONFLICT})
_BETWEEN: Final = "; "


def group_of(row: MetricRow, title: str = "") -> str:
    """Name the items that a figure is of, as `in_group` understands it; empty = all.

    Args:
        title: its table's: `Core: by task type` is of the items of Core alone.
    """
    group = f"{ERROR}{row.group}" if row.metric == "error_rate" and row.group else row.group
    within = title.partition(": by ")[0] if ": by " in title else ""
    parts = [group, _ASKED_FOR.get(row.metric, ""), within]
    if row.metric in _BY_LABEL:
        parts += row.label.split(AGAINST)
    return _BETWEEN.join(part for part in parts if part)


def in_group(card: Card, group: str) -> bool:
    """Say whether an item is of a group: every part of its name is one of the item's."""
    return all(part in card.groups for part in group.split(_BETWEEN))

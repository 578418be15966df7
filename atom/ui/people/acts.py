"""What a person did at their desk, as the browser tells it, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atom.methods.own_criteria import LONGEST, MOST_LINES
from atom.records import RankedAnswer
from atom.views.people.page import LabelItem


@dataclass(frozen=True, kw_only=True)
class Act:
    """What a person did.

    Attributes:
        number: counts up in the browser; an act that comes again isn't done again.
        item: the item's id.
        do: `give`, `skip`, `undo`, `go` (to the item) or `again` (take up what was skipped).
        key: the key that was pressed, for `give`.
        leaf: number of the leaf that was chosen.
        groups: numbers of answers by place, the best first, for a ranking.
        text: what was written, for `give`.
    """

    number: int
    item: str
    do: str
    key: str = ""
    leaf: int | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class LabelInput:
    """What a key press says: nothing of it is set for a skip."""

    value: float | None = None
    label: str = ""
    ranks: tuple[RankedAnswer, ...] = ()


def read_acts(value: object) -> tuple[Act, ...]:
    """Read acts as they came from the browser: untrusted; what makes no sense is left out."""
    acts = value.get("acts") if isinstance(value, Mapping) else None
    found = []
    for one in acts[:200] if isinstance(acts, list) else ():
        if not isinstance(one, Mapping) or type(one.get("n")) is not int:
            continue
        leaf, groups = one.get("leaf"), one.get("groups")
        places: list[tuple[int, ...]] = []
        for group in groups[:50] if isinstance(groups, list) else ():
            if isinstance(group, list) and all(type(at) is int for at in group):
                places.append(tuple(group))
        found.append(
            Act(
                number=one["n"],
                item=str(one.get("id", ""))[:64],
                do=str(one.get("do", ""))[:16],
                key=str(one.get("key", ""))[:16],
                leaf=leaf if type(leaf) is int else None,
                groups=tuple(places),
                text=str(one.get("text", ""))[: MOST_LINES * LONGEST * 2],
            )
        )
    return tuple(sorted(found, key=lambda act: act.number))


def preferred(item: LabelItem, number: int) -> str:
    """Say what a press means for a pair: `a` or `b` as the pair is named, `tie`, or nothing.

    Args:
        item: the pair, its answers in the order shown.
        number: 1 or 2 = the answer in that place is better; 3 = nobody can tell.
    """
    if number not in (1, 2):
        return "tie" if number == 3 else ""
    return "ab"[item.subject_id.split("/").index(item.response_ids[number - 1])]

"""The account of an import: what was read is what came in plus what was left out, by reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from atom.display import numbers
from atom.records import Import, Record

Item = Literal[
    "rows", "questions", "answers", "verdicts", "votes", "marks", "labels", "groups", "criteria",
    "judgments",
]  # fmt: skip
"""What is counted: rows of the files, and the records made of them. *Marks* are a judge's scores of
whole answers, *labels* are people's, *groups* are the labels that questions and answers are grouped
by, *judgments* are marks on criteria, whoever made them."""
ITEMS: tuple[Item, ...] = get_args(Item)
MOST_LEFT_OUT = 0.01
"""The share that may be left out before an import asks."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\d+(?:\.\d+)?")


class LeftOut(Record):
    """How many of one kind were left out for one reason."""

    reason: str
    n: int


class Tally(Record):
    """The account of one kind of thing."""

    item: Item
    read: int
    """How many the files hold, as far as they can be read."""
    came_in: int
    """How many of them the study holds now."""
    known: int = 0
    """Of those, how many it held before, unchanged."""
    left_out: tuple[LeftOut, ...] = ()

    @property
    def n_left_out(self) -> int:
        """How many were left out, for whatever reason."""
        return sum(one.n for one in self.left_out)

    @property
    def adds_up(self) -> bool:
        """Whether what was read is what came in and what was left out."""
        return self.read == self.came_in + self.n_left_out and 0 <= self.known <= self.came_in


class Account(Record):
    """What became of everything that was read."""

    tallies: tuple[Tally, ...] = ()
    accepted: tuple[str, ...] = ()
    """What made the import ask, and was accepted."""

    @property
    def adds_up(self) -> bool:
        """Whether every part of it does."""
        return all(tally.adds_up for tally in self.tallies)

    def of(self, item: Item) -> Tally:
        """Return the account of one kind of thing; of nothing where there was none."""
        return next((one for one in self.tallies if one.item == item), _nothing(item))

    @property
    def is_known(self) -> bool:
        """Whether everything that was read was there before, unchanged."""
        found = [one for one in self.tallies if one.item != "rows"]
        return bool(found) and all(one.known == one.came_in for one in found)


def _nothing(item: Item) -> Tally:
    return Tally(item=item, read=0, came_in=0)


def plain_reason(reason: str) -> str:
    """Fold a reason to its kind: names and numbers in it differ from row to row."""
    return _QUOTED.sub("…", reason)


def make_account(
    came_in: Mapping[Item, int],
    left_out: Mapping[Item, Counter[str]],
    known: Mapping[Item, int] | None = None,
) -> Account:
    """Make the account of what came in and what didn't.

    Args:
        came_in: how many of each kind.
        left_out: how many of each kind, by reason.
        known: how many of those that came in were there before.
    """
    tallies = []
    for item in ITEMS:
        reasons = left_out.get(item, Counter())
        n = came_in.get(item, 0)
        if not n and not reasons:
            continue
        tallies.append(
            Tally(
                item=item,
                read=n + sum(reasons.values()),
                came_in=n,
                known=(known or {}).get(item, 0),
                left_out=tuple(
                    LeftOut(reason=reason, n=count) for reason, count in reasons.most_common()
                ),
            )
        )
    return Account(tallies=tuple(tallies))


def too_much_left_out(account: Account, harmless: Iterable[str] = ()) -> tuple[str, ...]:
    """Say of what more was left out than may be without a question.

    Args:
        harmless: reasons that lose nothing, such as an answer that stands twice.
    """
    harmless = frozenset(harmless)
    lines = []
    for tally in account.tallies:
        lost = [one for one in tally.left_out if one.reason not in harmless]
        n = sum(one.n for one in lost)
        if n > MOST_LEFT_OUT * tally.read:
            reasons = "; ".join(f"{one.n:,}: {one.reason}" for one in lost[:3])
            share = numbers.share(n / max(1, tally.read), 1)
            lines.append(
                f"{n:,} of {tally.read:,} {tally.item} ({share}) would be "
                f"left out ({reasons}): mend the file or the column map, or accept it"
            )
    return tuple(lines)


def account_of(record: Import) -> Account | None:
    """Return the account that an import was closed with; None for imports of earlier versions."""
    return Account.model_validate_json(record.account) if record.account else None

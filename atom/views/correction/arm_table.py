"""What came of each arm as a table: for the screen, the command, its JSON and a CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from atom.display import numbers
from atom.display.estimate import Estimate
from atom.display.numbers import money
from atom.display.table import Column, Table, Value
from atom.views.correction.arm_lines import ArmLine
from atom.views.correction.form import ARM_WORDS

DONE, TRIED, FIXED, WRONG, SHARE, BAR, UNKNOWN, COST = (
    "What was done", "Tried", "Fixed", "Still wrong", "Share fixed (95 %)", "", "No result", "Cost",
)  # fmt: skip


def share_fixed(line: ArmLine) -> Estimate:
    """Return the share of answers that an arm changed: fixed ones, of right answers broken ones."""
    found = line.share.right
    value, lo, hi = found.value, found.lo, found.hi
    if line.cohort == "right":
        value, lo, hi = 1 - value, 1 - hi, 1 - lo
    return Estimate(value=value, lo=lo, hi=hi, n=found.n, samples=found.clusters, unit="share")


def arm_table(found: Sequence[ArmLine], label: str, model: str = "") -> Table[ArmLine]:
    """Table what came of arms.

    Args:
        found: an arm each, in order.
        model: who answered, for the file.
    """
    columns = (
        _datum("model", lambda _: model),
        _datum("arm", lambda line: line.share.arm),
        _datum("cohort", lambda line: line.cohort),
        _datum("trials", lambda line: line.share.trials),
        _datum("tried", lambda line: line.tried),
        _datum("fixed", lambda line: line.fixed),
        _datum("wrong", lambda line: line.wrong),
        _datum("unknown", lambda line: line.share.unknown),
        _datum("n", lambda line: line.share.right.n),
        _datum("clusters", lambda line: line.share.right.clusters),
        _datum("share", lambda line: line.share.right.value),
        _datum("lo", lambda line: line.share.right.lo),
        _datum("hi", lambda line: line.share.right.hi),
        _datum("strict", lambda line: line.share.strict),
        _datum("cost", lambda line: line.share.cost),
        Column[ArmLine](title=DONE, of=_done, width="27%"),
        Column[ArmLine](title=TRIED, of=lambda line: line.tried, number=True),
        Column[ArmLine](title=FIXED, of=lambda line: _became(line, line.fixed, "kept"),
                        number=True),
        Column[ArmLine](title=WRONG, of=lambda line: _became(line, line.wrong, "broken"),
                        number=True),
        Column[ArmLine](title=SHARE, of=_share, number=True),
        Column[ArmLine](title=BAR, of=lambda _: "", seen="screen", width="16%", broad=True),
        Column[ArmLine](title=UNKNOWN, of=lambda line: line.share.unknown, number=True,
                        term="dropped"),
        Column[ArmLine](title=COST, of=lambda line: line.share.cost, write=_money, number=True),
    )  # fmt: skip
    return Table(label=label, columns=columns, rows=found)


def _datum(name: str, of: Callable[[ArmLine], Value]) -> Column[ArmLine]:
    return Column(title="", of=of, name=name, seen="data")


def _done(line: ArmLine) -> str:
    name = ARM_WORDS[line.share.arm].name
    return f"{name}, on answers that were right" if line.cohort == "right" else name


def _became(line: ArmLine, number: int, word: str) -> str:
    return f"{number:,} {word}" if line.cohort == "right" else f"{number:,}"


def _share(line: ArmLine) -> str:
    one = share_fixed(line)
    if not one.n:
        return numbers.NONE
    ends = f" ({one.ends})" if one.ends else ""
    return f"{one.text}{' broken' if line.cohort == 'right' else ''}{ends} of {one.n:,}"


def _money(cost: float) -> str:
    return money(None if math.isnan(cost) else cost)

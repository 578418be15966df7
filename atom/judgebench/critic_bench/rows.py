"""CriticBench: what a judge did with each item, as rows that figures are made of."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from atom.judgebench.critic_bench.ask import (
    COMPARE,
    CORRECTION,
    SCORER,
    is_corrected,
)
from atom.judgebench.critic_bench.code import (
    CODE_RUN,
    OBJECTIVE_DOMAINS,
    PROGRAM_DOMAINS,
    run_codes,
    value_code,
)
from atom.judgebench.critic_bench.files import DOMAINS
from atom.judgebench.critic_bench.measures import (
    TIE,
)
from atom.judgebench.rates import INVALID, RIGHT, WRONG
from atom.records import BenchItem, Verdict

READ_AS_RELEASED: Final = "released"
"""Key of a verdict's data: the number that the released code's parser would read."""
NAN: Final = math.nan


@dataclass(frozen=True, kw_only=True)
class CriticRow:
    """What a judge did with one item in one part."""

    domain: str
    quality: str
    value: float
    """The score, or the code 1, 0, -1; NaN = couldn't be read."""
    truth: float = NAN
    """People's score."""
    released: float = NAN
    """The score under the released code's reading."""
    second: float = NAN
    """A comparison's verdict by position in the second order; `value` is that of the first."""


Rows = Sequence[CriticRow]
Grouping = tuple[str, Callable[[CriticRow], str], Sequence[str]]
BY_DOMAIN: Final[Grouping] = ("by domain", lambda row: row.domain, DOMAINS)
VerdictsByPart = Mapping[tuple[str, str, str], Sequence[Verdict]]


def sort_verdicts(verdicts: Sequence[Verdict]) -> VerdictsByPart:
    """Group verdicts by item, part (a scorer's by the part that it scored) and order."""
    groups: dict[tuple[str, str, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.state == "failed":
            continue
        part = verdict.part
        if part.startswith(SCORER):
            part = SCORER + part.rpartition("/")[2]
        groups[verdict.subject_id, part, verdict.order].append(verdict)
    return groups


def _mean(values: Sequence[float]) -> float:
    readable = [value for value in values if math.isfinite(value)]
    return sum(readable) / len(readable) if readable else NAN


def _value(verdict: Verdict) -> float:
    readable = verdict.state == "scored" and verdict.value is not None
    return float(verdict.value or 0) if readable else NAN


def _released(verdict: Verdict) -> float:
    number = verdict.data.get(READ_AS_RELEASED)
    if isinstance(number, int | float) and math.isfinite(number):
        return float(number)
    return _value(verdict)


def scores_of(items: Sequence[BenchItem], by_item: VerdictsByPart, kind: str, part: str) -> Rows:
    """Return an item's score beside people's, where both were asked for."""
    rows = []
    for item in items:
        mine = [one for one in by_item.get((item.id, part, ""), ()) if _has_verdict(one)]
        truth = item.data.get("score")
        if item.data["kind"] == kind and mine and truth is not None:
            rows.append(
                CriticRow(
                    domain=item.data["domain"],
                    quality=item.data["quality"],
                    value=_mean([_value(one) for one in mine]),
                    released=_mean([_released(one) for one in mine]),
                    truth=float(truth),
                )
            )
    return rows


def _has_verdict(verdict: Verdict) -> bool:
    """Whether a verdict was asked for; a text alone, taken in from elsewhere, holds none."""
    return verdict.state != "scored" or verdict.value is not None or bool(verdict.label)


def pairs_of(items: Sequence[BenchItem], by_item: VerdictsByPart) -> Rows:
    """Return a pair's verdicts by position, in both orders; pairs asked in one order are left."""
    rows = []
    for item in items:
        forward, backward = (
            [one for one in by_item.get((item.id, COMPARE, order), ()) if _has_verdict(one)]
            for order in ("ab", "ba")
        )
        preference = item.data.get("preference")
        if item.data["kind"] == "pair" and forward and backward:
            rows.append(
                CriticRow(
                    domain=item.data["domain"],
                    quality=item.data["quality"],
                    value=_position(forward, "ab"),
                    second=_position(backward, "ba"),
                    truth="ab".index(preference) if preference else NAN,
                )
            )
    return rows


def _position(verdicts: Sequence[Verdict], order: str) -> int:
    """Return the position that most votes name: 0, 1, 2 for neither, -1 if none can be read."""
    places = {order[0]: 0, order[1]: 1, "tie": TIE}
    said = [places[v.label] for v in verdicts if v.state == "scored" and v.label in places]
    if not said:
        return INVALID
    counts = [said.count(place) for place in (0, 1, TIE)]
    best = max(counts)
    return counts.index(best) if counts.count(best) == 1 else TIE


def corrections_of(items: Sequence[BenchItem], by_item: VerdictsByPart) -> tuple[Rows, int]:
    """Return what became of corrections that can be checked, and how many programs wait."""
    rows, waiting = [], 0
    ran = any(part == CODE_RUN for _, part, _ in by_item)
    for item in items:
        data = item.data
        mine = by_item.get((item.id, CORRECTION, ""), ())
        if not mine or data["domain"] not in OBJECTIVE_DOMAINS or not is_corrected(data):
            continue
        if data["domain"] in PROGRAM_DOMAINS:
            if not ran:
                waiting += 1
                continue
            codes = run_codes(mine, by_item.get((item.id, CODE_RUN, ""), ()))
            waiting += not codes
        else:
            codes = [
                value_code(data["truth"], one) if one.state == "scored" else INVALID for one in mine
            ]
        if codes:
            rows.append(
                CriticRow(domain=data["domain"], quality=data["quality"], value=_majority(codes))
            )
    return rows, waiting


def _majority(codes: Sequence[int]) -> int:
    right, wrong = codes.count(RIGHT), codes.count(WRONG)
    return INVALID if not right + wrong else RIGHT if right > wrong else WRONG


def grades_of(items: Sequence[BenchItem], by_item: VerdictsByPart, part: str) -> Rows:
    """Return a scorer's grades of what the judge wrote."""
    rows = []
    for item in items:
        for order in ("", "ab"):
            mine = by_item.get((item.id, SCORER + part, order), ())
            if mine:
                value = _mean([_value(one) for one in mine])
                data: Mapping[str, Any] = item.data
                rows.append(CriticRow(domain=data["domain"], quality=data["quality"], value=value))
    return rows


def by_group(rows: Rows, grouping: Grouping) -> dict[str, list[CriticRow]]:
    """Split rows, the groups in their own order, others after them, those without a name left."""
    _, name_of, order = grouping
    groups: dict[str, list[CriticRow]] = {name: [] for name in order}
    for row in rows:
        groups.setdefault(name_of(row), []).append(row)
    return {name: group for name, group in groups.items() if name and group}

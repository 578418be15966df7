"""Reads what a table says of two answers: which is better, and in which order they were shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from atom.formats.cells import to_name
from atom.records import PreferenceVerdict, Side

_FIRST = frozenset(
    {"a", "1", "first", "model_a", "model a", "model_1", "response_a", "response 1", "response_1",
     "answer1", "answer_a", "answer 1", "assistant a", "left", "a>b", "a>>b", "1>2", "chosen a"}
)  # fmt: skip
_SECOND = frozenset(
    {"b", "2", "second", "model_b", "model b", "model_2", "response_b", "response 2", "response_2",
     "answer2", "answer_b", "answer 2", "assistant b", "right", "b>a", "b>>a", "a<b", "a<<b",
     "2>1", "chosen b"}
)  # fmt: skip
_TIES = frozenset(
    {"tie", "tied", "draw", "equal", "same", "both", "neither", "c", "none", "a=b", "1=2",
     "tie (bothbad)", "both bad", "both good", "bothbad", "tie (both bad)", "even"}
)  # fmt: skip
_MUCH = frozenset({"a>>b", "b>>a", "a<<b"})
_NUMBERS = frozenset({"0", "1", "2"})
_AUTO_J = ("scenario", "label", "prompt")
"""Columns by which AutoJ's files are known; their label 0 is the first answer, 1 the second and
2 a tie (Li et al., 2024, repository GAIR-NLP/auto-j)."""


@dataclass(frozen=True, kw_only=True)
class Codes:
    """Which words of a column mean which answer, beside those that are plain."""

    first: frozenset[str] = frozenset()
    second: frozenset[str] = frozenset()
    ties: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class PairReading:
    """A verdict between two answers; without one, why."""

    verdict: PreferenceVerdict | None
    strength: int = 1
    detail: str = ""


def fold(value: object) -> str:
    """Fold a cell to the word that it is."""
    word = re.sub(r"\s+", " ", (to_name(value) or "").casefold().strip("[] ."))
    return word[1:-1] if re.fullmatch(r"\([^()]*\)", word) else word


def read_winner(value: object, names: tuple[str, str], codes: Codes) -> PairReading:
    """Read who won.

    Args:
        value: the cell.
        names: the names of whoever gave the first and the second answer.
        codes: words that mean something in this table.
    """
    word = fold(value)
    if not word:
        return PairReading(verdict=None, detail="the file holds no verdict")
    for verdict, words in _readings(names, codes):
        if word in words:
            return PairReading(verdict=verdict, strength=2 if word in _MUCH else 1)
    return PairReading(verdict=None, detail=f"the file says {(to_name(value) or '')[:80]!r}")


def _readings(
    names: tuple[str, str], codes: Codes
) -> Iterable[tuple[PreferenceVerdict, frozenset[str]]]:
    yield "a", codes.first
    yield "b", codes.second
    yield "tie", codes.ties
    one, two = (fold(name) for name in names)
    if one != two:
        yield "a", frozenset({one})
        yield "b", frozenset({two})
    given = codes.first | codes.second | codes.ties
    yield "a", _FIRST - given
    yield "b", _SECOND - given
    yield "tie", _TIES - given


def read_order(value: object) -> Side:
    """Read whose answer was shown first: `ab`, `ba`, `swapped`, true (swapped), ..."""
    word = fold(value).replace(" ", "")
    swapped = ("true", "yes", "swap", "swapped", "reverse", "reversed", "1.0")
    if word in swapped or re.match(r"(?:b|2|second)", word):
        return "b"
    return "a"


CodeKind = Literal["plain", "auto-j", "unclear"]


def kind_of_codes(values: Iterable[object], columns: Sequence[str]) -> CodeKind:
    """Say whether a column's words speak for themselves.

    Args:
        values: the column's cells.
        columns: the names of all columns.

    Returns:
        `unclear` where they are numbers among which 0 is: tables differ in what it means.
    """
    words = {word for value in values if (word := fold(value))}
    if not words or not words <= _NUMBERS or "0" not in words:
        return "plain"
    return "auto-j" if set(_AUTO_J) <= set(columns) else "unclear"

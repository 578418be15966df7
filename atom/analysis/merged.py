"""Sums that add up over parts of a study, so that whoever needs the whole never reads it at once.

A cluster lies in one part, whole: what is independent of the rest stays together. Every figure of
the Overview, the tree and the fingerprints is then a function of sums over clusters: what collects
makes a part's, `+` puts two parts' together, and what finishes them sees sums alone. A study in one
part is the usual case of it.

Reference: design/063-sums-that-add-up.md; METHODS G (closed forms).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import reduce
from operator import add
from typing import Any, Protocol, Self, TypeVar

import numpy as np


class Additive:
    """Sums of one part, as a frozen dataclass; arrays of one shape in every part.

    Numbers and arrays add up; what is true of a part is true of the whole; mappings and tuples add
    entry by entry; None is nothing.
    """

    def __add__(self, other: Self) -> Self:
        """Return the sums of both parts."""
        parts = ((one.name, getattr(self, one.name), getattr(other, one.name))
                 for one in fields(self))  # type: ignore[arg-type]  # fmt: skip
        return type(self)(**{name: _plus(mine, theirs) for name, mine, theirs in parts})


def _plus(mine: Any, theirs: Any) -> Any:
    if mine is None or theirs is None:
        return theirs if mine is None else mine
    if isinstance(mine, dict):
        shared = ((key, _plus(mine.get(key), theirs.get(key))) for key in {**mine, **theirs})
        return dict(shared)
    if isinstance(mine, tuple):
        return tuple(map(_plus, mine, theirs))
    if isinstance(mine, bool) or (isinstance(mine, np.ndarray) and mine.dtype == np.bool_):
        return mine | theirs
    return mine + theirs


S = TypeVar("S", bound=Additive)


class Adder(Protocol):
    """Has every part collected, and adds up."""

    def __call__(self, collect: Callable[..., S], *given: Any) -> S:
        """Return the sum of `collect(part, *given)` over all parts."""


def total(sums: Iterable[S]) -> S:
    """Add up the sums of one part or more."""
    return reduce(add, sums)


def of_one(part: object) -> Adder:
    """Return what adds up a single part."""
    return lambda collect, *given: collect(part, *given)

"""Finds a question again among those that stand under one id, without looking at each of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

Part = int | None
"""A hash of a part of a question; None = the file didn't say, which fits anything."""
_ANY = object()


class Namesakes:
    """The second and later questions under an id, by what they are made of.

    A question fits another if their exact parts are equal, and their open parts are equal or told
    by only one of them. The lowest number that fits is found in the same time however many there
    are: an id that stands for 100,000 questions costs no more a row than one that stands for two.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._last: dict[int, int] = {}

    def find(self, under: int, exact: int, open_parts: tuple[Part, ...]) -> int | None:
        """Return the lowest number of a question that fits; None where none does.

        Args:
            under: hash of the id.
            exact: hash of what has to be equal.
            open_parts: what either may leave untold.
        """
        ways = product(*(((_ANY,) if part is None else (part, None)) for part in open_parts))
        found = (self._numbers.get((under, exact, *way)) for way in ways)
        return min((number for number in found if number is not None), default=None)

    def next(self, under: int) -> int:
        """Return the number from which a new question under this id may be named: 2 at first."""
        return self._last.get(under, 1) + 1

    def add(self, number: int, under: int, exact: int, open_parts: tuple[Part, ...]) -> None:
        """Remember a question by its number."""
        for key in _keys(under, exact, open_parts):
            self._numbers[key] = min(self._numbers.get(key, number), number)
        self._last[under] = max(self._last.get(under, 1), number)

    def tell(
        self,
        number: int,
        under: int,
        exact: int,
        *,
        before: tuple[Part, ...],
        now: tuple[Part, ...],
    ) -> None:
        """Say what a question's untold parts are, now that another row told them."""
        for key in _keys(under, exact, before):
            if self._numbers.get(key) == number:
                del self._numbers[key]
        self.add(number, under, exact, now)


def _keys(under: int, exact: int, open_parts: tuple[Part, ...]) -> Iterator[tuple[object, ...]]:
    for way in product(*((part, _ANY) for part in open_parts)):
        yield (under, exact, *way)

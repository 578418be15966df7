"""Finds a question again among those that stand under one id, without looking at each of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from atom.formats.intake.collector import Collector
from atom.formats.intake.names import MAX_NAME, cut, short

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


AGAIN = (
    "an id stood before for another question, choices, answer or picture; both are kept, the later "
    "as `id (2)`"
)


def again_named(source_id: str, n: int) -> str:
    """Name the n-th question that stands under one id."""
    return f"{cut(source_id, MAX_NAME - 8)} ({n})"


class QuestionHashes(NamedTuple):
    """What is remembered of a question: hashes, not texts; None = the file didn't say."""

    text: int
    choices: int
    reference: int | None
    pictures: int | None
    source: int

    def is_same(self, other: QuestionHashes) -> bool:
        """Whether it is the same question, as far as both say."""
        return self.text == other.text and self._fits(other)

    def is_reworded(self, other: QuestionHashes) -> bool:
        """Whether another file has the same choices and answer under another wording."""
        return self.source != other.source and self._fits(other)

    def _fits(self, other: QuestionHashes) -> bool:
        return self.choices == other.choices and all(
            a == b or a is None or b is None
            for a, b in (
                (self.reference, other.reference),
                (self.pictures, other.pictures),
            )
        )


class QuestionName(NamedTuple):
    """How a question is called, and whether it came in before."""

    source_id: str | None
    sample_id: str
    is_new: bool


class QuestionNames:
    """Remembers an import's questions: one that stands under the id of another gets its own."""

    def __init__(self, collector: Collector) -> None:
        self._out = collector
        self._samples: dict[int, QuestionHashes] = {}
        self._namesakes = Namesakes()

    def name(
        self, place: str, source_id: str | None, sample_id: str, text: str, now: QuestionHashes
    ) -> QuestionName:
        """Look whether a question came in before, and name it otherwise where another one did."""
        known = self._samples.get(short(sample_id))
        if known is None:
            self._samples[short(sample_id)] = now
            return QuestionName(source_id, sample_id, is_new=True)
        if known.is_same(now):
            return QuestionName(source_id, sample_id, is_new=False)
        return self._among_namesakes(place, source_id or text, sample_id, now)

    def _among_namesakes(
        self, place: str, given: str, sample_id: str, now: QuestionHashes
    ) -> QuestionName:
        """Find a question among those that stand under its id, or give it a name of its own."""
        under = short(sample_id)
        known = self._samples[under]
        exact, told = hash((now.text, now.choices)), (now.reference, now.pictures)
        found = self._namesakes.find(under, exact, told)
        if found is None and known.is_reworded(now) and self._namesakes.next(under) == 2:
            # With one question under the id, it must be this one.
            self._out.tally("a question is worded otherwise in another file", place)
            return QuestionName(again_named(given, 2), sample_id, is_new=False)
        n = self._namesakes.next(under) if found is None else found
        while True:
            source_id = again_named(given, n)
            sample_id = self._out.sample_id(source_id)
            named = self._samples.get(short(sample_id))
            if named is not None and named.is_same(now):
                return QuestionName(source_id, sample_id, is_new=False)
            if named is None:
                break
            n += 1  # another question bears this very name
        self._out.tally(AGAIN, place)
        self._namesakes.add(n, under, exact, told)
        self._samples[short(sample_id)] = now
        return QuestionName(source_id, sample_id, is_new=True)

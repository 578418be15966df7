"""Finds a judge's quote in the answer that it was taken from."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property

LONG_QUOTE = 24
"""A quote of so many letters may begin or end inside a word."""

_DROPPED = frozenset(
    "*_`#~\"'\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u00b4\\$"
)
_DASHES = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2212")


@dataclass(frozen=True)
class AnswerIndex:
    """An answer, made ready for finding several quotes in it.

    Args:
        answer: the answer as it stands.
    """

    answer: str

    @cached_property
    def _folded(self) -> tuple[str, list[int]]:
        return _flatten(self.answer)

    def locate(self, quote: str) -> tuple[int, int] | None:
        """Return where a quote stands.

        Args:
            quote: what the judge says the answer says.

        Returns:
            Start and end in the answer: the first place where it stands letter by letter, else
            the first where it does but for white space, case, quotation marks, kinds of dash and
            markdown; None when there is no such place. A short quote must not begin or end inside
            a word or number: the 5 of 15 is no evidence for 5.
        """
        quote = quote.strip()
        if not quote:
            return None
        exact = _find(self.answer, quote)
        if exact is not None:
            return exact, exact + len(quote)
        wanted, _ = _flatten(quote.removeprefix("...").removesuffix("...").strip("\u2026 "))
        wanted = wanted.strip()
        if not any(character.isalnum() for character in wanted):
            return None
        flat, places = self._folded
        start = _find(flat, wanted)
        if start is None:
            return None
        return places[start], places[start + len(wanted) - 1] + 1


def _find(text: str, wanted: str) -> int | None:
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if len(wanted) >= LONG_QUOTE or (_border(text, at) and _border(text, end)):
            return at
        at = text.find(wanted, at + 1)
    return None


def _border(text: str, at: int) -> bool:
    """Whether no word or number goes on across this place."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before.isalnum() and after.isalnum():
        return False
    if before in ".," and at >= 2 and text[at - 2].isdigit() and after.isdigit():
        return False
    return not (
        after in ".," and before.isdigit() and at + 1 < len(text) and text[at + 1].isdigit()
    )


def _flatten(text: str) -> tuple[str, list[int]]:
    """Fold a text; with it, for each letter of the result, its place in the text."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character in _DROPPED:
            continue
        if character.isspace():
            if letters and letters[-1] != " ":
                letters.append(" ")
                places.append(place)
            continue
        if character in _DASHES:
            character = "-"
        folded = character.casefold()
        if not character.isascii():
            folded = unicodedata.normalize("NFKC", character).casefold()
        letters.extend(folded)
        places.extend([place] * len(folded))
    return "".join(letters), places

"""What a text tells of a truth: its words, its numbers, yes or no."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from atom.records import Sample
from atom.stages.texts.options import plain
from atom.stages.texts.wording import TextNumber, Token, Value, Wording, read_wording

LeakKind = Literal["number", "words", "phrase", "option", "letter", "alternative", "yes or no"]
NOVEL_SHARE: Final = 0.6
"""This share of a truth's own words, and the text gives it away."""
_FIRST_RARE: Final = 13
"""A number in words from here on is a value; smaller ones count things, too: the two bars."""
_LONGEST_SHOWN: Final = 60
_YES: Final = frozenset(("yes", "true"))
_NO: Final = frozenset(("no", "false"))
_SAYS_YES: Final = re.compile(
    r"\b(?:yes|yeah|yep|affirmative|indeed)\b"
    r"|\b(?:is|are|be|that's|it's|answer) (?:true|correct)\b",
    re.I,
)
_SAYS_NO: Final = re.compile(
    r"\b(?:nope|false|negative)\b|\bno\b(?=\s*(?:[.,;:!'\")]|$))"
    r"|\b(?:is|are|be|that's|it's) (?:incorrect|not true)\b|\b(?:say|says|answer|answer is) no\b",
    re.I,
)
_HEDGE: Final = frozenset(
    (
        "about", "around", "roughly", "nearly", "almost", "approximately", "over", "under",
        "above", "below", "exceeds", "exceeding", "beyond", "approaching",
    )
)  # fmt: skip
_HEDGE_PAIRS: Final = frozenset(
    (
        "more than", "less than", "fewer than", "greater than", "larger than", "smaller than",
        "higher than", "lower than", "at least", "at most", "close to", "up to",
        "shy of", "short of", "south of", "north of",
    )
)  # fmt: skip
_CLOCK_WORDS: Final = re.compile(
    r"\bo'?\s?clock\b|\b(?:half|quarter)\s+(?:past|to|after|before|till)\b|\b(?:noon|midnight|midday)\b"
    r"|\b(?:five|ten|twenty|twenty[- ]five)\s+(?:minutes\s+)?(?:past|to|before|till)\s+"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b",
    re.I,
)
_LABELS: Final = frozenset(("picture", "image", "photo", "figure", "panel", "frame", "step"))
_ENUMERATOR: Final = re.compile(r"^[ \t]*[(\[]?([0-9]{1,2})[.):\]](?=\s)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that a text gives away.

    Args:
        what: the words of the text, or of the truth.
    """

    kind: LeakKind
    what: str

    def __str__(self) -> str:
        """Return it as a part of a sentence: `number "42"`."""
        return f'{self.kind} "{self.what}"'


def words_beside_numbers(text: Wording) -> list[Token]:
    """Return a text's content words of over three letters that belong to no number."""
    inside = {at for number in text.numbers for at in range(number.first, number.last + 1)}
    return [
        token
        for at, token in enumerate(text.tokens)
        if at not in inside and token.content and token.text.isalpha() and len(token.text) > 3
    ]


def shown(text: str) -> str:
    """Shorten words for a message, on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_SHOWN else flat[: _LONGEST_SHOWN - 1] + "…"


@dataclass(frozen=True, slots=True)
class KnownContent:
    """What is said already."""

    stems: frozenset[str]
    values: frozenset[Value]
    readings: tuple[Wording, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> KnownContent:
        """Read what is said already."""
        return _known(tuple(text for text in texts if text))

    def holds(self, stems: Sequence[str]) -> bool:
        """Whether one of the texts holds these stems side by side."""
        return any(place_of(reading.stems, stems) is not None for reading in self.readings)


@lru_cache(maxsize=1024)
def _known(texts: tuple[str, ...]) -> KnownContent:
    readings = tuple(read_wording(text) for text in texts)
    return KnownContent(
        stems=frozenset(stem for reading in readings for stem in reading.stems),
        values=frozenset(value for reading in readings for value in reading.values),
        readings=readings,
    )


def find_told(said: Wording, truth: str, known: KnownContent) -> list[Leak]:
    """Find a truth's own words and numbers in a text."""
    true = read_wording(truth)
    side = yes_or_no(truth)
    if side is not None:
        match = (_SAYS_YES if side == "yes" else _SAYS_NO).search(said.plain)
        if match is None and plain(truth) != "no":
            match = re.search(rf"\b{plain(truth)}\b", said.plain, re.I)
        return [Leak("yes or no", match.group())] if match else []
    leaks = []
    new_values = true.values - known.values
    for number in said.numbers:
        if number.values & new_values:
            leaks.append(Leak("number", written(said, number)))
            break
    leaks += _ranges(said, true, known)
    counted = {at for n in true.numbers for at in range(n.first, n.last + 1)}
    novel = {
        token.stem
        for at, token in enumerate(true.tokens)
        if token.content and token.stem not in known.stems and at not in counted
    }
    held = novel & set(said.stems)
    if novel and len(held) >= NOVEL_SHARE * len(novel) and not _only_a_unit(true, novel):
        words = [token.text for token in said.tokens if token.stem in held]
        leaks.append(Leak("words", shown(" ".join(dict.fromkeys(words)))))
    leaks += _phrases(said, true, known)
    return leaks


def _ranges(said: Wording, true: Wording, known: KnownContent) -> list[Leak]:
    """Find a range around a number of the truth that isn't known as a range."""
    for low, high in pairwise(said.numbers):
        joint = [token.text for token in said.tokens[low.last + 1 : high.first]]
        before = said.tokens[low.first - 1].text if low.first else ""
        gap = said.plain[said.tokens[low.last].end : said.tokens[high.first].start].strip()
        joined = joint == ["to"] or gap == "-" or (joint == ["and"] and before == "between")
        if not joined or known.holds(said.stems[low.first : high.last + 1]):
            continue
        ends = dict(sorted(low.values))
        for kind, value in true.values:
            if kind in ends and any(k == kind and ends[kind] <= value <= v for k, v in high.values):
                first, last = said.tokens[low.first].start, said.tokens[high.last].end
                return [Leak("number", said.plain[first:last])]
    return []


def _only_a_unit(true: Wording, novel: set[str]) -> bool:
    """Whether a number is what's asked, and the words beside it are its unit or a bare sign."""
    return bool(true.numbers) and len(novel) <= 1 and true.tokens[0].numeral


def _phrases(said: Wording, true: Wording, known: KnownContent) -> list[Leak]:
    """Find the whole truth, or three of its content words in a row, where they're not known so."""
    whole = true.stems
    content = [token.stem for token in true.tokens if token.content]
    if len(content) < 2:
        return []
    if place_of(said.stems, whole) is not None and not known.holds(whole):
        return [Leak("phrase", shown(true.plain))]
    spoken = [token.stem for token in said.tokens if token.content]
    told = [[t.stem for t in reading.tokens if t.content] for reading in known.readings]
    for at in range(len(content) - 2):
        three = content[at : at + 3]
        if place_of(spoken, three) is not None and all(place_of(t, three) is None for t in told):
            return [Leak("phrase", " ".join(three))]
    return []


def place_of(stems: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Return where a run of stems begins in another, or None."""
    size = len(wanted)
    return next(
        (
            at
            for at in range(len(stems) - size + 1)
            if all(stems[at + step] == wanted[step] for step in range(size))
        ),
        None,
    )


def written(said: Wording, number: TextNumber) -> str:
    """Return a number as the text writes it."""
    return said.plain[said.tokens[number.first].start : said.tokens[number.last].end]


def yes_or_no(truth: str) -> Literal["yes", "no"] | None:
    """Return which of the two a truth is; None where it is neither."""
    word = plain(truth)
    return "yes" if word in _YES else "no" if word in _NO else None


def find_new_numbers(said: Wording, known: KnownContent, truths: Sequence[str]) -> list[Leak]:
    """Find numbers that are neither known nor a way of counting things: rounded, near, ranges."""
    if _CLOCK_WORDS.search(said.plain) and any(
        kind == "time" for truth in truths for kind, _ in read_wording(truth).values
    ):
        match = _CLOCK_WORDS.search(said.plain)
        if match and not any(_CLOCK_WORDS.search(r.plain) for r in known.readings):
            return [Leak("number", match.group())]
    listed = _enumerators(said)
    for number in said.numbers:
        if number.values & known.values or number.first in listed:
            continue
        ordinal = all(kind == "ordinal" for kind, _ in number.values)
        if ordinal and number.least < _FIRST_RARE:
            continue
        if number.numeral or number.least >= _FIRST_RARE or _is_bound(said, number):
            return [Leak("number", written(said, number))]
    return []


def _enumerators(said: Wording) -> set[int]:
    """Return the tokens that number the lines of a list: 1, 2, 3, each at a line's beginning."""
    places = {match.start(1): int(match.group(1)) for match in _ENUMERATOR.finditer(said.plain)}
    values = list(places.values())
    if len(values) < 2 or values != list(range(1, len(values) + 1)):
        return set()
    return {at for at, token in enumerate(said.tokens) if token.start in places}


def without_labels(said: Wording, sample: Sample) -> Wording:
    """Leave out numbers that name a picture or a step: picture 2, step 1."""
    most = {label: max(len(sample.pictures), 1) for label in _LABELS} | {"step": 9}

    def is_label(number: TextNumber) -> bool:
        if number.first == 0:
            return False
        label, token = said.tokens[number.first - 1], said.tokens[number.first]
        beside = said.plain[label.end : token.start].isspace()
        return beside and 1 <= number.least <= most.get(label.text.removesuffix("s"), 0)

    return replace(said, numbers=tuple(n for n in said.numbers if not is_label(n)))


def _is_bound(said: Wording, number: TextNumber) -> bool:
    """Whether words make a bound or an estimate of a number: more than six, about six."""
    before = [token.text for token in said.tokens[max(number.first - 2, 0) : number.first]]
    if not before:
        return False
    return before[-1] in _HEDGE or " ".join(before) in _HEDGE_PAIRS

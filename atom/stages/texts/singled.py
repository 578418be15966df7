"""Whether a text singles out one of several: an option, an alternative, a letter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_uppercase
from typing import Final

from atom.records import Sample
from atom.stages.texts.options import reference_option
from atom.stages.texts.told import (
    Leak,
    LeakKind,
    place_of,
    shown,
    words_beside_numbers,
    written,
    yes_or_no,
)
from atom.stages.texts.wording import Token, Value, Wording, read_wording

_WHICH: Final = frozenset(("which", "whether", "either", "between", "among"))
_CLAUSES: Final = frozenset(
    (
        "which", "what", "who", "whose", "how", "where", "when", "why", "is", "are", "does", "do",
        "say", "give", "name", "list", "tell", "find", "by", "in",
    )
)  # fmt: skip
"""A part of a sentence that begins so is a clause, not one of several things."""
_ASKING: Final = frozenset(
    ("find", "look", "see", "read", "name", "say", "give", "list", "show", "tell", "check")
)
_NTH: Final = (
    "(?:first|second|third|fourth|fifth|sixth|last|final|top|bottom|middle"
    "|[0-9]{1,2}(?:st|nd|rd|th))"
)
_PLACED: Final = re.compile(
    rf"\b{_NTH}(?:[- ](?:and[- ])?(?:last|to last))?\s+(?:listed\s+|given\s+|offered\s+|answer\s+)?"
    rf"(?:option|choice|alternative|answer|candidate|one (?:listed|offered|given))s?\b"
    rf"|\b{_NTH}\s+(?:one\s+)?(?:of|in|on|among)\s+(?:the\s+)?(?:\w+\s+)?"
    r"(?:options|choices|alternatives|answers|list)\b"
    r"|\b(?:option|choice|alternative|answer)\s*+(?:number|no\.?|nr\.?|#)\s*+\w+"
    r"|\b(?:option|choice|alternative)\s*+#?\s*+(?:[0-9]{1,2}|one|two|three|four|five|six|seven|eight"
    r"|ii|iii|iv|v|vi)\b",
    re.I,
)
_NAMED_LETTER: Final = re.compile(
    r"\b(?:option|choice|answer|alternative|letter|pick|choose|select|tick|mark)s?\b"
    r"(?:\s+(?:is|was|be|would be|should be))?\s*+[:=]?\s*+['\"(\[<]*+([A-Z])\b(?!')",
    re.I,
)
_BRACKETED: Final = re.compile(r"[(\[<{'\"]\s?([A-Za-z])\s?[)\]>}'\"]|(?<![\w'])([A-Za-z])\)")
_BARE: Final = re.compile(r"(?<![\w'])([A-Z])(?![\w'])")
_ARTICLE: Final = re.compile(r"\s+[a-z]")


@dataclass(frozen=True, slots=True)
class _Group:
    """Things among which a question lets choose, and the words in which they're listed."""

    members: tuple[str, ...]
    listings: tuple[tuple[str, ...], ...] = ()
    closed: bool = True
    """Whether the result must be one of them, so that leaving one out tells, too."""


def find_option(
    said: Wording, sample: Sample, question: str, *, named_is_known: bool
) -> list[Leak]:
    """Find the one option that a text names, or leaves out.

    Args:
        question: what the text is about.
        named_is_known: whether an option may be named that the sample's question names itself.
    """
    questions = (sample.question, question)
    members = tuple(dict.fromkeys(choice for choice in sample.choices if choice.strip()))
    listings = tuple(
        listing.stems
        for asked in questions
        for listing in _listings(asked)
        if sum(_in(read_wording(listing.text), member) for member in members) > 1
    )
    leaks = _singled(said, _Group(members, listings), questions, "option")
    if named_is_known and leaks:
        asked_for = _singled(read_wording(sample.question), _Group(members, listings), (), "option")
        return [leak for leak in leaks if leak not in asked_for]
    return leaks


def find_alternatives(said: Wording, truth: str, questions: Sequence[str]) -> list[Leak]:
    """Find the one alternative that a text names, where a question offers the truth among some."""
    leaks = []
    for group in alternatives_of(truth, questions):
        leaks += _singled(said, group, questions, "alternative")
    numbers = _number_group(truth, questions)
    if numbers is not None:
        leaks += _singled(said, numbers, questions, "alternative")
    return leaks


def find_echo(said: Wording, truth: str, sample: Sample, question: str) -> list[Leak]:
    """Find a result that the question holds in another role, said apart from it.

    The question speaks of a green cube, and its result is a cube: the hint may speak of the green
    cube, and not of a cube.
    """
    questions = (sample.question, question)
    if sample.choices and reference_option(truth, sample.choices) is not None:
        return []
    if yes_or_no(truth) or alternatives_of(truth, questions) or _number_group(truth, questions):
        return []
    group = _Group((truth,))
    if _mention(said, _without_copies(said, group, questions), truth) is None:
        return []
    return [Leak("words", shown(truth))]


def _number_group(truth: str, questions: Sequence[str]) -> _Group | None:
    """Return the numbers of a question of which the truth is one, if there are several."""
    true = read_wording(truth)
    if not true.numbers or words_beside_numbers(true):
        return None
    for question in questions:
        reading = read_wording(question)
        members: dict[frozenset[Value], str] = {}
        for number in reading.numbers:
            if any(kind != "ordinal" for kind, _ in number.values):
                members.setdefault(number.values, written(reading, number))
        if len(members) > 1 and any(values & true.values for values in members):
            return _Group(tuple(members.values()), closed=False)
    return None


def _singled(said: Wording, group: _Group, questions: Sequence[str], kind: LeakKind) -> list[Leak]:
    """Find whether a text names exactly one member of a group, or, of three or more, all but one.

    A listing that is copied from the question names all of its members, hence none. Neither does a
    thing of the question that bears a member's name: the red sphere, where red is an option.
    """
    if len(group.members) < 2:
        return []
    free = _without_copies(said, group, questions)
    named: list[str] = []
    for member in sorted(group.members, key=lambda m: -len(read_wording(m).tokens)):
        where = _mention(said, free, member)
        if where is not None:
            named.append(member)
            free = free - where
    if len(named) == 1:
        return [Leak(kind, shown(named[0]))]
    if group.closed and len(group.members) > 2 and len(named) == len(group.members) - 1:
        (left,) = set(group.members) - set(named)
        return [Leak(kind, f"all but {shown(left)}")]
    return []


def _without_copies(said: Wording, group: _Group, questions: Sequence[str]) -> frozenset[int]:
    """Return the tokens of a text that aren't copied from a question in another role."""
    free = set(range(len(said.tokens)))
    stems = said.stems
    for listing in group.listings:
        for at in range(len(stems) - len(listing) + 1):
            if stems[at : at + len(listing)] == listing:
                free -= set(range(at, at + len(listing)))
    own = {stem for member in group.members for stem in read_wording(member).stems}
    for question in questions:
        for piece in _beside(read_wording(question), group.listings):
            for start, size in _shared_runs(stems, piece):
                run = range(start, start + size)
                if any(_names(said.tokens[at]) and stems[at] not in own for at in run):
                    free -= set(run)
    return frozenset(free)


def _names(token: Token) -> bool:
    """Whether a word helps to name a thing: not every verb of a question does."""
    return token.content and token.text not in _ASKING


def _beside(question: Wording, listings: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return a question's stems outside of the listings."""
    pieces = [question.stems]
    for listing in listings:
        cut: list[tuple[str, ...]] = []
        for piece in pieces:
            at = place_of(piece, listing)
            cut += [piece] if at is None else [piece[:at], piece[at + len(listing) :]]
        pieces = cut
    return [piece for piece in pieces if len(piece) > 1]


def _shared_runs(stems: Sequence[str], piece: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest runs of two or more stems that a text shares with a piece of another."""
    runs, at = [], 0
    while at < len(stems):
        best = 0
        for begin in range(len(piece)):
            size = 0
            while (
                at + size < len(stems)
                and begin + size < len(piece)
                and stems[at + size] == piece[begin + size]
            ):
                size += 1
            best = max(best, size)
        if best > 1:
            runs.append((at, best))
        at += max(best, 1)
    return runs


def _mention(said: Wording, free: frozenset[int], member: str) -> frozenset[int] | None:
    """Return the tokens that name a member, or None."""
    reading = read_wording(member)
    if reading.numbers and not words_beside_numbers(reading):
        for number in said.numbers:
            run = frozenset(range(number.first, number.last + 1))
            if run <= free and number.values & reading.values:
                return run
        return None
    wanted = tuple(token.stem for token in reading.tokens)
    if not wanted:
        return None
    for at in range(len(said.tokens) - len(wanted) + 1):
        run = frozenset(range(at, at + len(wanted)))
        if run <= free and said.stems[at : at + len(wanted)] == wanted:
            if len(wanted) == 1 and len(reading.plain) == 1:
                written = said.plain[said.tokens[at].start : said.tokens[at].end]
                if written != reading.plain:
                    continue  # a one-letter option in its own case only
            return run
    return None


def _in(text: Wording, member: str) -> bool:
    return _mention(text, frozenset(range(len(text.tokens))), member) is not None


def alternatives_of(truth: str, questions: Sequence[str]) -> list[_Group]:
    """Return the listings of the questions that hold the truth as one of their items."""
    wanted = read_wording(truth).stems
    groups = []
    for question in questions:
        for listing in _listings(question):
            members = listing.members(len(wanted))
            if wanted and any(read_wording(member).stems == wanted for member in members):
                groups.append(_Group(tuple(dict.fromkeys(members)), (listing.stems,)))
    return groups


@dataclass(frozen=True, slots=True)
class _Listing:
    """Several things that a question lists.

    Args:
        text: the listing as it's written.
        items: the words of each item.
    """

    text: str
    items: tuple[tuple[str, ...], ...]

    @property
    def stems(self) -> tuple[str, ...]:
        """The stems of the whole listing."""
        return read_wording(self.text).stems

    def members(self, size: int) -> list[str]:
        """Return its items, the outer ones cut to a size: `Does it rise`, `fall in May`."""
        first, *middle, last = self.items
        cut = (first[-size:], *middle, last[:size])
        return [" ".join(words) for words in cut]


@lru_cache(maxsize=1024)
def _listings(question: str) -> tuple[_Listing, ...]:
    """Return the listings of a question.

    `A or B`; `A, B, C`, with or without a last "and" or "or"; `which of A and B`.
    """
    reading = read_wording(question)
    tokens = reading.tokens
    found: list[_Listing] = []
    items: list[tuple[int, int]] = []
    joints: list[str] = []
    begin = 0

    def close(end: int) -> None:
        if end > begin:
            items.append((begin, end))
        if len(items) > 1 and _is_listing(reading, items, joints):
            start, stop = tokens[items[0][0]].start, tokens[items[-1][1] - 1].end
            words = tuple(
                tuple(reading.plain[token.start : token.end] for token in tokens[slice(*item)])
                for item in items
            )
            found.append(_Listing(reading.plain[start:stop], words))
        items.clear()
        joints.clear()

    for at, token in enumerate(reading.tokens):
        between = reading.plain[reading.tokens[at - 1].end : token.start] if at else ""
        if re.search(r"[.?!;:()\[\]]", between) and at:
            close(at)
            begin = at
        elif "," in between:
            if at > begin:
                items.append((begin, at))
                joints.append(",")
            begin = at
        if token.text in ("or", "and"):
            if at > begin:
                items.append((begin, at))
                joints.append(token.text)
            elif joints:
                joints[-1] = token.text
            begin = at + 1
    close(len(reading.tokens))
    return tuple(found)


def _is_listing(reading: Wording, items: Sequence[tuple[int, int]], joints: Sequence[str]) -> bool:
    """Whether items are alternatives, and not the clauses of a sentence."""
    openers = {reading.tokens[start].text for start, _ in items[1:]}
    if openers & _CLAUSES:
        return False
    if "or" in joints:
        return True
    first = {token.text for token in reading.tokens[slice(*items[0])]}
    lengths = [end - start for start, end in items[1:-1]]
    return bool(first & _WHICH and "and" in joints and len(items) == 2) or (
        len(items) > 2 and max(lengths) <= 4
    )


def find_letters(said: Wording, sample: Sample) -> list[Leak]:
    """Find options that a text names by letter or by place."""
    letters = ascii_uppercase[: len(sample.choices)]
    placed = _PLACED.search(said.plain)
    if placed:
        return [Leak("letter", placed.group())]
    own = set(_BARE.findall(" ".join((sample.question, *sample.choices))))
    named: dict[str, str] = {}
    for match in _NAMED_LETTER.finditer(said.plain):
        letter = match.group(1)
        if letter.isupper() or not _ARTICLE.match(said.plain, match.end()):
            named.setdefault(letter.upper(), match.group())
    for match in _BRACKETED.finditer(said.plain):
        letter = match.group(1) or match.group(2)
        if letter not in own:
            named.setdefault(letter.upper(), match.group())
    for match in _BARE.finditer(said.plain):
        letter = match.group(1)
        article = letter == "A" and _ARTICLE.match(said.plain, match.end())
        if letter not in own and letter != "I" and not article:
            named.setdefault(letter, letter)
    told = {letter: words for letter, words in named.items() if letter in letters}
    if not told or len(told) == len(letters):
        return []
    return [Leak("letter", words) for words in told.values()][:1]

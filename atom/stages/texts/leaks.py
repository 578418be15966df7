"""Leak gates: whether a text that should only guide gives a result away.

A text leaks when it adds a word or number of a ground truth or of the final answer that the
question and its options don't hold already, or when it singles out one of the options, or one of
the alternatives or numbers among which the question lets choose. Spelling is no way around it:
number words, other scripts' digits, roman numerals, spelled-out letters and invisible signs are
read as what they mean. Other *words* for a result, a ball for a sphere, pass: that's what the
behavioural gate is for (`blind`).

Reference: ATOM 3.5 (ground truth is masked); METHODS B16.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from string import ascii_uppercase
from typing import Final, Literal

from atom.records import Criterion, Sample
from atom.stages.texts.options import plain, reference_option
from atom.stages.texts.wording import Number, Token, Value, Wording, read_wording

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
_POLAR: Final = re.compile(
    r"\s*(?:and |so |now |then )?(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would"
    r"|should|must|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|can't|won't)\b",
    re.I,
)
_TAG: Final = re.compile(
    r",\s*(?:right|correct|true|yes|no"
    r"|(?:is|are|was|were|do|does|did|has|have|can|will)(?:n't)?\s+(?:it|they|there|he|she|this|that))"
    r"\s*\?\s*$"
    r"|^\s*(?:isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|can't|won't)\b"
    r"|^\s*is it (?:not|true|correct)\b",
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


@dataclass(frozen=True, slots=True)
class _Secret:
    """A result that must not be said, and the text in which it may be looked for by its seeker."""

    truth: str
    question: str


def find(
    text: str,
    *,
    sample: Sample,
    truths: Sequence[str | Criterion] = (),
    final: str | None = None,
    question: str = "",
    near: bool = True,
    apart: bool = False,
) -> tuple[Leak, ...]:
    """Find what a text gives away.

    Args:
        text: the hint or feedback.
        sample: the question; what it and its options hold is known already.
        truths: what must not be said. A criterion brings its own question, whose words tell nothing
            new about its truth; a plain text is taken with `question`.
        final: the known final answer; None takes the sample's reference.
        question: the question that the text is about.
        near: whether to be strict, as with a hint: where a truth is a number, every new number
            counts, as it may be a rounded one; and a result of `question` or the final answer that
            the questions name in another role must not be said apart from that role.
        apart: whether that last rule holds for every truth.

    Returns:
        The leaks, none twice, in no more than one of each kind for each truth; empty = clean.
    """
    answer = sample.reference if final is None else final
    secrets = [
        _Secret(truth.ground_truth, truth.question)
        if isinstance(truth, Criterion)
        else _Secret(truth, question)
        for truth in truths
    ]
    if answer is not None and answer.strip():
        secrets.append(_Secret(_final_text(sample, answer), ""))
    said = _without_labels(read_wording(text), sample)
    given = (sample.question, *sample.choices)
    leaks: list[Leak] = []
    for secret in secrets:
        known = _Known.of((*given, secret.question, question))
        told = _told(said, secret.truth, known)
        leaks += told
        leaks += _alternatives(said, secret.truth, (sample.question, question))
        if not told and (apart or (near and secret.question in ("", question))):
            leaks += _echo(said, secret.truth, sample, question)
    if near and any(read_wording(secret.truth).values for secret in secrets):
        known = _Known.of((*given, question, *(secret.question for secret in secrets)))
        leaks += _new_numbers(said, known, [secret.truth for secret in secrets])
    if sample.choices:
        leaks += _option(said, sample, question, named_is_known=not near)
        leaks += _letters(said, sample)
    return tuple(dict.fromkeys(leaks))


def gives_away(criterion: Criterion, sample: Sample | None = None) -> str:
    """Tell whether a criterion's own question holds its answer.

    Args:
        sample: its sample; what its question and options hold is no news.

    Returns:
        The reason; empty when the question keeps its answer to itself. A question that lets choose
        among alternatives may name the answer among them. One that is answered by yes gives it
        away by asking: it says what is the case.
    """
    question, truth = criterion.question, criterion.ground_truth
    sides = _yes_or_no(truth)
    polar = _POLAR.match(question.replace("’", "'")) is not None
    if sides == "yes" and (polar or _TAG.search(question.replace("’", "'"))):
        return "the question says what is the case and is answered by yes"
    if sides == "no" and _TAG.search(question.replace("’", "'")):
        return "the question suggests its answer"
    if sides is not None or _alternatives_of(truth, (question,)):
        return ""
    asked, true = read_wording(question), read_wording(truth)
    words = [token for token in true.tokens if token.content]
    stems = set(asked.stems)
    if words and all(token.stem in stems or token.numeral for token in words):
        numbers = [number for number in true.numbers if number.values & asked.values]
        if len(numbers) == len(true.numbers) and (polar or _new_to(true, sample)):
            return f"the question holds its answer, {_shown(truth)!r}"
    if true.numbers and not words_beside_numbers(true) and true.values & asked.values:
        known = read_wording(" ; ".join((sample.question, *sample.choices)) if sample else "")
        if (true.values & asked.values) - known.values:
            return f"the question holds its answer, {_shown(truth)!r}"
    return ""


def words_beside_numbers(text: Wording) -> list[Token]:
    """Return a text's content words of over three letters that belong to no number."""
    inside = {at for number in text.numbers for at in range(number.first, number.last + 1)}
    return [
        token
        for at, token in enumerate(text.tokens)
        if at not in inside and token.content and token.text.isalpha() and len(token.text) > 3
    ]


def _new_to(true: Wording, sample: Sample | None) -> bool:
    """Whether a truth says something that its sample doesn't."""
    if sample is None:
        return True
    known = _Known.of((sample.question, *sample.choices))
    return any(t.content and t.stem not in known.stems for t in true.tokens) or bool(
        true.values - known.values
    )


def _final_text(sample: Sample, answer: str) -> str:
    """Return a final answer as text: an option's letter alone says nothing."""
    if sample.choices:
        index = reference_option(answer, sample.choices)
        if index is not None:
            return sample.choices[index]
    return answer


def _shown(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_SHOWN else flat[: _LONGEST_SHOWN - 1] + "…"


# --- words and numbers of a truth ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Known:
    """What is said already."""

    stems: frozenset[str]
    values: frozenset[Value]
    readings: tuple[Wording, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> _Known:
        return _known(tuple(text for text in texts if text))

    def holds(self, stems: Sequence[str]) -> bool:
        """Whether one of the texts holds these stems side by side."""
        return any(_place(reading.stems, stems) is not None for reading in self.readings)


@lru_cache(maxsize=1024)
def _known(texts: tuple[str, ...]) -> _Known:
    readings = tuple(read_wording(text) for text in texts)
    return _Known(
        stems=frozenset(stem for reading in readings for stem in reading.stems),
        values=frozenset(value for reading in readings for value in reading.values),
        readings=readings,
    )


def _told(said: Wording, truth: str, known: _Known) -> list[Leak]:
    """Find a truth's own words and numbers in a text."""
    true = read_wording(truth)
    side = _yes_or_no(truth)
    if side is not None:
        match = (_SAYS_YES if side == "yes" else _SAYS_NO).search(said.plain)
        if match is None and plain(truth) != "no":
            match = re.search(rf"\b{plain(truth)}\b", said.plain, re.I)
        return [Leak("yes or no", match.group())] if match else []
    leaks = []
    new_values = true.values - known.values
    for number in said.numbers:
        if number.values & new_values:
            leaks.append(Leak("number", _written(said, number)))
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
        leaks.append(Leak("words", _shown(" ".join(dict.fromkeys(words)))))
    leaks += _phrases(said, true, known)
    return leaks


def _ranges(said: Wording, true: Wording, known: _Known) -> list[Leak]:
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


def _phrases(said: Wording, true: Wording, known: _Known) -> list[Leak]:
    """Find the whole truth, or three of its content words in a row, where they're not known so."""
    whole = true.stems
    content = [token.stem for token in true.tokens if token.content]
    if len(content) < 2:
        return []
    if _place(said.stems, whole) is not None and not known.holds(whole):
        return [Leak("phrase", _shown(true.plain))]
    spoken = [token.stem for token in said.tokens if token.content]
    told = [[t.stem for t in reading.tokens if t.content] for reading in known.readings]
    for at in range(len(content) - 2):
        three = content[at : at + 3]
        if _place(spoken, three) is not None and all(_place(t, three) is None for t in told):
            return [Leak("phrase", " ".join(three))]
    return []


def _place(stems: Sequence[str], wanted: Sequence[str]) -> int | None:
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


def _written(said: Wording, number: Number) -> str:
    return said.plain[said.tokens[number.first].start : said.tokens[number.last].end]


def _yes_or_no(truth: str) -> Literal["yes", "no"] | None:
    word = plain(truth)
    return "yes" if word in _YES else "no" if word in _NO else None


def _new_numbers(said: Wording, known: _Known, truths: Sequence[str]) -> list[Leak]:
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
            return [Leak("number", _written(said, number))]
    return []


def _enumerators(said: Wording) -> set[int]:
    """Return the tokens that number the lines of a list: 1, 2, 3, each at a line's beginning."""
    places = {match.start(1): int(match.group(1)) for match in _ENUMERATOR.finditer(said.plain)}
    values = list(places.values())
    if len(values) < 2 or values != list(range(1, len(values) + 1)):
        return set()
    return {at for at, token in enumerate(said.tokens) if token.start in places}


def _without_labels(said: Wording, sample: Sample) -> Wording:
    """Leave out numbers that name a picture or a step: picture 2, step 1."""
    most = {label: max(len(sample.pictures), 1) for label in _LABELS} | {"step": 9}

    def is_label(number: Number) -> bool:
        if number.first == 0:
            return False
        label, token = said.tokens[number.first - 1], said.tokens[number.first]
        beside = said.plain[label.end : token.start].isspace()
        return beside and 1 <= number.least <= most.get(label.text.removesuffix("s"), 0)

    return replace(said, numbers=tuple(n for n in said.numbers if not is_label(n)))


def _is_bound(said: Wording, number: Number) -> bool:
    """Whether words make a bound or an estimate of a number: more than six, about six."""
    before = [token.text for token in said.tokens[max(number.first - 2, 0) : number.first]]
    if not before:
        return False
    return before[-1] in _HEDGE or " ".join(before) in _HEDGE_PAIRS


# --- one of several ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Group:
    """Things among which a question lets choose, and the words in which they're listed."""

    members: tuple[str, ...]
    listings: tuple[tuple[str, ...], ...] = ()
    closed: bool = True
    """Whether the result must be one of them, so that leaving one out tells, too."""


def _option(said: Wording, sample: Sample, question: str, *, named_is_known: bool) -> list[Leak]:
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


def _alternatives(said: Wording, truth: str, questions: Sequence[str]) -> list[Leak]:
    """Find the one alternative that a text names, where a question offers the truth among some."""
    leaks = []
    for group in _alternatives_of(truth, questions):
        leaks += _singled(said, group, questions, "alternative")
    numbers = _number_group(truth, questions)
    if numbers is not None:
        leaks += _singled(said, numbers, questions, "alternative")
    return leaks


def _echo(said: Wording, truth: str, sample: Sample, question: str) -> list[Leak]:
    """Find a result that the question holds in another role, said apart from it.

    The question speaks of a green cube, and its result is a cube: the hint may speak of the green
    cube, and not of a cube.
    """
    questions = (sample.question, question)
    if sample.choices and reference_option(truth, sample.choices) is not None:
        return []
    if _yes_or_no(truth) or _alternatives_of(truth, questions) or _number_group(truth, questions):
        return []
    group = _Group((truth,))
    if _mention(said, _without_copies(said, group, questions), truth) is None:
        return []
    return [Leak("words", _shown(truth))]


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
                members.setdefault(number.values, _written(reading, number))
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
        return [Leak(kind, _shown(named[0]))]
    if group.closed and len(group.members) > 2 and len(named) == len(group.members) - 1:
        (left,) = set(group.members) - set(named)
        return [Leak(kind, f"all but {_shown(left)}")]
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
            at = _place(piece, listing)
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


def _alternatives_of(truth: str, questions: Sequence[str]) -> list[_Group]:
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


def _letters(said: Wording, sample: Sample) -> list[Leak]:
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

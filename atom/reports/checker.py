"""Check: every number and every name in a judge's text is one that it was given.

What isn't given is marked, never dropped, and errs on the side of marking: a mark costs a glance, a
number made up and believed costs more. Whether a sentence uses a given number rightly (*higher*,
*best*, *because*) is beyond this check, and every report says so.

A number counts as given when it equals a given one as printed: after a sign, `%`, thousands
marks, spelled-out words and rounding to as many decimals as the text prints (down to none) are
allowed for. A name counts as given when it, or a longer name that holds it, was given; what is
capitalised inside a sentence, quoted, or mixes letters with digits is taken for a name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from functools import cached_property

from atom.reports.ordinary import ordinary_words
from atom.reports.records import Mark

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = (
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
_ORDINALS = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
    "ninth", "tenth", "eleventh", "twelfth",
)  # fmt: skip
_OTHERS = {
    "once": "1", "twice": "2", "thrice": "3", "double": "2", "doubled": "2", "doubles": "2",
    "triple": "3", "tripled": "3", "dozen": "12", "half": "0.5", "halves": "0.5", "halved": "0.5",
    "quarter": "0.25", "quarters": "0.25", "single": "1", "both": "2",
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SUFFIX = {"k": 1_000, "m": 1_000_000}
_VALUE = {word: number for number, word in enumerate(_UNITS)}
_VALUE |= {word: 10 * number for number, word in enumerate(_TENS, start=2)}

_SPACES = "\u00a0\u2009\u202f"
_DIGITS = re.compile(
    rf"(?<![\w.])(?P<body>\d{{1,3}}(?:[,{_SPACES}'’]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?P<tail>[kKmM](?![\w])|(?:st|nd|rd|th)\b|\s?(?:%|‰|percent\b|per cent\b))?"
)
_ODD = re.compile(r"[^\x00-\x7f]")
_FAMILIES = (
    "bard", "blip", "claude", "cogvlm", "deepseek", "fuyu", "gemini", "gemma", "glm", "gpt",
    "grok", "idefics", "instructblip", "internvl", "kosmos", "llama", "llava", "minicpm",
    "mistral", "molmo", "phi", "pixtral", "qwen", "yi",
)  # fmt: skip
"""Names of model families, known however they are written."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_HYPHEN = re.compile(r"[-‐‑–]")
_PLAIN = re.compile(r"[^\W_]")
_QUOTED = re.compile(r"[“\"`«]([^“”\"`«»\n]{1,160})[”\"`»]|‘([^‘’\n]{2,160})’(?!\w)")
_TOKEN = re.compile(r"[^\W_][\w.+-]*[^\W_]|[^\W_]")
_SENTENCE_END = re.compile(r"[.!?:;…]['”\"’)\]]{0,8}\Z")
_BEFORE_ONE = frozenset((
    "the", "this", "that", "no", "any", "every", "each", "which", "another", "only", "some",
    "than",
))  # fmt: skip
_AFTER_ONE = frozenset((
    "of", "another", "might", "may", "can", "could", "would", "should", "has", "is",
))  # fmt: skip


@dataclass(frozen=True)
class WriterMaterial:
    """What a section's writer was given.

    Args:
        texts: all text that was given: sentences, printed numbers, names.
        names: names that were given: models, capabilities and the parts of their paths, labels,
            data sets, samples.
        known: all names of the study, given or not, so that a wrong one is recognised however it
            is written.
        values: numbers given unprinted.
    """

    texts: tuple[str, ...]
    names: tuple[str, ...]
    known: tuple[str, ...] = ()
    values: tuple[float, ...] = field(default=())

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        """Every number in what was given, without its sign."""
        found = {Decimal(repr(abs(value))) for value in self.values}
        for text in self.texts:
            found.update(spot.value for spot in numbers_in(text, self.spans(text)))
        return frozenset(found)

    @cached_property
    def fractions(self) -> frozenset[Decimal]:
        """The given percentages as fractions: 43 % is 0.43, too."""
        return frozenset(
            spot.value / 100
            for text in self.texts
            for spot in numbers_in(text, self.spans(text))
            if spot.percent
        )

    @cached_property
    def allowed(self) -> dict[int, frozenset[Decimal]]:
        """The given numbers rounded to 0, 1, ... 6 decimals, halves either way."""
        out: dict[int, set[Decimal]] = {}
        for decimals in range(7):
            step = Decimal(1).scaleb(-decimals)
            out[decimals] = {
                number.quantize(step, rounding=mode)
                for number in self.numbers
                if number < Decimal(10) ** 15
                for mode in (ROUND_HALF_DOWN, ROUND_HALF_UP)
            }
        return {decimals: frozenset(values) for decimals, values in out.items()}

    def has(self, value: Decimal, decimals: int, *, percent: bool = False) -> bool:
        """Say whether a number was given, to so many decimals.

        Args:
            value: the number, without its sign.
            decimals: how many it is printed with.
            percent: whether it is a percentage: 43 % also stands for a given 0.43.
        """
        if decimals > 6:
            return value in self.numbers
        if value in self.allowed[decimals] or (decimals >= 2 and value in self.fractions):
            return True
        return percent and decimals <= 4 and value / 100 in self.allowed[decimals + 2] and value > 0

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of what was given, as it is written."""
        return frozenset(
            match.group() for text in (*self.texts, *self.names) for match in _WORD.finditer(text)
        )

    @cached_property
    def small_words(self) -> frozenset[str]:
        """Words of what was given, in small letters where they stood so."""
        return frozenset(word for word in self.words if word.islower())

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
        given = _names_pattern(self.names)
        folded = {name.casefold() for name in self.names}
        strange = [name for name in self.known if name.casefold() not in folded]
        return given, _names_pattern(strange)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where given names stand in a text, in any case."""
        pattern = self._patterns[0]
        return [] if pattern is None else [match.span() for match in pattern.finditer(text)]

    @cached_property
    def _stems(self) -> dict[str, int]:
        """What names begin with before their last mark -> the longest rest: `model-` -> 1."""
        found = dict.fromkeys(_FAMILIES, 40)
        for name in (*self.names, *self.known):
            stem, mark, rest = name.casefold().rpartition("-")
            if mark and " " not in name and rest:
                found[stem + mark] = max(found.get(stem + mark, 0), len(rest))
        return found

    def is_kin(self, token: str) -> bool:
        """Say whether a token is written like the study's models, or names a family of models."""
        small = token.casefold()
        return any(
            small.startswith(stem)
            and len(small) - len(stem) <= rest
            and (stem.endswith("-") or not small[len(stem) :][:1].isalpha())
            and small not in self.small_words
            for stem, rest in self._stems.items()
        )

    def strangers(self, text: str) -> list[tuple[int, int]]:
        """Return where the study's other names stand in a text.

        A name of one plain word counts only with its capital: `reasoning` may be just a word.
        """
        pattern = self._patterns[1]
        if pattern is None:
            return []
        found = []
        for match in pattern.finditer(text):
            name = match.group()
            if _WORD.fullmatch(name) and not name[:1].isupper():
                continue
            found.append(match.span())
        return found


@dataclass(frozen=True, kw_only=True)
class NumberSpan:
    """A number in a text."""

    start: int
    end: int
    value: Decimal
    decimals: int
    percent: bool = False


def check(text: str, given: WriterMaterial) -> tuple[Mark, ...]:
    """Find what a text states that its writer was not given.

    Args:
        text: the judge's text.

    Returns:
        Marks in order, none overlapping.
    """
    known = given.spans(text)
    names = _strange_names(text, given, known)
    taken = [*known, *names]
    marks = [_mark(text, span, "name") for span in names]
    for spot in numbers_in(text, taken):
        if not given.has(spot.value, spot.decimals, percent=spot.percent):
            marks.append(_mark(text, (spot.start, spot.end), "number"))
    return tuple(sorted(marks, key=lambda mark: mark.start))


def _mark(text: str, span: tuple[int, int], kind: str) -> Mark:
    start, end = span
    return Mark.model_validate({"start": start, "end": end, "kind": kind, "text": text[start:end]})


# --- numbers -------------------------------------------------------------------------------------


def numbers_in(text: str, taken: Sequence[tuple[int, int]] = ()) -> list[NumberSpan]:
    """Find every number of a text, in digits and in words.

    Args:
        taken: spans that are names; numbers inside them are part of the name.
    """
    found = [spot for spot in _digits_in(text) if not _inside(spot.start, spot.end, taken)]
    busy = [*taken, *((spot.start, spot.end) for spot in found)]
    found += [spot for spot in _words_in(text) if not _inside(spot.start, spot.end, busy)]
    return sorted(found, key=lambda spot: spot.start)


def _digits_in(text: str) -> Iterator[NumberSpan]:
    for match in _DIGITS.finditer(text):
        body, tail = match["body"], (match["tail"] or "").strip().lower()
        plain = re.sub(rf"[,{_SPACES}'’]", "", body)
        try:
            value = Decimal(plain)
        except InvalidOperation:  # digits of another script that Decimal can't read
            value = Decimal(-1)
        decimals = len(plain.partition(".")[2])
        if tail in _SUFFIX:
            value *= _SUFFIX[tail]
            decimals = 0
        yield NumberSpan(
            start=match.start(),
            end=match.end(),
            value=value,
            decimals=decimals,
            percent=tail in ("%", "percent", "per cent"),
        )
    for match in _ODD.finditer(text):
        number = None if match.group().isdecimal() else unicodedata.numeric(match.group(), None)
        if number is not None and not match.group().isalpha():
            value = Decimal(str(round(number, 4)))
            yield NumberSpan(start=match.start(), end=match.end(), value=value, decimals=2)


def _words_in(text: str) -> Iterator[NumberSpan]:
    """Read number words: `seven`, `twenty-one`, `three hundred`, `two thirds`, `third`, `half`."""
    words = [(m.group().lower(), m.start(), m.end()) for m in _WORD.finditer(text)]
    at = 0
    while at < len(words):
        size, value = _number_at(words, at)
        if value is None or (size == 1 and not _counts(words, at, text)):
            at += max(size, 1)
            continue
        start, end = words[at][1], words[at + size - 1][2]
        decimals = -int(value.normalize().as_tuple().exponent)
        yield NumberSpan(start=start, end=end, value=value, decimals=max(decimals, 0))
        at += size


def _number_at(words: Sequence[tuple[str, int, int]], at: int) -> tuple[int, Decimal | None]:
    """Return how many words the number at a place has, and its value."""
    word = words[at][0]
    if word in _OTHERS:
        return 1, Decimal(_OTHERS[word])
    if word in _ORDINALS:
        return 1, Decimal(_ORDINALS.index(word))
    if word not in _VALUE:
        return 1, None
    total, current, size = 0, 0, 0
    while at + size < len(words):
        word = words[at + size][0]
        if size and not _joined(words, at + size):
            break
        if word in _VALUE:
            if (
                size
                and words[at + size - 1][0] in _VALUE
                and not (_VALUE[words[at + size - 1][0]] >= 20 and _VALUE[word] < 10)
            ):
                break
            current += _VALUE[word]
        elif word in _SCALES and size:
            current = max(current, 1) * _SCALES[word]
            if _SCALES[word] >= 1000:
                total, current = total + current, 0
        elif (
            word == "and"
            and size
            and _VALUE.get(_next(words, at + size)) is not None
            and (words[at + size - 1][0] in _SCALES)
        ):
            pass
        else:
            break
        size += 1
    value = Decimal(total + current)
    part = _next(words, at + size - 1)
    if (part.rstrip("s") in _ORDINALS[3:] and part.endswith("s")) or part in ("thirds", "quarters"):
        whole = 4 if part == "quarters" else _ORDINALS.index(part.rstrip("s"))
        return size + 1, (value / whole).quantize(Decimal("0.01"))
    return size, value


def _joined(words: Sequence[tuple[str, int, int]], at: int) -> bool:
    return words[at][1] - words[at - 1][2] == 1


def _next(words: Sequence[tuple[str, int, int]], at: int) -> str:
    return words[at + 1][0] if at + 1 < len(words) else ""


def _counts(words: Sequence[tuple[str, int, int]], at: int, text: str) -> bool:
    """Say whether a word that can be a number is one here: `one of them` and `First,` aren't."""
    word, start, end = words[at]
    before = words[at - 1][0] if at else ""
    after = _next(words, at)
    if word == "one":
        return before not in _BEFORE_ONE and after not in _AFTER_ONE
    if word in ("first", "second", "third") and text[end : end + 1] == ",":
        return bool(text[:start].strip()) and text[:start].rstrip()[-1] not in ".!?;:"
    if word == "first":
        return before != "at" and not after.startswith("break")
    if word in ("both", "single", "half", "once", "second"):
        return (word in ("half", "second") and after not in ("the", "of")) or word == "half"
    return True


def _inside(start: int, end: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(low < end and start < high for low, high in spans)


# --- names ---------------------------------------------------------------------------------------


def _names_pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    cleaned = {" ".join(name.split()) for name in names}
    usable = sorted((name for name in cleaned if _PLAIN.search(name)), key=lambda n: (-len(n), n))
    if not usable:
        return None
    body = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in usable)
    return re.compile(rf"(?<![\w])(?<!\w[-./])(?:{body})(?![\w])(?![-./]\w)", re.IGNORECASE)


def _strange_names(
    text: str, given: WriterMaterial, known: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []

    def add(span: tuple[int, int]) -> None:
        if not _inside(*span, found) and not _within(span, known):
            found.append(span)

    for span in given.strangers(text):
        add(span)
    for match in _QUOTED.finditer(text):
        group = 1 if match.group(1) is not None else 2
        inner = match.group(group)
        if not _was_said(inner, given):
            add(match.span(group))
    for match in _TOKEN.finditer(text):
        token = match.group()
        if (_is_code(token) or given.is_kin(token)) and not _inside(*match.span(), known):
            add(match.span())
    for span in _capitals(text, given, known):
        add(span)
    return sorted(found)


def _within(span: tuple[int, int], known: Iterable[tuple[int, int]]) -> bool:
    return any(low <= span[0] and span[1] <= high for low, high in known)


def _was_said(quoted: str, given: WriterMaterial) -> bool:
    """Say whether quoted words stand in what was given."""
    wanted = " ".join(quoted.split()).casefold().strip(" .,;:!?")
    return any(wanted in " ".join(text.split()).casefold() for text in (*given.texts, *given.names))


def _is_code(token: str) -> bool:
    """Say whether a token looks like a model or file name: letters mixed with digits or marks."""
    token = token.rstrip(".")
    letters, digits = re.search(r"[^\W\d_]", token), re.search(r"\d", token)
    if "_" in token:
        return letters is not None
    if not letters or not digits:
        return False
    spelled = re.fullmatch(r"\d+(?:[.,]\d+)*(?:st|nd|rd|th|k|K|m|M|s|x|px)?", token)
    worded = re.fullmatch(r"\d+(?:\.\d+)?(?:-[^\W\d_]+)+|[^\W\d_]+(?:-[^\W\d_]+)*-to-\d+", token)
    return spelled is None and worded is None


def _capitals(
    text: str, given: WriterMaterial, known: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Find capitalised words that nobody gave, neighbours together."""
    run: list[tuple[int, int]] = []
    for match in _WORD.finditer(text):
        word, span = match.group(), match.span()
        strange = (
            word[0].isupper()
            and not _inside(*span, known)
            and not _ordinary(word, given, starts=_starts(text, span[0]))
        )
        hyphenated = bool(run) and _HYPHEN.fullmatch(text[run[-1][1] : span[0]]) is not None
        if run and ((strange and text[run[-1][1] : span[0]] == " ") or hyphenated):
            run.append(span)
            continue
        if run:
            yield run[0][0], run[-1][1]
        run = [span] if strange else []
    if run:
        yield run[0][0], run[-1][1]


def _starts(text: str, at: int) -> bool:
    """Whether a sentence, a line or a bracket begins at a place."""
    before = text[max(0, at - 8) : at]
    bare = before.rstrip()
    if not bare or "\n" in before[len(bare) :] or bare.endswith(tuple('•–—(“"')):
        return True
    return bare != before and _SENTENCE_END.search(bare) is not None


def _ordinary(word: str, given: WriterMaterial, *, starts: bool) -> bool:
    if word in given.words or word == "I":
        return True
    small = word.lower()
    if small.removesuffix("'s").removesuffix("’s") in _VALUE or small in _ORDINALS:
        return True
    if not starts:
        return False
    return (
        small in ordinary_words()
        or small in given.small_words
        or small in _OTHERS
        or (len(small) > 5 and small.endswith("ly"))
    )

"""Reads a text as the leak gates compare it: folded words, and every number in whatever form.

The gates must not be fooled by how something is written, so this reads generously: a numeral may
have several readings, and one reading in common is enough.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal

from atom.stages.texts.quantities import tidy

MAX_TEXT: Final = 20_000
"""Characters of a text that are read."""

Value = tuple[Literal["number", "ordinal", "time"], Fraction]
"""What a word or numeral may mean; a time is in minutes on a twelve-hour dial."""

# Letters that look alike, as far as they're used to write English words in disguise.
_LOOKALIKES: Final = str.maketrans(
    "аеорсухіјԁѕкмнтвαορνικτ" + "АЕОРСХІВНКМТΑΒΕΖΗΙΚΜΝΟΡΤΧ",
    "aeopcyxijdskmhtbaopvikt" + "AEOPCXIBHKMTABEZHIKMNOPTX",
)
_APOSTROPHES: Final = str.maketrans("’‘ʼ´`", "'''''")
_SPELLED: Final = re.compile(r"(?<![^\W_])[^\W_](?:[ \-._*·|]{1,3}[^\W_])+(?![^\W_])")
_TOKEN: Final = re.compile(
    r"[0-9]+(?:[.,:'/][0-9]+|[ ](?=[0-9]{3}(?![0-9]))[0-9]{3})*|[^\W\d_]+(?:'[^\W\d_]+)*|[%$€£°]"
)
_SPELLINGS: Final = {
    "grey": "gray", "colour": "color", "colours": "colors", "coloured": "colored",
    "recoloured": "recolored", "centre": "center", "metre": "meter", "litre": "liter",
}  # fmt: skip
_SHORT_NAMES: Final = {
    name[:3]: name
    for name in (
        "january", "february", "march", "april", "june", "july", "august", "september",
        "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday",
        "saturday", "sunday",
    )
} | {"sept": "september", "tues": "tuesday", "thur": "thursday", "thurs": "thursday"}  # fmt: skip
_WORDY_SHORT: Final = frozenset(("mar", "sat", "sun", "wed"))
"""Short names that are other words, too; they stand for themselves unless in capitals."""
STOP_WORDS: Final = frozenset(
    (
        "a", "an", "the", "of", "in", "on", "at", "to", "for", "from", "by", "with", "and", "or",
        "nor", "is", "are", "was", "were", "be", "been", "being", "it", "its", "this", "that",
        "these", "those", "there", "here", "as", "than", "then", "so", "if", "what", "which",
        "who", "whom", "whose", "how", "when", "where", "why", "do", "does", "did", "has",
        "have", "had", "can", "could", "will", "would", "should", "may", "might", "must", "not",
        "you", "your", "yours", "they", "them", "their", "he", "she", "his", "her", "we", "our",
        "us", "i", "me", "my", "s", "t", "one's",
    )
)  # fmt: skip
_ONE_WORDS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TEN_WORDS: Final = (
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
_ONES: Final = {word: value for value, word in enumerate(_ONE_WORDS)}
_TENS: Final = {word: 10 * value for value, word in enumerate(_TEN_WORDS, start=2)}
_SCALES: Final = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
_DIGIT_SCALES: Final = {**_SCALES, "k": 1000, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9}
_ODD: Final = {
    "nil": 0, "nought": 0, "naught": 0, "none": 0, "dozen": 12, "couple": 2, "twice": 2,
    "thrice": 3, "fourty": 40,
}  # fmt: skip
_PARTS: Final = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourths": 4,
    "fifths": 5, "sixths": 6, "sevenths": 7, "eighths": 8, "ninths": 9, "tenths": 10,
    "hundredths": 100, "thousandths": 1000,
}  # fmt: skip
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
    "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18,
    "nineteenth": 19, "twentieth": 20, "thirtieth": 30, "fortieth": 40, "fiftieth": 50,
    "hundredth": 100,
}  # fmt: skip
_ROMAN: Final = re.compile(
    r"(?=[MDCLXVI])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
)
_ROMAN_VALUES: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_ONE_AS_PRONOUN: Final = frozenset(
    (
        "the", "this", "that", "each", "every", "which", "another", "other", "no", "any",
        "wrong", "right", "correct", "same", "first", "last", "next", "only",
    )
)  # fmt: skip
_DETERMINERS: Final = frozenset(("the", "a", "an", "this", "that", "each", "which", "every"))
_COUNTED: Final = frozenset(("number", "figure", "digit", "answer", "result", "value", "count"))
_AFTER_PRONOUN: Final = frozenset(("of", "by", "another", "after"))
_SENTENCE_MARKS: Final = re.compile(r"[.!?;:\n]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, numeral or sign of a text.

    Args:
        text: as it's written, in small letters.
        stem: its stem; words with equal stems count as the same word.
        start: where it stands in the plain text.
        content: whether it says something by itself.
    """

    text: str
    stem: str
    start: int
    end: int
    content: bool

    @property
    def numeral(self) -> bool:
        """Whether it's written in digits."""
        return self.text[0].isdigit()


@dataclass(frozen=True, slots=True)
class TextNumber:
    """A number in a text.

    Args:
        values: what it may mean.
        first: index of its first token.
        last: index of its last token.
        numeral: written in digits.
    """

    values: frozenset[Value]
    first: int
    last: int
    numeral: bool

    @property
    def least(self) -> Fraction:
        """The smallest of its readings."""
        return min(value for _, value in self.values)


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as it's compared.

    Args:
        plain: the text without disguise, in its own case.
        tokens: its words, numerals and signs, in order.
        numbers: its numbers, in order.
    """

    plain: str
    tokens: tuple[Token, ...]
    numbers: tuple[TextNumber, ...]

    @property
    def stems(self) -> tuple[str, ...]:
        """The stems of all tokens, in order."""
        return tuple(token.stem for token in self.tokens)

    @property
    def values(self) -> frozenset[Value]:
        """Every reading of every number."""
        return frozenset(value for number in self.numbers for value in number.values)


def unmasked(text: str) -> str:
    """Undo what hides letters: width forms, invisible signs, accents, look-alikes, markdown."""
    text = unicodedata.normalize("NFKC", text[:MAX_TEXT])
    text = "".join(c for c in text if unicodedata.category(c) != "Cf" or c == "\n")
    text = _plain_digits(text).translate(_LOOKALIKES).translate(_APOSTROPHES)
    text = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    text = "\n".join(tidy(line) for line in text.splitlines())
    return _SPELLED.sub(_joined, text.replace("_", " ").replace("⁄", "/"))


def _plain_digits(text: str) -> str:
    """Write every script's digits as 0 to 9."""
    return "".join(
        str(unicodedata.digit(c)) if not c.isascii() and c.isdigit() else c for c in text
    )


def _joined(match: re.Match[str]) -> str:
    """Join letters or digits that are spelled out one by one: `b l u e`, `4 2`."""
    written = match.group()
    letters = re.sub(r"[^\w]|_", "", written)
    if letters.isdigit() and not re.search(r"[.]", written):
        return letters
    return letters if letters.isalpha() and len(letters) > 2 else written


@lru_cache(maxsize=4096)
def read_wording(text: str) -> Wording:
    """Read a text.

    Args:
        text: what is to be compared; hostile or not.

    Returns:
        Its tokens and numbers.
    """
    plain = unmasked(text)
    tokens = tuple(_token(match) for match in _TOKEN.finditer(plain))
    numbers = sorted(
        (*_numerals(plain, tokens), *_words(plain, tokens), *_romans(plain, tokens)),
        key=lambda number: (number.first, number.last),
    )
    return Wording(plain=plain, tokens=tokens, numbers=tuple(numbers))


def stem(word: str) -> str:
    """Return the stem of a word in small letters: `rises`, `rising` and `rise` agree."""
    word = word.removesuffix("'s")
    word = _SPELLINGS.get(word, word)
    if word == "times":
        return word  # "base times height" has nothing to do with "take your time"
    for ending, least in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4), ("e", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            base = word.removesuffix(ending)
            return base + "y" if ending == "ies" else base
    return word[:-1] + "i" if word.endswith("y") and len(word) > 9 else word


def _token(match: re.Match[str]) -> Token:
    written = match.group()
    word = written.lower()
    short = word not in _WORDY_SHORT or written[0].isupper()
    full = _SHORT_NAMES.get(word, word) if short else word
    return Token(
        text=word,
        stem=stem(full),
        start=match.start(),
        end=match.end(),
        content=word not in STOP_WORDS or written == "May",
    )


# --- numbers -------------------------------------------------------------------------------------


def _numerals(plain: str, tokens: Sequence[Token]) -> list[TextNumber]:
    found = []
    for at, token in enumerate(tokens):
        if not token.numeral:
            continue
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        last = at
        values = set(_readings(token.text))
        if after is not None and after.start - token.end <= 1 and values:
            if after.text in ("st", "nd", "rd", "th"):
                values = {("ordinal", value) for _, value in values}
                last = at + 1
            elif after.text in _DIGIT_SCALES:
                values |= {(kind, v * _DIGIT_SCALES[after.text]) for kind, v in values}
                last = at + 1
            elif after.text in ("%", "percent", "per"):
                values |= {(kind, v / 100) for kind, v in values}
                last = at + 1
        found.append(TextNumber(frozenset(values), at, last, True))
    return found


def _readings(written: str) -> set[Value]:
    """Return what a numeral may mean: `1,234` is a thousand or a little over one."""
    digits = written.replace("'", "").replace(" ", "")
    clock = re.fullmatch(r"([0-2]?[0-9]):([0-5][0-9])(?::[0-5][0-9])?", digits)
    if clock:
        return {("time", Fraction((int(clock[1]) % 12) * 60 + int(clock[2])))}
    fraction = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", digits)
    if fraction and int(fraction[2]):
        return {("number", Fraction(int(fraction[1]), int(fraction[2])))}
    texts = set()
    if re.fullmatch(r"[0-9]{1,3}(?:[.,][0-9]{3})+(?:[.,][0-9]+)?|[0-9]+", digits):
        whole = re.fullmatch(r"(.*?)(?:[.,]([0-9]{1,2}|[0-9]{4,}))?", digits)
        if whole is not None:
            texts.add(re.sub(r"[.,]", "", whole[1]) + (f".{whole[2]}" if whole[2] else ""))
    decimal = re.fullmatch(r"([0-9]+)[.,]([0-9]+)", digits)
    if decimal:
        texts.add(f"{decimal[1]}.{decimal[2]}")
    if not texts:
        texts.update(part for part in re.split(r"[^0-9]+", digits) if part)
    return {("number", Fraction(text[:60])) for text in texts}


def _words(plain: str, tokens: Sequence[Token]) -> list[TextNumber]:
    found: list[TextNumber] = []
    at = 0
    while at < len(tokens):
        end, values = _spoken(tokens, at)
        if values and not (end == at + 1 and _is_pronoun(plain, tokens, at)):
            found.append(TextNumber(frozenset(values), at, end - 1, False))
        at = max(end, at + 1)
    return found


def _spoken(tokens: Sequence[Token], at: int) -> tuple[int, set[Value]]:
    """Read the number in words that begins at a token; the token itself when there is none."""
    word = tokens[at].text
    whole, end = _whole(tokens, at)
    if whole is None:
        if word in _PARTS and word not in _ORDINALS:
            return at + 1, {("number", Fraction(1, _PARTS[word]))}
        if word in _ORDINALS:
            values: set[Value] = {("ordinal", Fraction(_ORDINALS[word]))}
            return at + 1, values
        return at, set()
    after = tokens[end].text if end < len(tokens) else ""
    if after in ("point", "comma") and end + 1 < len(tokens):
        digits, stop = "", end + 1
        while stop < len(tokens) and tokens[stop].text in _ONES and _ONES[tokens[stop].text] < 10:
            digits += str(_ONES[tokens[stop].text])
            stop += 1
        if digits:
            return stop, {("number", Fraction(f"{whole}.{digits}"))}
    if after in _PARTS:
        return end + 1, {("number", Fraction(whole, _PARTS[after]))}
    if after in _ORDINALS and whole % 10 == 0:
        return end + 1, {("ordinal", Fraction(whole + _ORDINALS[after]))}
    values = {("number", Fraction(whole))}
    if after == "percent" or (after == "per" and tokens[end + 1 : end + 2]):
        values.add(("number", Fraction(whole, 100)))
    minutes, stop = _whole(tokens, end) if end < len(tokens) else (None, end)
    if minutes is not None and whole <= 24 and 10 <= minutes < 60:
        values |= {("time", Fraction(whole % 12 * 60 + minutes)), ("number", Fraction(minutes))}
        return stop, values
    return end, values


def _whole(tokens: Sequence[Token], at: int) -> tuple[int | None, int]:
    """Read a whole number in words; None when there is none at this token."""
    total, group, smallest, end = 0, None, 100, at
    while end < len(tokens):
        word = tokens[end].text
        if word == "and" and group is not None and smallest >= 100 and end + 1 < len(tokens):
            if tokens[end + 1].text not in _ONES and tokens[end + 1].text not in _TENS:
                break
            end += 1
            continue
        if word in _ODD and group is None:
            return _ODD[word], end + 1
        if word in _ONES and smallest > 9 and (smallest >= 100 or _ONES[word] < 10):
            group, smallest = (group or 0) + _ONES[word], 1
        elif word in _TENS and smallest >= 100:
            group, smallest = (group or 0) + _TENS[word], 10
        elif word in _SCALES and (group is not None or (end == at and _has_article(tokens, at))):
            if word == "hundred":
                group, smallest = (group or 1) * 100, 100
            else:
                total, group, smallest = total + (group or 1) * _SCALES[word], 0, 100
        else:
            break
        end += 1
    return (None, at) if group is None else (total + group, end)


def _has_article(tokens: Sequence[Token], at: int) -> bool:
    return at > 0 and tokens[at - 1].text == "a"


def _is_pronoun(plain: str, tokens: Sequence[Token], at: int) -> bool:
    """Whether this is a "one" that counts nothing: the one, the red one, one by one."""
    if tokens[at].text != "one":
        return False
    before = tokens[at - 1] if at else None
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is not None and after.text in _AFTER_PRONOUN:
        return True
    if before is None or _SENTENCE_MARKS.search(plain[before.end : tokens[at].start]):
        return False
    if before.text in _ONE_AS_PRONOUN or before.text == "by":
        return True
    article = tokens[at - 2].text if at > 1 else ""
    return article in _DETERMINERS and before.content and before.text not in _COUNTED


def _romans(plain: str, tokens: Sequence[Token]) -> list[TextNumber]:
    found = []
    for at, token in enumerate(tokens):
        written = plain[token.start : token.end]
        if written == "I" or not _ROMAN.fullmatch(written):
            continue
        total = 0
        for letter, following in zip(written, [*written[1:], ""], strict=True):
            value = _ROMAN_VALUES[letter]
            total += -value if following and _ROMAN_VALUES[following] > value else value
        found.append(TextNumber(frozenset({("number", Fraction(total))}), at, at, False))
    return found

"""Reads numbers as people and models write them: separators, units, percents, fractions, words.

What could mean two things isn't read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

MAX_TEXT: Final = 400
"""Characters of a text in which a number is looked for; a final answer is shorter."""

_VULGAR: Final = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5",
    "⅗": "3/5", "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip
_SUPERSCRIPT: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_LATEX: Final = (
    (
        re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|operatorname)\s*\{([^{}]*)\}"),
        r"\1",
    ),
    (re.compile(r"\\[dt]?frac\s*\{\s*(-?[0-9.]+)\s*\}\s*\{\s*([0-9.]+)\s*\}"), r" \1/\2 "),
    (re.compile(r"\^\s*+\{?\s*+(?:\\circ|\\degree|∘)\s*+\}?|\\degree"), "°"),
    (re.compile(r"\\(?:times|cdot)\b"), "×"),
    (re.compile(r"\\(?:approx|sim|simeq)\b"), "≈"),
    (re.compile(r"\\pi\b"), "π"),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\[()\[\]]"), ""),
    (re.compile(r"\\(?:quad|qquad)\b|\\[,;!: ]"), " "),
    (re.compile(r"\\([%$#&])"), r"\1"),
)
_PAIR_OF_DOLLARS: Final = re.compile(r"\$\$?([^$\n]+?)\$\$?")
_THIN_SPACE: Final = re.compile("(?<=[0-9])[\u00a0\u2009\u202f'\u2019](?=[0-9]{3}(?![0-9]))")

_SPACED: Final = re.compile(r"(?<![0-9.,] )(?<![\w.,])[0-9]{1,3}(?: [0-9]{3})+(?![\w ]*[0-9])")

_DIGITS: Final = (
    r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?"  # 1,234,567.8
    r"|[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+"  # 1.234.567,8
    r"|[0-9]{1,3}(?:\.[0-9]{3}){2,}"  # 1.234.567
    r"|[0-9]+[.,][0-9]+|[0-9]+|\.[0-9]+)"
)
_NUMBER: Final = re.compile(
    r"(?<![\w.,^/])(?P<sign>[+-]?)\s?(?P<money>(?:US)?[$€£¥]?)\s?(?P<inner>-?)"
    r"(?:(?P<whole>[0-9]{1,9})\s+)?(?P<over>[0-9]{1,9})\s?/\s?(?P<under>[0-9]{1,9})(?![\w/.,]*[0-9/])"
    r"|(?<![\w.,^/])(?P<sign2>[+-]?)\s?(?P<money2>(?:US)?[$€£¥]?)\s?(?P<inner2>-?)"
    rf"(?P<digits>{_DIGITS})(?![0-9])"
    r"(?P<power>[eE][+-]?[0-9]{1,3}(?!\w)|\s?[×x*·]\s?10\s?(?:\^|\*\*)\s?\{?\s?[+-]?[0-9]{1,3}\}?)?"
)
_EXPONENT: Final = re.compile(r"([+-]?[0-9]{1,3})\}?$")
_FACTOR: Final = re.compile(
    r"(?P<attached>(?-i:[kKMB]))(?![\w°])|\s{0,2}(?P<word>thousand|million|billion|trillion|mn|bn)\b",
    re.IGNORECASE,
)
_FACTORS: Final = {
    "k": 10**3, "thousand": 10**3, "m": 10**6, "mn": 10**6, "million": 10**6,
    "b": 10**9, "bn": 10**9, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
_UNIT: Final = re.compile(
    r"\s?(?P<unit>%|°\s?[CF]?|[$€£¥]|[^\W\d_]+(?:\s?\^?[23²³])?(?:/[^\W\d_]+(?:\^?[23²³])?)?|[Ωμ]\w*)"
)
_TAIL: Final = re.compile(r"(?:\s+[^\W\d_]+(?:-[^\W\d_]+)*){0,3}\s*[.!]?\s*")
_NO_TAIL: Final = re.compile(
    r"\b(?:or|and|to|than|not|if|but|minus|plus|times|per|of|out|more|less|nor|over|st|nd|rd|th|x)\b",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"(?:(?:about|approximately|approx\.?|around|roughly|nearly|almost|exactly|only|just|equals?"
    r"|is|are|it is|it's|a total of|there are|there is|[≈~=≅])\s*)*",
    re.IGNORECASE,
)

_ONES: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORD_VALUES: Final = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    "hundred": 100,
}
_ANY_WORD: Final = "|".join(sorted(_WORD_VALUES, key=len, reverse=True))
_WORDS: Final = re.compile(
    rf"(?<![\w-])(?:{_ANY_WORD})(?:(?:\s+and\s+|[\s-]+)(?:{_ANY_WORD}))*(?![\w-])", re.IGNORECASE
)

_UNITS: Final = {
    "mm": ("length", Fraction(1, 1000)), "cm": ("length", Fraction(1, 100)),
    "m": ("length", Fraction(1)), "km": ("length", Fraction(1000)),
    "mg": ("mass", Fraction(1, 1000)), "g": ("mass", Fraction(1)), "kg": ("mass", Fraction(1000)),
    "ml": ("volume", Fraction(1, 1000)), "l": ("volume", Fraction(1)),
    "s": ("time", Fraction(1)), "min": ("time", Fraction(60)), "h": ("time", Fraction(3600)),
    "day": ("day", Fraction(1)), "week": ("day", Fraction(7)), "year": ("year", Fraction(1)),
    "$": ("dollar", Fraction(1)), "€": ("euro", Fraction(1)), "£": ("pound", Fraction(1)),
    "¥": ("yen", Fraction(1)), "¢": ("dollar", Fraction(1, 100)),
    "°": ("angle", Fraction(1)), "rad": ("radian", Fraction(1)),
    "°c": ("celsius", Fraction(1)), "°f": ("fahrenheit", Fraction(1)),
    "in": ("inch", Fraction(1)), "ft": ("inch", Fraction(12)),
}  # fmt: skip
_UNIT_NAMES: Final = {
    "millimeter": "mm", "millimetre": "mm", "centimeter": "cm", "centimetre": "cm",
    "meter": "m", "metre": "m", "kilometer": "km", "kilometre": "km", "milligram": "mg",
    "gram": "g", "kilogram": "kg", "milliliter": "ml", "millilitre": "ml", "liter": "l",
    "litre": "l", "second": "s", "sec": "s", "minute": "min", "hour": "h", "hr": "h",
    "dollar": "$", "usd": "$", "us$": "$", "euro": "€", "eur": "€", "pound": "£", "gbp": "£",
    "yen": "¥", "cent": "¢", "degree": "°", "deg": "°", "radian": "rad", "celsius": "°c",
    "fahrenheit": "°f", "inch": "in", "inche": "in", "foot": "ft", "feet": "ft", "yr": "year",
    "percent": "%", "pct": "%",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    """A number with what stands around it.

    Args:
        number: as written, powers of ten included.
        factor: of a word such as million; 1 without one.
        decimals: digits shown after the decimal point; None for a fraction.
        percent: whether it's a percentage.
        unit: a known unit in its short form; empty for none or any other word.
        in_words: written in letters.
        other: what it is where the one separator in it means the other thing, `1,234` or `1.234`.
    """

    number: Fraction
    factor: int = 1
    decimals: int | None = 0
    percent: bool = False
    unit: str = ""
    in_words: bool = False
    other: Fraction | None = None

    @property
    def value(self) -> Fraction:
        """The number times its factor."""
        return self.number * self.factor


@dataclass(frozen=True, kw_only=True, slots=True)
class QuantitySpan:
    """A quantity and where it stands in the tidied text."""

    quantity: Quantity
    start: int
    end: int


_WIDE: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""The wide forms of ASCII's signs, as Chinese and Japanese texts have them."""


def tidy(text: str) -> str:
    """Write a text in plain letters: no markdown or LaTeX, one kind of dash, single spaces."""
    text = _THIN_SPACE.sub("", text)
    for pattern, plain in _LATEX:
        text = pattern.sub(plain, text)
    text = _PAIR_OF_DOLLARS.sub(r"\1", text)
    text = text.replace("**", "").replace("__", "").replace("`", "")
    for sign, plain in _VULGAR.items():
        text = text.replace(sign, f" {plain}")
    for dash in "‐‑‒–—−":
        text = text.replace(dash, "-")
    text = re.sub("10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", lambda m: "10^" + m[1].translate(_SUPERSCRIPT), text)
    return " ".join(text.translate(_WIDE).split()).strip("*_ ")


def find_quantities(text: str) -> tuple[QuantitySpan, ...]:
    """Find every number in a tidied text, in digits or in words."""
    if len(text) > MAX_TEXT:
        return ()
    found = []
    for match in _NUMBER.finditer(text):
        quantity = _digits(match)
        if quantity is not None:
            item = _with_unit(text, match.start(), match.end(), quantity)
            if not text[item.end : item.end + 1].isalpha():  # "3D" is a name
                found.append(item)
    for match in _WORDS.finditer(text):
        value = _word_value(match.group())
        inside = any(other.start <= match.start() < other.end for other in found)
        if value is not None and not inside:
            quantity = Quantity(number=Fraction(value), in_words=True)
            found.append(_with_unit(text, match.start(), match.end(), quantity))
    return tuple(sorted(found, key=lambda item: item.start))


def read_quantity(text: str) -> Quantity | None:
    """Read a text that is one quantity and nothing else.

    Args:
        text: such as `about 1,200 km`, `$4.50`, `3/4`, `12 red cubes`, `forty-two`.

    Returns:
        The quantity; None where the text says more (a range, a bound, an alternative) or less.
    """
    text = _SPACED.sub(lambda match: match[0].replace(" ", ""), tidy(text))
    found = find_quantities(text)
    if len(found) != 1:
        return None
    only = found[0]
    before, after = text[: only.start], text[only.end :]
    if _LEAD.fullmatch(before.strip() + " " if before.strip() else "") is None:
        return None
    if _TAIL.fullmatch(after) is None or _NO_TAIL.search(after):
        return None
    return only.quantity


def _digits(match: re.Match[str]) -> Quantity | None:
    """Read what `_NUMBER` found."""
    under = match["under"]
    sign = -1 if "-" in ((match["sign"], match["inner"]) if under else (
        match["sign2"], match["inner2"])) else 1  # fmt: skip
    unit = _short_unit((match["money"] if under else match["money2"]) or "")
    if under:
        if int(under) == 0:
            return None
        number = Fraction(int(match["whole"] or 0)) + Fraction(int(match["over"]), int(under))
        return Quantity(number=sign * number, decimals=None, unit=unit)
    plain = _plain_digits(match["digits"])
    decimals = len(plain.partition(".")[2])
    number = Fraction(plain)
    if match["power"]:
        exponent = _EXPONENT.search(match["power"])
        power = int(exponent.group(1)) if exponent else 0
        number *= Fraction(10) ** power
        decimals = decimals - power
    return Quantity(
        number=sign * number, decimals=decimals, unit=unit, other=_other_reading(match, sign)
    )


def _other_reading(match: re.Match[str], sign: int) -> Fraction | None:
    digits = match["digits"]
    if match["power"] or not re.fullmatch(r"[1-9][0-9]{0,2}[.,][0-9]{3}", digits):
        return None
    turned = digits.replace(",", ".") if "," in digits else digits.replace(".", "")
    return sign * Fraction(turned)


def _plain_digits(digits: str) -> str:
    """Drop thousands separators and write the decimal sign as a point."""
    if re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?", digits):
        return digits.replace(",", "")
    if re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+|[0-9]{1,3}(?:\.[0-9]{3}){2,}", digits):
        return digits.replace(".", "").replace(",", ".")
    return "0" + digits if digits.startswith(".") else digits.replace(",", ".")


def _word_value(text: str) -> int | None:
    """Read a number in words below ten thousand: forty-two, one hundred and five."""
    total = 0
    last = 10**9
    for word in re.split(r"\s+and\s+|[\s-]+", text.lower()):
        value = _WORD_VALUES[word]
        if value == 100:
            if not 1 <= total <= 99:
                return None
            total *= 100
        elif value >= last or (last < 20):
            return None  # "two three" is no number
        else:
            total += value
        last = value if value != 100 else 100
    return total


def _with_unit(text: str, start: int, end: int, quantity: Quantity) -> QuantitySpan:
    factor = _FACTOR.match(text, end)
    if factor:
        word = (factor["attached"] or factor["word"]).lower()
        quantity = replace(quantity, factor=_FACTORS[word])
        end = factor.end()
    unit = _UNIT.match(text, end)
    if unit:
        written = unit["unit"].strip()
        short = _short_unit(written)
        if short == "%":
            quantity = replace(quantity, percent=True)
        elif short and not quantity.unit:
            quantity = replace(quantity, unit=short)
        if short:
            end = unit.end()
    return QuantitySpan(quantity=quantity, start=start, end=end)


def _short_unit(written: str) -> str:
    """Return the short form of a known unit, `%` for a percentage, else nothing."""
    name = written.replace(" ", "").casefold()
    if name == "%":
        return "%"
    for form in (name, name.removesuffix("s")):
        short = _UNIT_NAMES.get(form, form)
        if short in _UNITS or short == "%":
            return short
    return ""


def unit_factor(one: str, other: str) -> Fraction | None:
    """Return what turns a number in unit `one` into unit `other`.

    Args:
        one: a short form, or empty.
        other: a short form, or empty.

    Returns:
        The factor; 1 when either has no unit; None when they measure different things.
    """
    if not one or not other or one == other:
        return Fraction(1)
    (kind, size), (other_kind, other_size) = _UNITS[one], _UNITS[other]
    return size / other_size if kind == other_kind else None


def same_quantity(
    reference: Quantity,
    answer: Quantity,
    *,
    tolerance: float | None = None,
    integer: bool | None = None,
) -> bool | None:
    """Compare an answer with a reference.

    Args:
        tolerance: absolute, in the reference's unit; None takes half a unit of the last decimal
            that the reference shows. A whole number shows none: it has to be met exactly.
        integer: whether the answer has to be a whole number; None if the source doesn't say, False
            if it's a measured number, whose last digit may then be rounded.

    Returns:
        True or False; None where it hangs on something that no rule knows: another kind of unit,
        a factor left out, an answer rounded more coarsely than the reference.
    """
    turn = unit_factor(answer.unit, reference.unit)
    if turn is None:
        return None
    value = answer.value * turn
    if reference.percent != answer.percent:
        rates = [value, value / 100 if answer.percent else value * 100]
        results = [_close(reference, answer, rate, tolerance, integer) for rate in rates]
        return True if True in results else None if None in results else False
    result = _close(reference, answer, value, tolerance, integer)
    if not result and reference.factor != answer.factor and reference.number == answer.number:
        return None
    if not result and (answer.other == reference.value or reference.other == value):
        return None
    return result


def _close(
    reference: Quantity,
    answer: Quantity,
    value: Fraction,
    tolerance: float | None,
    integer: bool | None,
) -> bool | None:
    distance = abs(value - reference.value)
    shown = reference.decimals
    if tolerance is not None:
        return distance <= Fraction(tolerance).limit_denominator(10**12)
    if shown is None or (shown <= 0 and integer is not False):
        if distance == 0:
            return True
        if integer or (shown is None and answer.decimals in (None, 0)):
            return False
    elif distance <= _half_unit(shown) * reference.factor:
        return True
    coarse = answer.decimals is not None and (shown is None or answer.decimals < shown)
    if coarse and distance <= _half_unit(answer.decimals or 0) * answer.factor:
        return None
    if shown is not None and shown <= 0 and distance <= _half_unit(shown) * reference.factor:
        return None
    return False


def _half_unit(decimals: int) -> Fraction:
    return Fraction(1, 2) / Fraction(10) ** decimals

"""Numbers as models write them: 4, "4.0", "4/5", "score: 4", "[4]", "4 - Good", "30%".

A number is read only where nothing else could be meant: a range, two numbers, a number in words
beside one in digits, or "4 or so" is no number.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, Literal

Unit = Literal["", "%"]

_LONGEST: Final = 80
_WRAPPERS: Final = " \t\r\n*_`\"'“”‘’()[]{}<>#"
_NUMBER: Final = r"[+-]?[0-9]{1,12}(?:\.[0-9]{1,12})?"
_STATED: Final = re.compile(
    r"(?:(?:the\s+)?(?:final\s+)?(?:score|rating|mark|grade|weight|value)\s*(?::|=|\bis\b)\s*)?"
    rf"(?P<number>{_NUMBER})"
    rf"\s*(?:(?:/|\bout of\b|\bof\b)\s*(?P<of>{_NUMBER})|(?P<unit>%|per\s?cent\b)"
    r"|(?:points?|pts?|stars?)\b)?"
    r"\s*(?:[-–—:,;.(]\s*(?P<label>[^\W\d_](?:[^\W\d_]|[ ,.'’!)(-])*))?",
    re.IGNORECASE,
)
_OTHER_NUMBER: Final = re.compile(
    r"\b(?:or|to|half|almost|nearly|between|under|over|less|more|plus|minus|maybe|perhaps"
    r"|not|point|percent|cent|zero|one|two|three|four|five|six|seven|eight|nine|ten|hundred"
    r"|third|quarter|fifth|ish)\b",
    re.IGNORECASE,
)
"""Words that may turn the number before them into another one."""
_WIDE: Final = str.maketrans("０１２３４５６７８９．／：％", "0123456789./:%")
_NOT_FINITE: Final = frozenset(("nan", "inf", "+inf", "-inf", "infinity", "-infinity"))
NOTHING: Final = frozenset(("", "null", "none", "nil", "n/a", "na"))
"""How a text says that there is no value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StatedNumber:
    """A number as it was stated.

    Args:
        number: its value; not finite where the text says so.
        of: what it is out of, `4/5`; None where nothing is said.
        unit: `%`, or nothing.
    """

    number: float
    of: float | None = None
    unit: Unit = ""


def stated_number(value: object) -> StatedNumber | None:
    """Read a number that a reply states.

    Args:
        value: a number, a text, or a list that holds one of these and nothing else.

    Returns:
        The number, or None where none can be read for sure.
    """
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return StatedNumber(number=float(value) if abs(value) < 1e300 else math.inf)
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    text = value.translate(_WIDE).strip(_WRAPPERS)
    if text.casefold() in _NOT_FINITE:
        return StatedNumber(number=math.nan)
    match = _STATED.fullmatch(text)
    if match is None or _OTHER_NUMBER.search(match["label"] or ""):
        return None
    return StatedNumber(
        number=float(match["number"]),
        of=None if match["of"] is None else float(match["of"]),
        unit="%" if match["unit"] else "",
    )


def says_nothing(value: object) -> bool:
    """Whether a value says that there is none: null, "null", "n/a"."""
    return value is None or (isinstance(value, str) and value.strip().casefold() in NOTHING)

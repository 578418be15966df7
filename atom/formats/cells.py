"""Read single cells: text, lists, numbers, verdicts, whatever a spreadsheet made of them."""

from __future__ import annotations

import ast
import io
import json
import math
import re
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

_MAX_LITERAL = 200_000
_LONGEST_VERDICT = 40
"""Characters of a verdict that is remembered."""
_NUMBERS = (int, float)
_NOT_A_NUMBER = frozenset({"nan", "NaN"})
_RIGHT = frozenset(
    {
        "true", "yes", "y", "t", "right", "correct", "c", "pass", "passed", "richtig", "korrekt",
        "vrai", "correcto", "verdadero", "corretto", "vero", "correto", "верно", "правильно",
        "正确", "对", "正解", "정답",
    }
)  # fmt: skip
_WRONG = frozenset(
    {
        "false", "no", "n", "f", "wrong", "incorrect", "i", "fail", "failed", "falsch", "faux",
        "incorrecto", "falso", "sbagliato", "errado", "incorreto", "неверно", "неправильно",
        "错误", "错", "不正确", "不正解", "오답",
    }
)  # fmt: skip


def clean_text(text: str) -> str:
    """Show what no database keeps (NUL, lone surrogates) as U+FFFD; all else stays as it is."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def is_missing(value: object) -> bool:
    """Whether a cell holds nothing: None, NaN, or no text but white space."""
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, float) and math.isnan(value)


def to_text(value: object) -> str | None:
    """Return a cell as text, None when it is missing; 4.0 becomes 4."""
    if value.__class__ is str:
        text: str = value
        if not text or text.isspace():
            return None
        return text if text.isascii() and "\x00" not in text else clean_text(text)
    if value is None:
        return None
    if value.__class__ is int:
        return str(value)
    if is_missing(value):
        return None
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, bytes):
        return clean_text(value.decode("utf-8", "replace"))
    if isinstance(value, list | tuple | dict):
        return clean_text(json.dumps(value, ensure_ascii=False, default=str))
    return clean_text(str(value))


def to_name(value: object) -> str | None:
    """Return an id, label or name: trimmed; None when missing or a written-out `nan`."""
    if value is None:
        return None
    text = value if value.__class__ is str else to_text(value)
    if text is None or not (text := text.strip()) or text in _NOT_A_NUMBER:
        return None
    return text if text.isascii() and "\x00" not in text else clean_text(text)


def to_list(value: object) -> list[object] | None:
    """Return a cell as a list: a list, or one written as JSON, Python or numpy text.

    Returns:
        The items; None when the cell isn't a list.
    """
    if isinstance(value, str):
        return _listed(value) if "[" in value else None
    return list(value) if isinstance(value, list | tuple) else None


def _listed(value: str) -> list[object] | None:
    text = value.strip()
    if not (text.startswith("[") and text.endswith("]")) or len(text) > _MAX_LITERAL:
        return None
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        items = _literal(text)
    return items if isinstance(items, list) else None


def _literal(text: str) -> object:
    numpy_items = _space_separated(text)
    if numpy_items is not None:
        return numpy_items
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _space_separated(text: str) -> list[object] | None:
    """Read `['a' 'b']`, as numpy prints it: Python would glue the strings together."""
    if not re.search(r"""['"]\s+['"]""", text):
        return None
    items: list[object] = []
    glued = False
    last = tokenize.OP
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING:
                glued |= last == tokenize.STRING
                items.append(ast.literal_eval(token.string))
            elif token.type == tokenize.OP and token.string not in "[],":
                return None
            if token.type in (tokenize.STRING, tokenize.OP):
                last = token.type
            elif token.type in (tokenize.NAME, tokenize.NUMBER):
                return None
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return items if glued else None


def to_number(value: object) -> float | None:
    """Return a cell as a finite number, or None."""
    if value.__class__ is float and math.isfinite(value):
        return value
    if isinstance(value, bool) or is_missing(value):
        return None
    try:
        number = float(value if isinstance(value, int | float) else str(value).strip())
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


class ImportedVerdict(NamedTuple):
    """An imported verdict: a value from 0 to 1, or why there is none."""

    value: float | None
    detail: str = ""


def to_verdict(value: object, top: float = 1.0) -> ImportedVerdict | None:
    """Read a verdict; the few that a file has are read once.

    Args:
        value: the cell.
        top: the number that means wholly right.

    Returns:
        None when the cell is empty; a verdict without a value, and the reason, when it says
        something that is no verdict.
    """
    if value is None or isinstance(value, _NUMBERS):
        return _verdict_of(value, top)
    if isinstance(value, str) and len(value) <= _LONGEST_VERDICT:
        return _verdict_of(value, top)
    return _worded(value, top)


@lru_cache(maxsize=1024, typed=True)
def _verdict_of(value: str | float | None, top: float) -> ImportedVerdict | None:
    if isinstance(value, bool):
        return ImportedVerdict(value=float(value))
    if isinstance(value, int | float) and 0 <= value <= top:
        return ImportedVerdict(value=value / top)
    return _worded(value, top)


def _worded(value: object, top: float) -> ImportedVerdict | None:
    name = to_name(value)
    if name is None:
        return None
    word = name.casefold()
    if word in _RIGHT:
        return ImportedVerdict(value=1.0)
    if word in _WRONG:
        return ImportedVerdict(value=0.0)
    if name.endswith("%"):
        value, top = name[:-1], 100.0
    number = to_number(value)
    if number is None:
        return ImportedVerdict(
            value=None, detail=f"the file says {name[:80]!r}, which is no verdict"
        )
    if not 0 <= number <= top:
        return ImportedVerdict(
            value=None, detail=f"the file says {name[:80]}, outside 0 to {top:g}"
        )
    return ImportedVerdict(value=number / top)


class AnswerOptions(NamedTuple):
    """Answer options, and what the source calls each."""

    texts: tuple[str, ...]
    labels: Mapping[str, str]
    """`A` → the first option's text, ..."""


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTER = re.compile(r"\(?([A-Za-z])[).:]?")


def to_choices(value: object) -> AnswerOptions | None:
    """Read options from one cell: a list, an object of letters, or `{text: [], label: []}`."""
    if isinstance(value, str) and value.strip().startswith("{") and len(value) <= _MAX_LITERAL:
        text = value.strip()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = _literal(text)
    if isinstance(value, Mapping):
        texts, labels = value.get("text"), value.get("label")
        if isinstance(texts, list) and isinstance(labels, list):
            pairs = [(str(a), b) for a, b in zip(labels, texts, strict=False)]
        else:
            pairs = [(str(key), text) for key, text in value.items()]
        return label_choices([label for label, _ in pairs], [text for _, text in pairs])
    items = to_list(value)
    if not items:
        return None
    return label_choices(_LETTERS[: len(items)], items)


def label_choices(labels: Sequence[str], values: Sequence[object]) -> AnswerOptions:
    """Pair labels with options, dropping empty options after the labels are given."""
    found = [to_text(value) for value in values]
    if None not in found and [*map(type, values)].count(str) == len(found):  # as nearly all are
        clean = tuple(cast("list[str]", found))
        return AnswerOptions(clean, dict(zip(map(_folded, labels), clean, strict=False)))
    texts: list[str] = []
    named: dict[str, str] = {}
    for position, (value, text) in enumerate(zip(values, found, strict=True)):
        if text is None or (not isinstance(value, str) and text in _NOT_A_NUMBER):
            continue
        texts.append(text)
        if position < len(labels):
            named[_folded(labels[position])] = text
    return AnswerOptions(tuple(texts), named)


@lru_cache(maxsize=256)
def _folded(label: str) -> str:
    return label.strip().upper()


class Reference(NamedTuple):
    """A reference answer as text, with what had to be decided to read it."""

    text: str | None
    note: str = ""


def _several(value: object, choices: AnswerOptions | None) -> list[object] | None:
    """Tell several answers in one cell from an answer that is itself a list, like `[1, 2]`."""
    if value.__class__ is str and "[" not in value:
        return None
    items = to_list(value)
    if items is None or not isinstance(value, str):
        return items
    if choices is not None and value.strip() in choices.texts:
        return None
    return items if all(isinstance(item, str) for item in items) else None


def to_reference(
    value: object, choices: AnswerOptions | None = None, index_from: int | None = None
) -> Reference:
    """Read the reference answer.

    With choices it is the choice's own text: found by equal text, by its letter (`B`, `(B)`,
    `B.`), or by its position.

    Args:
        value: the cell; of several answers the most frequent one is kept.
        choices: the options, if any.
        index_from: what the first option is called where answers are positions.
    """
    note = ""
    several = _several(value, choices)
    if several is not None:
        texts = [text for text in map(to_text, several) if text is not None]
        if not texts:
            return Reference(text=None)
        if len(set(texts)) > 1:
            note = "several reference answers; the most frequent (else the first) is kept"
        value = Counter(texts).most_common(1)[0][0]
    text = to_text(value)
    if text is None or choices is None or not choices.texts:
        return Reference(text, note)
    trimmed = text.strip()
    for choice in choices.texts:
        if choice.strip() == trimmed:
            return Reference(choice, note)
    letter = _LETTER.fullmatch(trimmed)
    if letter and letter[1].upper() in choices.labels:
        return Reference(choices.labels[letter[1].upper()], note)
    if trimmed.upper() in choices.labels:
        return Reference(text=choices.labels[trimmed.upper()], note=note)
    if index_from is not None and re.fullmatch(r"\d{1,2}", trimmed):
        position = int(trimmed) - index_from
        if 0 <= position < len(choices.texts):
            return Reference(text=choices.texts[position], note=note)
    return Reference(text=text, note="the answer is not among the choices; its text is kept")

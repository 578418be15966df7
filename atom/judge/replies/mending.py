"""Reads an object that isn't quite JSON: other quotes, bare words, comments, a cut end.

A repair library proposes what the text may mean. It guesses, as such libraries do: it takes the
first of two numbers, drops what it can't place, closes what was cut in the middle of a word. So its
proposal is held against the text, sign by sign: every key and every value has to stand there, whole
and in the same order, with nothing between them but brackets, commas, colons, quotes, spaces and
comments. What doesn't stand the comparison isn't read. Of a text that was cut, what was being
written when it ended is left out; whole items of a list that was cut are kept.

Both passes are linear in the length of the text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MAX_MENDED: Final = 200_000
"""Characters of an object that are mended; a longer one is refused."""
MOST_PARENTHESES: Final = 1000
"""The library takes each for a bracket that may never close."""
MAX_DEPTH: Final = 12
"""Brackets within brackets; no reply that is asked for has more than five."""

_PAIRS: Final = {
    '"': '"', "'": "'", "`": "`", "“": "”", "”": "”", "„": "“”", "‘": "’", "’": "’", "«": "»",
}  # fmt: skip
_SPACE_OR_COMMENT: Final = re.compile(r"\s+|//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_BARE: Final = re.compile(r"[^,{}\[\]\n]*")
_BARE_KEY: Final = re.compile(r"[^\W\d][\w-]*")
_COMMENT: Final = re.compile(r"(?<=\s)(?://|#)|/\*")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/"}
_JSON_ESCAPES: Final = '"\\/bfnrtu'
_NAMED: Final[Mapping[str, object]] = {"true": True, "false": False, "null": None, "none": None}
_PLAIN_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class MendedObject:
    """An object that was mended.

    Args:
        value: what it holds.
        end: index after it.
        notes: what was mended, each thing once.
        cut: whether the text ends inside it; then only what was whole is here.
    """

    value: dict[str, object]
    end: int
    notes: tuple[str, ...]
    cut: bool = False


class _Unfaithful(Exception):
    """The proposal says something that the text doesn't, or leaves something out."""


class _Partial:
    """Stands for a value that was being written when the text ended."""


_PARTIAL: Final = _Partial()


def mend(text: str) -> MendedObject | None:
    """Read an object that isn't quite JSON.

    Args:
        text: begins with the object's bracket; only words may follow the object.

    Returns:
        The object, or None where it can't be read without guessing.
    """
    if len(text) > MAX_MENDED or _too_deep(text):
        return None
    import json_repair

    try:
        proposed = json_repair.repair_json(text, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError):
        return None
    if isinstance(proposed, list) and proposed:
        proposed = proposed[0]  # Words after the object were taken for more of it.
    if not isinstance(proposed, dict):
        return None
    check = _Comparison(text)
    try:
        value = check.read_object(proposed, root=True)
    except _Unfaithful:
        return None
    return MendedObject(
        value=value if isinstance(value, dict) else {},
        end=check.at,
        notes=tuple(dict.fromkeys(check.notes)),
        cut=check.cut,
    )


def _too_deep(text: str) -> bool:
    depth = 0
    for mark in re.finditer(r"[{}\[\]]", text):
        depth += 1 if mark.group() in "{[" else -1
        if depth > MAX_DEPTH:
            return True
    return text.count("(") > MOST_PARENTHESES


class _Comparison:
    """Walks along a text and a proposal together, and takes the values from the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.notes: list[str] = []
        self.cut = False

    def read_object(self, proposed: Mapping[str, object], *, root: bool = False) -> object:
        self._take("{")
        made: dict[str, object] = {}
        for number, (key, value) in enumerate(proposed.items()):
            self._between(first=number == 0)
            if self._ended():
                break
            name = self._key(key)
            if isinstance(name, _Partial) or not self._colon():
                break
            item = self._value(value, keep=root)
            if isinstance(item, _Partial):
                break
            made[name] = item
        return made if self._close("}") or root else _PARTIAL

    def _list(self, proposed: list[object], *, keep: bool) -> object:
        self._take("[")
        made: list[object] = []
        for number, value in enumerate(proposed):
            self._between(first=number == 0)
            if self._ended():
                break
            item = self._value(value)
            if isinstance(item, _Partial):
                break
            made.append(item)
        return made if self._close("]") or keep else _PARTIAL

    def _value(self, proposed: object, *, keep: bool = False) -> object:
        self._spaces()
        if self._ended():
            return _PARTIAL
        if isinstance(proposed, dict):
            return self.read_object(proposed)
        if isinstance(proposed, list):
            if self.text[self.at] == "{" and not self._closes_again():
                self.cut, self.at = True, len(self.text)  # An object that had only begun.
                return _PARTIAL
            return self._list(proposed, keep=keep)
        if isinstance(proposed, str) and self.text[self.at] in _PAIRS:
            return self._quoted(proposed)
        return self._bare(proposed)

    def _key(self, proposed: object) -> str | _Partial:
        if not isinstance(proposed, str):
            raise _Unfaithful
        if self.text[self.at] in _PAIRS:
            return self._quoted(proposed)
        bare = _BARE_KEY.match(self.text, self.at)
        if bare is None or bare.group() != proposed:
            if bare is not None and bare.end() == len(self.text):
                self.cut = True
                return _PARTIAL
            raise _Unfaithful
        self.at = bare.end()
        self.notes.append("keys without quotes")
        return proposed

    def _quoted(self, proposed: str) -> str | _Partial:
        """Compare a text in quotes, sign by sign; what an escape means counts as the sign."""
        opening = self.text[self.at]
        closing = _PAIRS[opening]
        if opening != '"':
            self.notes.append("other quotes than JSON's")
        at, text = self.at + 1, self.text
        for sign in proposed:
            at = self._sign(at, sign)
        if at >= len(text):
            self.at, self.cut = len(text), True
            return _PARTIAL
        if text[at] not in closing and not (opening in "“”„" and text[at] == '"'):
            if text[at] == "\\" and at + 1 >= len(text):
                self.at, self.cut = len(text), True
                return _PARTIAL
            raise _Unfaithful
        if any(quote in proposed for quote in closing) and "\\" not in text[self.at : at]:
            self.notes.append("quotes inside a text")
        if "\n" in text[self.at : at]:
            self.notes.append("a line break inside a text")
        self.at = at + 1
        return proposed

    def _sign(self, at: int, sign: str) -> int:
        """Return the index after a sign of a text, however it's written."""
        text = self.text
        if at >= len(text):
            raise _Unfaithful
        found = text[at]
        if found == "\\" and at + 1 < len(text):
            after = text[at + 1]
            width = {"u": 4, "x": 2}.get(after, 0)
            digits = text[at + 2 : at + 2 + width]
            if width and re.fullmatch(r"[0-9a-fA-F]+", digits) and int(digits, 16) == ord(sign):
                self._odd_escape(after)
                return at + 2 + width
            if _ESCAPES.get(after, after) == sign and after not in "ux":
                self._odd_escape(after)
                return at + 2
        if found == sign:
            if found == "\\":
                self._odd_escape("")
            return at + 1
        raise _Unfaithful

    def _odd_escape(self, after: str) -> None:
        if after not in _JSON_ESCAPES or not after:
            self.notes.append("a backslash that JSON doesn't know")

    def _bare(self, proposed: object) -> object:
        """Take a value without quotes from the text itself, to the end of its place."""
        match = _BARE.match(self.text, self.at)
        raw = match.group() if match else ""
        self.at += len(raw)
        if self._ended():
            self.cut = True
            return _PARTIAL
        if comment := _COMMENT.search(raw):
            self.notes.append("a comment")
            raw = raw[: comment.start()]
        raw = raw.strip()
        if not raw or any(quote in raw for quote in '"“”`'):
            raise _Unfaithful
        if raw.casefold() in _NAMED:
            if raw not in ("true", "false", "null"):
                self.notes.append("True, False or None as Python writes them")
            return _NAMED[raw.casefold()]
        if _PLAIN_NUMBER.fullmatch(raw):
            return self._number(raw)
        if isinstance(proposed, bool) or proposed is None:
            raise _Unfaithful
        if isinstance(proposed, str) and not raw.startswith(proposed[:20]):
            raise _Unfaithful
        if raw.casefold() in ("nan", "inf", "infinity", "-inf", "-infinity"):
            raise _Unfaithful
        self.notes.append("text without quotes")
        return raw

    def _number(self, raw: str) -> object:
        number: object = json.loads(raw) if len(raw) < 20 else float(raw)
        if isinstance(number, float) and not math.isfinite(number):
            raise _Unfaithful
        return number

    def _ended(self) -> bool:
        if self.at < len(self.text):
            return False
        self.cut = True
        return True

    def _spaces(self) -> None:
        while (match := _SPACE_OR_COMMENT.match(self.text, self.at)) is not None:
            if not match.group().isspace():
                self.notes.append("a comment")
            self.at = match.end()

    def _between(self, *, first: bool) -> None:
        """Go over what stands between two items: one comma, if all is well."""
        self._spaces()
        commas = 0
        while self.text.startswith(",", self.at):
            commas += 1
            self.at += 1
            self._spaces()
        if commas != (0 if first else 1) and not self.at >= len(self.text):
            self.notes.append("a comma too many" if commas else "a missing comma")

    def _colon(self) -> bool:
        self._spaces()
        if self._ended():
            return False
        self._take(":")
        return True

    def _take(self, sign: str) -> None:
        self._spaces()
        if not self.text.startswith(sign, self.at):
            raise _Unfaithful
        self.at += 1

    def _close(self, bracket: str) -> bool:
        """Go past a closing bracket; False where the text ends before it."""
        if self.cut:
            return False
        self._spaces()
        while self.text.startswith(",", self.at):
            self.notes.append("a comma before a closing bracket")
            self.at += 1
            self._spaces()
        if not self.text.startswith(bracket, self.at) and not self._closes_again():
            self.cut = True  # What is left is the beginning of an item that never ended.
            self.at = len(self.text)
        if self._ended():
            return False
        self._take(bracket)
        return True

    def _closes_again(self) -> bool:
        return any(self.text.find(bracket, self.at) >= 0 for bracket in "}]")

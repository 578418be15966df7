"""Read a large JSON document piece by piece, in memory that doesn't grow with the file."""

from __future__ import annotations

import json
import json.scanner
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from pydantic_core import from_json

_CHUNK = 65_536
_MAX_VALUE = 128_000_000
_NEAR_THE_END = 16
"""Characters: a number may go on (`1.`, `1e+`), a word or an escape may be cut."""


_BLANK = re.compile(r"[ \t\r\n\ufeff]*")


class BrokenJsonError(ValueError):
    """The document breaks off or isn't JSON from here on.

    Args:
        reason: what is wrong, in words.
        at_end: whether the text ended too early, as a cut file does.
    """

    def __init__(self, reason: str, *, at_end: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at_end = at_end


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) < 4000 else digits


DECODER = json.JSONDecoder(strict=False, parse_int=_integer)
"""Takes control characters in strings, NaN, and integers of any length (as text)."""


_PLAIN = json.JSONDecoder(strict=False)
_SCAN = json.scanner.make_scanner(_PLAIN)  # type: ignore[arg-type]  # typed as its own argument
"""Without a look for white space before and after, which a stripped line has none of."""


def plain_object(text: str) -> dict[str, object] | None:
    """Read a text that is an object from its first to its last character; None = look closer.

    What pydantic's reader takes it reads as Python's does, in half of the time; what it refuses
    (control characters in texts, half a surrogate pair, deep nesting) Python's may take.
    """
    try:
        value = from_json(text, cache_strings="keys")
    except ValueError:
        try:
            value, end = _SCAN(text, 0)
        except (StopIteration, ValueError, RecursionError):
            return None
        if end < len(text):
            return None
    return value if value.__class__ is dict else None


def decode(text: str) -> object:
    """Read one whole document.

    Raises:
        ValueError: it isn't JSON.
    """
    try:
        value, end = _SCAN(text, 0)
    except (StopIteration, ValueError):
        end = -1
    if end == len(text):
        return value
    try:
        return _PLAIN.decode(text)
    except ValueError:
        # Integers of thousands of digits come as text; what is wrong otherwise is wrong here, too.
        return DECODER.decode(text)


@dataclass(frozen=True, kw_only=True)
class KeyValue:
    """A key and its value in an object."""

    key: str
    value: object


class JsonScanner:
    """Reads values one after the other from a stream of text."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._text = ""
        self._at = 0
        self._ended = False

    def _fill(self) -> bool:
        if self._ended:
            return False
        rest = self._text[self._at :]
        if len(rest) > _MAX_VALUE:
            raise BrokenJsonError(f"one value has more than {_MAX_VALUE // 1_000_000} MB")
        more = self._stream.read(max(_CHUNK, len(rest)))
        if not more:
            self._ended = True
            return False
        self._text = rest + more
        self._at = 0
        return True

    def peek(self) -> str:
        """Return the next character that isn't white space; empty at the end."""
        while True:
            self._at = _BLANK.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill():
                return ""

    def value(self) -> object:
        """Read one whole value.

        Raises:
            BrokenJsonError: there is none, or it breaks off.
        """
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                more_may_help = (
                    error.msg.startswith("Unterminated string")
                    or error.pos >= len(self._text) - _NEAR_THE_END
                )
                if more_may_help and self._fill():
                    continue
                raise BrokenJsonError(error.msg, at_end=more_may_help) from error
            except RecursionError:
                raise BrokenJsonError("it is nested too deeply") from None
            if (
                not isinstance(value, list | dict)
                and end >= len(self._text) - _NEAR_THE_END
                and self._fill()
            ):
                continue
            self._at = end
            return value

    def items(self) -> Iterator[object]:
        """Read the values of an array, one at a time.

        Raises:
            BrokenJsonError: it breaks off.
        """
        self._expect("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield self.value()
            if self._expect(",", "]") == "]":
                return

    def pairs(self) -> Iterator[KeyValue]:
        """Read the pairs of an object, one at a time.

        Raises:
            BrokenJsonError: it breaks off.
        """
        for key in self.each_key():
            yield KeyValue(key=key, value=self.value())

    def each_key(self) -> Iterator[str]:
        """Read an object's keys; the caller reads each value before going on.

        Raises:
            BrokenJsonError: it breaks off.
        """
        self._expect("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            key = self.value()
            if not isinstance(key, str):
                raise BrokenJsonError("a key isn't a string")
            self._expect(":")
            yield key
            if self._expect(",", "}") == "}":
                return

    def _expect(self, *allowed: str) -> str:
        found = self.peek()
        if found not in allowed or not found:
            wanted = " or ".join(repr(item) for item in allowed)
            raise BrokenJsonError(
                f"{wanted} expected, {'the end' if not found else repr(found)} found",
                at_end=not found,
            )
        self._at += 1
        return found

"""How records are named, cut and remembered while an import runs."""

from __future__ import annotations

from bisect import bisect_right

MAX_NAME = 500


def short(record_id: str) -> int:
    """Cut an id to 64 bits, to remember millions of them in little memory while this runs."""
    return hash(record_id)


def cut(text: str, length: int = MAX_NAME) -> str:
    """Shorten a name or a quotation."""
    return text if len(text) <= length else text[:length]


class SeenNumbers:
    """Remembers whole numbers as runs: a log that counts upwards takes no memory at all."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, number: int) -> bool:
        """Take a number in; says whether it is new."""
        if self._ends and self._ends[-1] == number - 1:  # so most logs count
            self._ends[-1] = number
            return True
        at = bisect_right(self._starts, number)
        if at and number <= self._ends[at - 1]:
            return False
        if at and self._ends[at - 1] == number - 1:
            self._ends[at - 1] = number
            if at < len(self._starts) and self._starts[at] == number + 1:
                self._ends[at - 1] = self._ends.pop(at)
                del self._starts[at]
        elif at < len(self._starts) and self._starts[at] == number + 1:
            self._starts[at] = number
        else:
            self._starts.insert(at, number)
            self._ends.insert(at, number)
        return True

    @property
    def runs(self) -> int:
        """How many runs are kept."""
        return len(self._starts)

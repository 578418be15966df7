"""How the probe judge matches a person's criterion to one of its own: by the words they share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_WORD = re.compile(r"[a-z0-9]+")
_LITTLE: Final = frozenset(
    [
        *("a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "how"),
        *("in", "is", "it", "its", "of", "on", "or", "so", "that", "the", "there", "this", "to"),
        *("was", "what", "where", "which", "who", "with", "answer", "say", "says", "state"),
        *("states", "give", "gives"),
    ]
)
_ENOUGH: Final = 0.5
"""Of the words of both, so many must be shared."""


def match_own(data: Mapping[str, Any]) -> dict[str, object]:
    """Answer which criterion asks the same as each of a person's; 0 = none."""
    criteria = [
        (one.get("number"), _words(f"{one.get('question', '')}")) for one in _rows(data, "criteria")
    ]
    found: list[dict[str, object]] = []
    for row in _rows(data, "own"):
        words = _words(str(row.get("text", "")))
        shares = [(_share(words, other), number) for number, other in criteria]
        share, number = max(shares, key=lambda one: one[0], default=(0.0, 0))
        same = share >= _ENOUGH
        reason = "they share most of their words" if same else "none shares most of its words"
        found.append({"id": row.get("id"), "reason": reason, "number": number if same else 0})
    return {"matches": found}


def _rows(data: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    rows = data.get(key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _LITTLE


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0

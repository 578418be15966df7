"""Terms of the glossary in a question: each is understood, and some say which page shows it.

The glossary itself is a file of the docs, which whoever asks reads; here stands what a term opens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

_OVERVIEW: Final = {"page": "overview"}
_FAILURES: Final = {"page": "failures"}
_SHAPES: Final = {"page": "fingerprints"}
_TREE: Final = {"page": "tree"}
_APART: Final = {"page": "fingerprints", "tab": "apart"}
_ANSWERS: Final = {"page": "fingerprints", "tab": "answers"}
_LUCKY: Final = {"page": "failures", "outcome": "right", "process": "flawed"}
_SLIP: Final = {"page": "failures", "outcome": "wrong", "process": "sound"}

VIEWS: Final[Mapping[str, Mapping[str, Any]]] = {
    "rank set": _OVERVIEW, "interval": _OVERVIEW, "sample score": _OVERVIEW,
    "score 0-100": _OVERVIEW, "people's scale": _OVERVIEW, "judge-scale": _OVERVIEW,
    "by guessing": _OVERVIEW, "terse": _OVERVIEW, "early look": _OVERVIEW, "anchor": _OVERVIEW,
    "win rate": {"page": "overview", "measure": "preference"},
    "vote": {"page": "overview", "measure": "preference"},
    "outcome": {"page": "overview", "measure": "outcome"},
    "lucky": _LUCKY, "sound": {"page": "failures", "outcome": "right", "process": "sound"},
    "slip": _SLIP, "broken": {"page": "failures", "outcome": "wrong", "process": "flawed"},
    "unscored": {"page": "failures", "show": "unscored"},
    "judges differ": {"page": "failures", "show": "disputed"},
    "disagreement of judges": {"page": "failures", "show": "disputed"},
    "kind of error": {"page": "fingerprints", "tab": "errors"},
    "failure signature": {"page": "fingerprints", "tab": "errors"},
    "group of failures": {"page": "failures", "layout": "groups"},
    "failed criterion": _FAILURES, "checkpoint": _FAILURES, "checkpoint score": _FAILURES,
    "reason": _FAILURES, "quote": _FAILURES, "raw reply": _FAILURES, "quarantined": _FAILURES,
    "set aside": _FAILURES, "ground truth": _FAILURES, "cognitive replay": _FAILURES,
    "region": _FAILURES, "slice": _FAILURES, "carried": _FAILURES, "not said": _FAILURES,
    "confirmed weakness": _SHAPES, "suspected weakness": _SHAPES, "peer frame": _SHAPES,
    "own frame": _SHAPES, "absolute frame": _SHAPES, "nothing found": _SHAPES,
    "insufficient": _SHAPES, "radar": _SHAPES, "fingerprint": _SHAPES, "visual gain": _SHAPES,
    "blind control": _SHAPES, "answerable from text": _SHAPES, "false discovery rate": _SHAPES,
    "identification": _APART, "2-afc": _APART, "pair test": _APART,
    "first break": _ANSWERS, "tie": _ANSWERS,
    "capability tree": _TREE, "leaf path": _TREE, "node": _TREE, "node score": _TREE,
    "root": _TREE, "support": _TREE, "tree version": _TREE, "mapping": _TREE,
    "paired difference": {"page": "compare"}, "mcnemar": {"page": "compare"},
    "adjusted p": {"page": "compare"},
}  # fmt: skip
"""What a term opens, by its name in the glossary, folded."""
_ASKS: Final = re.compile(
    r"(?:what|which) (?:is|are|does|do)(?: an?| the)? (?P<term>.+?)(?: mean| stand for)?\W*$|"
    r"(?:explain|define|meaning of)(?: an?| the)? (?P<other>.+?)\W*$",
    re.IGNORECASE,
)
MOST: Final = 3
"""Terms of one question that are explained."""


def terms_in(question: str, names: Iterable[str]) -> tuple[str, ...]:
    """Find terms of the glossary in a question, the longest first, at most `MOST`.

    A term of one word that opens nothing of its own counts only where the question asks what it is:
    `value` and `case` are everybody's words.

    Args:
        question: in words.
        names: terms that the glossary has, folded.
    """
    text = " ".join(question.casefold().replace("’", "'").split())
    asked = _ASKS.match(text)
    about = (asked["term"] or asked["other"]) if asked else ""
    found: list[str] = []
    for name in sorted(names, key=lambda one: (-len(one), one)):
        if not (name in VIEWS or " " in name or _same(about, name)):
            continue
        if re.search(pattern_of(name), text):
            found.append(name)
            text = re.sub(pattern_of(name), " ", text)
    return tuple(found[:MOST])


def pattern_of(term: str) -> str:
    """Return the pattern that finds a term among whole words, its plural too."""
    return rf"(?<![\w-]){re.escape(term)}(?:e?s)?(?![\w-])"


def _same(about: str, name: str) -> bool:
    return about in (name, f"{name}s", f"{name}es")

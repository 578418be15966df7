"""Branches on which the judge itself can't be trusted, as marks for any screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atom.analysis.agreement.calibration import Branch, Calibration, Flaw
from atom.display import numbers
from taxonomy import Path, format_path

GLYPH = "◑"
WORDS: Mapping[Flaw, str] = {
    "lenient": "judge lenient here",
    "harsh": "judge harsh here",
    "blind": "judge unsure here",
}
_TOO: Mapping[Flaw, str] = {"lenient": "too high", "harsh": "too low"}


@dataclass(frozen=True, kw_only=True)
class JudgeMark:
    """What is wrong with the judge on a branch.

    Attributes:
        path: the branch that was found, which may be above the node that is looked at.
        word: in two or three words.
        tip: in one sentence, with numbers.
    """

    path: Path
    word: str
    tip: str

    @property
    def text(self) -> str:
        """The glyph with its word."""
        return f"{GLYPH} {self.word}"


def points(value: float) -> str:
    """Say how many points of 1..5, in words."""
    size = abs(value)
    if round(size, 1) == 0.5:
        return "half a point"
    if round(size, 1) == 1:
        return "a whole point"
    return f"{size:.1f} points"


def mark_of(branch: Branch) -> JudgeMark | None:
    """Return the mark of a branch; None where nothing is wrong."""
    if branch.flaw is None:
        return None
    name = format_path(branch.path)
    if branch.flaw == "blind":
        tip = (
            f"On test pictures whose truth is known, the judge's scores of {name} don't follow the "
            f"truth: exactly right in only {numbers.share(branch.accuracy)} "
            f"({numbers.count(branch.n, 'step')}), "
            "hardly higher for better steps. Numbers here say little."
        )
    else:
        tip = (
            f"On test pictures whose truth is known, the judge reads {name} {points(branch.bias)} "
            f"{_TOO[branch.flaw]} on 1–5 ({numbers.signed(branch.bias, 2)}, "
            f"{numbers.signed_ends(branch.bias_lo, branch.bias_hi, 2)}; {branch.n:,} "
            "steps): scores "
            "here can't be compared with others."
        )
    return JudgeMark(path=branch.path, word=WORDS[branch.flaw], tip=tip)


def marks_of(view: Calibration | None) -> dict[Path, JudgeMark]:
    """Return the marked branches by path; none without a calibration."""
    found = {} if view is None else {one.path: mark_of(one) for one in view.flawed}
    return {path: mark for path, mark in found.items() if mark is not None}


def find_mark(marks: Mapping[Path, JudgeMark], path: Path) -> JudgeMark | None:
    """Return a node's own mark, else that of the nearest branch above it."""
    return next((marks[path[:d]] for d in range(len(path), 0, -1) if path[:d] in marks), None)


def find_mark_above(marks: Mapping[Path, JudgeMark], path: Path) -> JudgeMark | None:
    """Return the mark of the highest branch that a node is or hangs in."""
    return next((marks[path[:d]] for d in range(1, len(path) + 1) if path[:d] in marks), None)

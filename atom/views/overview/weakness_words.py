"""What is said of a weakness: its size, what it is held against, what would settle it."""

from __future__ import annotations

import math

from atom.analysis.capability.diagnosis import UNTESTED
from atom.display import numbers
from atom.views.overview.evidence import Evidence, NodeEvidence
from atom.views.overview.weaknesses import Weakness, Weaknesses


def effect_words(item: Weakness) -> str:
    """Write the effect with its interval and what it is held against."""
    size = _size_words(item.effect, item.lo, item.hi, higher=item.status == "strength")
    if item.label is None:
        return f"{size} {_against_words(item.frame)}"
    return f"{size} {_against_words(item.frame, 'questions', 'answers')}"


def evidence_words(item: NodeEvidence) -> str:
    """Write a node's effect with its interval and what it is held against, or why there is none."""
    if not item.n:
        return "no score here yet"
    if not math.isfinite(item.effect):
        return "nothing to compare it with"
    higher = item.effect >= 0 if item.label in ("nothing found", *UNTESTED) else (
        item.label == "strength"
    )  # fmt: skip
    size = _size_words(item.effect, item.lo, item.hi, higher=higher)
    return f"{size} {_against_words(item.frame)}"


def _size_words(effect: float, lo: float, hi: float, *, higher: bool) -> str:
    sign = 1 if higher else -1
    lo, hi = sorted((sign * lo, sign * hi))
    size = numbers.plain(sign * effect, 1)
    if math.isfinite(lo) and math.isfinite(hi):
        size += f" ({numbers.ends(lo, hi)})"
    return f"{size} points of 100 {'higher' if higher else 'lower'}"


def _against_words(frame: str, peers: str = "criteria", own: str = "criteria") -> str:
    if frame == "peer":
        return f"than the other models' scores on the same {peers} predict"
    return f"than on the rest of its own {own}"


def frame_words(item: Weakness | Weaknesses | NodeEvidence | Evidence) -> str:
    """Name the frame, and what it can't tell apart."""
    note = ", confounded with difficulty" if item.confounded else ""
    if isinstance(item, Weaknesses) and item.benchmarks > 1:
        note += f", within each of {item.benchmarks:,} benchmarks"
    return f"{item.frame} frame{note}"


def frame_in_words(item: Weakness | Weaknesses) -> str:
    """Say what a model was held against, and what that can't tell apart, without a term."""
    if item.frame == "absolute":
        return frame_words(item)
    whom = "the other models" if item.frame == "peer" else "the model's own other answers"
    doubt = ", so what is hard for every model would look the same" if item.confounded else ""
    within = ""
    if isinstance(item, Weaknesses) and item.benchmarks > 1:
        within = f", within each of {item.benchmarks:,} benchmarks"
    return f"compared with {whom}{within}{doubt}"


def more_words(item: Weakness | NodeEvidence) -> str:
    """Say what would settle a suspicion; empty for anything else."""
    claim = item.status if isinstance(item, Weakness) else item.label
    if claim != "suspected" or math.isnan(item.more_samples):
        return ""
    if math.isinf(item.more_samples):
        return "more samples alone would not settle it"
    number = math.ceil(item.more_samples)
    return f"about {number:,} more {'sample' if number == 1 else 'samples'} there would settle it"

"""What a clause states of a step: one value, or one of two."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from atom.probes.answers.derivation import Value
from atom.probes.answers.reading import Mention, Span, merge


@dataclass(frozen=True, kw_only=True)
class StepStatement:
    """A clause that speaks of a step and holds values."""

    cues: int
    start: int
    end: int
    anchors: tuple[Span, ...]
    values: tuple[Mention, ...]
    vague: bool


@dataclass(frozen=True, kw_only=True)
class StepValues:
    """What a clause says of a step: a value, or one of two."""

    best: Mention
    either: Mention | None

    @property
    def single(self) -> Value | None:
        """The one value that is stated; None for one of two."""
        return self.best.value if self.either is None else None


def nearest_first(chosen: StepStatement) -> tuple[Mention, ...]:
    """Return a clause's values, the one nearest to an anchor first, the later of two equals.

    An anchor that holds a value is the value's own word and no cue. Sorted, so that a clause with
    thousands of anchors and values takes no longer than it should.
    """
    values = sorted(chosen.values, key=lambda m: m.start)
    starts = [m.start for m in values]
    cues = merge([span for span in chosen.anchors if not _holds(span, values, starts)])
    begins = [a for a, _ in cues]

    def distance(mention: Mention) -> tuple[int, int]:
        at = bisect_left(begins, mention.start)
        gaps = [
            max(a - mention.end, mention.start - b, 0) for a, b in cues[max(at - 1, 0) : at + 1]
        ]
        return (min(gaps, default=0), -mention.start)

    return tuple(sorted(values, key=distance))


def _holds(span: Span, values: Sequence[Mention], starts: Sequence[int]) -> bool:
    at = bisect_left(starts, span[0])
    return at < len(values) and values[at].end <= span[1]


def lies_within(span: Span, values: Sequence[Mention]) -> bool:
    """Tell whether a span lies inside one of the sorted values."""
    at = bisect_right(values, span[0], key=lambda m: m.start) - 1
    return at >= 0 and span[1] <= values[at].end

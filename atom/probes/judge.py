"""The probe judge: reads each step's score back from an answer's text.

It shares the step record and `band` with whatever wrote the answer, and nothing else: it never
sees the phrases of a step nor a drawn outcome. A step is looked for in the clauses that hold its
anchors; the value nearest to the anchor is placed in a band; a hedge turns a 5 into a 4. A step
without a clause of its own is a 1 (not mentioned), unless the answer holds a value of the step's
type that belongs to no step: then nothing can be said, and the score is None with the reason "no
anchor".

Reference: METHODS D2-D3.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from atom.probes.draws import Draws
from atom.probes.program import Band, Program, Step, band
from atom.probes.reading import Clause, Mention, Reading, Span, covered, find_all, merge, read_text

MAX_ANSWER = 400_000
"""Characters of an answer that are read; what lies beyond is ignored."""

_SYNONYMS: dict[str, tuple[str, ...]] = {
    "red": ("crimson", "scarlet", "reddish"),
    "blue": ("navy", "azure", "bluish"),
    "green": ("emerald", "greenish"),
    "yellow": ("golden", "yellowish"),
    "purple": ("violet", "magenta"),
    "orange": ("amber",),
    "gray": ("grey",),
    "grey": ("gray",),
    "sphere": ("ball", "orb"),
    "cube": ("box", "block"),
    "cylinder": ("tube", "drum"),
    "rises": ("rising", "increases", "goes up", "climbs", "grows", "upward"),
    "falls": ("falling", "decreases", "goes down", "drops", "declines", "downward"),
    "yes": ("correct",),
    "no": ("incorrect",),
    "safe": ("within limits", "within the limit"),
    "unsafe": ("not safe", "dangerous"),
    "moved": ("shifted", "displaced"),
    "removed": ("gone", "disappeared", "taken away"),
    "added": ("appeared",),
    "recoloured": ("recolored", "changed colour", "changed color"),
}
_CASED = {"may", "march", "mar"}
_NEGATED = re.compile(
    r"(?:\bnot|n't|\bnever|\bneither)\s+(?:(?:a|an|the|in|at all|quite|really)\s+)?$"
)
_DISJOINT = re.compile(
    r"[\s,\"']{0,3}(?:or|and/or)\s+(?:(?:maybe|perhaps|possibly)\s+)?(?:an?\s+|the\s+)?[\"'$€£]?"
)
_BAND_SCORE: dict[Band, int] = {"exact": 5, "near": 3, "far": 2}
_BAND_WORDS: dict[Band, str] = {"exact": "", "near": "a near miss", "far": "a far miss"}


@dataclass(frozen=True, kw_only=True)
class StepScore:
    """What the judge says about one step of one answer."""

    score: int | None
    """1..5; None when the judge declines, see `reason`."""
    reason: str
    start: int = 0
    end: int = 0
    """Where in the answer the evidence stands; equal when there is none."""
    quote: str = ""
    """The answer's text between the offsets, exactly."""


@dataclass(frozen=True)
class StepReader:
    """A step, made ready for reading many answers."""

    step: Step
    anchors_all: tuple[str, ...] = field(init=False)
    anchors_any: tuple[str, ...] = field(init=False)
    constants: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Lower-case the words that are looked for."""
        for name in ("anchors_all", "anchors_any", "constants"):
            words = tuple(dict.fromkeys(w.lower() for w in getattr(self.step, name) if w.strip()))
            object.__setattr__(self, name, words)

    @cached_property
    def surfaces(self) -> dict[str, str]:
        """Every way to write an option, in lower case, and the option it stands for."""
        found: dict[str, str] = {}
        for option in self.step.options:
            found[_flat(option)] = option
        for option, words in self.step.synonyms.items():
            if option in self.step.options:
                for word in words:
                    found.setdefault(_flat(word), option)
        for option in self.step.options:
            for word in _SYNONYMS.get(option.lower(), ()):
                found.setdefault(_flat(word), option)
        found.pop("", None)
        return found

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Any option as whole words, the longest first."""
        words = sorted(self.surfaces, key=len, reverse=True)
        body = "|".join(
            re.escape(word).replace(r"\ ", r"[\s\-]{1,3}") + ("(?:e?s)?" if len(word) > 2 else "")
            for word in words
        )
        return re.compile(rf"(?<![\w\-])(?:{body})(?![\w])")

    @cached_property
    def _short(self) -> frozenset[str]:
        """Options of one or two letters, which count in their own case only (`V`, not `v`)."""
        words = (*self.step.options, *(w for ws in self.step.synonyms.values() for w in ws))
        return frozenset(word for word in words if len(word) <= 2)

    def options_in(self, reading: Reading) -> list[Mention]:
        """Return the options that the answer names, negated ones left out or turned round."""
        found: list[Mention] = []
        for hit in self.pattern.finditer(reading.norm):
            start, end = hit.span()
            surface = _flat(hit.group())
            option = self.surfaces.get(surface) or self.surfaces.get(surface.removesuffix("s"))
            if option is None:
                option = self.surfaces.get(surface.removesuffix("es"))
            if option is None:
                continue
            if surface in _CASED and not reading.cased[start].isupper():
                continue
            if len(surface) <= 2 and reading.cased[start:end] not in self._short:
                continue
            if _NEGATED.search(reading.norm, max(0, start - 24), start):
                others = [o for o in self.step.options if o != option]
                if len(others) != 1:
                    continue
                option = others[0]
            found.append(Mention(start=start, end=end, value=option))
        return found

    def values_in(self, reading: Reading) -> list[Mention]:
        """Return every value of the step's type in the answer, masked words left out."""
        kind = self.step.kind
        if kind in ("cat", "text"):
            found = self.options_in(reading)
        elif kind == "time":
            found = list(reading.times)
            if ":" not in self.step.truth or (self.step.modulus or 0) <= 60:
                found = sorted([*found, *reading.numbers], key=lambda m: m.start)
        else:
            found = list(reading.numbers)
        masks = self.masks(reading)
        return [m for m in found if not covered(masks, m.start, m.end)]

    def masks(self, reading: Reading) -> tuple[Span, ...]:
        """Return where the step's constants stand, and anchors that hold a value by name."""
        spans: list[Span] = list(reading.denied)
        for phrase in (*self.constants, *self._masked_anchors):
            spans.extend(find_all(reading.norm, phrase))
        return merge(spans)

    @cached_property
    def _masked_anchors(self) -> tuple[str, ...]:
        masked: list[str] = []
        for word in (*self.anchors_all, *self.anchors_any):
            if self.step.kind in ("num", "time"):
                if any(c.isdigit() for c in word):
                    masked.append(word)
            elif _flat(word) not in self.surfaces and self.pattern.search(word):
                masked.append(word)
        return tuple(masked)


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A clause that speaks of a step and holds values."""

    cues: int
    start: int
    end: int
    anchors: tuple[Span, ...]
    values: tuple[Mention, ...]
    hedged: bool


class AnswerJudge:
    """Reads one answer for the steps of one program.

    Args:
        readers: the program's steps, ready to read; all of them, since a value that belongs to one
            step can't speak for another.
        answer: the candidate's text, hostile or not.
    """

    def __init__(self, readers: Sequence[StepReader], answer: str) -> None:
        self.reading = read_text(answer[:MAX_ANSWER])
        self._readers = tuple(readers)
        self._clauses = self.reading.clauses
        self._starts = [c.start for c in self._clauses]
        self._hits = [self._anchor_hits(reader) for reader in self._readers]
        self._complete = [
            {i for i, hits in table.items() if self._is_complete(reader, hits)}
            for reader, table in zip(self._readers, self._hits, strict=True)
        ]

    def score(self, reader: StepReader) -> StepScore:
        """Score one step.

        Args:
            reader: the step, one of the program's or an edited copy of one of them.

        Returns:
            The score with its reason and exact quote.
        """
        number = self._number(reader)
        values = reader.values_in(self.reading)
        chosen = self._best(self._candidates(reader, number, values, pronouns=False))
        if chosen is None:
            chosen = self._best(self._candidates(reader, number, values, pronouns=True))
        if chosen is None:
            return self._without_value(reader, number, values)
        return self._read(reader.step, chosen)

    def stated_values(self, reader: StepReader) -> tuple[Mention, ...]:
        """Return the values that the answer's best clause states for the step, nearest first."""
        number = self._number(reader)
        values = reader.values_in(self.reading)
        chosen = self._best(self._candidates(reader, number, values, pronouns=False))
        return () if chosen is None else _nearest(chosen)

    def _number(self, reader: StepReader) -> int:
        for number, known in enumerate(self._readers):
            if known.step.id == reader.step.id:
                return number
        raise ValueError(f"step {reader.step.id!r} is not of this program")

    def _clause_of(self, offset: int) -> int:
        return max(bisect_right(self._starts, offset) - 1, 0)

    def _anchor_hits(self, reader: StepReader) -> dict[int, dict[str, list[Span]]]:
        table: dict[int, dict[str, list[Span]]] = {}
        for word in dict.fromkeys((*reader.anchors_all, *reader.anchors_any)):
            for span in find_all(self.reading.norm, word):
                table.setdefault(self._clause_of(span[0]), {}).setdefault(word, []).append(span)
        return {i: hits for i, hits in table.items() if i < len(self._clauses)}

    @staticmethod
    def _is_complete(reader: StepReader, hits: dict[str, list[Span]]) -> bool:
        if not all(word in hits for word in reader.anchors_all):
            return False
        return not reader.anchors_any or any(word in hits for word in reader.anchors_any)

    def _candidates(
        self, reader: StepReader, number: int, values: list[Mention], *, pronouns: bool
    ) -> list[_Candidate]:
        starts = [m.start for m in values]
        found: list[_Candidate] = []
        table = self._hits[number]
        if pronouns:
            indices = [i for i, c in enumerate(self._clauses) if i and c.pronoun]
        else:
            indices = sorted(self._complete[number])
        for i in indices:
            clause = self._clauses[i]
            if clause.final:
                continue
            hits = table.get(i, {})
            begin = clause.start
            if pronouns:
                if i in self._complete[number] or self._speaks_elsewhere(number, i):
                    continue
                hits = {**table.get(i - 1, {}), **hits}
                if not self._is_complete(reader, hits):
                    continue
                begin = self._clauses[i - 1].start
            said, end, hedged = self._said(number, i, clause, values, starts)
            if not said:
                continue
            anchors = tuple(span for spans in hits.values() for span in spans)
            cues = sum(word in hits for word in reader.anchors_any) + len(reader.anchors_all)
            if clause.corrects and i and i - 1 in self._complete[number]:
                begin = self._clauses[i - 1].start
                hedged = hedged or self.reading.hedged(begin, clause.start)
            hedged = hedged or self.reading.hedged(begin, clause.end)
            found.append(
                _Candidate(
                    cues=cues, start=begin, end=end, anchors=anchors, values=said, hedged=hedged
                )
            )
        return found

    def _said(
        self, number: int, i: int, clause: Clause, values: list[Mention], starts: list[int]
    ) -> tuple[tuple[Mention, ...], int, bool]:
        """Return the values of a clause, or of the corrections that take it over."""
        said = self._inside(values, starts, clause.start, clause.end)
        end, hedged = clause.end, False
        j = i + 1
        while j < len(self._clauses) and self._clauses[j].corrects and j - i <= 6:
            later = self._clauses[j]
            better = self._inside(values, starts, later.start, later.end)
            own = j in self._complete[number]
            if not own and self._speaks_elsewhere(number, j, better):
                break
            if better:
                said, end = better, later.end
                hedged = hedged or self.reading.hedged(later.start, later.end)
            j += 1
            if not better and j < len(self._clauses) and self._clauses[j].pronoun:
                follow = self._clauses[j]
                better = self._inside(values, starts, follow.start, follow.end)
                if better and not self._speaks_elsewhere(number, j, better):
                    said, end = better, follow.end
                    hedged = hedged or self.reading.hedged(follow.start, follow.end)
        return said, end, hedged

    def _speaks_elsewhere(
        self, number: int, clause: int, besides: tuple[Mention, ...] = ()
    ) -> bool:
        """Tell whether a clause speaks of another step by words that aren't values of this one."""
        for other, complete in enumerate(self._complete):
            if other == number or clause not in complete:
                continue
            hits = {
                word: outside
                for word, spans in self._hits[other][clause].items()
                if (outside := [s for s in spans if not _within(s, besides)])
            }
            if self._is_complete(self._readers[other], hits):
                return True
        return False

    def _inside(
        self, values: list[Mention], starts: list[int], start: int, end: int
    ) -> tuple[Mention, ...]:
        said = values[bisect_left(starts, start) : bisect_left(starts, end)]
        outer = [m for m in said if not covered(self.reading.asides, m.start, m.end)]
        said = outer or said
        strong = [m for m in said if not m.weak]
        return tuple(strong or said)

    @staticmethod
    def _best(candidates: list[_Candidate]) -> _Candidate | None:
        if not candidates:
            return None
        return max(candidates, key=lambda c: (c.cues, c.start))

    def _read(self, step: Step, chosen: _Candidate) -> StepScore:
        ordered = _nearest(chosen)
        best = ordered[0]
        either = self._disjunction(chosen, best)
        quote = self.reading.text[chosen.start : chosen.end]
        said = self.reading.text[best.start : best.end].strip()
        if either is not None:
            both = self.reading.text[best.start : either.end].strip()
            if best.start > either.start:
                both = self.reading.text[either.start : best.end].strip()
            exact = "exact" in (band(step, best.value), band(step, either.value))
            tail = "one of them is right" if exact else "neither is right"
            return StepScore(
                score=3 if exact else 2,
                reason=f"leaves it open: {both!r}; the picture gives {_with_unit(step)}: {tail}",
                start=chosen.start,
                end=chosen.end,
                quote=quote,
            )
        place = band(step, best.value)
        score = _BAND_SCORE[place]
        tail = _BAND_WORDS[place]
        if place == "exact":
            hedged = chosen.hedged or best.hedged
            score = 4 if hedged else 5
            tail = "right, but hedged" if hedged else "right"
        return StepScore(
            score=score,
            reason=f"says {said}, the picture gives {_with_unit(step)}: {tail}",
            start=chosen.start,
            end=chosen.end,
            quote=quote,
        )

    def _disjunction(self, chosen: _Candidate, best: Mention) -> Mention | None:
        for left, right in pairwise(sorted(chosen.values, key=lambda m: m.start)):
            if best not in (left, right) or left.value == right.value:
                continue
            if right.start - left.end <= 24 and _DISJOINT.fullmatch(
                self.reading.norm, left.end, right.start
            ):
                return right if best is left else left
        return None

    def _without_value(self, reader: StepReader, number: int, values: list[Mention]) -> StepScore:
        mentioned = [
            self._clauses[i] for i in sorted(self._complete[number]) if not self._clauses[i].final
        ]
        declined = [c for c in mentioned if self.reading.declines(c.start, c.end)]
        if declined:
            clause = declined[-1]
            return StepScore(
                score=1,
                reason=f"says it can't be made out; the picture gives {_with_unit(reader.step)}",
                start=clause.start,
                end=clause.end,
                quote=self.reading.text[clause.start : clause.end],
            )
        loose = self._unclaimed(values)
        if loose is not None:
            said = self.reading.text[loose.start : loose.end].strip()
            return StepScore(
                score=None, reason=f"no anchor: {said!r} is stated, but not what it stands for"
            )
        if mentioned:
            clause = mentioned[-1]
            return StepScore(
                score=1,
                reason=f"mentions it without a value; the picture gives {_with_unit(reader.step)}",
                start=clause.start,
                end=clause.end,
                quote=self.reading.text[clause.start : clause.end],
            )
        return StepScore(
            score=1, reason=f"not mentioned; the picture gives {_with_unit(reader.step)}"
        )

    def _unclaimed(self, values: list[Mention]) -> Mention | None:
        """Return a value that stands in no clause of any step.

        The final answer's line counts only in an answer that has no reasoning at all.
        """
        reasoned = any(not clause.final for clause in self._clauses)
        for mention in values:
            i = self._clause_of(mention.start)
            if i >= len(self._clauses) or (self._clauses[i].final and reasoned):
                continue
            if not any(i in complete for complete in self._complete):
                return mention
        return None


def _nearest(chosen: _Candidate) -> tuple[Mention, ...]:
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


def _within(span: Span, values: Sequence[Mention]) -> bool:
    """Tell whether a span lies inside one of the sorted values."""
    at = bisect_right(values, span[0], key=lambda m: m.start) - 1
    return at >= 0 and span[1] <= values[at].end


def _with_unit(step: Step) -> str:
    unit = step.unit
    if not unit or unit in step.truth:
        return step.truth
    return f"{unit}{step.truth}" if unit in "$€£" else f"{step.truth} {unit}"


def _flat(phrase: str) -> str:
    return re.sub(r"[\s\-]+", " ", phrase.lower()).strip()


def read_steps(program: Program) -> tuple[StepReader, ...]:
    """Make a program's steps ready for reading."""
    return tuple(StepReader(step) for step in program.steps)


def judge_answer(program: Program, answer: str) -> dict[str, StepScore]:
    """Score every step of a program on one answer.

    Args:
        program: the exact truth.
        answer: the candidate's text.

    Returns:
        Step id → score, in the program's order.
    """
    readers = read_steps(program)
    judge = AnswerJudge(readers, answer)
    return {reader.step.id: judge.score(reader) for reader in readers}


def confusion_row(
    score: int, *, diagonal: float = 0.80, far: float = 0.02, lenient: float = 0.2
) -> tuple[float, ...]:
    """Return P(said = 1..5 | true score) of the noisy judge.

    Args:
        score: the true score, 1..5.
        diagonal: probability of saying the truth.
        far: mass spread evenly over scores two or more away.
        lenient: the adjacent mass goes up with share 0.5 + lenient / 2.

    Returns:
        Five probabilities that sum to 1. At 1 and 5 the share that would leave the scale is folded
        onto the one neighbour.

    Reference: METHODS D3.
    """
    row = [0.0] * 5
    row[score - 1] = diagonal
    distant = [c for c in range(1, 6) if abs(c - score) >= 2]
    for c in distant:
        row[c - 1] += far / len(distant)
    adjacent = 1 - diagonal - far
    up = 0.5 + lenient / 2
    row[(score if score < 5 else score - 2)] += adjacent * up
    row[(score - 2 if score > 1 else score)] += adjacent * (1 - up)
    return tuple(row)


def confuse(score: int, draws: Draws, *key: str | int) -> int:
    """Draw what the noisy judge says for a true score; equal keys give equal draws."""
    left = draws.uniform("confusion", *key)
    row = confusion_row(score)
    for said, share in enumerate(row, start=1):
        if left < share:
            return said
        left -= share
    return score

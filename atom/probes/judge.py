"""The probe judge: reads what an answer is worth on each step back from its text.

It shares the step record, `band` and `derive` with whatever wrote the answer, and nothing else: it
never sees the phrases of a step nor a drawn outcome. A step is looked for in the clauses that hold
its anchors; the value nearest to the anchor is placed in a band: right 5, a range around it or one
with its details left aside 4, near 3, far 1. Hedges change nothing. A step that is taken up without
a value is a 2. One that the answer is silent on, or says it can't tell, is a 2 as well, not
addressed. A wrong value that follows from an earlier wrong one is carried. Where the answer holds a
value of the step's type that belongs to no step, nothing can be said, and the score is None with
the reason "no anchor".

Reference: METHODS T1, T2, D2-D3.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from atom.probes.answers.derivation import RIGHT, Value, follows
from atom.probes.answers.reading import (
    Clause,
    Mention,
    Span,
    choice_named,
    covered,
    final_span,
    find_all,
    merge,
    read_text,
    same_words,
)
from atom.probes.answers.stated import StepStatement, StepValues, lies_within, nearest_first
from atom.probes.answers.step_reader import StepReader
from atom.probes.program import Band, ProgramStep, band

MAX_ANSWER = 400_000
"""Characters of an answer that are read; what lies beyond is ignored."""
_DISJOINT = re.compile(
    r"[\s,\"']{0,3}(?:or|and/or)\s+(?:(?:maybe|perhaps|possibly)\s+)?(?:an?\s+|the\s+)?[\"'$€£]?"
)
_MAX_BARE = 12
"""Words of an answer that may be no more than its final answer."""
_BAND_SCORE: dict[Band, int] = {"exact": 5, "near": 3, "far": 1}
_BAND_WORDS: dict[Band, str] = {"exact": "", "near": "a near miss", "far": "a far miss"}


@dataclass(frozen=True, kw_only=True)
class StepScore:
    """What the judge says about one step of one answer."""

    score: int | None
    """1..5; None when the judge declines, see `reason`."""
    reason: str
    addressed: bool = True
    """Whether the answer says anything about the step; of no meaning without a score."""
    carried: bool = False
    """Whether it is wrong only because an earlier step is."""
    start: int = 0
    end: int = 0
    """Where in the answer the evidence stands; equal when there is none."""
    quote: str = ""
    """The answer's text between the offsets, exactly."""

    def lifted(self, points: int) -> StepScore:
        """Add points to what the answer says, up to 5; silence stays silence."""
        if not points or self.score is None or not self.addressed:
            return self
        score = min(5, self.score + points)
        return replace(self, score=score, carried=self.carried and score < RIGHT)


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
        self._asked, self._asked_spans = self._restated()
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
        chosen = self._chosen(reader, number)
        if chosen is None:
            return self._without_value(reader, number).lifted(reader.lift)
        said = self._said_in(chosen)
        score = self._read(reader.step, chosen, said)
        if self._carried(number, score, said):
            reason = f"{score.reason}, as it follows from before"
            score = replace(score, carried=True, reason=reason)
        return score.lifted(reader.lift)

    def stated_values(self, reader: StepReader) -> tuple[Mention, ...]:
        """Return the values that the answer's best clause states for the step, nearest first."""
        number = self._number(reader)
        chosen = self._best(self._candidates(reader, number, self._values(reader), pronouns=False))
        return () if chosen is None else nearest_first(chosen)

    def _values(self, reader: StepReader) -> list[Mention]:
        """Return the values of the step's type, those left out that a repeated question names."""
        return [
            mention
            for mention in reader.values_in(self.reading)
            if not covered(self._asked_spans, mention.start, mention.end)
        ]

    def _chosen(self, reader: StepReader, number: int) -> StepStatement | None:
        """Return the clause that speaks of the step and holds a value, if there is one."""
        values = self._values(reader)
        for pronouns in (False, True):
            chosen = self._best(self._candidates(reader, number, values, pronouns=pronouns))
            if chosen is not None:
                return chosen
        remark = self._remark(number)
        if remark is None or self._taken(number, remark):
            return None
        clause = self._clauses[remark]
        said = self._inside(values, [m.start for m in values], clause.start, clause.end)
        if not said:
            return None
        vague = self.reading.leaves_out(clause.start, clause.end)
        return StepStatement(
            cues=0, start=clause.start, end=clause.end, anchors=(), values=said, vague=vague
        )

    def _carried(self, number: int, score: StepScore, said: StepValues) -> bool:
        """Tell whether a wrong value follows from wrong ones that the answer states before it."""
        step = self._readers[number].step
        value = said.single
        if value is None or said.best.vague or score.score is None or score.score >= RIGHT:
            return False
        stated: dict[str, Value] = {}
        slipped = False
        for parent in step.depends_on:
            at = next((n for n, r in enumerate(self._readers) if r.step.id == parent), None)
            chosen = None if at is None else self._chosen(self._readers[at], at)
            before = None if chosen is None else self._said_in(chosen).single
            if at is None or before is None:
                return False
            stated[parent] = before
            slipped = slipped or band(self._readers[at].step, before) != "exact"
        return slipped and follows([r.step for r in self._readers], step, value, stated)

    def _restated(self) -> tuple[dict[int, tuple[int, int]], tuple[Span, ...]]:
        """Find where the answer repeats a step's own question.

        Returns:
            Step's number → first and last clause of its question; and where all of them stand.
        """
        asked: dict[int, tuple[int, int]] = {}
        spans: list[Span] = []
        for number, reader in enumerate(self._readers):
            words = reader.step.question.lower()
            if not words.endswith("?"):
                continue
            found = find_all(self.reading.norm, words)
            spans.extend(found)
            if found:
                start, end = found[-1]
                asked[number] = (self._clause_of(start), self._clause_of(end - 1))
        return asked, merge(spans)

    def _remark(self, number: int) -> int | None:
        """Return the clause after the step's repeated question, where the answer has it."""
        if number not in self._asked:
            return None
        after = self._asked[number][1] + 1
        there = after < len(self._clauses) and not self._clauses[after].final
        return after if there else None

    def _taken(self, number: int, clause: int) -> bool:
        """Tell whether a clause speaks of another step."""
        return any(clause in table for n, table in enumerate(self._complete) if n != number)

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
                if covered(self._asked_spans, *span):
                    continue
                table.setdefault(self._clause_of(span[0]), {}).setdefault(word, []).append(span)
        return {i: hits for i, hits in table.items() if i < len(self._clauses)}

    @staticmethod
    def _is_complete(reader: StepReader, hits: dict[str, list[Span]]) -> bool:
        if not all(word in hits for word in reader.anchors_all):
            return False
        return not reader.anchors_any or any(word in hits for word in reader.anchors_any)

    def _candidates(
        self, reader: StepReader, number: int, values: list[Mention], *, pronouns: bool
    ) -> list[StepStatement]:
        starts = [m.start for m in values]
        found: list[StepStatement] = []
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
            said, end, vague = self._said(number, i, clause, values, starts)
            if not said:
                continue
            anchors = tuple(span for spans in hits.values() for span in spans)
            cues = sum(word in hits for word in reader.anchors_any) + len(reader.anchors_all)
            if clause.corrects and i and i - 1 in self._complete[number]:
                begin = self._clauses[i - 1].start
            vague = vague or self.reading.leaves_out(begin, clause.end)
            found.append(
                StepStatement(
                    cues=cues, start=begin, end=end, anchors=anchors, values=said, vague=vague
                )
            )
        return found

    def _said(
        self, number: int, i: int, clause: Clause, values: list[Mention], starts: list[int]
    ) -> tuple[tuple[Mention, ...], int, bool]:
        """Return the values of a clause, or of the corrections that take it over."""
        said = self._inside(values, starts, clause.start, clause.end)
        end, vague = clause.end, False
        j = i + 1
        while j < len(self._clauses) and self._clauses[j].corrects and j - i <= 6:
            later = self._clauses[j]
            better = self._inside(values, starts, later.start, later.end)
            own = j in self._complete[number]
            if not own and self._speaks_elsewhere(number, j, better):
                break
            if better:
                said, end = better, later.end
                vague = vague or self.reading.leaves_out(later.start, later.end)
            j += 1
            if not better and j < len(self._clauses) and self._clauses[j].pronoun:
                follow = self._clauses[j]
                better = self._inside(values, starts, follow.start, follow.end)
                if better and not self._speaks_elsewhere(number, j, better):
                    said, end = better, follow.end
                    vague = vague or self.reading.leaves_out(follow.start, follow.end)
        return said, end, vague

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
                if (outside := [s for s in spans if not lies_within(s, besides)])
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
    def _best(candidates: list[StepStatement]) -> StepStatement | None:
        if not candidates:
            return None
        return max(candidates, key=lambda c: (c.cues, c.start))

    def _said_in(self, chosen: StepStatement) -> StepValues:
        best = nearest_first(chosen)[0]
        return StepValues(best=best, either=self._disjunction(chosen, best))

    def _read(self, step: ProgramStep, chosen: StepStatement, heard: StepValues) -> StepScore:
        best, either = heard.best, heard.either
        quote = self.reading.text[chosen.start : chosen.end]
        said = self.reading.text[best.start : best.end].strip()
        if either is not None:
            both = self.reading.text[best.start : either.end].strip()
            if best.start > either.start:
                both = self.reading.text[either.start : best.end].strip()
            exact = "exact" in (band(step, best.value), band(step, either.value))
            tail = "one of them is right" if exact else "neither is right"
            return StepScore(
                score=3 if exact else 1,
                reason=f"leaves it open: {both!r}; the picture gives {_with_unit(step)}: {tail}",
                start=chosen.start,
                end=chosen.end,
                quote=quote,
            )
        place = band(step, best.value)
        score = _BAND_SCORE[place]
        tail = _BAND_WORDS[place]
        if place == "exact":
            vague = chosen.vague or best.vague
            score = 4 if vague else 5
            tail = "right, but without its details" if vague else "right"
        return StepScore(
            score=score,
            reason=f"says {said}, the picture gives {_with_unit(step)}: {tail}",
            start=chosen.start,
            end=chosen.end,
            quote=quote,
        )

    def _disjunction(self, chosen: StepStatement, best: Mention) -> Mention | None:
        for left, right in pairwise(sorted(chosen.values, key=lambda m: m.start)):
            if best not in (left, right) or left.value == right.value:
                continue
            if right.start - left.end <= 24 and _DISJOINT.fullmatch(
                self.reading.norm, left.end, right.start
            ):
                return right if best is left else left
        return None

    def _without_value(self, reader: StepReader, number: int) -> StepScore:
        truth = _with_unit(reader.step)
        mentioned = [
            (self._clauses[i].start, self._clauses[i].end)
            for i in sorted(self._complete[number])
            if not self._clauses[i].final and not self._taken(number, i)
        ]
        if number in self._asked:
            first, last = self._asked[number]
            last = self._remark(number) or last
            mentioned.append((self._clauses[first].start, self._clauses[last].end))
        declined = [span for span in mentioned if self.reading.declines(*span)]
        if declined:
            known = read_text(reader.step.truth)
            if known.declines(0, len(known.norm)):
                return self._at(declined[-1], 5, f"says that it can't be known: {truth}, right")
            reason = f"says it can't be made out; the picture gives {truth}"
            return self._at(declined[-1], 2, reason, addressed=False)
        loose = self._unclaimed(self._values(reader))
        if loose is not None:
            said = self.reading.text[loose.start : loose.end].strip()
            return StepScore(
                score=None, reason=f"no anchor: {said!r} is stated, but not what it stands for"
            )
        if mentioned:
            reason = f"takes it up without a result; the picture gives {truth}"
            return self._at(mentioned[-1], 2, reason)
        final = self._by_final_line(reader)
        if final is not None:
            return final
        reason = f"not mentioned; the picture gives {truth}"
        return StepScore(score=2, reason=reason, addressed=False)

    def _at(
        self, span: tuple[int, int], score: int, reason: str, *, addressed: bool = True
    ) -> StepScore:
        start, end = span
        return StepScore(
            score=score,
            reason=reason,
            addressed=addressed,
            start=start,
            end=end,
            quote=self.reading.text[start:end],
        )

    @cached_property
    def final_span(self) -> Span | None:
        """Where the final answer stands: the last final line, or all of an answer that is no more
        than a letter or a value; None where there is neither.
        """
        found = final_span(self.reading)
        last = next((r for r in self._readers if r.choices is not None), None)
        if found is not None or last is None or len(self._clauses) != 1 or any(self._complete):
            return found
        start, end = self._clauses[0].start, self._clauses[0].end
        return (start, end) if _is_bare(last, self.reading.text[start:end]) else None

    def _by_final_line(self, reader: StepReader) -> StepScore | None:
        """Score the step that the question ends in by the final line, which nothing else states.

        What the reasoning says of that step stands: the line speaks only where it is silent.
        """
        if reader.choices is None or self.final_span is None:
            return None
        said = self.reading.text[slice(*self.final_span)].strip()
        found = _final_value(reader, said)
        if found is None:
            return None
        value, shown = found
        place = band(reader.step, value)
        tail = _BAND_WORDS[place] or "right"
        reason = f"ends on {shown!r}, the picture gives {_with_unit(reader.step)}: {tail}"
        return self._at(self.final_span, _BAND_SCORE[place], reason)

    def _unclaimed(self, values: list[Mention]) -> Mention | None:
        """Return a value that stands in no clause of any step.

        The final answer belongs to the step that the question ends in, where that one is known.
        """
        closed = any(reader.choices is not None for reader in self._readers)
        reasoned = closed or any(not clause.final for clause in self._clauses)
        last = self.final_span if closed else None
        for mention in values:
            i = self._clause_of(mention.start)
            if i >= len(self._clauses) or (self._clauses[i].final and reasoned):
                continue
            if last is not None and last[0] <= mention.start < last[1]:
                continue
            if not any(i in complete for complete in self._complete):
                return mention
        return None


def _final_value(reader: StepReader, said: str) -> tuple[Value, str] | None:
    """Return the value that a final answer gives, and its words; None where it gives none."""
    chosen = choice_named(reader.choices or (), said) if reader.choices else None
    text = said if chosen is None else chosen
    if same_words(text) == same_words(reader.step.truth):
        return (reader.step.truth if reader.step.value is None else reader.step.value), text
    value = reader.value_of(text)
    return None if value is None else (value, text)


def _is_bare(reader: StepReader, text: str) -> bool:
    """Tell whether a text is no more than a choice's letter, a choice, or a value with its unit."""
    words = same_words(text).removeprefix("option ").removeprefix("choice ")
    if len(words.split()) > _MAX_BARE:
        return False
    if _final_value(reader, text) is None:
        return False
    allowed = {words} & {*map(same_words, reader.choices or ()), *"abcdefgh"}
    for mention in reader.values_in(read_text(text)):
        allowed.add(same_words(text[mention.start : mention.end]))
    unit = same_words(reader.step.unit)
    return words in allowed or words.removesuffix(unit).strip() in allowed


def _with_unit(step: ProgramStep) -> str:
    unit = step.unit
    if not unit or unit in step.truth:
        return step.truth
    return f"{unit}{step.truth}" if unit in "$€£" else f"{step.truth} {unit}"

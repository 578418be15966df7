"""What a step looks for in an answer: its anchors, and values of its type."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

from atom.probes.answers.derivation import Value
from atom.probes.answers.reading import (
    AnswerReading,
    Mention,
    Span,
    covered,
    find_all,
    merge,
    read_text,
)
from atom.probes.program import Program, ProgramStep

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


@dataclass(frozen=True)
class StepReader:
    """A step, made ready for reading many answers."""

    step: ProgramStep
    choices: tuple[str, ...] | None = None
    """For the step whose value is the final answer: what its letters stand for (empty for an open
    question). None for every other step."""
    lift: int = 0
    """Points that a lenient reader gives too much, up to 5; silence stays silence."""
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

    def options_in(self, reading: AnswerReading) -> list[Mention]:
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

    def value_of(self, text: str) -> Value | None:
        """Read a text that holds one value of the step's kind; None where it holds none or more."""
        reading = read_text(text[:400])
        if self.step.kind in ("cat", "text"):
            options = {mention.value for mention in self.options_in(reading)}
            return options.pop() if len(options) == 1 else None
        timed = self.step.kind == "time" and ":" in self.step.truth
        found = reading.times if timed else reading.numbers
        values = {m.value for m in found if isinstance(m.value, float) and isfinite(m.value)}
        return values.pop() if len(values) == 1 else None

    def values_in(self, reading: AnswerReading) -> list[Mention]:
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

    def masks(self, reading: AnswerReading) -> tuple[Span, ...]:
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


def _flat(phrase: str) -> str:
    return re.sub(r"[\s\-]+", " ", phrase.lower()).strip()


def read_steps(program: Program) -> tuple[StepReader, ...]:
    """Make a program's steps ready for reading."""
    return tuple(
        StepReader(step, program.choices if step.id == program.answer_step else None)
        for step in program.steps
    )

"""What a report is made of: findings with their statistics, and the text that tells of them.

Everything here is JSON-able and frozen: a report is a value that can be kept, compared and read
by other programs.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal[
    "coverage", "ranking", "lead", "tie", "top_tie", "comparison", "separates", "fingerprint",
    "hard", "criteria", "criterion", "weights", "preference", "weakness", "suspected", "strength",
    "none_found", "lucky", "first_break", "cluster", "caveat",
    "correction", "correction_luck", "correction_printed", "correction_breaks",
    "correction_repairs",
]  # fmt: skip
"""What a finding is about."""
Part = Literal[
    "ahead", "apart", "hard", "health", "care", "stand", "weak", "strong", "break", "again"
]
"""The part of a section that a finding belongs to."""
PART_TITLES: dict[Part, str] = {
    "ahead": "Who is ahead",
    "apart": "What sets the models apart",
    "hard": "What is hardest",
    "health": "Are the criteria sound?",
    "care": "Read with care",
    "stand": "Where it stands",
    "weak": "Weaknesses",
    "strong": "Strengths",
    "break": "Where its answers break",
    "again": "When it tries again",
}
STUDY_PARTS: tuple[Part, ...] = ("ahead", "apart", "hard", "health", "care")
MODEL_PARTS: tuple[Part, ...] = ("stand", "weak", "strong", "break", "again")
Writer = Literal["rule", "judge"]
_SHORT: tuple[Part, ...] = ("ahead", "apart", "hard", "care")
_SHORT_MOST = 14
"""Paragraphs of the page that a report begins with."""
_MINUS = re.compile(r"(?<!\w)-(?=\d)")


class Value(BaseModel):
    """A value of a report: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Number(Value):
    """One number that a finding states."""

    name: str
    """What it measures: `score`, `effect`, `right`."""
    text: str
    """As the writer is sent it, its interval with it: `62.1 (58.4–65.7)`, `-0.85`."""
    value: float | None
    """None where it isn't defined."""
    unit: str
    """`points of 100`, `%`, `samples`, `rank`."""
    lo: float | None = None
    """Lower end of its interval."""
    hi: float | None = None
    """Upper end."""
    n: int | None = None
    """Values that it rests on."""
    n_unit: str = ""
    """What those are: `samples`, `answers`, `criteria`."""
    p: float | None = None
    """P-value, where it was tested."""
    q: float | None = None
    """P-value after control for multiplicity."""

    @property
    def shown(self) -> str:
        """As readers see it, with minus signs: `−0.85`."""
        return _MINUS.sub("−", self.text)


class Finding(Value):
    """Something that the data show, with the statistics behind it."""

    id: str
    """Named by its kind and subject: the same in every report about the same thing."""
    kind: Kind
    part: Part
    models: tuple[str, ...] = ()
    """Names of the models that it is about; empty for the study as a whole."""
    model_ids: tuple[str, ...] = ()
    owner: str | None = None
    """Id of the model whose section it belongs to; None for the study's own section."""
    place: tuple[str, ...] = ()
    """Path of the capability, or (facet, label)."""
    label: bool = False
    """Whether the place is a label and no capability."""
    frame: str = ""
    """What it is held against; `counts` where it is counted and held against nothing."""
    numbers: tuple[Number, ...] = ()
    facts: dict[str, str] = Field(default_factory=dict)
    """Further words, by name."""
    door: str = ""
    """Where it leads, relative to the app; empty where it leads nowhere."""
    behind: int | None = None
    """How many samples or answers the list behind the door holds; None where there is no list."""
    behind_words: str = ""
    """What those are: `samples with a failed criterion`."""
    salience: float = 0.0
    """What it is chosen by: evidence first, size second."""

    def number(self, name: str) -> Number | None:
        """Return a number by its name."""
        return next((number for number in self.numbers if number.name == name), None)

    def printed(self, name: str) -> str:
        """Return a number as readers see it; `–` where there is none."""
        number = self.number(name)
        return number.shown if number is not None else "–"

    @property
    def place_name(self) -> str:
        """The last name of its place."""
        return self.place[-1] if self.place else ""

    def on_branch(self, other: Finding) -> bool:
        """Say whether both lie on one branch of the tree (or are about one label)."""
        if not self.place or not other.place or self.label != other.label:
            return False
        depth = min(len(self.place), len(other.place))
        return self.place[:depth] == other.place[:depth]


class Choice(Value):
    """Whether a finding is told, and why."""

    finding_id: str
    told: bool
    reason: str


class Exhibit(Value):
    """A sample shown as an example of a failure. Its texts are hostile."""

    sample_id: str
    dataset: str
    model_id: str
    question: str
    choices: tuple[str, ...] = ()
    reference: str | None = None
    picture_id: str | None = None
    picture_name: str = ""
    answer: str = ""
    """Excerpt of the model's answer."""
    quote: tuple[int, int] | None = None
    """Where in the excerpt the words stand that the judge points at."""
    votes: str = ""
    """How votes between this answer and others went; empty without any."""
    right: bool | None = None
    """Whether the final answer is right; None where it isn't known."""
    criterion: str = ""
    truth: str = ""
    score: int | str | None = None
    """1..5; on another scale than our judges' the mark in words, and what it is worth of 100."""
    reason: str = ""
    """The judge's reason."""
    place: tuple[str, ...] = ()
    """The capability that the criterion tests."""
    finding_id: str = ""
    """The finding that it illustrates; empty for the model's failures in general."""
    door: str = ""

    @property
    def score_words(self) -> str:
        """`2 of 5`, or a mark on another scale as it is; empty without one."""
        if self.score is None:
            return ""
        return f"{self.score} of 5" if isinstance(self.score, int) else self.score


class Mark(Value):
    """A number or name in a judge's text that it was not given."""

    start: int
    end: int
    kind: Literal["number", "name"]
    text: str


class Passage(Value):
    """A paragraph."""

    text: str
    findings: tuple[str, ...] = ()
    """Ids of the findings that it tells."""
    by: Writer = "rule"
    marks: tuple[Mark, ...] = ()
    """What in it is unverified; rule text has none."""


class PartText(Value):
    """A part of a section."""

    part: Part
    passages: tuple[Passage, ...]


class Bar(Value):
    """One row of a figure: a name and a value with its interval."""

    name: str
    place: int
    """The model's place in the study, which is its colour."""
    value: float
    lo: float
    hi: float
    n: int
    note: str = ""
    differ: float | None = None
    """Share of checkpoints on which the judges of a panel differ, in percent; None with one."""
    disagreement: float | None = None
    """Mean standard deviation over the judges there, in points of 0-100."""


class Axis(Value):
    """One axis of a model's profile."""

    name: str
    path: tuple[str, ...]
    value: float
    lo: float
    hi: float
    mean: float | None
    """Mean over all models; None with one model."""
    spread: float = 0.0
    """Standard deviation between the models."""
    n: int


class Section(Value):
    """A chapter: the study as a whole, or one model."""

    id: str
    """`study`, or the model's id."""
    title: str
    place: int | None = None
    """The model's place in the study; None for the study."""
    parts: tuple[PartText, ...] = ()
    bars: tuple[Bar, ...] = ()
    """The ranking, in the study's section."""
    axes: tuple[Axis, ...] = ()
    """The model's profile over the tree's roots, or over labels."""
    radar: tuple[Axis, ...] = ()
    """The model's shape: a finer level of the tree, where that has a readable number of nodes."""
    models: int = 0
    """Models that means and spreads are over."""
    skills: tuple[Axis, ...] = ()
    """The model on its lowest and highest capabilities."""
    exhibits: tuple[Exhibit, ...] = ()
    panel: tuple[str, ...] = ()
    """What a panel's judges are worth together, in the study's section; empty with one judge."""
    note: str = ""
    """Why it isn't written as it was asked to be; empty as a rule."""

    def part_title(self, part: Part) -> str:
        """Title a part; where nobody is ranked, nobody is ahead."""
        if part == "ahead" and not any(bar.note for bar in self.bars):
            return "What was counted"
        return PART_TITLES[part]

    @property
    def unverified(self) -> int:
        """How many marks its text has."""
        return sum(len(p.marks) for part in self.parts for p in part.passages)


class ReportSetting(Value):
    """One line of how a report was made."""

    name: str
    value: str


class Report(Value):
    """A whole report."""

    title: str
    study: str
    synthetic: bool
    measure: str
    lead: str
    """What kind of study it is, in a sentence."""
    selection: str = ""
    """Which part of the study is counted; empty for the whole."""
    sections: tuple[Section, ...]
    findings: tuple[Finding, ...]
    """All of them, told or not."""
    choices: tuple[Choice, ...]
    settings: tuple[ReportSetting, ...]
    """How it was made."""
    written_by: str = ""
    """The judge's name; empty where it was composed by rule."""

    @property
    def unverified(self) -> int:
        """How many numbers and names of the judge's text it was not given."""
        return sum(section.unverified for section in self.sections)

    @property
    def told(self) -> tuple[Finding, ...]:
        """The findings that are told, in the order in which the text tells them."""
        chosen = {choice.finding_id for choice in self.choices if choice.told}
        order = [
            name
            for section in self.sections
            for part in section.parts
            for passage in part.passages
            for name in passage.findings
        ]
        place = {name: at for at, name in reversed(list(enumerate(order)))}
        told = [finding for finding in self.findings if finding.id in chosen]
        return tuple(sorted(told, key=lambda finding: place.get(finding.id, len(order))))

    @property
    def short(self) -> tuple[tuple[str, Passage], ...]:
        """The report on one page: of the study each part's first paragraph, of a model its worst.

        (what it is of, the paragraph); paragraphs of the report itself, in its order. Of who is
        ahead it's the first that says so, not how much was counted.
        """
        found: list[tuple[str, Passage]] = []
        counts = {finding.id for finding in self.findings if finding.kind == "coverage"}
        for section in self.sections:
            first = {
                part.part: next((p for p in part.passages if not counts & set(p.findings)),
                                part.passages[0])
                for part in section.parts if part.passages
            }  # fmt: skip
            if section.place is None:
                found += [
                    (section.part_title(part), first[part]) for part in _SHORT if part in first
                ]
            else:
                worst = first.get("weak") or first.get("stand")
                found += [(section.title, worst)] if worst is not None else []
        return tuple(found[:_SHORT_MOST])

    @property
    def tags(self) -> dict[str, str]:
        """The short name, `F3`, of each finding that is told, by id."""
        return {finding.id: f"F{number}" for number, finding in enumerate(self.told, start=1)}

"""The part of a column map that says where criteria and their marks stand, and on which scale."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from atom.records import Record

Word = str | bool | int | float
Axis = Literal["model", "criterion", "judge"]
JudgeKind = Literal["model", "person", "program"]
EVERY = "*"
"""All columns that nothing else in the map names."""


def words_of(value: Word) -> tuple[str, ...]:
    """Return how a word of a map may be written in a cell; YAML reads a bare `yes` as true."""
    if value is True:
        return ("yes", "true")
    if value is False:
        return ("no", "false")
    if isinstance(value, float) and value.is_integer():
        return (str(int(value)),)
    return (str(value),)


class ScaleMap(Record):
    """How raw marks become values from 0 to 1."""

    values: dict[Word, float] | tuple[Word, ...] | None = None
    """Word -> its value from 0 to 1; or the words alone, worst first, whose distances nobody
    knows: they are spread evenly and called ordinal."""
    low: float | None = Field(default=None, alias="from")
    """The number that means nothing reached (value 0); above `to` where less is better."""
    high: float | None = Field(default=None, alias="to")
    """The number that means all of it (value 1)."""
    na: tuple[Word, ...] = ()
    """What means *not applicable*; `""` is an empty cell."""
    unreadable: tuple[str, ...] = ()
    """Regular expressions: a mark, or a reason, in which one is found is no mark."""
    polarity: Literal["higher", "lower"] = "higher"
    """`lower`: what counts up is bad, and values are turned round."""
    penalty: bool = False
    """Marks of this scale take points away: 1 is the whole penalty."""
    starts: bool = False
    """Whether a mark is the first word of a longer text: `Yes, because ...`."""
    parts: Literal["least", "mean"] = "least"
    """What a mark is that is written as a list of numbers, one a part."""

    model_config = ConfigDict(populate_by_name=True)

    @field_validator("na", "unreadable", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        if value is None:
            return ("",)
        if isinstance(value, list | tuple):
            return tuple("" if item is None else item for item in value)
        return (value,)

    @field_validator("unreadable")
    @classmethod
    def _patterns(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(
                    f"{pattern!r} is no regular expression ({error}); put a backslash before "
                    "signs such as ( or *"
                ) from error
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("a scale has both `from` and `to`, or `values`")
        if self.low is not None and self.low == self.high:
            raise ValueError("`from` and `to` of a scale differ")
        if isinstance(self.values, dict) and any(not 0 <= x <= 1 for x in self.values.values()):
            raise ValueError("`values` of a scale lie from 0 (nothing reached) to 1 (all of it)")
        return self

    @property
    def is_declared(self) -> bool:
        """Whether it says what marks mean."""
        return self.values is not None or self.low is not None


class CriterionMap(Record):
    """What the map itself says of one criterion."""

    text: str | None = None
    """Its question or requirement; None = as the files say, else its name."""
    truth: str = ""
    weight: float | None = Field(default=None, gt=0)
    capability: str | tuple[str, ...] | None = None
    """Its place in the tree: a path (`A > B`), or its names."""
    scale: str | ScaleMap | None = None
    """A name among `scales`, or a scale of its own."""
    penalty: bool | None = None
    parents: tuple[str, ...] = ()
    gate: Literal["cap", "zero"] | None = None
    """A must-have: where it is missed, the answer is capped (at `cap`) or worth nothing."""
    cap: float | None = Field(default=None, ge=0, le=1)
    parts: int | None = Field(default=None, ge=1)
    """How many numbers a mark has that is written as a list; one with fewer is unscored."""

    @field_validator("parents", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        if isinstance(value, list | tuple):
            return tuple(str(item) for item in value)
        return (str(value),)


UNSAID = CriterionMap()
"""What a map says of a criterion that it doesn't name."""


class MarkColumns(Record):
    """Where criteria, marks and judges stand; the keys of a column map that only these need."""

    path: str | None = None
    """What the file's name or path says: `{judge}/{model}/{criterion}.json`; each name becomes a
    column."""
    split: dict[str, str] = Field(default_factory=dict)
    """Column -> what its cells are made of: `story_{story}_{model}_test{criterion}`."""
    each: tuple[str, ...] = ()
    """Columns whose cells hold lists or objects: a row for each member (lists named together run
    side by side); members of objects are read as `key` and `value`; `name.*` opens the members of
    its members."""
    tree: str | None = None
    """The key under which nodes of a weighted tree hold their children; leaves are criteria."""
    whole: bool = False
    """Whether a JSON file is one object, whose lists `each` opens."""
    wide: dict[Axis, tuple[str, ...] | dict[str, str]] = Field(default_factory=dict)
    """What has a column each: `criterion: [P, R]`, `model: "*"`, `judge: {name: column}`."""
    cell: tuple[str, ...] = ()
    """The criteria whose marks stand in one cell as a list."""
    criterion: str | None = None
    """Column with the criterion's name or number."""
    criterion_text: str | None = None
    """Column with its question or requirement, where `criterion` is only its name."""
    truth: str | None = None
    """Column with what is true (the criterion's ground truth)."""
    mark: str | None = None
    """Column with the mark."""
    probabilities: dict[Word, str] = Field(default_factory=dict)
    """Mark -> column with its probability: the mark is the expected value."""
    reason: str | None = None
    """Column with the judge's reason."""
    weight: str | None = None
    """Column with the criterion's weight; a negative one takes points away."""
    capability: str | tuple[str, ...] | None = None
    """Column with a path or a list of names, or a column for each layer."""
    parents: str | None = None
    """Column with the criteria that must hold first: `1,4`."""
    gate: str | None = None
    """Column that says which criteria are must-haves."""
    judge_name: str | None = None
    """The judge's name where no column has it."""
    judge_kind: JudgeKind | None = None
    scale: ScaleMap | None = None
    """How marks are read; None = guessed where it is obvious."""
    scales: dict[str, ScaleMap] = Field(default_factory=dict)
    """Scales by name, for criteria that differ."""
    criteria: dict[str, CriterionMap] = Field(default_factory=dict)
    """Criterion -> what the map says of it."""
    files: tuple[dict[str, object], ...] = ()
    """For files that differ: each item has a `path` and any other keys of a map; the first whose
    path fits counts for a file."""

    @field_validator("each", "cell", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        return tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),)

    @field_validator("wide", mode="before")
    @classmethod
    def _axes(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {
            axis: (columns,) if isinstance(columns, str) else columns
            for axis, columns in value.items()
        }

    @field_validator("criteria", mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {
            str(name): {"text": said} if isinstance(said, str) else ({} if said is None else said)
            for name, said in value.items()
        }

    @property
    def has_marks(self) -> bool:
        """Whether the map leads to marks on criteria."""
        named = (self.criterion, self.tree, self.each, self.cell, self.wide, self.criteria)
        return bool(self.files) or any(map(bool, named))

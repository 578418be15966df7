"""A probe's program: the exact truth behind one drawn question.

The program travels inside the picture (an iTXt chunk), so it is read back as *hostile input*: every
model here is strict, frozen and bounded. The generator of answers and the probe judge share this
record and `band`, and nothing else.

Reference: METHODS D1-D2 (each program step is one atomic criterion; five disjoint answer forms).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

CHUNK_KEYWORD = "atomscope.probe"
MAX_CHUNK_BYTES = 64_000

ShortText = Annotated[str, Field(max_length=400)]
Word = Annotated[str, Field(max_length=80)]
Thousandth = Annotated[int, Field(ge=0, le=1000)]
Kind = Literal["num", "cat", "time", "text"]
Derivation = Literal["difference", "sum", "product", "larger", "add"]
Band = Literal["exact", "near", "far"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Box(_Frozen):
    """An axis-aligned box in thousandths of a picture's width and height."""

    picture: int = Field(default=1, ge=1, le=8)
    """1-based index of the picture in the sample."""
    box: tuple[Thousandth, Thousandth, Thousandth, Thousandth]
    """Left, top, right, bottom."""


class ProgramStep(_Frozen):
    """One program step: one atomic criterion with its exact local ground truth."""

    id: Word
    """Unique within the program, e.g. `s1`."""
    question: ShortText
    """The open sub-question that this step answers."""
    truth: Word
    """The exact answer as text (`42`, `blue`, `10:35`)."""
    weight: int = Field(ge=1, le=10)
    """Integer weight; a program's weights total 10."""
    leaf: tuple[Word, Word, Word, Word]
    """Path in the seed tree: root, category, parent, capability."""
    regions: tuple[Box, ...] = Field(min_length=1, max_length=24)
    """Where in the picture the step is read."""
    kind: Kind
    """How a stated value is compared with the truth."""
    value: float | None = None
    """The truth as a number (`num`), or as minutes on the dial (`time`)."""
    tolerance: float = 0.0
    """`num`, `time`: a value this close is exact."""
    near: float = 0.0
    """`num`, `time`: a value this close (and not exact) is a near miss; beyond it is a far miss."""
    options: tuple[Word, ...] = Field(default=(), max_length=64)
    """`cat`, `text`: every value that may be stated, the truth included."""
    near_options: tuple[Word, ...] = Field(default=(), max_length=64)
    """`cat`, `text`: the options that count as a near miss."""
    synonyms: dict[Word, tuple[Word, ...]] = Field(default_factory=dict)
    """Other words for an option (`ball` for `sphere`)."""
    anchors_all: tuple[Word, ...] = Field(default=(), max_length=16)
    """Words that a clause must all hold to speak of this step."""
    anchors_any: tuple[Word, ...] = Field(default=(), max_length=32)
    """Words of which a clause must hold at least one (when not empty)."""
    constants: tuple[Word, ...] = Field(default=(), max_length=32)
    """Phrases that hold numbers or options but are not values (`above 40`, `25 minutes later`)."""
    unit: Word = ""
    """Unit written after a number."""
    modulus: float | None = None
    """`time`: compare modulo this many minutes (720 for a clock face, 60 for a minute hand)."""
    depends_on: tuple[Word, ...] = Field(default=(), max_length=8)
    """Earlier steps whose values this one is made from."""
    derive: Derivation | None = None
    """How the value follows from `depends_on`, so that an answer can stay coherent."""
    phrases: tuple[ShortText, ...] = Field(min_length=2, max_length=8)
    """Sentences with one `{value}` slot each; written by the generator, never read by the judge."""


class Program(_Frozen):
    """Everything that is true of one probe sample."""

    version: Literal[1] = 1
    family: Word
    """`charts`, `tables`, `gauges`, `geometry`, `scenes`, `changes`."""
    template: Word
    """The question template inside the family."""
    seed: int
    index: int
    difficulty: float = Field(default=0.5, ge=0, le=1)
    """0 easy .. 1 hard, from the knobs."""
    knobs: dict[Word, float | int | str | bool] = Field(default_factory=dict)
    question: Annotated[str, Field(max_length=1000)]
    choices: tuple[Word, ...] = Field(default=(), max_length=8)
    """Empty for an open question."""
    answer: Word
    """The final answer (the text of a choice where there are choices)."""
    answer_step: Word
    """The step whose value is the final answer."""
    steps: tuple[ProgramStep, ...] = Field(min_length=2, max_length=8)
    """In the order of reasoning."""
    size: tuple[int, int]
    """Drawn width and height in pixels."""
    picture: int = Field(default=1, ge=1, le=8)
    """Which picture of the sample carries this copy."""
    pictures: int = Field(default=1, ge=1, le=8)
    """How many pictures the sample has."""

    @model_validator(mode="after")
    def _consistent(self) -> Program:
        ids = [step.id for step in self.steps]
        if len(set(ids)) != len(ids):
            raise ValueError(f"step ids repeat: {ids!r}")
        if sum(step.weight for step in self.steps) != 10:
            raise ValueError("weights must total 10")
        if self.answer_step not in ids:
            raise ValueError(f"answer_step {self.answer_step!r} is not one of {ids!r}")
        known: set[str] = set()
        for step in self.steps:
            if not set(step.depends_on) <= known:
                raise ValueError(f"step {step.id!r} depends on a later or unknown step")
            known.add(step.id)
            if step.kind in ("num", "time") and step.value is None:
                raise ValueError(f"step {step.id!r} of kind {step.kind!r} needs a value")
            if step.kind in ("cat", "text") and step.truth not in step.options:
                raise ValueError(f"step {step.id!r}: the truth is not among the options")
        return self

    def step(self, step_id: str) -> ProgramStep:
        """Return the step with this id; raises `KeyError` when there is none."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)


def band(step: ProgramStep, value: float | str) -> Band:
    """Place a stated value in one of three disjoint bands.

    Args:
        step: the step that the value answers.
        value: a number (`num`), minutes (`time`), or an option's text (`cat`, `text`).

    Returns:
        `exact`, `near` or `far`. Whether an exact value is hedged (score 4 instead of 5) is a
        matter of the sentence, not of the value.
    """
    if step.kind in ("num", "time"):
        assert step.value is not None
        gap = abs(float(value) - step.value)
        if step.modulus:
            gap %= step.modulus
            gap = min(gap, step.modulus - gap)
        slack = 1e-9 + 1e-12 * abs(step.value)
        if gap <= step.tolerance + slack:
            return "exact"
        return "near" if gap <= step.near + slack else "far"
    if value == step.truth:
        return "exact"
    return "near" if value in step.near_options else "far"

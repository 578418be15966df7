"""The column map: which column of a table is what."""

from __future__ import annotations

from typing import Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from atom.errors import FormatError
from atom.formats.judgments.columns import MarkColumns


class ColumnMap(MarkColumns):
    """Names the columns of a table; what is left out is guessed.

    In nested JSON a column inside an object is named with a dot: `metadata.skills`.
    """

    dataset: str | None = None
    """The data set's name."""
    encoding: str | None = None
    """Text encoding of CSV and JSON files, such as `cp1252`."""
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    """The character between cells of a CSV file."""
    id: str | None = None
    """Column with the question's id; `row` (where no column is called so) = by file and row."""
    question: str | None = None
    pictures: tuple[str, ...] = ()
    """Columns with a path, a list of paths, a data URL or base64."""
    choices: tuple[str, ...] = ()
    """One column that holds a list, or one column for each option, in order."""
    answer: str | None = None
    """The reference: its text, or a letter or position among the choices."""
    answer_index_from: Literal[0, 1] | None = None
    """What the first choice is called where answers are positions."""
    answer_type: str | None = None
    tolerance: str | None = None
    """Column with the absolute tolerance for a numeric answer."""
    cluster: str | None = None
    """Column that is equal for questions that belong together, such as one question asked of
    four rotations of a picture: they count as one cluster."""
    model: str | None = None
    """Column with the candidate's name: one answer a row."""
    candidate: str | None = None
    """The candidate's name where no column has it."""
    version_of: str | None = None
    """Column with the name of the candidate that this one is a later version of."""
    response: str | None = None
    responses: dict[str, str] = Field(default_factory=dict)
    """Candidate → column: several answers a row."""
    extracted: str | None = None
    """Column with the final answer that was read out of the response."""
    repeat: str | None = None
    """Column that counts a model's answers to the same question, from 0."""
    correct: str | None = None
    """Column with the verdict: a yes/no word, or a number from 0 to `correct_max`."""
    corrects: dict[str, str] = Field(default_factory=dict)
    """Candidate → column with the verdict."""
    correct_max: float = Field(default=1.0, gt=0)
    response_a: str | None = None
    """Column with the first of two answers that were compared."""
    response_b: str | None = None
    model_a: str | None = None
    """Column with the name of whoever gave the first answer; None = called as its column."""
    model_b: str | None = None
    winner: str | None = None
    """Column with the verdict between the two: `a`, `b`, `tie`, `A>B`, a model's name, ..."""
    first_wins: tuple[str, ...] = ()
    """Further words of `winner` that mean the first answer."""
    second_wins: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()
    order: str | None = None
    """Column with which answer the judge was shown first (`ab`, `ba`, or whether they were
    swapped); None = the first one."""
    judge: str | None = None
    """Column with the judge's name."""
    annotator: str | None = None
    """Column with the person's name, where people said which is better."""
    tags: tuple[str, ...] | None = None
    """Columns that label a question; None = guessed."""
    response_tags: tuple[str, ...] = ()
    """Columns that label an answer."""
    tag_separator: str | None = Field(default=None, min_length=1)
    """What stands between several labels in one cell."""
    ignore: tuple[str, ...] = ()
    """Columns to leave out of guesses."""

    @field_validator(
        "pictures", "choices", "tags", "response_tags", "ignore", "first_wins", "second_wins",
        "ties", mode="before",
    )  # fmt: skip
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        if isinstance(value, list):
            return [item if isinstance(item, str) else str(item) for item in value]
        return (str(value),) if isinstance(value, str | int) else value

    @property
    def is_pairs(self) -> bool:
        """Whether a row compares two answers."""
        return self.winner is not None and (
            None not in (self.response_a, self.response_b)
            or None not in (self.model_a, self.model_b)
        )

    def to_yaml(self) -> str:
        """Print the map as YAML, without what isn't set."""
        data = self.model_dump(mode="json", exclude_defaults=True)
        return yaml.safe_dump(data, sort_keys=False, allow_unicode=True) if data else ""

    def named(self) -> tuple[tuple[str, str], ...]:
        """List (what it is, column) of every column that the map names."""
        pairs = [
            (field, value)
            for field in (
                "id", "question", "answer", "answer_type", "tolerance", "cluster", "model",
                "version_of", "response", "extracted", "repeat", "correct", "response_a",
                "response_b",
                "model_a", "model_b", "winner", "order", "judge", "annotator",
                "criterion", "criterion_text", "truth", "mark", "reason", "weight", "parents",
                "gate",
            )
            if (value := getattr(self, field)) is not None
        ]  # fmt: skip
        for field in ("pictures", "choices", "tags", "response_tags"):
            pairs += [(field, column) for column in getattr(self, field) or ()]
        for field in ("responses", "corrects"):
            pairs += [(field, column) for column in getattr(self, field).values()]
        return tuple(pairs)


def read_column_map(text: str) -> ColumnMap:
    """Read a column map written in YAML.

    Raises:
        FormatError: it isn't YAML, or names keys that a map doesn't have.
    """
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise FormatError(f"the column map isn't YAML: {error}") from error
    except RecursionError:
        raise FormatError("the column map is nested too deeply; it has two levels") from None
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise FormatError(
            f"the column map is a {type(data).__name__}; lines such as `question: prompt` are "
            "expected"
        )
    try:
        return ColumnMap.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FormatError(
            f"the column map's {where!r} can't be used ({first['msg']}); known keys: "
            f"{', '.join(ColumnMap.model_fields)}"
        ) from error

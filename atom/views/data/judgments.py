"""Judgments on the Data page: which column is what, the whole map as text, and the first marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atom.errors import FormatError
from atom.formats import ColumnMap, ImportFile, ImportPreview, read_column_map
from atom.formats.judgments.format import NAME
from atom.formats.judgments.named import named_maps
from atom.formats.judgments.plan import plans_of
from atom.records import Candidate, Checkpoint, Judge, Response

JUDGMENTS = NAME
FIELDS: tuple[tuple[str, str, str], ...] = (
    ("criterion", "Criterion", "The column with the criterion's name, number or text."),
    ("mark", "Mark", "The column with the mark on it."),
    ("criterion_text", "Criterion's wording", "Where the criterion is only a name or a number."),
    ("judge", "Judge", "The column that says who gave the mark."),
    ("reason", "Reason", "The column with the judge's words."),
    ("weight", "Weight", "Any positive number; a negative one takes points away."),
    ("capability", "Capability", "A path such as A > B, or a list: it becomes the study's tree."),
    ("id", "Id of the question", "Rows of one id are about one question."),
    ("question", "Question", "The text that was answered."),
    ("model", "Model's name", "Whose answer was judged."),
    ("response", "Model's answer", "Its text; marks count without it."),
    ("parents", "Rests on", "The column with the criteria that must hold first: 1,4."),
)
"""Keys of a map that one column fills: name, title, what it is."""
_MOST_TEXT = 20_000


@dataclass(frozen=True, kw_only=True)
class FirstMark:
    """One of the first marks, as it would come in."""

    question: str
    model: str
    criterion: str
    raw: str
    value: str
    """`0.75`, `n/a`, or why it has none."""
    judge: str


@dataclass(frozen=True, kw_only=True)
class MapForm:
    """What the form shows.

    Args:
        columns: the columns of the files' opened rows; empty where each file has keys of its own.
        text: the map as YAML.
    """

    columns: tuple[str, ...]
    text: str


def known_maps() -> dict[str, str]:
    """Return the maps of known formats: title -> YAML, without comments."""
    return {one.title: one.columns.to_yaml() for one in named_maps().values()}


def map_form(files: Sequence[ImportFile], columns: ColumnMap) -> MapForm:
    """Lay out the form for a map.

    Args:
        files: what is read.
    """
    there: dict[str, None] = {}
    if not columns.files:
        try:
            for plan in plans_of(files, columns):
                there.update(dict.fromkeys(name for row in plan.head[:1] for name in row))
        except FormatError:
            there = {}
    return MapForm(columns=tuple(there), text=columns.to_yaml())


def with_field(columns: ColumnMap, field: str, value: str | None) -> ColumnMap:
    """Change one key of a map; a column that had another job keeps only the new one."""
    said = columns.model_dump(exclude_unset=True, by_alias=True)
    for name, _, _ in FIELDS:
        if value is not None and said.get(name) == value:
            said[name] = None
    said[field] = value
    return ColumnMap.model_validate(said)


def map_of(text: str) -> ColumnMap:
    """Read a map that was typed.

    Raises:
        FormatError: it is no map, or far too long for one.
    """
    if len(text) > _MOST_TEXT:
        raise FormatError(f"a column map has at most {_MOST_TEXT:,} characters")
    return read_column_map(text)


def first_marks(found: ImportPreview, most: int) -> tuple[FirstMark, ...]:
    """Lay out the first marks of a preview."""
    questions = {one.id: one.question for one in found.samples}
    answers: dict[str, Response] = {one.id: one for one in found.responses}
    names: dict[str, Candidate] = {one.id: one for one in found.candidates}
    criteria = {one.id: one for one in found.criteria}
    judges = {one.id: one for one in found.frame if isinstance(one, Judge)}
    return tuple(
        FirstMark(
            question=questions.get(answers[mark.response_id].sample_id, ""),
            model=names[answers[mark.response_id].candidate_id].name,
            criterion=criteria[mark.criterion_id].question,
            raw=mark.raw,
            value=_value(mark),
            judge=judges[mark.judge_id].name,
        )
        for mark in found.marks[:most]
    )


def _value(mark: Checkpoint) -> str:
    if mark.value is not None:
        return f"{mark.value:.3g}"
    return "not applicable" if mark.state == "not_applicable" else f"unscored: {mark.detail}"

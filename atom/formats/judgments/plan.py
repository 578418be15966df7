"""What is where in each file: the map's keys for it, its path's fields, the shape of its rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, get_args

from pydantic import ValidationError

from atom.errors import FormatError
from atom.formats.base import ImportFile
from atom.formats.cells import to_name
from atom.formats.column_map import ColumnMap
from atom.formats.column_names import cell, column_names
from atom.formats.judgments.columns import EVERY, Axis
from atom.formats.judgments.paths import fields_of, is_template, match_path, place_of
from atom.formats.judgments.shapes import (
    CRITERION,
    DEEPER,
    KEY,
    MARK,
    PATH,
    VALUE,
    RowShape,
    ShapeError,
)
from atom.formats.layout import FileLayout, find_layout
from atom.formats.rows import NoProblems, Problems, Row, read_rows
from atom.formats.tools.inspect_files import is_log, log_rows

Role = Literal["questions", "criteria", "marks", "nothing"]
Getter = Callable[[Mapping[str, object]], object]
USED = "use"
"""A key of an item of `files`: `use: no` leaves the file aside."""
_HEAD_ROWS = 200
_MOST_TREE = 400_000_000
_ROLE_ORDER: Mapping[Role, int] = {"questions": 0, "criteria": 1, "marks": 2, "nothing": 3}
_SINGLE = (
    "id", "question", "answer", "model", "version_of", "response", "repeat", "judge",
    "annotator", "criterion", "criterion_text", "truth", "mark", "reason", "weight", "parents",
    "gate", "correct", "cluster",
)  # fmt: skip
"""Keys of a map that each name one column."""
_SELF_NAMED = (
    "model", "judge", "criterion", "question", "response", "repeat", "mark", "reason", "weight",
    "capability", "id", "annotator",
)  # fmt: skip
"""Keys whose column is the one called so, where a path or a cell says it."""
NAMES: Mapping[str, tuple[str, ...]] = {
    "criterion": (
        "criterion", "criteria", "rubric", "aspect", "dimension", "requirement", "subquestion",
        "criterionid", "criterionname", "checklistitem", "metric", "facet",
    ),
    "criterion_text": ("criteriontext", "criterionquestion", "requirementtext"),
    "truth": ("groundtruth", "truth"),
    "mark": (
        "mark", "score", "rating", "verdict", "judgment", "judgement", "grade", "met", "satisfied",
        "criteriamet", "passed", "points", "label",
    ),
    "reason": (
        "reason", "reasoning", "explanation", "rationale", "feedback", "justification", "comment",
    ),
    "weight": ("weight", "criterionweight"),
    "capability": ("capability", "capabilities", "capabilitypath", "skill", "leaf"),
    "parents": ("parents", "parent", "dependency", "dependencies", "dependson"),
    "gate": ("gate", "musthave", "required"),
    "id": ("id", "sample", "sampleid", "question_id", "questionid", "item", "itemid", "qid", "uid",
           "task", "taskid", "promptid"),
    "question": ("question", "prompt", "query", "instruction", "input"),
    "answer": ("reference", "referenceanswer"),
    "model": ("model", "modelname", "candidate", "system", "modelid"),
    "version_of": ("versionof", "previousversion", "earlierversion"),
    "response": ("response", "answer", "output", "modelresponse", "completion"),
    "judge": ("judge", "judgemodel", "judgename", "evaluator", "grader"),
    "annotator": ("annotator", "annotatorid", "rater", "raterid", "worker", "workerid", "expert"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FilePlan:
    """One file: what the map says of it, and how its rows become rows of one mark each.

    Args:
        layout: how it is laid out.
        columns: the map's keys for this file alone, with what was guessed.
        shape: how its rows are opened.
        head: its first rows, opened.
        guessed: (key, column) pairs that nobody said.
    """

    file: ImportFile
    layout: FileLayout
    columns: ColumnMap
    shape: RowShape
    role: Role
    head: tuple[Mapping[str, object], ...]
    guessed: tuple[tuple[str, str], ...]

    def rows(self, problems: Problems) -> Iterator[Row]:
        """Read its rows as they stand; a weighted tree is one row, a log one for each sample."""
        if self.columns.whole and is_log(self.file.head()):
            yield from log_rows(self.file, problems)
            return
        opened = self.columns.each[0].removesuffix(DEEPER) if self.columns.each else None
        wanted = self.columns.tree or (opened if self.columns.whole else None)
        if wanted is None or self.layout.kind in ("csv", "excel", "parquet"):
            yield from read_rows(self.file, self.layout, problems)
        else:
            yield from _whole(self.file, self.layout, wanted, problems)


def plans_of(files: Sequence[ImportFile], columns: ColumnMap) -> list[FilePlan]:
    """Plan all files: those with questions come first, then criteria, then marks.

    Of marks those come first that say whose answers they are about.

    Raises:
        FormatError: a file fits no item of `files`, or lacks a column that the map names.
    """
    made = [plan for file in files if (plan := _plan(file, columns)) is not None]
    if not any(plan.role in ("marks", "criteria") for plan in made):
        names = ", ".join(sorted({name for plan in made for name in column_names(plan.head)})[:40])
        raise FormatError(
            "no file holds criteria or marks on them; say where they stand: `criterion` and "
            f"`mark`, or `wide: {{criterion: [columns]}}`. Columns met: {names or 'none'}"
        )
    return sorted(made, key=lambda plan: (_ROLE_ORDER[plan.role], not _names_model(plan.columns)))


def said_of(file: ImportFile, columns: ColumnMap) -> tuple[ColumnMap, dict[str, str]] | None:
    """Return the map's keys for one file, and what the file's path says.

    Returns:
        None where the map leaves it aside.

    Raises:
        FormatError: no item of `files` fits it, or its items can't be used.
    """
    path = place_of(file)
    if not columns.files:
        captured = {} if columns.path is None else match_path(columns.path, path)
        if captured is None:
            raise FormatError(f"the path of {file.name!r} doesn't fit `path: {columns.path}`")
        return columns, captured
    common = columns.model_dump(exclude_unset=True, by_alias=True, exclude={"files"})
    for item in columns.files:
        pattern = item.get("path")
        if not isinstance(pattern, str):
            raise FormatError("each item of `files` has a `path`, such as `path: '{judge}.csv'`")
        captured = match_path(pattern, path)
        if captured is None:
            continue
        if item.get(USED) is False:
            return None
        own = {key: value for key, value in item.items() if key != USED}
        for key in ("criteria", "scales"):
            if isinstance(own.get(key), dict):
                own[key] = {**common.get(key, {}), **own[key]}  # type: ignore[dict-item]
        try:
            return ColumnMap.model_validate({**common, **own}), captured
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise FormatError(
                f"`files`, {pattern!r}: {where!r} can't be used: {first['msg']}"
            ) from None
    patterns = ", ".join(str(item.get("path")) for item in columns.files)
    raise FormatError(
        f"{file.name!r} fits none of the map's files ({patterns}); leave it out, or add "
        f"`- {{path: '{file.name}', use: no}}`"
    )


def _plan(file: ImportFile, given: ColumnMap) -> FilePlan | None:
    said = said_of(file, given)
    if said is None:
        return None
    columns, captured = said
    if columns.whole and is_log(file.head()):
        layout = FileLayout(kind="json")
    else:
        layout = find_layout(file, encoding=columns.encoding, delimiter=columns.delimiter)
    bare = FilePlan(
        file=file, layout=layout, columns=columns, role="marks", head=(), guessed=(),
        shape=_shape(columns, captured, ()),
    )  # fmt: skip
    raw = [row.values for row in islice(bare.rows(NoProblems()), _HEAD_ROWS)]
    if not raw:
        raise FormatError(f"{file.name!r} has no rows that can be read")
    shape = _shape(columns, captured, raw)
    head, problem = _opened(shape, raw)
    if not head:
        raise FormatError(f"{file.name!r} isn't of the shape that the map says: {problem}")
    present = set(column_names(head)) | set(head[0])
    own = _own_keys(file, given)
    columns = _only_present(columns, present, own, file)
    columns, guessed = _completed(columns, present, captured, guess=not given.files)
    return FilePlan(
        file=file,
        layout=layout,
        columns=columns,
        shape=shape,
        role=_role(columns),
        head=tuple(head),
        guessed=guessed,
    )


def _own_keys(file: ImportFile, given: ColumnMap) -> frozenset[str]:
    """Return the keys that the map says of this very file: their columns must be there."""
    if not given.files:
        return frozenset(given.model_fields_set)
    path = place_of(file)
    item = next(one for one in given.files if match_path(str(one.get("path")), path) is not None)
    return frozenset(item)


def _opened(
    shape: RowShape, rows: Sequence[Mapping[str, object]]
) -> tuple[list[Mapping[str, object]], str]:
    found: list[Mapping[str, object]] = []
    problem = ""
    for values in rows:
        try:
            found += shape.rows(dict(values))
        except ShapeError as error:
            problem = problem or str(error)
        if len(found) > 20 * _HEAD_ROWS:
            break
    return found, problem


def _shape(
    columns: ColumnMap, captured: Mapping[str, str], rows: Sequence[Mapping[str, object]]
) -> RowShape:
    axes: list[tuple[Axis, Mapping[str, str]]] = []
    for axis, listed in columns.wide.items():
        if isinstance(listed, dict):
            axes.append((axis, listed))
        elif listed == (EVERY,):
            axes.append((axis, {name: name for name in _left_over(columns, rows)}))
        else:
            axes.append((axis, {name: name for name in listed}))
    return RowShape(
        captured=captured,
        split=columns.split,
        tree=columns.tree,
        weight=columns.weight or "weight",
        label=columns.criterion_text or columns.criterion or "requirements",
        each=columns.each,
        axes=tuple(axes),
        cell=columns.cell,
        mark=MARK,
    )


def _left_over(columns: ColumnMap, rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the columns that nothing in the map names."""
    named = {column for _, column in columns.named()} | set(columns.ignore) | set(columns.split)
    named |= {field for column in named if is_template(column) for field in fields_of(column)}
    if isinstance(columns.capability, str):
        named.add(columns.capability)
    named |= set(columns.capability or ()) if isinstance(columns.capability, tuple) else set()
    return [name for name in column_names(rows) if name not in named]


def _only_present(
    columns: ColumnMap, present: set[str], own: frozenset[str], file: ImportFile
) -> ColumnMap:
    """Drop keys of the common part whose column this file lacks; its own must be there."""
    gone: dict[str, object] = {}
    for key in (*_SINGLE, "capability"):
        said = getattr(columns, key)
        listed = (said,) if isinstance(said, str) else said or ()
        wanted = [
            field
            for column in listed
            for field in (fields_of(column) if is_template(column) else (column,))
        ]
        missing = [column for column in wanted if not _is_there(column, present)]
        if missing and key in own and not (key == "id" and said == "row"):
            raise FormatError(
                f"{file.name!r} has no column {missing[0]!r}, which the map names for {key!r}; it "
                f"has {', '.join(sorted(present)[:40])}"
            )
        if missing:
            gone[key] = None
    return columns.model_copy(update=gone) if gone else columns


def _is_there(column: str, present: set[str]) -> bool:
    return column in present or any(name.startswith(f"{column}.") for name in present)


def _completed(
    columns: ColumnMap, present: set[str], captured: Mapping[str, str], *, guess: bool
) -> tuple[ColumnMap, tuple[tuple[str, str], ...]]:
    """Fill in what the path, the shape and (where wished) usual names say."""
    found: dict[str, object] = {}
    axes = set(columns.wide)
    spoken = {field for pattern in columns.split.values() for field in fields_of(pattern)}
    for key in _SELF_NAMED:
        if getattr(columns, key) is None and (key in captured or key in spoken or key in axes):
            found[key] = key
    if columns.cell:
        found["criterion"] = CRITERION
    if columns.wide or columns.cell:
        found["mark"] = MARK
    elif (
        columns.each
        and columns.mark is None
        and VALUE in present
        and not {columns.criterion, columns.criterion_text} & set(columns.each)
    ):
        found["mark"] = VALUE
    if columns.each and columns.criterion is None and KEY in present:
        found.setdefault("criterion", KEY)
    if columns.tree is not None and columns.capability is None:
        found["capability"] = PATH
    columns = columns.model_copy(update=found)
    if not guess:
        return columns, ()
    guessed = _guess(columns, present)
    return columns.model_copy(update=dict(guessed)), guessed


def _guess(columns: ColumnMap, present: set[str]) -> tuple[tuple[str, str], ...]:
    plain = {"".join(c for c in name.casefold() if c.isalnum()): name for name in sorted(present)}
    taken = {column for _, column in columns.named()} | set(columns.ignore)
    taken |= {cell for cell in (columns.capability,) if isinstance(cell, str)}
    guessed: list[tuple[str, str]] = []
    for key, names in NAMES.items():
        if getattr(columns, key) is not None:
            continue
        if key == "annotator" and (columns.judge is not None or columns.judge_name is not None):
            continue
        if key == "judge" and columns.judge_name is not None:
            continue
        if key == "model" and columns.candidate is not None:
            continue
        if key == "mark" and columns.probabilities:
            continue
        name = next((plain[one] for one in names if one in plain and plain[one] not in taken), None)
        if name is not None:
            guessed.append((key, name))
            taken.add(name)
    return tuple(guessed)


def looks_like(names: Sequence[str]) -> bool:
    """Whether a table's columns name a criterion and a mark side by side."""
    plain = {"".join(c for c in name.casefold() if c.isalnum()) for name in names}
    strict = {"criterion", "criteria", "rubric", "aspect", "criterionid", "criterionname",
              "requirement", "subquestion", "dimension", "checklistitem"}  # fmt: skip
    return bool(plain & strict) and bool(plain & set(NAMES["mark"]))


def _names_model(columns: ColumnMap) -> bool:
    return columns.model is not None or columns.candidate is not None


def _role(columns: ColumnMap) -> Role:
    marked = columns.mark is not None or bool(columns.probabilities)
    if marked and columns.criterion is not None:
        return "marks"
    if columns.criterion is not None:
        return "criteria"
    if columns.question is not None or columns.response is not None or columns.answer is not None:
        return "questions"
    return "nothing"


def getter(column: str | None) -> Getter:
    """Return what reads a map's column from a row; `{a}/{b}` is made of several."""
    if column is None:
        return lambda row: None
    if is_template(column):
        return lambda row: _filled(column, row)
    if "." in column:
        return lambda row: cell(row, column)
    return lambda row: row.get(column)


def _filled(template: str, row: Mapping[str, object]) -> str | None:
    text = template
    for name in fields_of(template):
        value = to_name(cell(row, name))
        if value is None:
            return None
        text = text.replace("{" + name + "}", value)
    return text


def _whole(
    file: ImportFile, layout: FileLayout, children: str, problems: Problems
) -> Iterator[Row]:
    """Read whole objects: one in a JSON file, a list of them, or one a line."""
    if layout.kind == "jsonl":
        yield from read_rows(file, layout, problems)
        return
    with file.open() as stream:
        data = stream.read(_MOST_TREE + 1)
    if len(data) > _MOST_TREE:
        raise FormatError(f"{file.name!r} is too large for one object; cut it into JSON lines")
    try:
        found = json.loads(data.decode(layout.encoding, "replace"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{file.name!r} can't be read as JSON: {error}") from error
    for at, node in enumerate(found if isinstance(found, list) else [found], start=1):
        if isinstance(node, dict) and cell(node, children) is not None:
            yield Row(place=f"{file.name} object {at}", values=node)
        else:
            problems.skip(f"{file.name} object {at}", f"it has no {children!r}")


assert set(get_args(Role)) == set(_ROLE_ORDER)

"""The names under which tables keep what, and the columns that rows have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast

from atom.errors import FormatError
from atom.formats.cells import (
    to_choices,
    to_text,
)
from atom.formats.column_map import ColumnMap

NAMES: dict[str, tuple[str, ...]] = {
    "id": (
        "id", "questionid", "qid", "pid", "sampleid", "uid", "uniqueid", "index", "idx", "docid",
        "key", "itemid", "item", "exampleid", "example", "sampleidx", "sampleindex", "questionidx",
    ),
    "question": (
        "question", "questiontext", "prompt", "prompttext", "query", "problem", "instruction",
        "userprompt", "input", "text",
    ),
    "answer": (
        "answer", "reference", "referenceanswer", "groundtruth", "gtanswer", "correctanswer",
        "correctoption", "target", "gt", "gold", "label", "answers",
    ),
    "model": (
        "model", "modelname", "candidate", "modelid", "modelkey", "system", "systemname", "engine",
        "llm", "vlm", "lmm", "mllm",
    ),
    "version_of": ("versionof", "previousversion", "earlierversion"),
    "response": (
        "response", "modelresponse", "modelanswer", "output", "modeloutput", "completion",
        "generatedtext", "prediction", "modelprediction", "pred",
    ),
    "extracted": ("extracted", "extraction", "extractedanswer", "parsedanswer", "prediction"),
    "correct": (
        "correct", "iscorrect", "hit", "truefalse", "ifright", "isright", "right", "exactmatch",
        "accuracy", "acc", "score", "verdict", "passed",
    ),
    "answer_type": ("answertype",),
    "tolerance": ("tolerance",),
    "repeat": ("repeat", "epoch"),
    "response_a": (
        "responsea", "response1", "answera", "answer1", "outputa", "output1", "completiona",
        "assistanta", "modelaresponse", "modelaanswer",
    ),
    "response_b": (
        "responseb", "response2", "answerb", "answer2", "outputb", "output2", "completionb",
        "assistantb", "modelbresponse", "modelbanswer",
    ),
    "model_a": ("modela", "model1"),
    "model_b": ("modelb", "model2"),
    "winner": ("winner", "preference", "preferred", "verdict", "vote", "judgement", "judgment",
               "label"),
    "order": ("order", "shownfirst", "firstshown", "swapped", "swap", "presentationorder"),
    "judge": ("judge", "judgemodel", "judgename", "evaluator", "grader"),
    "annotator": ("annotator", "annotatorid", "rater", "raterid", "labeler", "labeller"),
}  # fmt: skip
CHOICES = ("choices", "options", "allchoices")
PICTURES = (
    "images", "pictures", "image", "picture", "decodedimage", "imagepath", "imagepaths",
    "picturepath", "imagefile", "imagename", "img", "imgpath",
)  # fmt: skip
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_INSIDE = r"(?:response|prediction|answer|output|model)s?\.([^.]+)"
"""Objects in an object, one a model: `{"predictions": {"gpt-x": {"text": ..., "score": ...}}}`."""
WIDE_RESPONSE = (
    re.compile(r"^(?:response|prediction|answer|output)\s*:\s*(.+)$", re.IGNORECASE),
    re.compile(rf"^{_INSIDE}\.(?:text|response|prediction|answer|output)$", re.IGNORECASE),
)
WIDE_CORRECT = (
    re.compile(r"^(?:correct|score|hit|verdict)\s*:\s*(.+)$", re.IGNORECASE),
    re.compile(rf"^{_INSIDE}\.(?:correct|is_correct|score|hit|verdict)$", re.IGNORECASE),
)
RESULT = re.compile(
    r"(?:score|rating|correct|accuracy|hit|verdict|judge?ment|points|passed|pass|winner|preference"
    r"|preferred|vote|mark|humanlabel|humanscore|chosen|rejected)s?\d*$"
    r"|^(?:annotator|rater|worker|label|annotation)(?:id)?\d*$"
    r"|^(?:response|answer|output)(?:a|b|1|2)$"
)
"""Names of columns that hold results: scores, labels, pairs or marks."""


def cell(values: Mapping[str, object], column: str | None) -> object:
    """Return a row's cell; a dotted column reaches into objects."""
    if column is None:
        return None
    if column in values:
        return values[column]
    at: object = values
    for part in column.split("."):
        if not isinstance(at, Mapping):
            return None
        at = at.get(part)
    return at


Getter = Callable[[Mapping[str, object], str | None], object]
"""Returns a row's cell of a column; None has none."""
_GET = cast("Getter", dict.get)


def getter(columns: Iterable[str | None]) -> Getter:
    """Return what does for these columns what `cell` does, at once where none has a dot."""
    return cell if any("." in column for column in columns if column) else _GET


def column_names(rows: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """List the columns of the rows in the order met; objects' keys with a dot."""
    names: dict[str, None] = {}
    for values in rows:
        for name in _names_in(values, ""):
            names[name] = None
    return tuple(names)


def _names_in(values: Mapping[str, object], prefix: str) -> Iterator[str]:
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and prefix.count(".") < 2 and not _is_one_value(value):
            yield from _names_in(value, f"{name}.")
        else:
            yield name


def _is_one_value(value: Mapping[str, object]) -> bool:
    keys = set(value)
    return keys <= {"bytes", "path"} or keys == {"text", "label"} or keys <= set(LETTERS)


def cell_text(values: Mapping[str, object], column: str | None) -> str:
    """Return a cell as text; empty when it is missing."""
    return to_text(cell(values, column)) or ""


def plain(name: str) -> str:
    """Return a column's name without case and signs."""
    return re.sub(r"[\s_\-.]+", "", name).lower()


BY_ROW = "row"
"""What a column map says for `id` where rows are named by their file and their place in it."""


def check_columns(
    heads: Sequence[Sequence[Mapping[str, object]]], given: ColumnMap, files: Sequence[str]
) -> None:
    """Refuse a column map that names a column which no file has.

    Raises:
        FormatError: with the columns that there are.
    """
    names = [column_names(rows) for rows in heads]
    for what, column in given.named():
        if (what, column) == ("id", BY_ROW):
            continue
        if not any(is_there(column, names[at], heads[at]) for at in range(len(heads))):
            listed = "; ".join(
                f"{file!r} has {list_columns(columns)}"
                for file, columns in zip(files, names, strict=True)
            )
            raise FormatError(f"the column map says {what}: {column!r}, but {listed}")


def is_there(column: str, names: Sequence[str], rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether rows have a column, by its name or by what it reaches into."""
    return column in names or any(cell(values, column) is not None for values in rows)


def list_columns(names: Sequence[str]) -> str:
    """List columns for a message, the first of many."""
    shown = ", ".join(repr(name[:60]) for name in names[:30])
    return f"{shown}, and {len(names) - 30:,} more" if len(names) > 30 else shown


def read_choices(values: Mapping[str, object], columns: ColumnMap) -> tuple[str, ...]:
    """Return the texts of a row's options."""
    if len(columns.choices) == 1:
        found = to_choices(cell(values, columns.choices[0]))
        return found.texts if found else ()
    texts = (to_text(cell(values, column)) for column in columns.choices)
    return tuple(text for text in texts if text is not None)

"""Guess which column of a table is what, from names and the first rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from atom.errors import FormatError
from atom.formats.cells import (
    to_choices,
    to_list,
    to_name,
    to_number,
    to_text,
    to_verdict,
)
from atom.formats.column_map import ColumnMap
from atom.formats.pictures import PICTURE_SUFFIXES, embedded_bytes

_NAMES: dict[str, tuple[str, ...]] = {
    "id": (
        "id", "questionid", "qid", "pid", "sampleid", "uid", "uniqueid", "index", "idx", "docid",
        "key",
    ),
    "question": (
        "question", "questiontext", "prompt", "query", "problem", "instruction", "userprompt",
        "input", "text",
    ),
    "answer": (
        "answer", "reference", "referenceanswer", "groundtruth", "gtanswer", "correctanswer",
        "correctoption", "target", "gt", "gold", "label", "answers",
    ),
    "model": ("model", "modelname", "candidate", "modelid", "modelkey"),
    "response": (
        "response", "modelresponse", "modelanswer", "output", "modeloutput", "completion",
        "generatedtext", "prediction", "modelprediction", "pred",
    ),
    "extracted": ("extracted", "extraction", "extractedanswer", "parsedanswer", "prediction"),
    "correct": (
        "correct", "iscorrect", "hit", "truefalse", "ifright", "right", "exactmatch", "accuracy",
        "acc", "score",
    ),
    "answer_type": ("answertype",),
    "tolerance": ("tolerance",),
    "repeat": ("repeat", "epoch"),
}  # fmt: skip
_CHOICES = ("choices", "options", "allchoices")
_PICTURES = (
    "images", "pictures", "image", "picture", "decodedimage", "imagepath", "imagepaths",
    "picturepath", "imagefile", "imagename", "img", "imgpath",
)  # fmt: skip
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WIDE_RESPONSE = re.compile(r"^(?:response|prediction|answer|output)\s*:\s*(.+)$", re.IGNORECASE)
_WIDE_CORRECT = re.compile(r"^(?:correct|score|hit|verdict)\s*:\s*(.+)$", re.IGNORECASE)
_MAX_TAG_LENGTH = 60
_MAX_TAG_VALUES = 40


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
    return keys <= {"bytes", "path"} or keys == {"text", "label"} or keys <= set(_LETTERS)


@dataclass(frozen=True, kw_only=True)
class Guess:
    """A completed column map, and what was decided along the way."""

    columns: ColumnMap
    notes: tuple[str, ...] = ()


def complete_map(
    rows: Sequence[Mapping[str, object]],
    given: ColumnMap,
    file_name: str,
    *,
    question_needed: bool = True,
) -> Guess:
    """Fill in what a column map leaves out.

    Args:
        rows: the file's first rows.
        given: what the user says; it is never overruled.
        file_name: for messages.
        question_needed: whether a file without questions is refused.

    Raises:
        FormatError: no question can be found.
    """
    names = column_names(rows)
    present = {column for _, column in given.named() if _is_there(column, names, rows)}
    guesser = _Guesser(rows, names, given, present)
    columns = guesser.complete()
    has_id_and_answers = columns.id is not None and (
        columns.response is not None or bool(columns.responses) or columns.correct is not None
    )
    if columns.question is None and (question_needed or not has_id_and_answers):
        raise FormatError(
            f"{file_name!r} has no column that looks like the question; it has {_listed(names)}: "
            "name it in a column map (`question: <column>`)"
        )
    return Guess(columns=columns, notes=tuple(f"{file_name}: {note}" for note in guesser.notes))


def guess_map(rows: Sequence[Mapping[str, object]], given: ColumnMap) -> ColumnMap:
    """Fill in what can be guessed, without asking that it be enough to read the file.

    Args:
        rows: the file's first rows.
        given: what the user says; columns that the rows don't have are left out.
    """
    names = column_names(rows)
    present = {column for _, column in given.named() if _is_there(column, names, rows)}
    return _Guesser(rows, names, given, present).complete()


def check_columns(
    heads: Sequence[Sequence[Mapping[str, object]]], given: ColumnMap, files: Sequence[str]
) -> None:
    """Refuse a column map that names a column which no file has.

    Raises:
        FormatError: with the columns that there are.
    """
    names = [column_names(rows) for rows in heads]
    for what, column in given.named():
        if not any(_is_there(column, names[at], heads[at]) for at in range(len(heads))):
            listed = "; ".join(
                f"{file!r} has {_listed(columns)}"
                for file, columns in zip(files, names, strict=True)
            )
            raise FormatError(f"the column map says {what}: {column!r}, but {listed}")


def _is_there(column: str, names: Sequence[str], rows: Sequence[Mapping[str, object]]) -> bool:
    return column in names or any(cell(values, column) is not None for values in rows)


def _only(given: ColumnMap, present: set[str]) -> ColumnMap:
    """Leave out what the map says of columns that another file has."""
    update: dict[str, object] = {}
    for what, column in given.named():
        if column in present:
            continue
        value = getattr(given, what)
        if isinstance(value, str):
            update[what] = None
        elif isinstance(value, dict):
            update[what] = {k: v for k, v in value.items() if v in present}
        else:
            update[what] = tuple(v for v in value if v in present)
    return given.model_copy(update=update)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name[:60]) for name in names[:30])
    return f"{shown}, and {len(names) - 30} more" if len(names) > 30 else shown


class _Guesser:
    def __init__(
        self,
        rows: Sequence[Mapping[str, object]],
        names: Sequence[str],
        given: ColumnMap,
        present: set[str],
    ) -> None:
        self._rows = rows
        self._given = given
        self._present = present
        taken = {column for _, column in given.named()} | set(given.ignore)
        self._free = [name for name in names if name not in taken]
        self.notes: list[str] = []

    def complete(self) -> ColumnMap:
        given = self._given
        update: dict[str, object] = {}
        if given.question is None:
            update["question"] = self._take("question", self._is_text)
        if not given.responses:
            update["responses"] = self._wide(_WIDE_RESPONSE)
        if not given.corrects:
            update["corrects"] = self._wide(_WIDE_CORRECT)
        if given.id is None:
            update["id"] = self._identity(given.question or update.get("question"))
        if not given.choices:
            update["choices"] = self._choices()
        if not given.pictures:
            update["pictures"] = self._pictures()
        self._take_answers(update)
        for field in ("answer", "answer_type", "tolerance"):
            if getattr(given, field) is None:
                update[field] = self._take(field)
        columns = _only(given, self._present).model_copy(update=update)
        if columns.answer is not None and columns.choices and columns.answer_index_from is None:
            columns = columns.model_copy(update={"answer_index_from": self._base(columns)})
        return self._with_tags(columns)

    def _take_answers(self, update: dict[str, object]) -> None:
        given = self._given
        if given.model is None and given.candidate is None:
            update["model"] = self._take("model", self._is_text)
        if given.response is None and not (given.responses or update.get("responses")):
            update["response"] = self._take("response")
            if update["response"] is None and (given.model or update.get("model")):
                update["response"] = self._answer_of_model()
        has_answers = given.response or update.get("response")
        if given.extracted is None and has_answers:
            update["extracted"] = self._take("extracted")
        if given.correct is None and not (given.corrects or update.get("corrects")):
            update["correct"] = self._take("correct", self._is_verdict)
        if given.repeat is None and has_answers:
            update["repeat"] = self._take("repeat", self._is_count)

    def _answer_of_model(self) -> str | None:
        """Take `answer` as the model's own, in a table that names models and no response."""
        if self._given.answer is not None:
            return None
        for name in self._free:
            if _plain(name) == "answer":
                self._free.remove(name)
                self.notes.append(
                    f"column {name!r} was taken as the model's answer, not as the reference"
                )
                return name
        return None

    def _is_count(self, column: str) -> bool:
        return all(to_number(cell(values, column)) is not None for values in self._rows)

    def _take(self, field: str, fits: Callable[[str], bool] | None = None) -> str | None:
        for wanted in _NAMES[field]:
            for name in self._free:
                if _plain(name) != wanted:
                    continue
                if fits is not None and not fits(name):
                    continue
                self._free.remove(name)
                return name
        return None

    def _is_text(self, column: str) -> bool:
        seen = [value for values in self._rows if (value := cell(values, column)) is not None]
        return bool(seen) and all(isinstance(value, str | int | float) for value in seen)

    def _is_verdict(self, column: str) -> bool:
        verdicts = [to_verdict(cell(values, column)) for values in self._rows]
        said = [verdict for verdict in verdicts if verdict is not None]
        good = sum(verdict.value is not None for verdict in said)
        if said and good >= 0.9 * len(said):
            return True
        if said:
            self.notes.append(
                f"column {column!r} was not taken as the verdict: its values are not 0 to 1 "
                "(say `correct` and `correct_max` in a column map if it is one)"
            )
        return False

    def _identity(self, question: object) -> str | None:
        """Take the first id column under which no two questions stand."""
        for wanted in _NAMES["id"]:
            for name in self._free:
                if _plain(name) != wanted:
                    continue
                meant: dict[str, str] = {}
                clash = False
                for values in self._rows:
                    key = to_name(cell(values, name))
                    text = to_text(cell(values, str(question))) or ""
                    clash |= key is not None and meant.setdefault(key, text) != text
                self._free.remove(name)
                if not clash or len(meant) > 0.9 * len(self._rows):
                    return name
                self.notes.append(
                    f"column {name!r} was not taken as the id: different questions share one"
                )
        return None

    def _wide(self, pattern: re.Pattern[str]) -> dict[str, str]:
        found = {}
        for name in list(self._free):
            match = pattern.match(name)
            if match:
                found[match[1].strip()] = name
                self._free.remove(name)
        return found

    def _choices(self) -> tuple[str, ...]:
        for wanted in _CHOICES:
            for name in self._free:
                if _plain(name) == wanted and any(
                    to_choices(cell(values, name)) for values in self._rows
                ):
                    self._free.remove(name)
                    return (name,)
        for prefix in ("", "option", "choice"):
            run: list[str] = []
            for letter in _LETTERS:
                wanted_column = next(
                    (
                        name
                        for name in self._free
                        if (
                            name == letter
                            if not prefix
                            else _plain(name) == prefix + letter.lower()
                        )
                    ),
                    None,
                )
                if wanted_column is None:
                    break
                run.append(wanted_column)
            if len(run) >= 2:
                for name in run:
                    self._free.remove(name)
                return tuple(run)
        return ()

    def _pictures(self) -> tuple[str, ...]:
        numbered = [
            name for name in self._free if re.fullmatch(r"(image|picture|img)\d+", _plain(name))
        ]
        if numbered:
            self._free = [name for name in self._free if name not in numbered]
            return tuple(numbered)
        named = [name for wanted in _PICTURES for name in self._free if _plain(name) == wanted]
        named = named or [name for name in self._free if self._names_pictures(name)]
        if not named:
            return ()
        with_bytes = [name for name in named if self._has_bytes(name)]
        chosen = (with_bytes or named)[0]
        self._free = [name for name in self._free if name not in named]
        return (chosen,)

    def _names_pictures(self, column: str) -> bool:
        names = [name for values in self._rows if (name := to_name(cell(values, column)))]
        return bool(names) and all(name.lower().endswith(PICTURE_SUFFIXES) for name in names)

    def _has_bytes(self, column: str) -> bool:
        for values in self._rows:
            value = cell(values, column)
            items = value if isinstance(value, list) else [value]
            for item in items:
                if isinstance(item, dict) and item.get("bytes"):
                    return True
                if isinstance(item, bytes):
                    return True
                if isinstance(item, str) and len(item) > 64 and embedded_bytes(item):
                    return True
        return False

    def _base(self, columns: ColumnMap) -> int | None:
        """Tell positions from 0 from positions from 1, by the rows where the two differ."""
        positions: list[tuple[int, int]] = []
        for values in self._rows:
            answer = to_name(cell(values, columns.answer))
            n = len(read_choices(values, columns))
            if answer is None or not n or not re.fullmatch(r"\d{1,2}", answer):
                continue
            if answer in read_choices(values, columns):
                continue
            positions.append((int(answer), n))
        if not positions:
            return None
        if any(position == 0 for position, _ in positions):
            base = 0
        elif any(position == n for position, n in positions):
            base = 1
        else:
            base = 0
        self.notes.append(
            f"answers were read as positions that count from {base} "
            "(`answer_index_from` in a column map says otherwise)"
        )
        return base

    def _with_tags(self, columns: ColumnMap) -> ColumnMap:
        if columns.tags is not None:
            return columns
        sample_tags: list[str] = []
        response_tags = list(columns.response_tags)
        for name in self._free:
            if not self._is_label(name):
                continue
            if self._varies_in_sample(name, columns):
                response_tags.append(name)
            else:
                sample_tags.append(name)
        return columns.model_copy(
            update={"tags": tuple(sample_tags), "response_tags": tuple(response_tags)}
        )

    def _is_label(self, column: str) -> bool:
        labels = [label for values in self._rows for label in labels_of(cell(values, column))]
        distinct = set(labels)
        if len(distinct) < 2 or len(distinct) > _MAX_TAG_VALUES:
            return False
        if any(len(label) > _MAX_TAG_LENGTH or "\n" in label for label in distinct):
            return False
        return len(distinct) <= max(3, len(labels) // 2)

    def _varies_in_sample(self, column: str, columns: ColumnMap) -> bool:
        if columns.response is None and columns.correct is None:
            return False
        seen: dict[str, object] = {}
        for values in self._rows:
            key = to_name(cell(values, columns.id)) or to_text(cell(values, columns.question)) or ""
            labels = labels_of(cell(values, column))
            if seen.setdefault(key, labels) != labels:
                return True
        return False


def read_choices(values: Mapping[str, object], columns: ColumnMap) -> tuple[str, ...]:
    """Return the texts of a row's options."""
    if len(columns.choices) == 1:
        found = to_choices(cell(values, columns.choices[0]))
        return found.texts if found else ()
    texts = (to_text(cell(values, column)) for column in columns.choices)
    return tuple(text for text in texts if text is not None)


def labels_of(value: object, separator: str | None = None) -> tuple[str, ...]:
    """Return the labels in a cell: of a list each item, else its text, cut at the separator."""
    items = to_list(value)
    if items is None:
        if isinstance(value, dict | bytes):
            return ()
        text = to_name(value)
        if text is None:
            return ()
        items = list(text.split(separator)) if separator else [text]
    labels = (to_name(item) for item in items if not isinstance(item, dict | list))
    return tuple(dict.fromkeys(label for label in labels if label))


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-.]+", "", name).lower()

"""Guess which column of a table is what, from names and the first rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

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
from atom.formats.column_names import (
    BY_ROW,
    CHOICES,
    LETTERS,
    NAMES,
    PICTURES,
    RESULT,
    WIDE_CORRECT,
    WIDE_RESPONSE,
    cell,
    cell_text,
    column_names,
    getter,
    is_there,
    list_columns,
    plain,
    read_choices,
)
from atom.formats.labels import LabelColumn
from atom.formats.pairs import kind_of_codes
from atom.formats.pictures import PICTURE_SUFFIXES, embedded_bytes

_MOST_NAME = 100
"""Characters of a model's name."""


@dataclass(frozen=True, kw_only=True)
class Guess:
    """A completed column map, and what was decided along the way."""

    columns: ColumnMap
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    """Columns that look like results and aren't used."""


def complete_map(
    rows: Sequence[Mapping[str, object]],
    given: ColumnMap,
    file_name: str,
    *,
    question_needed: bool = True,
    every: Callable[[], Iterable[Mapping[str, object]]] | None = None,
) -> Guess:
    """Fill in what a column map leaves out.

    Args:
        rows: the file's first rows.
        given: what the user says; it is never overruled.
        file_name: for messages.
        question_needed: whether a file without questions is refused.
        every: reads all rows of the file, to find what groups them; None = by the first ones.

    Raises:
        FormatError: no question can be found.
    """
    names = column_names(rows)
    present = {column for _, column in given.named() if is_there(column, names, rows)}
    guesser = _Guesser(rows, names, given, present, every)
    columns = guesser.complete()
    has_id_and_answers = columns.id is not None and (
        columns.response is not None or bool(columns.responses) or columns.correct is not None
    )
    if columns.question is None and (question_needed or not has_id_and_answers):
        raise FormatError(
            f"{file_name!r} has no column that looks like the question; it has "
            f"{list_columns(names)}: {_what_helps(names)}"
        )
    return Guess(
        columns=columns,
        notes=tuple(f"{file_name}: {note}" for note in guesser.notes),
        doubts=tuple(f"{file_name}: {doubt}" for doubt in guesser.doubts),
    )


def guess_map(rows: Sequence[Mapping[str, object]], given: ColumnMap) -> ColumnMap:
    """Fill in what can be guessed, without asking that it be enough to read the file.

    Args:
        rows: the file's first rows.
        given: what the user says; columns that the rows don't have are left out.
    """
    names = column_names(rows)
    present = {column for _, column in given.named() if is_there(column, names, rows)}
    return _Guesser(rows, names, given, present).complete()


def _only(given: ColumnMap, present: set[str]) -> ColumnMap:
    """Leave out what the map says of columns that another file has."""
    update: dict[str, object] = {}
    for what, column in given.named():
        if column in present or (what, column) == ("id", BY_ROW):
            continue
        value = getattr(given, what)
        if isinstance(value, str):
            update[what] = None
        elif isinstance(value, dict):
            update[what] = {k: v for k, v in value.items() if v in present}
        else:
            update[what] = tuple(v for v in value if v in present)
    return given.model_copy(update=update)


class _Guesser:
    def __init__(
        self,
        rows: Sequence[Mapping[str, object]],
        names: Sequence[str],
        given: ColumnMap,
        present: set[str],
        every: Callable[[], Iterable[Mapping[str, object]]] | None = None,
    ) -> None:
        self._rows = rows
        self._every = every or (lambda: rows)
        self._names = names
        self._given = given
        self._present = present
        taken = {column for _, column in given.named()} | set(given.ignore)
        self._free = [name for name in names if name not in taken]
        self.notes: list[str] = []
        self.doubts: list[str] = []

    def complete(self) -> ColumnMap:
        given = self._given
        update: dict[str, object] = {}
        if given.question is None:
            update["question"] = self._take("question", self._is_text)
            if update["question"] is None and given.id is not None:
                # A map may say that rows of one question belong together: `id: question`.
                named = plain(given.id) in NAMES["question"] and given.id in self._present
                update["question"] = given.id if named else None
        self._take_pairs(update)
        if not given.responses:
            update["responses"] = self._wide(WIDE_RESPONSE)
        if not given.corrects:
            update["corrects"] = self._wide(WIDE_CORRECT)
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
        self._free = [name for name in self._free if not self._is_unused_result(name, columns)]
        if columns.answer is not None and columns.choices and columns.answer_index_from is None:
            columns = columns.model_copy(update={"answer_index_from": self._base(columns)})
        return self._with_tags(columns)

    def _take_pairs(self, update: dict[str, object]) -> None:
        """Take the columns of a table that compares two answers a row."""
        given = self._given
        found = {
            field: getattr(given, field) or self._look(field)
            for field in ("response_a", "response_b", "model_a", "model_b", "winner")
        }
        draft = ColumnMap(**found)
        if not draft.is_pairs:
            return
        for field in (*found, "order", "judge", "annotator"):
            if getattr(given, field) is None:
                update[field] = self._take(field)
        if given.first_wins or given.second_wins or given.ties:
            return
        winner = cast("str", found["winner"])
        kind = kind_of_codes((cell(values, winner) for values in self._rows), self._names)
        if kind == "auto-j":
            update |= {"first_wins": ("0",), "second_wins": ("1",), "ties": ("2",)}
            self.notes.append(
                "read as AutoJ's labels by people: 0 is the first answer, 1 the second, 2 a tie"
            )
        elif kind == "unclear":
            self.doubts.append(
                f"column {winner!r} says who won in numbers, and tables differ in what 0 means: "
                "say `first_wins`, `second_wins` and `ties` in a column map"
            )

    def _look(self, field: str) -> str | None:
        """Find a column without taking it."""
        return next(
            (name for wanted in NAMES[field] for name in self._free if plain(name) == wanted),
            None,
        )

    def _is_unused_result(self, column: str, columns: ColumnMap) -> bool:
        """Whether this looks like results that nothing is made of; says so where it does."""
        if columns.tags and column in columns.tags:
            return False
        if not RESULT.search(plain(column)) and not self._is_marks(column):
            return False
        self.doubts.append(
            f"column {column!r} looks like a result and isn't used: say what it is in a column map "
            "(`correct` and `correct_max` for a score, `winner` for a vote, `tags` for a group), "
            f"or `ignore: [{column}]`"
        )
        return True

    def _is_marks(self, column: str) -> bool:
        """Whether the cells are lists of numbers: marks of steps or parts."""
        lists = [items for values in self._rows if (items := to_list(cell(values, column)))]
        return bool(lists) and all(
            isinstance(item, int | float) for items in lists for item in items
        )

    def _take_answers(self, update: dict[str, object]) -> None:
        given = self._given
        if given.model is None and given.candidate is None:
            update["model"] = self._take("model", self._is_name)
        if given.version_of is None:
            update["version_of"] = self._take("version_of", self._is_name)
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
        named = (given.model, given.candidate, given.repeat, update.get("model"),
                 update.get("repeat"))  # fmt: skip
        key = given.id or update.get("id") or given.question or update.get("question")
        if has_answers and key is not None and key != BY_ROW and not any(named):
            self._ask_whose(key, has_answers)

    def _answer_of_model(self) -> str | None:
        """Take `answer` as the model's own, in a table that names models and no response."""
        if self._given.answer is not None:
            return None
        for name in self._free:
            if plain(name) == "answer":
                self._free.remove(name)
                self.notes.append(
                    f"column {name!r} was taken as the model's answer, not as the reference"
                )
                return name
        return None

    def _is_count(self, column: str) -> bool:
        return all(to_number(cell(values, column)) is not None for values in self._rows)

    def _take(self, field: str, fits: Callable[[str], bool] | None = None) -> str | None:
        for wanted in NAMES[field]:
            for name in self._free:
                if plain(name) != wanted:
                    continue
                if fits is not None and not fits(name):
                    continue
                self._free.remove(name)
                return name
        return None

    def _is_text(self, column: str) -> bool:
        seen = [value for values in self._rows if (value := cell(values, column)) is not None]
        return bool(seen) and all(isinstance(value, str | int | float) for value in seen)

    def _is_name(self, column: str) -> bool:
        """Whether the cells are names: short and of one line, as a system prompt isn't."""
        texts = [to_text(cell(values, column)) or "" for values in self._rows]
        short = all(len(text) <= _MOST_NAME and "\n" not in text for text in texts)
        return short and self._is_text(column)

    def _ask_whose(self, key: object, response: object) -> None:
        """Doubt rows that give one question several answers, where nothing says whose they are."""
        groups: dict[str, dict[str, Mapping[str, object]]] = {}
        for values in self._rows:
            name, text = to_name(cell(values, str(key))), to_text(cell(values, str(response)))
            if name is not None and text is not None:
                groups.setdefault(name, {}).setdefault(text, values)
        several = [list(rows.values()) for rows in groups.values() if len(rows) > 1]
        if not several:
            return
        apart = [
            column
            for column in self._free
            if self._is_name(column)
            and all(
                len({to_name(cell(values, column)) for values in rows}) == len(rows)
                for rows in several
            )
        ]
        told = f"; {' or '.join(map(repr, apart))} tells them apart" if apart else ""
        self.doubts.append(
            "one question has several answers, and no column says whose they are: only the first "
            f"of each would come in. Say in a column map which column names the model{told} "
            f"(`model: {apart[0] if apart else 'COLUMN'}`)"
        )

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
        for wanted in NAMES["id"]:
            for name in self._free:
                if plain(name) != wanted:
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

    def _wide(self, patterns: Sequence[re.Pattern[str]]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in list(self._free):
            match = next(filter(None, (pattern.match(name) for pattern in patterns)), None)
            if match and match[1].strip() not in found:
                found[match[1].strip()] = name
                self._free.remove(name)
        return found

    def _choices(self) -> tuple[str, ...]:
        for wanted in CHOICES:
            for name in self._free:
                if plain(name) == wanted and any(
                    to_choices(cell(values, name)) for values in self._rows
                ):
                    self._free.remove(name)
                    return (name,)
        for prefix in ("", "option", "choice"):
            run: list[str] = []
            for letter in LETTERS:
                wanted_column = next(
                    (
                        name
                        for name in self._free
                        if (
                            name == letter if not prefix else plain(name) == prefix + letter.lower()
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
            name for name in self._free if re.fullmatch(r"(image|picture|img)\d+", plain(name))
        ]
        if numbered:
            self._free = [name for name in self._free if name not in numbered]
            return tuple(numbered)
        named = [name for wanted in PICTURES for name in self._free if plain(name) == wanted]
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
        for name, found in self._labels(columns).items():
            if not found.is_group:
                continue
            if found.varies:
                response_tags.append(name)
            else:
                sample_tags.append(name)
        return columns.model_copy(
            update={"tags": tuple(sample_tags), "response_tags": tuple(response_tags)}
        )

    def _labels(self, columns: ColumnMap) -> dict[str, LabelColumn]:
        """Look at every row of the file: what groups it may be sorted by it."""
        found = {name: LabelColumn() for name in self._free}
        alive = list(found.items())
        answers = columns.response is not None or columns.correct is not None
        key = 0
        at = getter((columns.id, columns.question, *self._free))
        for values in self._every():
            if answers:
                name = at(values, columns.id)
                key = hash(name) if name.__class__ is str else _key_of(values, columns)
            bad = [name for name, one in alive if not one.add(at(values, name), key)]
            if bad:
                alive = [(name, one) for name, one in alive if name not in bad]
                if not alive:
                    break
        return found


def _key_of(values: Mapping[str, object], columns: ColumnMap) -> int:
    """Return what is equal for rows of one question: its id hashed, else its text."""
    name = cell(values, columns.id)
    if name is None:
        return hash(cell_text(values, columns.question))
    return hash(name if isinstance(name, str | int) else to_name(name))


def _what_helps(names: Sequence[str]) -> str:
    """Say what to do where no column is the question: a title may stand above the header."""
    nameless = sum(re.fullmatch(r"column \d+", name) is not None for name in names)
    if 2 * nameless >= len(names) > 1:
        return (
            "a title stands above the header, it seems: delete the lines before the one that names "
            "the columns, or name the question in a column map (`question: <column>`)"
        )
    return "name it in a column map (`question: <column>`)"

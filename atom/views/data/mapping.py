"""Which column of a table is what: the form's fields, and the column map that a choice makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from atom.errors import UsageError
from atom.formats import ColumnMap

MAPPED: tuple[tuple[str, str], ...] = (
    ("question", "Question"),
    ("answer", "Right answer"),
    ("id", "Id of the question"),
    ("model", "Model's name"),
    ("response", "Model's answer"),
    ("correct", "Right or wrong"),
    ("extracted", "Final answer that was read out"),
)
"""Fields of a column map that one column fills, and what a screen calls them."""
MAPPED_MANY: tuple[tuple[str, str], ...] = (
    ("pictures", "Pictures"),
    ("choices", "Choices"),
    ("tags", "Labels of the question"),
    ("response_tags", "Labels of the answer"),
)
"""Fields that several columns may fill."""
WIDE: tuple[tuple[str, str], ...] = (
    ("responses", "Models' answers, a column for each model"),
    ("corrects", "Right or wrong, a column for each model"),
)
"""Fields of a table with a question a row and all models' answers beside it."""
MORE_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("tolerance", "Tolerance", "The column that says how far a numeric answer may be off."),
    ("repeat", "Repeat", "The column that counts a model's answers to the same question, from 0."),
)
"""Fields that one column fills and few tables have: name, title, what it is."""
MORE_TEXTS: tuple[tuple[str, str, str], ...] = (
    ("tag_separator", "Between labels", 'What stands between several labels in one cell: "," in '
     "ocr,math."),
    ("encoding", "Encoding", "Text encoding such as cp1252 or utf-16; name it when letters look "
     "wrong."),
    ("delimiter", "Delimiter", "The character between cells of a CSV file."),
)  # fmt: skip
"""Settings that are typed."""
LAYOUT = ("encoding", "delimiter")
"""Settings that change which columns a file has."""
_LONG = ("model", "response", "correct")
_TAGS = ("tags", "response_tags")


@dataclass(frozen=True, kw_only=True)
class WideModel:
    """A model of a wide table.

    Attributes:
        response: the column with its answers.
        correct: the column with its verdicts.
    """

    name: str
    response: str | None
    correct: str | None

    @property
    def key(self) -> str:
        """What tells it from the others, whatever it is called."""
        return self.response or self.correct or self.name


def mapped_columns(chosen: Mapping[str, object], given: ColumnMap | None) -> ColumnMap:
    """Make a column map of what was chosen on a screen.

    A column with a job of its own is no label any longer. Choosing columns for a row an answer
    takes back those for a column a model, and the other way round: a table has one shape.

    Args:
        chosen: field → column, columns or a setting; empty = this field has none.
        given: the map that it changes: what the screen doesn't offer stays.
    """
    given = given or ColumnMap()
    base = given.model_dump()
    for field, value in chosen.items():
        if field in ("responses", "corrects"):
            continue
        if field in dict(MAPPED_MANY):
            base[field] = tuple(value) if isinstance(value, list | tuple) else ()
        elif field == "correct_max":
            base[field] = value or 1.0
        else:
            base[field] = value if value != "" else None
    if any(base[field] and base[field] != getattr(given, field) for field in _LONG):
        base["responses"], base["corrects"] = {}, {}
    elif "responses" in chosen or "corrects" in chosen:
        models = _paired(chosen, given)
        if models != wide_models(given):
            base.update(_of_models(models))
            if models:
                base.update(dict.fromkeys(_LONG))
    return _settled(ColumnMap.model_validate(base), given)


def wide_models(columns: ColumnMap) -> tuple[WideModel, ...]:
    """List the models that have columns of their own."""
    return tuple(
        WideModel(
            name=name, response=columns.responses.get(name), correct=columns.corrects.get(name)
        )
        for name in dict.fromkeys((*columns.responses, *columns.corrects))
    )


def with_model(columns: ColumnMap, key: str, *, name: str, correct: str | None) -> ColumnMap:
    """Change a model of a wide table.

    Args:
        key: the model's `WideModel.key`.
        name: what it is called now.
        correct: the column with its verdicts now; it is taken from whoever had it.

    Raises:
        UsageError: the name is empty, or another model's.
    """
    name = name.strip()
    changed = []
    for one in wide_models(columns):
        if one.key == key:
            changed.append(WideModel(name=name, response=one.response, correct=correct))
            continue
        if one.name == name:
            raise UsageError(f"two models can't both be called {name!r}; give one another name")
        taken = correct is not None and one.correct == correct
        changed.append(
            WideModel(name=one.name, response=one.response, correct=None if taken else one.correct)
        )
    if not name:
        raise UsageError("a model's name can't be empty")
    return _settled(columns.model_copy(update=_of_models(changed)), columns)


def refitted(columns: ColumnMap, names: Sequence[str]) -> ColumnMap:
    """Leave out what a map says of columns that a file, laid out anew, no longer has.

    Args:
        names: the columns that there are now.
    """
    there = set(names)
    update: dict[str, object] = {}
    for field, column in columns.named():
        if column in there:
            continue
        value = getattr(columns, field)
        if isinstance(value, dict):
            update[field] = {k: v for k, v in value.items() if v in there}
        elif isinstance(value, tuple):
            update[field] = tuple(v for v in value if v in there)
        else:
            update[field] = None
    if "tags" in update and not update["tags"]:
        update["tags"] = None
    update["ignore"] = tuple(v for v in columns.ignore if v in there)
    return columns.model_copy(update=update)


def _of_models(models: Sequence[WideModel]) -> dict[str, object]:
    return {
        "responses": {one.name: one.response for one in models if one.response},
        "corrects": {one.name: one.correct for one in models if one.correct},
    }


def _settled(made: ColumnMap, given: ColumnMap) -> ColumnMap:
    """Take columns with a new job off the labels, and keep freed ones from being guessed anew."""
    had = set(given.named())
    new = {col for field, col in made.named() if field not in _TAGS and (field, col) not in had}
    update: dict[str, object] = {
        field: tuple(column for column in getattr(made, field) if column not in new)
        for field in _TAGS
        if getattr(made, field)
    }
    made = made.model_copy(update=update)
    used = {column for _, column in made.named()}
    before = {column for _, column in given.named()} | set(made.ignore)
    return made.model_copy(update={"ignore": tuple(sorted(before - used))})


def _paired(chosen: Mapping[str, object], given: ColumnMap) -> tuple[WideModel, ...]:
    """Give each answers' column its verdicts; what is known stays, new ones go by their names."""
    now = wide_models(given)
    answers = _columns(chosen.get("responses", [one.response for one in now if one.response]))
    verdicts = _columns(chosen.get("corrects", [one.correct for one in now if one.correct]))
    names = {one.response or one.correct: one.name for one in now}
    models = {
        column: next((one.correct for one in now if one.response == column), None)
        for column in answers
    }
    models = {column: own if own in verdicts else None for column, own in models.items()}
    alone = []
    for verdict in (one for one in verdicts if one not in models.values()):
        free = [column for column, own in models.items() if own is None]
        likest = _likest(verdict, free, answers)
        if likest is None:
            alone.append(verdict)
        else:
            models[likest] = verdict
    pairs: list[tuple[str | None, str | None]] = [*models.items(), *((None, own) for own in alone)]
    made: list[WideModel] = []
    for response, correct in pairs:
        column = response or correct or ""
        name = wanted = names.get(column, column)
        number = 1
        while any(one.name == name for one in made):
            number += 1
            name = f"{wanted} {number}"
        made.append(WideModel(name=name, response=response, correct=correct))
    return tuple(made)


def _columns(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def _likest(verdict: str, free: Sequence[str], answers: Sequence[str]) -> str | None:
    """Return the answers' column that a verdicts' column is named like; None where it isn't clear.

    `ok_a` is like `bot_a` for what they end with, `gpt ok` like `gpt answer` for what they begin
    with: as long as no other column is as like.
    """
    likeness = {column: _likeness(verdict, column) for column in answers}
    best = max(likeness.values(), default=0)
    likest = [column for column, value in likeness.items() if value == best]
    return likest[0] if best and len(likest) == 1 and likest[0] in free else None


def _likeness(one: str, other: str) -> int:
    one, other = one.casefold(), other.casefold()
    return max(_shared(one, other), _shared(one[::-1], other[::-1]))


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts begin with together."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))

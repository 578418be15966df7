"""Fits a reply's object to its schema where only the dress is wrong, and notes what was done.

`"4"` for the whole number 4, `42` for the text "42", `"Right."` for the word `right`, `Score` for
the key `score`, one object for a list of one, a key that nobody asked for: none of these says
another value. A missing key, an impossible number or an unknown word is left as it is, and the
schema refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from atom.judge.replies.values import says_nothing, stated_number

_ASIDES: Mapping[str, type] = {"looking": str, "quote": str, "conflict": str, "regions": list}
"""What helps and decides nothing by its absence: to leave it out is to have nothing to say."""
_TRUE = frozenset(("true", "yes"))
_FALSE = frozenset(("false", "no"))


def fitted(value: object, schema: Mapping[str, object]) -> tuple[object, tuple[str, ...]]:
    """Fit a value to a JSON Schema without changing what it says.

    Args:
        value: what was read.
        schema: the schema, of the kind that stages use: objects, lists, texts, whole numbers.

    Returns:
        The value, and what was done to it, each thing once. Whether it fits now is for the schema
        to say.
    """
    notes: list[str] = []
    made = _fit(value, schema, notes)
    return made, tuple(dict.fromkeys(notes))


def _fit(value: object, schema: Mapping[str, object], notes: list[str]) -> object:
    types = _types(schema)
    words = schema.get("enum")
    if isinstance(words, Sequence):
        return _word(value, words, notes)
    if "object" in types and isinstance(value, Mapping):
        return _object(value, schema, notes)
    if "array" in types:
        return _list(value, schema, notes)
    if "null" in types and isinstance(value, str) and says_nothing(value):
        notes.append(f"{value!r} was read as null")
        return None
    if "integer" in types:
        return _whole(value, schema, notes)
    if types == ("boolean",) and isinstance(value, str):
        said = value.strip(" .!").casefold()
        if said in _TRUE | _FALSE:
            notes.append(f"{value!r} was read as {said in _TRUE}".lower())
            return said in _TRUE
    if types == ("string",):
        return _text(value, notes)
    return value


def _types(schema: Mapping[str, object]) -> tuple[str, ...]:
    stated = schema.get("type")
    return (stated,) if isinstance(stated, str) else tuple(stated or ())  # type: ignore[arg-type]


def _object(
    value: Mapping[str, object], schema: Mapping[str, object], notes: list[str]
) -> dict[str, object]:
    known = schema.get("properties")
    known = known if isinstance(known, Mapping) else {}
    open_ = schema.get("additionalProperties", True) is not False
    by_name = {_key(name): name for name in known}
    made: dict[str, object] = {}
    for key, item in value.items():
        name = key
        if key not in known:
            meant = by_name.get(_key(key))
            if meant is not None and meant not in value and meant not in made:
                notes.append(f"the key {key!r} was read as {meant!r}")
                name = meant
            elif not open_:
                notes.append(f"the key {key!r}, which wasn't asked for, was left out")
                continue
        part = known.get(name)
        made[name] = _fit(item, part, notes) if isinstance(part, Mapping) else item
    for name in _ASIDES:
        if name in known and name not in made:
            notes.append(f"the missing {name!r} was read as empty")
            made[name] = _ASIDES[name]()
    return made


def _key(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def _list(value: object, schema: Mapping[str, object], notes: list[str]) -> object:
    items = schema.get("items")
    items = items if isinstance(items, Mapping) else {}
    if value is None and not schema.get("minItems"):
        notes.append("null was read as an empty list")
        return []
    if isinstance(value, Mapping) and "object" in _types(items):
        notes.append("an object was read as a list of one")
        value = [value]
    if not isinstance(value, list):
        return value
    return [_fit(item, items, notes) for item in value]


def _whole(value: object, schema: Mapping[str, object], notes: list[str]) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    stated = stated_number(value)
    top = schema.get("maximum")
    if stated is None or stated.unit or stated.of not in (None, top):
        return value
    if stated.number != stated.number // 1:
        return value
    if not isinstance(value, float):
        notes.append(f"{value!r:.60} was read as {stated.number:g}")
    return int(stated.number)


def _text(value: object, notes: list[str]) -> object:
    if value is None:
        notes.append("null was read as an empty text")
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        notes.append(f"the number {value!r:.30} was read as a text")
        return str(value)
    return value


def _word(value: object, words: Sequence[object], notes: list[str]) -> object:
    if value in words or not isinstance(value, str):
        return value
    said = _plain(value)
    meant = [word for word in words if isinstance(word, str) and _plain(word) == said]
    if len(meant) == 1:
        notes.append(f"{value!r:.60} was read as {meant[0]!r:.60}")
        return meant[0]
    if None in words and says_nothing(value):
        notes.append(f"{value!r} was read as null")
        return None
    return value


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!*\"'`“”")

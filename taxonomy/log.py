"""Edits as data and in words: each as one JSON text, read back as the same value."""

from __future__ import annotations

import json

from taxonomy.edits import Add, Drop, Edit, EditError, Merge, Move, Rename
from taxonomy.path import format_path

_KINDS: dict[str, type[Add] | type[Rename] | type[Move] | type[Merge] | type[Drop]] = {
    "add": Add,
    "rename": Rename,
    "move": Move,
    "merge": Merge,
    "drop": Drop,
}
_PATHS = ("parent", "path", "into")
_TEXTS = ("name", "meaning")


def edit_kind(edit: Edit) -> str:
    """Return an edit's kind in a word: `add`, `rename`, `move`, `merge` or `drop`."""
    return type(edit).__name__.lower()


def dump_edit(edit: Edit) -> str:
    """Write an edit as JSON; equal edits give equal text."""
    data = {"kind": edit_kind(edit), **vars(edit)}
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def parse_edit(text: str) -> Edit:
    """Read an edit from JSON.

    Raises:
        EditError: the text isn't an edit; the message says why.
    """
    try:
        data = json.loads(text)
        made = _KINDS[data.pop("kind")]
        values: dict[str, object] = {}
        for key, value in data.items():
            if key in _PATHS and isinstance(value, list):
                values[key] = tuple(str(name) for name in value)
            elif key in _TEXTS and isinstance(value, str):
                values[key] = value
            else:
                raise EditError(f"an edit has no {key!r} like {value!r:.60}")
        return made(**values)  # type: ignore[arg-type]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, EditError):
            raise
        raise EditError(f"this isn't a logged edit: {text!r:.120}") from error


def describe(edit: Edit) -> str:
    """Say in words what an edit does."""
    match edit:
        case Add(parent, name, _):
            return f"add {format_path((*parent, name))}"
        case Rename(path, name):
            return f"rename {format_path(path)} to {name}"
        case Move(path, parent):
            return f"move {format_path(path)} under {format_path(parent)}"
        case Merge(path, into):
            return f"merge {format_path(path)} into {format_path(into)}"
        case Drop(path):
            return f"drop {format_path(path)}"

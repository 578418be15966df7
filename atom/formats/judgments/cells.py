"""What single cells of judgments hold: criteria's names, capabilities, must-haves, words said."""

from __future__ import annotations

import re
from collections.abc import Iterable

from atom.formats.cells import to_list, to_name, to_text
from atom.formats.intake.names import cut
from atom.records import Gate
from taxonomy import parse_path

_CUTS = re.compile(r"[,;|\s]+")
_ADDRESS = re.compile(r"https?://\S+\Z")
_NOTHING = frozenset({"0", "", "none", "-", "null", "[]"})
_TRUE = frozenset({"1", "true", "yes", "must", "gate", "zero", "musthave", "must have", "required"})
_MOST_LAYERS = 12
"""Layers of a capability's path; what hangs deeper is one name."""


def keys_in(value: object) -> tuple[str, ...]:
    """Return the criteria that a cell names: a list, or `1,4`; `0` and `none` name none."""
    items = to_list(value)
    if items is None:
        text = to_name(value)
        if text is None or text.casefold() in _NOTHING:
            return ()
        items = [part for part in _CUTS.split(text) if part]
    names = tuple(name for item in items if (name := to_name(item)) is not None)
    return () if all(name.casefold() in _NOTHING for name in names) else names


def path_of(value: object) -> list[str]:
    """Return a capability's path: a list, a list written as text, or names with `>` between."""
    items = to_list(value)
    if items is not None:
        return [name for item in items if (name := to_name(item)) is not None]
    if isinstance(value, tuple):
        return [str(name) for name in value]
    text = to_name(value)
    names = [] if text is None else [cut(name) for name in parse_path(text)]
    if len(names) > _MOST_LAYERS:  # a name with slashes in it rather than a place in a tree
        names[_MOST_LAYERS - 1 :] = [cut("/".join(names[_MOST_LAYERS - 1 :]))]
    return names


def gate_of(value: object) -> Gate | None:
    """Return what a cell says of a must-have: it caps the answer, sinks it, or isn't one."""
    word = (to_name(value) or "").casefold()
    if word == "cap":
        return "cap"
    return "zero" if word in _TRUE else None


def spoken(value: object) -> tuple[str | None, str]:
    """Return a text and what should be known of it; a bare address is no text.

    Messages are written one after the other, with who says each where there are several.
    """
    items = value if isinstance(value, list) else None
    if items and all(isinstance(item, dict) and "content" in item for item in items):
        said = [(str(item.get("role", "")), to_text(item["content"]) or "") for item in items]
        if len(said) == 1:
            return said[0][1] or None, ""
        return "\n\n".join(f"{role}: {text}" for role, text in said), ""
    text = to_text(value)
    if text is not None and _ADDRESS.match(text.strip()):
        return None, f"the file holds an address in place of a text: {text.strip()[:300]}"
    return text, ""


def pictures_in(value: object) -> Iterable[object]:
    """Give a cell's pictures, web addresses aside: those aren't fetched."""
    items = to_list(value)
    for item in [value] if items is None else items:
        if item is not None and not (isinstance(item, str) and not item.strip()):
            yield item

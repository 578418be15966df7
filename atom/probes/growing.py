"""What the probe judges reply while a tree is grown: proposals, and which nodes are the same.

No picture is needed: the families' own words tell the planted leaf (see `naming`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from atom.probes.naming import (
    SEPARATOR,
    exact_name,
    loose_name,
    loosely_the_same,
    mean_the_same,
)
from atom.probes.serving.protocol import RequestError
from atom.probes.worlds.leaves import Leaf

_EMPTY = frozenset(
    (
        *("other", "others", "various", "general", "miscellaneous", "stuff", "things", "aspects"),
        *("details", "ability", "abilities", "understanding", "and"),
    )
)
"""Words of which alone a name says nothing."""


def propose(data: Mapping[str, Any], *, loose: bool, said: str) -> dict[str, object]:
    """Answer a proposal request.

    Args:
        data: roots, tree and samples with criteria.
        loose: names vary and one in ten is of another leaf.
        said: prompt and repeat, which the draws of loose names depend on.

    Returns:
        `adds`, upper nodes first, for what the tree doesn't have, and `places`; a criterion that
        no family has written is left out.
    """
    tree = data.get("tree")
    known = set(_nodes(tree if isinstance(tree, dict) else {}, ()))
    adds: list[dict[str, object]] = []
    places: list[dict[str, object]] = []
    for question, item in _criteria(data):
        asked = str(item.get("question", ""))
        name = (
            loose_name(question, asked, f"{item.get('id')}/{said}")
            if loose
            else exact_name(question, asked)
        )
        if name is None:
            continue
        adds += _missing(name, known)
        places.append({"id": item.get("id"), "leaf": SEPARATOR.join(name)})
    return {"adds": adds, "places": places}


def compare(data: Mapping[str, Any], *, loose: bool) -> dict[str, object]:
    """Answer which pairs of nodes are the same."""
    rows: list[dict[str, object]] = []
    for item in _objects(data, "pairs"):
        first, second = _shown(item, "first"), _shown(item, "second")
        same = loosely_the_same(first, second) if loose else mean_the_same(first, second)
        reason = "both name one planted ability" if same else "these are different abilities"
        rows.append({"id": item.get("id"), "reason": reason, "same": same})
    return {"pairs": rows}


def weed(data: Mapping[str, Any]) -> dict[str, object]:
    """Answer which abilities are too vague: those whose name says nothing, or their parent's."""
    rows: list[dict[str, object]] = []
    for item in _objects(data, "leaves"):
        path = item.get("path")
        if not isinstance(path, str) or not path:
            raise RequestError(400, "each of the `leaves` must be an object with a `path`")
        names = [name.casefold().strip() for name in path.split(SEPARATOR)]
        vague = set(names[-1].split()) <= _EMPTY or names[-1] in names[:-1]
        reason = "the name tells no ability" if vague else "the name tells an ability"
        rows.append({"id": item.get("id"), "reason": reason, "vague": vague})
    return {"leaves": rows}


def _missing(leaf: Leaf, known: set[tuple[str, ...]]) -> Iterator[dict[str, object]]:
    for depth in range(2, len(leaf) + 1):
        path = leaf[:depth]
        if path not in known:
            known.add(path)
            yield {"path": SEPARATOR.join(path[:-1]), "name": path[-1], "meaning": ""}


def _nodes(level: object, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of an outline: nested objects, with the abilities' meanings at the end."""
    if isinstance(level, Mapping) and len(above) < 4:
        for name, below in level.items():
            path = (*above, str(name))
            yield path
            yield from _nodes(below, path)


def _criteria(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for sample in _objects(data, "samples"):
        for item in _objects(sample, "criteria"):
            yield str(sample.get("question", "")), item


def _shown(item: Mapping[str, Any], name: str) -> tuple[str, ...]:
    node = item.get(name)
    path = node.get("path") if isinstance(node, Mapping) else None
    if not isinstance(path, str) or not path:
        raise RequestError(400, f"each pair's `{name}` must be an object with a `path`")
    return tuple(path.split(SEPARATOR))


def _objects(data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    items = data.get(name)
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise RequestError(400, f"the data's `{name}` must be a list of objects")
    return items

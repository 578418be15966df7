"""EvalTree's files: capability trees, results and node statistics, in and out.

Their trees are deeper than four layers and are kept as they are. A leaf is one benchmark row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from atom.analysis.capability.evaltree import EvalNode, node_interval
from atom.errors import FormatError
from taxonomy import Node, Path, Tree

_MAX_DEPTH = 200


def read_tree(data: bytes, name: str = "capability_tree.json") -> EvalNode:
    """Read a `capability_tree.json`.

    Raises:
        FormatError: it isn't one; the message says where.
    """
    return _node(_json(data, name), name, ())


def _json(data: bytes, name: str) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise FormatError(f"{name!r} isn't a JSON file in UTF-8: {error}") from error


def _parts(subtrees: Any) -> list[Any] | None:
    """EvalTree writes children as a mapping by number or as a list."""
    if isinstance(subtrees, dict):
        return list(subtrees.values())
    return subtrees if isinstance(subtrees, list) else None


def _node(data: Any, name: str, where: tuple[int, ...]) -> EvalNode:
    place = f"{name!r}, node {'.'.join(map(str, where)) or 'at the top'}"
    if len(where) > _MAX_DEPTH:
        raise FormatError(f"{place}: deeper than {_MAX_DEPTH} layers")
    if not isinstance(data, dict) or "subtrees" not in data:
        raise FormatError(f"{place}: a node has `description` and `subtrees`, got {data!r:.80}")
    description = str(data.get("description") or "")
    below = data["subtrees"]
    if isinstance(below, int) and not isinstance(below, bool):
        if below < 0:
            raise FormatError(f"{place}: a row's number can't be negative, got {below!r}")
        return EvalNode(description, (below,))
    parts = _parts(below)
    if parts is None:
        raise FormatError(f"{place}: `subtrees` is a mapping, a list or a row's number")
    children = tuple(_node(part, name, (*where, number)) for number, part in enumerate(parts))
    return EvalNode(description, tuple(row for child in children for row in child.rows), children)


def read_results(data: bytes, name: str = "results.json") -> tuple[float, ...]:
    """Read a `results.json`: one result a row, or the two verdicts of a judge in both orders.

    Returns:
        A value a row in [0, 1]: the result itself, or the share of `[[v, v]]` verdicts for the
        first model (1 = both times, 0.5 = the verdict changed with the order).

    Raises:
        FormatError: it isn't such a list.
    """
    rows = _json(data, name)
    if not isinstance(rows, list):
        raise FormatError(f"{name!r}: expected a list with one entry a row")
    found = []
    for number, row in enumerate(rows):
        if isinstance(row, int | float) and 0 <= row <= 1:
            found.append(float(row))
        elif isinstance(row, list) and row and all(verdict in (1, 2) for verdict in row):
            found.append(sum(verdict == 1 for verdict in row) / len(row))
        else:
            raise FormatError(f"{name!r}, row {number}: expected 0, 1 or verdicts, got {row!r:.60}")
    return tuple(found)


def to_tree(root: EvalNode, name: str) -> tuple[Tree, dict[int, Path]]:
    """Turn an EvalTree tree into ours, of any depth, read-only.

    Args:
        name: what to call it.

    Returns:
        The tree of the groups (a group whose children are all rows becomes a leaf), and the leaf
        of every row. Siblings of one description are numbered.
    """
    leaf_of: dict[int, Path] = {}

    def build(node: EvalNode, path: Path) -> Node:
        groups = [child for child in node.children if child.children]
        names = _distinct([child.description for child in groups])
        children = [
            build(child, (*path, label)) for child, label in zip(groups, names, strict=True)
        ]
        loose = [row for child in node.children if not child.children for row in child.rows]
        home = path
        if children and loose:
            home = (*path, _distinct([*names, "Other"])[-1])
            children.append(Node(home[-1]))
        leaf_of.update(dict.fromkeys(loose, home))
        return Node(path[-1], "", tuple(children))

    top = (_short(root.description) or name,)
    return Tree(name, (build(root, top),)), leaf_of


def _short(text: str) -> str:
    return " ".join(text.split())


def _distinct(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    out = []
    for name in names:
        text = _short(name) or "Unnamed"
        key = text.casefold()
        seen[key] = seen.get(key, 0) + 1
        out.append(text if seen[key] == 1 else f"{text} ({seen[key]})")
    return out


def write_tree(tree: Tree, rows: Mapping[Path, Sequence[int]]) -> bytes:
    """Write a tree in EvalTree's form.

    Args:
        rows: the row numbers (criteria, or samples) under each leaf.

    Returns:
        `capability_tree.json`; leaves without rows are left out, since a leaf is a row there.
    """

    def plain(node: Node, path: Path) -> dict[str, Any] | None:
        parts = [p for child in node.children if (p := plain(child, (*path, child.name)))]
        parts += [{"description": node.name, "subtrees": row} for row in rows.get(path, ())]
        if not parts:
            return None
        numbered = {str(number): part for number, part in enumerate(parts)}
        return {"description": node.name, "subtrees": numbered}

    roots = [part for root in tree.roots if (part := plain(root, (root.name,)))]
    top = {
        "description": tree.name,
        "subtrees": {str(number): part for number, part in enumerate(roots)},
    }
    return json.dumps(top, ensure_ascii=False, indent=1).encode()


def write_statistics(root: EvalNode, results: Sequence[float]) -> bytes:
    """Write node statistics in EvalTree's form, at its two levels.

    Args:
        results: a row's result, 0 or 1.

    Returns:
        `confidence_interval.json`.
    """

    def plain(node: EvalNode) -> dict[str, Any]:
        low, high = (node_interval(node, results, alpha) for alpha in (0.01, 0.05))
        return {
            "size": len(node.rows),
            "sum_metrics": sum(results[row] for row in node.rows),
            "subtrees": {str(n): plain(child) for n, child in enumerate(node.children)}
            if node.children
            else node.rows[0],
            "confidence_interval": None if low is None else {"0.01": low, "0.05": high},
        }

    return json.dumps(plain(root), indent=1).encode()

"""Trees as text: YAML for people, canonical JSON and a content hash for machines."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path as FilePath
from typing import Any

import yaml

from taxonomy.path import DEPTH
from taxonomy.tree import Node, Tree

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one written in C, where there is one, reads a tree eight times as fast."""


class TreeFormatError(ValueError):
    """A text isn't a tree; the message says where and what is expected."""


def parse_tree(text: str, *, depth: int | None = DEPTH) -> Tree:
    """Read a tree from YAML (or JSON, which is YAML).

    Args:
        text: `name` and `roots`, each node with `name`, optional `meaning` and `children`.
        depth: every leaf must lie at this layer; None takes any depth.

    Raises:
        TreeFormatError: the text isn't such a tree.
    """
    try:
        data = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise TreeFormatError(f"the tree isn't valid YAML: {error}") from error
    if not isinstance(data, dict) or set(data) - {"name", "roots"} or "roots" not in data:
        raise TreeFormatError("a tree has the keys `name` and `roots`, and no other")
    roots = _nodes(data["roots"], ())
    try:
        tree = Tree(str(data.get("name") or "Unnamed tree"), roots)
    except ValueError as error:
        raise TreeFormatError(str(error)) from error
    if depth is not None:
        wrong = [path for path in tree.leaves if len(path) != depth]
        if wrong:
            raise TreeFormatError(f"leaves lie at layer {depth}; {wrong[0]!r} doesn't")
    return tree


def _nodes(items: Any, above: tuple[str, ...]) -> tuple[Node, ...]:
    where = " › ".join(above) or "the top"
    if len(above) > 60:
        raise TreeFormatError(f"the tree is deeper than 60 layers under {above[0]!r}")
    if not isinstance(items, list):
        raise TreeFormatError(f"under {where}: expected a list of nodes, got {items!r:.80}")
    nodes = []
    for item in items:
        if not isinstance(item, dict) or set(item) - {"name", "meaning", "children"}:
            raise TreeFormatError(
                f"under {where}: a node has `name`, `meaning`, `children`; got {item!r:.80}"
            )
        name = item.get("name")
        if not isinstance(name, str) or not name.strip():
            raise TreeFormatError(f"under {where}: a node's name is text, got {name!r:.80}")
        children = _nodes(item.get("children") or [], (*above, name))
        try:
            nodes.append(Node(name, str(item.get("meaning") or ""), children))
        except ValueError as error:
            raise TreeFormatError(f"under {where}: {error}") from error
    return tuple(nodes)


def _plain(node: Node) -> dict[str, Any]:
    data: dict[str, Any] = {"name": node.name}
    if node.meaning:
        data["meaning"] = node.meaning
    if node.children:
        data["children"] = [_plain(child) for child in node.children]
    return data


def to_yaml(tree: Tree) -> str:
    """Write a tree as YAML that people can edit."""
    data = {"name": tree.name, "roots": [_plain(root) for root in tree.roots]}
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)


def to_json(tree: Tree) -> str:
    """Write a tree as canonical JSON: equal trees give equal text."""
    data = {"name": tree.name, "roots": [_plain(root) for root in tree.roots]}
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def tree_version(tree: Tree) -> str:
    """Name a tree by its content: 12 hexadecimal digits over its nodes (not its name)."""
    nodes = json.dumps([_plain(root) for root in tree.roots], ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(nodes.encode(), digest_size=6).hexdigest()


def load_anchors() -> Tree:
    """Read the probe world's tree: six roots, four layers, each leaf tested by probes."""
    return _bundled("anchors.yaml")


def load_general() -> Tree:
    """Read the tree that real studies begin with: six roots, abilities of any picture task."""
    return _bundled("general.yaml")


def load_rival(name: str) -> Tree:
    """Read a tree that was made without any data: `hand_made` or `generalist`."""
    return _bundled(f"rivals/{name}.yaml")


def _bundled(name: str) -> Tree:
    return parse_tree((FilePath(__file__).parent / name).read_text(encoding="utf-8"))

"""The capability tree and its algebra; pure."""

from taxonomy.path import DEPTH, Path, fold, format_path, parse_path
from taxonomy.serial import (
    TreeFormatError,
    load_anchors,
    load_general,
    load_rival,
    parse_tree,
    to_json,
    to_yaml,
    tree_version,
)
from taxonomy.tree import Node, Tree

__all__ = [
    "DEPTH",
    "Node",
    "Path",
    "Tree",
    "TreeFormatError",
    "fold",
    "format_path",
    "load_anchors",
    "load_general",
    "load_rival",
    "parse_path",
    "parse_tree",
    "to_json",
    "to_yaml",
    "tree_version",
]

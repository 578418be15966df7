"""Leaf paths: root › category › parent › capability."""

from __future__ import annotations

from collections.abc import Sequence

SEPARATOR = " › "
DEPTH = 4
"""Layers of a tree grown here; imported trees may be deeper."""

Path = tuple[str, ...]


def format_path(path: Path) -> str:
    """Write a path as text: `Perception › Object › Counting › Count all`."""
    return SEPARATOR.join(path)


def parse_path(text: str) -> Path:
    """Read a path from text; `›`, `>` and `/` with spaces around them all separate.

    Args:
        text: a path as a person or a model wrote it.

    Returns:
        The names, trimmed; empty names are dropped.
    """
    for mark in ("»", "→", ">", " / "):
        text = text.replace(mark, "›")
    return tuple(name for part in text.split("›") if (name := " ".join(part.split())))


def fold(path: Path) -> Path:
    """Fold case and white space, to find a path that is written a little differently."""
    return tuple(" ".join(name.casefold().split()) for name in path)


def shared_depth(first: Sequence[str], second: Sequence[str]) -> int:
    """Count the segments that two paths have in common, from the root."""
    depth = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        depth += 1
    return depth

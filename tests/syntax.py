"""Syntax trees looked through once: a rule asks for the kinds of nodes that it is about."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)


def every(tree: ast.AST, *kinds: type[Node]) -> Iterator[Node]:
    """Give each node of these kinds, kind by kind."""
    by_kind = _by_kind(tree)
    return chain.from_iterable(by_kind.get(kind, ()) for kind in kinds)


@cache
def _by_kind(tree: ast.AST) -> dict[type[ast.AST], list[ast.AST]]:
    found: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
    for node in ast.walk(tree):
        found[type(node)].append(node)
    return found

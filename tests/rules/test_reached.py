"""A statistic that no screen and no command reaches is shown where its question is asked, or goes.

A public function or class of `atom/analysis` is reached if code outside the folder names it, or
reached code inside does.
"""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.syntax import every

FOLDER = "atom.analysis"
MEASURED = {"profiles"}
"""What benchmarks alone ask: `recovery.py` holds models' profiles against planted ones."""
ONE_PART = {"diagnose"}
"""What screens ask part by part, asked of a single part by benchmarks."""


def names_in(node: ast.AST) -> set[str]:
    """Return every name and attribute that code speaks of."""
    named = (one for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute))
    return {one.id if isinstance(one, ast.Name) else one.attr for one in named}


def imported(tree: ast.Module) -> set[str]:
    """Return the names that a module imports from the folder."""
    return {
        alias.name
        for node in every(tree, ast.ImportFrom)
        if (node.module or "").startswith(FOLDER)
        for alias in node.names
    }


def test_every_statistic_is_reached(modules):
    speaks_of: dict[str, set[str]] = defaultdict(set)
    public: set[str] = set()
    waiting: set[str] = set()
    whole = {m.name.rpartition(".")[2] for m in modules if m.name.startswith(FOLDER)}
    for module in modules:
        if not module.name.startswith(FOLDER):
            waiting |= imported(module.tree)
            if imported(module.tree) & whole:  # then attributes are what is named
                waiting |= names_in(module.tree)
            continue
        for node in module.tree.body:
            defined = isinstance(node, ast.FunctionDef | ast.ClassDef)
            names = {node.name} if defined else names_in(node)
            for name in names:
                speaks_of[name] |= names_in(node) - {name}
            if defined and not node.name.startswith("_"):
                public.add(node.name)
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= speaks_of[name] - reached
    assert public - reached == MEASURED | ONE_PART

"""What the rules are checked against: the project's own source files, read and never run."""

from __future__ import annotations

import ast
import gc
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from tests.syntax import every

_HOLDS_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
PYTHON_FOLDERS = ("atom", "taxonomy", "pages")


@dataclass(frozen=True, kw_only=True)
class Module:
    """A source file.

    Args:
        path: relative to the checkout.
        name: dotted module name.
        tree: its syntax tree.
        text: its text.
    """

    path: Path
    name: str
    tree: ast.Module
    text: str

    @cached_property
    def imports(self) -> tuple[ImportLine, ...]:
        """What it imports, by full name."""
        return tuple(list_imports(self))


@dataclass(frozen=True, kw_only=True)
class ImportLine:
    """One imported name and whether it's imported when the module is."""

    target: str
    line: int
    lazy: bool


@pytest.fixture(scope="session")
def modules(project: Path) -> tuple[Module, ...]:
    """Read every module of the product."""
    files = [file for folder in PYTHON_FOLDERS for file in (project / folder).rglob("*.py")]
    files += [file for file in [project / "app.py"] if file.exists()]
    # Millions of nodes, none of them garbage: no search goes through them, now or later.
    gc.disable()
    read = tuple(_read(file, project) for file in sorted(files))
    gc.freeze()
    gc.enable()
    return read


def _read(file: Path, project: Path) -> Module:
    path = file.relative_to(project)
    parts = path.with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text, str(path))
    every(tree)
    return Module(path=path, name=name, tree=tree, text=text)


@pytest.fixture(scope="session")
def imports_of() -> object:
    """Return the function that lists a module's imports by full name."""
    return lambda module: module.imports


def list_imports(module: Module) -> list[ImportLine]:
    """List imports by full name: `from atom import records` counts as `atom.records`."""
    found: list[ImportLine] = []

    def visit(node: ast.AST, lazy: bool) -> None:
        if isinstance(node, ast.Import):
            found.extend(
                ImportLine(target=alias.name, line=node.lineno, lazy=lazy) for alias in node.names
            )
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = module.name.split(".")
                if module.path.name != "__init__.py":
                    parent = parent[:-1]
                parent = parent[: len(parent) - node.level + 1]
                base = ".".join([*parent, base] if base else parent)
            found.extend(
                ImportLine(target=f"{base}.{alias.name}", line=node.lineno, lazy=lazy)
                for alias in node.names
            )
        inner = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _HOLDS_STATEMENTS):
                visit(child, inner)

    visit(module.tree, False)
    return found

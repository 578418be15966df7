"""A docstring has a line on what a parameter is only where its name and type don't tell."""

from __future__ import annotations

import ast
import re

from tests.syntax import every

LINE = re.compile(r"^    (\w+): (.*)\.$", re.MULTILINE)
ARTICLES = {"the", "a", "an", "it", "its"}


def parts(text: str) -> set[str]:
    """Return the words of names and types: `study_id: StudyData` is study, id and data."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)}


def test_no_line_repeats_a_name_and_its_type(modules):
    idle = []
    for module in modules:
        for node in every(module.tree, ast.FunctionDef, ast.AsyncFunctionDef):
            lines = dict(LINE.findall(ast.get_docstring(node) or ""))
            for arg in [*node.args.args, *node.args.kwonlyargs]:
                if (line := lines.get(arg.arg)) is None:
                    continue
                kind = ast.unparse(arg.annotation) if arg.annotation else ""
                if parts(line) - ARTICLES <= parts(f"{arg.arg} {kind}"):
                    idle.append(f"{module.name}.{node.name}: {arg.arg}: {line}")
    assert idle == []

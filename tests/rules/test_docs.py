"""A docstring has a line on what a parameter is only where its name and type don't tell."""

from __future__ import annotations

import ast
import re

from tests.syntax import every

ARTICLES = {"the", "a", "an", "it", "its"}


def parts(text: str) -> set[str]:
    """Return the words of names and types: `study_id: StudyData` is study, id and data."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)}


def test_no_line_repeats_a_name_and_its_type(modules):
    idle = []
    for module in modules:
        for node in every(module.tree, ast.FunctionDef, ast.AsyncFunctionDef):
            doc = ast.get_docstring(node) or ""
            for arg in [*node.args.args, *node.args.kwonlyargs]:
                line = re.search(rf"^    {arg.arg}: (.*)\.$", doc, re.MULTILINE)
                kind = ast.unparse(arg.annotation) if arg.annotation else ""
                if line and parts(line[1]) - ARTICLES <= parts(f"{arg.arg} {kind}"):
                    idle.append(f"{module.name}.{node.name}: {line[0].strip()}")
    assert idle == []

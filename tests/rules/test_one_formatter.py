"""Signed numbers, intervals and p-values are written in one place, everywhere alike."""

from __future__ import annotations

import ast
import re

HOME = "atom.display.numbers"
_DECIMALS = re.compile(r"\.\df")
BARE = {"atom.analysis.correction.table": "the paper's Table 4 as the paper prints it"}
"""Modules that write a sign by themselves, and why."""


def hand_written(tree: ast.AST) -> list[int]:
    """List the lines that format a sign (`{x:+.1f}`) or bound a p-value in words."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            spec = ast.unparse(node.format_spec)
            if ":" not in spec and "+" in spec:
                lines.append(node.lineno)
        if isinstance(node, ast.JoinedStr):
            lines += [here.lineno for here in node.values if _spans(node, here)]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value.replace("\u00a0", " ").replace(" ", "")
            if len(words) < 12 and ("<.001" in words or "<0.001" in words):
                lines.append(node.lineno)
    return sorted(set(lines))


def _spans(text: ast.JoinedStr, here: ast.expr) -> bool:
    """Whether a part of a text is the dash between two decimals (`{lo:.1f}–{hi:.1f}`)."""
    at = text.values.index(here)
    if not (isinstance(here, ast.Constant) and here.value == "–") or at + 1 >= len(text.values):
        return False
    before, after = text.values[at - 1], text.values[at + 1]
    return all(
        isinstance(one, ast.FormattedValue)
        and one.format_spec is not None
        and _DECIMALS.search(ast.unparse(one.format_spec)) is not None
        for one in (before, after)
    )


def test_signs_and_p_values_are_written_by_one_module(modules):
    skipped = {HOME, *BARE}
    found = [
        f"{module.path}:{line}"
        for module in modules
        if module.name.startswith(("atom.", "pages.")) and module.name not in skipped
        for line in hand_written(module.tree)
    ]
    assert found == [], "write it with atom/display/numbers.py"


def test_the_rule_sees_what_it_forbids():
    assert hand_written(ast.parse('f"{x:+.1f}"')) == [1]
    assert hand_written(ast.parse('f"{x:+.{n}f}"')) == [1]
    assert hand_written(ast.parse('f"({lo:.2f}–{hi:.2f})"')) == [1]
    assert hand_written(ast.parse('f"{lo}–{hi}"')) == []
    assert hand_written(ast.parse('y = "p < 0.001"')) == [1]
    assert hand_written(ast.parse('f"{x:.1f}"; "a + b"')) == []

"""Signs, percentages, intervals and p-values are written in one place, everywhere alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from itertools import pairwise

from tests.syntax import every

HOME = "atom.display.numbers"
_DECIMALS = re.compile(r"\.\df")
BARE = {
    "atom.analysis.correction.table": "the paper's Table 4 as the paper prints it",
    "atom.probes.bench.critic_bench": "what a made-up judge says, as it was recorded",
}
"""Modules that write numbers by themselves, and why."""


def hand_written(tree: ast.AST) -> list[int]:
    """List the lines that format a sign (`{x:+.1f}`), a percentage or the bound of a p-value."""
    lines = []
    for node in every(tree, ast.FormattedValue):
        if node.format_spec is not None:
            spec = ast.unparse(node.format_spec)
            if (":" not in spec and "+" in spec) or spec.endswith("%'"):
                lines.append(node.lineno)
    for node in every(tree, ast.JoinedStr):
        lines += [here.lineno for here in node.values if _spans(node, here)]
        lines += [
            value.lineno
            for value, unit in pairwise(node.values)
            if _decimals(value) and _is_percent(unit)
        ]
    for node in every(tree, ast.Constant):
        if isinstance(node.value, str) and "<" in node.value:
            words = node.value.replace("\u00a0", " ").replace(" ", "")
            if len(words) < 12 and ("<.001" in words or "<0.001" in words):
                lines.append(node.lineno)
    return sorted(set(lines))


def _spans(text: ast.JoinedStr, here: ast.expr) -> bool:
    """Whether a part of a text is the dash between two decimals (`{lo:.1f}–{hi:.1f}`)."""
    at = text.values.index(here)
    if not (isinstance(here, ast.Constant) and here.value == "–") or at + 1 >= len(text.values):
        return False
    return _decimals(text.values[at - 1]) and _decimals(text.values[at + 1])


def _decimals(part: ast.expr) -> bool:
    return (
        isinstance(part, ast.FormattedValue)
        and part.format_spec is not None
        and _DECIMALS.search(ast.unparse(part.format_spec)) is not None
    )


def _is_percent(part: ast.expr) -> bool:
    """Whether words begin with a spaced percent sign (`width:5.0%` is a style, not a number)."""
    return isinstance(part, ast.Constant) and str(part.value).replace("\u00a0", " ").startswith(
        " %"
    )


_NOUN = re.compile("[ \u00a0](?!pixels)[a-z]")
_ALSO = {"pictures", "samples", "unread", "unscored"}
"""Counts wherever a sentence says them, though somewhere text or a float has the name."""
_OWN_WORDS = ("atom.reports.", "atom.stages.", "atom.methods.", "atom.judgebench.", "atom.probes.",
              "atom.analysis.", "atom.foreign.", "atom.judge.replies.")  # fmt: skip
"""Whose words a judge reads, or whose errors speak of small counts."""


def counted_names(trees: Iterable[ast.Module]) -> set[str]:
    """List the attributes that are declared to be whole numbers, and nowhere text or a float."""
    whole: set[str] = set()
    others: set[str] = set()
    for tree in trees:
        for node in every(tree, ast.AnnAssign):
            if isinstance(node.target, ast.Name):
                kind = ast.unparse(node.annotation)
                if kind == "int":
                    whole.add(node.target.id)
                elif kind.startswith(("str", "float", "Path", "Literal")):
                    others.add(node.target.id)
    return (whole - others) | _ALSO


def bare_counts(tree: ast.AST, names: set[str]) -> list[int]:
    """List the lines with a count before its noun, or after "of", without a separator."""
    lines = []
    for text in every(tree, ast.JoinedStr):
        for first, second in pairwise(text.values):
            if isinstance(second, ast.Constant) and _NOUN.match(str(second.value)):
                lines.append(_bare(first, names))
            if isinstance(first, ast.Constant) and str(first.value).endswith(" of "):
                lines.append(_bare(second, names))
    return sorted({line for line in lines if line})


def _bare(part: ast.expr, names: set[str]) -> int:
    """Return the line of a count that is written as it is, 0 for anything else."""
    if not isinstance(part, ast.FormattedValue) or part.format_spec is not None:
        return 0
    return part.lineno if part.conversion == -1 and _is_count(part.value, names) else 0


def _is_count(value: ast.expr, names: set[str]) -> bool:
    if isinstance(value, ast.BinOp):
        return _is_count(value.left, set()) or _is_count(value.right, set())
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "len"
    return isinstance(value, ast.Attribute) and value.attr in names


def test_counts_before_their_nouns_have_separators_of_thousands(modules):
    names = counted_names(module.tree for module in modules)
    found = [
        f"{module.path}:{line}"
        for module in modules
        if not module.name.startswith(_OWN_WORDS)
        for line in bare_counts(module.tree, names)
    ]
    assert found == [], "write {n:,}, or numbers.count(n, noun)"


def test_the_rule_sees_a_count_without_separators():
    names = counted_names([ast.parse("rows: int\nn: int\nname: str\nn: float")])
    assert names == {"rows", "pictures", "samples", "unread", "unscored"}
    assert bare_counts(ast.parse('f"{a.rows} rows came in"'), names) == [1]
    assert bare_counts(ast.parse('f"{len(a) - 3} more"'), names) == [1]
    assert bare_counts(ast.parse('f"{a.samples} samples"'), names) == [1]
    assert bare_counts(ast.parse('f"{n:,} of {a.rows}"'), names) == [1]
    for fine in ("{a.rows:,} rows", "{a.name} rows", "{a.rows}", "{a.rows} 1", "{len(a)!r} rows"):
        assert bare_counts(ast.parse(f'f"{fine}"'), names) == []


def test_signs_percentages_and_p_values_are_written_by_one_module(modules):
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
    assert hand_written(ast.parse('f"{100 * x:.0f} % of them"')) == [1]
    assert hand_written(ast.parse('f"{x:.1%}"')) == [1]
    assert hand_written(ast.parse('f"width:{x:.0f}%"')) == []
    assert hand_written(ast.parse('f"{x:.1f}"; "a + b"')) == []

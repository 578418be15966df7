"""What differs from stage to stage is said by the stage: nobody else asks which one it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import get_args

import pytest

from atom.records import StageName
from tests.syntax import every

NAMES = frozenset(get_args(StageName))
AT_HOME = "atom/stages/"
STAGE = re.compile(r"stage(?!\w*\.needs$)|\bstep$", re.IGNORECASE)
"""What a stage is called where one is held; Live replay calls it a step."""


def compared(tree: ast.AST) -> Iterator[int]:
    """Give the lines that compare something called a stage with a stage's name, or match it."""
    for node in every(tree, ast.Compare, ast.Match):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        else:
            patterns = [part for case in node.cases for part in ast.walk(case.pattern)]
            sides = [node.subject, *(p.value for p in patterns if isinstance(p, ast.MatchValue))]
        named = [side for side in sides if _names(side)]
        others = [side for side in sides if side not in named]
        if named and any(STAGE.search(ast.unparse(side)) for side in others):
            yield node.lineno


def _names(side: ast.expr) -> bool:
    """Whether this is a stage's name, or a list of texts with one in it."""
    parts = side.elts if isinstance(side, ast.Tuple | ast.Set | ast.List) else [side]
    return any(isinstance(part, ast.Constant) and part.value in NAMES for part in parts)


def test_no_stage_is_told_by_its_name_outside_the_stages(modules):
    found = [
        f"{module.path.as_posix()}:{line}"
        for module in modules
        if not module.path.as_posix().startswith(AT_HOME)
        for line in compared(module.tree)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("code", "n"),
    [
        ('if stage == "scoring": pass', 1),
        ('if call.stage_name in ("replay", "criteria"): pass', 1),
        ('if "scoring" in stages: pass', 1),
        ('if bench.step != "replay": pass', 1),
        ('match stage:\n    case "replay" | "criteria": pass\n    case _: pass', 1),
        ('if stage == "begun": pass', 0),
        ('if "replay" in stage.needs: pass', 0),
        ('if column == "answer": pass', 0),
        ("if stage is SCORING: pass", 0),
    ],
)
def test_the_rule_sees_comparisons(code, n):
    assert len(list(compared(ast.parse(code)))) == n

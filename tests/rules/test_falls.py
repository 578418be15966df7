"""Each of the falls that attacks found has a test that says its number, as design/074 lists it."""

from __future__ import annotations

import ast
import re

NOTE = "design/074-a-whole-run-of-attacks.md"
ROW = re.compile(r"(?m)^\| (\d+) \| .+ \| `(tests/\S+\.py)::(\w+)` \|$")
FALLS = 26


def test_every_fall_has_its_test(project):
    rows = ROW.findall((project / NOTE).read_text(encoding="utf-8"))
    assert [int(number) for number, *_ in rows] == list(range(1, FALLS + 1))
    for number, file, name in rows:
        tree = ast.parse((project / file).read_text(encoding="utf-8"))
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        (test,) = [one for one in ast.walk(tree) if isinstance(one, functions) and one.name == name]
        assert f"Fall {number} of design/074." in (ast.get_docstring(test) or "")

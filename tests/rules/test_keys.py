"""A drawn piece's key is its own: its component keeps its state in the session under that name."""

from __future__ import annotations

import ast

from tests.syntax import every

STATE = "st.session_state"


def _constants(module):
    for node in module.tree.body:
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign) and isinstance(value, ast.Constant):
            yield ast.unparse(node.targets[0]), value.value


def _kept(module):
    """Keys under which a page keeps values in the session, as constants."""
    value_of = dict(_constants(module))
    for node in every(module.tree, ast.Subscript, ast.Call):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == STATE:
            name = node.slice
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and ast.unparse(node.func.value) == STATE
            and node.args
        ):
            name = node.args[0]
        else:
            continue
        yield name.value if isinstance(name, ast.Constant) else value_of.get(ast.unparse(name))


def _drawn(module):
    for node in every(module.tree, ast.Call):
        if ast.unparse(node.func) in {"kit.show", "show"}:
            for given in node.keywords:
                if given.arg == "key" and isinstance(given.value, ast.Constant):
                    yield given.value.value, f"{module.path}:{node.lineno}"


def test_no_drawn_piece_has_the_key_of_a_value_that_a_page_keeps(modules):
    screens = [module for module in modules if module.name.startswith(("atom.ui", "pages", "app"))]
    kept = {value for one in screens if "session_state" in one.text for value in _kept(one)}
    drawing = [module for module in screens if "show(" in module.text]
    clashes = [where for module in drawing for key, where in _drawn(module) if key in kept]
    assert clashes == []

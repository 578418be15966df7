"""A package's `__init__` is re-exports and a sorted `__all__`, nothing else."""

from __future__ import annotations

import ast


def packages(modules):
    return [module for module in modules if module.path.name == "__init__.py"]


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def in_order(names: list[str]) -> bool:
    """Say whether names are sorted plainly, or by constants, classes and functions."""

    def group(name: str) -> int:
        return 0 if name.isupper() else 1 if name[:1].isupper() else 2

    return names in (sorted(names), sorted(names, key=lambda name: (group(name), name)))


def all_list(module) -> ast.expr | None:
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return node.value
    return None


def test_an_init_only_re_exports(modules):
    wrong = []
    for module in packages(modules):
        for node in module.tree.body:
            fine = (
                is_docstring(node)
                or isinstance(node, ast.ImportFrom)
                or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
            )
            if not fine:
                wrong.append(f"{module.path}:{node.lineno} {ast.unparse(node)[:60]}")
    assert wrong == []


def test_all_is_sorted_and_names_every_re_export(modules):
    wrong = []
    for module in packages(modules):
        imported = {
            alias.asname or alias.name
            for node in module.tree.body
            if isinstance(node, ast.ImportFrom) and node.module != "__future__"
            for alias in node.names
        }
        value = all_list(module)
        if value is None:
            if imported:
                wrong.append(f"{module.path}: re-exports without __all__")
            continue
        names = ast.literal_eval(value)
        if not in_order(names):
            wrong.append(f"{module.path}: __all__ is not sorted")
        if set(names) != imported:
            wrong.append(f"{module.path}: {sorted(set(names) ^ imported)} on one side only")
    assert wrong == []


def test_no_other_module_defines_all(modules):
    others = [m for m in modules if m.path.name != "__init__.py" and all_list(m) is not None]
    assert [str(module.path) for module in others] == []

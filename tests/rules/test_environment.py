"""`atom/settings.py` is the only reader of the environment."""

from __future__ import annotations

import ast

from tests.syntax import every

READERS = {"atom/settings.py"}
PASSED_ON = {
    "atom/engine/control.py": "a run's process inherits the environment, keys included",
    "atom/ui/shell/launch.py": "the app's own process inherits the environment",
}
NAMES = {"environ", "getenv", "environb", "putenv"}


def environment_uses(module) -> list[int]:
    """Return the lines on which a module touches the process's environment."""
    lines = []
    for node in every(module.tree, ast.Attribute):
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        if node.attr in NAMES and owner == "os":
            lines.append(node.lineno)
    for node in every(module.tree, ast.ImportFrom):
        if node.module == "os":
            lines.extend(node.lineno for alias in node.names if alias.name in NAMES)
    return lines


def test_only_settings_reads_the_environment(modules):
    readers = {module.path.as_posix(): environment_uses(module) for module in modules}
    readers = {path: lines for path, lines in readers.items() if lines}
    assert set(readers) - READERS - set(PASSED_ON) == set()

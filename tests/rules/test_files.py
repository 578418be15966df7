"""Whatever is written goes through `atom.files`, whole or not at all."""

from __future__ import annotations

import ast

from atom.store.migrate import migrations
from tests.syntax import every

ALLOWED = {
    "atom.files": "the one place",
    "atom.ui.shell.launch": "a note that only this user can read, for the browser that is opened",
    "atom.engine.detached": "a run's log grows line by line, by the run's own process",
    "atom.engine.code.sandbox_boot": "names what a judge's own code may not do",
    "atom.engine.induction.growth_log": "a growing tree's log is read as it grows",
}
"""Modules that open files for writing, and why."""


AT_ONCE = {"write_text", "write_bytes", "mkstemp", "copyfile", "copytree", "copy2"}


def writes(tree: ast.AST):
    """Yield the line of each call that opens a file for writing, or writes one at once."""
    yield from (node.lineno for node in every(tree, ast.Attribute) if node.attr == "O_CREAT")
    for node in every(tree, ast.Call):
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        given = [*node.args, *(word.value for word in node.keywords if word.arg == "mode")]
        if name in AT_ONCE or (name == "open" and any(map(is_mode, given))):
            yield node.lineno


def is_mode(given: ast.expr) -> bool:
    """Whether an argument is a mode that writes."""
    text = given.value if isinstance(given, ast.Constant) else None
    return isinstance(text, str) and bool(set(text) & set("wax+")) and set(text) <= set("rwaxbt+")


def test_the_rule_sees_every_way_to_write():
    ways = (
        "Path(p).write_text(t)",
        "p.write_bytes(b)",
        "open(p, 'w')",
        "p.open('ab')",
        "p.open(mode='x')",
        "tempfile.mkstemp()",
        "os.open(p, os.O_WRONLY | os.O_CREAT)",
        "shutil.copytree(a, b)",
    )
    assert [way for way in ways if not list(writes(ast.parse(way)))] == []
    for harmless in ("p.open('rb')", "open(p)", "webbrowser.open('http://wax')", "p.read_text()"):
        assert list(writes(ast.parse(harmless))) == []


def test_files_are_written_in_one_place(modules):
    found = [
        f"{module.name}:{line}"
        for module in modules
        if module.name not in ALLOWED
        for line in writes(module.tree)
    ]
    assert found == []


def test_what_is_allowed_still_writes(modules):
    writing = {module.name for module in modules if list(writes(module.tree))}
    assert set(ALLOWED) <= writing


def test_no_two_migrations_share_a_number():
    """A store that took one of them would never take the other."""
    numbers = [number for number, _ in migrations()]
    assert sorted(set(numbers)) == numbers

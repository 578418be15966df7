"""Only `atom.foreign` opens a file that somebody else named: it may be a device or a pipe."""

from __future__ import annotations

import ast

from tests.syntax import every

OWN = {
    "atom/settings.py": "the checkout's own description",
    "taxonomy/serial.py": "the project's own trees",
    "atom/foreign/": "it is the one place",
    "atom/ui/": "the app's own style sheets and scripts, and files that it wrote itself",
    "atom/store/": "the store's own folder",
    "atom/reports/": "the project's own templates and words",
    "atom/analysis/capability/rivals.py": "the project's own trees",
    "atom/judge/templates.py": "the project's own prompts",
    "atom/judge/structured.py": "the project's own words",
    "atom/views/prepared/": "snapshots that this user wrote; arrays and names, nothing that runs",
    "atom/judge/batches.py": "files that a batch wrote into the store's folder",
    "atom/judgebench/published.py": "the project's own figures",
    "atom/formats/judgments/named.py": "the project's own maps",
    "atom/engine/batch/files.py": "files that a batch wrote into the store's folder",
    "atom/engine/demo/": "the bundled study",
    "atom/engine/induction/growth_log.py": "files that it wrote itself",
    "atom/files.py": "the kernel's word on a process of ours",
    "atom/engine/code/sandbox": "the project's own first lines of a sandbox, and its folders",
    "atom/exports/archive.py": "files that it wrote itself",
    "atom/exports/html_study.py": "the project's own templates",
    "atom/views/runs/page.py": "a run's own log",
}
READS = {"read_bytes", "read_text"}


def openings(module) -> list[int]:
    """Return the lines on which a module opens a file by its path, to read it."""
    lines = []
    lines += [node.lineno for node in every(module.tree, ast.Attribute) if node.attr in READS]
    for node in every(module.tree, ast.Call):
        words = {word.value for word in node.args if isinstance(word, ast.Constant)}
        named = {word.arg for word in node.keywords}
        if isinstance(node.func, ast.Name) and node.func.id == "open":
            lines.append(node.lineno)
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "open":
            on = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            writes = any(str(word)[:1] in "wax" for word in words)
            if on == "os" or words & {"r", "rb"} or ("encoding" in named and not writes):
                lines.append(node.lineno)
    return lines


def test_foreign_paths_are_opened_in_one_place(modules):
    wrong = [
        f"{module.path.as_posix()}:{line}"
        for module in modules
        if not module.path.as_posix().startswith(tuple(OWN))
        for line in openings(module)
    ]
    assert wrong == []

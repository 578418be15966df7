"""What no file may hold: prints, machine paths, package hosts, unfinished work; prompt headers."""

from __future__ import annotations

import ast
import re
import subprocess

import pytest

from tests.syntax import every

SKIPPED = {".png", ".sqlite", ".parquet", ".arrow", ".ico", ".woff2", ".gz", ".webp", ".jpg"}
MACHINE_PATHS = re.compile(
    r"/(?:home|Users)/[a-z]\w*/|(?<![\w.])/(?:work|root|opt|mnt)/|[A-Z]:\\\\Users"
)
PACKAGE_HOSTS = re.compile(
    r"pypi\.org|files\.pythonhosted|index-url|registry\.npmjs|deb\.debian|snapshot\.debian"
)
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
HEADER_KEYS = {"id", "version", "variables", "reply", "paper"}


@pytest.fixture(scope="module")
def texts(project) -> dict[str, str]:
    """Read every text file that is, or will be, under version control."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        names = [
            path.relative_to(project).as_posix()
            for folder in ("atom", "taxonomy", "pages", "tests", "docs", "design")
            for path in (project / folder).rglob("*.*")
            if "__pycache__" not in path.parts
        ]
    else:
        names = listed.stdout.splitlines()
    found = {}
    for name in names:
        file = project / name
        if file.suffix not in SKIPPED and file.is_file():
            found[name] = file.read_text(encoding="utf-8", errors="replace")
    return found


def hits(texts, pattern, *, skip: tuple[str, ...] = ()) -> list[str]:
    """List file, line and text of every match."""
    return [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in texts.items()
        if not name.startswith(("data/", "tests/rules/test_text.py", *skip))
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_print(modules):
    calls = [
        f"{module.path}:{node.lineno}"
        for module in modules
        for node in every(module.tree, ast.Call)
        if isinstance(node.func, ast.Name)
        and node.func.id in {"print", "breakpoint", "eval", "exec"}
        # The text that a sandboxed process runs; the product never imports it.
        and module.name != "atom.engine.code.sandbox_boot"
    ]
    assert calls == []


def test_no_path_of_one_machine(texts):
    assert hits(texts, MACHINE_PATHS) == []


def test_no_package_host(texts):
    assert hits(texts, PACKAGE_HOSTS, skip=("LICENSE",)) == []


def test_nothing_is_left_unfinished(texts):
    assert hits(texts, UNFINISHED) == []


def test_text_files_end_with_one_newline_and_use_unix_line_ends(texts):
    wrong = [
        name
        for name, text in texts.items()
        if not name.startswith(("data/", "tests/"))
        and text
        and (not text.endswith("\n") or text.endswith("\n\n") or "\r" in text)
    ]
    assert wrong == []


def prompt_headers(project) -> dict[str, dict[str, str]]:
    """Read the header of each prompt template."""
    found = {}
    for file in sorted((project / "atom" / "judge" / "prompts").glob("*.*")):
        if file.suffix not in {".md", ".txt"}:
            continue
        match = re.match(r"---\n(.*?)\n---\n", file.read_text(encoding="utf-8"), re.S)
        lines = match[1].splitlines() if match else []
        found[file.name] = {
            key: value.strip() for key, _, value in (line.partition(":") for line in lines)
        }
    return found


def test_each_prompt_has_a_strict_header(project):
    headers = prompt_headers(project)
    wrong = {name: header for name, header in headers.items() if set(header) != HEADER_KEYS}
    assert wrong == {}


def test_prompt_ids_are_unique(project):
    ids = [(h.get("id"), h.get("version")) for h in prompt_headers(project).values()]
    assert len(ids) == len(set(ids))


def test_no_prompt_text_in_python(modules):
    wrong = [
        f"{module.path}:{node.lineno}"
        for module in modules
        for node in every(module.tree, ast.Constant)
        if isinstance(node.value, str)
        and re.search(r"\b(?:You are a|Reply with one JSON|Your task is)\b", node.value)
        and not module.name.startswith("atom.probes")
    ]
    assert wrong == []

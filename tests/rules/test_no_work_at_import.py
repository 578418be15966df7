"""Importing a module does nothing: no file is written, no socket opened, no process started."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROBE = """
import importlib, json, os, sys
events = []
def watch(event, args):
    if not watching:
        return
    if event == "open" and isinstance(args[0], str):
        mode, flags = args[1], args[2] or 0
        writes = bool(mode and set(mode) & set("wax+")) if mode else bool(flags & 3)
        if writes and "__pycache__" not in args[0]:
            events.append(f"open {args[0]} {mode}")
    elif event in {"socket.connect", "socket.bind", "subprocess.Popen", "os.mkdir", "os.remove"}:
        if "__pycache__" not in str(args):
            events.append(f"{event} {args[:1]!r}")
watching = True
sys.addaudithook(watch)
found = {}
for name in json.loads(sys.argv[1]):
    events.clear()
    importlib.import_module(name)
    if events:
        found[name] = list(events)
watching = False
sys.stdout.write(json.dumps(found))
"""


@pytest.mark.slow
def test_importing_writes_nothing_and_opens_no_socket(modules, project):
    names = [
        module.name
        for module in modules
        if module.name.partition(".")[0] in {"atom", "taxonomy"}
        and not module.name.endswith("__main__")
    ]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROBE, json.dumps(names)],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert json.loads(run.stdout) == {}


def test_the_command_starts_without_the_heavy_libraries(project):
    heavy = ["streamlit", "plotly", "pyvis", "altair", "scipy", "openai", "sklearn"]
    code = f"import sys, atom.cli; print([m for m in {heavy!r} if m in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert run.stdout.strip() == "[]"


@pytest.mark.slow
def test_an_import_needs_no_statistics_before_there_is_something_to_count(project):
    # Half of such a command's start was scipy; `import scipy` loads its parts when they are used.
    parts = [f"scipy.{name}" for name in ("special", "stats", "sparse", "optimize")]
    code = (
        "import sys, atom.cli.imports, atom.cli.profile; "
        f"print([m for m in {parts!r} if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.strip() == "[]"

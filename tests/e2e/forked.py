"""Apps forked from one process that has imported all that an app imports.

A start imports for five seconds of processor time, and thirty files start an app of their own.
From the fork on an app does what `python -m atom` does. How that is started is looked at where an
app is started as its users start it (`as_users_do`), and by the deployment in `team`.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from atom.cli.main import main
from atom.ui.pages import SCREENS
from atom.ui.shell import warm

PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Forked:
    """A forked app, asked as `subprocess.Popen` is.

    Args:
        process: the app's.
    """

    process: BaseProcess

    @property
    def pid(self) -> int:
        """Its number, and its group's."""
        assert self.process.pid is not None
        return self.process.pid

    def poll(self) -> int | None:
        """Return how it ended, if it did."""
        return self.process.exitcode

    def wait(self, timeout: float) -> None:
        """Wait for its end."""
        self.process.join(timeout)
        if self.poll() is None:
            raise subprocess.TimeoutExpired("app", timeout)


def fork(words: list[str], environ: dict[str, str], log: Path) -> Forked:
    """Run a command of the app's in a fork; the first one starts what the others come from."""
    log.touch()
    context = get_context("forkserver")
    context.set_forkserver_preload(_modules())
    process = context.Process(target=_run, args=(words, environ, log))
    process.start()
    return Forked(process=process)


def _run(words: list[str], environ: dict[str, str], log: Path) -> None:
    os.setsid()
    with log.open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(PROJECT)
    sys.exit(main(words))


def _modules() -> list[str]:
    """Return what to import before the first fork; names that are no module are passed over."""
    files = [PROJECT / "app.py", *(PROJECT / screen.file for screen in SCREENS)]
    found = {__name__: None, "atom.cli.app": None, "streamlit.starlette": None}
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("atom."):
                found |= dict.fromkeys([str(node.module)])
                found |= dict.fromkeys(f"{node.module}.{name.name}" for name in node.names)
    return [*found, *warm.LATER]

"""Commands in processes of their own, forked where all is imported already: each is measured."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS = 90
"""Of computing; the kernel ends what takes more."""
_MOST_SPACE = 8 << 30
"""Bytes of address space, so that nothing harms the machine."""
_BOOT = "from benchmarks.attacks._forked import serve; serve()"


@dataclass(frozen=True, kw_only=True)
class Came:
    """What came of a command.

    Args:
        code: its exit code; below 0 the signal that ended it.
        said: what it wrote, both streams.
        seconds: of computing, the processes that it started included.
        n_bytes: of memory at the most, beyond what it began with.
    """

    code: int
    said: str
    seconds: float
    n_bytes: int


class Commands:
    """Runs commands of Atomscope, one after the other; a context."""

    def __enter__(self) -> Self:
        """Start the process that forks."""
        self._server = subprocess.Popen(
            [sys.executable, "-c", _BOOT],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._server.communicate()

    def run(self, words: Sequence[str], folder: Path) -> Came:
        """Run one.

        Args:
            words: those behind `python -m atom`.
            folder: where what it says is kept.
        """
        said = folder / "said.txt"
        given: IO[str] | None = self._server.stdin
        answers: IO[str] | None = self._server.stdout
        assert given is not None
        assert answers is not None
        given.write(json.dumps([list(words), str(said)]) + "\n")
        given.flush()
        code, seconds, n_bytes = json.loads(answers.readline())
        text = said.read_text(encoding="utf-8", errors="replace")
        return Came(code=code, said=text, seconds=seconds, n_bytes=n_bytes)


def serve() -> None:
    """Fork for each line of the standard input, and answer with a line."""
    from atom.cli import endpoint, imports, main, study  # noqa: F401 - forked with the rest

    for line in sys.stdin:
        words, said = json.loads(line)
        begun = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
        child = os.fork()
        if child == 0:
            _command(words, said)
        _, status, used = os.wait4(child, 0)
        more = max(0, used.ru_maxrss * 1024 - begun)
        answer = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, more]
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _command(words: list[str], said: str) -> None:
    """Run a command in this process, and end it."""
    from atom.cli.main import main
    from atom.foreign.parsers import end_workers

    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_SPACE, _MOST_SPACE))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    with (
        Path(said).open("w", encoding="utf-8", errors="backslashreplace") as out,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        try:
            code = main(words)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        except BaseException:  # noqa: BLE001 - a traceback is what is looked for
            traceback.print_exc()
            code = 1
    end_workers()
    os._exit(code)

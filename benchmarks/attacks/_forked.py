"""Commands in processes of their own, forked where all is imported already: each is measured."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Self

ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS = 90
"""Of computing; the kernel ends what takes more."""
_MOST_SPACE = 8 << 30
"""Bytes of address space, so that nothing harms the machine."""
_BOOT = "from benchmarks.attacks._forked import serve; serve()"
_MODULES = ("atom.cli.endpoint", "atom.cli.imports", "atom.cli.main", "atom.cli.study")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_ACTS = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "shutil.rmtree")
"""How a file is opened to be written, and what else is heard of as writing."""
_STATEMENTS = ("INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "ALTER", "DROP")
_LOOK = 0.002
"""Seconds between two looks at a command that is to be killed."""


@dataclass(frozen=True, kw_only=True)
class Came:
    """What came of a command.

    Args:
        code: its exit code; below 0 the signal that ended it.
        said: what it wrote, both streams.
        seconds: of computing, the processes that it started included.
        n_bytes: of memory at the most, beyond what it began with.
        lasted: seconds by the clock.
        points: how often it was about to write.
        starved: share of that time in which something on this computer waited for a processor or
            the disk, as the kernel tells; 0 where it doesn't.
    """

    code: int
    said: str
    seconds: float
    n_bytes: int
    lasted: float = 0.0
    points: int = 0
    starved: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Kill:
    """When a command is killed, if it lives so long.

    Args:
        after: seconds by the clock.
        point: just before it writes for this time, counted from 1 (see `_write_points`).
    """

    after: float | None = None
    point: int | None = None


class Commands:
    """Runs commands of Atomscope, one after the other; a context.

    Args:
        modules: what is imported before anything is forked.
        env: variables beside those of this process.
    """

    def __init__(
        self, modules: Sequence[str] = _MODULES, env: Mapping[str, str] | None = None
    ) -> None:
        self._modules = modules
        self._env = env or {}

    def __enter__(self) -> Self:
        """Start the process that forks."""
        self._server = subprocess.Popen(
            [sys.executable, "-c", _BOOT, *self._modules],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **self._env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._server.communicate()

    def run(
        self,
        words: Sequence[str],
        folder: Path,
        kill: Kill | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Came:
        """Run one.

        Args:
            words: those behind `python -m atom`.
            folder: where what it says is kept.
            kill: whether it is killed, and when; all that it started dies with it.
            env: variables for it alone.
        """
        said, points = folder / "said.txt", folder / "points.txt"
        points.unlink(missing_ok=True)
        given: IO[str] | None = self._server.stdin
        answers: IO[str] | None = self._server.stdout
        assert given is not None
        assert answers is not None
        when = kill or Kill()
        asked = [list(words), str(said), str(points), when.after, when.point, dict(env or {})]
        pressed = _pressed()
        given.write(json.dumps(asked) + "\n")
        given.flush()
        code, seconds, n_bytes, lasted = json.loads(answers.readline())
        return Came(
            code=code,
            said=said.read_text(encoding="utf-8", errors="replace") if said.exists() else "",
            seconds=seconds,
            n_bytes=n_bytes,
            lasted=lasted,
            # A kill may fall between the file's making and its filling.
            points=int(points.read_text() or 0) if points.exists() else 0,
            starved=(_pressed() - pressed) / lasted,
        )


def _pressed() -> float:
    """Return the seconds so far in which something here waited for a processor or the disk."""
    seconds = 0.0
    for what in ("cpu", "io"):
        with contextlib.suppress(OSError, ValueError):
            told = Path("/proc/pressure", what).read_text().partition("total=")[2]
            seconds += int(told.split()[0]) / 1e6
    return seconds


def serve() -> None:
    """Fork for each line of the standard input, and answer with a line."""
    for module in sys.argv[1:]:
        import_module(module)
    for line in sys.stdin:
        words, said, points, after, point, env = json.loads(line)
        begun = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
        clock = time.monotonic()
        child = os.fork()
        if child == 0:
            os.setsid()
            os.environ.update(env)
            _command(words, Path(said), Path(points), point)
        status, used = _wait(child, after)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what it started, and may have left
        answer = [
            os.waitstatus_to_exitcode(status),
            used.ru_utime + used.ru_stime,
            max(0, used.ru_maxrss * 1024 - begun),
            time.monotonic() - clock,
        ]
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _wait(child: int, after: float | None) -> tuple[int, resource.struct_rusage]:
    """Wait for the end of a process, and kill it where it lives for too long."""
    if after is not None:
        ends = time.monotonic() + after
        while time.monotonic() < ends:
            done, status, used = os.wait4(child, os.WNOHANG)
            if done:
                return status, used
            time.sleep(_LOOK)
        os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    return status, used


def _write_points(fatal: int | None) -> list[int]:
    """Count from here on how often this process is about to write; kill it at one of them.

    It is where a file is opened to be written, renamed or removed, a folder is made, and before
    each statement that writes into a database and each commit.

    Returns:
        The count, as the one value of a list.
    """
    import sqlalchemy as sa

    count = [0]

    def met() -> None:
        count[0] += 1
        if count[0] == fatal:
            os.killpg(0, signal.SIGKILL)

    def heard(event: str, values: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(values[2], int) and values[2] & _WRITING
        if writes or event in _ACTS:
            met()

    @sa.event.listens_for(sa.engine.Engine, "before_cursor_execute")
    def executes(connection: sa.Connection, _: object, statement: str, *_more: object) -> None:
        if statement.split(None, 1)[0].upper() in _STATEMENTS:
            connection.info["writes"] = True
            met()

    @sa.event.listens_for(sa.engine.Engine, "commit")
    def commits(connection: sa.Connection) -> None:
        if connection.info.pop("writes", False):
            met()

    sys.addaudithook(heard)
    return count


def _command(words: list[str], said: Path, points: Path, fatal: int | None) -> None:
    """Run a command in this process, and end it."""
    from atom.cli.main import main
    from atom.foreign.parsers import end_workers

    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_SPACE, _MOST_SPACE))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    with (
        said.open("w", encoding="utf-8", errors="backslashreplace") as out,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        count = _write_points(fatal)
        try:
            code = main(words)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        except BaseException:  # noqa: BLE001 - a traceback is what is looked for
            traceback.print_exc()
            code = 1
        met = count[0]
    points.write_text(str(met))
    end_workers()
    os._exit(code)

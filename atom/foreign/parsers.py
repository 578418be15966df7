"""Native parsers in processes of their own, with limits of memory and time.

A spreadsheet of 1,508 bytes may ask for more memory than there is, and a native parser then aborts
the process that it runs in. So it runs in a `worker`: started once, handed one open file at a time,
kept for the next. What comes back is read as plain values only: a parser that was taken over can
send nothing else.
"""

from __future__ import annotations

import atexit
import contextlib
import datetime
import decimal
import io
import json
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from atom import errors
from atom.errors import AtomError, DataError, FormatError
from atom.foreign import worker

_PLAIN: Final = {
    ("builtins", "str"): str,
    ("datetime", "datetime"): datetime.datetime,
    ("datetime", "date"): datetime.date,
    ("datetime", "time"): datetime.time,
    ("datetime", "timedelta"): datetime.timedelta,
    ("datetime", "timezone"): datetime.timezone,
    ("decimal", "Decimal"): decimal.Decimal,
}
_MAX_MESSAGE: Final = 1 << 30
_BOOT: Final = "from atom.foreign.worker import main; main()"
_KEPT: Final = 2
"""Idle workers that are kept."""
_STARTING: Final = 60.0
"""Seconds on the clock beyond the computing time: the machine may be busy."""
_ROOT: Final = Path(__file__).resolve().parents[2]
_MEMORY_WORDS: Final = "it takes more than {megabytes:,} MB of memory, or breaks its reader"


@dataclass(frozen=True, kw_only=True)
class ParserLimits:
    """What reading a file may cost.

    Args:
        memory: bytes of address space.
        cpu: seconds of computing, whole.
    """

    memory: int = 2 << 30
    cpu: int = 60


TABLE: Final = ParserLimits()
"""For tables; a file's size adds to the time, see `time_for`."""
PICTURE: Final = ParserLimits(memory=1 << 30, cpu=20)
"""For one picture."""


def time_for(n_bytes: int) -> ParserLimits:
    """Return what a table of a size may cost: a minute, and ten seconds a megabyte."""
    return ParserLimits(cpu=TABLE.cpu + n_bytes // 100_000)


def parse(
    function: Callable[..., Any],
    source: BinaryIO | bytes,
    *args: str | int | float | bool | None,
    name: str,
    limits: ParserLimits = PICTURE,
    error: type[DataError] = FormatError,
) -> Any:
    """Call a function of ours on a foreign file, in a worker.

    Args:
        function: `(stream, *args) -> plain values`; of a module of `atom`.
        source: the file.
        args: what else it takes.
        name: what messages call the file.
        limits: what it may cost.
        error: what is raised when the parser fails.

    Returns:
        What the function returns: numbers, texts, bytes, times, and lists, tuples and objects of
        these.

    Raises:
        DataError: of the kind `error`, when the parser breaks or takes more than it may; or what
            the function itself raised.
    """
    task = _Task(function=function, args=args, name=name, limits=limits, error=error)
    with _AT_ONCE, _handed(source) as handle, _leased(task) as line:
        line.give(task, handle, stream=False)
        kind, body = line.take(task)
        return _value(kind, body, task)


def parse_rows(
    function: Callable[..., Iterator[Any]],
    source: BinaryIO,
    *args: str | int | float | bool | None,
    name: str,
    limits: ParserLimits = TABLE,
    error: type[DataError] = FormatError,
) -> Iterator[Any]:
    """Call a generator of ours on a foreign file, in a worker; see `parse`.

    The worker makes the next piece while this one is looked at. One that isn't read to its end
    stops.
    """
    task = _Task(function=function, args=args, name=name, limits=limits, error=error)
    with _handed(source) as handle, _leased(task) as line:
        line.give(task, handle, stream=True)
        while True:
            kind, body = line.take(task)
            if kind == worker.END:
                return
            item = _value(kind, body, task)
            line.say(worker.GO_ON)
            try:
                yield item
            except GeneratorExit:
                line.stop()
                raise


@dataclass(frozen=True, kw_only=True)
class _Task:
    function: Callable[..., Any]
    args: tuple[object, ...]
    name: str
    limits: ParserLimits
    error: type[DataError]

    def failed(self, words: str) -> DataError:
        megabytes = self.limits.memory // 1_000_000
        told = words.format(megabytes=megabytes)
        return self.error(f"{self.name!r} can't be read: {told}; get it again, or save it anew")


class _Line:
    """A worker and the socket to it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                cwd=_ROOT,
                env=_ENVIRONMENT,
                start_new_session=True,
            )
        self.usable = True
        self.close = weakref.finalize(self, _end, self._socket, self.process, os.getpid())
        """Ends the worker, as does whoever forgets a stream that wasn't read to its end."""

    def give(self, task: _Task, handle: int, *, stream: bool) -> None:
        """Hand over a task and its file."""
        function = task.function
        message = json.dumps(
            {
                "call": f"{function.__module__}:{function.__qualname__}",
                "args": task.args,
                "memory": task.limits.memory,
                "cpu": task.limits.cpu,
                "stream": stream,
            }
        ).encode()
        self.usable = False
        self._socket.settimeout(_STARTING + 4 * task.limits.cpu)
        try:
            socket.send_fds(self._socket, [message], [handle])
        except OSError as error:
            raise self._ended(task) from error

    def take(self, task: _Task) -> tuple[bytes, bytearray]:
        """Return the kind and the body of the next message.

        Raises:
            DataError: there is none: the worker died, or takes too long.
        """
        self.usable = False
        try:
            kind, length = worker.HEAD.unpack(self._exactly(worker.HEAD.size))
            if length > _MAX_MESSAGE:
                raise task.failed("a part of it takes more than a gigabyte")
            body = self._exactly(length)
        except TimeoutError as error:
            raise task.failed(f"it takes more than {task.limits.cpu} s") from error
        except (OSError, EOFError) as error:
            raise self._ended(task) from error
        self.usable = kind in (worker.VALUE, worker.END, worker.REFUSED)
        return kind, body

    def say(self, word: bytes) -> None:
        """Tell a stream to go on or to stop; a worker that is gone says so at the next piece."""
        with contextlib.suppress(OSError):
            self._socket.sendall(word)

    def stop(self) -> None:
        """Leave a stream: the piece that is under way is dropped, at once or never."""
        with contextlib.suppress(OSError, EOFError):  # as garbage, its socket may go first
            self._socket.settimeout(1.0)
            kind, length = worker.HEAD.unpack(self._exactly(worker.HEAD.size))
            if kind == worker.ITEM and length < _MAX_MESSAGE:
                self._exactly(length)
                self.say(worker.STOP)
            self.usable = kind in (worker.ITEM, worker.END, worker.REFUSED)

    def _exactly(self, length: int) -> bytearray:
        whole = bytearray(length)
        view = memoryview(whole)
        at = 0
        while at < length:
            n = self._socket.recv_into(view[at:])
            if n == 0:
                raise EOFError
            at += n
        return whole

    def _ended(self, task: _Task) -> DataError:
        """Say why the worker died."""
        try:
            code = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            code = 0
        if code == -signal.SIGXCPU:
            return task.failed(f"it takes more than {task.limits.cpu} s of computing")
        return task.failed(_MEMORY_WORDS)


def _end(line: socket.socket, process: subprocess.Popen[bytes], owner: int) -> None:
    """End a worker; a fork that forgets it leaves it to its owner."""
    line.close()
    if os.getpid() == owner:
        process.kill()
        process.wait()


class _Values(pickle.Unpickler):
    """Reads plain values; anything else that a message holds is refused."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a plain type."""
        try:
            return _PLAIN[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} isn't plain") from None


def _value(kind: bytes, body: bytearray, task: _Task) -> Any:
    """Read a message, or raise what it tells."""
    if kind in (worker.VALUE, worker.ITEM):
        try:
            return _Values(io.BytesIO(body)).load()
        except (pickle.UnpicklingError, ValueError, EOFError, TypeError, IndexError) as error:
            raise task.failed("its reader broke") from error
    told = json.loads(body)
    if kind == worker.REFUSED:
        known = getattr(errors, told[0], DataError)
        kind_of = known if isinstance(known, type) and issubclass(known, AtomError) else DataError
        raise kind_of(told[1])
    words = str(told[1] or told[0]).replace("{", "{{").replace("}", "}}")
    raise task.failed(_MEMORY_WORDS if told[2] else words)


# --- workers -------------------------------------------------------------------------------------

_ENVIRONMENT: Final = {
    # One pool of memory and few threads: each reserves address space, which is what is limited.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "ARROW_IO_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONUTF8": "1",
}
_idle: list[_Line] = []
_guard = threading.Lock()
_AT_ONCE: Final = threading.BoundedSemaphore(max(2, min(8, os.cpu_count() or 2)))


@contextlib.contextmanager
def _leased(task: _Task) -> Iterator[_Line]:
    """Lend a worker; one that failed is ended."""
    with _guard:
        line = _idle.pop() if _idle else None
    while line is not None and line.process.poll() is not None:  # it died of something else
        line.close()
        with _guard:
            line = _idle.pop() if _idle else None
    try:
        line = line or _Line()
    except OSError as error:
        raise task.failed(f"its reader can't be started ({error.strerror or error})") from error
    try:
        yield line
    finally:
        with _guard:
            keep = line.usable and len(_idle) < _KEPT
            if keep:
                _idle.append(line)
        if not keep:
            line.close()


@contextlib.contextmanager
def _handed(source: BinaryIO | bytes) -> Iterator[int]:
    """Give a file's descriptor; what has none is copied into a nameless file first."""
    handle = _handle_of(source)
    if handle is not None:
        yield handle
        return
    with _nameless() as copied:
        if isinstance(source, bytes):
            copied.write(source)
        else:
            source.seek(0)
            shutil.copyfileobj(source, copied, 1 << 20)
        copied.flush()
        yield copied.fileno()


def _handle_of(source: BinaryIO | bytes) -> int | None:
    if isinstance(source, bytes):
        return None
    try:
        return source.fileno()
    except (OSError, AttributeError):
        return None


def _nameless() -> IO[bytes]:
    if sys.platform == "linux":
        return os.fdopen(os.memfd_create("atom-foreign"), "w+b")
    return tempfile.TemporaryFile()


@atexit.register
def end_workers() -> None:
    """End the workers that wait."""
    with _guard:
        lines, _idle[:] = list(_idle), []
    for line in lines:
        line.close()

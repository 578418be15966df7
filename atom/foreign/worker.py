"""The process in which native parsers run: it takes a task, lowers its limits, answers, waits.

`parsers` starts it and speaks to it over a socket. It sees the file that it is handed, and no key:
its environment is empty. What goes wrong in it, down to an abort of the native code, ends it alone.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import io
import json
import os
import pickle
import resource
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, BinaryIO, Final

from atom.errors import AtomError

HEAD: Final = struct.Struct(">cQ")
"""What stands before a message: its kind and its length in bytes."""
VALUE, ITEM, END, REFUSED, BROKEN = b"V", b"I", b"E", b"R", b"B"
"""A result; a piece of a stream; its end; an error of ours; any other."""
GO_ON, STOP = b"g", b"s"
"""What a stream's reader says: the next piece, or no more."""
MAX_TASK: Final = 65_536
OURS = ("atom.",)
"""Where functions may stand that a task names."""
_PLAIN: Final = (
    datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone,
    decimal.Decimal,
)  # fmt: skip


class _Plain(pickle.Pickler):
    """Writes nothing but plain values; `parsers` reads nothing else."""

    def reducer_override(self, value: object) -> Any:
        """Turn what isn't plain into what is: foreign times into our own, the rest into texts."""
        if type(value) in _PLAIN or isinstance(value, type):
            return NotImplemented
        if isinstance(value, datetime.datetime):
            shift = value.utcoffset()
            zone = None if shift is None else datetime.timezone(shift)
            parts = (value.year, value.month, value.day, value.hour, value.minute, value.second)
            return datetime.datetime, (*parts, value.microsecond, zone)
        return str, (str(value),)


def main() -> None:
    """Serve tasks until the other side hangs up."""
    with socket.socket(fileno=int(sys.argv[1])) as line:
        while True:
            message, handles, _, _ = socket.recv_fds(line, MAX_TASK, 1)
            if not message or not handles:
                return
            with os.fdopen(handles[0], "rb") as source:
                _serve(line, json.loads(message), source)


def _serve(line: socket.socket, task: dict[str, Any], source: BinaryIO) -> None:
    """Do one task; whatever it raises is told."""
    try:
        function = _function(task["call"])
        lower_limits(memory=task["memory"], cpu=task["cpu"])
        source.seek(0)
        made = function(source, *task["args"])
        if not task["stream"]:
            _send(line, VALUE, dumped(made))
            return
        _stream(line, made)
    except AtomError as error:
        _send(line, REFUSED, json.dumps([type(error).__name__, error.message]).encode())
    except (BrokenPipeError, ConnectionResetError):
        raise SystemExit(0) from None
    except BaseException as error:  # noqa: BLE001 - it is told to whoever gave the task
        words = (str(error).splitlines() or [""])[0][:300]
        memory = isinstance(error, MemoryError)
        _send(line, BROKEN, json.dumps([type(error).__name__, words, memory]).encode())


def _stream(line: socket.socket, made: Iterator[object]) -> None:
    """Send the pieces one by one, each when it is asked for."""
    with contextlib.closing(made):  # type: ignore[type-var]
        for item in made:
            _send(line, ITEM, dumped(item))
            if line.recv(1) != GO_ON:
                return
    _send(line, END, b"")


def _function(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    if not module.startswith(OURS):
        raise ValueError(f"{name!r} is no parser of ours")
    function: Callable[..., Any] = getattr(import_module(module), attribute)
    return function


def lower_limits(*, memory: int, cpu: int) -> None:
    """Allow a task so much memory and computing beyond what this process uses by now.

    Args:
        memory: bytes of address space.
        cpu: seconds.
    """
    with contextlib.suppress(OSError, ValueError):
        with open("/proc/self/statm", "rb") as facts:  # noqa: PTH123 - of this process
            pages = int(facts.read().split()[0])
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory, most))
    with contextlib.suppress(OSError, ValueError):
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(
            resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + cpu + 1, most)
        )


def dumped(value: object) -> bytes:
    """Write a plain value."""
    out = io.BytesIO()
    _Plain(out, protocol=5).dump(value)
    return out.getvalue()


def _send(line: socket.socket, kind: bytes, body: bytes) -> None:
    line.sendall(HEAD.pack(kind, len(body)))
    line.sendall(body)


if __name__ == "__main__":
    main()

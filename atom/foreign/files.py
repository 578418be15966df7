"""The one place that opens a file which somebody else named.

A path may lead to a device that never ends, a pipe that nobody writes to, a socket, a page of the
kernel's, or a folder of a million files. None of these is read: only a plain file is, and its kind
is looked at before and after it is opened, so that it can't be exchanged in between.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from atom.errors import DataError, UsageError

MAX_FILES: Final = 10_000
"""Files that are listed in a folder."""
_MAX_LOOKED_AT: Final = 300_000
"""Entries of a folder that are looked at to find them."""
_MAX_BYTES: Final = 10_000_000
_MAX_TEXT: Final = 1_000_000
"""Of settings that a person wrote; readers of YAML take seconds a megabyte."""
_KERNEL: Final = ("/proc/", "/sys/", "/dev/")
_SHARED_MEMORY: Final = "/dev/shm/"
_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_foreign(path: Path) -> BinaryIO:
    """Open a plain file to read it.

    Args:
        path: where it is; somebody else's word.

    Raises:
        DataError: there is none, it may not be read, or it is no plain file.
    """
    shown = str(path)
    try:
        _check_kind(path.stat(), shown)
        # Where it was exchanged for a pipe meanwhile, opening it mustn't wait.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {shown!r}") from error
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{shown!r} can't be read: {reason}") from error
    try:
        _check_kind(os.fstat(handle), shown)
        _check_place(handle, path, shown)
        os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_foreign(path: Path, most: int = _MAX_BYTES) -> bytes:
    """Read a plain file that has at most so many bytes.

    Raises:
        DataError: it can't be read, or has more.
    """
    try:
        with open_foreign(path) as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise DataError(f"{str(path)!r} can't be read: {error.strerror or error}") from error
    if len(data) > most:
        raise DataError(f"{str(path)!r} has more than {most:,} bytes; at most these are read")
    return data


def read_foreign_text(path: Path, most: int = _MAX_TEXT) -> str:
    """Read a plain file of UTF-8 text that has at most so many bytes.

    Raises:
        DataError: it can't be read, has more, or isn't UTF-8.
    """
    try:
        return read_foreign(path, most).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{str(path)!r} can't be read as UTF-8 (byte {error.start:,}); save it as UTF-8"
        ) from error


def files_in(folder: Path, wanted: Callable[[Path], bool], *, most: int = MAX_FILES) -> list[Path]:
    """List the plain files in a folder and the folders in it, by name.

    Hidden files, links that lead out of the folder, devices and pipes are left aside; linked
    folders aren't entered.

    Args:
        folder: where to look.
        wanted: which files count.
        most: more than so many are refused.

    Raises:
        UsageError: there are too many, or the folder can't be listed.
    """
    found: list[Path] = []
    looked_at = max(_MAX_LOOKED_AT, most)
    try:
        inside = folder.resolve()
        for seen, entry in enumerate(_walk(folder)):
            if seen >= looked_at:
                raise UsageError(
                    f"the folder {str(folder)!r} holds more than {looked_at:,} files; name "
                    "the files, or the folder that holds them, more closely"
                )
            path = Path(entry.path)
            if not wanted(path) or not entry.is_file():
                continue
            if entry.is_symlink() and not path.resolve().is_relative_to(inside):
                continue
            found.append(path)
            if len(found) > most:
                raise UsageError(
                    f"the folder {str(folder)!r} holds more than {most:,} files of this kind; name "
                    "those you mean"
                )
    except OSError as error:
        raise UsageError(
            f"the folder {str(folder)!r} can't be listed: {error.strerror or error}"
        ) from error
    return sorted(found)


def _walk(folder: Path) -> Iterator[os.DirEntry[str]]:
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _check_kind(facts: os.stat_result, shown: str) -> None:
    """Refuse what isn't a plain file."""
    if stat.S_ISREG(facts.st_mode):
        return
    kind = next((words for is_kind, words in _KINDS if is_kind(facts.st_mode)), "no plain file")
    raise DataError(f"{shown!r} is {kind}; a plain file is wanted")


def _check_place(handle: int, path: Path, shown: str) -> None:
    """Refuse the kernel's own pages: they look like files, and tell this process's secrets."""
    try:
        real = str(Path(f"/proc/self/fd/{handle}").readlink())
    except OSError:
        real = str(path.resolve())
    if real.startswith(_KERNEL) and not real.startswith(_SHARED_MEMORY):
        raise DataError(f"{shown!r} is a page of the system's; a plain file is wanted")

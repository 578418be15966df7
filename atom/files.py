"""Files, written whole or not at all: everything that Atomscope leaves on a disk goes through here.

A file or a folder is filled under another name beside its place, and gets its own name only when
it is whole: whoever is killed meanwhile leaves nothing under a final name. What it does leave, a
`.part`, names the process that made it, and is cleared by the next one that writes there.

A rule test (`tests/rules/test_files.py`) finds code that writes a file in another way.
"""

from __future__ import annotations

import errno
import io
import itertools
import os
import re
import shutil
import socket
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TextIO

from atom.errors import PlaceError

_PART = re.compile(
    r"^\..*\.(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-(?P<started>\d*)-\d+\.part"
    r"(\.zip|-wal|-shm|-journal)?$"
)
_LONGEST = 120
"""Characters of a name that go into the name of its part."""
_STARTED = 19
_FULL = {errno.ENOSPC, errno.EDQUOT}
_numbers = itertools.count()


# --- whole or not at all -------------------------------------------------------------------------


def write_file(
    path: Path,
    data: bytes | str,
    *,
    replace: bool = True,
    sync: bool = True,
    within: Path | None = None,
) -> None:
    """Write a file in one step: a reader sees the old one or the new one.

    Args:
        path: the file; its folder is made.
        data: what it is to hold; half characters of a text become question marks.
        replace: whether one that is there may go.
        sync: wait until the disk has it; False where it can be made again.
        within: a folder above the file's own where it lies until it is whole: what a killed process
            leaves is then found in one place.

    Raises:
        PlaceError: the place is taken, or can't be written.
    """
    body = data.encode("utf-8", "replace") if isinstance(data, str) else data
    whole = new_file(path, replace=replace, needed=len(body), within=within)
    with whole as part, part.open("wb") as file:
        file.write(body)
        if sync:
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def new_file(
    place: Path, *, replace: bool = False, needed: int | None = None, within: Path | None = None
) -> Iterator[Path]:
    """Give a file to write, which becomes the place when it is whole.

    Args:
        place: the file; its folder is made.
        replace: whether one that is there may go.
        needed: bytes that it will probably take, for what is said of a full disk.
        within: see `write_file`.

    Raises:
        PlaceError: the place is taken, or can't be written.
    """
    part = _part_of(place, replace=replace)
    if within is not None:
        part = within / part.name
    try:
        _make_ready(place)
        yield part
        _put(part, place, replace=replace)
    except OSError as error:
        raise _refused(place, error, needed) from error
    finally:
        _forget(part)


@contextmanager
def new_folder(place: Path, *, needed: int | None = None, empty: bool = False) -> Iterator[Path]:
    """Give a folder to fill, which becomes the place (a folder, or a zip file) when it is whole.

    Args:
        place: the folder; a name that ends in `.zip` becomes one file.
        needed: bytes that it will probably take, for what is said of a full disk.
        empty: whether an empty folder that is there is as good as none.

    Raises:
        PlaceError: the place is taken, or can't be written.
    """
    zipped = place.suffix.lower() == ".zip"
    free = empty and place.is_dir() and not any(place.iterdir())
    part = _part_of(place, replace=free)
    packed = part.with_name(f"{part.name}.zip")
    try:
        _make_ready(place)
        part.mkdir()
        yield part
        if zipped:
            _pack(part, packed)
            _put(packed, place, replace=False)
        else:
            part.replace(place)
    except OSError as error:
        raise _refused(place, error, needed) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
        _forget(packed)


def _forget(part: Path) -> None:
    with suppress(OSError):
        part.unlink(missing_ok=True)


def stream(path: Path) -> IO[bytes]:
    """Open a file inside a folder that isn't whole yet (see `new_folder`), or such a file itself.

    Raises:
        ValueError: nothing there is unfinished: a kill would leave half a file under its name.
    """
    if not any(part.endswith(".part") for part in path.parts):
        raise ValueError(f"{str(path)!r} isn't part of anything unfinished")
    return path.open("wb")


def text_stream(path: Path) -> TextIO:
    """Open a file as `stream` does, for texts; half characters become question marks."""
    return io.TextIOWrapper(stream(path), encoding="utf-8", errors="replace", newline="")


def _part_of(place: Path, *, replace: bool) -> Path:
    if not replace and (place.exists() or place.is_symlink()):
        raise PlaceError(f"{str(place)!r} is there already: choose another place")
    return part_path(place)


def part_path(place: Path) -> Path:
    """Name what is written until it is whole, beside its place and after this process."""
    pid = os.getpid()
    who = f"{_host()}-{pid}-{process_start(pid)}-{next(_numbers)}"
    return place.with_name(f".{place.name[:_LONGEST]}.{who}.part")


def _put(part: Path, place: Path, *, replace: bool) -> None:
    if replace:
        part.replace(place)
        return
    try:
        # Unlike a renaming, a link never takes the place of what somebody else put there meanwhile.
        place.hardlink_to(part)
    except FileExistsError:
        raise PlaceError(f"{str(place)!r} is there already: choose another place") from None
    except OSError:
        part.replace(place)


def _make_ready(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    clear_parts(place.parent)


def _pack(folder: Path, place: Path) -> None:
    """Put a folder's files into a zip file, the manifest first; only texts are compressed."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    paths.sort(key=lambda path: path.name != "manifest.json")
    with zipfile.ZipFile(place, "w") as packed:
        for path in paths:
            text = path.suffix in (".json", ".jsonl", ".csv", ".html")
            packed.write(
                path,
                path.relative_to(folder).as_posix(),
                compress_type=zipfile.ZIP_DEFLATED if text else zipfile.ZIP_STORED,
            )


@contextmanager
def alone_in(folder: Path) -> Iterator[bool]:
    """Say whether this is the only process that works in a folder; it is until the block ends.

    The lock goes with its process, however that ends. Where the system has none (Windows), nobody
    is kept from anything.

    Args:
        folder: the folder; it is there.
    """
    try:
        import fcntl
    except ImportError:
        yield True
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
    else:
        yield True
    finally:
        os.close(handle)


# --- what killed processes left ------------------------------------------------------------------


def clear_parts(folder: Path) -> int:
    """Delete unfinished files and folders whose processes are gone.

    Those of other computers and of processes that live stay.

    Returns:
        How many went; 0 where the folder can't be read or changed.
    """
    gone = 0
    try:
        names = [entry.name for entry in os.scandir(folder) if entry.name.startswith(".")]
    except OSError:
        return 0
    for name in names:
        made = _PART.match(name)
        if made is None or made["host"] != _host() or _lives(int(made["pid"]), made["started"]):
            continue
        path = folder / name
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        except OSError:
            continue
        gone += 1
    return gone


def process_facts(pid: int) -> list[str]:
    """Return what the kernel says of a process, from its state on; nothing where it tells nothing.

    Returns:
        The fields of `/proc/<pid>/stat` behind the command's name: the first is the state, the
        20th when it began, in clock ticks.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def process_start(pid: int) -> str:
    """Return when a process began, in the system's ticks; empty where that isn't told."""
    facts = process_facts(pid)
    return facts[_STARTED] if facts else ""


def _lives(pid: int, started: str) -> bool:
    now = process_start(pid)
    if now or Path("/proc/self/stat").exists():
        return now != "" and (now == started or not started)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _host() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


# --- room ----------------------------------------------------------------------------------------


def _refused(place: Path, error: OSError, needed: int | None) -> PlaceError:
    if is_full(error):
        return PlaceError(f"{str(place)!r} can't be written: {full_words(place.parent, needed)}")
    return PlaceError(f"{str(place)!r} can't be written ({error.strerror or error})")


def is_full(error: OSError) -> bool:
    """Say whether an error is that of a full disk, or of a share of it that is used up."""
    return error.errno in _FULL


def full_words(folder: Path, needed: int | None = None) -> str:
    """Say how full a disk is, and how much room is needed.

    Args:
        folder: a folder on it; it needn't be there.
        needed: bytes that are needed; None = nobody knows.
    """
    free = free_bytes(folder)
    told = "its disk is full" if free is None else f"its disk is full ({in_words(free)} free)"
    wanted = "make room" if needed is None else f"about {in_words(needed)} are needed: make room"
    return f"{told}; {wanted}, or choose a place on another disk, and try again"


def free_bytes(folder: Path) -> int | None:
    """Return how much room a disk has; None where that can't be known."""
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return None


def size_of(place: Path) -> int:
    """Return the bytes of a file, or of all files in a folder."""
    if place.is_file():
        return place.stat().st_size
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def in_words(size: int) -> str:
    """Write a size in MB, or in kB where it is small."""
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{max(size, 0) / 1e3:,.1f} kB"

"""Reads files in a process of its own, while this one stores what was read.

Reading costs as much as storing: on two cores a large import takes half of the time. The other
process is a fork, so it goes on with the reading that was begun, and writes the cells of rows as
the store takes them (`atom.store.stage`); what comes over is plain. It touches no store. Where a
fork isn't safe, files are small, or a parser has its own process anyway, everything stays here.
"""

from __future__ import annotations

import gc
import marshal
import mmap
import os
import pickle
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from queue import Empty, Queue
from typing import Any, BinaryIO, NoReturn

from atom.errors import AtomError, FormatError
from atom.formats import Batch, ImportReport, Reading
from atom.records import Record
from atom.records.rows import Columns
from atom.store.schema import KINDS
from atom.store.stage import CellWriter

LEAST_BYTES = 2_000_000
"""Of files that are read apart: less is one batch or two, which nobody can read ahead."""
MOST_HELD = 256_000_000
"""Bytes of files that are moved into the store while they are read.

The store is held meanwhile. Other writers wait for it, half a minute at most (`BUSY_SECONDS`): so
many are read in half of that. What is larger is moved when all of it was read, as small files are.
"""
_AHEAD = 2
"""Batches that are read ahead."""
_HEAD = struct.Struct("!QQ")
_SAID = ("report", "judge", "tree", "synthetic")
"""What is known of a reading when it has ended."""
_BY_NAME: Mapping[str, type[Record]] = {kind.__name__: kind for kind in KINDS}


def is_worthwhile(reading: Reading) -> bool:
    """Whether to read apart: much is to be read, two cores are there, and a fork is safe.

    Threads don't come along into a fork, but the locks do that they hold: so only a process that
    has a single one forks, which commands do and the app doesn't.
    """
    return (
        sys.platform == "linux"
        and reading.n_bytes >= LEAST_BYTES
        and threading.active_count() == 1
        and len(os.sched_getaffinity(0)) > 1
    )


@contextmanager
def read_apart(reading: Reading, *, summed: bool, told: bool) -> Iterator[Reading]:
    """Go on with a reading in another process.

    Args:
        reading: one that was begun; nobody else reads on.
        summed: whether the store keeps checksums of rows.
        told: whether its report is looked at after each batch.

    Returns:
        The same batches and the same report. The process ends with the block.
    """
    theirs, ours = os.pipe()
    waits = mmap.mmap(-1, 1)
    child = os.fork()
    if child == 0:
        os.close(theirs)
        _read(reading, ours, waits, summed=summed, told=told)
    os.close(ours)
    with os.fdopen(theirs, "rb") as stream:
        taken: Queue[tuple[bytes, bytes]] = Queue(_AHEAD)
        taker = threading.Thread(target=_take, args=(stream, taken), daemon=True)
        taker.start()
        try:
            yield _ReadingApart(reading, taken, waits)
        finally:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            while taker.is_alive():  # it may wait for room
                with suppress(Empty):
                    taken.get(timeout=0.01)
            taker.join()


# --- this process --------------------------------------------------------------------------------


def _take(stream: BinaryIO, taken: Queue[tuple[bytes, bytes]]) -> None:
    """Take messages from the other process until there are no more, then an empty one."""
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        sizes = _HEAD.unpack(head)
        plain, cells = (stream.read(n) for n in sizes)
        if (len(plain), len(cells)) != sizes:  # it was ended in the middle
            break
        taken.put((plain, cells))
    taken.put((b"", b""))


class _ReadingApart(Reading):
    """A reading that goes on in another process; its report is whole once the batches ended."""

    def __init__(self, begun: Reading, taken: Queue[tuple[bytes, bytes]], waits: mmap.mmap) -> None:
        self.named, self.n_bytes = begun.named, begun.n_bytes
        self._taken = taken
        self._waits = waits
        self._said: dict[str, Any] = {}

    def __next__(self) -> Batch:
        """Wait for the next batch."""
        self._waits[0] = 1
        plain, cells = self._taken.get()
        self._waits[0] = 0
        if not plain:
            raise FormatError(
                "the process that read the files was ended from outside, perhaps for want of "
                "memory: nothing was kept; import them again"
            )
        word, batch, said = pickle.loads(plain)  # noqa: S301 - a fork of this process wrote it
        self._said |= said
        if word == "broken":
            raise batch
        if word == "end":
            raise StopIteration
        assert isinstance(batch, Batch)
        ready = [
            Columns(kind=_BY_NAME[name], cells=columns, is_plain=is_plain, sums=sums)
            for name, columns, is_plain, sums in marshal.loads(cells)  # noqa: S302 - the same
        ]
        return replace(batch, ready=ready)

    @property
    def report(self) -> ImportReport:
        """What was met so far, where it was asked for."""
        found = self._said["report"]
        assert isinstance(found, ImportReport)
        return found

    @property
    def judge(self) -> str | None:
        """As `Reading` has it."""
        return self._said["judge"]  # type: ignore[no-any-return]

    @property
    def tree(self) -> str | None:
        """As `Reading` has it."""
        return self._said["tree"]  # type: ignore[no-any-return]

    @property
    def synthetic(self) -> bool:
        """As `Reading` has it."""
        return bool(self._said["synthetic"])


# --- the other process ---------------------------------------------------------------------------


def _read(reading: Reading, pipe: int, waits: mmap.mmap, *, summed: bool, told: bool) -> NoReturn:
    """Read to the end, hand everything over, and be gone; nothing of this process is tidied up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other one ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.freeze()
    try:
        with os.fdopen(pipe, "wb", buffering=0) as stream:
            try:
                _hand_over(reading, stream, waits, summed=summed, told=told)
            except BrokenPipeError:  # nobody listens any longer
                pass
            except BaseException as error:  # noqa: BLE001 - whatever it is, the other one raises it
                _send(stream, "broken", _portable(error))
    finally:
        os._exit(0)


def _portable(error: BaseException) -> BaseException:
    """Return what tells the other process of an error: itself, where it can be handed over."""
    if not isinstance(error, AtomError):
        error.add_note(traceback.format_exc())
    try:
        pickle.dumps(error)
    except Exception:  # noqa: BLE001 - a class may refuse in any way
        return RuntimeError(traceback.format_exc())
    return error


def _hand_over(
    reading: Reading, stream: BinaryIO, waits: mmap.mmap, *, summed: bool, told: bool
) -> None:
    cells = {kind: CellWriter(KINDS[kind]) for kind in KINDS}
    pictures = False
    for batch in reading:
        columns: list[Columns] = []
        # Of pictures some may turn out broken, and then questions are looked at once more.
        pictures = pictures or bool(batch.pictures)
        if not pictures:
            columns = [cells[rows.kind].of(rows.rows) for rows in batch.rows() if rows]
            if not waits[0]:  # whoever has time does what both can do
                columns = [cells[one.kind].finished(one, summed=summed) for one in columns]
            batch = batch.without_rows()
        _send(stream, "batch", batch, {"report": reading.report} if told else {}, columns)
    said = {name: getattr(reading, name) for name in _SAID}
    _send(stream, "end", None, said)


def _send(
    stream: BinaryIO,
    word: str,
    what: object,
    said: Mapping[str, object] | None = None,
    columns: Sequence[Columns] = (),
) -> None:
    plain = pickle.dumps((word, what, said or {}), pickle.HIGHEST_PROTOCOL)
    cells = marshal.dumps(
        [(one.kind.__name__, list(one.cells), one.is_plain, one.sums) for one in columns]
    )
    for part in (_HEAD.pack(len(plain), len(cells)), plain, cells):
        view = memoryview(part)
        while view:
            view = view[stream.write(view) :]

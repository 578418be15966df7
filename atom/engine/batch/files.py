"""Batches as they lie beside the store: files of requests, and what is known about each.

`batches/NAME.jsonl` holds the requests, `NAME.index.jsonl` what must be known to read the replies,
`NAME.json` where the batch stands; it is written last, so a file without it was never finished.
`ledger.json` keeps what replies have taught: what failed, and what is to be asked once more. All
are replaced in one step, so that a kill at any moment leaves the old or the new.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, TypeVar

from pydantic import Field, ValidationError

from atom.engine.process import owner_name, process_gone
from atom.engine.replies import reread
from atom.errors import CorruptError, PlaceError, StoreError, UsageError
from atom.files import clear_parts, part_path, stream, write_file
from atom.judge import CallGaveUp, CallRefused, Reply, Request
from atom.judge.noting import EndpointLessons, Entry, NotedRequest, UnfinishedReply
from atom.judge.request import schema_text
from atom.records import Call, Endpoint, content_id
from atom.records.base import Record
from atom.store import Store
from atom.store.holds import holder_now

MOST_REQUESTS = 50_000
"""Requests in a file, and bytes: the service takes 50,000 and 200 MB."""
MOST_BYTES = 190_000_000
MOST_TRIES = 3
"""A request that so many batches brought no reply to counts as failed."""
_HELD = 6 * 3600.0
_OPENAI = "api.openai.com"
R = TypeVar("R", bound=Record)
ParcelState = Literal["written", "sent", "taken", "dropped"]


class Parcel(Record):
    """One file of requests, and what became of it."""

    name: str
    """The run's id and a number."""
    run_id: str
    study_id: str
    about: str = ""
    """Name of the study or the benchmark's data."""
    endpoint: Endpoint
    """Whom it asks, as configured when it was written; no key is in it."""
    created: str
    requests: int = Field(ge=1)
    n_bytes: int = Field(ge=1)
    tasks: dict[str, int] = Field(default_factory=dict)
    """How many requests of each task."""
    most: float | None = None
    """What it may cost at most, in USD; None = unknown."""
    schemas: dict[str, dict[str, object]] = Field(default_factory=dict)
    """Schemas of the replies, by the name that the index gives."""
    retry_failed: bool = False
    """Whether it asks again what had failed before."""
    state: ParcelState = "written"
    file_id: str | None = None
    """The uploaded file's name at the service."""
    batch_id: str | None = None
    status: str = ""
    """The service's own word: validating, in_progress, ..."""
    completed: int = 0
    refused: int = 0
    message: str = ""
    """What happened, in a sentence."""
    replies: int = 0
    failures: int = 0
    missing: int = 0
    """Requests without a line in what was taken."""

    @property
    def waits(self) -> bool:
        """Whether its replies may still come."""
        return self.state in ("written", "sent")


class Failure(Record):
    """A request that batches brought no reply to."""

    parcels: tuple[str, ...]
    """The files in which it stood."""
    message: str
    permanent: bool = False


class Ledger(Record):
    """What replies have taught."""

    failures: dict[str, Failure] = Field(default_factory=dict)
    unfinished: dict[str, UnfinishedReply] = Field(default_factory=dict)
    learned: dict[str, EndpointLessons] = Field(default_factory=dict)
    """By endpoint."""


def batch_folder(store: Store) -> Path:
    """Return the folder in which a store's batches lie."""
    return store.folder / "batches"


def list_parcels(store: Store, run_id: str | None = None) -> list[Parcel]:
    """Return the batches of a store, or of one run, in the order in which they were written.

    Raises:
        CorruptError: one can't be read.
    """
    folder = batch_folder(store)
    found = [
        read_record(Parcel, path)
        for path in sorted(folder.glob("*.json"))
        if path.name != "ledger.json" and (run_id is None or path.name.startswith(f"{run_id}-"))
    ]
    return sorted(found, key=lambda parcel: (parcel.created, parcel.name))


def find_parcel(store: Store, name: str) -> Parcel:
    """Return a batch by its name.

    Raises:
        UsageError: there is none.
    """
    for parcel in list_parcels(store):
        if parcel.name == name:
            return parcel
    raise UsageError(f"there is no batch {name!r}; `run batch status` lists them")


def requests_file(store: Store, parcel: Parcel) -> Path:
    """Return the file that is to be uploaded."""
    return batch_folder(store) / f"{parcel.name}.jsonl"


def save_parcel(store: Store, parcel: Parcel) -> Parcel:
    """Keep where a batch stands, and return it."""
    write_whole(batch_folder(store) / f"{parcel.name}.json", dump(parcel))
    return parcel


def read_index(store: Store, parcel: Parcel) -> Iterator[Entry]:
    """Yield what is known of a batch's requests.

    Raises:
        CorruptError: a line can't be read.
    """
    path = batch_folder(store) / f"{parcel.name}.index.jsonl"
    try:
        with path.open("rb") as file:
            for line in file:
                yield Entry.model_validate_json(line)
    except (OSError, ValidationError) as error:
        raise CorruptError(
            f"what the batch {parcel.name!r} asks can't be read from {path.name!r}: "
            f"{_first_line(error)}. Forget it with `run batch drop {parcel.name}` and write anew."
        ) from error


def load_ledger(store: Store) -> Ledger:
    """Return what replies have taught so far.

    Raises:
        CorruptError: it can't be read.
    """
    path = batch_folder(store) / "ledger.json"
    return read_record(Ledger, path) if path.exists() else Ledger()


def save_ledger(store: Store, ledger: Ledger) -> None:
    """Keep what replies have taught."""
    write_whole(batch_folder(store) / "ledger.json", dump(ledger))


def dump(record: Record) -> bytes:
    """Return a record as JSON; lone surrogates, which a model may write, are replaced."""
    return record.model_dump_json(exclude_defaults=True).encode("utf-8", errors="replace")


def read_record(kind: type[R], path: Path) -> R:
    """Read a record from its file.

    Raises:
        CorruptError: it can't be read.
    """
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise CorruptError(f"{path.name!r} can't be read: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["no details"])[0][:300]


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file in one step.

    Raises:
        StoreError: it can't be written.
    """
    try:
        write_file(path, data)
    except PlaceError as error:
        raise StoreError(error.message) from error


@contextmanager
def holding(store: Store, what: str) -> Iterator[None]:
    """Let only one process at a time write, send or take a store's batches.

    Args:
        what: what is held.

    Raises:
        UsageError: another process does.
    """
    name = f"batch:{what}"
    owner = owner_name(f"{name}:{uuid.uuid4().hex[:8]}")
    with store.write() as writer:
        before = holder_now(writer, name)
        if before is not None and process_gone(before):
            writer.release(before, [name])
        if not writer.claim([name], owner, _HELD):
            raise UsageError(
                f"another process is busy with the batches of this store ({before}): wait for "
                "its end, or stop it"
            )
    try:
        yield
    finally:
        with store.write() as writer:
            writer.release(owner, [name])


@dataclass(kw_only=True)
class _OpenFile:
    """A file that is being written."""

    endpoint: Endpoint
    name: str
    parts: tuple[Path, Path]
    lines: IO[bytes]
    index: IO[bytes]
    n: int = 0
    size: int = 0
    tasks: dict[str, int] = field(default_factory=dict)
    most: float | None = 0.0
    schemas: dict[str, dict[str, object]] = field(default_factory=dict)


class BatchBook:
    """Notes one run's requests in files, and knows what became of earlier ones.

    Args:
        study_id: its study or set.
        about: their name, for people.
        created: UTC time.
        retry_failed: ask again for what failed in earlier batches.
        most_requests: requests in a file at most.
        most_bytes: bytes of a file at most.
    """

    def __init__(
        self,
        store: Store,
        *,
        run_id: str,
        study_id: str,
        about: str,
        created: str,
        retry_failed: bool = False,
        most_requests: int = MOST_REQUESTS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._store = store
        self._run_id, self._study_id, self._about = run_id, study_id, about
        self._created = created
        self._limits = (most_requests, most_bytes)
        self._ledger = load_ledger(store)
        self._retry_failed = retry_failed
        self._waiting: dict[str, Entry] = {}
        self._number = 0
        for parcel in list_parcels(store):
            if parcel.run_id == run_id:
                self._number = max(self._number, int(parcel.name.rpartition("-")[2]))
            if parcel.waits:
                self._waiting.update((entry.call_id, entry) for entry in read_index(store, parcel))
        self._open: dict[str, _OpenFile] = {}
        self._written: list[Parcel] = []
        self.still_waiting: set[str] = set()
        """Requests that were wanted again, and wait in an earlier file."""

    # What the clients ask

    def learned(self, endpoint: Endpoint) -> EndpointLessons:
        """Say what the endpoint's refusals have taught."""
        return learned_of(self._ledger, endpoint)

    def waits(self, call_id: str) -> Entry | None:
        """Return a request that was noted before and whose reply isn't here yet."""
        found = self._waiting.get(call_id)
        if found is not None:
            self.still_waiting.add(call_id)
        return found

    def settled(self, request: Request, call_id: str) -> Reply | None:
        """Return a first reply that has to do.

        Raises:
            CallGaveUp: no batch brought a reply, and no further one is to try.
            CallRefused: the endpoint can't answer this request.
        """
        failure = self._ledger.failures.get(call_id)
        if failure is None or self._retry_failed:
            return None
        if not failure.permanent and len(failure.parcels) < MOST_TRIES:
            return None
        there = self._ledger.unfinished.get(call_id)
        if there is not None:
            return reread(request, there.call)
        call = self._store.get(Call, call_id)
        kind = CallRefused if failure.permanent else CallGaveUp
        raise kind(failure.message, call)

    def unfinished(self, call_id: str) -> UnfinishedReply | None:
        """Return the reply that the next turn is to better."""
        return self._ledger.unfinished.get(call_id)

    def note(self, endpoint: Endpoint, note: NotedRequest) -> None:
        """Write a request into its endpoint's file.

        Raises:
            StoreError: it can't be written.
        """
        line = note.line + b"\n"
        part = self._open.get(endpoint.name)
        most_requests, most_bytes = self._limits
        if part is not None and (part.n >= most_requests or part.size + len(line) > most_bytes):
            self._finish(self._open.pop(endpoint.name))
            part = None
        try:
            if part is None:
                part = self._open[endpoint.name] = self._begin(endpoint)
            entry = note.entry
            if note.schema is not None:
                key = content_id("schema", schema_text(note.schema))[:12]
                part.schemas.setdefault(key, dict(note.schema))
                entry = entry.model_copy(update={"schema_key": key})
            part.lines.write(line)
            part.index.write(dump(entry) + b"\n")
        except OSError as error:
            raise StoreError(f"the batch can't be written: {error}") from error
        part.n += 1
        part.size += len(line)
        part.tasks[entry.task] = part.tasks.get(entry.task, 0) + 1
        part.most = None if part.most is None or entry.most is None else part.most + entry.most
        self._waiting[entry.call_id] = entry

    # Files

    def _begin(self, endpoint: Endpoint) -> _OpenFile:
        self._number += 1
        name = f"{self._run_id}-{self._number:03d}"
        folder = batch_folder(self._store)
        folder.mkdir(parents=True, exist_ok=True)
        clear_parts(folder)
        parts = (part_path(folder / f"{name}.jsonl"), part_path(folder / f"{name}.index.jsonl"))
        return _OpenFile(
            endpoint=endpoint,
            name=name,
            parts=parts,
            lines=stream(parts[0]),
            index=stream(parts[1]),
        )

    def _finish(self, part: _OpenFile) -> None:
        folder = batch_folder(self._store)
        try:
            for file in (part.lines, part.index):
                file.flush()
                os.fsync(file.fileno())
                file.close()
            for path, end in zip(part.parts, ("jsonl", "index.jsonl"), strict=True):
                path.replace(folder / f"{part.name}.{end}")
        except OSError as error:
            raise StoreError(f"the batch can't be written: {error}") from error
        parcel = Parcel(
            name=part.name,
            run_id=self._run_id,
            study_id=self._study_id,
            about=self._about,
            endpoint=part.endpoint,
            created=self._created,
            requests=part.n,
            n_bytes=part.size,
            tasks=part.tasks,
            most=part.most,
            schemas=part.schemas,
            retry_failed=self._retry_failed,
        )
        self._written.append(save_parcel(self._store, parcel))

    def close(self) -> tuple[Parcel, ...]:
        """Finish the files, and return those that this book wrote.

        Raises:
            StoreError: one can't be written.
        """
        for name in list(self._open):
            self._finish(self._open.pop(name))
        if self._retry_failed and self._ledger.failures:
            again = {
                name: failure
                for name, failure in self._ledger.failures.items()
                if name not in self._waiting
            }
            save_ledger(self._store, self._ledger.model_copy(update={"failures": again}))
        return tuple(self._written)

    def discard(self) -> None:
        """Leave out what was begun and not finished."""
        for part in self._open.values():
            for file, path in zip((part.lines, part.index), part.parts, strict=True):
                file.close()
                path.unlink(missing_ok=True)
        self._open.clear()


def learned_of(ledger: Ledger, endpoint: Endpoint) -> EndpointLessons:
    """Say how an endpoint is to be asked.

    OpenAI's own service takes `max_completion_tokens` with every model, and its newer models take
    nothing else: a whole day would be lost on finding that out by a refused batch.
    """
    known = ledger.learned.get(endpoint.name)
    if known is not None:
        return known
    newer = endpoint.host.partition(":")[0] == _OPENAI
    return EndpointLessons(token_name="max_completion_tokens" if newer else "max_tokens")

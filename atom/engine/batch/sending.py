"""A run by batches: write what is missing, send it, take the replies in, go on.

Each step can be done by itself, and repeated: nothing is asked twice, since what was written and
hasn't come back yet is known, and what has come back is in the store as if it had been asked live.

Reference: OpenAI, "Batch API" guide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from atom.engine.batch.files import (
    MOST_BYTES,
    MOST_REQUESTS,
    BatchBook,
    Parcel,
    batch_folder,
    find_parcel,
    holding,
    list_parcels,
    requests_file,
    save_parcel,
)
from atom.engine.batch.taking import BatchReplies, take_replies
from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.control import run_status
from atom.engine.execution import OnProgress
from atom.engine.members import gather
from atom.engine.study.runner import spec_of
from atom.engine.study.spec import RunSpec
from atom.engine.work import carry_out, kind_named, open_work
from atom.errors import SettingsError, UsageError
from atom.judge import CallGaveUp, PictureCache, SpendLedger
from atom.judge.batches import BatchService, RemoteBatch
from atom.judge.noting import NotingClient
from atom.judge.timing import Timing
from atom.records import BenchSet, Endpoint, Run, Study
from atom.store import Store

FIRST_WAIT, LONGEST_WAIT = 5.0, 300.0
"""Seconds between two looks at a batch: the first wait, and the longest."""
Tell = Callable[[str], None]
"""Is told what happens, a sentence at a time."""
ServiceMaker = Callable[[Endpoint], BatchService]
MOST_SILENT = 20
"""Looks in a row that find no service, each with its own tries, before the wait is given up."""
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


@dataclass(frozen=True, kw_only=True)
class WrittenBatches:
    """What was written.

    Args:
        run: the run's row, as it is afterwards.
        parcels: the new batches.
        waiting: requests that are wanted too, and wait in batches written before.
    """

    run: Run
    parcels: tuple[Parcel, ...]
    waiting: int

    @property
    def requests(self) -> int:
        """Requests in the new batches."""
        return sum(parcel.requests for parcel in self.parcels)


def make_service(endpoint: Endpoint) -> BatchService:
    """Open the client of an endpoint's batch service."""
    return BatchService(endpoint)


def open_batch_run(
    store: Store, spec: RunSpec, endpoints: Mapping[str, Endpoint], *, clock: Clock = utc_now
) -> Run:
    """Return the run that batches belong to: the same asked for again goes on with the same run.

    Raises:
        UsageError: it asks for something that isn't there.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
    """
    if spec.retry_unscored:
        raise UsageError(
            "what the server's fault left unscored is asked again live, not by batches: give "
            "--retry-unscored to `run start`"
        )
    known = _keyless(endpoints)
    wanted = gather(store, spec, known, stamp(clock())).completed(spec)
    named = {parcel.run_id: parcel for parcel in list_parcels(store)}
    for run_id in reversed(named):
        row = store.get(Run, run_id)
        if row is None or row.kind != "study" or row.state == "done":
            continue
        before = spec_of(row, retry_failed=spec.retry_failed)
        if replace(before, budget=spec.budget) == wanted:
            return row
    return open_work(store, spec, known, clock=clock)


def _keyless(endpoints: Mapping[str, Endpoint]) -> dict[str, Endpoint]:
    """Return the endpoints as they are for writing a file: no key is needed for that."""
    return {
        name: endpoint.model_copy(update={"key_env": None}) for name, endpoint in endpoints.items()
    }


async def write_batch(
    store: Store,
    run_id: str,
    endpoints: Mapping[str, Endpoint],
    *,
    retry_failed: bool = False,
    budget: float | None = None,
    most_requests: int = MOST_REQUESTS,
    most_bytes: int = MOST_BYTES,
    clock: Clock = utc_now,
    on_progress: OnProgress | None = None,
) -> WrittenBatches:
    """Do what can be done with the replies that are here, and write what is to be asked next.

    Args:
        run_id: the run; a benchmark's and one of rival methods, too.
        endpoints: endpoints by name.
        retry_failed: ask again what failed.
        budget: another spend cap for the whole run; None keeps the old one.
        most_requests: requests in a file at most.
        most_bytes: bytes of a file at most.
        clock: UTC time, for records.
        on_progress: called twice a second at most.

    Returns:
        The new batches; none when nothing is left, or all of it waits in earlier ones.

    Raises:
        UsageError: there is no such run, it is running, or it can't be done by batches.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
        AtomError: the run can't begin, or the store can't be written.
    """
    if not 1 <= most_requests <= MOST_REQUESTS:
        raise UsageError(f"{most_requests:,} requests a file: 1 to {MOST_REQUESTS:,} are allowed")
    row = run_status(store, run_id).run
    if kind_named(row.kind).live_only:
        raise UsageError(kind_named(row.kind).live_only)
    asked_again = retry_failed or any(p.retry_failed for p in list_parcels(store, run_id))
    with holding(store, "files"):
        book = BatchBook(
            store,
            run_id=run_id,
            study_id=row.study_id,
            about=_about(store, row),
            created=stamp(clock()),
            retry_failed=retry_failed,
            most_requests=most_requests,
            most_bytes=most_bytes,
        )
        try:
            ended = await carry_out(
                store,
                run_id,
                _keyless(endpoints),
                retry_failed=asked_again,
                budget=budget,
                make=partial(_noting, book),
                clock=clock,
                on_progress=on_progress,
            )
            parcels = book.close()
        finally:
            book.discard()
    return WrittenBatches(run=ended, parcels=parcels, waiting=len(book.still_waiting))


def _noting(
    book: BatchBook, endpoint: Endpoint, spend: SpendLedger, pictures: PictureCache
) -> NotingClient:
    return NotingClient(endpoint, book, spend=spend, pictures=pictures)


def _about(store: Store, row: Run) -> str:
    owner = store.get(Study, row.study_id) or store.get(BenchSet, row.study_id)
    return owner.name if owner else row.study_id


def drop_batch(store: Store, name: str) -> Parcel:
    """Forget a batch: what it asks is asked again by the next one that is written.

    Replies that come later can still be taken in.

    Raises:
        UsageError: there is none of that name, or it is at the service and isn't over.
    """
    with holding(store, "files"):
        parcel = find_parcel(store, name)
        if parcel.batch_id is not None and parcel.status not in _ENDED:
            raise UsageError(
                f"the batch {name!r} is at {parcel.endpoint.host} ({parcel.status or 'sent'}): "
                f"`run batch cancel {name}` first, else it is paid for all the same"
            )
        return save_parcel(store, parcel.model_copy(update={"state": "dropped"}))


# At the service


def _service_endpoint(store: Store, parcel: Parcel, endpoints: Mapping[str, Endpoint]) -> Endpoint:
    """Return the endpoint that a batch goes to, with its key's name.

    Raises:
        SettingsError: it isn't configured any more, or differently.
        UsageError: nobody has agreed to send data there.
    """
    there = endpoints.get(parcel.endpoint.name)
    if there is None:
        raise SettingsError(
            f"the batch {parcel.name!r} is for the endpoint {parcel.endpoint.name!r}, which isn't "
            "configured any more: add it again, or `run batch drop` the batch"
        )
    if (there.base_url, there.model) != (parcel.endpoint.base_url, parcel.endpoint.model):
        raise SettingsError(
            f"the endpoint {there.name!r} is another one now ({there.model} at {there.host}) than "
            f"when the batch {parcel.name!r} was written ({parcel.endpoint.model} at "
            f"{parcel.endpoint.host}): change it back, or `run batch drop` the batch"
        )
    if not there.url:
        raise UsageError(
            f"the endpoint {there.name!r} answers in this process and has no batch service; "
            "`probe serve` serves one, for trying it out"
        )
    return there


async def send_batches(
    store: Store,
    endpoints: Mapping[str, Endpoint],
    *,
    run_id: str | None = None,
    make: ServiceMaker = make_service,
    tell: Tell = lambda _: None,
) -> list[Parcel]:
    """Upload the batches that are written and not sent yet.

    A batch that a killed process had begun to send is found at the service and not sent twice.

    Raises:
        AtomError: one can't be sent; those before it are.
    """
    sent = []
    with holding(store, "service"):
        for parcel in list_parcels(store, run_id):
            if parcel.state != "written":
                continue
            async with make(_service_endpoint(store, parcel, endpoints)) as service:
                file_id = parcel.file_id
                if file_id is None:
                    file_id = await service.upload(requests_file(store, parcel))
                    parcel = save_parcel(store, parcel.model_copy(update={"file_id": file_id}))
                remote = await service.create(file_id, parcel.name)
            parcel = _looked_at(parcel.model_copy(update={"state": "sent"}), remote)
            sent.append(save_parcel(store, parcel))
            tell(f"{parcel.name}: {parcel.requests:,} requests sent to {parcel.endpoint.host}")
    return sent


def _looked_at(parcel: Parcel, remote: RemoteBatch) -> Parcel:
    return parcel.model_copy(
        update={
            "batch_id": remote.id,
            "status": remote.status,
            "completed": remote.completed,
            "refused": remote.failed,
            "message": status_words(remote),
        }
    )


def status_words(remote: RemoteBatch) -> str:
    """Say what a batch's status means, and what to do about it."""
    done = f"{remote.completed:,} of {remote.total:,} done" if remote.total else "not begun"
    why = f": {'; '.join(remote.problems[:3])}" if remote.problems else ""
    words = {
        "validating": "the service is checking the file",
        "in_progress": f"being answered, {done}",
        "finalizing": "answered; the service is writing the files of replies",
        "completed": f"over, {done}" + (f", {remote.failed:,} failed" if remote.failed else ""),
        "failed": f"the service refused the whole file{why}. Mend the cause, then "
        "`run batch write` and `send` again",
        "expired": f"the day was over before all was answered, {done}; the rest goes into the "
        "next batch",
        "cancelling": "being cancelled; what is answered already will still come",
        "cancelled": f"cancelled, {done}; the rest goes into the next batch",
    }
    return words.get(remote.status, f"in a state called {remote.status!r}, which is waited for")


async def fetch_batches(
    store: Store,
    endpoints: Mapping[str, Endpoint],
    *,
    run_id: str | None = None,
    make: ServiceMaker = make_service,
    clock: Clock = utc_now,
    tell: Tell = lambda _: None,
) -> tuple[list[Parcel], BatchReplies]:
    """Look once at the batches that were sent; take in the replies of those that are over.

    Returns:
        The batches as they are now, and what came.

    Raises:
        AtomError: the service can't be asked, or a file can't be fetched.
    """
    looked: list[Parcel] = []
    files: list[Path] = []
    with holding(store, "service"):
        for parcel in list_parcels(store, run_id):
            if parcel.state != "sent" or parcel.batch_id is None:
                continue
            async with make(_service_endpoint(store, parcel, endpoints)) as service:
                remote = await service.retrieve(parcel.batch_id)
                now = _looked_at(parcel, remote)
                if now.message != parcel.message:
                    tell(f"{now.name}: {now.message}")
                for file_id, end in (
                    (remote.output_file, "replies"),
                    (remote.error_file, "errors"),
                ):
                    if remote.status in _ENDED and file_id:
                        file = batch_folder(store) / f"{parcel.name}.{end}.jsonl"
                        await service.download(file_id, file)
                        files.append(file)
            looked.append(save_parcel(store, now))
    taken = take_replies(store, files, clock=clock) if files else BatchReplies()
    with holding(store, "files"):
        for parcel in list_parcels(store, run_id):
            # Over, and no line was about it: all of it is free to be asked again.
            if parcel.state == "sent" and parcel.status in _ENDED:
                over = {"state": "taken", "missing": parcel.requests}
                save_parcel(store, parcel.model_copy(update=over))
    return looked, taken


async def cancel_batch(
    store: Store,
    name: str,
    endpoints: Mapping[str, Endpoint],
    *,
    make: ServiceMaker = make_service,
) -> Parcel:
    """Ask the service to cancel a batch; what is answered already is still fetched.

    Raises:
        AtomError: there is none, it isn't at the service, or the service refuses.
    """
    with holding(store, "service"):
        parcel = find_parcel(store, name)
        if parcel.state != "sent" or parcel.batch_id is None:
            raise UsageError(
                f"the batch {name!r} isn't at the service ({parcel.state}): `run batch drop` "
                "forgets one that was only written"
            )
        async with make(_service_endpoint(store, parcel, endpoints)) as service:
            remote = await service.cancel(parcel.batch_id)
        return save_parcel(store, _looked_at(parcel, remote))


async def run_batches(
    store: Store,
    run_id: str,
    endpoints: Mapping[str, Endpoint],
    *,
    retry_failed: bool = False,
    budget: float | None = None,
    most_requests: int = MOST_REQUESTS,
    make: ServiceMaker = make_service,
    timing: Timing | None = None,
    clock: Clock = utc_now,
    on_progress: OnProgress | None = None,
    tell: Tell = lambda _: None,
) -> Run:
    """Write, send, wait, take, and go on until nothing is left.

    It can be killed at any moment and started again: what was sent is waited for.

    Args:
        endpoints: endpoints by name.
        retry_failed: ask again what failed before this.
        budget: another spend cap for the whole run; None keeps the old one.
        most_requests: requests in a file at most.
        make: opens the client of an endpoint's batch service.
        timing: clock and sleep.
        clock: UTC time, for records.
        on_progress: told how the run is, while files are written.
        tell: told what happens.

    Returns:
        The run's row: `done`, or `stopped` with the reason.

    Raises:
        AtomError: the run can't go on; started again, it does where it stood.
    """
    timing = timing or Timing()
    waves = 0
    while True:
        # What a killed process had written or sent is seen to first.
        brought = await _round(store, run_id, endpoints, make, timing, clock, tell)
        if waves and not brought.brought and not brought.taught:
            row = run_status(store, run_id).run
            why = f": {brought.errors[0]}" if brought.errors else ""
            told = next(
                (p.message for p in reversed(list_parcels(store, run_id)) if p.status == "failed"),
                f"the last batch brought no reply{why}",
            )
            return _stop(store, row, told)
        written = await write_batch(
            store,
            run_id,
            endpoints,
            retry_failed=retry_failed and waves == 0,
            budget=budget,
            most_requests=most_requests,
            clock=clock,
            on_progress=on_progress,
        )
        waves += 1
        for parcel in written.parcels:
            tell(f"{parcel.name}: {parcel.requests:,} requests written")
        if not written.parcels:
            return written.run


def _stop(store: Store, row: Run, message: str) -> Run:
    row = row.model_copy(update={"state": "stopped", "message": message})
    store.replace([row])
    return row


async def _round(
    store: Store,
    run_id: str,
    endpoints: Mapping[str, Endpoint],
    make: ServiceMaker,
    timing: Timing,
    clock: Clock,
    tell: Tell,
) -> BatchReplies:
    """Send what is written, and wait until all of it is over."""
    await send_batches(store, endpoints, run_id=run_id, make=make, tell=tell)
    wait = FIRST_WAIT
    total = BatchReplies()
    silent = 0
    while any(p.state == "sent" for p in list_parcels(store, run_id)):
        before = _states(store, run_id)
        try:
            _, taken = await fetch_batches(
                store, endpoints, run_id=run_id, make=make, clock=clock, tell=tell
            )
        except CallGaveUp as error:
            silent += 1
            if silent >= MOST_SILENT:
                raise
            tell(f"{error.message} Looked for again in {wait:.0f} s.")
            taken = BatchReplies()
        else:
            silent = 0
        if taken.lines:
            total = add_taken(total, taken)
            for words in taken.words:
                tell(words)
        if not any(p.state == "sent" for p in list_parcels(store, run_id)):
            break
        await timing.sleep(wait)
        moved = _states(store, run_id) != before
        wait = FIRST_WAIT if moved else min(LONGEST_WAIT, wait * 1.5)
    return total


def _states(store: Store, run_id: str) -> list[tuple[str, str, int]]:
    return [(p.name, p.status, p.completed) for p in list_parcels(store, run_id)]


def add_taken(first: BatchReplies, second: BatchReplies) -> BatchReplies:
    """Add what two lots of files brought."""
    counts = ("lines", "replies", "unusable", "again", "failed", "known", "repeated", "foreign",
              "broken", "missing", "taught", "cost")  # fmt: skip
    sums = {name: getattr(first, name) + getattr(second, name) for name in counts}
    return BatchReplies(
        **sums,
        errors=tuple(dict.fromkeys((*first.errors, *second.errors))),
        parcels=tuple(dict.fromkeys((*first.parcels, *second.parcels))),
    )

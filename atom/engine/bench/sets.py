"""Sets of judge benchmarks: brought in, made of probes, found again and deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.ledger import holder, run_claim
from atom.errors import UsageError
from atom.formats.base import ImportFile
from atom.formats.pictures import MemoryPictures, NoPictures, PictureFinder
from atom.formats.rows import NO_ROWS
from atom.judgebench.base import (
    LoadedItems,
    LoadOptions,
    Replies,
    without_picture_words,
)
from atom.judgebench.registry import find_bench
from atom.probes.bench.registry import make_bench_files
from atom.probes.worlds.make import ProbeSource, make_probes
from atom.records import (
    BenchItem,
    BenchSet,
    Run,
    Verdict,
)
from atom.store import Store, Writer
from atom.store import table as columns_of


@dataclass(frozen=True, kw_only=True)
class NewSet:
    """A set that was read and isn't kept yet.

    Args:
        record: what would be written of it.
        loaded: what came of its files.
    """

    record: BenchSet
    loaded: LoadedItems


def read_set(
    store: Store,
    benchmark: str,
    name: str,
    files: Sequence[ImportFile],
    *,
    columns: Mapping[str, str] | None = None,
    pictures: PictureFinder | None = None,
    limit: int | None = None,
    synthetic: bool = False,
    replace: bool = False,
    clock: Clock = utc_now,
) -> NewSet:
    """Read a benchmark's data and keep nothing.

    Args:
        store: the store; only looked at.
        benchmark: the benchmark's name.
        name: what the user calls this set; one of this name is refused, unless it is replaced.
        columns: our field's name → the file's column.
        pictures: finds pictures that rows name.
        limit: at most so many items.
        synthetic: whether it was made from probes.
        replace: it is to take the place of one of this name.
        clock: UTC time, for records.

    Returns:
        The set, ready to be kept.

    Raises:
        UsageError: there is no such benchmark, the name is taken, or no item could be read.
        DataError: a file can't be read.
    """
    bench = find_bench(benchmark)
    set_id = BenchSet.make_id(benchmark, name)
    if not name.strip():
        raise UsageError("the set needs a name")
    if not replace and store.get(BenchSet, set_id) is not None:
        raise UsageError(
            f"there is a {bench.title} set {name!r} already: choose another name, or delete it"
        )
    options = LoadOptions(
        set_id=set_id,
        columns=columns or {},
        pictures=pictures or NoPictures(),
        limit=limit,
    )
    loaded = bench.load(files, options)
    if not loaded.items:
        why = "; ".join(loaded.skipped[:3]) or NO_ROWS
        raise UsageError(f"no item of {bench.title} could be read: {why}")
    bare = sum(bench.lacks_picture(item) for item in loaded.items)
    notes = (*loaded.notes[:199], *((without_picture_words(bare),) if bare else ()))
    record = BenchSet(
        id=set_id,
        benchmark=benchmark,
        name=name,
        sources=tuple(file.name for file in files),
        created=stamp(clock()),
        n_items=len(loaded.items),
        synthetic=synthetic,
        skipped=loaded.skipped[:200],
        notes=notes,
    )
    return NewSet(record=record, loaded=loaded)


def keep_set(store: Store, new: NewSet) -> BenchSet:
    """Keep a set that was read, with its items and pictures.

    Raises:
        ReadOnlyError: the store is sealed.
    """
    return keep_sets(store, [new])[0]


def keep_sets(
    store: Store, made: Sequence[NewSet], *, replace: bool = False
) -> tuple[BenchSet, ...]:
    """Keep sets that were read, all of them or none, with their items and pictures.

    Args:
        replace: those of the same names go, with their verdicts and runs.

    Raises:
        ReadOnlyError: the store is sealed.
        UsageError: a run works on a set that is to go.
    """
    store.must_be_open("this store is sealed: name one of your own with --store")
    records = tuple(new.record for new in made)
    if replace:
        for record in records:
            _must_be_idle(store, record.id)
    for new in made:
        for picture in new.loaded.pictures:
            store.add_picture(picture.data, picture.name)
    with store.write() as writer:
        for new in made:
            if replace:
                _delete(writer, new.record.id)
            writer.put([new.record])
            writer.put(new.loaded.items)
    return records


def read_probe_set(
    store: Store,
    benchmark: str,
    n_items: int,
    seed: int = 0,
    *,
    name: str | None = None,
    draw: ProbeSource = make_probes,
    clock: Clock = utc_now,
) -> NewSet:
    """Make a benchmark's data from probes, in the files' published layout; keep nothing.

    Args:
        store: the store; only looked at.
        benchmark: the benchmark's name.
        n_items: how many items.
        name: the set's name; says what it is made of when None.
        draw: gives the probes; fresh ones as a rule.
        clock: UTC time, for records.

    Raises:
        UsageError: as `read_set` does.
    """
    if not 1 <= n_items <= 5000:
        raise UsageError(f"{n_items:,} probe items: 1 to 5,000 can be made")
    made = make_bench_files(benchmark, n_items, seed, draw)
    return read_set(
        store,
        benchmark,
        name or probe_set_name(n_items, seed),
        [ImportFile.from_bytes(file, data) for file, data in made.rows.items()],
        pictures=MemoryPictures(made.pictures),
        synthetic=True,
        clock=clock,
    )


def make_probe_set(
    store: Store,
    benchmark: str,
    n_items: int,
    seed: int = 0,
    *,
    name: str | None = None,
    draw: ProbeSource = make_probes,
    clock: Clock = utc_now,
) -> BenchSet:
    """Make a benchmark's data from probes and keep it; arguments and errors as of the two steps."""
    new = read_probe_set(store, benchmark, n_items, seed, name=name, draw=draw, clock=clock)
    return keep_set(store, new)


def probe_set_name(n_items: int, seed: int) -> str:
    """Name a set of probes by what it is made of: the same name is the same data."""
    return f"Probes {seed} ({n_items:,} items)"


def import_replies(store: Store, set_id: str, files: Sequence[ImportFile], judge: str) -> Replies:
    """Take in a judge's replies that were made elsewhere; they are scored without a call.

    Args:
        set_id: the set that they answer.
        judge: the judge's name.

    Raises:
        UsageError: there is no such set, or none of the replies belongs to it.
        DataError: a file can't be read.
    """
    record = find_set(store, set_id)
    if not judge.strip():
        raise UsageError("say whose replies these are")
    replies = find_bench(record.benchmark).read_replies(files, items_of(store, set_id), judge)
    if not replies.verdicts:
        why = "; ".join(replies.skipped[:3]) or NO_ROWS
        raise UsageError(f"none of the replies belongs to the set {record.name!r}: {why}")
    store.replace(replies.verdicts)
    return replies


def find_set(store: Store, wanted: str) -> BenchSet:
    """Return a set by its id or name.

    Raises:
        UsageError: there is none, or several benchmarks have one of this name.
    """
    rows = store.select(BenchSet)
    found = [row for row in rows if row.id == wanted] or [r for r in rows if r.name == wanted]
    if len(found) > 1:
        raise UsageError(f"{len(found):,} sets are called {wanted!r}: name one by its id")
    if not found:
        names = ", ".join(sorted(f"{row.name!r}" for row in rows)) or "there are none yet"
        raise UsageError(f"there is no set {wanted!r}; {names}")
    return found[0]


def items_of(store: Store, set_id: str) -> list[BenchItem]:
    """Return a set's items in their order."""
    rows = store.select(BenchItem, columns_of(BenchItem).c.set_id == set_id)
    return sorted(rows, key=lambda item: item.position)


def delete_set(store: Store, set_id: str) -> None:
    """Delete a set with its verdicts and runs; pictures and calls stay, others may use them.

    Raises:
        UsageError: a run works on it.
    """
    _must_be_idle(store, set_id)
    with store.write() as writer:
        _delete(writer, set_id)


def _must_be_idle(store: Store, set_id: str) -> None:
    for run in store.select(Run, columns_of(Run).c.study_id == set_id):
        if holder(store, run_claim(run.id)) is not None:
            raise UsageError(
                f"run {run.id!r} works on this set: stop it first, with `run stop {run.id}`"
            )


def _delete(writer: Writer, set_id: str) -> None:
    writer.delete(Verdict, columns_of(Verdict).c.group == set_id)
    writer.delete(BenchItem, columns_of(BenchItem).c.set_id == set_id)
    writer.delete(Run, columns_of(Run).c.study_id == set_id)
    writer.delete(BenchSet, columns_of(BenchSet).c.id == set_id)

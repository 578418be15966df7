"""Makes a large study ready: parts in files, then the sums of every single filter, on all cores.

Reference: design/079-large-studies-made-ready.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from atom.errors import HeldError, StoreError
from atom.files import alone_in, new_folder, write_file
from atom.store import Store, find_study
from atom.views.columns import StudyColumns
from atom.views.filters import Filters, roots_of
from atom.views.fingerprints.claims import claims
from atom.views.fingerprints.shape import shape
from atom.views.overview.node_means import node_means, whole_means
from atom.views.overview.page import MOST_VALUES, overview
from atom.views.prepared.kept import KeptSums
from atom.views.prepared.places import write_placed
from atom.views.prepared.ready import (
    MANIFEST,
    PLACES,
    SUFFIX,
    SUMS,
    WHOLE,
    PreparedStudy,
    code_of_sums,
    part_file,
    parts_here,
    tidy,
)
from atom.views.shards import InProcesses, cores, cut, head_of, leading, parts_of
from atom.views.snapshot import depends_on, open_whole, read_snapshot, snapshot_name, write_snapshot
from atom.views.study_data import Shards, StudyData, chosen_judge
from atom.views.tree.node_table import placed

MOST_FILTERS = 200
"""Single filters whose sums are made beforehand; those after them are added up when chosen."""
OnStage = Callable[[str], None]


def prepare(
    store: Store,
    study_id: str,
    judge_id: str | None = None,
    *,
    folder: Path,
    processes: int | None = None,
    tell: OnStage = lambda words: None,
) -> PreparedStudy:
    """Make a study ready as it stands now; whoever is killed meanwhile leaves what was there.

    Args:
        study_id: its id or name.
        judge_id: whose marks; the study's own judge's when None or unknown.
        folder: where snapshots lie.
        processes: how many work at it; one a core when None.

    Returns:
        What was made; the last one where nothing came since.

    Raises:
        HeldError: another process makes something ready there.
        StoreError: it can't be written, or the study has no marks or answers yet.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        told = error.strerror or error
        raise StoreError(f"{str(folder)!r} can't be made ({told}): make room there") from error
    with alone_in(folder) as alone:
        if not alone:
            raise HeldError("a study is being made ready already: try again when that is done")
        return _prepare(store, study_id, judge_id, folder, processes or cores(), tell)


def _prepare(
    store: Store, study_id: str, judge_id: str | None, folder: Path, processes: int, tell: OnStage
) -> PreparedStudy:
    study = find_study(store, study_id)
    judge = chosen_judge(store, study, judge_id)
    made, begun = time.time(), time.monotonic()
    before = store.mark(study.id)
    tell("reading the study")
    data = open_whole(store, study.id, judge, folder=folder)
    name, revision = snapshot_name(store, study, judge)
    snapshot = folder / name
    if data.revision != revision or not snapshot.is_file():
        # A run brought more while it was read: what was read is whole, and has no file.
        snapshot = snapshot.with_name(f"{snapshot.stem}-{data.revision}{snapshot.suffix}")
    rows = len(data.table.score)
    if not rows and not len(data.table.sample):
        raise StoreError(f"{study.name!r} has nothing to add up yet: judge it first")
    place = folder / f"{snapshot.stem}-{code_of_sums()}{SUFFIX}"
    ready = PreparedStudy(
        place=place, made=made, changes=before.changes, results=data.revision - before.changes,
        seconds=0.0, parts=parts_of(rows), judge=judge, depends=tuple(depends_on(study)),
    )  # fmt: skip
    if not place.exists():
        with new_folder(place) as part:
            _write(part, data, ready.parts, processes, tell)
            if data.tree is not None:
                tell("reading where criteria hang")
                write_placed(part / PLACES, placed(store, data))
            ready = replace(ready, seconds=time.monotonic() - begun)
            write_file(part / MANIFEST, ready.text())
    tidy(store, study, judge, folder, ready)
    return ready


def _write(part: Path, data: StudyData, of: int, processes: int, tell: OnStage) -> None:
    """Fill a folder: the whole, its parts, the sums."""
    whole = part / WHOLE
    columns = StudyColumns(
        table=data.table, pending=data.pending, votes=data.votes, scale=data.scale,
        judge_ids=tuple(one.id for one in data.judges), left_out=data.left_out,
    )  # fmt: skip
    if not write_snapshot(whole, columns):
        raise StoreError(f"{str(part.parent)!r} can't be written: make room on its disk")
    tell(f"cutting {len(data.table.score):,} checkpoints into parts")
    n = min(processes, of)
    lots = [range(at, of, n) for at in range(n)]
    if n == 1:
        _cut(whole, of, lots[0])
    else:
        with ProcessPoolExecutor(n, mp_context=get_context("spawn")) as pool:
            list(pool.map(_cut, [whole] * n, [of] * n, lots))
    files = [part_file(part, at) for at in range(of)]
    with _opened(head_of(data), files, n) as shards:
        kept = KeptSums(parts=shards, folder=part / SUMS, writes=True)
        add_up(replace(head_of(data), pending=data.pending, shards=kept), tell)


@contextmanager
def _opened(head: StudyData, files: list[Path], processes: int) -> Iterator[Shards]:
    """Open parts: in processes of their own, or here where one process is enough."""
    if processes == 1:
        yield parts_here(head, files)
        return
    shards = InProcesses(head, files, processes)
    try:
        yield shards
    finally:
        shards.close()


def _cut(whole: Path, of: int, numbers: range) -> None:
    """Write some of a study's parts, in a process of its own.

    Raises:
        StoreError: one can't be written.
    """
    columns = read_snapshot(whole)
    if columns is None:
        raise StoreError(f"{str(whole)!r} was changed while parts were cut from it")
    part = leading(columns.table.cluster, of)
    for number, one in zip(numbers, cut(columns, part, of, numbers), strict=True):
        if not write_snapshot(part_file(whole.parent, number), one):
            raise StoreError(f"{str(whole.parent)!r} can't be written: make room on its disk")


def add_up(data: StudyData, tell: OnStage = lambda words: None) -> None:
    """Have all sums made that Overview, Tree and Fingerprints need, with no filter or a single one.

    Args:
        data: the study, in parts that keep their sums.
    """
    chosen = list(singles(data))
    for number, filters in enumerate(chosen):
        tell(f"adding up {number + 1:,} of {len(chosen):,} filters")
        overview(data, filters)
        if data.has_process and data.table.leaves:
            node_means(data, filters)
            whole_means(data, filters)
        claims(data, shape(data, filters))
        data.forget()


def singles(data: StudyData) -> Iterator[Filters]:
    """Return what a reader chooses with one step: no filter, a root, right or wrong, a label."""
    found = [Filters()]
    found += [Filters(root=root) for root in roots_of(data)]
    found += [Filters(outcome=one) for one in ("right", "wrong")] if data.has_outcome else []
    if data.has_process:
        found += [Filters(process=one) for one in ("sound", "flawed")]
        found += [Filters(reading="said"), Filters(terse="yes"), Filters(terse="no")]
    found += [Filters(shared=True)]
    for name, facet in data.table.facets.items():
        if len(facet.values) <= MOST_VALUES:
            found += [Filters(tags=((name, value),)) for value in facet.values]
    yield from found[:MOST_FILTERS]

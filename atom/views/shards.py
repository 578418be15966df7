"""A large study as parts: no cluster is in two of them, so that their sums add up.

A part is columns like the whole's, and kept in the same kind of file. What collects sums goes over
all parts at the same time: on threads where they lie in memory (numpy lets the others go on), in
processes where each has files of its own.

Reference: design/063-sums-that-add-up.md.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Ints
from atom.analysis.merged import Additive
from atom.analysis.score_table import Facet, ScoreTable
from atom.views.columns import StudyColumns
from atom.views.lab.preferences import Preferences
from atom.views.study_data import Shards, StudyData

S = TypeVar("S", bound=Additive)
LARGE = 2_000_000
"""Checkpoints from which on a study is looked at in parts."""
EACH = 400_000
"""Checkpoints of such a part: few enough to stay near the processor between two steps, enough that
what a part costs by itself, however small, doesn't show."""
_VOTES = ("first", "verdict", "strength", "judge", "repeat")


def leading(cluster: NDArray[np.integer], of: int) -> Ints:
    """Return the part of each cluster number: its leading bits, so that neighbours stay together.

    Args:
        cluster: cluster numbers of samples, shape (S,).
        of: how many parts there are.
    """
    return cluster.astype(np.int64) * of // (int(cluster.max(initial=-1)) + 1 or 1)


def cut(
    columns: StudyColumns, part: Ints, of: int, numbers: Iterable[int] | None = None
) -> Iterator[StudyColumns]:
    """Cut columns into parts.

    Args:
        part: the part of each sample, shape (S,); samples of a cluster are in one.
        of: how many parts there are; one without samples is a part, too.
        numbers: the parts that are wanted; all when None.
    """
    whole = columns.table
    present = whole.n_present or len(np.unique(whole.model[whole.counts]))
    for number in range(of) if numbers is None else numbers:
        table, answer = _rows_of(whole, part == number)
        yield replace(
            columns,
            table=replace(table, n_present=present),
            votes=None if columns.votes is None else _votes_of(columns.votes, answer),
        )


def _rows_of(whole: ScoreTable, samples: NDArray[np.bool_]) -> tuple[ScoreTable, Ints]:
    """Return the rows of some samples, numbered anew; and each answer's new number, -1 = none."""
    answers = samples[whole.sample]
    rows = whole.of_answers(answers)
    sample, answer = _numbers(samples), _numbers(answers)
    aside = whole.aside[:, answers[whole.aside[0]]]
    used = np.zeros(len(whole.criterion_ids), dtype=np.bool_)
    used[whole.criterion[rows]] = True
    used[aside[1]] = True
    criterion = _numbers(used)
    _, cluster = np.unique(whole.cluster[samples], return_inverse=True)
    both = used[whole.parents].all(axis=0)
    facets = {}
    for name, facet in whole.facets.items():
        mine = answers[facet.response]
        facets[name] = Facet(values=facet.values, value=facet.value[mine],
                             response=answer[facet.response[mine]].astype(np.int32))  # fmt: skip
    table = replace(
        whole,
        response=answer[whole.response[rows]].astype(np.int32),
        criterion=criterion[whole.criterion[rows]].astype(np.int32),
        **{name: getattr(whole, name)[rows]
           for name in ("leaf", "weight", "position", "score", "addressed", "carried", "scale")},
        sample=sample[whole.sample[answers]].astype(np.int32),
        **{name: getattr(whole, name)[answers]
           for name in ("model", "repeat", "outcome", "answered", "cause")},
        preference=None if whole.preference is None else whole.preference[answers],
        apart=None if whole.apart is None else whole.apart[rows],
        disagreement=None if whole.disagreement is None else whole.disagreement[rows],
        cluster=cluster.astype(np.int32),
        **{name: getattr(whole, name)[samples] for name in ("quarantined", "chained")},
        penalty=whole.penalty[used],
        gate=whole.gate[used],
        parents=criterion[whole.parents[:, both]].astype(np.int32),
        aside=np.stack([answer[aside[0]], criterion[aside[1]], aside[2]]).astype(np.int32),
        sample_ids=_picked(whole.sample_ids, samples),
        response_ids=_picked(whole.response_ids, answers),
        criterion_ids=_picked(whole.criterion_ids, used),
        facets=facets,
    )  # fmt: skip
    return table, answer


def _numbers(mask: NDArray[np.bool_]) -> Ints:
    """Number what a mask keeps; -1 elsewhere."""
    return np.where(mask, np.cumsum(mask) - 1, -1)


def _picked(names: tuple[str, ...], mask: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(names[at] for at in np.flatnonzero(mask).tolist())


def _votes_of(votes: Preferences, answer: Ints) -> Preferences:
    mine = (answer[votes.a] >= 0) & (answer[votes.b] >= 0)
    return replace(
        votes,
        a=answer[votes.a[mine]].astype(votes.a.dtype),
        b=answer[votes.b[mine]].astype(votes.b.dtype),
        **{name: getattr(votes, name)[mine] for name in _VOTES},
    )


def part_of(data: StudyData, columns: StudyColumns) -> StudyData:
    """Return a part as a study of its own, which only sums are collected of."""
    return replace(
        data,
        table=columns.table,
        votes=columns.votes,
        pending=0,
        sample_position={},
        early=None,
        shards=None,
    )


@dataclass(frozen=True, kw_only=True)
class InThreads(Shards):
    """Parts that lie in memory."""

    parts: tuple[StudyData, ...]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(min(len(self.parts), cores()), "atom-part")

    def collect(self, collect: Callable[..., S], given: tuple[Any, ...]) -> Iterator[S]:
        """Return `collect(part, *given)` of every part, in the parts' order."""
        return self._pool.map(lambda part: collect(part, *given), self.parts)

    def forget(self) -> None:
        """Forget what was computed for single filters, as if none had been used yet."""
        for part in self.parts:
            part.table.forget()


def spread(data: StudyData) -> StudyData:
    """Return a study as it is looked at: a large one in parts, small enough for a cache.

    Args:
        data: the study, with all its rows.
    """
    rows = len(data.table.score)
    return replace(data, shards=None) if rows < LARGE else in_threads(data, parts_of(rows))


def parts_of(rows: int) -> int:
    """Return into how many parts a study of so many checkpoints is cut."""
    return max(1, -(-rows // EACH))


def in_threads(data: StudyData, of: int) -> StudyData:
    """Return a study whose sums are collected of its parts, on all cores.

    Args:
        data: the study, with all its rows.
        of: how many parts there are.
    """
    columns = StudyColumns(table=data.table, pending=0, judge_ids=(), votes=data.votes)
    part = leading(data.table.cluster, of)
    parts = tuple(part_of(data, one) for one in cut(columns, part, of))
    return replace(data, shards=InThreads(parts=parts))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class InProcesses(Shards):
    """Parts in files: each process holds the same ones from pass to pass.

    Args:
        head: what the parts share: records, names, no rows.
        files: one a part, as `write_snapshot` writes them.
        processes: how many work at the same time; one a core when None.
    """

    def __init__(
        self, head: StudyData, files: Sequence[Path], processes: int | None = None
    ) -> None:
        self._files = tuple(files)
        context = get_context("spawn")
        n = max(1, min(processes or cores(), len(self._files)))
        self._pools: list[Executor] = [
            ProcessPoolExecutor(1, mp_context=context, initializer=_sit, initargs=(head,))
            for _ in range(n)
        ]

    def collect(self, collect: Callable[..., S], given: tuple[Any, ...]) -> Iterator[S]:
        """Return `collect(part, *given)` of every part, in the parts' order."""
        pools = self._pools
        asked = [
            pools[at % len(pools)].submit(_collect, str(file), collect, given)
            for at, file in enumerate(self._files)
        ]
        return (one.result() for one in asked)

    def forget(self) -> None:
        """Forget what was computed for single filters, as if none had been used yet."""
        for at, file in enumerate(self._files):
            self._pools[at % len(self._pools)].submit(_forget, str(file)).result()

    def used(self) -> list[ProcessUse]:
        """Return what each process has used."""
        return [pool.submit(_used).result() for pool in self._pools]

    def close(self) -> None:
        """End the processes."""
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True, kw_only=True)
class ProcessUse:
    """What a process has used: processor seconds, and bytes of memory at most."""

    seconds: float
    resident: int


def _used() -> ProcessUse:
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return ProcessUse(seconds=time.process_time(), resident=1024 * most)


_head: list[StudyData] = []
_held: dict[str, StudyData] = {}


def _sit(head: StudyData) -> None:
    _head[:] = [head]


def _collect(file: str, collect: Callable[..., S], given: tuple[Any, ...]) -> S:
    """Collect a part's sums, in the process that holds it."""
    from atom.views.snapshot import read_snapshot

    if file not in _held:
        columns = read_snapshot(Path(file))
        if columns is None:
            raise FileNotFoundError(f"the part {Path(file).name} isn't there any more")
        _held[file] = part_of(_head[0], columns)
    return collect(_held[file], *given)


def _forget(file: str) -> None:
    if file in _held:
        _held[file].table.forget()


def head_of(data: StudyData) -> StudyData:
    """Return what the parts of a study share: its records and names, without rows."""
    columns = StudyColumns(table=data.table, pending=0, judge_ids=(), votes=None)
    nobody = np.ones(len(data.table.sample_ids), dtype=np.int64)
    return part_of(data, next(cut(columns, nobody, 1)))

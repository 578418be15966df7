"""Hard pairs as sets of the Judge lab, read by the same loaders as anybody's files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from atom.engine.bench.sets import keep_sets, read_set
from atom.engine.clock import Clock, utc_now
from atom.formats.base import ImportFile
from atom.formats.pictures import MemoryPictures
from atom.judgebench.multi_crit.benchmark import BENCH as MULTI_CRIT
from atom.judgebench.vl_rewardbench.data import NAME as VL_REWARDBENCH
from atom.records import BenchSet, Run, Study
from atom.store import Store

BENCHES: Mapping[str, str] = {"vl_rewardbench": VL_REWARDBENCH, "multi_crit": MULTI_CRIT.name}
"""File's stem -> whose layout it has."""


def set_name(study: Study, run: Run) -> str:
    """Name the sets of a run's hard pairs."""
    return f"Hard pairs of {study.name} ({run.id[:6]})"


def keep_pairs(
    store: Store,
    study: Study,
    run: Run,
    texts: Mapping[str, str],
    pictures: Mapping[str, bytes],
    *,
    clock: Clock = utc_now,
) -> tuple[BenchSet, ...]:
    """Keep a run's hard pairs as sets, all or none, in place of those that it gave before.

    Args:
        texts: the files, by name.
        pictures: by name.
        clock: gives the time that the sets show.

    Raises:
        UsageError: a run works on such a set, or nothing could be read.
        ReadOnlyError: the store is sealed.
    """
    name = set_name(study, run)
    benches = {file: BENCHES.get(PurePosixPath(file).stem) for file in texts}
    made = [
        read_set(
            store, bench, name, [ImportFile.from_bytes(file, texts[file].encode())],
            columns={"category": "category"} if bench == VL_REWARDBENCH else {},
            pictures=MemoryPictures(pictures), synthetic=study.synthetic, replace=True,
            clock=clock,
        )
        for file, bench in benches.items() if bench is not None
    ]  # fmt: skip
    return keep_sets(store, made, replace=True)

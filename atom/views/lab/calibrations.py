"""A judge's calibration, read from what it said of probes whose truth is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from atom.analysis.agreement.calibration import NAME, Calibration, Truths, calibrate, truths_of
from atom.records import BenchItem, Verdict
from atom.store import Store
from atom.store.verdicts import items_of, sets_of, verdicts_by
from taxonomy import Path


@dataclass(frozen=True, kw_only=True)
class CalibratedJudge:
    """A judge's calibration, and what it was made of.

    Attributes:
        view: the judge against the truth.
        answers: answers that it scored.
        probes: probes that they answer.
        unread: answers whose scores couldn't be read, or whose call failed.
    """

    view: Calibration
    answers: int
    probes: int
    unread: int


def calibration_of(stores: Iterable[Store], judge_id: str | None) -> CalibratedJudge | None:
    """Hold what a judge said of probes against the truth; None where it was never asked.

    Args:
        stores: where its verdicts may be: the study's store, and the user's own.
    """
    if judge_id is None:
        return None
    items: list[BenchItem] = []
    verdicts: list[Verdict] = []
    for store in {store.url: store for store in stores}.values():
        sets = [row.id for row in sets_of(store, NAME)]
        found = verdicts_by(store, sets, judge_id)
        items += items_of(store, {row.group for row in found})
        verdicts += found
    if not verdicts:
        return None
    truths = truths_of(items, verdicts)
    return CalibratedJudge(
        view=_calibrated(
            truths.leaves,
            *(one.tobytes() for one in (truths.truth, truths.said, truths.leaf, truths.cluster)),
        ),
        answers=len(verdicts),
        probes=int(truths.cluster.max(initial=-1)) + 1,
        unread=sum(row.state != "scored" for row in verdicts),
    )


@lru_cache(maxsize=8)
def _calibrated(leaves: tuple[Path, ...], *columns: bytes) -> Calibration:
    """Calibrate once for equal scores: a store's revision changes for much else."""
    truth, said, leaf, cluster = (np.frombuffer(one, dtype=np.int64) for one in columns)
    return calibrate(Truths(truth=truth, said=said, leaf=leaf, cluster=cluster, leaves=leaves))

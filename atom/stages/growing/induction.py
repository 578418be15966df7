"""Induction: which criteria a tree is grown from, and in what portions they are shown.

The two questions that the judge is asked on the way are in `propose` and `same`.

Reference: ATOM 3.2, E.1 (a balanced subset of about 260 samples, uniform over the sources).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from atom.records import Criterion, Sample

SUBSET: Final = 260
BATCH: Final = 20
"""Criteria shown at a time, about; a sample is never split."""
WAVE: Final = 8
"""Batches at most that are shown the same tree."""


@dataclass(frozen=True, kw_only=True)
class SampleCriteria:
    """A sample with the criteria that were cut from its solution, in order.

    Args:
        criteria: its criteria, at least one.
    """

    sample: Sample
    criteria: tuple[Criterion, ...]


def balanced_subset(
    cuts: Sequence[SampleCriteria], source_of: Mapping[str, str], size: int | None, seed: int
) -> tuple[SampleCriteria, ...]:
    """Choose samples evenly over the sources, in a shuffled order.

    Args:
        cuts: the study's samples with their criteria.
        source_of: sample id -> source; a sample that isn't in it counts to its data set.
        size: samples to choose at most; all when None.
        seed: another seed chooses others, in another order.

    Returns:
        The subset. Sources take turns, so each gives as many as the others or all that it has;
        the order within a source is drawn, and so is the order of the result.
    """
    draw = random.Random(f"subset/{seed}")
    by_source: dict[str, list[SampleCriteria]] = {}
    for cut in sorted(cuts, key=lambda cut: cut.sample.id):
        source = source_of.get(cut.sample.id, cut.sample.dataset)
        by_source.setdefault(source, []).append(cut)
    queues = [by_source[source] for source in sorted(by_source)]
    for queue in queues:
        draw.shuffle(queue)
    chosen: list[SampleCriteria] = []
    turn = 0
    while any(queues) and (size is None or len(chosen) < size):
        queue = queues[turn % len(queues)]
        if queue:
            chosen.append(queue.pop())
        turn += 1
    draw.shuffle(chosen)
    return tuple(chosen)


def batches(cuts: Sequence[SampleCriteria], size: int = BATCH) -> list[tuple[SampleCriteria, ...]]:
    """Divide samples, in order, into batches of about `size` criteria."""
    out: list[tuple[SampleCriteria, ...]] = []
    batch: list[SampleCriteria] = []
    count = 0
    for cut in cuts:
        if batch and count + len(cut.criteria) > size:
            out.append(tuple(batch))
            batch, count = [], 0
        batch.append(cut)
        count += len(cut.criteria)
    return [*out, tuple(batch)] if batch else out


def waves(
    items: Sequence[tuple[SampleCriteria, ...]], width: int = WAVE
) -> list[list[tuple[SampleCriteria, ...]]]:
    """Divide batches into waves of 1, 2, 4, ... at most `width`, each asked at once.

    While the tree is small every batch would add the same abilities under other names, so the
    first ones go one after the other.
    """
    out = []
    at, now = 0, 1
    while at < len(items):
        out.append(list(items[at : at + now]))
        at += now
        now = min(width, 2 * now)
    return out

"""How marks are read: what was said, what is carried, what an answer may be blamed for.

An answer that is silent on a step is not an answer that is wrong on it, and a step that is wrong
only because an earlier one was says nothing about its own capability. So the same marks make a
*strict* mean (over all steps) and one *of what was said*; claims about a capability rest on steps
that are said and its own.

Reference: METHODS T1 (silence, the two readings, terse answers), T2 (errors carried forward).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats
from atom.analysis.score_table import FAILED_SCORE as FAILED_SCORE
from atom.analysis.score_table import ScoreTable

Mask = NDArray[np.bool_]
Reading = Literal["strict", "said"]
"""`strict`: over all steps. `said`: over the steps that an answer says something about."""
HEAVY = 2
"""From this weight on a failed step makes a process flawed."""
ENOUGH_SAID = 0.5
"""An answer is terse, and a node too silent, where less than this share is addressed."""


def scored_rows(table: ScoreTable) -> Mask:
    """Say which checkpoints have a score, shape (N,)."""
    return np.asarray(table.score > 0)


def failed_rows(table: ScoreTable) -> Mask:
    """Say which checkpoints an answer takes a stand on and fails, shape (N,); carried or not."""
    return table.fails & table.addressed


def mean_rows(table: ScoreTable, reading: Reading = "strict") -> Mask:
    """Say which checkpoints a capability's mean is made of, shape (N,).

    Carried steps leave it: they count in the answer's own score.

    Reference:
        METHODS T1, T2a.
    """
    own = ~table.carried
    return own & table.addressed if reading == "said" else own


def claim_rows(table: ScoreTable, *, peers: bool = True) -> Mask:
    """Say which checkpoints claims about capabilities rest on, shape (N,).

    They are addressed and not carried. Where the judge wasn't asked what is carried, only what an
    answer reached counts: no step that this one rests on is addressed and failed. That needs peers:
    their scores on the same criteria say how hard a question is, while without them the steps that
    are reached lie in easier questions, and the first steps of all chains would look weak.

    Args:
        peers: whether claims hold a model against its peers.

    Reference:
        METHODS T1, T2 (a), (b).
    """
    said = mean_rows(table, "said")
    return said if table.carried_known or not peers else said & reached_rows(table)


def reached_rows(table: ScoreTable) -> Mask:
    """Say which checkpoints rest on no failed step of their answer, shape (N,).

    A step rests on those that it was declared to rest on; else, in a sample whose criteria are the
    steps of one solution, on all that come before it. A checklist's rest on nothing.

    Reference:
        METHODS T2b.
    """
    failed = failed_rows(table)
    sample = table.sample[table.response]
    declared = _declared(table)
    chained = table.chained[sample] & ~declared[sample]
    never = np.iinfo(np.int16).max
    first = np.full(len(table.sample), never, dtype=np.int16)
    breaking = failed & chained
    np.minimum.at(first, table.response[breaking], table.position[breaking].astype(np.int16))
    reached = ~chained | (table.position <= first[table.response])
    if table.parents.shape[1]:
        reached &= ~_below_failed(table, failed)
    return np.asarray(reached)


def _declared(table: ScoreTable) -> Mask:
    """Say which samples say themselves what their criteria rest on, shape (S,)."""
    declared = np.zeros(len(table.sample_ids), dtype=np.bool_)
    if table.parents.shape[1]:
        says = np.zeros(len(table.criterion_ids), dtype=np.bool_)
        says[table.parents.reshape(-1)] = True
        declared[table.sample[table.response[says[table.criterion]]]] = True
    return declared


def _below_failed(table: ScoreTable, failed: Mask) -> Mask:
    """Say which checkpoints have a declared parent that their answer fails, shape (N,)."""
    size = len(table.criterion_ids)
    key = table.response.astype(np.int64) * size + table.criterion
    broken = key[failed]
    found = np.zeros(len(key), dtype=np.bool_)
    child, parent = table.parents.astype(np.int64)
    order = np.argsort(child, kind="stable")
    child, parent = child[order], parent[order]
    start = np.searchsorted(child, table.criterion)
    count = np.searchsorted(child, table.criterion, side="right") - start
    for nth in range(int(count.max(initial=0))):
        has = np.flatnonzero(count > nth)
        above = parent[start[has] + nth]
        found[has] |= np.isin(table.response[has].astype(np.int64) * size + above, broken)
    return found


@dataclass(frozen=True, kw_only=True)
class Processes:
    """How the process of each answer stands, arrays of shape (R,).

    An answer is in at most one of the three; in none where nothing is scored.

    Attributes:
        said: share of the weight of its scored steps that the answer addresses; NaN without any.
        terse: less than half of it is addressed: counted, and accused of nothing.
        flawed: not terse, and a step of weight 2 or more, addressed and not carried, fails.
        sound: neither.
    """

    said: Floats
    terse: Mask
    flawed: Mask
    sound: Mask

    @property
    def told(self) -> Mask:
        """Whether there is a process to speak of: scored, and not terse."""
        return self.flawed | self.sound


def processes(table: ScoreTable) -> Processes:
    """Say of each answer whether its process holds.

    Reference:
        METHODS T1 (terse; right answer, wrong reason).
    """
    scored = scored_rows(table)
    weight = np.where(scored, table.weight, table.weight.dtype.type(0))
    if table.whole_weights:
        weight = weight.astype(np.int16)
    total = table.answer_masses(weight)
    addressed = table.answer_masses(np.where(table.addressed, weight, weight.dtype.type(0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        said = addressed / total
    failed = failed_rows(table) & ~table.carried & (table.weight >= HEAVY)
    there = total > 0
    terse = there & (said < ENOUGH_SAID)
    flawed = there & ~terse & (table.answer_sums(failed) > 0)
    return Processes(said=said, terse=terse, flawed=flawed, sound=there & ~terse & ~flawed)

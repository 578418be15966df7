"""What each method's calls took."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atom.store import Store
from atom.store.reading.calls import paid_for


@dataclass(frozen=True, kw_only=True)
class MethodCost:
    """What a method's calls took.

    Attributes:
        calls: calls, each once however many verdicts rest on it.
        tokens_in: tokens sent; None where the server told none.
        tokens_out: tokens received.
        usd: cost; None where a price is unknown.
        samples: samples that were asked about.
    """

    calls: int
    tokens_in: int | None
    tokens_out: int | None
    usd: float | None
    samples: int

    @property
    def calls_each(self) -> float:
        """Calls a sample."""
        return self.calls / self.samples if self.samples else math.nan

    @property
    def usd_each(self) -> float | None:
        """USD a sample."""
        return None if self.usd is None or not self.samples else self.usd / self.samples


def costs_of(
    store: Store, calls: Mapping[str, Mapping[str, frozenset[str]]], shared: frozenset[str]
) -> dict[str, MethodCost]:
    """Add up what each method's calls took, over the shared samples where there are any."""
    wanted = {
        name: {sample: ids for sample, ids in mine.items() if sample in shared or not shared}
        for name, mine in calls.items()
    }
    every = sorted({call for mine in wanted.values() for ids in mine.values() for call in ids})
    took = paid_for(store, every)
    found = {}
    for name, mine in wanted.items():
        ids = {call for each in mine.values() for call in each if call in took}
        found[name] = MethodCost(
            calls=len(ids),
            tokens_in=_added([took[call].usage.prompt_tokens for call in ids]),
            tokens_out=_added([took[call].usage.completion_tokens for call in ids]),
            usd=_added_cost([took[call].cost for call in ids]),
            samples=len(mine),
        )
    return found


def _added(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _added_cost(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if len(known) == len(values) else None

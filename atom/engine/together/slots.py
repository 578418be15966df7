"""Calls at once at an endpoint, over all processes on a store: what this one may use of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from atom.judge.limiter import Limiter
from atom.store.together.quotas import SlotsAsked

SLOT_LEASE = 15.0
"""Seconds that calls at once stay a process's without a sign of life."""
MARGIN = 2.0
"""Seconds before others may take them within which it begins none."""


@dataclass(kw_only=True)
class Slots:
    """A process's part of its endpoints' places and rates; none is used before one is granted.

    Args:
        limiters: those of the endpoints, by name.
        ceilings: calls at once that each endpoint allows, over all processes.
    """

    limiters: Mapping[str, Limiter]
    ceilings: Mapping[str, int]
    _until: dict[str, float] = field(default_factory=dict)

    def ask(self) -> list[SlotsAsked]:
        """Say what is wanted, and what is used until more is known."""
        asked = []
        for name, limiter in self.limiters.items():
            ceiling = limiter.ceiling if name in self._until else 0
            self._until[name] = limiter.clock() + SLOT_LEASE - MARGIN
            asked.append(
                SlotsAsked(
                    endpoint=name,
                    ceiling=self.ceilings[name],
                    wants=limiter.wanted,
                    in_force=max(ceiling, limiter.in_flight),
                )
            )
        return asked

    def take(self, granted: Mapping[str, int]) -> None:
        """Use what was granted to what was asked last."""
        for name, slots in granted.items():
            self.limiters[name].share(slots, self.ceilings[name], self._until[name])

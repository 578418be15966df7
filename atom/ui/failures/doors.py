"""Addresses inside a sample that is laid open."""

from __future__ import annotations

from atom.ui.failures.listing import to
from atom.ui.shell.frame import Here
from atom.views.failures.sample import SampleView


class SampleDoors:
    """Addresses inside a case: another criterion, another candidate's answer.

    Reading another candidate's answer leaves the chain, and with it the list, as it is.
    """

    def __init__(self, here: Here, view: SampleView) -> None:
        """Keep what the addresses have in common."""
        criterion = view.criterion.criterion.id if view.criterion else None
        self._filters = here.filters.but(sample=view.sample.id, criterion=criterion)
        self._by = here.query.get("by")
        self._at = here.query.get("at")
        self._vs = here.query.get("vs")

    def criterion(self, identity: str) -> str:
        """Return the address of another criterion."""
        return to(self._filters.but(criterion=identity), by=self._by, at=self._at, vs=self._vs)

    def beside(self, key: str) -> str:
        """Return the address that sets another answer beside this one."""
        return to(self._filters, by=self._by, at=self._at, vs=key)

    def answer(self, candidate: str, criterion: str | None = None) -> str:
        """Return the address of another candidate's answer."""
        filters = self._filters.but(criterion=criterion) if criterion else self._filters
        return to(filters, by=candidate, at=self._at, vs=self._vs)

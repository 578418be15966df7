"""Addresses on the Self-correction page that keep the chosen experiment, and its tabs."""

from __future__ import annotations

from dataclasses import dataclass

from atom.ui import kit, links
from atom.ui.html import Html
from atom.ui.pages import CORRECTION
from atom.views.correction.cases import CaseQuery, write_query
from atom.views.filters import Filters


@dataclass(frozen=True, kw_only=True)
class ExperimentDoors:
    """Addresses on this page that keep the chosen experiment.

    Attributes:
        filters: the chain.
        experiment: the chosen experiment's id.
        tries: the chosen round, where it isn't the last.
    """

    filters: Filters
    experiment: str | None
    tries: str | None = None

    def tab(self, name: str | None, **local: str | None) -> str:
        """Return the address of a part of the page."""
        base = self.filters.but(sample=None, criterion=None)
        keys = {"experiment": self.experiment, "round": self.tries, "tab": name, **local}
        return links.address(CORRECTION.url_path, base, **keys)

    def cases(self, query: CaseQuery) -> str:
        """Return the address of the answers behind a number."""
        return self.tab("cases", **write_query(query))


def opening(number: int, href: str, what: str) -> Html:
    """Write a number that opens its answers."""
    return kit.counted(number, href, aria_label=what)

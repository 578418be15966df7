"""A panel: further judges mark the answers that are there, all of them or a random part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atom.engine.forecast import Forecast, forecast
from atom.engine.study.spec import RunSpec
from atom.errors import UsageError
from atom.records import Endpoint, total_cost
from atom.store import Store


@dataclass(frozen=True, kw_only=True)
class PanelSpec:
    """What further judges are asked.

    Args:
        study_id: the study whose answers they mark, at the criteria that it has.
        judges: endpoint names; each judge marks in a run of its own.
        samples: how many samples, drawn at random, the same ones for all; None = all.
        budget: spend cap in USD, of each judge.
    """

    study_id: str
    judges: tuple[str, ...]
    samples: int | None = None
    budget: float | None = None

    @property
    def runs(self) -> tuple[RunSpec, ...]:
        """The run of each judge.

        Raises:
            UsageError: no judge is named, or one twice.
        """
        if not self.judges:
            raise UsageError("a panel needs further judges: name at least one")
        if len(set(self.judges)) < len(self.judges):
            raise UsageError("each judge of a panel is named once")
        return tuple(
            RunSpec(
                study_id=self.study_id,
                stages=("scoring",),
                judge=name,
                limit=self.samples,
                at_random=self.samples is not None,
                budget=self.budget,
            )
            for name in self.judges
        )


@dataclass(frozen=True, kw_only=True)
class SeatForecast:
    """What one judge of a panel would be asked.

    Args:
        judge: its endpoint's name.
        would: the work and the price.
    """

    judge: str
    would: Forecast


@dataclass(frozen=True, kw_only=True)
class PanelForecast:
    """What a panel would be asked, judge by judge."""

    seats: tuple[SeatForecast, ...]

    @property
    def calls(self) -> int:
        """Requests of all judges."""
        return sum(seat.would.calls for seat in self.seats)

    @property
    def cost(self) -> float | None:
        """USD of all judges, about; None where a price is unknown."""
        return total_cost(seat.would.cost for seat in self.seats)


def forecast_panel(
    store: Store, spec: PanelSpec, endpoints: Mapping[str, Endpoint]
) -> PanelForecast:
    """Say what each judge would be asked, and its price.

    Raises:
        UsageError: it asks for something that isn't there.
    """
    return PanelForecast(
        seats=tuple(
            SeatForecast(judge=one.judge or "", would=forecast(store, one, endpoints))
            for one in spec.runs
        )
    )

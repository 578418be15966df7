"""Where a synthetic study is being made, and the clock and clients that make it the same again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from atom.engine.execution import OnProgress, Progress
from atom.errors import StoreError
from atom.judge import JudgeClient, PictureCache, SpendLedger, Timing
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.candidates import DRIFTING
from atom.probes.worlds.make import ProbeSample
from atom.records import Candidate, Endpoint, Run, Study
from atom.store import Store, study_candidates

JUDGE = "probe-judge"
FIXED = datetime(2026, 1, 1, tzinfo=UTC)
"""The time that a synthetic study's records show."""

Tell = Callable[[str, int, int], None]
"""Told what is going on: a word, how many are done, how many there are."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """A synthetic study that is being made.

    Args:
        study_id: the study; its samples are judged.
        probes: the probes that it is made of, in its order.
        seed: the seed that they were drawn with.
        tell: told how far a part is.
    """

    store: Store
    study_id: str
    probes: Sequence[ProbeSample]
    seed: int
    tell: Tell

    @property
    def study(self) -> Study:
        """The study as it stands."""
        found = self.store.get(Study, self.study_id)
        assert found is not None
        return found

    @property
    def drifting(self) -> Candidate:
        """The model whose slips are lapses of attention."""
        return next(c for c in study_candidates(self.store, self.study_id) if c.name in DRIFTING)

    @property
    def endpoints(self) -> Mapping[str, Endpoint]:
        """The probe judges and the simulated candidates, by name."""
        return {endpoint.name: endpoint for endpoint in builtin_endpoints()}

    def on_progress(self, what: str) -> OnProgress:
        """Return what a run tells of its progress."""

        def tell(progress: Progress) -> None:
            self.tell(what, progress.done, progress.total)

        return tell


Part = Callable[[Site], None]
"""Something that a study goes through after it was judged."""


def clock() -> datetime:
    """Return the time that records show."""
    return FIXED


class _Ticks:
    """A monotonic clock that stands still, so that a call's duration is always 0."""

    def __call__(self) -> float:
        return 0.0


def timeless_client(endpoint: Endpoint, spend: SpendLedger, pictures: PictureCache) -> JudgeClient:
    """Open a client whose calls take no time."""
    timing = Timing(clock=_Ticks(), now=clock)
    return JudgeClient(endpoint, spend=spend, pictures=pictures, timing=timing)


def must_be_done(ended: Run) -> Run:
    """Return a run that came to its end.

    Raises:
        StoreError: it didn't, or something failed.
    """
    if ended.state != "done" or ended.failed:
        raise StoreError(f"the study couldn't be made: {ended.message or ended.state}")
    return ended

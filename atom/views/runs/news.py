"""Where a study is looked at while runs bring results, and what they brought since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from atom.store import Store
from atom.store.holds import is_at_work
from atom.store.together.revisions import StudyMoment, held

Moment: TypeAlias = StudyMoment
"""A moment in a study's life."""


@dataclass(frozen=True, kw_only=True)
class News:
    """What came since a study was opened.

    Attributes:
        results: how many results of runs.
        at_work: whether a run says of itself that it works.
    """

    results: int
    at_work: bool


def looked_at(store: Store, study_id: str, before: Moment | None) -> Moment:
    """Return the moment at which a study is looked at.

    It stays while runs bring results, until something else changes or the run ends: reading a large
    study anew takes seconds.

    Args:
        before: the moment so far; None = it is opened now.
    """
    return held(before, store.mark(study_id))


def news(store: Store, study_id: str, seen: Moment) -> News:
    """Return what came to a study since a moment."""
    new = store.mark(study_id).results - seen.results
    return News(results=max(0, new), at_work=is_at_work(store, study_id))

"""Declares which candidate is a later version of which, for screens."""

from __future__ import annotations

from atom.engine.clock import Clock, stamp, utc_now
from atom.store import Store
from atom.store.versions import declare_version


def declare(
    store: Store, study_id: str, candidate_id: str, before: str | None, clock: Clock = utc_now
) -> None:
    """Declare a candidate a later version of another, or of none any longer.

    Raises:
        UsageError: it would come before itself.
        ReadOnlyError: the study is sealed.
        StoreError: it can't be written.
    """
    declare_version(store, study_id, candidate_id, before, stamp(clock()))

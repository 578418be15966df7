"""UTC time, as records hold it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the UTC time."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """Write a moment as records hold it: ISO 8601, UTC, milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")

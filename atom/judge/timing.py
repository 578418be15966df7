"""Clock, sleep and chance, gathered so that a test can replace them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """What the client knows of time and chance.

    Args:
        clock: monotonic seconds.
        sleep: waits for so many seconds.
        random: a number from 0 up to 1, for jitter alone.
        now: the UTC time, for records and for Retry-After dates.
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = field(default_factory=lambda: random.Random().random)
    now: Callable[[], datetime] = _utc_now

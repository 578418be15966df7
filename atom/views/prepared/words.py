"""What a screen says of a large study that it shows as it was a while ago."""

from __future__ import annotations

from datetime import datetime, tzinfo

from atom.display.numbers import count
from atom.store.together.revisions import StudyMoment
from atom.views.prepared.ready import PreparedStudy


def as_of(ready: PreparedStudy, now: StudyMoment, *, clock: datetime, making: bool) -> str:
    """Say when what is shown was read, and what came since: `As of 19:42; 3 newer results ...`.

    Args:
        now: where the study stands.
        clock: the time now, in the reader's own zone.
        making: whether something newer is being made.

    Returns:
        The sentence; empty where nothing came.
    """
    if now == ready.moment:
        return ""
    results = max(0, now.results - ready.results)
    came = [count(results, "newer result")] if results else []
    came += ["changes to the study"] if now.changes != ready.changes else []
    plural = results != 1 or len(came) > 1
    then = "being added" if making else "waiting to be added"
    what = f"{' and '.join(came) or 'changes to the study'} {'are' if plural else 'is'} {then}"
    return f"As of {told_time(ready.made, clock)}; {what}."


def told_time(seconds: float, clock: datetime) -> str:
    """Write a time of today as `19:42`, of another day with its date.

    Args:
        seconds: since the epoch.
        clock: the time now, in the reader's own zone.
    """
    zone: tzinfo | None = clock.tzinfo
    then = datetime.fromtimestamp(seconds, zone)
    day = "" if then.date() == clock.date() else f"{then.day} {then:%b} "
    return f"{day}{then:%H:%M}"

"""What a run says at its end: what servers adapted, what is unscored and why, what was repaired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from atom.judge import is_server_fault
from atom.records import Call, State

FAULT = "through the server's fault"
_ENDS: Mapping[str, str] = {
    "refusal": "declined by the model",
    "content_filter": "stopped by a content filter",
    "length": "cut by the token limit",
}
_UNUSABLE = "without anything usable in the reply"
_SHOWN = 3
"""Adaptations that are told; the rest is counted."""


@dataclass(kw_only=True)
class EndAccount:
    """Counts what a part of a run met, call by call.

    Args:
        since: UTC time when this part began; an older call is a stored reply that was used again.
        unscored: unscored items by cause, in words.
        adapted: calls by what the server made of what was asked for.
        asked: names of endpoints that were asked.
        repaired: replies that needed a repair turn.
        thoughts: tokens that models thought, where servers count them.
    """

    since: str
    unscored: Counter[str] = field(default_factory=Counter)
    adapted: Counter[str] = field(default_factory=Counter)
    asked: set[str] = field(default_factory=set)
    repaired: int = 0
    thoughts: int = 0

    def enter(self, call: Call | None, state: State) -> None:
        """Count an item that is done, with its call if there was one."""
        if state == "unscored":
            self.unscored[cause_of(call)] += 1
        if call is None or call.created < self.since:
            return
        self.asked.add(call.endpoint)
        self.adapted.update(set(call.adapted))
        self.repaired += call.repaired
        self.thoughts += call.usage.thinking_tokens or 0

    def sentences(self) -> tuple[str, ...]:
        """Tell what there is to tell, a sentence each."""
        told = []
        if self.adapted:
            most = self.adapted.most_common()
            shown = "; ".join(f"{line} ({_times(n, 'call')})" for line, n in most[:_SHOWN])
            more = f"; and {len(most) - _SHOWN:,} more" if len(most) > _SHOWN else ""
            told.append(f"Not all that was asked for was taken: {shown}{more}.")
        if self.repaired:
            replies = "1 reply" if self.repaired == 1 else f"{self.repaired:,} replies"
            told.append(f"{replies} needed a repair turn.")
        if self.thoughts:
            told.append(f"Thoughts took {_times(self.thoughts, 'token')}.")
        return tuple(told)


def cause_of(call: Call | None) -> str:
    """Say why something is unscored, by the call that brought it."""
    if call is None:
        return _UNUSABLE
    if is_server_fault(call):
        return FAULT
    return _ENDS.get(call.finish or "", _UNUSABLE)


def _times(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"

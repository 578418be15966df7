"""What is asked one by one and becomes verdicts: judge benchmarks and rival methods.

A worklist knows which questions are still open, given the verdicts that are there. Later questions
may build on earlier verdicts (a critique is written, then scored), so it is asked again after each
round until nothing is open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.records import Sampling, Verdict

RespondentName: TypeAlias = str
"""Whom a run asks, by its worklist's name for them: `judge`, `scorer`, or a judge's id."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One question to a model.

    Args:
        blank: the verdict that it will be, unscored so far (see `blank`).
        build: makes the request; called when its turn has come.
        read: turns the reply into the verdict, from the blank one. Every reply that can't be used
            gives an unscored verdict with the reason.
        by: who is asked: the judge that is examined, or whoever scores what it wrote.
    """

    blank: Verdict
    build: Callable[[], Request]
    read: Callable[[Reply, Verdict], Verdict]
    by: RespondentName = "judge"

    @property
    def key(self) -> str:
        """The verdict's key."""
        return self.blank.key


class Worklist(Protocol):
    """Knows what there is to ask."""

    def asks(self, have: Mapping[str, Verdict]) -> Sequence[Ask]:
        """Return all that can be asked by now, what is there already included or not.

        Args:
            have: verdicts by key, failed and unscored ones too. What needs an earlier verdict that
                is missing, failed or unscored isn't asked.
        """


def blank(
    group: str,
    subject_id: str,
    part: str,
    judge: str,
    prompt: str,
    sampling: Sampling,
    *,
    repeat: int = 0,
    order: str = "",
) -> Verdict:
    """Make the verdict of a question that nobody has answered yet; arguments as in `Verdict`."""
    return Verdict(
        key=Verdict.make_key(group, subject_id, part, judge, prompt, sampling, repeat, order),
        group=group,
        subject_id=subject_id,
        part=part,
        judge=judge,
        prompt=prompt,
        sampling=sampling,
        repeat=repeat,
        order=order,
    )


def unscored(blank: Verdict, detail: str, call_id: str | None = None) -> Verdict:
    """Say why a reply couldn't be used."""
    return blank.model_copy(update={"state": "unscored", "detail": detail, "call_id": call_id})


def failed(blank: Verdict, error: str, call_id: str | None = None) -> Verdict:
    """Say what went wrong when it was asked."""
    return blank.model_copy(update={"state": "failed", "detail": error, "call_id": call_id})


def scored(
    blank: Verdict,
    reply: Reply,
    *,
    value: float | None = None,
    label: str = "",
    text: str = "",
    data: Mapping[str, object] | None = None,
    detail: str = "",
) -> Verdict:
    """Make the verdict of a reply that could be read."""
    return blank.model_copy(
        update={
            "state": "scored",
            "value": value,
            "label": label,
            "text": text,
            "data": dict(data or {}),
            "detail": detail,
            "call_id": reply.call.id,
        }
    )

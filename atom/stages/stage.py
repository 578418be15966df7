"""What a stage of the method is: one value that knows what it needs, asks, reads and leaves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from atom.errors import UsageError
from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.records import (
    Call,
    CriteriaSet,
    Criterion,
    Record,
    Replay,
    Response,
    Sample,
    Sampling,
    StageName,
)
from atom.stages.sight import Material
from taxonomy import Tree

R = TypeVar("R")
Ask = Callable[[Request], Awaitable[Reply]]
"""Asks a model; raises an `AtomError` when no reply came."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What a stage is about: a sample, and what the stages before it have brought.

    Args:
        replay: the judge's solution.
        criteria_set: the criteria that were cut from it.
        wanted: those that a mapping or a scoring is about: the ones that are still without.
    """

    sample: Sample
    replay: Replay | None = None
    criteria_set: CriteriaSet | None = None
    wanted: tuple[Criterion, ...] = ()
    response: Response | None = None

    @property
    def solved(self) -> Replay:
        """The solution; a `UsageError` where there is none."""
        return _there(self.replay, "the judge's solution")

    @property
    def cut(self) -> CriteriaSet:
        """The criteria set; a `UsageError` where there is none."""
        return _there(self.criteria_set, "criteria")

    @property
    def answered(self) -> Response:
        """The answer; a `UsageError` where there is none."""
        return _there(self.response, "an answer")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Who is asked, and how.

    Args:
        who: the judge's id, or the candidate's for an answer.
        sampling: what the requests ask for.
        tree: the tree that criteria are mapped to; needed by the mapping alone.
        repeat: 0-based index among equal requests.
        told: whether the judge is told the reference answer when it solves the sample.
        blind: whether the judge scores without the pictures.
    """

    who: str
    sampling: Sampling
    tree: Tree | None = None
    tree_version: str = ""
    repeat: int = 0
    told: bool = False
    blind: bool = False


@dataclass(frozen=True, kw_only=True)
class StageResult:
    """What a stage brought.

    Args:
        records: new records, the call's aside.
        call: the call that the records are of, or None when no model was asked.
        earlier: the stage's other calls, in order.
    """

    records: tuple[Record, ...]
    call: Call | None = None
    earlier: tuple[Call, ...] = ()

    def all(self, kind: type[R]) -> tuple[R, ...]:
        """Return the records of a kind, in order."""
        return tuple(record for record in self.records if isinstance(record, kind))

    def one(self, kind: type[R]) -> R:
        """Return the first record of a kind."""
        return self.all(kind)[0]


class Stage(ABC):
    """One stage of the method.

    Each knows what it needs of a `Subject`, under which prompt its records are kept, how it asks,
    what it reads from the reply, and what stands for it where it failed.
    """

    name: ClassVar[StageName]
    prompt: ClassVar[str]
    """The template's id and version, as content keys hold it."""
    needs: ClassVar[frozenset[str]] = frozenset()
    """Fields of `Subject` without which it can't begin."""
    by_candidate: ClassVar[bool] = False
    """Whether a candidate is asked, not the judge."""
    repeats: ClassVar[bool] = False
    """Whether the judge does it again for each repeat, and again on each newer scale."""
    points: ClassVar[bool] = False
    """Whether it reads boxes, so that it must know how the judge sees the pictures."""

    def named(self, setting: Setting) -> str:
        """Return the prompt as records call it under a setting."""
        return self.prompt

    @abstractmethod
    def build(self, material: Material, subject: Subject, setting: Setting) -> Request:
        """Make the request.

        Raises:
            UsageError: something that the stage needs isn't there.
        """

    @abstractmethod
    def read(
        self, reply: Reply, material: Material, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Read the reply: the stage's records, `unscored` with a reason where it can't be used."""

    @abstractmethod
    def failed(
        self, error: str, call_id: str | None, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Return what the stage would have brought, in state `failed`, under the same keys.

        Args:
            error: what went wrong, in words for the user.
            call_id: the failed call, where one was sent.
            setting: who was asked, and how.
        """

    async def take(
        self, ask: Ask, material: Material, subject: Subject, setting: Setting
    ) -> StageResult:
        """Do it: build the request, ask, read the reply.

        Raises:
            AtomError: no reply came, or a picture can't be read.
        """
        reply = await ask(self.build(material, subject, setting))
        return StageResult(records=self.read(reply, material, subject, setting), call=reply.call)

    def free(self, sample: Sample) -> bool:
        """Whether a rule will most likely do it, so that no model is asked."""
        return False


def _there(found: R | None, what: str) -> R:
    if found is None:
        raise UsageError(f"this step needs {what}, which the step before it brings")
    return found

"""How a study's tree came to be: its versions, every edit between them, and inductions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from atom.records.base import Id, Record, content_id

TreeOrigin = Literal["seed", "induced", "hand", "imported"]


class TreeVersion(Record):
    """A study's tree at one point of its history; a return to an older tree is a new point."""

    study_id: Id
    position: int = Field(ge=0)
    """0-based place in the study's history."""
    version: Id
    """Content hash of the tree; its body is the `TreeRecord` of that version."""
    parent_version: str | None = None
    """The tree that the edits start from; None where none is known."""
    origin: TreeOrigin
    note: str = ""
    created: str = ""
    """UTC time, ISO 8601."""


class TreeEdit(Record):
    """One logged edit, of those that lead from a version's parent to the version."""

    study_id: Id
    position: int = Field(ge=0)
    """The version's place in the study's history."""
    ordinal: int = Field(ge=0)
    """0-based place in the log of this version."""
    version: Id
    """The version that the log leads to."""
    edit: str
    """The edit as JSON (see `taxonomy.log`)."""
    by: str
    """Who proposed it: a judge, a rule, or a person."""
    why: str = ""
    round: int = 0
    """Round of the induction; 0 for edits by hand."""


class Induction(Record):
    """One growing of a tree from a study's criteria: what was asked for, and what came of it.

    How far it is, and what it cost, its run says, which has the same id.
    """

    retired: ClassVar[frozenset[str]] = frozenset(
        {"state", "heartbeat", "done", "total", "cost", "budget", "message"}
    )

    id: Id
    study_id: Id
    judge: str
    """Endpoint name of the judge."""
    settings: str
    """The settings as JSON; equal settings and criteria give the same tree."""
    phase: str = ""
    """What it is doing, in a word."""
    created: str = ""
    position: int | None = None
    """The version that came of it."""
    unplaced: int = 0
    """Criteria of the subset that found no place in the proposals."""
    refused: tuple[str, ...] = ()
    """What the gate refused and why, a line each (at most 200)."""

    @model_validator(mode="before")
    @classmethod
    def _without_account(cls, data: Any) -> Any:
        """Leave out what an older archive's inductions told of their run."""
        if isinstance(data, Mapping):
            return {name: value for name, value in data.items() if name not in cls.retired}
        return data

    @staticmethod
    def make_id(study_id: str, judge_model: str, settings: str, criteria: list[str]) -> str:
        """Hash what makes an induction this one: the same again goes on where it stopped."""
        return content_id("induction", study_id, judge_model, settings, criteria)[:12]

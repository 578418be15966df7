"""Studies, who takes part, runs and imports."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from atom.records.base import Id, Record, content_id
from atom.records.call import Sampling


class Candidate(Record):
    """A model whose answers are examined."""

    id: Id
    name: str
    family: str = ""
    endpoint: str | None = None
    """Name of the endpoint that answers; None when its answers were imported."""
    synthetic: bool = False


JudgeKind = Literal["model", "person", "program"]


class Judge(Record):
    """Who marks: a model that replays, cuts criteria and scores; or a person or program."""

    id: Id
    name: str
    family: str = ""
    endpoint: str | None = None
    synthetic: bool = False
    kind: JudgeKind = "model"


class Study(Record):
    """A named selection over shared records, with its settings."""

    id: Id
    name: str = Field(min_length=1, max_length=120)
    created: str = ""
    synthetic: bool = False
    judge_id: str | None = None
    """None while nothing has been judged."""
    tree_version: str | None = None
    judge_sampling: Sampling = Sampling(temperature=0.0)
    answer_sampling: Sampling = Sampling(temperature=0.7)
    note: str = ""
    copied_from: str | None = None
    """The bundled study's id, when this is the user's own copy of it."""
    consent: tuple[str, ...] = ()
    """Hosts that the user agreed to send this study's pictures and texts to."""

    @staticmethod
    def make_id(name: str) -> str:
        """A study is named by its name: unique in a store."""
        return content_id("study", name)


class StudySample(Record):
    """A sample's place in a study, and which replay and criteria stand for it there."""

    study_id: Id
    sample_id: Id
    position: int
    replay_id: str | None = None
    criteria_set_id: str | None = None


class StudyCandidate(Record):
    """A candidate's place in a study."""

    study_id: Id
    candidate_id: Id
    position: int


class Import(Record):
    """Files that were taken in, and what came of them."""

    id: Id
    study_id: Id
    format: str
    sources: tuple[str, ...]
    """File names (without folders)."""
    created: str = ""
    samples: int = 0
    responses: int = 0
    skipped: tuple[str, ...] = ()
    """What was left out and why, a line each (at most 200)."""
    notes: tuple[str, ...] = ()
    """What the reader should know (traps met), a line each."""
    closed: bool = True
    """Whether it came to its end; what an open one brought counts nowhere."""
    account: str = ""
    """What was read, what came in and what was left out why, as JSON; empty for old imports."""

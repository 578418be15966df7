"""Runs: one row for every kind of work, with a task that says what its kind is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, model_validator

from atom.records.base import Id, Record, content_id
from atom.records.call import Sampling
from atom.records.preference import Side

RunState = Literal["running", "stopping", "stopped", "done", "failed"]
RunKind = Literal[
    "study", "experiment", "bench", "methods", "tree", "blind", "pairs", "criteria", "sight"
]
KnownBy = Literal["people", "outcome", "score"]
"""What says which of two answers is better: people's preference or ranking; a right final answer
against a wrong one; a clear gap of the study's judge's scores."""
PictureCondition = Literal["picture", "again", "none", "other", "caption"]
"""What a judge is shown: the picture, it once more, none, another sample's, a description."""
SHOWN: Final[tuple[PictureCondition, ...]] = ("picture", "again", "none", "other", "caption")
SHOWN_WORDS: Final[Mapping[PictureCondition, str]] = {
    "picture": "with the picture",
    "again": "with the picture again",
    "none": "without it",
    "other": "with another’s picture",
    "caption": "with a description alone",
}
StageName = Literal["answer", "replay", "criteria", "mapping", "scoring", "outcome"]


class Look(Record):
    """One look of a study that is judged in looks: which answers, and what is to be known."""

    goal: Literal["leader", "weaknesses", "nodes"]
    within: float | None = None
    """For `nodes`: half of the widest interval that is let pass, on [0, 1]."""
    number: int
    """Which look it is, from 1."""
    budget: int
    """Answers that all looks together may mark."""
    asked: Mapping[str, tuple[str, ...]]
    """Candidates' ids by sample id: the answers of this look."""


class StudyTask(Record):
    """A study's own stages."""

    kind: Literal["study"]
    stages: tuple[StageName, ...]
    repeats: int = 1
    """How often the judge scores each answer."""
    answer_repeats: int = 1
    """How often each candidate answers each question."""
    show_reference: bool = False
    """Whether the judge is told the reference answer when it solves a sample."""
    score_pictures: bool = True
    """Whether the judge sees the pictures when it scores."""
    judge_sampling: Sampling | None = None
    """How the judge is asked; None = as the study says."""
    answer_sampling: Sampling | None = None
    """How candidates are asked; None = as the study says."""
    retry_unscored: bool = False
    """Whether what ended unscored through the server's fault is asked again."""
    look: Look | None = None
    """Only these answers are asked for and marked; None = all that are missing."""
    at_random: bool = False
    """Whether the samples of a limited run are drawn at random, and not the first ones."""


class ExperimentTask(Record):
    """A self-correction experiment."""

    kind: Literal["experiment"]
    experiment_id: Id


class BenchTask(Record):
    """A judge benchmark's data, which belongs to no study: the run's `study_id` is the set's id."""

    kind: Literal["bench"]
    parts: tuple[str, ...] = ()
    """Which parts of the benchmark are asked."""
    votes: int = 1
    """How often the judge is asked each question."""
    scorer: str | None = None
    """Endpoint name of whoever scores the judge's critiques; None = nobody."""
    sampling: Sampling | None = None
    """How the judge is asked; None = the benchmark's own."""


class MethodsTask(Record):
    """Rival methods, which rank a study's answers."""

    kind: Literal["methods"]
    methods: tuple[str, ...]


class TreeTask(Record):
    """A study's tree grows: the induction that has the run's id."""

    kind: Literal["tree"]


class BlindTask(Record):
    """A part of a study's questions, put to its models without their pictures."""

    kind: Literal["blind"]
    samples: int
    """How many questions, drawn at random."""


class KnownPair(Record):
    """Two answers to one sample, one of which is known to be better."""

    sample_id: Id
    a: Id
    """The answer whose id comes first."""
    b: Id
    better: Side
    by: KnownBy

    @property
    def name(self) -> str:
        """Its name, as people's preferences have it."""
        return f"{self.a}/{self.b}"


class PairsTask(Record):
    """Pairs of a study's answers, put to weak judges; what they fail at goes to a strong one."""

    kind: Literal["pairs"]
    pairs: tuple[KnownPair, ...]
    """In the order of the draw."""
    weak: tuple[str, ...]
    """Endpoint names of the judges that filter."""
    weak_ids: tuple[Id, ...]
    """Their ids, by which their votes are found."""
    strong: str | None = None
    """Endpoint name of the judge that confirms; None = people do, or nobody."""
    strong_id: Id | None = None
    votes: int
    """How often each judge is asked in each of the two orders."""
    fail: int
    """A pair is hard where so many weak judges get it wrong or can't settle it."""
    sampling: Sampling
    """How all are asked."""

    def run_id(self, study_id: str) -> str:
        """Name its run: who asks a study for the same finds it."""
        names = [pair.name for pair in self.pairs]
        whom = (self.weak_ids, self.strong_id, self.votes, self.fail)
        return content_id("pairs run", study_id, names, *whom, self.sampling.key)[:12]


class CriteriaTask(Record):
    """Criteria that people wrote, matched by a judge to those of the study."""

    kind: Literal["criteria"]


class SightTask(Record):
    """Some of a study's answers, marked by a judge with the picture, without it, and so on."""

    kind: Literal["sight"]
    judge_id: Id
    """By which its marks are found."""
    samples: int
    """How many questions, drawn at random."""
    answers: int
    """How many answers to each."""
    shown: tuple[PictureCondition, ...]
    """What the judge is shown, one after the other."""
    sampling: Sampling
    """How it is asked."""

    def run_id(self, study_id: str) -> str:
        """Name its run: who asks a study for the same finds it."""
        told = (self.judge_id, self.samples, self.answers, list(self.shown), self.sampling.key)
        return content_id("sight run", study_id, *told)[:12]


Task = (
    StudyTask | ExperimentTask | BenchTask | MethodsTask | TreeTask | BlindTask | PairsTask
    | CriteriaTask | SightTask
)  # fmt: skip


class Run(Record):
    """One execution, of any kind: what it is asked, who does it, and how far it is."""

    retired: ClassVar[frozenset[str]] = frozenset(
        {
            "stages", "repeats", "show_reference", "experiment_id", "bench_set_id", "methods",
            "votes", "scorer", "sampling", "answer_repeats", "judge_sampling", "answer_sampling",
            "score_pictures", "retry_unscored",
        }
    )  # fmt: skip

    id: Id
    study_id: Id
    """The study that it adds to, or the benchmark's set."""
    judge: str | None = None
    """Endpoint name of the judge."""
    candidates: tuple[str, ...] = ()
    """Endpoint names of candidates that answer in this run; empty = score what is there."""
    limit: int | None = None
    """At most this many samples, answers or items."""
    budget: float | None = None
    """Spend cap in USD."""
    state: RunState = "running"
    created: str = ""
    heartbeat: str = ""
    """Last sign of life of the process that runs it."""
    done: int = 0
    total: int = 0
    unscored: int = 0
    failed: int = 0
    cost: float = 0.0
    message: str = ""
    """Why it stopped, in words."""
    task: Annotated[Task, Field(discriminator="kind")]
    """What it is asked."""

    @property
    def kind(self) -> RunKind:
        """What kind of run it is."""
        return self.task.kind

    @property
    def experiment_id(self) -> str | None:
        """The self-correction experiment that it carries out, if it does."""
        return self.task.experiment_id if isinstance(self.task, ExperimentTask) else None

    @property
    def asked(self) -> tuple[str, ...]:
        """Endpoint names of everybody who is asked, the judge first."""
        scorer = self.task.scorer if isinstance(self.task, BenchTask) else None
        panel: tuple[str | None, ...] = ()
        if isinstance(self.task, PairsTask):
            panel = (*self.task.weak, self.task.strong)
        return tuple(name for name in (self.judge, *self.candidates, scorer, *panel) if name)

    @model_validator(mode="before")
    @classmethod
    def _with_task(cls, data: Any) -> Any:
        """Read a row of when the fields of four kinds stood side by side."""
        if not isinstance(data, Mapping) or "task" in data:
            return data
        old = {name: _value(data[name]) for name in cls.retired & data.keys()}
        if old.get("experiment_id"):
            task = {"kind": "experiment", "experiment_id": old["experiment_id"]}
        elif old.get("bench_set_id"):
            task = {"kind": "bench", "parts": old.get("methods", ())}
            task |= {name: old[name] for name in ("votes", "scorer", "sampling") if name in old}
        elif old.get("methods"):
            task = {"kind": "methods", "methods": old["methods"]}
        else:
            task = {"kind": "study"}
            task |= {name: old[name] for name in StudyTask.model_fields.keys() & old.keys()}
        return {**{n: v for n, v in data.items() if n not in cls.retired}, "task": task}


def _value(cell: Any) -> Any:
    """Read a nested value that may still be JSON, as columns hold it."""
    return json.loads(cell) if isinstance(cell, str) and cell[:1] in ("[", "{") else cell

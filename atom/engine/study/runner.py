"""Runs of a study's own stages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from atom.engine.clock import stamp
from atom.engine.consent import ConsentQuestion, consent_questions
from atom.engine.execution import Execution, RunContext
from atom.engine.forecast import Forecast, forecast
from atom.engine.members import Members, enrol, gather
from atom.engine.study.execution import StudyExecution
from atom.engine.study.spec import RunSpec
from atom.engine.work import Work
from atom.records import Endpoint, Run, StudyTask, content_id
from atom.store import Store, Writer, set_sampling

_TASK = tuple(name for name in StudyTask.model_fields if name != "kind")
"""What a spec and a stored task say alike."""


def spec_of(run: Run, *, retry_failed: bool = False) -> RunSpec:
    """Say what a stored run of stages does."""
    assert isinstance(run.task, StudyTask)
    return RunSpec(
        study_id=run.study_id,
        judge=run.judge,
        candidates=run.candidates,
        limit=run.limit,
        budget=run.budget,
        retry_failed=retry_failed,
        **{name: getattr(run.task, name) for name in _TASK},
    )


class _StudyWork(Work[RunSpec, Members]):
    """Does the stages of a study that are missing; sampling settings become the study's."""

    def prepare(
        self, store: Store, spec: RunSpec, endpoints: Mapping[str, Endpoint], moment: str
    ) -> Members:
        return gather(store, spec, endpoints, moment)

    def forecast(self, store: Store, spec: RunSpec, endpoints: Mapping[str, Endpoint]) -> Forecast:
        return forecast(store, spec, endpoints)

    def questions(self, store: Store, ground: Members) -> tuple[ConsentQuestion, ...]:
        return consent_questions(store, ground)

    def row(self, spec: RunSpec, ground: Members, moment: datetime) -> Run:
        spec, created = ground.completed(spec), stamp(moment)
        name = (spec.study_id, spec.judge, list(spec.stages), list(spec.candidates), created)
        return Run(
            id=content_id("run", *name)[:12],
            study_id=spec.study_id,
            judge=spec.judge,
            candidates=spec.candidates,
            limit=spec.limit,
            budget=spec.budget,
            created=created,
            heartbeat=created,
            task=StudyTask(kind="study", **{name: getattr(spec, name) for name in _TASK}),
        )

    def known(self, store: Store, row: Run) -> Run | None:
        """Nothing: the same asked for again is a new run, which finds what is missing then."""
        return None

    def begin(self, writer: Writer, ground: Members, moment: str) -> None:
        set_sampling(writer, ground.study)

    def spec_of(
        self, store: Store, run: Run, endpoints: Mapping[str, Endpoint], *, retry_failed: bool
    ) -> RunSpec:
        return spec_of(run, retry_failed=retry_failed)

    def execution(self, context: RunContext, spec: RunSpec, ground: Members) -> Execution:
        enrol(context.store, ground)
        return StudyExecution(context, spec, ground)


WORK: Final = _StudyWork()

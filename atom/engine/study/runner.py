"""Runs of a study's own stages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from atom.engine.clock import stamp
from atom.engine.consent import ConsentQuestion, consent_questions
from atom.engine.forecast import Forecast, forecast
from atom.engine.members import Members, enrol, gather
from atom.engine.plan import RunSpec
from atom.engine.shift import RunContext, Shift
from atom.engine.study.pool import Runner
from atom.engine.work import Work
from atom.records import Endpoint, Run, content_id
from atom.store import Store, Writer, set_sampling


def spec_of(run: Run, *, retry_failed: bool = False) -> RunSpec:
    """Say what a stored run of stages does."""
    return RunSpec(
        study_id=run.study_id,
        stages=run.stages,
        judge=run.judge,
        candidates=run.candidates,
        limit=run.limit,
        repeats=run.repeats,
        answer_repeats=run.answer_repeats,
        budget=run.budget,
        retry_failed=retry_failed,
        retry_unscored=run.retry_unscored,
        show_reference=run.show_reference,
        score_pictures=run.score_pictures,
        judge_sampling=run.judge_sampling,
        answer_sampling=run.answer_sampling,
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
        name = (spec.study_id, list(spec.stages), list(spec.candidates), created)
        return Run(
            id=content_id("run", *name)[:12],
            study_id=spec.study_id,
            stages=spec.stages,
            judge=spec.judge,
            candidates=spec.candidates,
            limit=spec.limit,
            repeats=spec.repeats,
            budget=spec.budget,
            show_reference=spec.show_reference,
            created=created,
            heartbeat=created,
            answer_repeats=spec.answer_repeats,
            score_pictures=spec.score_pictures,
            judge_sampling=spec.judge_sampling,
            answer_sampling=spec.answer_sampling,
            retry_unscored=spec.retry_unscored,
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

    def shift(self, context: RunContext, spec: RunSpec, ground: Members) -> Shift:
        enrol(context.store, ground)
        return Runner(context, spec, ground)


WORK: Final = _StudyWork()

"""Has a judge match the criteria that people wrote to those that it cut itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from atom.display.facts import Facts
from atom.display.numbers import count, money
from atom.engine.clock import stamp
from atom.engine.consent import ConsentQuestion, questions_of
from atom.engine.execution import Execution, RunContext
from atom.engine.members import asks, check_endpoint, judge_of, pick_endpoint
from atom.engine.work import Work
from atom.engine.worklist import WorklistExecution, load_verdicts, open_asks, price_of
from atom.errors import UsageError
from atom.methods.own_criteria import MatchWorklist, OwnSample, lines_of
from atom.records import (
    AnnotationKind,
    CriteriaTask,
    Criterion,
    Endpoint,
    Judge,
    Run,
    RunKind,
    Sample,
    Study,
    content_id,
)
from atom.store import Store, Writer, find_study, study_places
from atom.store.labels import labels_of
from atom.store.standing.criteria import in_order, standing_sets

_WRITTEN: tuple[AnnotationKind, ...] = ("written",)


@dataclass(frozen=True, kw_only=True)
class MatchSpec:
    """What a judge is to match: all that people wrote in a study.

    Args:
        study_id: the study's id or name.
        judge: name of the judge's endpoint.
        budget: spend cap in USD.
        retry_failed: ask again for what failed earlier.
    """

    kind: ClassVar[RunKind] = "criteria"

    study_id: str
    judge: str
    budget: float | None = None
    retry_failed: bool = False


@dataclass(frozen=True, kw_only=True)
class MatchRunParts:
    """A run's parts, found and checked."""

    study: Study
    judge: Judge
    endpoint: Endpoint
    worklist: MatchWorklist


@dataclass(frozen=True, kw_only=True)
class MatchForecast:
    """What a run would ask.

    Attributes:
        samples: samples that people wrote criteria for.
        calls: requests that are still to be made.
        cost: USD, about; None where a price is unknown.
    """

    samples: int
    calls: int
    cost: float | None

    @property
    def facts(self) -> Facts:
        """Say what a run would ask and cost."""
        calls = count(self.calls, "call")
        return Facts(head=f"{count(self.samples, 'question')}: {calls}, {money(self.cost)}")


def own_samples(store: Store, study: Study) -> list[OwnSample]:
    """Return the samples that people wrote criteria for, with the judge's own, in study order."""
    lines: dict[str, dict[str, None]] = defaultdict(dict)
    for label in labels_of(store, study.id, _WRITTEN):
        if label.state == "given":
            lines[label.subject_id.partition("/")[0]].update(dict.fromkeys(lines_of(label.label)))
    places = [one for one in study_places(store, study.id) if one.sample_id in lines]
    sets = standing_sets(store, places)
    samples = {one.id: one for one in store.get_many(Sample, list(lines))}
    ids = [use.criterion_id for one in sets.values() for use in one.uses]
    criteria = {one.id: one for one in store.get_many(Criterion, ids)}
    return [
        OwnSample(
            sample=samples[place.sample_id],
            lines=tuple(lines[place.sample_id]),
            criteria=tuple(
                criteria[use.criterion_id]
                for use in in_order(sets[place.sample_id])
                if use.criterion_id in criteria
            ),
        )
        for place in places
        if place.sample_id in samples and place.sample_id in sets and lines[place.sample_id]
    ]


def lay_ground(store: Store, spec: MatchSpec, endpoints: Mapping[str, Endpoint]) -> MatchRunParts:
    """Find and check all that a run needs.

    Raises:
        UsageError: nobody wrote criteria, or there is no such judge.
        SettingsError: a key isn't set, or a budget is given and the endpoint has no prices.
    """
    study = find_study(store, spec.study_id)
    endpoint = pick_endpoint(endpoints, spec.judge, "judge")
    check_endpoint(endpoint, spec.budget)
    judge = judge_of(endpoint)
    samples = own_samples(store, study)
    if not samples:
        raise UsageError(
            f"nobody has written criteria in {study.name!r}: Human check, Own criteria, asks for "
            "them"
        )
    worklist = MatchWorklist(
        study_id=study.id,
        samples=samples,
        judge=judge.id,
        sampling=asks(endpoint, study.judge_sampling),
    )
    return MatchRunParts(study=study, judge=judge, endpoint=endpoint, worklist=worklist)


def forecast_match(
    store: Store, spec: MatchSpec, endpoints: Mapping[str, Endpoint]
) -> MatchForecast:
    """Say what a run would ask and cost; nothing is written.

    Raises:
        UsageError: as `lay_ground` does.
    """
    ground = lay_ground(store, spec, endpoints)
    have = load_verdicts(store, ground.study.id)
    left = open_asks(ground.worklist, have, retry_failed=spec.retry_failed)
    return MatchForecast(
        samples=len(ground.worklist.samples),
        calls=len(left),
        cost=price_of(ground.endpoint, left, len(left)),
    )


class _MatchWork(Work[MatchSpec, MatchRunParts]):
    """Has a judge match people's own criteria; the same again goes on with its run."""

    sealed = "this study is sealed: copy it (`study copy`), and have people write criteria there"

    def prepare(
        self, store: Store, spec: MatchSpec, endpoints: Mapping[str, Endpoint], moment: str
    ) -> MatchRunParts:
        return lay_ground(store, spec, endpoints)

    def forecast(
        self, store: Store, spec: MatchSpec, endpoints: Mapping[str, Endpoint]
    ) -> MatchForecast:
        return forecast_match(store, spec, endpoints)

    def questions(self, store: Store, ground: MatchRunParts) -> tuple[ConsentQuestion, ...]:
        return questions_of(
            [ground.endpoint], ground.study.consent, lambda: [() for _ in ground.worklist.samples]
        )

    def row(self, spec: MatchSpec, ground: MatchRunParts, moment: datetime) -> Run:
        created = stamp(moment)
        told = (ground.judge.id, ground.worklist.sampling.key)
        return Run(
            id=content_id("match run", ground.study.id, *told)[:12],
            study_id=ground.study.id,
            judge=ground.endpoint.name,
            task=CriteriaTask(kind="criteria"),
            budget=spec.budget,
            created=created,
            heartbeat=created,
        )

    def begin(self, writer: Writer, ground: MatchRunParts, moment: str) -> None:
        writer.put([ground.judge])

    def spec_of(
        self, store: Store, run: Run, endpoints: Mapping[str, Endpoint], *, retry_failed: bool
    ) -> MatchSpec:
        return MatchSpec(
            study_id=run.study_id, judge=run.judge or "", budget=run.budget,
            retry_failed=retry_failed,
        )  # fmt: skip

    def execution(self, context: RunContext, spec: MatchSpec, ground: MatchRunParts) -> Execution:
        return WorklistExecution(
            context, ground.worklist, ground.study.id, {"judge": ground.endpoint},
            retry_failed=spec.retry_failed,
        )  # fmt: skip


WORK: Final = _MatchWork()

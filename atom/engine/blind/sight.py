"""Asks whether a judge looks: it marks the same answers with the picture, without it, with another.

The questions are those that a blind control of the candidates would draw, so that the two can be
held side by side. What the judge says becomes verdicts; no mark of the study changes.

Reference: METHODS T8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Final

from atom.display.facts import Facts
from atom.display.numbers import count, money
from atom.engine.blind.ground import draw, eligible_questions
from atom.engine.clock import stamp
from atom.engine.consent import ConsentQuestion, questions_of
from atom.engine.execution import Execution, RunContext
from atom.engine.items import read_material
from atom.engine.members import asks, check_endpoint, judge_of, pick_endpoint
from atom.engine.work import Work
from atom.engine.worklist import WorklistExecution, load_verdicts, open_asks, price_of
from atom.errors import UsageError
from atom.judge import PicturePart
from atom.methods.sight import LONGEST, SIGHT_PART, SightItem, SightWorklist, shown_of
from atom.records import (
    SHOWN,
    SHOWN_WORDS,
    CriteriaSet,
    Criterion,
    Endpoint,
    Judge,
    PictureCondition,
    Response,
    Run,
    RunKind,
    Sample,
    Sampling,
    SightTask,
    Study,
    Tag,
    content_id,
    total_cost,
)
from atom.stages import scoring
from atom.store import Store, Writer, find_study, study_places, table
from atom.store.reading.marks import marks_asked_as
from atom.store.standing.answers import first_answers, study_answers
from atom.store.standing.members import parts

QUESTIONS: Final = 40
ANSWERS: Final = 2
MOST_ANSWERS: Final = 20
FACETS: Final = ("caption", "description")
"""Labels of samples that say what their pictures show."""
TYPICAL: Final = 1200
"""Characters of a description that isn't written yet, for its price."""


@dataclass(frozen=True, kw_only=True)
class SightSpec:
    """What a judge is to be asked.

    Args:
        study_id: the study's id or name.
        judge: name of the judge's endpoint.
        samples: how many questions, drawn at random.
        answers: how many answers to each, drawn at random.
        shown: what the judge is shown; the picture is always among it.
        budget: spend cap in USD.
        retry_failed: ask again for what failed earlier.
        sampling: how it is asked; None = as the study says.
    """

    kind: ClassVar[RunKind] = "sight"

    study_id: str
    judge: str
    samples: int = QUESTIONS
    answers: int = ANSWERS
    shown: tuple[PictureCondition, ...] = SHOWN
    budget: float | None = None
    retry_failed: bool = False
    sampling: Sampling | None = None


@dataclass(frozen=True, kw_only=True)
class SightGround:
    """A run's parts, found and checked.

    Attributes:
        judge: the judge's record.
        endpoint: where it is asked.
        task: what it is asked.
        worklist: what there is to ask.
        eligible: questions with pictures and criteria that could have been drawn.
    """

    study: Study
    judge: Judge
    endpoint: Endpoint
    task: SightTask
    worklist: SightWorklist
    eligible: int

    @property
    def questions(self) -> int:
        """How many questions were drawn."""
        return len({item.sample.id for item in self.worklist.items})


@dataclass(frozen=True, kw_only=True)
class SightForecast:
    """What a run would ask.

    Attributes:
        samples: questions.
        eligible: questions that could have been drawn.
        by: requests by what the judge is shown, still to be made; descriptions' marks included.
        descriptions: pictures that the judge describes first.
        own: answers whose mark in the study stands for the picture shown again.
        alone: answers for which no other sample's picture is fit.
        cost: USD, about; None where a price is unknown.
    """

    samples: int
    eligible: int
    answers: int
    by: Mapping[PictureCondition, int] = field(default_factory=dict)
    descriptions: int = 0
    own: int = 0
    alone: int = 0
    cost: float | None = 0.0

    @property
    def facts(self) -> Facts:
        """Say what a run would ask and cost."""
        if not self.calls:
            done = f"All {count(self.answers, 'answer')} are marked in every way already"
            return Facts(head=f"{done}: nothing is left to do.")
        parts = ", ".join(f"{n:,} {SHOWN_WORDS[name]}" for name, n in self.by.items())
        more = [f"Marks {parts}."]
        if self.descriptions:
            pictures = count(self.descriptions, "picture is", "pictures are")
            more.append(f"{pictures} described by the judge first.")
        if self.own:
            more.append(
                f"{count(self.own, 'answer has', 'answers have')} this judge’s mark in the study, "
                "which stands for the second look."
            )
        if self.alone:
            more.append(f"For {count(self.alone, 'answer')} no other sample’s picture is fit.")
        return Facts(
            head=f"{count(self.calls, 'call')}, {money(self.cost)}: "
            f"{count(self.answers, 'answer')} to {count(self.samples, 'question')} of "
            f"{self.eligible:,}.",
            more=tuple(more),
        )

    @property
    def calls(self) -> int:
        """Requests in all."""
        return self.descriptions + sum(self.by.values())


def lay_sight(store: Store, spec: SightSpec, endpoints: Mapping[str, Endpoint]) -> SightGround:
    """Find and check all that a run needs.

    Raises:
        UsageError: it asks for something that isn't there; the message says what to do.
        SettingsError: a key isn't set, or a budget is given and the endpoint has no prices.
    """
    study = find_study(store, spec.study_id)
    _check(spec)
    endpoint = pick_endpoint(endpoints, spec.judge, "judge")
    check_endpoint(endpoint, spec.budget)
    judge = judge_of(endpoint)
    sampling = spec.sampling or asks(endpoint, study.judge_sampling)
    sets, samples = eligible_questions(store, study_places(store, study.id))
    if not samples:
        raise UsageError(
            f"no question of {study.name!r} has pictures and criteria: cut criteria first (a run "
            "of the stages replay and criteria), or import some"
        )
    drawn = _answers(store, study, draw(study.id, tuple(samples), len(samples)), spec)
    if not drawn:
        raise UsageError(
            f"no question of {study.name!r} with pictures and criteria has an answer: let a model "
            "answer first (`run start --stages answer`)"
        )
    shown = tuple(name for name in SHOWN if name in {"picture", *spec.shown})
    task = SightTask(
        kind="sight", judge_id=judge.id, samples=spec.samples, answers=spec.answers, shown=shown,
        sampling=sampling,
    )  # fmt: skip

    def pictures(sample: Sample) -> tuple[PicturePart, ...]:
        return read_material(store, sample).pictures

    worklist = SightWorklist(
        study_id=study.id,
        items=_items(store, study, task, sets, samples, drawn),
        pictures=pictures,
        judge=judge.id,
        sampling=sampling,
        shown=shown,
    )
    return SightGround(
        study=study, judge=judge, endpoint=endpoint, task=task, worklist=worklist,
        eligible=len(samples),
    )  # fmt: skip


def _check(spec: SightSpec) -> None:
    if spec.samples < 1:
        raise UsageError(f"{spec.samples:,} questions: at least 1 is needed")
    if not 1 <= spec.answers <= MOST_ANSWERS:
        raise UsageError(
            f"{spec.answers:,} answers to each question: 1 to {MOST_ANSWERS} can be asked about"
        )
    if not set(spec.shown) & {"none", "other", "caption"}:
        raise UsageError(
            "with its picture alone nothing is compared: show it none, another one, or a caption"
        )


def _answers(
    store: Store, study: Study, order: Sequence[str], spec: SightSpec
) -> dict[str, list[str]]:
    """Draw questions in their order until enough have an answer, and answers to each."""
    found: dict[str, list[str]] = {}
    for some in parts(order, max(4 * spec.samples, 100)):
        mine: dict[str, list[str]] = {}
        for one in first_answers(study_answers(store, study, sample_ids=some)).values():
            if one.judgeable:
                mine.setdefault(one.sample_id, []).append(one.id)
        for name in some:
            if name in mine:
                ids = sorted(mine[name], key=lambda one: content_id("sight", study.id, one))
                found[name] = ids[: spec.answers]
            if len(found) == spec.samples:
                return found
    return found


def _items(
    store: Store,
    study: Study,
    task: SightTask,
    sets: Mapping[str, CriteriaSet],
    samples: Mapping[str, Sample],
    drawn: Mapping[str, Sequence[str]],
) -> list[SightItem]:
    ids = [name for names in drawn.values() for name in names]
    responses = {one.id: one for one in store.get_many(Response, ids)}
    cut = [use.criterion_id for name in drawn for use in sets[name].uses]
    criteria = {one.id: one for one in store.get_many(Criterion, cut)}
    own = marks_asked_as(store, study, ids, task.judge_id, scoring.PROMPT, task.sampling)
    others = other_samples(study.id, samples, drawn)
    told = _described(store, drawn) if "caption" in task.shown else {}
    items = []
    for name, names in drawn.items():
        of_sample = scoring.in_order(sets[name], list(_those(criteria, sets[name])))
        items += [
            SightItem(
                sample=samples[name],
                response=responses[answer],
                criteria_set=sets[name],
                criteria=of_sample,
                other=others.get(name),
                described=told.get(name),
                again=not {one.id for one in of_sample} <= own.get(answer, {}).keys(),
            )
            for answer in names
            if of_sample
        ]
    return items


def _those(criteria: Mapping[str, Criterion], of: CriteriaSet) -> Iterator[Criterion]:
    return (criteria[use.criterion_id] for use in of.uses if use.criterion_id in criteria)


def other_samples(
    study_id: str, samples: Mapping[str, Sample], wanted: Sequence[str] | Mapping[str, object]
) -> dict[str, Sample]:
    """Choose, for questions, a sample whose pictures are shown in place of their own.

    It shares no picture with the question, its known answer is another one, and where there is
    such a sample it has as many pictures and comes from the same data set.

    Args:
        study_id: the study; the choice depends on it and the samples alone.
        samples: all that could be chosen, by id.
        wanted: the questions' ids.

    Returns:
        By the question's id; a question for which none is fit is left out.
    """
    order = sorted(samples, key=lambda name: content_id("other picture", study_id, name))
    place = {name: at for at, name in enumerate(order)}
    found: dict[str, Sample] = {}
    for name in wanted:
        mine, at = samples[name], place[name]
        turned = (samples[other] for other in (*order[at + 1 :], *order[:at]))
        fit: Sample | None = None
        for other in turned:
            if not _fit(mine, other):
                continue
            if _alike(mine, other):
                fit = other
                break
            fit = fit or other
        if fit is not None:
            found[name] = fit
    return found


def _fit(mine: Sample, other: Sample) -> bool:
    shared = {slot.picture_id for slot in mine.pictures} & {
        slot.picture_id for slot in other.pictures
    }
    if shared or (mine.cluster is not None and mine.cluster == other.cluster):
        return False
    answers = [" ".join((one.reference or "").casefold().split()) for one in (mine, other)]
    # Two unknown answers may be the same; pictures that aren't shared are all that is known then.
    return answers[0] != answers[1] or not any(answers)


def _alike(mine: Sample, other: Sample) -> bool:
    return (len(mine.pictures), mine.dataset) == (len(other.pictures), other.dataset)


def _described(store: Store, sample_ids: Mapping[str, object]) -> dict[str, str]:
    """Return what labels of the study say that pictures show."""
    columns = table(Tag).c
    found: dict[str, str] = {}
    for part in parts(sample_ids):
        for tag in store.select(
            Tag,
            columns.subject == "sample",
            columns.subject_id.in_(part),
            columns.facet.in_(FACETS),
            order_by=[columns.facet.desc(), columns.source, columns.value],
        ):
            if tag.value.strip():
                found[tag.subject_id] = tag.value.strip()[:LONGEST]
    return found


def forecast_sight(
    store: Store, spec: SightSpec, endpoints: Mapping[str, Endpoint]
) -> SightForecast:
    """Say what a run would ask and cost; nothing is written.

    Raises:
        UsageError: it asks for something that isn't there.
    """
    ground = lay_sight(store, spec, endpoints)
    worklist, endpoint = ground.worklist, ground.endpoint
    have = load_verdicts(store, ground.study.id)
    left = open_asks(worklist, have, retry_failed=spec.retry_failed)
    written = {ask.key for ask in worklist.descriptions()}
    descriptions = [ask for ask in left if ask.key in written]
    costs = [price_of(endpoint, descriptions, len(descriptions))]
    by: Counter[PictureCondition] = Counter()
    for name in ground.task.shown:
        mine = [ask for ask in left if ask.key not in written and _is(ask.blank.part, name)]
        if name == "caption":
            mine += [worklist.ask(item, name, "x" * TYPICAL) for item in worklist.items
                     if worklist.waits(item, have)]  # fmt: skip
        if mine:
            by[name] = len(mine)
            costs.append(price_of(endpoint, mine, len(mine)))
    return SightForecast(
        samples=ground.questions,
        eligible=ground.eligible,
        answers=len(worklist.items),
        by=dict(by),
        descriptions=len(descriptions),
        own=sum(not item.again for item in worklist.items) if "again" in ground.task.shown else 0,
        alone=sum(item.other is None for item in worklist.items),
        cost=total_cost(costs),
    )


def _is(part: str, name: PictureCondition) -> bool:
    return part.startswith(SIGHT_PART) and shown_of(part)[0] == name


class _SightWork(Work[SightSpec, SightGround]):
    """Has a judge mark answers with the picture and without; the same again goes on."""

    sealed = "this study is sealed: copy it (`study copy`), and ask the judge in your own copy"

    def prepare(
        self, store: Store, spec: SightSpec, endpoints: Mapping[str, Endpoint], moment: str
    ) -> SightGround:
        return lay_sight(store, spec, endpoints)

    def forecast(
        self, store: Store, spec: SightSpec, endpoints: Mapping[str, Endpoint]
    ) -> SightForecast:
        return forecast_sight(store, spec, endpoints)

    def questions(self, store: Store, ground: SightGround) -> tuple[ConsentQuestion, ...]:
        items = ground.worklist.items
        return questions_of(
            [ground.endpoint],
            ground.study.consent,
            lambda: [
                (*item.sample.pictures, *(item.other.pictures if item.other else ()))
                for item in items
            ],
        )

    def row(self, spec: SightSpec, ground: SightGround, moment: datetime) -> Run:
        task, created = ground.task, stamp(moment)
        return Run(
            id=task.run_id(ground.study.id),
            study_id=ground.study.id,
            judge=ground.endpoint.name,
            task=task,
            budget=spec.budget,
            created=created,
            heartbeat=created,
        )

    def begin(self, writer: Writer, ground: SightGround, moment: str) -> None:
        writer.put([ground.judge])

    def spec_of(
        self, store: Store, run: Run, endpoints: Mapping[str, Endpoint], *, retry_failed: bool
    ) -> SightSpec:
        task = run.task
        assert isinstance(task, SightTask)
        return SightSpec(
            study_id=run.study_id, judge=run.judge or "", samples=task.samples,
            answers=task.answers, shown=task.shown, budget=run.budget, retry_failed=retry_failed,
            sampling=task.sampling,
        )  # fmt: skip

    def execution(self, context: RunContext, spec: SightSpec, ground: SightGround) -> Execution:
        return WorklistExecution(
            context, ground.worklist, ground.study.id, {"judge": ground.endpoint},
            retry_failed=spec.retry_failed,
        )  # fmt: skip


WORK: Final = _SightWork()

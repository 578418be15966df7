"""One sample in full: from the picture to the judge's reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atom.records import (
    JUDGE_SCALE,
    Call,
    Candidate,
    CriteriaSet,
    Criterion,
    Judge,
    Mapping,
    Outcome,
    PictureSlot,
    Region,
    Replay,
    Response,
    Sample,
    StudySample,
    Tag,
)
from atom.store import Store, table
from atom.store.standing.answers import answers_to
from atom.store.standing.criteria import in_order
from atom.store.standing.marks import RepeatedMarks, repeated_marks
from atom.store.standing.outcomes import outcomes_of
from atom.views.failures.marked import (
    CheckpointView,
    checkpoint_view,
    mean_score,
    points_words,
    weighted_points,
)
from atom.views.failures.votes import PairVotes, sample_votes
from atom.views.filters import Filters
from atom.views.study_data import StudyData
from taxonomy import Path


@dataclass(frozen=True, kw_only=True)
class CriterionView:
    """One criterion of the sample, across answers."""

    number: int
    """1-based, in the chain's order."""
    criterion: Criterion
    weight: float
    stated_weight: float | None
    regions: tuple[Region, ...]
    leaf: Path | None
    leaf_detail: str
    """Why it hangs nowhere, when it doesn't."""
    marks: tuple[CheckpointView, ...]
    """One an answer, in the study's order of candidates."""
    chosen: bool
    penalty: bool = False
    """Whether it takes points away."""

    @property
    def weight_words(self) -> str:
        """Its weight as it was declared; a penalty's with a minus."""
        return f"{'−' if self.penalty else ''}{self.weight:g}"


@dataclass(frozen=True, kw_only=True)
class AnswerView:
    """One candidate's answer."""

    response: Response
    candidate: Candidate
    colour: int
    outcomes: tuple[Outcome, ...]
    """What is known of its final answer, the one that counts first."""
    score: float | None
    """Mean of its scored checkpoints, weighted, 1..5; on other scales the mean of `1 + 4 value`,
    less what penalties take (see `analysis.answer_scores`)."""
    chosen: bool
    ours: bool = True
    """Whether all of them are on our own judges' scale."""

    @property
    def score_words(self) -> str:
        """`3.70 of 5`, or `67.5 of 100` on another scale; `–` without a score."""
        return (
            "–"
            if self.score is None
            else f"{points_words(self.score, ours=self.ours)} of " + ("5" if self.ours else "100")
        )


@dataclass(frozen=True, kw_only=True)
class SampleView:
    """Everything about a sample in a study.

    Attributes:
        sample: question, choices, reference, pictures.
        replay: the judge's own solution; None while there is none.
        criteria_set: the criteria that stand for it; None while there are none.
        criteria: in the chain's order.
        answers: one a candidate (and repeat), in the study's order.
        answer: the chosen model's answer, else the one with the lowest score on the chosen
            criterion, else the first; None without answers.
        mark: the chosen criterion's checkpoint on that answer; None without one.
        criterion: the chosen criterion; None without criteria.
        tags: (facet, value), sorted.
        calls: raw replies by call id, those of replay, criteria and the shown answer.
        quarantined: judge and reference disagree.
        votes: votes between its answers, a pair and judge each.
    """

    sample: Sample
    replay: Replay | None
    criteria_set: CriteriaSet | None
    criteria: tuple[CriterionView, ...]
    answers: tuple[AnswerView, ...]
    answer: AnswerView | None
    criterion: CriterionView | None
    mark: CheckpointView | None
    tags: tuple[tuple[str, str], ...]
    calls: dict[str, Call]
    quarantined: bool
    votes: tuple[PairVotes, ...] = ()

    @property
    def missing(self) -> tuple[PictureSlot, ...]:
        """Pictures that are not attached yet."""
        return tuple(slot for slot in self.sample.pictures if slot.picture_id is None)


@dataclass(frozen=True, kw_only=True)
class SampleParts:
    """What of a sample is the same whoever answers.

    Attributes:
        replay: the judge's solution, if there is one.
        criteria_set: the criteria that count, if there are any.
        criteria: these by id.
        mappings: where they hang in the study's tree, by criterion.
        tags: (facet, value).
    """

    sample: Sample
    replay: Replay | None
    criteria_set: CriteriaSet | None
    criteria: dict[str, Criterion]
    mappings: dict[str, Mapping]
    tags: tuple[tuple[str, str], ...]
    votes: tuple[PairVotes, ...]


def sample_parts(store: Store, data: StudyData, sample_id: str) -> SampleParts | None:
    """Read what of a sample is the same whoever answers; None when the study has no such sample."""
    if sample_id not in data.sample_position:
        return None
    sample = store.get(Sample, sample_id)
    if sample is None:
        return None
    place = store.get(StudySample, data.study.id, sample_id)
    replay = store.get(Replay, place.replay_id) if place and place.replay_id else None
    criteria_set = (
        store.get(CriteriaSet, place.criteria_set_id) if place and place.criteria_set_id else None
    )
    ids = [use.criterion_id for use in criteria_set.uses] if criteria_set else []
    return SampleParts(
        sample=sample,
        replay=replay,
        criteria_set=criteria_set,
        criteria={criterion.id: criterion for criterion in store.get_many(Criterion, ids)},
        mappings={
            mapping.criterion_id: mapping
            for mapping in store.get_many(Mapping, ids, "criterion_id")
            if mapping.tree_version == data.study.tree_version
        },
        tags=_tags(store, sample_id),
        votes=sample_votes(store, data, sample_id),
    )


def sample_view(
    store: Store,
    data: StudyData,
    filters: Filters,
    *,
    alone: bool = False,
    parts: SampleParts | None = None,
) -> SampleView | None:
    """Read one sample in full.

    Args:
        filters: `sample`, and optionally `model` and `criterion`.
        alone: leave the other models' answers and marks aside; there may be hundreds.
        parts: what is read of the sample already.

    Returns:
        The view-model, or None when the study has no such sample.
    """
    if parts is None and filters.sample is not None:
        parts = sample_parts(store, data, filters.sample)
    if parts is None:
        return None
    sample, replay, criteria_set = parts.sample, parts.replay, parts.criteria_set
    responses = _responses(store, data, sample.id, filters.model if alone else None)
    ids = [response.id for _, response in responses]
    marks = repeated_marks(store, data.study, ids, _judge(data), data.scale)
    answers = _answers(store, data, filters, responses, criteria_set, marks)
    criteria = _criteria(filters, parts, responses, marks, _panel(store, data, ids, marks))
    criterion = next((view for view in criteria if view.chosen), None)
    answer = _shown_answer(answers, criterion)
    mark = _chosen_mark(criterion, answer)
    call_ids = [
        record.call_id for record in (replay, criteria_set, answer and answer.response) if record
    ]
    call_ids += [mark.checkpoint.call_id if mark and mark.checkpoint else None]
    call_ids += [view.checkpoint.call_id for c in criteria for view in c.marks if view.checkpoint]
    return SampleView(
        sample=sample,
        replay=replay,
        criteria_set=criteria_set,
        criteria=criteria,
        answers=answers,
        answer=answer,
        criterion=criterion,
        mark=mark,
        tags=parts.tags,
        calls={call.id: call for call in store.get_many(Call, filter(None, call_ids))},
        quarantined=bool(data.table.quarantined[data.sample_position[sample.id]]),
        votes=parts.votes,
    )


def _responses(
    store: Store, data: StudyData, sample_id: str, only: str | None
) -> list[tuple[int, Response]]:
    """Return (colour, answer) of the study's own answers, in its order of candidates."""
    found = [
        (number, response)
        for response in answers_to(store, data.study, sample_id, only)
        if (number := data.model_index(response.candidate_id)) is not None
    ]
    return sorted(found, key=lambda pair: (pair[0], pair[1].repeat))


def _judge(data: StudyData) -> str:
    """Return the judge whose marks and outcomes are looked at."""
    return (data.study.judge_id or "") if data.judge is None else data.judge.id


def _answers(
    store: Store,
    data: StudyData,
    filters: Filters,
    responses: list[tuple[int, Response]],
    criteria_set: CriteriaSet | None,
    marks: RepeatedMarks,
) -> tuple[AnswerView, ...]:
    outcomes = outcomes_of(store, [r.id for _, r in responses], _judge(data))
    views = []
    for number, response in responses:
        own = [
            mark
            for use in (criteria_set.uses if criteria_set else ())
            for mark in marks.get((use.criterion_id, response.id), ())
        ]
        pairs = [
            (use.weight, score, use.polarity == "penalty")
            for use in (criteria_set.uses if criteria_set else ())
            if (score := mean_score(marks.get((use.criterion_id, response.id), ()))) is not None
        ]
        views.append(
            AnswerView(
                response=response,
                candidate=data.candidates[number],
                colour=number,
                outcomes=outcomes.get(response.id, ()),
                score=weighted_points(pairs),
                ours=all(mark.scale == JUDGE_SCALE.id for mark in own),
                chosen=response.candidate_id == filters.model and response.repeat == 0,
            )
        )
    return tuple(views)


def _criteria(
    filters: Filters,
    parts: SampleParts,
    responses: list[tuple[int, Response]],
    marks: RepeatedMarks,
    panel: Sequence[tuple[Judge, RepeatedMarks]],
) -> tuple[CriterionView, ...]:
    if parts.criteria_set is None or not parts.criteria_set.uses:
        return ()
    uses = in_order(parts.criteria_set)
    first = uses[0].criterion_id
    chosen = filters.criterion if filters.criterion in parts.criteria else first
    views = []
    for number, use in enumerate(uses, start=1):
        criterion = parts.criteria.get(use.criterion_id)
        if criterion is None:
            continue
        mapping = parts.mappings.get(criterion.id)
        views.append(
            CriterionView(
                number=number,
                criterion=criterion,
                weight=use.weight,
                stated_weight=use.stated_weight,
                regions=use.regions,
                leaf=mapping.leaf if mapping else None,
                leaf_detail=mapping.detail if mapping else "not mapped yet",
                marks=tuple(
                    checkpoint_view(use, response, colour, marks, panel)
                    for colour, response in responses
                ),
                chosen=criterion.id == chosen,
                penalty=use.polarity == "penalty",
            )
        )
    return tuple(views)


def _panel(
    store: Store, data: StudyData, ids: Sequence[str], marks: RepeatedMarks
) -> list[tuple[Judge, RepeatedMarks]]:
    """Read what each judge marked, people left out; nothing where there is no panel."""
    if data.table.apart is None:
        return []
    return [
        (
            judge,
            marks
            if judge.id == _judge(data)
            else repeated_marks(store, data.study, ids, judge.id, None),
        )
        for judge in data.judges
        if judge.kind != "person"
    ]


def _shown_answer(
    answers: tuple[AnswerView, ...], criterion: CriterionView | None
) -> AnswerView | None:
    chosen = next((view for view in answers if view.chosen), None)
    if chosen is not None or not answers:
        return chosen
    lowest = {
        mark.checkpoint.response_id: mark.score
        for mark in (criterion.marks if criterion else ())
        if mark.checkpoint is not None and mark.score is not None
    }
    return min(answers, key=lambda view: lowest.get(view.response.id, 9))


def _chosen_mark(
    criterion: CriterionView | None, answer: AnswerView | None
) -> CheckpointView | None:
    if criterion is None or answer is None:
        return None
    for mark in criterion.marks:
        if mark.checkpoint is not None and mark.checkpoint.response_id == answer.response.id:
            return mark
    return None


def _tags(store: Store, sample_id: str) -> tuple[tuple[str, str], ...]:
    rows = table(Tag)
    found = store.select(Tag, rows.c.subject == "sample", rows.c.subject_id == sample_id)
    return tuple(sorted({(tag.facet, tag.value) for tag in found}))

"""What is still to do: a pure function of what is stored.

A sample's *state* is the names and states of everything that is stored about it. An *item* is one
thing to do, as a rule one model call. Items become ready as soon as what they need is
there, so stages flow sample by sample instead of phase by phase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from atom.pipeline import ANSWER, CRITERIA, MAPPING, OUTCOME, REPLAY, SCORING
from atom.records import (
    Checkpoint,
    CriteriaSet,
    Look,
    MarkState,
    Outcome,
    Record,
    Replay,
    Response,
    Sampling,
    StageName,
    State,
    content_id,
)
from atom.records import Mapping as LeafMapping
from atom.stages.stage import Stage


@dataclass(frozen=True, kw_only=True)
class PlanKeys:
    """What the content keys of a run's items are made of.

    Args:
        stages: stages that are asked for.
        judge_id: the judge; empty when no stage needs one.
        asked: ids of the candidates that answer in this run.
        prompts: each stage's template id and version, as records call it under this run's setting.
        judge_sampling: what the judge's requests ask for.
        answer_sampling: the study's settings for answers; stored answers that agree with them
            count.
        asked_samplings: what a candidate's requests ask for, by id, where its endpoint adds to
            the study's settings.
        tree_version: the tree that criteria are mapped to.
        repeats: scorings of each response.
        answer_repeats: answers of each candidate that is asked.
        told: whether the judge is told the reference answer when it solves a sample.
        blind: whether the judge scores without the pictures.
        retry_failed: whether failed items are wanted again.
        retry_unscored: whether what is unscored through a server's fault is wanted again.
        look: the only answers that are asked for and marked; None = all.
    """

    stages: frozenset[StageName]
    judge_id: str
    asked: tuple[str, ...]
    prompts: Mapping[StageName, str]
    judge_sampling: Sampling
    answer_sampling: Sampling
    tree_version: str
    asked_samplings: Mapping[str, Sampling] = field(default_factory=dict)
    repeats: int = 1
    answer_repeats: int = 1
    told: bool = False
    blind: bool = False
    retry_failed: bool = False
    retry_unscored: bool = False
    look: Look | None = None

    def wants(self, sample_id: str, candidate_id: str) -> bool:
        """Tell whether an answer is asked for and marked in this run."""
        return self.look is None or candidate_id in self.look.asked.get(sample_id, ())

    @cached_property
    def judging(self) -> str:
        """A short name for the judge with its prompts and settings."""
        prompts = sorted(self.prompts.items())
        return content_id("judging", self.judge_id, prompts, self.judge_sampling.key)

    def asks(self, candidate_id: str) -> Sampling:
        """Return what a candidate's requests ask for."""
        return self.asked_samplings.get(candidate_id, self.answer_sampling)

    def response_id(self, sample_id: str, candidate_id: str, repeat: int = 0) -> str:
        """Name a response that an asked candidate gives."""
        return _response_id(
            sample_id, candidate_id, self.prompts[ANSWER.name], self.asks(candidate_id), repeat
        )

    def replay_id(self, sample_id: str) -> str:
        """Name the replay that this judge makes."""
        return _replay_id(sample_id, self.judge_id, self.prompts[REPLAY.name], self.judge_sampling)

    def criteria_set_id(self, sample_id: str) -> str:
        """Name the criteria set that this judge cuts."""
        return _criteria_set_id(
            sample_id, self.judge_id, self.prompts[CRITERIA.name], self.judge_sampling
        )

    def checkpoint_key(self, criterion_id: str, response_id: str, repeat: int) -> str:
        """Name a checkpoint; an equal key is already paid for."""
        return _checkpoint_key(
            criterion_id,
            response_id,
            self.judge_id,
            self.prompts[SCORING.name],
            self.judge_sampling,
            repeat,
        )


# A state is looked at many times while it's open, so its names are kept for a while.
_checkpoint_key = lru_cache(maxsize=100_000)(Checkpoint.make_key)
_response_id = lru_cache(maxsize=20_000)(Response.make_id)
_replay_id = lru_cache(maxsize=2_000)(Replay.make_id)
_criteria_set_id = lru_cache(maxsize=2_000)(CriteriaSet.make_id)


@dataclass(frozen=True, kw_only=True)
class RecordState:
    """A stored replay or criteria set, by name and state."""

    id: str
    state: State


@dataclass(frozen=True, kw_only=True)
class HeldResponse:
    """A stored response, by candidate and state."""

    candidate_id: str
    state: State


@dataclass(frozen=True, kw_only=True)
class SampleState:
    """One sample and what is stored about it.

    Args:
        has_reference: whether its right answer is known.
        replay: the replay that stands for it, or None.
        criteria: the criteria set that stands for it, or None.
        criterion_ids: the set's criteria, in order.
        mapped: state of each criterion's mapping to the plan's tree version.
        responses: its responses by id (corrections left out).
        checkpoints: state by checkpoint key, of the plan's judge.
        verdicts: state of the outcome by response id.
        spoiled: what is unscored through a server's fault: ids of responses, replay and criteria
            set, keys of checkpoints, `criterion id` of mappings, `outcome/response id`. Read only
            where it is to be asked again.
        tried: keys of items that were tried in this run.
    """

    sample_id: str
    has_reference: bool = True
    replay: RecordState | None = None
    criteria: RecordState | None = None
    criterion_ids: tuple[str, ...] = ()
    mapped: Mapping[str, State] = field(default_factory=dict)
    responses: Mapping[str, HeldResponse] = field(default_factory=dict)
    checkpoints: Mapping[str, MarkState] = field(default_factory=dict)
    verdicts: Mapping[str, State] = field(default_factory=dict)
    spoiled: frozenset[str] = frozenset()
    tried: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing to do.

    Args:
        key: its name by content; claims and accounts use it.
        candidate_id: for an answer.
        response_id: for a scoring or an outcome.
        criterion_ids: for a scoring or a mapping: the criteria that are still without.
        repeat: for an answer or a scoring.
        again: whether it was done before, and is to take the place of what it brought.
        spoiled: whether that is unscored through a server's fault: it stays unless better comes.
    """

    stage: StageName
    key: str
    sample_id: str
    candidate_id: str = ""
    response_id: str = ""
    criterion_ids: tuple[str, ...] = ()
    repeat: int = 0
    again: bool = False
    spoiled: bool = False


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What is left of a sample.

    Args:
        ready: items that can be done now.
        later: how many more items follow if all goes well.
    """

    ready: tuple[Item, ...] = ()
    later: int = 0

    @property
    def remaining(self) -> int:
        """Items left, ready or not."""
        return len(self.ready) + self.later


def outlook(have: SampleState, keys: PlanKeys) -> Outlook:
    """Say what is left to do for a sample.

    Args:
        have: the sample and what is stored about it.
        keys: the run's stages, judge, candidates, prompts and settings.

    Returns:
        Items that are ready, in the order of the stages, and how many follow. Nothing follows
        from an item that failed or came back unusable.
    """

    def due(stage: Stage) -> list[Item]:
        return list(_DUE[stage.name](have, keys)) if does(stage) else []

    def does(stage: Stage) -> bool:
        return stage.name in keys.stages

    answers, replay, criteria = due(ANSWER), due(REPLAY), due(CRITERIA)
    later = 0
    ready = answers + replay
    if criteria and _there(have.replay):
        ready += criteria
    elif criteria and replay:
        later += 1
    else:
        criteria = []

    if _there(have.criteria):
        ready += due(MAPPING) + due(SCORING)
    elif criteria:
        later += does(MAPPING) + does(SCORING) * len(_usable(have, keys)) * keys.repeats
    if _there(have.criteria) or criteria:
        later += does(SCORING) * len(answers) * keys.repeats
    return Outlook(ready=(*ready, *due(OUTCOME)), later=later)


def _there(held: RecordState | None) -> bool:
    return held is not None and held.state == "scored"


def _usable(have: SampleState, keys: PlanKeys) -> list[str]:
    """List the answers that can be judged, and are to be."""
    return [
        name
        for name, response in have.responses.items()
        if response.state == "scored" and keys.wants(have.sample_id, response.candidate_id)
    ]


def _wanted(
    have: SampleState, keys: PlanKeys, item_key: str, state: MarkState | None, name: str = ""
) -> bool:
    if item_key in have.tried:
        return False
    again = keys.retry_failed or keys.retry_unscored
    return state is None or (state == "failed" and again) or name in have.spoiled


def _answers(have: SampleState, keys: PlanKeys) -> Iterator[Item]:
    for repeat in range(keys.answer_repeats):
        for candidate_id in keys.asked:
            if not keys.wants(have.sample_id, candidate_id):
                continue
            key = keys.response_id(have.sample_id, candidate_id, repeat)
            held = have.responses.get(key)
            if _wanted(have, keys, key, held.state if held else None, key):
                yield Item(
                    stage=ANSWER.name,
                    key=key,
                    sample_id=have.sample_id,
                    candidate_id=candidate_id,
                    response_id=key,
                    repeat=repeat,
                    again=held is not None,
                    spoiled=key in have.spoiled,
                )


def _replay(have: SampleState, keys: PlanKeys) -> list[Item]:
    return _one_of_a_sample(have, keys, REPLAY, keys.replay_id(have.sample_id), have.replay)


def _criteria(have: SampleState, keys: PlanKeys) -> list[Item]:
    key = keys.criteria_set_id(have.sample_id)
    return _one_of_a_sample(have, keys, CRITERIA, key, have.criteria)


def _one_of_a_sample(
    have: SampleState, keys: PlanKeys, stage: Stage, key: str, held: RecordState | None
) -> list[Item]:
    spoiled = held is not None and held.id in have.spoiled
    state = held.state if held else None
    name = held.id if held else ""
    if not _wanted(have, keys, key, state, name):
        return []
    return [
        Item(
            stage=stage.name,
            key=key,
            sample_id=have.sample_id,
            again=held is not None,
            spoiled=spoiled,
        )
    ]


def _mapping(have: SampleState, keys: PlanKeys) -> list[Item]:
    assert have.criteria is not None
    key = f"mapping/{have.criteria.id}/{keys.tree_version}"
    missing = tuple(
        c for c in have.criterion_ids if _wanted(have, keys, key, have.mapped.get(c), c)
    )
    if not missing:
        return []
    return [
        Item(
            stage=MAPPING.name,
            key=key,
            sample_id=have.sample_id,
            criterion_ids=missing,
            again=any(c in have.mapped for c in missing),
            spoiled=not have.spoiled.isdisjoint(missing),
        )
    ]


def _scorings(have: SampleState, keys: PlanKeys) -> Iterator[Item]:
    assert have.criteria is not None
    for response_id in _usable(have, keys):
        for repeat in range(keys.repeats):
            names = {c: keys.checkpoint_key(c, response_id, repeat) for c in have.criterion_ids}
            key = f"scoring/{have.criteria.id}/{response_id}/{keys.judging}/{repeat}"
            missing = tuple(
                c for c, k in names.items() if _wanted(have, keys, key, have.checkpoints.get(k), k)
            )
            if missing:
                yield Item(
                    stage=SCORING.name,
                    key=key,
                    sample_id=have.sample_id,
                    candidate_id=have.responses[response_id].candidate_id,
                    response_id=response_id,
                    criterion_ids=missing,
                    repeat=repeat,
                    again=any(names[c] in have.checkpoints for c in missing),
                    spoiled=any(names[c] in have.spoiled for c in missing),
                )


def _outcomes(have: SampleState, keys: PlanKeys) -> Iterator[Item]:
    if not have.has_reference:
        return
    for response_id in _usable(have, keys):
        key = f"outcome/{response_id}/{keys.judging}"
        state = have.verdicts.get(response_id)
        name = outcome_name(response_id)
        if _wanted(have, keys, key, state, name):
            yield Item(
                stage=OUTCOME.name,
                key=key,
                sample_id=have.sample_id,
                candidate_id=have.responses[response_id].candidate_id,
                response_id=response_id,
                again=state is not None,
                spoiled=name in have.spoiled,
            )


_DUE: Mapping[StageName, Callable[[SampleState, PlanKeys], Iterable[Item]]] = {
    ANSWER.name: _answers,
    REPLAY.name: _replay,
    CRITERIA.name: _criteria,
    MAPPING.name: _mapping,
    SCORING.name: _scorings,
    OUTCOME.name: _outcomes,
}
"""What each stage has to do for a sample, ready or not; a mapping and a scoring need criteria."""


def outcome_name(response_id: str) -> str:
    """Name an answer's outcome among what is spoiled."""
    return f"outcome/{response_id}"


def finished(have: SampleState, item: Item, records: Sequence[Record]) -> SampleState:
    """Fold what an item brought into its sample's state.

    Args:
        item: the item that is done, well or not.
        records: what it brought.

    Returns:
        The state after, as a fresh look at the store would give it.
    """
    have = replace(have, tried=have.tried | {item.key})
    for record in records:
        match record:
            case Response():
                held = HeldResponse(candidate_id=record.candidate_id, state=record.state)
                have = replace(have, responses={**have.responses, record.id: held})
            case Replay():
                have = replace(have, replay=RecordState(id=record.id, state=record.state))
            case CriteriaSet():
                have = replace(
                    have,
                    criteria=RecordState(id=record.id, state=record.state),
                    criterion_ids=tuple(use.criterion_id for use in record.uses),
                )
            case LeafMapping():
                have = replace(have, mapped={**have.mapped, record.criterion_id: record.state})
            case Checkpoint():
                have = replace(have, checkpoints={**have.checkpoints, record.key: record.state})
            case Outcome():
                have = replace(have, verdicts={**have.verdicts, record.response_id: record.state})
            case _:
                pass
    return have


def expected(have: SampleState, item: Item, n_criteria: int) -> SampleState:
    """Fold an item into its sample's state as if it had gone well, for a forecast.

    Args:
        n_criteria: criteria that a set is taken to have.
    """
    have = replace(have, tried=have.tried | {item.key})
    held = RecordState(id=item.key, state="scored")
    if item.stage == ANSWER.name:
        given = HeldResponse(candidate_id=item.candidate_id, state="scored")
        return replace(have, responses={**have.responses, item.response_id: given})
    if item.stage == REPLAY.name:
        return replace(have, replay=held)
    if item.stage == CRITERIA.name:
        ids = tuple(f"{item.key}.{number}" for number in range(n_criteria))
        return replace(have, criteria=held, criterion_ids=ids)
    return have


def state_of(records: Sequence[Record]) -> State:
    """Account for an item: `failed` or `unscored` as soon as one of its records is."""
    states = {
        record.state
        for record in records
        if isinstance(record, Response | Replay | CriteriaSet | LeafMapping | Checkpoint | Outcome)
    }
    for state in ("failed", "unscored"):
        if state in states:
            return state
    return "scored"

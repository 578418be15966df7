"""What is still to do: a pure function of what is stored.

A *case* is one sample with the names and states of everything that is stored about it. An *item*
is one thing to do, as a rule one model call. Items become ready as soon as what they need is
there, so stages flow sample by sample instead of phase by phase.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from atom.records import (
    Checkpoint,
    CriteriaSet,
    MarkState,
    Outcome,
    Record,
    Replay,
    Response,
    Sampling,
    Stage,
    State,
    content_id,
)
from atom.records import Mapping as LeafMapping

STAGES: tuple[Stage, ...] = ("answer", "replay", "criteria", "mapping", "scoring", "outcome")
JUDGE_STAGES: frozenset[Stage] = frozenset(STAGES) - {"answer"}


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """What a run is asked to do.

    Args:
        study_id: the study it adds to.
        stages: which stages it does; it never asks for what another stage would have to bring.
        judge: the judge's endpoint name; None = the study's own judge, where one is needed.
        candidates: endpoint names of the candidates that answer; empty = judge what is there.
        limit: at most this many samples, in the study's order.
        repeats: how often the judge scores each answer; replays and criteria are asked for once.
        answer_repeats: how often each candidate answers each question.
        budget: spend cap in USD for the whole run, resumptions included.
        retry_failed: ask again for items that failed earlier.
        retry_unscored: ask again for those, and for what ended unscored through a server's fault.
        show_reference: tell the judge the reference answer when it solves a sample. Untold (the
            default), a sample whose reference it doesn't reach by itself is set aside.
        score_pictures: let the judge see the pictures when it scores; without them its marks are
            others, and count only where there are none that saw the pictures.
        judge_sampling: how the judge is asked; the study's settings from then on. None = as the
            study says.
        answer_sampling: how candidates are asked, likewise.
    """

    study_id: str
    stages: tuple[Stage, ...] = STAGES
    judge: str | None = None
    candidates: tuple[str, ...] = ()
    limit: int | None = None
    repeats: int = 1
    answer_repeats: int = 1
    budget: float | None = None
    retry_failed: bool = False
    retry_unscored: bool = False
    show_reference: bool = False
    score_pictures: bool = True
    judge_sampling: Sampling | None = None
    answer_sampling: Sampling | None = None


@dataclass(frozen=True, kw_only=True)
class PlanKeys:
    """What the content keys of a run's items are made of.

    Args:
        stages: stages that are asked for.
        judge_id: the judge; empty when no stage needs one.
        asked: ids of the candidates that answer in this run.
        prompts: each stage's template id and version.
        judge_sampling: what the judge's requests ask for.
        answer_sampling: the study's settings for answers; stored answers that agree with them
            count.
        asked_samplings: what a candidate's requests ask for, by id, where its endpoint adds to
            the study's settings.
        tree_version: the tree that criteria are mapped to.
        repeats: scorings of each response.
        answer_repeats: answers of each candidate that is asked.
        retry_failed: whether failed items are wanted again.
        retry_unscored: whether what is unscored through a server's fault is wanted again.
    """

    stages: frozenset[Stage]
    judge_id: str
    asked: tuple[str, ...]
    prompts: Mapping[Stage, str]
    judge_sampling: Sampling
    answer_sampling: Sampling
    tree_version: str
    asked_samplings: Mapping[str, Sampling] = field(default_factory=dict)
    repeats: int = 1
    answer_repeats: int = 1
    retry_failed: bool = False
    retry_unscored: bool = False

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
            sample_id, candidate_id, self.prompts["answer"], self.asks(candidate_id), repeat
        )

    def replay_id(self, sample_id: str) -> str:
        """Name the replay that this judge makes."""
        return _replay_id(sample_id, self.judge_id, self.prompts["replay"], self.judge_sampling)

    def criteria_set_id(self, sample_id: str) -> str:
        """Name the criteria set that this judge cuts."""
        return _criteria_set_id(
            sample_id, self.judge_id, self.prompts["criteria"], self.judge_sampling
        )

    def checkpoint_key(self, criterion_id: str, response_id: str, repeat: int) -> str:
        """Name a checkpoint; an equal key is already paid for."""
        return _checkpoint_key(
            criterion_id,
            response_id,
            self.judge_id,
            self.prompts["scoring"],
            self.judge_sampling,
            repeat,
        )


# A case is looked at many times while it's open, so its names are kept for a while.
_checkpoint_key = lru_cache(maxsize=100_000)(Checkpoint.make_key)
_response_id = lru_cache(maxsize=20_000)(Response.make_id)
_replay_id = lru_cache(maxsize=2_000)(Replay.make_id)
_criteria_set_id = lru_cache(maxsize=2_000)(CriteriaSet.make_id)


@dataclass(frozen=True, kw_only=True)
class Held:
    """A stored replay or criteria set, by name and state."""

    id: str
    state: State


@dataclass(frozen=True, kw_only=True)
class HeldResponse:
    """A stored response, by candidate and state."""

    candidate_id: str
    state: State


@dataclass(frozen=True, kw_only=True)
class Case:
    """One sample and what is stored about it.

    Args:
        sample_id: the sample.
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
    replay: Held | None = None
    criteria: Held | None = None
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
        stage: the stage.
        key: its name by content; claims and accounts use it.
        sample_id: the sample.
        candidate_id: for an answer.
        response_id: for a scoring or an outcome.
        criterion_ids: for a scoring or a mapping: the criteria that are still without.
        repeat: for an answer or a scoring.
        again: whether it was done before, and is to take the place of what it brought.
        spoiled: whether that is unscored through a server's fault: it stays unless better comes.
    """

    stage: Stage
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
    """What is left of a case.

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


def outlook(case: Case, keys: PlanKeys) -> Outlook:
    """Say what is left to do for a case.

    Args:
        case: the sample and what is stored about it.
        keys: the run's stages, judge, candidates, prompts and settings.

    Returns:
        Items that are ready, in the order of the stages, and how many follow. Nothing follows
        from an item that failed or came back unusable.
    """
    ready = list(_answers(case, keys))
    to_come = len(ready)
    later = 0

    replay = _replay(case, keys)
    ready += replay
    replay_there = case.replay is not None and case.replay.state == "scored"

    criteria = _criteria(case, keys)
    if criteria and replay_there:
        ready += criteria
    elif criteria and replay:
        later += 1
    else:
        criteria = []
    criteria_there = case.criteria is not None and case.criteria.state == "scored"

    usable = [i for i, r in case.responses.items() if r.state == "scored"]
    if criteria_there:
        ready += _mapping(case, keys)
        ready += _scorings(case, keys, usable)
    elif criteria:
        later += "mapping" in keys.stages
        later += len(usable) * keys.repeats * ("scoring" in keys.stages)
    if (criteria_there or criteria) and "scoring" in keys.stages:
        later += to_come * keys.repeats
    ready += _outcomes(case, keys, usable)
    return Outlook(ready=tuple(ready), later=later)


def _wanted(
    case: Case, keys: PlanKeys, item_key: str, state: MarkState | None, name: str = ""
) -> bool:
    if item_key in case.tried:
        return False
    again = keys.retry_failed or keys.retry_unscored
    return state is None or (state == "failed" and again) or name in case.spoiled


def _answers(case: Case, keys: PlanKeys) -> Iterator[Item]:
    if "answer" not in keys.stages:
        return
    for repeat in range(keys.answer_repeats):
        for candidate_id in keys.asked:
            key = keys.response_id(case.sample_id, candidate_id, repeat)
            held = case.responses.get(key)
            if _wanted(case, keys, key, held.state if held else None, key):
                yield Item(
                    stage="answer",
                    key=key,
                    sample_id=case.sample_id,
                    candidate_id=candidate_id,
                    response_id=key,
                    repeat=repeat,
                    again=held is not None,
                    spoiled=key in case.spoiled,
                )


def _replay(case: Case, keys: PlanKeys) -> list[Item]:
    return _one_of_a_sample(case, keys, "replay", keys.replay_id(case.sample_id), case.replay)


def _criteria(case: Case, keys: PlanKeys) -> list[Item]:
    key = keys.criteria_set_id(case.sample_id)
    return _one_of_a_sample(case, keys, "criteria", key, case.criteria)


def _one_of_a_sample(
    case: Case, keys: PlanKeys, stage: Stage, key: str, held: Held | None
) -> list[Item]:
    spoiled = held is not None and held.id in case.spoiled
    state = held.state if held else None
    name = held.id if held else ""
    if stage not in keys.stages or not _wanted(case, keys, key, state, name):
        return []
    return [
        Item(
            stage=stage,
            key=key,
            sample_id=case.sample_id,
            again=held is not None,
            spoiled=spoiled,
        )
    ]


def _mapping(case: Case, keys: PlanKeys) -> list[Item]:
    assert case.criteria is not None
    if "mapping" not in keys.stages:
        return []
    key = f"mapping/{case.criteria.id}/{keys.tree_version}"
    missing = tuple(
        c for c in case.criterion_ids if _wanted(case, keys, key, case.mapped.get(c), c)
    )
    if not missing:
        return []
    return [
        Item(
            stage="mapping",
            key=key,
            sample_id=case.sample_id,
            criterion_ids=missing,
            again=any(c in case.mapped for c in missing),
            spoiled=not case.spoiled.isdisjoint(missing),
        )
    ]


def _scorings(case: Case, keys: PlanKeys, usable: Sequence[str]) -> Iterator[Item]:
    assert case.criteria is not None
    if "scoring" not in keys.stages:
        return
    for response_id in usable:
        for repeat in range(keys.repeats):
            names = {c: keys.checkpoint_key(c, response_id, repeat) for c in case.criterion_ids}
            key = f"scoring/{case.criteria.id}/{response_id}/{keys.judging}/{repeat}"
            missing = tuple(
                c for c, k in names.items() if _wanted(case, keys, key, case.checkpoints.get(k), k)
            )
            if missing:
                yield Item(
                    stage="scoring",
                    key=key,
                    sample_id=case.sample_id,
                    candidate_id=case.responses[response_id].candidate_id,
                    response_id=response_id,
                    criterion_ids=missing,
                    repeat=repeat,
                    again=any(names[c] in case.checkpoints for c in missing),
                    spoiled=any(names[c] in case.spoiled for c in missing),
                )


def _outcomes(case: Case, keys: PlanKeys, usable: Sequence[str]) -> Iterator[Item]:
    if "outcome" not in keys.stages or not case.has_reference:
        return
    for response_id in usable:
        key = f"outcome/{response_id}/{keys.judging}"
        state = case.verdicts.get(response_id)
        name = outcome_name(response_id)
        if _wanted(case, keys, key, state, name):
            yield Item(
                stage="outcome",
                key=key,
                sample_id=case.sample_id,
                candidate_id=case.responses[response_id].candidate_id,
                response_id=response_id,
                again=state is not None,
                spoiled=name in case.spoiled,
            )


def outcome_name(response_id: str) -> str:
    """Name an answer's outcome among what is spoiled."""
    return f"outcome/{response_id}"


def finished(case: Case, item: Item, records: Sequence[Record]) -> Case:
    """Fold what an item brought into its case.

    Args:
        case: the case before.
        item: the item that is done, well or not.
        records: what it brought.

    Returns:
        The case after, as a fresh look at the store would give it.
    """
    case = replace(case, tried=case.tried | {item.key})
    for record in records:
        match record:
            case Response():
                held = HeldResponse(candidate_id=record.candidate_id, state=record.state)
                case = replace(case, responses={**case.responses, record.id: held})
            case Replay():
                case = replace(case, replay=Held(id=record.id, state=record.state))
            case CriteriaSet():
                case = replace(
                    case,
                    criteria=Held(id=record.id, state=record.state),
                    criterion_ids=tuple(use.criterion_id for use in record.uses),
                )
            case LeafMapping():
                case = replace(case, mapped={**case.mapped, record.criterion_id: record.state})
            case Checkpoint():
                case = replace(case, checkpoints={**case.checkpoints, record.key: record.state})
            case Outcome():
                case = replace(case, verdicts={**case.verdicts, record.response_id: record.state})
            case _:
                pass
    return case


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

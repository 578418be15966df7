"""Who takes part in a run: the study, its judge, its candidates and its tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from atom.engine.induction.first_tree import first_tree
from atom.engine.plan import PlanKeys
from atom.engine.study.spec import RunSpec
from atom.errors import DataError, SettingsError, UsageError
from atom.judge.keys import endpoint_key
from atom.judge.sampling import asked_sampling
from atom.pipeline import LOOP, stages_named
from atom.records import (
    Candidate,
    Endpoint,
    Judge,
    Role,
    Sampling,
    StageName,
    Study,
    StudyCandidate,
    StudySample,
    TreeRecord,
    content_id,
)
from atom.stages.stage import Setting
from atom.store import Store, find_study, study_candidates, study_places
from atom.store.holds import update_study
from atom.store.standing.marks import has_marks
from taxonomy import Tree, TreeFormatError, parse_tree, to_json, tree_version

MOST_REPEATS = 20
HOTTEST = 5.0
DETAILS = ("low", "high", "auto")
PROMPTS: Mapping[StageName, str] = {stage.name: stage.prompt for stage in LOOP}


@dataclass(frozen=True, kw_only=True)
class Members:
    """What a run works with.

    Args:
        study: the study, with the run's sampling settings.
        judge: the judge, or None when no stage needs one.
        asked: endpoint by candidate id, for the candidates that answer.
        candidates: the candidates that answer.
        candidate_ids: all candidates of the study, with those that answer.
        tree: the tree that criteria are mapped to.
        places: the samples, in order, cut off at the run's limit.
    """

    study: Study
    judge: Judge | None
    judge_endpoint: Endpoint | None
    asked: Mapping[str, Endpoint]
    candidates: tuple[Candidate, ...]
    candidate_ids: tuple[str, ...]
    tree: Tree
    tree_record: TreeRecord
    places: tuple[StudySample, ...]

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Every endpoint that the run asks, the judge's first."""
        judge = (self.judge_endpoint,) if self.judge_endpoint else ()
        return tuple({e.name: e for e in (*judge, *self.asked.values())}.values())

    @property
    def judge_sampling(self) -> Sampling:
        """What the judge's requests ask for: the study's settings, filled from the endpoint's."""
        return asks(self.judge_endpoint, self.study.judge_sampling)

    @property
    def asked_samplings(self) -> dict[str, Sampling]:
        """What each asked candidate's requests ask for, by its id."""
        return {name: asks(e, self.study.answer_sampling) for name, e in self.asked.items()}

    def completed(self, spec: RunSpec) -> RunSpec:
        """Fill in what a run leaves to the study, so that it stays the same when that changes."""
        return replace(
            spec,
            study_id=self.study.id,
            judge=self.judge_endpoint.name if self.judge_endpoint else spec.judge,
            judge_sampling=self.study.judge_sampling,
            answer_sampling=self.study.answer_sampling,
        )

    def keys(self, spec: RunSpec) -> PlanKeys:
        """Say what the run's content keys are made of."""
        judge = self.judge.id if self.judge else ""
        how = Setting(
            who=judge,
            sampling=self.judge_sampling,
            told=spec.show_reference,
            blind=not spec.score_pictures,
        )
        return PlanKeys(
            stages=frozenset(spec.stages),
            judge_id=judge,
            asked=tuple(self.asked),
            prompts={stage.name: stage.named(how) for stage in LOOP},
            told=how.told,
            blind=how.blind,
            judge_sampling=how.sampling,
            answer_sampling=self.study.answer_sampling,
            asked_samplings=self.asked_samplings,
            tree_version=self.tree_record.version,
            repeats=spec.repeats,
            answer_repeats=spec.answer_repeats,
            retry_failed=spec.retry_failed,
            retry_unscored=spec.retry_unscored,
            look=spec.look,
        )


def asks(endpoint: Endpoint | None, settings: Sampling) -> Sampling:
    """Return what requests ask for: a study's settings, filled from the endpoint's."""
    return settings if endpoint is None else asked_sampling(endpoint, settings)


def settled(study: Study, spec: RunSpec) -> Study:
    """Return a study with the sampling settings that a run asks for."""
    update = {
        name: value
        for name, value in (
            ("judge_sampling", spec.judge_sampling),
            ("answer_sampling", spec.answer_sampling),
        )
        if value is not None
    }
    return study.model_copy(update=update) if update else study


def judge_of(endpoint: Endpoint) -> Judge:
    """Make the record of a judge: named by its model, wherever that is served."""
    return Judge(
        id=content_id("judge", endpoint.model),
        name=endpoint.model,
        family=endpoint.family,
        endpoint=endpoint.name,
        synthetic=endpoint.is_probe,
    )


def candidate_of(endpoint: Endpoint) -> Candidate:
    """Make the record of a candidate: named by its model, wherever that is served."""
    return Candidate(
        id=content_id("candidate", endpoint.model),
        name=endpoint.model,
        family=endpoint.family,
        endpoint=endpoint.name,
        synthetic=endpoint.is_probe,
    )


def pick_endpoint(endpoints: Mapping[str, Endpoint], name: str, role: Role) -> Endpoint:
    """Find an endpoint for a role.

    Raises:
        UsageError: there is none of that name, or it may not play the role.
    """
    endpoint = endpoints.get(name)
    if endpoint is None:
        known = ", ".join(repr(n) for n, e in endpoints.items() if role in e.roles) or "none"
        raise UsageError(f"there is no endpoint {name!r}; endpoints for a {role}: {known}")
    if role not in endpoint.roles:
        raise UsageError(
            f"the endpoint {name!r} has the roles {', '.join(endpoint.roles)}; "
            f"add {role!r} to them in endpoints.yaml, or choose another"
        )
    return endpoint


def study_tree(store: Store, study: Study, created: str) -> tuple[Tree, TreeRecord]:
    """Return a study's tree; while it has none, the one that it begins with.

    Raises:
        DataError: the study names a tree that isn't there or can't be read.
    """
    if study.tree_version is None:
        tree = first_tree(store, study)
        record = TreeRecord(
            version=tree_version(tree), name=tree.name, body=to_json(tree), created=created
        )
        return tree, record
    found = store.get(TreeRecord, study.tree_version)
    if found is None:
        raise DataError(
            f"the study's tree {study.tree_version!r} isn't in the store: choose a tree version"
        )
    try:
        return parse_tree(found.body, depth=None), found
    except TreeFormatError as error:
        raise DataError(f"the study's tree {found.name!r} can't be read: {error}") from error


def gather(store: Store, spec: RunSpec, endpoints: Mapping[str, Endpoint], created: str) -> Members:
    """Find everybody who takes part in a run.

    Raises:
        UsageError: the run is asked for something that isn't there; the message says what to do.
        SettingsError: an endpoint's key isn't set, or a budget is given and it has no prices.
    """
    study = settled(find_study(store, spec.study_id), spec)
    _check_numbers(spec)
    judge_endpoint = _judge_endpoint(store, spec, study, endpoints)
    asked = [pick_endpoint(endpoints, name, "candidate") for name in spec.candidates]
    if asked and not any(stage.by_candidate for stage in stages_named(spec.stages)):
        raise UsageError("candidates are named but the stage 'answer' isn't asked for: add it")
    for endpoint in (*([judge_endpoint] if judge_endpoint else []), *asked):
        check_endpoint(endpoint, spec.budget)
    candidates = {c.id: c for c in map(candidate_of, asked)}
    if len(candidates) < len(asked):
        raise UsageError(
            "two of the candidates' endpoints serve the same model: name each model once"
        )
    there = [c.id for c in study_candidates(store, study.id)]
    tree, tree_record = study_tree(store, study, created)
    places = study_places(store, study.id)
    if not places:
        raise UsageError(f"the study {study.name!r} has no samples: import some or make probes")
    if spec.look is not None:
        places = [place for place in places if place.sample_id in spec.look.asked]
    return Members(
        study=study,
        judge=judge_of(judge_endpoint) if judge_endpoint else None,
        judge_endpoint=judge_endpoint,
        asked=dict(zip(candidates, asked, strict=True)),
        candidates=tuple(candidates.values()),
        candidate_ids=tuple(dict.fromkeys([*there, *candidates])),
        tree=tree,
        tree_record=tree_record,
        places=tuple(
            drawn(study.id, places, spec.limit) if spec.at_random else places[: spec.limit]
        ),
    )


def drawn(study_id: str, places: Sequence[StudySample], most: int | None) -> list[StudySample]:
    """Draw some of a study's samples at random, in the study's order.

    Whoever asks gets the same ones, and a larger part holds the smaller ones: names decide, by
    their hash.
    """
    hashed = sorted(places, key=lambda one: content_id("part", study_id, one.sample_id))
    chosen = {one.sample_id for one in hashed[:most]}
    return [one for one in places if one.sample_id in chosen]


def _check_numbers(spec: RunSpec) -> None:
    if not spec.stages:
        raise UsageError("no stage is asked for: name at least one, e.g. 'scoring'")
    if spec.limit is not None and spec.limit < 1:
        raise UsageError(f"the limit is {spec.limit}: at least 1 sample is needed")
    for repeats in (spec.repeats, spec.answer_repeats):
        if not 1 <= repeats <= MOST_REPEATS:
            raise UsageError(f"{repeats} repeats: 1 to {MOST_REPEATS} are allowed")
    for sampling in (spec.judge_sampling, spec.answer_sampling):
        if sampling is not None:
            check_sampling(sampling)
    if spec.budget is not None and spec.budget < 0:
        raise UsageError(f"the budget is {spec.budget}: it can't be negative")


def check_sampling(sampling: Sampling) -> None:
    """Find out what no server takes.

    Raises:
        UsageError: a setting is out of its range; the message names it.
    """
    hot, share, room = sampling.temperature, sampling.top_p, sampling.max_tokens
    if hot is not None and not 0 <= hot <= HOTTEST:
        raise UsageError(f"the temperature is {hot:g}: 0 to {HOTTEST:g} are allowed")
    if share is not None and not 0 < share <= 1:
        raise UsageError(f"top-p is {share:g}: it is a share, above 0 and up to 1")
    if room is not None and room < 1:
        raise UsageError(f"the longest reply is {room} tokens: at least 1 is needed")
    if sampling.image_detail not in (None, *DETAILS):
        raise UsageError(
            f"the image detail is {sampling.image_detail!r}: it is one of {', '.join(DETAILS)}"
        )


def check_endpoint(endpoint: Endpoint, budget: float | None) -> None:
    """Find out before the first call what would make every call fail."""
    endpoint_key(endpoint)
    if budget is not None and endpoint.prices.unknown:
        raise SettingsError(
            f"a budget is given, but the endpoint {endpoint.name!r} has no prices, so it can't be "
            "kept: give its prices for input and output (0 for a free server), or leave the budget"
        )


def _judge_endpoint(
    store: Store, spec: RunSpec, study: Study, endpoints: Mapping[str, Endpoint]
) -> Endpoint | None:
    if all(stage.by_candidate for stage in stages_named(spec.stages)):
        return None
    name = spec.judge
    if name is None and study.judge_id is not None:
        judge = store.get(Judge, study.judge_id)
        name = judge.endpoint if judge else None
    if name is None:
        raise UsageError("the stages need a judge and the study has none yet: name its endpoint")
    return pick_endpoint(endpoints, name, "judge")


def enrol(store: Store, members: Members) -> Study:
    """Write the run's judge, candidates and tree into the study.

    The judge becomes the study's own when it has none, or none that scored anything here.
    """
    study = members.study
    update: dict[str, object] = {}
    if study.tree_version is None:
        update["tree_version"] = members.tree_record.version
    other = members.judge is not None and study.judge_id != members.judge.id
    if other and (study.judge_id is None or not has_marks(store, study, study.judge_id)):
        assert members.judge is not None
        update["judge_id"] = members.judge.id
    there = {c.id for c in study_candidates(store, study.id)}
    new = [c for c in members.candidates if c.id not in there]
    with store.write() as writer:
        writer.put([members.tree_record, *([members.judge] if members.judge else [])])
        writer.put(members.candidates)
        writer.put(
            StudyCandidate(study_id=study.id, candidate_id=c.id, position=len(there) + number)
            for number, c in enumerate(new)
        )
        if update:
            study = study.model_copy(update=update)
            update_study(writer, study.id, **update)
    return study

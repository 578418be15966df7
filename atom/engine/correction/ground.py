"""What a self-correction experiment is asked, and what stands in the study for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

from atom.engine.members import Members, check_endpoint, judge_of, pick_endpoint, study_tree
from atom.errors import UsageError
from atom.records import (
    Arm,
    Candidate,
    Endpoint,
    Experiment,
    FailedRule,
    Judge,
    RunKind,
    Scale,
    Study,
    StudySample,
)
from atom.store import Store, find_study, study_candidates
from atom.store.standing.marks import shown_scale

ARMS: tuple[Arm, ...] = get_args(Arm)


USUAL_ARMS: tuple[Arm, ...] = ("rejudge", "fresh", "told", "sham", "guided")


PEER_ARMS: frozenset[Arm] = frozenset({"peer", "guided_peer"})


HEAVY = 3
"""A criterion of this weight or more is heavy (METHODS A3)."""


LOW = 3
"""A sample score below this is a failed one (METHODS A3)."""


RIGHT = 0.5
"""An outcome of this or more counts as right."""


MOST_LOWEST = 2
"""Questions that an answer without a failed criterion is asked: its lowest-scored ones."""


MOST_ROUNDS = 5


@dataclass(frozen=True, kw_only=True)
class CorrectionSpec:
    """What a self-correction experiment is asked to do.

    Args:
        study_id: the study whose answers are tried again.
        candidate: the model, by id or name.
        judge: the judge's endpoint name; None = the study's own judge.
        arms: what is done with each failed answer.
        threshold: a criterion with this score or less is failed.
        rounds: tries in a row at most.
        node: only answers that failed a criterion under this node; empty = anywhere.
        sample_ids: only these samples; empty = all.
        limit: at most this many failed answers, drawn at random.
        right_answers: how many initially right answers get guided feedback, too (break rate).
        seed: another seed draws other answers.
        budget: spend cap in USD, resumptions included.
        peers: endpoint names of models that may write hints; empty = all of the study's that have
            an endpoint.
        retry_failed: ask again for what failed earlier.
        experiment_id: the experiment that is taken up again; None = what these words name.
    """

    kind: ClassVar[RunKind] = "experiment"

    study_id: str
    candidate: str
    judge: str | None = None
    arms: tuple[Arm, ...] = USUAL_ARMS
    failed_rule: FailedRule = "outcome"
    threshold: int = 2
    rounds: int = 1
    node: tuple[str, ...] = ()
    sample_ids: tuple[str, ...] = ()
    limit: int | None = None
    right_answers: int = 0
    seed: int = 0
    budget: float | None = None
    peers: tuple[str, ...] = ()
    retry_failed: bool = False
    experiment_id: str | None = None

    def experiment(self, study: Study, candidate: Candidate, judge: Judge) -> Experiment:
        """Make the record of the experiment, named by what it asks for."""
        arms = tuple(arm for arm in ARMS if arm in self.arms)
        blank = Experiment(
            id="blank",
            study_id=study.id,
            candidate_id=candidate.id,
            judge_id=judge.id,
            failed_rule=self.failed_rule,
            threshold=self.threshold,
            arms=arms,
            rounds=self.rounds,
            node=self.node,
            sample_ids=tuple(sorted(self.sample_ids)),
            limit=self.limit,
            right_answers=self.right_answers,
            seed=self.seed,
        )
        peers = sorted(self.peers) if PEER_ARMS & set(arms) else []
        return blank.model_copy(update={"id": Experiment.make_id(blank, peers)})


@dataclass(frozen=True, kw_only=True)
class ExperimentParts:
    """What an experiment works with.

    Args:
        candidate: whose answers are tried again.
        peers: endpoint by candidate id, of those that may write hints.
        candidates: all of the study's.
        scale: the scale of the judge's marks that count; None = the newest, mark by mark.
    """

    experiment: Experiment
    study: Study
    judge: Judge
    judge_endpoint: Endpoint
    candidate: Candidate
    endpoint: Endpoint
    peers: Mapping[str, Endpoint]
    candidates: tuple[Candidate, ...]
    scale: Scale | None = None

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Every endpoint that is asked, the model's own first."""
        peers = self.peers.values() if PEER_ARMS & set(self.experiment.arms) else ()
        return tuple({e.name: e for e in (self.endpoint, self.judge_endpoint, *peers)}.values())

    def members(self, store: Store, places: Sequence[StudySample]) -> Members:
        """Say who takes part as a run says it, for the consent question."""
        tree, record = study_tree(store, self.study, "")
        asked = {self.candidate.id: self.endpoint}
        if PEER_ARMS & set(self.experiment.arms):
            asked |= self.peers
        return Members(
            study=self.study,
            judge=self.judge,
            judge_endpoint=self.judge_endpoint,
            asked=asked,
            candidates=(self.candidate,),
            candidate_ids=tuple(candidate.id for candidate in self.candidates),
            tree=tree,
            tree_record=record,
            places=tuple(places),
        )


def prepare(
    store: Store, spec: CorrectionSpec, endpoints: Mapping[str, Endpoint]
) -> ExperimentParts:
    """Find everybody who takes part in an experiment.

    Raises:
        UsageError: it asks for something that isn't there; the message says what to do.
        SettingsError: an endpoint's key isn't set, or a budget is given and it has no prices.
    """
    study = find_study(store, spec.study_id)
    _check_numbers(spec)
    candidates = tuple(study_candidates(store, study.id))
    candidate = _candidate(candidates, spec.candidate)
    judge_endpoint = _judge_endpoint(store, spec, study, endpoints)
    endpoint = endpoint_of(candidate, endpoints)
    if endpoint is None:
        raise UsageError(_no_endpoint(candidate))
    judge = judge_of(judge_endpoint)
    ground = ExperimentParts(
        experiment=spec.experiment(study, candidate, judge),
        study=study,
        judge=judge,
        judge_endpoint=judge_endpoint,
        candidate=candidate,
        endpoint=endpoint,
        peers=_peers(spec, candidate, candidates, endpoints),
        candidates=candidates,
        scale=shown_scale(store, study, judge.id),
    )
    for asked in ground.endpoints:
        check_endpoint(asked, spec.budget)
    return ground


def endpoint_of(candidate: Candidate, endpoints: Mapping[str, Endpoint]) -> Endpoint | None:
    """Return where a candidate can be asked: its own endpoint, else one that serves its model."""
    own = endpoints.get(candidate.endpoint or "")
    if own is not None and "candidate" in own.roles:
        return own
    serving = (e for e in endpoints.values() if "candidate" in e.roles)
    return next((e for e in serving if e.model == candidate.name), None)


def _no_endpoint(candidate: Candidate) -> str:
    how = (
        f"its endpoint {candidate.endpoint!r} isn't among the known ones"
        if candidate.endpoint
        else "its answers were imported"
    )
    return (
        f"{candidate.name!r} can't be asked again: {how}. Add an endpoint, in Settings or in "
        f"endpoints.yaml, whose model is {candidate.name!r} and whose roles hold 'candidate'"
    )


def _candidate(candidates: Sequence[Candidate], wanted: str) -> Candidate:
    for candidate in candidates:
        if wanted in (candidate.id, candidate.name):
            return candidate
    names = ", ".join(repr(candidate.name) for candidate in candidates) or "none yet"
    raise UsageError(f"there is no model {wanted!r} in this study; its models: {names}")


def _judge_endpoint(
    store: Store, spec: CorrectionSpec, study: Study, endpoints: Mapping[str, Endpoint]
) -> Endpoint:
    name = spec.judge
    if name is None and study.judge_id is not None:
        judge = store.get(Judge, study.judge_id)
        name = judge.endpoint if judge else None
    if name is None:
        raise UsageError("new answers need a judge and the study has none yet: name its endpoint")
    return pick_endpoint(endpoints, name, "judge")


def _peers(
    spec: CorrectionSpec,
    candidate: Candidate,
    candidates: Sequence[Candidate],
    endpoints: Mapping[str, Endpoint],
) -> dict[str, Endpoint]:
    if not PEER_ARMS & set(spec.arms):
        return {}
    others = [other for other in candidates if other.id != candidate.id]
    found = {c.id: e for c in others if (e := endpoint_of(c, endpoints)) is not None}
    for name in spec.peers:
        pick_endpoint(endpoints, name, "candidate")
        if name not in {endpoint.name for endpoint in found.values()}:
            known = ", ".join(repr(e.name) for e in found.values()) or "none"
            raise UsageError(
                f"the endpoint {name!r} can't write hints: it serves no other model of this "
                f"study. Endpoints that do: {known}"
            )
    if spec.peers:
        found = {c: e for c, e in found.items() if e.name in spec.peers}
    if not found:
        raise UsageError(
            "hints need a peer and no other model of this study has an endpoint: add one "
            "in Settings or in endpoints.yaml, or leave the arms 'peer' and 'guided_peer'"
        )
    return found


def _check_numbers(spec: CorrectionSpec) -> None:
    unknown = [arm for arm in spec.arms if arm not in ARMS]
    if unknown:
        raise UsageError(f"{unknown[0]!r} isn't an arm; arms are {', '.join(ARMS)}")
    if not spec.arms:
        raise UsageError(f"no arm is asked for: name at least one of {', '.join(ARMS)}")
    if spec.failed_rule not in get_args(FailedRule):
        raise UsageError(
            f"{spec.failed_rule!r} doesn't say which answers failed; "
            f"allowed are {', '.join(get_args(FailedRule))}"
        )
    if not 2 <= spec.threshold <= 4:
        raise UsageError(f"the threshold is {spec.threshold}: 2, 3 or 4 are allowed")
    if not 1 <= spec.rounds <= MOST_ROUNDS:
        raise UsageError(f"{spec.rounds:,} rounds: 1 to {MOST_ROUNDS} are allowed")
    if spec.limit is not None and spec.limit < 0:
        raise UsageError(f"the limit is {spec.limit}: it can't be negative")
    if spec.right_answers < 0:
        raise UsageError(f"{spec.right_answers:,} right answers: it can't be negative")
    if spec.right_answers and "guided" not in spec.arms:
        raise UsageError("right answers get guided feedback: add the arm 'guided'")
    if spec.budget is not None and spec.budget < 0:
        raise UsageError(f"the budget is {spec.budget}: it can't be negative")

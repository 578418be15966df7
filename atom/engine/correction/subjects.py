"""Who takes part in a self-correction experiment: the model, its peers, and which of its answers.

Reference: METHODS A2 (failed criterion), A3 (failed sample), B14 (cohorts).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, get_args

from atom.engine.members import Members, check_endpoint, judge_of, pick_endpoint, study_tree
from atom.errors import UsageError
from atom.records import (
    Arm,
    Candidate,
    Checkpoint,
    Cohort,
    CriteriaSet,
    Criterion,
    Endpoint,
    Experiment,
    FailedRule,
    Judge,
    Replay,
    Response,
    RunKind,
    Sample,
    Scale,
    Study,
    StudySample,
    content_id,
)
from atom.stages import correction, outcome
from atom.store import Store, find_study, study_candidates, study_places
from atom.store.standing import (
    Answer,
    first_answers,
    in_order,
    leaves_of,
    marks_of,
    quarantined,
    scores_of,
    shown_scale,
    standing_sets,
    study_answers,
    values_of,
)

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
        failed_rule: which answers failed.
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
class Ground:
    """What an experiment works with.

    Args:
        experiment: what it asks for.
        study: the study.
        judge: who scores.
        judge_endpoint: where the judge is asked.
        candidate: whose answers are tried again.
        endpoint: where it is asked.
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


def prepare(store: Store, spec: CorrectionSpec, endpoints: Mapping[str, Endpoint]) -> Ground:
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
    ground = Ground(
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
        f"{candidate.name!r} can't be asked again: {how}. Add an endpoint with "
        f"`model: {candidate.name}` and `roles: [candidate]` to endpoints.yaml"
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
            "hints need a peer and no other model of this study has an endpoint: add one to "
            "endpoints.yaml, or leave the arms 'peer' and 'guided_peer'"
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
        raise UsageError(f"{spec.rounds} rounds: 1 to {MOST_ROUNDS} are allowed")
    if spec.limit is not None and spec.limit < 0:
        raise UsageError(f"the limit is {spec.limit}: it can't be negative")
    if spec.right_answers < 0:
        raise UsageError(f"{spec.right_answers} right answers: it can't be negative")
    if spec.right_answers and "guided" not in spec.arms:
        raise UsageError("right answers get guided feedback: add the arm 'guided'")
    if spec.budget is not None and spec.budget < 0:
        raise UsageError(f"the budget is {spec.budget}: it can't be negative")


@dataclass(frozen=True, kw_only=True)
class PeerAnswer:
    """A peer's answer that passed a criterion.

    Args:
        peer_id: the peer.
        response_id: its answer.
    """

    peer_id: str
    response_id: str


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An answer that takes part.

    Args:
        sample: the question.
        first: the answer.
        cohort: whether it failed or was right.
        value: whether its final answer is right; None where that isn't known.
        criteria_set: the criteria that stand for the sample; None when there are none.
        criteria: those criteria by id.
        checkpoints: the judge's scores of the answer.
        peers: for each criterion that a peer passed, the chosen peer's answer.
        final: the judge's own final answer, which no feedback may say either; for samples without
            a reference.
    """

    sample: Sample
    first: Response
    cohort: Cohort
    value: float | None
    criteria_set: CriteriaSet | None = None
    criteria: Mapping[str, Criterion] = field(default_factory=dict)
    checkpoints: tuple[Checkpoint, ...] = ()
    peers: Mapping[str, PeerAnswer] = field(default_factory=dict)
    final: str | None = None

    @cached_property
    def by_judge(self) -> bool:
        """Whether a new final answer will probably be checked by the judge: no rule can tell."""
        if self.sample.reference is None:
            return False
        return outcome.check(self.sample, self.first) is None

    @cached_property
    def uses(self) -> tuple[tuple[str, float], ...]:
        """(criterion id, weight), in the set's order."""
        if self.criteria_set is None:
            return ()
        ordered = sorted(self.criteria_set.uses, key=lambda use: use.position)
        return tuple((u.criterion_id, u.weight) for u in ordered if u.criterion_id in self.criteria)


@dataclass(frozen=True, kw_only=True)
class Found:
    """Which answers take part and which don't.

    Args:
        subjects: those that do, in the study's order, failed ones first.
        places: their samples' places.
        answers: the model's answers in all.
        failed: how many failed, before any limit.
        right: how many are right, before any limit.
        left_out: why others are left out, and how many.
    """

    subjects: tuple[Subject, ...]
    places: tuple[StudySample, ...]
    answers: int
    failed: int
    right: int
    left_out: Mapping[str, int]


QUARANTINED = "the judge's own solution disagrees with the reference answer"
NO_ANSWER = "the model gave no usable answer"
UNKNOWN = "nobody knows whether the final answer is right"
NOT_SCORED = "the judge hasn't scored this answer"
ELSEWHERE = "no criterion under this node failed"
NOT_DRAWN = "not drawn: there are more than the limit"


def has_failed(
    rule: FailedRule,
    threshold: int,
    *,
    value: float | None,
    uses: Sequence[tuple[str, float]],
    scores: Mapping[str, int],
) -> bool | None:
    """Say whether an answer failed (METHODS A3).

    Args:
        rule: what counts as failed.
        threshold: a criterion with this score or less is failed.
        value: whether the final answer is right.
        uses: (criterion id, weight).
        scores: criterion id -> score, of the criteria that are scored.

    Returns:
        None where nobody knows: no outcome, or nothing scored.
    """
    if rule == "outcome":
        return None if value is None else value < RIGHT
    scored = [(scores[c], weight) for c, weight in uses if c in scores]
    if not scored:
        return None
    if rule == "score":
        total = sum(weight for _, weight in scored)
        return sum(weight * score for score, weight in scored) < LOW * total
    return any(weight >= HEAVY and score <= threshold for score, weight in scored)


@dataclass(frozen=True, kw_only=True)
class _Standing:
    """How an answer stands: what the rules look at."""

    place: StudySample
    response_id: str
    value: float | None
    uses: tuple[tuple[str, float], ...]
    scores: Mapping[str, int]

    @property
    def scored(self) -> bool:
        """Whether any criterion of it has a score."""
        return any(criterion_id in self.scores for criterion_id, _ in self.uses)


def find_subjects(store: Store, ground: Ground) -> Found:
    """Find the answers that take part.

    Samples whose replay disagrees with the reference never do. Of the failed ones that remain,
    `limit` are drawn; of the right ones with a scored criterion, `right_answers`. An answer
    that no criterion of is scored takes part in the arms that ask no question.
    """
    asked = ground.experiment
    standings, left_out = _standings(store, ground)
    failed: list[_Standing] = []
    right: list[_Standing] = []
    under = _under_node(store, ground) if asked.node else None
    for standing in standings:
        verdict = has_failed(
            asked.failed_rule,
            asked.threshold,
            value=standing.value,
            uses=standing.uses,
            scores=standing.scores,
        )
        if verdict is None:
            left_out[UNKNOWN if asked.failed_rule == "outcome" else NOT_SCORED] += 1
        elif not verdict:
            right.append(standing)
        elif under is None or any(
            c in under and s <= asked.threshold for c, s in standing.scores.items()
        ):
            failed.append(standing)
        else:
            left_out[ELSEWHERE] += 1
    drawn = _draw(failed, asked.limit, asked.seed)
    left_out[NOT_DRAWN] += len(failed) - len(drawn)
    kept = _draw([s for s in right if s.scored], asked.right_answers, asked.seed)
    answers = len(standings) + left_out[NO_ANSWER] + left_out[QUARANTINED]
    return Found(
        subjects=(*_load(store, ground, drawn, "failed"), *_load(store, ground, kept, "right")),
        places=tuple(standing.place for standing in (*drawn, *kept)),
        answers=answers,
        failed=len(failed),
        right=len(right),
        left_out={reason: n for reason, n in left_out.items() if n},
    )


def _draw(standings: Sequence[_Standing], limit: int | None, seed: int) -> list[_Standing]:
    """Draw some at random, in their order; one that comes along later displaces few."""
    if limit is None or limit >= len(standings):
        return list(standings)
    lots = sorted(standings, key=lambda s: content_id("draw", seed, s.response_id))
    chosen = {standing.response_id for standing in lots[:limit]}
    return [standing for standing in standings if standing.response_id in chosen]


def _standings(store: Store, ground: Ground) -> tuple[list[_Standing], Counter[str]]:
    """Read how the model's answers stand; answers that can't take part are counted."""
    places = study_places(store, ground.study.id)
    wanted = set(ground.experiment.sample_ids)
    places = [place for place in places if not wanted or place.sample_id in wanted]
    firsts = _firsts(store, ground, [ground.candidate.id], places)
    set_aside = quarantined(store, places)
    sets = standing_sets(store, places)
    left_out: Counter[str] = Counter()
    usable: list[tuple[StudySample, str]] = []
    for place in places:
        first = firsts.get((place.sample_id, ground.candidate.id))
        if first is None:
            continue
        if place.sample_id in set_aside:
            left_out[QUARANTINED] += 1
        elif not first.judgeable:
            left_out[NO_ANSWER] += 1
        else:
            usable.append((place, first.id))
    ids = [response_id for _, response_id in usable]
    values = values_of(store, ids, ground.judge.id)
    scores = scores_of(store, ground.study, ids, ground.judge.id, scale=ground.scale)
    standings = [
        _Standing(
            place=place,
            response_id=response_id,
            value=values.get(response_id),
            uses=tuple((use.criterion_id, use.weight) for use in in_order(sets[place.sample_id]))
            if place.sample_id in sets
            else (),
            scores=scores.get((response_id, 0), {}),
        )
        for place, response_id in usable
    ]
    return standings, left_out


def _firsts(
    store: Store, ground: Ground, candidate_ids: Sequence[str], places: Sequence[StudySample]
) -> dict[tuple[str, str], Answer]:
    """Read candidates' first answers to some samples."""
    return first_answers(
        study_answers(
            store,
            ground.study,
            sample_ids=[place.sample_id for place in places],
            candidate_ids=candidate_ids,
        )
    )


def _under_node(store: Store, ground: Ground) -> set[str]:
    """Return the criteria under the experiment's node.

    Raises:
        UsageError: nothing is mapped there.
    """
    node = ground.experiment.node
    leaves = leaves_of(store, ground.study.tree_version)
    found = {name for name, leaf in leaves.items() if leaf[: len(node)] == node}
    if not found:
        raise UsageError(
            f"no criterion is mapped under {' › '.join(node)!r}: give a node of this study's tree, "
            "`tree show` lists them"
        )
    return found


def _load(
    store: Store, ground: Ground, standings: Sequence[_Standing], cohort: Cohort
) -> list[Subject]:
    """Read what the experiment needs of the answers that take part."""
    samples = {s.id: s for s in store.get_many(Sample, [s.place.sample_id for s in standings])}
    ids = [standing.response_id for standing in standings]
    responses = {r.id: r for r in store.get_many(Response, ids)}
    sets = standing_sets(store, [s.place for s in standings if s.uses])
    used = [criterion_id for standing in standings for criterion_id, _ in standing.uses]
    criteria = {criterion.id: criterion for criterion in store.get_many(Criterion, used)}
    points = marks_of(store, ground.study, ids, ground.judge.id, scale=ground.scale)
    finals = _finals(store, standings, samples)
    peers = choose_peers(store, ground, standings)
    return [
        Subject(
            sample=samples[standing.place.sample_id],
            first=responses[standing.response_id],
            cohort=cohort,
            value=standing.value,
            criteria_set=sets.get(standing.place.sample_id),
            criteria={c: criteria[c] for c, _ in standing.uses if c in criteria},
            checkpoints=tuple(
                point
                for point in points.get((standing.response_id, 0), {}).values()
                if point.state == "scored"
            ),
            peers={c: peers[c] for c, _ in standing.uses if c in peers},
            final=finals.get(standing.place.sample_id),
        )
        for standing in standings
    ]


def _finals(
    store: Store, standings: Sequence[_Standing], samples: Mapping[str, Sample]
) -> dict[str, str]:
    """Read the judge's own final answers to samples without a reference."""
    places = [s.place for s in standings if samples[s.place.sample_id].reference is None]
    replays = store.get_many(Replay, [p.replay_id for p in places if p.replay_id])
    return {r.sample_id: r.final_answer for r in replays if r.final_answer}


def choose_peers(
    store: Store, ground: Ground, standings: Sequence[_Standing]
) -> dict[str, PeerAnswer]:
    """Choose for each criterion of some samples the peer that may write a hint on it."""
    if not ground.peers or not standings:
        return {}
    places = [standing.place for standing in standings]
    firsts = _firsts(store, ground, list(ground.peers), places)
    answer_of = {first.id: key for key, first in firsts.items() if first.judgeable}
    passed: dict[str, dict[str, int]] = {}
    found = scores_of(store, ground.study, answer_of, ground.judge.id, scale=ground.scale)
    for (response_id, _), scores in found.items():
        for criterion_id, score in scores.items():
            if score > ground.experiment.threshold and score >= correction.SOLVED:
                passed.setdefault(criterion_id, {})[answer_of[response_id][1]] = score
    ability = _abilities(store, ground)
    family = {candidate.id: candidate.family for candidate in ground.candidates}
    chosen: dict[str, PeerAnswer] = {}
    for standing in standings:
        for criterion_id, _ in standing.uses:
            peer_id = correction.choose_peer(
                criterion_id,
                passed.get(criterion_id, {}),
                ability,
                family,
                ground.candidate.id,
                threshold=ground.experiment.threshold,
            )
            if peer_id is not None:
                first = firsts[standing.place.sample_id, peer_id]
                chosen[criterion_id] = PeerAnswer(peer_id=peer_id, response_id=first.id)
    return chosen


def _abilities(store: Store, ground: Ground) -> dict[str, float]:
    """Return each model's mean checkpoint score over the study."""
    model_of = {one.id: one.candidate_id for one in study_answers(store, ground.study)}
    found: dict[str, list[int]] = {}
    for (response_id, _), scores in scores_of(
        store, ground.study, model_of, ground.judge.id, scale=ground.scale
    ).items():
        found.setdefault(model_of[response_id], []).extend(scores.values())
    return {model: sum(scores) / len(scores) for model, scores in found.items()}

"""Who takes part in a self-correction experiment: the model, its peers, and which of its answers.

Reference: METHODS A2 (failed criterion), A3 (failed sample), B14 (cohorts).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from atom.engine.correction.ground import HEAVY, LOW, RIGHT, ExperimentParts
from atom.errors import UsageError
from atom.records import (
    Checkpoint,
    Cohort,
    CriteriaSet,
    Criterion,
    FailedRule,
    Replay,
    Response,
    Sample,
    StudySample,
    content_id,
)
from atom.stages import outcome
from atom.stages.correcting import choices
from atom.store import Store, study_places
from atom.store.standing.answers import Answer, first_answers, study_answers
from atom.store.standing.criteria import in_order, leaves_of, quarantined, standing_sets
from atom.store.standing.marks import marks_of, scores_of
from atom.store.standing.outcomes import values_of


@dataclass(frozen=True, kw_only=True)
class PeerAnswer:
    """A peer's answer that passed a criterion."""

    peer_id: str
    response_id: str


@dataclass(frozen=True, kw_only=True)
class CohortAnswer:
    """An answer that takes part.

    Args:
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
class Cohorts:
    """Which answers take part and which don't.

    Args:
        subjects: those that do, in the study's order, failed ones first.
        answers: the model's answers in all.
        failed: how many failed, before any limit.
        right: how many are right, before any limit.
        left_out: why others are left out, and how many.
    """

    subjects: tuple[CohortAnswer, ...]
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
class _AnswerStanding:
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


def find_subjects(store: Store, ground: ExperimentParts) -> Cohorts:
    """Find the answers that take part.

    Samples whose replay disagrees with the reference never do. Of the failed ones that remain,
    `limit` are drawn; of the right ones with a scored criterion, `right_answers`. An answer
    that no criterion of is scored takes part in the arms that ask no question.
    """
    asked = ground.experiment
    standings, left_out = _standings(store, ground)
    failed: list[_AnswerStanding] = []
    right: list[_AnswerStanding] = []
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
    return Cohorts(
        subjects=(*_load(store, ground, drawn, "failed"), *_load(store, ground, kept, "right")),
        places=tuple(standing.place for standing in (*drawn, *kept)),
        answers=answers,
        failed=len(failed),
        right=len(right),
        left_out={reason: n for reason, n in left_out.items() if n},
    )


def _draw(
    standings: Sequence[_AnswerStanding], limit: int | None, seed: int
) -> list[_AnswerStanding]:
    """Draw some at random, in their order; one that comes along later displaces few."""
    if limit is None or limit >= len(standings):
        return list(standings)
    lots = sorted(standings, key=lambda s: content_id("draw", seed, s.response_id))
    chosen = {standing.response_id for standing in lots[:limit]}
    return [standing for standing in standings if standing.response_id in chosen]


def _standings(store: Store, ground: ExperimentParts) -> tuple[list[_AnswerStanding], Counter[str]]:
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
        _AnswerStanding(
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
    store: Store,
    ground: ExperimentParts,
    candidate_ids: Sequence[str],
    places: Sequence[StudySample],
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


def _under_node(store: Store, ground: ExperimentParts) -> set[str]:
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
    store: Store, ground: ExperimentParts, standings: Sequence[_AnswerStanding], cohort: Cohort
) -> list[CohortAnswer]:
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
        CohortAnswer(
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
    store: Store, standings: Sequence[_AnswerStanding], samples: Mapping[str, Sample]
) -> dict[str, str]:
    """Read the judge's own final answers to samples without a reference."""
    places = [s.place for s in standings if samples[s.place.sample_id].reference is None]
    replays = store.get_many(Replay, [p.replay_id for p in places if p.replay_id])
    return {r.sample_id: r.final_answer for r in replays if r.final_answer}


def choose_peers(
    store: Store, ground: ExperimentParts, standings: Sequence[_AnswerStanding]
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
            if score > ground.experiment.threshold and score >= choices.SOLVED:
                passed.setdefault(criterion_id, {})[answer_of[response_id][1]] = score
    ability = _abilities(store, ground)
    family = {candidate.id: candidate.family for candidate in ground.candidates}
    chosen: dict[str, PeerAnswer] = {}
    for standing in standings:
        for criterion_id, _ in standing.uses:
            peer_id = choices.choose_peer(
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


def _abilities(store: Store, ground: ExperimentParts) -> dict[str, float]:
    """Return each model's mean checkpoint score over the study."""
    model_of = {one.id: one.candidate_id for one in study_answers(store, ground.study)}
    found: dict[str, list[int]] = {}
    for (response_id, _), scores in scores_of(
        store, ground.study, model_of, ground.judge.id, scale=ground.scale
    ).items():
        found.setdefault(model_of[response_id], []).extend(scores.values())
    return {model: sum(scores) / len(scores) for model, scores in found.items()}

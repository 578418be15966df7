"""Which answers take part in a self-correction experiment, and with whom."""

from __future__ import annotations

import pytest

from atom.engine.correction.cohorts import (
    ELSEWHERE,
    NO_ANSWER,
    NOT_DRAWN,
    NOT_SCORED,
    QUARANTINED,
    UNKNOWN,
    find_subjects,
    has_failed,
)
from atom.engine.correction.ground import ARMS, CorrectionSpec, prepare
from atom.errors import SettingsError, UsageError
from atom.records import Candidate, Checkpoint, Mapping, Outcome, Replay, Response, Study
from atom.store import study_candidates, study_places, table

USES = (("a", 3), ("b", 2), ("c", 5))


def spec(store, **changes) -> CorrectionSpec:
    (study,) = store.select(Study)
    return CorrectionSpec(**{"study_id": study.id, "candidate": "model-h", **changes})


def found(store, endpoints, **changes):
    return find_subjects(store, prepare(store, spec(store, **changes), endpoints))


@pytest.mark.parametrize(
    ("rule", "value", "scores", "failed"),
    [
        ("outcome", 0.0, {}, True),
        ("outcome", 0.49, {}, True),
        ("outcome", 0.5, {}, False),
        ("outcome", None, {"a": 1}, None),
        # 3*3 + 2*3 + 5*3 = 30 = 3 * 10: not under 3.
        ("score", None, {"a": 3, "b": 3, "c": 3}, False),
        # 3*3 + 2*2 + 5*3 = 28 < 30.
        ("score", 1.0, {"a": 3, "b": 2, "c": 3}, True),
        # Only what is scored counts: 3*3 + 5*3 = 24 = 3 * 8.
        ("score", None, {"a": 3, "c": 3}, False),
        ("score", 0.0, {}, None),
        ("criterion", 1.0, {"a": 2, "b": 5, "c": 5}, True),
        ("criterion", 1.0, {"a": 3, "b": 1, "c": 5}, False),
        ("criterion", 0.0, {"b": 1}, False),
        ("criterion", 0.0, {}, None),
    ],
)
def test_the_rules_of_failing(rule, value, scores, failed):
    assert has_failed(rule, 2, value=value, uses=USES, scores=scores) is failed


def test_a_higher_threshold_fails_more():
    scores = {"a": 3, "b": 5, "c": 5}
    assert not has_failed("criterion", 2, value=None, uses=USES, scores=scores)
    assert has_failed("criterion", 3, value=None, uses=USES, scores=scores)


def test_wrong_answers_are_found_and_right_ones_drawn(judged, endpoints):
    seen = found(judged, endpoints, right_answers=2)
    # Read off the texts: probes 0 (142 found, the other letter given), 1, 3, 5, 6, 7 and 8 end
    # wrong; 2, 4 and 9 end right.
    assert (seen.answers, seen.failed, seen.right) == (10, 7, 3)
    wrong = {s.sample.source_id[-1] for s in seen.subjects if s.cohort == "failed"}
    assert wrong == set("0135678")
    assert [s.cohort for s in seen.subjects] == ["failed"] * 7 + ["right"] * 2
    assert {s.value for s in seen.subjects if s.cohort == "failed"} == {0.0}
    assert all(len(s.checkpoints) == len(s.criteria) > 2 for s in seen.subjects)
    assert seen.left_out == {}
    assert len(seen.places) == 9


def test_a_draw_is_the_same_again_and_another_with_another_seed(judged, endpoints):
    def ids(**changes):
        return [s.first.id for s in found(judged, endpoints, **changes).subjects]

    everyone = ids()
    two = ids(limit=2)
    assert two == ids(limit=2)
    assert len(two) == 2
    assert two == [name for name in everyone if name in two]
    assert set(two) <= set(ids(limit=3))
    assert any(set(ids(limit=2, seed=seed)) != set(two) for seed in range(1, 6))
    assert found(judged, endpoints, limit=1).left_out == {NOT_DRAWN: 6}


def test_only_some_samples(judged, endpoints):
    one = found(judged, endpoints).subjects[0]
    seen = found(judged, endpoints, sample_ids=(one.sample.id,))
    assert [s.first.id for s in seen.subjects] == [one.first.id]
    assert seen.answers == 1


def test_what_cannot_take_part_is_counted(judged, endpoints):
    first, second, third, fourth, *others = found(judged, endpoints).subjects
    assert len(others) == 3
    places = {p.sample_id: p for p in study_places(judged, judged.select(Study)[0].id)}
    replay = judged.get(Replay, places[first.sample.id].replay_id)
    # Nothing is known of the second's text, as where only votes were imported.
    judged.replace(
        [
            replay.model_copy(update={"agrees": False}),
            second.first.model_copy(update={"prompt": "imported", "text": ""}),
        ]
    )
    with judged.write() as writer:
        writer.delete(Outcome, table(Outcome).c.response_id == third.first.id)
        writer.delete(Checkpoint, table(Checkpoint).c.response_id == fourth.first.id)
    seen = found(judged, endpoints)
    assert seen.left_out == {QUARANTINED: 1, NO_ANSWER: 1, UNKNOWN: 1}
    assert [s.first.id for s in seen.subjects] == [s.first.id for s in (fourth, *others)]
    assert seen.subjects[0].checkpoints == ()
    assert all(s.checkpoints for s in seen.subjects[1:])
    assert seen.answers == 10
    by_score = found(judged, endpoints, failed_rule="score")
    assert by_score.left_out == {QUARANTINED: 1, NO_ANSWER: 1, NOT_SCORED: 1}


def test_only_what_failed_under_a_node(judged, endpoints):
    everyone = found(judged, endpoints)
    leaf_of = {m.criterion_id: m.leaf for m in judged.select(Mapping)}
    expected = {
        s.first.id
        for s in everyone.subjects
        if any(p.score <= 2 and leaf_of[p.criterion_id][0] == "Perception" for p in s.checkpoints)
    }
    # Probes 1, 3, 6 and 8 misread needle or bar; 0, 5 and 7 see what they need and fail later.
    assert len(expected) == 4
    seen = found(judged, endpoints, node=("Perception",))
    assert {s.first.id for s in seen.subjects} == expected
    assert seen.left_out == {ELSEWHERE: 3}
    with pytest.raises(UsageError, match="no criterion is mapped under 'Nowhere'"):
        found(judged, endpoints, node=("Nowhere",))


def test_peers_passed_the_criterion_and_are_others(judged, endpoints):
    seen = found(judged, endpoints, arms=("peer",))
    own = next(
        c.id for c in study_candidates(judged, seen.places[0].study_id) if c.name == "model-h"
    )
    chosen = [(c, peer) for s in seen.subjects for c, peer in s.peers.items()]
    assert chosen
    scores = {(p.criterion_id, p.response_id): p.score for p in judged.select(Checkpoint)}
    for criterion_id, peer in chosen:
        assert peer.peer_id != own
        mine = scores[criterion_id, peer.response_id]
        # model-h has two peers; the chosen one is at least as good as the other.
        others = [
            scores[criterion_id, r.id]
            for r in judged.select(Response)
            if r.candidate_id not in (own, peer.peer_id) and (criterion_id, r.id) in scores
        ]
        assert mine > 2
        assert mine >= max(others)
    assert found(judged, endpoints).subjects[0].peers == {}


def test_answers_that_were_imported_need_an_endpoint(judged, endpoints):
    candidate = next(c for c in judged.select(Candidate) if c.name == "model-h")
    judged.replace([candidate.model_copy(update={"endpoint": None, "name": "Their model"})])
    with pytest.raises(UsageError, match=r"in Settings or .* whose model is 'Their model'"):
        prepare(judged, spec(judged, candidate=candidate.id), endpoints)
    judged.replace([candidate.model_copy(update={"endpoint": None})])
    assert prepare(judged, spec(judged), endpoints).endpoint.name == "model-h"
    judged.replace([candidate.model_copy(update={"endpoint": "gone", "name": "Their model"})])
    with pytest.raises(UsageError, match="its endpoint 'gone' isn't among the known ones"):
        prepare(judged, spec(judged, candidate=candidate.id), endpoints)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"candidate": "model-x"}, "no model 'model-x' in this study; its models: 'model-h'"),
        ({"arms": ("magic",)}, "'magic' isn't an arm"),
        ({"arms": ()}, "no arm is asked for"),
        ({"failed_rule": "luck"}, "allowed are outcome, score, criterion"),
        ({"threshold": 1}, "2, 3 or 4 are allowed"),
        ({"rounds": 0}, "1 to 5 are allowed"),
        ({"rounds": 6}, "1 to 5 are allowed"),
        ({"limit": -1}, "can't be negative"),
        ({"right_answers": -1}, "can't be negative"),
        ({"right_answers": 1, "arms": ("told",)}, "add the arm 'guided'"),
        ({"budget": -1.0}, "can't be negative"),
        ({"judge": "model-a"}, "add 'judge' to them"),
        ({"arms": ("peer",), "peers": ("model-c",)}, "it serves no other model of this study"),
        ({"arms": ("peer",), "peers": ("model-h",)}, "it serves no other model of this study"),
    ],
)
def test_what_is_asked_wrongly_is_said(judged, endpoints, changes, words):
    with pytest.raises(UsageError, match=words.replace("(", "\\(")):
        prepare(judged, spec(judged, **changes), endpoints)


def test_a_budget_needs_prices(judged, endpoints):
    unknown = {"prices": endpoints["model-h"].prices.model_copy(update={"input": None})}
    known = {**endpoints, "model-h": endpoints["model-h"].model_copy(update=unknown)}
    with pytest.raises(SettingsError, match="'model-h' has no prices"):
        prepare(judged, spec(judged, budget=1.0), known)


def test_hints_need_a_peer(judged, endpoints):
    few = {name: endpoints[name] for name in ("probe-judge", "model-h")}
    with pytest.raises(UsageError, match="hints need a peer"):
        prepare(judged, spec(judged, arms=("peer",)), few)
    assert prepare(judged, spec(judged), few).peers == {}


def test_an_experiment_is_named_by_what_it_asks_for(judged, endpoints):
    def name(**changes):
        return prepare(judged, spec(judged, **changes), endpoints).experiment.id

    assert name() == name()
    assert name(arms=("told", "fresh")) == name(arms=("fresh", "told"))
    assert name(budget=3.0) == name()
    every = {"arms": ARMS}
    names = {
        name(), name(threshold=3), name(rounds=2), name(limit=2), name(seed=1), name(**every),
        name(failed_rule="score"), name(right_answers=1), name(node=("Perception",)),
        name(**every, peers=("model-d",)), name(candidate="model-d"),
        name(judge="probe-judge-noisy"),
    }  # fmt: skip
    assert len(names) == 12

"""Which criteria a feedback is about, and which peer writes the hint."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.records import Checkpoint, CriteriaSet, Criterion, CriterionUse
from atom.stages.correcting import choices


def points(criteria, scores):
    return [
        Checkpoint(
            key=f"k{c.id}", criterion_id=c.id, response_id="r", judge_id="j", prompt="scoring/1",
            state="unscored" if score is None else "scored", score=score,
        )
        for c, score in zip(criteria, scores, strict=True)
    ]  # fmt: skip


def test_failed_ones_by_weight_times_severity(criteria_set, criteria):
    # weights 3, 3, 4: 3 * (5 - 1) = 12, 3 * (5 - 2) = 9, 4 * (5 - 2) = 12: equal ones in order
    ids = [c.id for c in criteria]
    select = choices.select
    found = select(criteria_set, points(criteria, (1, 2, 2)), "guided")
    assert found == (ids[0], ids[2], ids[1])
    assert select(criteria_set, points(criteria, (2, 2, 2)), "peer") == (ids[2], ids[0], ids[1])
    assert select(criteria_set, points(criteria, (3, 2, 5)), "oracle") == (ids[1],)
    assert select(criteria_set, points(criteria, (3, 2, 5)), "guided", 3) == (ids[1], ids[0])


def test_sham_takes_the_best_passed_and_no_more_than_failed(criteria_set, criteria):
    ids = [c.id for c in criteria]
    select = choices.select
    assert select(criteria_set, points(criteria, (3, 1, 5)), "sham") == (ids[2],)
    assert select(criteria_set, points(criteria, (5, 5, 5)), "sham") == (ids[2], ids[0], ids[1])
    assert select(criteria_set, points(criteria, (1, 1, None)), "sham") == ()
    assert select(criteria_set, points(criteria, (None, None, None)), "guided") == ()


@pytest.mark.parametrize("arm", ["rejudge", "fresh", "told"])
def test_other_arms_are_about_no_criteria(criteria_set, criteria, arm):
    assert choices.select(criteria_set, points(criteria, (1, 1, 1)), arm) == ()


@given(st.lists(st.sampled_from([None, 1, 2, 3, 4, 5]), min_size=3, max_size=3), st.integers(2, 4))
def test_no_criterion_is_both_failed_and_passed(scores, threshold):
    criteria = [
        Criterion(id=f"c{i}", sample_id="s", question="q", ground_truth="g") for i in range(3)
    ]
    uses = tuple(
        CriterionUse(criterion_id=c.id, position=i, weight=w)
        for i, (c, w) in enumerate(zip(criteria, (5, 3, 2), strict=True))
    )
    made = CriteriaSet(
        id="set", sample_id="s", judge_id="j", prompt="criteria/1", state="scored", uses=uses
    )
    failing, passed = (
        set(choices.select(made, points(criteria, scores), arm, threshold))
        for arm in ("guided", "sham")
    )
    assert not failing & passed
    assert failing == {
        c.id for c, s in zip(criteria, scores, strict=True) if s is not None and s <= threshold
    }


NAMES = ("a", "b", "c", "d")
SCORES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from([None, 1, 2, 3, 4, 5]))
ABILITY = st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1))
FAMILY = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["", "x", "y"]))


@given(SCORES, ABILITY, FAMILY, st.sampled_from(NAMES), st.integers(2, 4))
def test_the_peer(scores, ability, family, own, threshold):
    peer = choices.choose_peer("k", scores, ability, family, own, threshold=threshold)
    solvers = {p for p, s in scores.items() if p != own and s is not None and s > threshold}
    if peer is None:
        assert not solvers
        return
    assert peer in solvers
    kin = {p for p in solvers if family.get(own) and family.get(p) == family[own]}
    rivals = solvers - kin or solvers
    assert peer in rivals
    assert scores[peer] == max(scores[p] for p in rivals)
    best = [p for p in rivals if scores[p] == scores[peer]]
    assert ability.get(peer, -1) == max(ability.get(p, -1) for p in best)
    for order in itertools.permutations(scores):
        shuffled = {name: scores[name] for name in order}
        assert peer == choices.choose_peer("k", shuffled, ability, family, own, threshold=threshold)


def test_equal_peers_share_the_work():
    scores, ability = {"a": 5, "b": 5, "own": 1}, {"a": 0.5, "b": 0.5}
    chosen = {choices.choose_peer(f"k{i}", scores, ability, {}, "own") for i in range(20)}
    assert chosen == {"a", "b"}


def test_a_stranger_goes_before_kin_with_a_better_score():
    scores, family = {"kin": 5, "stranger": 4}, {"own": "x", "kin": "x", "stranger": "y"}
    assert choices.choose_peer("k", scores, {}, family, "own") == "stranger"
    assert choices.choose_peer("k", {"kin": 5}, {}, family, "own") == "kin"

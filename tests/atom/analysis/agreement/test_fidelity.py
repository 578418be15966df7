"""Pairs, ties, majorities, criteria quality and hit rates: worked by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from atom.analysis.agreement.criteria_quality import criteria_quality, dominant_root, hit_rates
from atom.analysis.agreement.fidelity import (
    PairOrder,
    compare_methods,
    method_accuracy,
    orders_of,
    people_agreement,
    people_pairs,
    ranks_of,
)
from atom.analysis.capability.criteria_health import pairs_within
from atom.records import Annotation, RankedAnswer


def orders(sample, ranks, annotator="ann", *, adjudicates=False):
    names = sorted(ranks)
    return [
        PairOrder(
            sample=sample,
            first=a,
            second=b,
            order=(ranks[b] > ranks[a]) - (ranks[b] < ranks[a]),
            annotator=annotator,
            adjudicates=adjudicates,
        )
        for at, a in enumerate(names)
        for b in names[at + 1 :]
    ]


def accuracy(scores, ranks, **more):
    pairs = people_pairs(orders("s", ranks))
    gap = np.array([scores[a] - scores[b] for a, b in zip(pairs.first, pairs.second, strict=True)])
    zero = np.zeros(len(gap), dtype=np.int64)
    return method_accuracy(gap, pairs.order, zero, zero, **more)


def scored_accuracy(sample, score, human, **more):
    """Hold scores against people's values, higher is better, within each sample."""
    first, second = pairs_within(sample)
    wanted = np.sign(human[first] - human[second]).astype(np.int64)
    group = sample[first]
    return method_accuracy(score[first] - score[second], wanted, group, group, **more)


def test_the_toy_of_methods_a6():
    # S = (3, 3, 4.2): people 3 > 1 = 2 agree on all three pairs; 1 > 2 = 3 on none:
    # (1,2) a tie against a win, (1,3) a loss against a win, (2,3) a loss against a tie.
    scores = {"1": 3.0, "2": 3.0, "3": 4.2}
    found = accuracy(scores, {"3": 1, "1": 2, "2": 2})
    assert found.strict.value == 1
    assert found.tau == pytest.approx(1)
    none = accuracy(scores, {"1": 1, "2": 2, "3": 2})
    assert none.strict.value == 0
    assert none.counts.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]


def test_ties_on_whole_numbers_are_exact():
    # 10 * 0.3 and 3.0 differ as floats of weighted means; 30 and 30 don't as numerators.
    found = accuracy({"a": 30, "b": 30, "c": 31}, {"a": 1, "b": 1, "c": 2})
    assert found.judge_ties == pytest.approx(1 / 3)
    assert found.counts[1, 1] == 1


def test_a_missing_number_is_wrong_and_counted():
    # Three pairs; the two with c have no number: 1 of 3 strictly, 1 of 1 where there are numbers.
    found = accuracy({"a": 2.0, "b": 1.0, "c": math.nan}, {"a": 1, "b": 2, "c": 3})
    assert found.strict.value == pytest.approx(1 / 3)
    assert found.valid.value == 1
    assert found.invalid == 2
    assert found.counts.sum() == 1


def test_no_interval_has_no_width():
    found = accuracy({"a": 2, "b": 1}, {"a": 1, "b": 2})
    assert found.strict.lo < 1 <= found.strict.hi


def test_nothing_to_compare_is_undefined():
    empty = np.array([], dtype=np.float64)
    none = np.array([], dtype=np.int64)
    found = method_accuracy(empty, none, none, none)
    assert math.isnan(found.strict.value)
    assert math.isnan(found.human_ties)
    assert math.isnan(found.tau)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=6))
def test_it_equals_the_score_based_form(answers):
    ranks = {str(at): rank for at, (_, rank) in enumerate(answers)}
    scores = {str(at): score for at, (score, _) in enumerate(answers)}
    found = accuracy(scores, ranks)
    pairs = [
        (np.sign(a - b), np.sign(rank_b - rank_a))
        for (a, rank_a), (b, rank_b) in itertools.combinations(answers, 2)
    ]
    tau = kendalltau([score for score, _ in answers], [-rank for _, rank in answers]).statistic
    assert found.strict.value == pytest.approx(np.mean([mine == theirs for mine, theirs in pairs]))
    assert found.tau == pytest.approx(tau, nan_ok=True)
    assert found.counts.sum() == len(pairs)


@pytest.fixture(scope="module")
def ranked():
    """Draw 400 samples of five answers; people tie what lies within .4, judges see noise."""
    rng = np.random.default_rng(12)
    sample = np.repeat(np.arange(400), 5)
    truth = rng.normal(size=2000)
    seen = truth + rng.normal(0, 0.35, 2000)
    human = np.zeros(2000)
    for number in range(400):
        mine = np.flatnonzero(sample == number)
        order = mine[np.argsort(seen[mine])]
        level = 0.0
        for before, after in itertools.pairwise(order):
            level += seen[after] - seen[before] >= 0.4
            human[after] = level
    return sample, truth + rng.normal(0, 0.3, 2000), human


def test_a_tolerance_is_fitted_on_other_samples_and_helps(ranked):
    sample, score, human = ranked
    exact = scored_accuracy(sample, score, human)
    fitted = scored_accuracy(sample, score, human, rng=np.random.default_rng(0))
    assert exact.judge_ties == 0
    assert exact.strict.value <= 1 - exact.human_ties
    assert fitted.epsilon > 0
    assert fitted.strict.value > exact.strict.value
    assert fitted.strict.n == 4000
    assert fitted.strict.lo < fitted.strict.value < fitted.strict.hi


def test_pairs_of_a_sample_are_not_independent(ranked):
    sample, score, human = ranked
    found = scored_accuracy(sample, score, human).strict
    naive = math.sqrt(found.value * (1 - found.value) / found.n)
    # Of 400 samples, Student's quantile at 399 degrees of freedom.
    assert (found.hi - found.lo) / 2 > 1.965927 * naive


def test_a_coin_orders_answers_by_chance(ranked):
    sample, _, human = ranked
    coin = np.random.default_rng(3).normal(size=len(sample))
    found = scored_accuracy(sample, coin, human)
    assert found.strict.value == pytest.approx((1 - found.human_ties) / 2, abs=0.03)
    assert found.tau == pytest.approx(0, abs=0.05)


@given(st.permutations(list(range(12))))
def test_the_order_of_rows_changes_nothing(order):
    sample = np.repeat(np.arange(4), 3)
    score = np.array([1, 2, 3, 2, 2, 1, 3, 1, 1, 2, 2, 2], float)
    human = np.array([1, 2, 2, 3, 1, 1, 2, 2, 1, 1, 1, 2], float)
    order = np.array(order)
    found = scored_accuracy(sample, score, human).strict
    again = scored_accuracy(sample[order], score[order], human[order]).strict
    assert (found.value, found.n) == (again.value, again.n)
    assert found.hi - found.lo == pytest.approx(again.hi - again.lo)


def test_a_tolerance_is_fitted_on_the_other_half_only():
    # People tie small gaps: a tolerance helps; a seed makes it the same again.
    rng = np.random.default_rng(3)
    gap = rng.normal(0, 1, 400)
    wanted = np.where(np.abs(gap) < 0.4, 0, np.sign(gap)).astype(np.int64)
    group = np.arange(400)
    exact = method_accuracy(gap, wanted, group, group)
    fitted = method_accuracy(gap, wanted, group, group, rng=np.random.default_rng(1))
    again = method_accuracy(gap, wanted, group, group, rng=np.random.default_rng(1))
    assert exact.strict.value < 0.8 < fitted.strict.value
    assert fitted.epsilon == again.epsilon == pytest.approx(0.4, abs=0.03)


def test_the_majority_of_a_pairs_orders_stands():
    # a before b twice, after it once: a win. a and c: one win, one tie, one loss: no majority.
    pairs = people_pairs(
        [
            *orders("s", {"a": 1, "b": 2, "c": 2}, "ann"),
            *orders("s", {"a": 1, "b": 2, "c": 1}, "bob"),
            *orders("s", {"a": 2, "b": 1, "c": 1}, "eve"),
        ]
    )
    said = dict(zip(zip(pairs.first, pairs.second, strict=True), pairs.order, strict=True))
    assert said == {("a", "b"): 1, ("a", "c"): 0, ("b", "c"): 0}
    assert pairs.votes.tolist() == [3, 3, 3]
    # Two people meet nine times: (a,b) agrees once of three, (a,c) never, (b,c) once: tie, loss,
    # tie. That is 2 of 9.
    assert pairs.met == 9
    assert pairs.agreed == pytest.approx(2 / 9)
    assert pairs.meetings.tolist() == [3, 3, 3]
    assert pairs.equal.tolist() == [1, 0, 1]


def test_many_meetings_on_one_sample_are_one_sample():
    # Eight answers are 28 pairs, all of one sample; people agree on 9 of them.
    first = {name: rank for rank, name in enumerate("abcdefgh", start=1)}
    other = {name: rank for rank, name in enumerate("hgfedcab", start=1)}
    pairs = people_pairs([*orders("s", first, "ann"), *orders("s", other, "bob")])
    cluster = np.zeros(len(pairs.order), dtype=np.int64)
    one = people_agreement(pairs, cluster)
    # Only a before b is said by both: 1 of 28.
    assert (one.n, one.clusters, one.value) == (28, 1, pytest.approx(1 / 28))
    assert one.hi - one.lo > 0.7
    none = people_agreement(people_pairs(orders("s", first, "ann")), cluster)
    assert none.n == 0
    assert math.isnan(none.lo)


def test_an_adjudication_stands_alone_and_a_later_word_replaces_an_earlier():
    first = orders("s", {"a": 1, "b": 2}, "ann")
    settled = orders("s", {"a": 2, "b": 1}, "judge", adjudicates=True)
    assert people_pairs([*first, *first, *settled]).order.tolist() == [-1]
    again = orders("s", {"a": 1, "b": 1}, "ann")
    assert people_pairs([*first, *again]).order.tolist() == [0]


def label(kind, subject, **more):
    return Annotation(
        id=f"{kind}{subject}{more}"[:200], study_id="st", kind=kind, subject_id=subject,
        annotator="ann", **more,
    )  # fmt: skip


def test_labels_become_orders():
    given_ranks = (("a", 1), ("b", 1), ("x", 2))
    places = tuple(RankedAnswer(response_id=name, rank=rank) for name, rank in given_ranks)
    ranking = label("ranking", "s", ranks=places)
    pair = label("preference", Annotation.pair("c", "b"), label="b")
    passed = label("preference", Annotation.pair("a", "c"), label="a", state="skipped")
    odd = label("preference", "no pair at all", label="a")
    found, foreign = orders_of(
        [ranking, pair, passed, odd, label("accuracy", "k", value=3.0)],
        {"a": "s", "b": "s", "c": "s"},
    )
    said = {(one.first, one.second, one.order) for one in found}
    assert said == {("a", "b", 0), ("c", "b", -1)}
    assert foreign == 1
    assert ranks_of(odd) == ()


def test_two_methods_are_compared_on_shared_pairs():
    # Right: first 4 of 4, second 2 of 4; the fifth pair has no number of the second.
    wanted = np.array([1, 1, -1, 0, 1])
    first = np.array([1.0, 2, -1, 0, 1])
    second = np.array([1.0, -1, -1, 3, math.nan])
    found = compare_methods(first, second, wanted, np.arange(5))
    assert (found.n, found.gap) == (4, pytest.approx(0.5))


def test_a_samples_capability_has_most_weight():
    assert dominant_root(["P", "R", "R"], [5, 3, 3]) == "R"
    assert dominant_root(["P", "R"], [5, 5]) == "P"
    assert dominant_root(["", "R"], [9, 1]) == "R"
    assert dominant_root(["", ""], [9, 1]) == ""


def test_criteria_quality_by_hand():
    # Accuracy 3, 1.5, 2, -: mean 6.5 / 3; one of three under 2. Both 3: 1 of the 2 with both.
    found = criteria_quality(
        np.array([3.0, 1.5, 2.0, math.nan]),
        np.array([3.0, math.nan, 3.0, 1.0]),
        np.array([0, 0, 1, 1]),
    )
    assert found.accuracy.mean == pytest.approx(6.5 / 3)
    assert found.accuracy.ones == pytest.approx(1 / 3)
    assert (found.necessity.n, found.necessity.mean) == (3, pytest.approx(7 / 3))
    assert (found.both.n, found.both.value) == (2, 0.5)


def test_hit_rate_by_hand():
    # Four criteria: hit, hit, same parent (3 of 4), another root (0 of 4).
    people = [
        ("P", "a", "b", "x"),
        ("P", "a", "b", "y"),
        ("P", "a", "b", "x"),
        ("R", "a", "b", "z"),
    ]
    judged = [
        ("p", "A", "b", "x"),
        ("P", "a", "b", "y"),
        ("P", "a", "b", "y"),
        ("P", "a", "b", "x"),
    ]
    found = hit_rates(judged, people, np.arange(4))
    assert found.leaf.value == 0.5
    assert found.root.value == 0.75
    assert {name: share.value for name, share in found.by_root} == {
        "P": pytest.approx(2 / 3),
        "R": 0,
    }
    assert found.macro == pytest.approx(1 / 3)
    assert found.credit == pytest.approx((1 + 1 + 0.75 + 0) / 4)
    # Kappa: judged x 2, y 2; people x 2, y 1, z 1; chance (2*2 + 2*1) / 16 = 3/8; (4/8-3/8)/(5/8).
    assert found.kappa == pytest.approx(0.2)


def test_a_criterion_without_a_leaf_is_a_miss():
    found = hit_rates([()], [("P", "x")], np.array([0]))
    assert (found.leaf.value, found.credit) == (0, 0)

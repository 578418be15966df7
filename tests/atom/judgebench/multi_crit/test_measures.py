import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.judgebench.multi_crit.measures import (
    agreement_correlation,
    criteria_mean,
    multi_crit,
    scale_votes,
    vote_verdicts,
)


def rows(items):
    """Lay items `(labels, verdicts)` out row by row; `a` = 0, `b` = 1, `?` = unreadable."""
    code = {"a": 0, "b": 1, "?": -1}
    item, criterion, label, verdict = [], [], [], []
    for number, (labels, verdicts) in enumerate(items):
        for place, (y, p) in enumerate(zip(labels, verdicts, strict=True)):
            item.append(number)
            criterion.append(f"c{place}")
            label.append(code[y])
            verdict.append(code[p])
    return np.array(item), criterion, np.array(label), np.array(verdict)


def test_the_toy_of_the_methods():
    # (aab, abb): not all right; conflicts (1,3) right-right, (2,3) wrong. (ab, ab): all right,
    # conflict matched. (bb, bb): all right, no conflict. PAcc 2/3, TOS 2/2, CMR 2/3.
    found = multi_crit(*rows([("aab", "abb"), ("ab", "ab"), ("bb", "bb")]))
    assert found.pacc.value == pytest.approx(2 / 3)
    assert found.tos.value == pytest.approx(1.0)
    assert (found.cmr.hits, found.cmr.n) == (2, 3)
    # Chance: PAcc (1/8 + 1/4 + 1/4)/3; TOS (1 - 1/4 + 1 - 1/2)/2 = 5/8; CMR 1/4.
    assert found.pacc.chance == pytest.approx((1 / 8 + 1 / 4 + 1 / 4) / 3)
    assert found.tos.chance == pytest.approx(5 / 8)
    assert found.cmr.chance == 0.25
    # c0: 3 of 3; c1: 2 of 3; c2: 1 of 1.
    assert found.average == pytest.approx((1 + 2 / 3 + 1) / 3)


def test_an_unreadable_verdict_is_wrong_everywhere():
    found = multi_crit(*rows([("ab", "a?")]))
    assert (found.pacc.hits, found.tos.hits, found.cmr.hits) == (0, 0, 0)
    assert (found.invalid, found.verdicts) == (1, 2)


def test_a_constant_judge_never_tells_criteria_apart():
    found = multi_crit(*rows([("ab", "aa"), ("aab", "bbb")]))
    assert found.tos.value == found.cmr.value == 0.0


def test_a_coin_sits_at_every_chance_level():
    rng = np.random.default_rng(11)
    n, m = 6000, 3
    item = np.repeat(np.arange(n), m)
    names = ["clarity", "grounding", "logic"] * n
    label, coin = rng.integers(0, 2, n * m), rng.integers(0, 2, n * m)
    found = multi_crit(item, names, label, coin)
    for share in (found.pacc, found.tos, found.cmr):
        assert share.value == pytest.approx(share.chance, abs=3 * math.sqrt(0.25 / share.n))
        assert share.adjusted == pytest.approx(0, abs=0.06)
    assert found.average == pytest.approx(0.5, abs=0.02)
    assert sum(pair.matched.n for pair in found.conflicts) == found.cmr.n
    # At m = 3 the TOS of a coin is 1 - 2^-2 = .75.
    assert found.tos.chance == pytest.approx(0.75)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.text("ab", min_size=2, max_size=4), st.randoms()), min_size=1,
                max_size=12))  # fmt: skip
def test_a_perfect_judge_reaches_one_and_order_does_not_matter(drawn):
    items = [(labels, labels) for labels, _ in drawn]
    item, criterion, label, verdict = rows(items)
    found = multi_crit(item, criterion, label, verdict)
    assert found.pacc.value == 1.0
    assert found.cmr.n == 0 or found.cmr.value == 1.0
    order = np.random.default_rng(0).permutation(len(item))
    again = multi_crit(item[order], [criterion[i] for i in order], label[order], verdict[order])
    assert (again.pacc, again.tos, again.cmr) == (found.pacc, found.tos, found.cmr)


def test_a_criterion_named_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        multi_crit(np.array([0, 0]), ["c", "c"], np.array([0, 1]), np.array([0, 1]))


def test_votes_go_by_majority():
    votes = np.array([[0, 0, 1], [1, 1, -1], [0, 1, -1], [-1, -1, -1]])
    assert vote_verdicts(votes).tolist() == [0, 1, -1, -1]


def test_the_correlation_with_people_needs_three_criteria():
    assert math.isnan(agreement_correlation([0.5, 0.6], [0.1, 0.2]))
    assert agreement_correlation([0.5, 0.6, 0.7], [0.1, 0.2, 0.3]) == pytest.approx(1.0)


def test_what_can_be_read_is_counted_apart():
    # (ab, a?): one unread; (ab, ab): all right; (bb, b?): no conflict, one unread.
    found = multi_crit(*rows([("ab", "a?"), ("ab", "ab"), ("bb", "b?")]))
    pacc, tos, cmr = found.readable
    # Strict: PAcc 1/3, TOS 1/2, CMR 1/2. Readable only: the second item alone.
    assert (found.pacc.hits, found.pacc.n, pacc.hits, pacc.n) == (1, 3, 1, 1)
    assert (found.tos.hits, found.tos.n, tos.hits, tos.n) == (1, 2, 1, 1)
    assert (found.cmr.hits, found.cmr.n, cmr.hits, cmr.n) == (1, 2, 1, 1)
    # c0 3 of 3; c1 1 of 3, of which 1 can be read.
    assert found.average == pytest.approx((1 + 1 / 3) / 2)
    assert found.macro_readable.value == 1.0
    assert (found.micro.right, found.micro.n, found.micro.invalid) == (4, 6, 2)


def test_the_mean_of_the_criteria_has_items_as_clusters():
    # Two criteria, three items; c0 right on items 0 and 1, c1 on item 0 only.
    # m_c = 2/3, 1/3; weights 1/6. Sums by item: (1/3 + 2/3)/6 = 1/6, (1/3 - 1/3)/6 = 0,
    # (-2/3 - 1/3)/6 = -1/6. V = 3/2 (1/36 + 1/36) = 1/12.
    found = multi_crit(*rows([("aa", "aa"), ("aa", "ab"), ("aa", "bb")]))
    assert found.macro.value == pytest.approx(0.5)
    assert found.macro.se == pytest.approx(math.sqrt(1 / 12))
    # One criterion a time these would be binomial: V = (2/9/2 + 2/9/2)/4 = 1/18, which is smaller.
    mean = criteria_mean(np.array([1.0, 0.0]), np.array([0, 0]), np.array([0, 0]))
    assert math.isnan(mean.lo)


def test_conflicts_of_one_pair_go_together_in_the_interval():
    # Ten items of three criteria whose conflicts are all matched or all not: 5 of 10 clusters.
    mixed = [("aab", "aab")] * 5 + [("aab", "bba")] * 5
    found = multi_crit(*rows(mixed))
    assert (found.cmr.hits, found.cmr.n) == (10, 20)
    alone = multi_crit(*rows([("ab", "ab")] * 10 + [("ab", "ba")] * 10))
    assert found.cmr.hi - found.cmr.lo > alone.cmr.hi - alone.cmr.lo


def test_votes_are_scaled_over_the_ways_to_choose_them():
    # One item, two criteria, y = ab, three votes: c0 a a b, c1 b a b.
    item, label = np.array([0, 0]), np.array([0, 1])
    votes = np.array([[0, 0, 1], [1, 0, 1]])
    one, three = scale_votes(item, ["c0", "c1"], label, votes)
    # One vote: (a, b) right and told apart; (a, a) neither; (b, b) neither. PAcc = TOS = CMR = 1/3;
    # criteria 2/3 and 2/3. Three votes: (a, b): all 1.
    assert (one.votes, three.votes) == (1, 3)
    for value in (one.pacc, one.tos, one.cmr):
        assert value == pytest.approx(1 / 3)
    assert one.average == pytest.approx(2 / 3)
    assert (three.pacc, three.tos, three.cmr, three.average) == (1, 1, 1, 1)


def test_an_even_number_of_votes_may_tie_and_a_tie_is_wrong():
    item, label = np.array([0]), np.array([0])
    scaled = scale_votes(item, ["c"], label, np.array([[0, 1]]))
    assert [(one.votes, one.average) for one in scaled] == [(1, 0.5), (2, 0.0)]


def test_many_votes_are_scaled_by_runs_of_neighbours():
    votes = np.zeros((1, 21), dtype=np.int64)
    scaled = scale_votes(np.array([0]), ["c"], np.array([0]), votes)
    assert [one.votes for one in scaled] == list(range(1, 22, 2))
    assert all(one.average == 1.0 for one in scaled)


def test_no_verdicts_give_no_figures():
    none = np.array([], dtype=np.int64)
    found = multi_crit(none, [], none, none)
    assert math.isnan(found.average)
    assert math.isnan(found.pacc.value)
    assert (found.verdicts, found.conflicts) == (0, ())

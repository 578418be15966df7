import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.judgebench.multi_crit import agreement_correlation, multi_crit, vote_verdicts


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

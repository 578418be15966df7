from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from atom.analysis.compare.paired import paired_gap
from atom.analysis.correction.trials import (
    ARMS,
    BROKEN,
    DROPPED,
    RIGHT_COHORT,
    Trials,
    arm_shares,
    blind_gate,
    bounded_gap,
    break_rate,
    code_of,
    holm,
    rounds,
    standing,
)
from atom.analysis.intervals import wilson
from tests.atom.analysis.trials import arms, frame, trial

NAN = float("nan")


def test_arms_are_those_of_the_records():
    assert ARMS == (
        "rejudge", "fresh", "told", "sham", "guided", "peer", "guided_peer", "oracle"
    )  # fmt: skip


class TestFrame:
    def test_refuses_columns_of_unequal_length(self):
        good = frame(arms(told=[0, 1]))
        with pytest.raises(ValueError, match="equally long"):
            replace(good, cost=good.cost[:1])

    def test_refuses_two_rows_for_one_trial(self):
        with pytest.raises(ValueError, match="one row"):
            frame([trial(0, "told", 1), trial(0, "told", 0)])

    def test_refuses_criteria_of_no_trial(self):
        good = frame([trial(0, "told", 1, criteria=[(0, 0, 1, 1, 4, 0)])])
        with pytest.raises(ValueError, match="one of 1 trials"):
            replace(good, trial=np.array([1]))

    def test_an_empty_frame_has_nothing_to_say(self):
        empty = frame([])
        assert empty.arms == ()
        assert arm_shares(empty) == ()
        assert rounds(empty) == ()
        assert break_rate(empty).n == 0
        assert np.isnan(break_rate(empty).value)


def several_rounds() -> Trials:
    """Answer 0: fixed in round 2. 1: fixed at once, then not tried. 2: a later call failed."""
    return frame(
        [
            trial(0, "told", 0, round=1), trial(0, "told", 1, round=2),
            trial(1, "told", 1, round=1),
            trial(2, "told", 0, round=1), trial(2, "told", NAN, round=2, state=BROKEN),
            trial(3, "told", NAN, round=1, state=DROPPED),
        ]
    )  # fmt: skip


class TestStanding:
    def test_a_result_stands_until_a_later_one(self):
        told = code_of("told")
        first, second = (standing(several_rounds(), upto).right[:, told] for upto in (1, 2))
        np.testing.assert_array_equal(first, [0, 1, 0, NAN])
        np.testing.assert_array_equal(second, [1, 1, 0, NAN])

    def test_costs_add_up_over_rounds(self):
        cost = standing(several_rounds(), 2).cost
        np.testing.assert_allclose(cost[:, code_of("told")], [0.02, 0.01, 0.02, 0.01])
        assert np.isnan(cost[:, code_of("guided")]).all()

    def test_the_order_of_rows_changes_nothing(self):
        trials = several_rounds()
        order = np.array([1, 4, 0, 5, 3, 2])
        names = ("answer", "cluster", "arm", "cohort", "round", "state", "right", "was_right",
                 "cost", "had_failed", "had_passed")  # fmt: skip
        turned = replace(trials, **{name: getattr(trials, name)[order] for name in names})
        np.testing.assert_array_equal(standing(turned, 2).right, standing(trials, 2).right)
        assert rounds(turned) == rounds(trials)


def test_shares_count_what_isnt_known():
    (row,) = arm_shares(several_rounds())
    # Known after round 1: 0, 1, 0; the dropped one counts as wrong in the strict share: 1/4.
    assert (row.right.n, row.trials, row.unknown) == (3, 4, 1)
    assert row.right.value == pytest.approx(1 / 3)
    assert row.strict == pytest.approx(1 / 4)
    assert row.right.lo < 1 / 3 < row.right.hi


def test_rounds_count_who_is_fixed_by_when():
    first, second = rounds(several_rounds())
    assert (first.round, first.new, first.standing.value) == (1, 1, pytest.approx(1 / 3))
    assert (second.round, second.new, second.ever.value) == (2, 1, pytest.approx(2 / 3))


def test_an_answer_that_breaks_again_was_right_once():
    trials = frame([trial(0, "guided", 1), trial(0, "guided", 0, round=2)])
    _, last = rounds(trials)
    assert (last.standing.value, last.ever.value, last.new) == (0, 1, 0)


def test_the_break_rate_is_of_initially_right_answers():
    rows = [trial(at, "guided", right, cohort="right") for at, right in enumerate([1, 1, 0, 1])]
    rows += [trial(at, "guided", 0) for at in range(4, 9)]
    found = break_rate(frame(rows))
    # One of four right answers is wrong afterwards.
    assert (found.n, found.value) == (4, 0.25)
    assert arm_shares(frame(rows), cohort=RIGHT_COHORT)[0].right.value == 0.75


class TestBoundedGap:
    def test_is_the_paired_cluster_t(self):
        rng = np.random.default_rng(0)
        difference, cluster = rng.integers(-1, 2, 60).astype(float), rng.integers(0, 20, 60)
        mine, plain = bounded_gap(difference, cluster), paired_gap(difference, cluster)
        assert (mine.lo, mine.hi, mine.p) == pytest.approx((plain.lo, plain.hi, plain.p))

    def test_has_a_width_where_all_pairs_agree(self):
        found = bounded_gap(np.zeros(8), np.arange(8))
        # 8 pairs and half a pair in each cell: variance 1/10, by 10, t of 7 df 2.3646.
        assert found.hi == pytest.approx(2.3646 * 0.1, abs=1e-4)
        assert found.lo == -found.hi
        assert found.p == 1

    def test_isnt_sure_after_few_equal_pairs(self):
        found = bounded_gap(np.ones(6), np.arange(6))
        # Sign test: 2 / 2^6.
        assert found.p == pytest.approx(1 / 32)
        assert found.lo < 0.9
        assert found.hi == 1

    def test_one_cluster_says_nothing(self):
        assert np.isnan(bounded_gap(np.ones(5), np.zeros(5, dtype=int)).lo)


@pytest.mark.parametrize(
    "p", [[0.2], [0.01, 0.04, 0.03, 0.005], [0.5, 0.5, 0.001], [0.0, 1.0, 0.02, 0.02, 0.9]]
)
def test_holm_equals_statsmodels(p):
    values = np.array([*p, NAN])
    np.testing.assert_allclose(holm(values)[:-1], multipletests(p, method="holm")[1])
    assert np.isnan(holm(values)[-1])


class TestBlindGate:
    def test_a_leak_shows(self):
        without = np.array([0] * 30 + [1] * 10, dtype=float)
        with_hint = np.array([1] * 15 + [0] * 15 + [0] * 5 + [1] * 5, dtype=float)
        found = blind_gate(without, with_hint)
        # 15 against 5: METHODS B9's case.
        assert found.mid_p == pytest.approx(0.0266037, abs=5e-8)
        assert (found.n, found.only_with, found.only_without, found.leaks) == (40, 15, 5, True)
        assert found.with_hint == 20 / 40

    def test_a_hint_that_misleads_is_no_leak(self):
        without, with_hint = np.ones(20), np.zeros(20)
        assert not blind_gate(without, with_hint).leaks

    def test_unknown_answers_arent_counted(self):
        assert blind_gate(np.array([NAN, 0.0]), np.array([1.0, NAN])).n == 0
        assert blind_gate(np.zeros(0), np.zeros(0)).sentence == "Not tried."
        assert "Too few" in blind_gate(np.zeros(2), np.zeros(2)).sentence


def test_a_share_of_independent_answers_is_close_to_wilsons():
    found = arm_shares(frame(arms(told=[1] * 30 + [0] * 70)))[0].right
    assert (found.lo, found.hi) == pytest.approx(wilson(30, 100), abs=0.01)

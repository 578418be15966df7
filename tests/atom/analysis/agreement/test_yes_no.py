import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.analysis.agreement.yes_no import all_right, paired_score, yes_rates


def test_groups_count_only_when_all_of_them_is_right():
    right = np.array([1.0, 1, 1, 0])
    assert all_right(right, ["x", "x", "y", "y"]) == 0.5
    # 3 of 4 right, and 1 of 2 pictures: 75 + 50.
    assert paired_score(right, ["x", "x", "y", "y"]) == 125
    assert np.isnan(all_right(np.array([]), []))
    assert np.isnan(paired_score(np.array([]), []))


def test_four_answers_by_hand():
    rates = yes_rates(np.array([True, True, False, False]), np.array([True, False, True, False]))
    assert (rates.accuracy, rates.precision, rates.recall, rates.f1, rates.yes) == (0.5,) * 5


def test_a_model_that_never_says_yes_has_no_precision():
    rates = yes_rates(np.array([True, False]), np.array([False, False]))
    assert (rates.precision, rates.recall, rates.f1, rates.yes) == (0, 0, 0, 0)
    assert np.isnan(yes_rates(np.array([], bool), np.array([], bool)).accuracy)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_f1_is_the_harmonic_mean(pairs):
    truth, said = (np.array(column) for column in zip(*pairs, strict=True))
    rates = yes_rates(truth, said)
    total = rates.precision + rates.recall
    wanted = 2 * rates.precision * rates.recall / total if total else 0.0
    assert rates.f1 == pytest.approx(wanted)
    assert 0 <= rates.f1 <= 1

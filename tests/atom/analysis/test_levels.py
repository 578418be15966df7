import numpy as np
import pytest

from atom.analysis.levels import UNREAD_LEVEL, count_levels, level_of


def test_four_verdicts_by_hand():
    levels = np.array([2, 0, -1, UNREAD_LEVEL])
    ties, out = count_levels(levels), count_levels(levels, unread="left out")
    # As ties: (100 + 0 - 50 + 0) / 4; left out: (100 + 0 - 50) / 3.
    assert (ties.win_rate, ties.reward) == (0.25, 12.5)
    assert (out.win_rate, out.reward) == (pytest.approx(1 / 3), pytest.approx(50 / 3))
    assert (ties.tie, out.tie, ties.n, out.n) == (2, 1, 4, 3)
    assert ties.unread == out.unread == 1


def test_no_verdicts_have_no_rate():
    counts = count_levels(np.array([], dtype=int))
    assert np.isnan(counts.win_rate)
    assert np.isnan(counts.reward)


def test_a_vote_becomes_a_level_for_either_side():
    assert [level_of(verdict, 2, "b") for verdict in ("a", "b", "tie", None)] == [
        -2, 2, 0, UNREAD_LEVEL,
    ]  # fmt: skip
    assert level_of("a", 1, "a") == 1

"""A group that is read by another confusion is found, and nothing else is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atom.analysis.agreement.homogeneity import homogeneity


def test_a_group_that_differs_by_itself_is_found_with_no_other_error():
    # Ten clusters of both groups, truth 3 throughout; group 1 is always read as 4. Within the
    # truth e = -1/2 or +1/2, z the same: nothing is left of e - z d, t is infinite. Only the
    # two patterns of ten equal signs reach that: p = 2 / 1024 = 0.00195.
    group = np.tile([0, 1], 10)
    found = homogeneity(np.full(20, 3), 3 + group, group, np.repeat(np.arange(10), 2))
    assert found.statistic == math.inf
    assert found.p == pytest.approx(2 / 1024, abs=0.0014)


def test_groups_that_are_too_small_are_left_out_of_the_test():
    truth = np.array([1, 2, 3, 4])
    found = homogeneity(truth, truth, np.array([0, 0, 1, 1]), np.arange(4))
    assert math.isnan(found.p)
    assert found.roots == 0

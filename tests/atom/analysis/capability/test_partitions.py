import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
)

from atom.analysis.capability.partitions import (
    adjusted_mutual_information,
    adjusted_rand,
    path_credit,
)

pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=2, max_size=60)


@pytest.mark.slow
@given(pairs)
def test_indices_equal_scikit_learn(items):
    a, b = [x for x, _ in items], [y for _, y in items]
    assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-9)
    assert adjusted_mutual_information(a, b) == pytest.approx(
        adjusted_mutual_info_score(a, b), abs=1e-6
    )


@given(pairs)
def test_names_do_not_matter_and_equal_partitions_score_one(items):
    a = [x for x, _ in items]
    renamed = [f"leaf {9 - x}" for x in a]
    assert adjusted_rand(a, renamed) == pytest.approx(1)
    assert adjusted_mutual_information(a, renamed) == pytest.approx(1)


@pytest.mark.parametrize(("share", "ari", "ami"), [(0.1, 0.81, 0.84), (0.3, 0.50, 0.57), (1, 0, 0)])
def test_reassigning_a_share_costs_what_was_measured(share, ari, ami):
    """METHODS B18's calibration at 52 leaves."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 52, 4000)
    moved = rng.random(4000) < share
    b = np.where(moved, rng.integers(0, 52, 4000), a)
    assert adjusted_rand(a, b) == pytest.approx(ari, abs=0.04)
    assert adjusted_mutual_information(a, b) == pytest.approx(ami, abs=0.04)


def test_path_credit_counts_layers_below_the_root():
    leaf = ("A", "b", "c", "d")
    assert path_credit(leaf, leaf) == 1
    assert path_credit(leaf, ("A", "b", "c", "x")) == pytest.approx(2 / 3)
    assert path_credit(leaf, ("A", "b", "x", "d")) == pytest.approx(1 / 3)
    assert path_credit(leaf, ("A", "x", "c", "d")) == 0
    assert path_credit(leaf, ("B", "b", "c", "d")) == 0

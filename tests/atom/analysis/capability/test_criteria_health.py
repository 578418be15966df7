import numpy as np
import pytest

from atom.analysis.capability.criteria_health import (
    criteria_health,
    near_duplicates,
)
from tests.planted import WorldSettings, plant

# Krippendorff's canonical four observers and twelve units; 0 = missing.
CANONICAL = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
])  # fmt: skip


def test_health_of_a_hand_worked_case(build):
    # Criterion 0 (sample 0, place 0): 5 5 5 -> ceiling 1; criterion 1: 1 3 5, rest = 5 5 5.
    # Criterion 2 (place 2): unscored once.
    rows = [(m, 0, p, 0, 2, s) for m, scores in enumerate([(5, 1, 2), (5, 3, 4), (5, 5, 0)])
            for p, s in enumerate(scores)]  # fmt: skip
    found = criteria_health(build(rows, models=3))
    assert found.ceiling == pytest.approx([1, 1 / 3, 0])
    assert found.floor == pytest.approx([0, 1 / 3, 0])
    assert found.mean == pytest.approx([1, 0.5, 0.5])
    assert found.unscored.tolist() == [0, 0, 1]
    assert found.n.tolist() == [3, 3, 2]
    assert np.isnan(found.discrimination[0])
    assert np.isnan(found.discrimination[2])
    # Criterion 1 against the rest (5+2)/2, (5+4)/2, 5: correlation of (1,3,5) and (3.5,4.5,5).
    assert found.discrimination[1] == pytest.approx(np.corrcoef([1, 3, 5], [3.5, 4.5, 5])[0, 1])
    assert found.passed_by_all.tolist() == [True, False, False]
    assert not found.failed_by_all.any()


def test_discrimination_equals_the_correlation_with_the_rest():
    drawn = plant(WorldSettings(samples=30, models=6), np.random.default_rng(0))
    found = criteria_health(drawn.table())
    for criterion in range(10):
        mine = drawn.sample == drawn.sample[criterion]
        mine[criterion] = False
        rest = drawn.judged[:, mine] @ drawn.weight[mine] / drawn.weight[mine].sum()
        own = drawn.judged[:, criterion]
        if own.std() > 0 and rest.std() > 0:
            expected = np.corrcoef(own, rest)[0, 1]
            assert found.discrimination[criterion] == pytest.approx(expected, abs=1e-9)


def test_a_criterion_that_works_backwards_is_flagged(build):
    rows = [(m, 0, p, 0, 5, (m + 1 if p == 0 else 5 - m)) for m in range(5) for p in range(2)]
    assert criteria_health(build(rows, models=5)).backwards.all()
    # Four answers, r = -0.8: tanh(atanh(-0.8) + 1.96 / sqrt(1)) = tanh(0.86) > 0: may be chance.
    pairs = ((1, 5), (2, 2), (3, 3), (4, 1))
    few = [(m, 0, p, 0, 5, x) for m, both in enumerate(pairs) for p, x in enumerate(both)]
    found = criteria_health(build(few, models=4))
    assert (found.discrimination < 0).all()
    assert not found.backwards.any()


def test_twins_within_a_sample_only():
    texts = ["How tall is the red bar?", "How tall is the red BAR", "How tall is the blue bar?",
             "How tall is the red bar?", ""]  # fmt: skip
    found = near_duplicates(texts, np.array([0, 0, 0, 1, 1]))
    assert found.first.tolist() == [0]
    assert found.second.tolist() == [1]
    assert found.overlap.tolist() == [1.0]
    more = near_duplicates(texts, np.array([0, 0, 0, 1, 1]), least_overlap=0.7)
    # {how tall is the red bar} and {... blue ...}: 5 common of 7.
    assert more.overlap == pytest.approx([1, 5 / 7, 5 / 7])


def test_no_texts_and_wrong_lengths():
    assert len(near_duplicates([], np.zeros(0, dtype=np.int64)).first) == 0
    with pytest.raises(ValueError, match="1 texts for 2 criteria"):
        near_duplicates(["a"], np.zeros(2, dtype=np.int64))


def test_nothing_has_no_health(build):
    assert criteria_health(build([], samples=0)).n.shape == (0,)

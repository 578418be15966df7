import krippendorff
import numpy as np
import pytest

from atom.analysis.capability.criteria_health import (
    criteria_health,
    near_duplicates,
    repeat_agreement,
)
from atom.analysis.planted import WorldSettings, confusion, judge_scores, plant

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


def test_the_canonical_alpha():
    unit = np.tile(np.arange(12), 4)
    found = repeat_agreement(unit, CANONICAL.reshape(-1))
    assert found.alpha == pytest.approx(0.815, abs=5e-4)
    data = np.where(CANONICAL > 0, CANONICAL.astype(float), np.nan)
    expected = krippendorff.alpha(
        data, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5]
    )
    assert found.alpha == pytest.approx(expected, abs=1e-9)
    # Units with one value only are no evidence: 12 less the last.
    assert found.units == 11


def test_pairs_of_a_hand_worked_case():
    # Unit 0: 3 3 4 -> pairs 33, 34, 34; unit 1: 5 1 -> one pair; unit 2: 2 and unscored.
    found = repeat_agreement(np.array([0, 0, 0, 1, 1, 2, 2]), np.array([3, 3, 4, 5, 1, 2, 0]))
    assert (found.units, found.pairs) == (2, 4)
    assert found.exact == pytest.approx(0.25)
    assert found.mean_gap == pytest.approx((1 + 1 + 4) / 4)


def test_a_steadier_judge_agrees_more_with_itself():
    """METHODS B12: the more accurate the judge, the higher alpha and exact agreement."""
    rng = np.random.default_rng(1)
    drawn = plant(WorldSettings(samples=200, models=2), rng)
    true = drawn.true_score.astype(np.int64).reshape(-1)
    unit = np.tile(np.arange(len(true)), 2)
    found = []
    for diagonal in (0.9, 0.8, 0.6):
        matrix = confusion(WorldSettings(diagonal=diagonal))
        said = np.concatenate([judge_scores(true, matrix, rng) for _ in range(2)])
        found.append(repeat_agreement(unit, said.astype(np.int64)))
    assert [round(each.exact, 1) for each in found] == [0.8, 0.7, 0.5]
    assert found[0].alpha > found[1].alpha > found[2].alpha > 0.6


def test_nothing_and_constant_repeats_are_undefined(build):
    empty = np.zeros(0, dtype=np.int64)
    assert np.isnan(repeat_agreement(empty, empty).exact)
    same = repeat_agreement(np.array([0, 0]), np.array([3, 3]))
    assert same.exact == 1
    assert np.isnan(same.alpha)
    assert criteria_health(build([], samples=0)).n.shape == (0,)

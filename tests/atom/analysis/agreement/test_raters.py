import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from atom.analysis.agreement.raters import (
    class_scores,
    krippendorff_alpha,
    majority,
    rank_correlation,
    rater_kappas,
)

RATINGS = st.lists(
    st.lists(st.sampled_from([1.0, 2.0, 3.0, 5.0, float("nan")]), min_size=4, max_size=4),
    min_size=2,
    max_size=12,
)


def test_three_things_by_hand():
    scores = class_scores(np.array([1, 1, 2]), np.array([1, 2, 2]), (1, 2))
    assert scores.accuracy == pytest.approx(2 / 3)
    # Class 1: given once, right; found 1 of 2. Class 2: given twice, right once; found 1 of 1.
    assert (scores.precision, scores.recall) == (pytest.approx(0.75), pytest.approx(0.75))
    assert scores.f1 == pytest.approx(2 / 3)


def test_each_way_of_counting_unread_verdicts_is_its_own_number():
    right, said = np.array([0, 1, 2, 1]), np.array([-1, 1, -1, 2])
    as_tie, wrong, out = (
        class_scores(right, said, (0, 1, 2), unread=way) for way in ("tie", "wrong", "left out")
    )
    assert (as_tie.accuracy, wrong.accuracy, out.accuracy) == (0.5, 0.25, 0.5)
    assert (as_tie.n, wrong.n, out.n) == (4, 4, 2)
    assert {scores.unread for scores in (as_tie, wrong, out)} == {2}
    assert np.isnan(class_scores(right[:0], said[:0], (0, 1)).accuracy)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 2)), min_size=1, max_size=30))
def test_macro_averages_are_scikit_learns(pairs):
    right, said = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    ours = class_scores(right, said, (0, 1, 2))
    theirs = precision_recall_fscore_support(
        right, said, labels=[0, 1, 2], average="macro", zero_division=0
    )
    assert (ours.precision, ours.recall, ours.f1) == pytest.approx(theirs[:3])


def test_a_majority_needs_more_than_any_other_class():
    labels = np.array([[0, 1, 2, -1], [0, 2, 2, -1], [1, 0, 1, 1]])
    assert majority(labels).tolist() == [0, -1, 2, 1]
    assert majority(np.full((2, 2), -1)).tolist() == [-1, -1]


def test_kappas_of_raters_are_scikit_learns():
    labels = np.random.default_rng(2).integers(0, 3, (3, 60))
    kappas = rater_kappas(labels)
    for a in range(3):
        for b in range(3):
            assert kappas[a, b] == pytest.approx(cohen_kappa_score(labels[a], labels[b]))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@settings(max_examples=30)
@given(rows=RATINGS)
def test_alpha_with_missing_ratings_is_the_packages(level, rows):
    ratings = np.array(rows).T
    counts = np.isfinite(ratings).sum(axis=0) >= 2
    values = np.unique(ratings[:, counts][np.isfinite(ratings[:, counts])])
    ours = krippendorff_alpha(ratings, level)
    if len(values) < 2:
        assert np.isnan(ours)
        return
    theirs = krippendorff.alpha(ratings, level_of_measurement=level)
    assert ours == pytest.approx(theirs)


def test_rank_correlation_is_scipys_over_what_both_have():
    a = np.array([1.0, 2, np.nan, 4, 4])
    b = np.array([2.0, 1, 5, 4, np.nan])
    assert rank_correlation(a, b) == pytest.approx(spearmanr([1, 2, 4], [2, 1, 4]).statistic)
    assert np.isnan(rank_correlation(a[:2], b[:2]))
    assert np.isnan(rank_correlation(np.ones(4), np.arange(4.0)))

import numpy as np
import pytest

from atom.analysis.compare.rank_patterns import rank_patterns
from atom.analysis.intervals import wilson
from atom.analysis.score_table import answer_scores


def table_of(build, scores, weights=None):
    """Make one criterion a place: scores[sample][model] = list of scores, or None."""
    rows = []
    for s, of_sample in enumerate(scores):
        for m, values in enumerate(of_sample):
            for p, score in enumerate(values or ()):
                weight = 1 if weights is None else weights[p]
                rows.append((m, s, p, 0, weight, score))
    return build(rows, models=len(scores[0]), samples=len(scores))


def test_ranks_of_a_hand_worked_case(build):
    # Sample 0: 5 3 3 -> ranks 1 2 2; sample 1: 4 4 1 -> 1 1 3; sample 2: a score is missing.
    table = table_of(build, [[[5], [3], [3]], [[4], [4], [1]], [[4], [2], None]])
    found = rank_patterns(table, answer_scores(table))
    assert found.counts.tolist() == [[2, 0, 0], [1, 1, 0], [0, 1, 1]]
    assert (found.samples, found.left_out) == (2, 1)
    assert [p.models for p in found.patterns] == [(0,), (0, 1)]
    assert (found.patterns[0].lo, found.patterns[0].hi) == pytest.approx(wilson(1, 2))
    # Ties: the first place is given three times over two samples.
    assert found.shares[:, 0].sum() == pytest.approx(1.5)


def test_ties_are_exact_where_floats_are_not(build):
    # Thirds and tenths: equal fractions that weighted float means tell apart.
    weights = (3, 3, 4)
    table = table_of(build, [[[2, 4, 3], [4, 2, 3]]] * 4, weights)
    assert rank_patterns(table, answer_scores(table)).patterns[0].models == (0, 1)
    # An unscored criterion changes the denominator: 12/4 against 30/10.
    table = table_of(build, [[[0, 0, 3], [3, 3, 3]]], weights)
    assert rank_patterns(table, answer_scores(table)).patterns[0].models == (0, 1)


def test_patterns_add_up_and_ranks_follow_definition(build):
    rng = np.random.default_rng(1)
    scores = [[[int(rng.integers(1, 6)) for _ in range(3)] for _ in range(4)] for _ in range(60)]
    table = table_of(build, scores, (2, 3, 5))
    found = rank_patterns(table, answer_scores(table))
    totals = np.array([[np.dot(v, (2, 3, 5)) for v in of_sample] for of_sample in scores])
    ranks = 1 + (totals[:, None, :] > totals[:, :, None]).sum(axis=2)
    for model in range(4):
        assert found.counts[model].tolist() == [
            int((ranks[:, model] == r).sum()) for r in range(1, 5)
        ]
    assert sum(p.samples for p in found.patterns) == 60
    assert found.counts.sum() == 240


def test_nothing_one_model_and_too_many(build):
    none = build([], samples=0)
    assert rank_patterns(none, answer_scores(none)).patterns == ()
    one = table_of(build, [[[3]]])
    assert rank_patterns(one, answer_scores(one)).counts.tolist() == [[1]]
    many = build([], models=63, samples=1)
    with pytest.raises(ValueError, match="63 models"):
        rank_patterns(many, answer_scores(many))

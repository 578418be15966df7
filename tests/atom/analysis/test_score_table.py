from dataclasses import replace

import numpy as np
import pytest

from atom.analysis.score_table import FAILED, UNSCORED, ScoreTable, answer_scores


def table(rows, answers):
    """Rows: (response, weight, score); answers: how many."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    n = len(columns)
    return ScoreTable(
        response=columns[:, 0].astype(np.int32),
        criterion=np.arange(n, dtype=np.int32),
        leaf=np.zeros(n, dtype=np.int16),
        weight=columns[:, 1].astype(np.int8),
        position=np.zeros(n, dtype=np.int8),
        score=columns[:, 2].astype(np.int8),
        sample=np.arange(answers, dtype=np.int32),
        model=np.zeros(answers, dtype=np.int16),
        repeat=np.zeros(answers, dtype=np.int16),
        outcome=np.full(answers, np.nan, dtype=np.float32),
        answered=np.ones(answers, dtype=bool),
        cluster=np.arange(answers, dtype=np.int32),
        quarantined=np.zeros(answers, dtype=bool),
        sample_ids=tuple(f"s{i}" for i in range(answers)),
        model_ids=("m",),
        criterion_ids=tuple(f"c{i}" for i in range(n)),
        response_ids=tuple(f"r{i}" for i in range(answers)),
        leaves=(("A", "B", "C", "D"),),
    )


def test_the_sample_score_of_the_hand_worked_case():
    # w = (2,2,5,1), s = (5,4,1,3): (10 + 8 + 5 + 3)/10 = 26/10 = 2.6 -> (2.6 - 1)/4 = 0.4.
    found = answer_scores(table([(0, 2, 5), (0, 2, 4), (0, 5, 1), (0, 1, 3)], 1))
    assert found.numerator.tolist() == [26]
    assert found.weight.tolist() == [10]
    assert found.value.tolist() == [0.4]


def test_unscored_checkpoints_are_counted_and_never_scored():
    rows = [(0, 5, 4), (0, 5, UNSCORED), (1, 5, FAILED)]
    found = answer_scores(table(rows, 3))
    assert found.scored.tolist() == [1, 0, 0]
    assert found.unscored.tolist() == [1, 1, 0]
    assert found.value[0] == 0.75
    assert np.isnan(found.value[1:]).all()


def test_equal_weighted_sums_tie_exactly():
    # 3*1 + 3*2 + 4*5 = 29 = 3*5 + 3*2 + 4*2: floats of other sums need not agree, integers do.
    found = answer_scores(
        table([(0, 3, 1), (0, 3, 2), (0, 4, 5), (1, 3, 5), (1, 3, 2), (1, 4, 2)], 2)
    )
    assert found.numerator[0] == found.numerator[1] == 29


def test_only_the_chosen_rows_count():
    found = answer_scores(table([(0, 5, 5), (0, 5, 1)], 1), np.array([True, False]))
    assert found.value.tolist() == [1.0]


def test_columns_that_nobody_gave_say_nothing():
    made = table([(0, 5, 5), (0, 5, 1)], 2)
    assert made.addressed.tolist() == [True, True]
    assert made.carried.tolist() == [False, False]
    assert made.chained.tolist() == [False, False]
    assert not made.carried_known
    assert made.parents.shape == (2, 0)


def test_a_column_of_another_length_is_refused():
    with pytest.raises(ValueError, match="addressed has 1 rows for 2"):
        replace(table([(0, 5, 5), (0, 5, 1)], 1), addressed=np.array([False]))

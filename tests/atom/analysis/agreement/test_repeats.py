from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.analysis.agreement.repeats import merge_repeats
from atom.analysis.compare.rank_patterns import rank_patterns
from atom.analysis.score_table import answer_scores

LEAVES = (("A", "x"), ("A", "y"))


def merged(rows):
    """Merge rows of (key, score, addressed, carried)."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return merge_repeats(
        columns[:, 0], columns[:, 1].astype(np.int8), columns[:, 2] > 0, columns[:, 3] > 0
    )


def test_a_score_is_the_mean_of_its_marks():
    # Key 0: (4 + 4 + 2)/3 = 10/3. Key 1: (5 + 5)/2 = 5; the unusable reply says nothing.
    found = merged([(1, 5, 1, 0), (0, 4, 1, 0), (0, 4, 1, 0), (1, 0, 1, 0), (0, 2, 0, 1),
                    (1, 5, 1, 0)])  # fmt: skip
    assert found.score.tolist() == pytest.approx([10 / 3, 5])
    assert found.marks.tolist() == [3, 2]
    assert found.first.tolist() == [1, 0]
    # Two of three address the step; one of three says that its error was carried.
    assert found.addressed.tolist() == [True, True]
    assert found.carried.tolist() == [False, False]


def test_without_any_score_the_better_state_tells():
    found = merged([(0, -1, 1, 0), (0, 0, 1, 0), (1, -1, 1, 0), (2, 3, 1, 0)])
    assert found.score.tolist() == [0, -1, 3]
    assert found.score.dtype == np.int8
    assert found.marks.tolist() == [0, 0, 1]


def test_half_of_the_marks_address_a_step_but_more_than_half_must_say_carried():
    found = merged([(0, 2, 1, 1), (0, 2, 0, 0)])
    assert (found.addressed.tolist(), found.carried.tolist()) == ([True], [False])
    assert merged([]).score.tolist() == []


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(-1, 5), st.integers(0, 1), st.integers(0, 1)),
        max_size=30,
    ),
    st.randoms(),
)
def test_order_doesnt_count_and_means_lie_between_the_marks(rows, random):
    found = merged(rows)
    shuffled = list(rows)
    random.shuffle(shuffled)
    again = merged(shuffled)
    assert again.score.tolist() == pytest.approx(found.score.tolist())
    assert again.marks.tolist() == found.marks.tolist()
    for at, key in enumerate(sorted({row[0] for row in rows})):
        marks = [row[1] for row in rows if row[0] == key and row[1] > 0]
        if marks:
            assert min(marks) - 1e-9 <= found.score[at] <= max(marks) + 1e-9


def test_means_over_repeats_go_into_every_figure_exactly(build):
    rows = [  # model, sample, place, leaf, weight, score
        (0, 0, 0, 0, 2, 3), (0, 0, 1, 1, 8, 4), (1, 0, 0, 0, 2, 3), (1, 0, 1, 1, 8, 4),
    ]  # fmt: skip
    table = build(rows, leaves=LEAVES)
    table = replace(table, score=np.array([7 / 3, 11 / 3, 10 / 3, 4.0]))
    scores = answer_scores(table)
    # Model 0: (2 * 7/3 + 8 * 11/3) / 10 = 102/30 = 3.4 -> .6; model 1: (20/3 + 32)/10 = 3.8667.
    assert scores.value.tolist() == pytest.approx([0.6, (38 + 2 / 3 - 10) / 40])


def test_equal_means_of_different_repeats_tie(build):
    # 3 * 10/3 + 7 * 3 = 31 = 3 * 8/3 + 7 * 23/7: as floats they needn't agree.
    rows = [(0, 0, 0, 0, 3, 3), (0, 0, 1, 0, 7, 3), (1, 0, 0, 0, 3, 3), (1, 0, 1, 0, 7, 3)]
    table = replace(build(rows, leaves=LEAVES), score=np.array([10 / 3, 3.0, 8 / 3, 23 / 7]))
    found = rank_patterns(table, answer_scores(table))
    assert found.patterns[0].models == (0, 1)


def test_whole_means_change_nothing(build):
    rows = [(0, 0, 0, 0, 3, 3), (0, 1, 0, 1, 7, 5), (0, 1, 1, 1, 3, 0)]
    table = build(rows, leaves=LEAVES)
    same = replace(table, score=table.score.astype(np.float64))
    values = answer_scores(same).value, answer_scores(table).value
    assert np.array_equal(*values, equal_nan=True)

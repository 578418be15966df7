import math

import numpy as np
import pytest

from atom.judgebench.mm_critic.measures import (
    anchor_audit,
    annotator_judge_swap,
    band,
    critique_accuracy,
    critique_score,
    length_within_items,
    preference_accuracy,
)

NAN = math.nan


@pytest.mark.parametrize(
    ("score", "analysis", "annotator"),
    [(0, "low", "low"), (3, "low", "low"), (4, "low", "medium"), (5, "medium", "medium"),
     (7, "medium", "medium"), (8, "high", "high"), (9, "high", "high"), (10, "high", "correct")],
)  # fmt: skip
def test_the_two_published_band_schemes_part_at_four_and_ten(score, analysis, annotator):
    assert band(score) == analysis
    assert band(score, "annotator") == annotator


def test_a_quality_off_the_scale_is_refused():
    with pytest.raises(ValueError, match="0 to 10"):
        band(11)


def test_critique_accuracy_counts_an_unreadable_claim_as_wrong():
    found = critique_accuracy(np.array([1, 0, 0, -1]), np.array([1, 0, 1, 1]))
    assert (found.right, found.n, found.invalid) == (2, 4, 1)
    assert found.chance == 0.5


def test_the_critique_score_says_how_many_beat_the_reference():
    # (9 + 8 + 4 + 7) / 4 = 7; one over 8, one at 8, two under.
    found = critique_score(np.array([9.0, 8.0, 4.0, 7.0, NAN]))
    assert found.mean == pytest.approx(7.0)
    assert (found.n, found.invalid) == (4, 1)
    assert (found.above, found.equal, found.below) == (0.25, 0.25, 0.5)
    assert found.lo < 7 < found.hi
    assert math.isnan(critique_score(np.array([NAN])).mean)
    with pytest.raises(ValueError, match="0 to 10"):
        critique_score(np.array([80.84]))


def test_a_lenient_anchor_is_taken_off():
    # Blind scores of the reference average 9: offset +1, so a score of 7.5 means 6.5.
    audit = anchor_audit(np.array([9.0, 9.0, 9.0]), np.array([8.0, 9.0, 7.0]))
    assert audit.offset == pytest.approx(1.0)
    assert audit.paraphrase.mean == pytest.approx(8.0)
    assert audit.anchored(7.5) == pytest.approx(6.5)


def test_preferences_are_scored_by_pairing():
    found = preference_accuracy(np.array([1, 0, 1, -1]), ["G1", "G1", "G3", "G3"])
    assert {name: one.strict for name, one in found.items()} == {"G1": 0.5, "G3": 0.5}


def test_length_is_compared_within_an_item_only():
    # Across items longer critiques score higher; within each, a longer one scores 2 lower per 1000.
    item = np.array([0, 0, 1, 1])
    length = np.array([1000, 2000, 5000, 6000])
    score = np.array([4.0, 2.0, 9.0, 7.0])
    found = length_within_items(item, length, score)
    assert found.slope == pytest.approx(-2.0)
    assert (found.items, found.n) == (2, 4)
    assert math.isnan(length_within_items(item, np.full(4, 7), score).slope)
    assert math.isnan(length_within_items(item, length, np.full(4, NAN)).slope)


def test_a_planted_slope_is_inside_its_interval():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(200):
        item = np.repeat(np.arange(40), 3)
        length = rng.integers(200, 2000, 120)
        score = np.clip(5 + rng.normal(0, 1, 40)[item] + 0.5 * length / 1000
                        + rng.normal(0, 1, 120), 0, 10)  # fmt: skip
        found = length_within_items(item, length, score)
        hits += found.lo <= 0.5 <= found.hi
    assert hits / 200 == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / 200))


def test_a_judge_that_favours_its_own_references_shows_in_the_swap():
    swap = annotator_judge_swap(["x", "x", "y", "y"], ["x", "y", "x", "y"],
                                np.array([8.0, 6.0, 5.0, 9.0]))  # fmt: skip
    # Own cells (8 + 9)/2 less the others (6 + 5)/2 = 3.
    assert swap.own == pytest.approx(3.0)
    assert swap.n.tolist() == [[1, 1], [1, 1]]
    assert math.isnan(annotator_judge_swap(["x"], ["x"], np.array([8.0])).own)

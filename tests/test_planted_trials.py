from dataclasses import replace

import numpy as np
import pytest

from atom.analysis.correction.trials import (
    ARMS,
    FAILED_COHORT,
    RIGHT_COHORT,
    arm_shares,
    break_rate,
)
from tests.planted import WorldSettings
from tests.planted_trials import (
    CorrectionWorld,
    plant_trials,
    plant_unchanged,
    truth,
)

PLAIN = CorrectionWorld()
NOISY = replace(PLAIN, false_negative=0.10, false_positive=0.05)


def test_the_truth_is_what_methods_measured():
    known = truth(PLAIN)
    found = [known.right[arm] for arm in ("rejudge", "fresh", "told", "guided")]
    # METHODS B14: 0 / .391 / .448 / .599, and .151 of diagnosis.
    assert found == pytest.approx([0, 0.391, 0.448, 0.599], abs=0.001)
    assert known.effect("guided", "sham") == pytest.approx(0.151, abs=0.001)


def test_a_noisy_judge_dampens_by_its_errors():
    known = truth(NOISY)
    found = [known.judged[arm] for arm in ("rejudge", "fresh", "told", "guided")]
    # METHODS B14: .147 / .412 / .459 / .584, and .124 = truth (1 - .10 - .05).
    assert found == pytest.approx([0.147, 0.412, 0.459, 0.584], abs=0.002)
    seen = known.effect("guided", "sham", by_judge=True)
    assert seen == pytest.approx(0.124, abs=0.001)
    assert seen == pytest.approx(0.85 * known.effect("guided", "sham"))


@pytest.mark.parametrize("world", [PLAIN, NOISY])
def test_a_large_draw_is_the_truth(world):
    trials = plant_trials(replace(world, samples=30_000), np.random.default_rng(0))
    known = truth(world)
    for row in arm_shares(trials):
        assert row.right.value == pytest.approx(known.judged[row.arm], abs=0.015), row.arm
    assert len(trials.answer) / len(ARMS) / 30_000 == pytest.approx(known.failed, abs=0.01)


def test_pictures_rounds_and_right_answers():
    world = replace(PLAIN, samples=400, per_picture=4, rounds=3, right_answers=50)
    trials = plant_trials(world, np.random.default_rng(1))
    assert trials.cluster.max() == 99
    assert (trials.rounds_of("guided"), trials.rounds_of("fresh")) == (3, 1)
    assert (trials.cohort == RIGHT_COHORT).sum() == break_rate(trials).n == 50
    again = (trials.round > 1) & (trials.cohort == FAILED_COHORT)
    before = {
        (answer, arm, number): right
        for answer, arm, number, right in zip(
            trials.answer, trials.arm, trials.round, trials.right, strict=True
        )
    }
    rows = zip(trials.answer[again], trials.arm[again], trials.round[again], strict=True)
    assert all(before[answer, arm, number - 1] == 0 for answer, arm, number in rows)


def test_the_same_seed_draws_the_same():
    world = replace(PLAIN, samples=60, criteria=4)
    one, other = (plant_trials(world, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.after, other.after)
    np.testing.assert_array_equal(one.right, other.right)


def test_criteria_belong_to_their_answers():
    trials = plant_trials(replace(PLAIN, samples=80, criteria=4), np.random.default_rng(2))
    assert len(trials.trial) == 4 * len(trials.answer)
    assert set(np.unique(trials.after)) <= {1, 2, 3, 4, 5}
    failed = trials.before <= trials.threshold
    np.testing.assert_array_equal(np.bincount(trials.trial, weights=failed) > 0, trials.had_failed)
    sham, guided = (trials.arm[trials.trial] == ARMS.index(arm) for arm in ("sham", "guided"))
    np.testing.assert_array_equal(trials.asked[guided], failed[guided])
    np.testing.assert_array_equal(trials.asked[sham], ~failed[sham])


def test_repeated_answers_keep_their_true_scores():
    trials = plant_unchanged(
        WorldSettings(samples=50, models=2, diagonal=1.0, far=0.0), np.random.default_rng(0)
    )
    np.testing.assert_array_equal(trials.before, trials.after)
    np.testing.assert_array_equal(trials.before, trials.baseline)
    assert trials.arms == ("rejudge", "told")

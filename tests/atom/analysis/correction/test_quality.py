import numpy as np
import pytest

from atom.analysis.correction.quality import repairs, rises, unlocked
from tests.atom.analysis.trials import frame, trial
from tests.planted import WorldSettings
from tests.planted_trials import CorrectionWorld, plant_trials, plant_unchanged

NAN = float("nan")


def criteria_of(after_colour, after_sum, asked=1):
    """(criterion, leaf, before, baseline, after, asked): colour failed, the sum passed."""
    return [(0, 0, 1, 2, after_colour, asked), (1, 2, 4, 4, after_sum, 0)]


class TestRises:
    rows = [
        trial(0, "guided", 1, criteria=criteria_of(5, 4)),
        trial(1, "guided", 0, criteria=criteria_of(2, 3)),
        trial(2, "guided", 0, criteria=criteria_of(0, 5)),
    ]

    def test_of_the_hand_worked_case(self):
        (found,) = rises(frame(self.rows))
        # After 5 4 2 3 5 = 19/5, before 1 4 1 4 4 = 14/5, independently 2 4 2 4 4 = 16/5.
        assert (found.n, found.unscored) == (5, 1)
        assert (found.before, found.baseline, found.after) == pytest.approx((2.8, 3.2, 3.8))
        assert (found.naive, found.rise, found.bias) == pytest.approx((1.0, 0.6, 0.4))
        assert np.isnan(found.p)  # three clusters

    def test_of_failed_and_of_asked_criteria(self):
        (failed,) = rises(frame(self.rows), failed_only=True)
        # 5 and 2 after, 2 and 2 before.
        assert (failed.n, failed.rise) == (2, pytest.approx(1.5))
        (asked,) = rises(frame(self.rows), asked=True)
        (others,) = rises(frame(self.rows), asked=False)
        assert (asked.rise, others.n) == (failed.rise, 3)
        # 4 3 5 after, 4 4 4 before.
        assert others.rise == pytest.approx(0)

    def test_without_an_independent_judgement_there_is_no_rise(self):
        rows = [trial(0, "told", 0, criteria=[(0, 0, 1, 0, 3, 0)])]
        (found,) = rises(frame(rows))
        assert (found.n, found.naive) == (1, 2)
        assert np.isnan([found.baseline, found.rise, found.lo, found.bias]).all()

    def test_judging_again_is_the_baseline_itself(self):
        rows = [trial(0, "rejudge", 0, criteria=[(0, 0, 1, 3, 3, 0)])]
        (found,) = rises(frame(rows))
        assert found.naive == 2
        assert np.isnan(found.rise)

    def test_repeated_answers_rise_only_naively(self):
        settings = WorldSettings(samples=150, models=2, diagonal=0.70, far=0.05)
        told = [
            rises(plant_unchanged(settings, np.random.default_rng(seed)), failed_only=True)[1]
            for seed in range(100)
        ]
        assert np.mean([row.naive for row in told]) > 0.4
        assert np.mean([row.bias for row in told]) > 0.4
        rise = np.array([row.rise for row in told])
        assert abs(rise.mean()) < 3 * rise.std(ddof=1) / 10
        covered = np.mean([row.lo <= 0 <= row.hi for row in told])
        assert covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 100)


class TestRepairs:
    world = CorrectionWorld(
        samples=1500, criteria=4, leaf_hint=(2.5, 0.0, 0.0), leaf_block=(0.0, 3.0, 0.0)
    )

    def test_drift_and_lack_of_capability_are_told_apart(self):
        trials = plant_trials(self.world, np.random.default_rng(0))
        drift, stubborn, between = repairs(trials)
        assert drift.label == "attention drift"
        assert drift.estimate > 0.3
        assert stubborn.label == "lack of capability"
        assert stubborn.help is not None
        assert stubborn.help.hi < 0.5
        assert between.label == "undecided"
        assert drift.control == "sham"

    def test_where_nothing_helps_no_leaf_drifts(self):
        world = CorrectionWorld(
            samples=250, criteria=4, told=0, hint=0, peer=0, leaf_hint=(0.0,) * 5,
            leaf_block=(0.0,) * 5,
        )  # fmt: skip
        labels = [
            row.label
            for seed in range(40)
            for row in repairs(plant_trials(world, np.random.default_rng(seed)))
        ]
        assert labels.count("attention drift") / len(labels) < 0.03

    def test_without_controls_nothing_is_called_drift(self):
        for arms in (("guided",), ("guided", "sham"), ("guided", "sham", "told")):
            world = CorrectionWorld(samples=300, criteria=4, arms=arms, leaf_hint=(3.0,) * 3)
            found = repairs(plant_trials(world, np.random.default_rng(1)))
            assert {row.label for row in found} == {"undecided"}
            assert {row.reason for row in found} == {"no control ran"}
        assert np.isnan(repairs(plant_trials(
            CorrectionWorld(samples=50, criteria=4, arms=("guided",)), np.random.default_rng(1)
        ))[0].estimate)  # fmt: skip

    def test_few_clusters_decide_nothing(self):
        rows = []
        for at in range(4):
            for arm, after in (("rejudge", 1), ("told", 1), ("sham", 1), ("guided", 5)):
                rows.append(trial(at, arm, 0, criteria=criteria_of(after, 4)))
        (found,) = repairs(frame(rows))
        assert (found.arm_share, found.control_share, found.estimate) == (1, 0, 1)
        assert found.label == "undecided"
        assert "only 4" in found.reason

    def test_told_is_the_control_where_no_sham_ran(self):
        rows = []
        for at in range(8):
            for arm, after in (("rejudge", 1), ("told", 1), ("guided", 5)):
                rows.append(trial(at, arm, 0, criteria=criteria_of(after, 4)))
        (found,) = repairs(frame(rows), "root")
        assert (found.control, found.label) == ("told", "attention drift")
        # Sign test of eight equal pairs: 2 / 2^8.
        assert found.adjusted == pytest.approx(2 / 2**8)

    def test_of_an_arm_that_didnt_run(self):
        assert repairs(frame([trial(0, "told", 0, criteria=criteria_of(1, 4))])) == ()


class TestUnlocked:
    def rows(self):
        both = [(0, 0, 1, 1, 5, 1), (1, 2, 2, 2, 1, 1)]
        return [
            trial(0, "guided", 1, criteria=both),
            trial(1, "guided", 0, criteria=[(0, 0, 1, 1, 4, 1)]),
            trial(2, "guided", 1, criteria=[(0, 0, 1, 1, 2, 1), (1, 2, 2, 2, 5, 0)]),
            trial(3, "guided", NAN, criteria=[(0, 0, 1, 1, 5, 1)]),
        ]

    def test_of_the_hand_worked_case(self):
        colour, total = unlocked(frame(self.rows()))
        # Colour was asked of answers 0, 1, 2, flipped in 0 and 1; 0 became right, and 2 without it.
        assert (colour.code, colour.asked, colour.flipped, colour.unlocked) == (0, 3, 2, 1)
        assert colour.share == pytest.approx(1 / 3)
        assert (colour.fixed_when_flipped, colour.fixed_otherwise) == (0.5, 1)
        # The sum was asked of answer 0 alone, and stayed failed.
        assert (total.code, total.asked, total.flipped, total.unlocked) == (1, 1, 0, 0)
        assert np.isnan(total.fixed_when_flipped)

    def test_by_leaf_and_root(self):
        assert [row.code for row in unlocked(frame(self.rows()), "leaf")] == [0, 2]
        assert [row.code for row in unlocked(frame(self.rows()), "root")] == [0, 1]

    def test_of_nothing(self):
        assert unlocked(frame([])) == ()

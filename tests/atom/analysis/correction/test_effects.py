from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.analysis.compare.paired import mcnemar
from atom.analysis.correction.effects import (
    CONTRASTS,
    Contrast,
    compare,
    cost_per_point,
    effects,
    effects_by,
    has_controls,
    net_gain,
)
from atom.analysis.correction.trials import BROKEN, code_of, standing
from tests.atom.analysis.trials import arms, frame, trial
from tests.planted_trials import CorrectionWorld, plant_trials, truth

NAN = float("nan")
DIAGNOSTIC = next(each for each in CONTRASTS if each.name == "diagnostic value")
PRINTED = next(each for each in CONTRASTS if each.arm == "guided" and each.role == "printed")
CONTROLS = {"rejudge": [0] * 10, "fresh": [0] * 10, "told": [0] * 10}


def by_name(found):
    return {effect.name: effect for effect in found}


class TestHandWorked:
    rows = arms(
        rejudge=[0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        fresh=[1, 1, 0, 0, 0, 0, 0, 0, 0, 1],
        told=[1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
        sham=[1, 0, 1, 0, 0, 0, 0, 0, 0, 0],
        guided=[1, 1, 0, 1, 1, 1, 1, 1, 0, 0],
    )
    found = by_name(effects(frame(rows)))

    def test_luck_is_a_fresh_answer_less_judging_again(self):
        luck = self.found["luck"]
        # 3/10 - 1/10.
        assert (luck.arm_share, luck.control_share, luck.estimate) == pytest.approx((0.3, 0.1, 0.2))
        assert (luck.arm_only, luck.control_only, luck.both, luck.neither) == (2, 0, 1, 7)

    def test_being_told_is_compared_with_luck(self):
        # Answer 2 against answer 9: 3/10 - 3/10.
        assert self.found["notification"].estimate == 0
        assert self.found["notification"].mid_p == 1

    def test_diagnosis_is_compared_with_sham_questions(self):
        seen = self.found["diagnostic value"]
        # Right: guided 0 1 3 4 5 6 7, sham 0 2. 7/10 - 2/10; six against one.
        assert seen.estimate == pytest.approx(0.5)
        assert (seen.arm_only, seen.control_only, seen.both, seen.neither) == (6, 1, 1, 2)
        # 2 (C(7,0) + C(7,1)) / 2^7 - C(7,1) / 2^7 = (16 - 7) / 128.
        assert seen.mid_p == pytest.approx(9 / 128)
        assert seen.p == seen.mid_p
        # d: six 1, one -1, three 0: mean .5, variance (7 - 10 * .25) / 9 = .5; t of 9 df 2.2622.
        half = 2.2622 * np.sqrt(0.5 / 10)
        assert (seen.lo, seen.hi) == pytest.approx((0.5 - half, min(1, 0.5 + half)), abs=1e-4)

    def test_the_papers_gain_is_named_as_such(self):
        gain = self.found["gain over Re-eval as printed (self)"]
        assert (gain.estimate, gain.role) == (pytest.approx(0.4), "printed")

    def test_four_tests_are_adjusted_together(self):
        p = [effect.p for effect in self.found.values()]
        assert len(p) == 4
        assert self.found["diagnostic value"].holm == pytest.approx(min(1, 4 * min(p)))
        assert self.found["diagnostic value"].verdict == "no gain shown"


class TestVerdicts:
    def test_a_gain_needs_judging_again_and_luck_or_telling(self):
        better = {"sham": [0] * 10, "guided": [1] * 10}
        for controls, expected in (
            (CONTROLS, "gain"),
            ({"rejudge": [0] * 10, "told": [0] * 10}, "gain"),
            ({"rejudge": [0] * 10}, "refused: no control ran"),
            ({"fresh": [0] * 10, "told": [0] * 10}, "refused: no control ran"),
        ):
            trials = frame(arms(**controls, **better))
            assert has_controls(trials) == (expected == "gain")
            assert by_name(effects(trials))["diagnostic value"].verdict == expected

    def test_an_arm_without_its_own_control_is_refused(self):
        found = by_name(effects(frame(arms(**CONTROLS, guided=[1] * 10))))
        assert found["diagnostic value"].verdict == "refused: no control ran"
        assert found["diagnostic value"].n == 0
        assert np.isnan(found["diagnostic value"].estimate)
        assert "peer value" not in found

    def test_luck_and_the_ceiling_are_never_gains(self):
        found = by_name(
            effects(frame(arms(rejudge=[0] * 12, fresh=[1] * 12, told=[0] * 12, oracle=[1] * 12)))
        )
        assert found["luck"].verdict == "luck, not a gain"
        assert found["notification"].verdict == "worse"
        assert found["ceiling"].verdict == "ceiling, not a gain"

    def test_beating_re_eval_says_nothing_of_the_diagnosis(self):
        rows = arms(rejudge=[0] * 12, fresh=[0] * 12, told=[0] * 12, guided=[1] * 12)
        found = by_name(effects(frame(rows)))
        printed = found["gain over Re-eval as printed (self)"]
        assert printed.estimate == 1
        assert printed.verdict == "beyond Re-eval, not a gain"
        assert found["diagnostic value"].verdict == "refused: no control ran"

    def test_four_pairs_are_too_few(self):
        rows = arms(rejudge=[0] * 4, told=[0] * 4, sham=[0] * 4, guided=[1] * 4)
        found = by_name(effects(frame(rows)))["diagnostic value"]
        assert (found.n, found.verdict, found.estimate) == (4, "too few pairs", 1)
        assert np.isnan(found.holm)

    def test_nothing_ran(self):
        assert effects(frame([])) == ()
        assert effects_by(frame([]), DIAGNOSTIC) == ()


class TestPairs:
    def test_answers_without_failed_or_passed_criteria_stand_apart(self):
        rows = arms(**CONTROLS, sham=[0] * 10, guided=[1] * 10)
        for row in rows:
            row["had_passed"] = row["answer"] != 0
            row["had_failed"] = row["answer"] not in (1, 2)
        found = by_name(effects(frame(rows)))
        assert (found["diagnostic value"].n, found["diagnostic value"].apart) == (7, 3)
        # The paper's gain has no sham arm, so it keeps them.
        assert found[PRINTED.name].n == 10

    def test_unknown_results_are_counted_and_strictly_wrong(self):
        rows = arms(**CONTROLS, sham=[0] * 10, guided=[1] * 8 + [NAN, NAN])
        rows[-1]["state"] = BROKEN
        seen = by_name(effects(frame(rows)))["diagnostic value"]
        # 8 of 8 pairs; strictly 8 of 10.
        assert (seen.n, seen.unpaired, seen.estimate, seen.strict) == (8, 2, 1, 0.8)

    def test_pictures_shared_widen_the_interval(self):
        guided, sham = [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0], [0] * 12
        rows = arms(rejudge=[0] * 12, told=[0] * 12, sham=sham, guided=guided)
        alone = by_name(effects(frame(rows)))["diagnostic value"]
        for row in rows:
            row["cluster"] = row["answer"] // 2
        paired = by_name(effects(frame(rows)))["diagnostic value"]
        assert paired.estimate == alone.estimate
        assert paired.hi - paired.lo > alone.hi - alone.lo
        assert (alone.clusters, paired.clusters) == (12, 6)
        assert paired.p >= alone.p

    def test_no_arm_may_have_more_tries_than_its_control(self):
        rows = arms(**CONTROLS, sham=[0] * 10, guided=[0] * 10)
        rows += [trial(at, "guided", 1, round=2) for at in range(10)]
        seen = by_name(effects(frame(rows), upto=3))["diagnostic value"]
        assert (seen.round, seen.estimate) == (1, 0)
        rows += [trial(at, "sham", 0, round=2) for at in range(10)]
        seen = by_name(effects(frame(rows), upto=3))["diagnostic value"]
        assert (seen.round, seen.estimate) == (2, 1)

    def test_right_answers_of_the_other_cohort_dont_count(self):
        rows = arms(**CONTROLS, sham=[0] * 10, guided=[1] * 10)
        more = [trial(20 + at, "guided", 0, cohort="right") for at in range(5)]
        assert effects(frame(rows + more)) == effects(frame(rows))


results = st.lists(st.tuples(st.sampled_from([0, 1, NAN]), st.sampled_from([0, 1, NAN])),
                   min_size=1, max_size=25)  # fmt: skip


@pytest.mark.slow
@given(results)
def test_swapping_arm_and_control_turns_the_sign(pairs):
    first, second = ([pair[at] for pair in pairs] for at in (0, 1))
    seen = standing(frame(arms(told=first, guided=second)))
    one = compare(seen, Contrast(name="x", arm="told", control="guided"))
    other = compare(seen, Contrast(name="x", arm="guided", control="told"))
    assert one.n == other.n
    assert (one.arm_only, one.control_only) == (other.control_only, other.arm_only)
    if one.n:
        assert one.estimate == pytest.approx(-other.estimate)
        assert (one.lo, one.hi) == pytest.approx((-other.hi, -other.lo), nan_ok=True)
        assert one.mid_p == other.mid_p == mcnemar(one.arm_only, one.control_only).mid_p
        assert -1 <= one.estimate <= 1


@pytest.mark.slow
@given(results, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(pairs, random):
    first, second = ([pair[at] for pair in pairs] for at in (0, 1))
    rows = arms(rejudge=[0] * len(pairs), told=first, guided=second)
    turned = rows.copy()
    random.shuffle(turned)
    assert repr(effects(frame(turned))) == repr(effects(frame(rows)))


@pytest.mark.slow
@given(results, st.sampled_from(["told", "guided"]), st.sampled_from([0, 1]))
def test_an_answer_of_one_arm_alone_changes_no_paired_effect(pairs, arm, right):
    first, second = ([pair[at] for pair in pairs] for at in (0, 1))
    rows = arms(told=first, guided=second)
    plain = compare(standing(frame(rows)), PRINTED)
    more = compare(standing(frame([*rows, trial(99, arm, right)])), PRINTED)
    assert more.unpaired == plain.unpaired + 1
    assert repr(replace(more, unpaired=plain.unpaired)) == repr(plain)


def test_planted_effects_are_found_again():
    world = CorrectionWorld(samples=6000)
    found, known = by_name(effects(plant_trials(world, np.random.default_rng(3)))), truth(world)
    for name, effect in found.items():
        assert effect.estimate == pytest.approx(
            known.effect(effect.arm, effect.control), abs=0.03
        ), name
    assert found["luck"].verdict == "luck, not a gain"
    assert found["diagnostic value"].verdict == found["peer value"].verdict == "gain"
    assert found["peer over guided"].verdict == "no gain shown"


class TestNodes:
    def rows(self):
        # Answers 0-9 failed a criterion on colour, 5-14 one on the sum; guided fixes 0-9.
        rows = []
        for arm, right in (("rejudge", 0), ("told", 0), ("sham", 0), ("guided", None)):
            for at in range(15):
                criteria = [
                    (0, 0, 1 if at < 10 else 5, 1, 3, 0),
                    (1, 2, 2 if at > 4 else 4, 2, 3, 0),
                ]
                value = float(at < 10) if right is None else right
                rows.append(trial(at, arm, value, criteria=criteria))
        return rows

    def test_answers_count_where_they_failed(self):
        see, think = effects_by(frame(self.rows()), DIAGNOSTIC, "root")
        assert (see.node, see.effect.n, see.effect.estimate) == (0, 10, 1)
        assert (think.node, think.effect.n, think.effect.estimate) == (1, 10, 0.5)
        assert see.effect.verdict == "gain"
        # Two tests: BH of p = 2/1024 - 1/1024 is twice that at most.
        assert see.effect.bh == pytest.approx(2 * 2**-10)

    def test_leaves_without_failures_are_left_out(self):
        assert [row.node for row in effects_by(frame(self.rows()), DIAGNOSTIC, "leaf")] == [0, 2]

    def test_without_controls_no_node_is_a_gain(self):
        rows = [row for row in self.rows() if row["arm"] in ("sham", "guided")]
        assert {row.effect.verdict for row in effects_by(frame(rows), DIAGNOSTIC)} == {
            "refused: no control ran"
        }


class TestNet:
    def test_of_the_hand_worked_case(self):
        rows = [trial(at, "guided", right) for at, right in enumerate([1, 1, 0, 0, 0])]
        rows += [
            trial(10 + at, "guided", right, cohort="right") for at, right in enumerate([1, 1, 1, 0])
        ]
        found = net_gain(frame(rows), 0.3)
        # 0.4 * 0.3 - 0.25 * 0.7 = 0.12 - 0.175.
        assert found.value == pytest.approx(-0.055)
        # Influence: failed .3/5 * (.6 .6 -.4 -.4 -.4), right -.7/4 * (-.25 -.25 -.25 .75);
        # squares .0036 * 1.2 + .030625 * .75 = .02728875, times 9/8; t of 8 df 2.3060.
        half = 2.3060 * np.sqrt(0.02728875 * 9 / 8)
        assert (found.lo, found.hi) == pytest.approx((-0.055 - half, -0.055 + half), abs=1e-4)

    def test_without_right_answers_it_isnt_known(self):
        found = net_gain(frame(arms(guided=[0, 1])), 0.5)
        assert (found.fixed, found.n_right) == (0.5, 0)
        assert np.isnan([found.broken, found.value, found.lo]).all()

    def test_its_interval_holds_the_truth(self):
        world = CorrectionWorld(samples=300, right_answers=80, arms=("guided",))
        known = truth(world)
        # Breaking: the right answers' chance of being wrong afterwards, from a large draw.
        big = plant_trials(replace(world, samples=60_000, right_answers=60_000),
                           np.random.default_rng(0))  # fmt: skip
        broken = net_gain(big, known.failed).broken
        target = known.failed * known.right["guided"] - (1 - known.failed) * broken
        hits = 0
        for seed in range(200):
            found = net_gain(plant_trials(world, np.random.default_rng(seed)), known.failed)
            hits += found.lo <= target <= found.hi
        assert hits / 200 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200)


class TestCost:
    rows = arms(**CONTROLS, sham=[0] * 10, guided=[1] * 5 + [0] * 5)

    def priced(self, **price):
        return frame([{**row, "cost": price.get(row["arm"], 0.0)} for row in self.rows])

    def test_is_what_one_more_right_answer_costs(self):
        found = cost_per_point(self.priced(guided=0.03, sham=0.01), DIAGNOSTIC)
        # 0.03 an answer, half of them recovered: 0.06; beyond sham (0.03 - 0.01) / 0.5.
        assert found.per_point == pytest.approx(0.06)
        assert found.extra_per_point == pytest.approx(0.04)
        assert found.lo < found.per_point < found.hi
        assert (found.n, found.arm_cost, found.control_cost) == pytest.approx((10, 0.03, 0.01))

    def test_nothing_recovered_costs_without_end(self):
        turned = Contrast(name="x", arm="sham", control="guided")
        found = cost_per_point(self.priced(guided=0.03, sham=0.01), turned)
        assert found.per_point == np.inf
        assert found.hi == np.inf

    def test_an_unknown_price_isnt_a_free_one(self):
        found = cost_per_point(self.priced(guided=NAN, sham=0.01), DIAGNOSTIC)
        assert found.n == 0
        assert np.isnan([found.per_point, found.extra_per_point, found.arm_cost]).all()


def test_every_contrast_differs_in_name_and_knows_its_arms():
    assert len({each.name for each in CONTRASTS}) == len(CONTRASTS)
    assert all(code_of(each.arm) != code_of(each.control) for each in CONTRASTS)
    assert {each.name for each in CONTRASTS if each.sham_pairs} == {
        "diagnostic value",
        "peer value",
    }

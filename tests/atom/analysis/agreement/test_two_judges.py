import csv
import json
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as reference_fleiss

from atom.analysis.agreement.raters import krippendorff_alpha
from atom.analysis.agreement.two_judges import JointMarks, fleiss_kappa

PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    min_size=4,
    max_size=40,
)


def compared(first, second, cluster=None, **more):
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    marks = JointMarks(a, b, np.arange(len(a)) if cluster is None else np.asarray(cluster), **more)
    return marks.agreement()


def test_four_marks_by_hand():
    # Both yes 2, first yes only 1, both no 1: equal 3/4; by chance (3 x 2 + 1 x 2)/16 = 1/2.
    found = compared([1, 1, 1, 0], [1, 1, 0, 0])
    assert (found.n, found.levels) == (4, 2)
    assert found.exact.value == 0.75
    assert found.kappa.value == pytest.approx((0.75 - 0.5) / 0.5)
    assert found.shift.value == -0.25
    assert found.rmse.value == 0.5
    # Ordered values: 8 ratings, 5 yes and 3 no, so one unequal pair of 4: 1 - 7 x 2 / (2 x 15).
    assert found.alpha.value == pytest.approx(1 - 7 * 2 / 30)


def test_a_difference_of_two_levels_weighs_more_by_distance_than_by_order():
    first, second = [0, 0.1, 1, 0, 1, 0.1], [0, 0.1, 1, 0.1, 0.1, 0.1]
    by_distance, by_order = compared(first, second), compared(first, second, ordinal=True)
    assert by_distance.weighted_kappa.value < by_order.weighted_kappa.value
    assert by_distance.alpha == by_order.alpha


def test_what_one_judge_left_out_is_left_out():
    found = compared([1, math.nan, 0, 1], [1, 1, math.nan, 0])
    assert found.n == 2
    assert compared([], []).n == 0
    assert math.isnan(compared([], []).alpha.value)
    assert math.isnan(compared([1, 1], [1, 1]).kappa.value)


@pytest.mark.slow
@settings(max_examples=60)
@given(PAIRS)
def test_figures_are_those_of_other_libraries(pairs):
    a, b = (np.array([pair[at] for pair in pairs]) for at in (0, 1))
    assume(len(np.unique(a)) > 1 and len(np.unique(b)) > 1)
    found = compared(a, b)
    codes = [(4 * one).astype(int) for one in (a, b)]
    assert found.kappa.value == pytest.approx(cohen_kappa_score(*codes))
    assert found.spearman.value == pytest.approx(spearmanr(a, b).statistic, abs=1e-9)
    assert found.kendall.value == pytest.approx(kendalltau(a, b).statistic, abs=1e-9)
    assert found.pearson.value == pytest.approx(pearsonr(a, b).statistic, abs=1e-9)
    assert found.alpha.value == pytest.approx(krippendorff_alpha(np.stack([a, b])))
    by_distance = cohen_kappa_score(*codes, weights="quadratic", labels=[0, 1, 2, 3, 4])
    assert found.weighted_kappa.value == pytest.approx(by_distance)


@settings(max_examples=40)
@given(PAIRS)
def test_judges_swapped_agree_as_much(pairs):
    a, b = ([pair[at] for pair in pairs] for at in (0, 1))
    there, back = compared(a, b), compared(b, a)
    for name in ("exact", "kappa", "weighted_kappa", "alpha", "spearman", "kendall", "rmse"):
        one, other = getattr(there, name).value, getattr(back, name).value
        assert one == pytest.approx(other, nan_ok=True), name
    assert there.shift.value == pytest.approx(-back.shift.value)


def test_a_part_is_as_if_it_were_all():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 5, 200) / 4, rng.integers(0, 5, 200) / 4
    a[::7] = math.nan
    cluster, rows = np.arange(200) // 4, np.arange(200) % 3 == 0
    for ordinal in (False, True):
        part = JointMarks(a, b, cluster, ordinal=ordinal).agreement(rows)
        alone = JointMarks(a[rows], b[rows], cluster[rows], ordinal=ordinal).agreement()
        assert part == alone


def test_intervals_count_clusters_not_marks():
    rng = np.random.default_rng(5)
    one = rng.random(20) < 0.5
    other = np.where(rng.random(20) < 0.8, one, ~one)
    twenty = JointMarks(one.astype(float), other.astype(float), np.arange(20))
    copied = JointMarks(
        np.repeat(one, 10).astype(float), np.repeat(other, 10).astype(float),
        np.repeat(np.arange(20), 10),
    )  # fmt: skip
    few = twenty.agreement(rng=np.random.default_rng(1))
    many = copied.agreement(rng=np.random.default_rng(1))
    assert few.kappa.lo < few.kappa.value < few.kappa.hi
    assert (many.kappa.lo, many.kappa.hi) == pytest.approx((few.kappa.lo, few.kappa.hi))
    alone = JointMarks(one[:4].astype(float), other[:4].astype(float), np.arange(4))
    assert math.isnan(alone.agreement(rng=rng).kappa.lo)


@pytest.mark.slow
def test_intervals_cover_the_agreement_of_the_world():
    # Judges right with .9 and .8, truth even: kappa = 2 (.9 x .8 + .1 x .2) - 1 = .48.
    rng = np.random.default_rng(11)
    hit = 0
    for _ in range(60):
        truth = rng.random(300) < 0.5
        a = np.where(rng.random(300) < 0.9, truth, ~truth).astype(float)
        b = np.where(rng.random(300) < 0.8, truth, ~truth).astype(float)
        found = JointMarks(a, b, np.arange(300)).agreement(rng=rng).kappa
        hit += found.lo <= 0.48 <= found.hi
    assert hit >= 52


def test_fleiss_by_hand_and_beside_statsmodels():
    # Things (1 1 0), (1 1 1), (0 0 0): equal pairs 1/3, 1, 1; values 5/9 and 4/9, chance 41/81.
    ratings = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    assert fleiss_kappa(ratings) == pytest.approx((7 / 9 - 41 / 81) / (40 / 81))
    rng = np.random.default_rng(2)
    many = rng.integers(0, 3, (4, 50))
    counts = np.stack([(many == value).sum(axis=0) for value in range(3)], axis=1)
    assert fleiss_kappa(many.astype(float)) == pytest.approx(reference_fleiss(counts))
    assert math.isnan(fleiss_kappa(np.array([[1.0, 0.0], [1.0, math.nan]])))
    assert math.isnan(fleiss_kappa(np.ones((3, 4))))


def test_real_verdicts_agree_as_published(shared_folder):
    folder = shared_folder / "real/criteria"
    published = json.loads((folder / "expected.json").read_text())["dsg"]["kappa_between_judges"]
    said = {}
    for name in ("mplug", "instructblip", "pali17b"):
        with (folder / f"dsg/vqa_answers_release/{name}_dsg.csv").open() as lines:
            said[name] = {
                (row["t2i_model"], row["item_id"], row["question_id"]): row["answer"]
                for row in csv.DictReader(lines)
            }
    for pair, kappa in published.items():
        one, other = (said[name] for name in pair.split("~"))
        both = [key for key in one if key in other]
        columns = [[float(name[key] == "yes") for key in both] for name in (one, other)]
        found = compared(*columns, cluster=[hash(key[1]) for key in both])
        assert found.kappa.value == pytest.approx(kappa, abs=5e-5), pair

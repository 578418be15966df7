"""The tab about a study's judge: what is stored is found, and what isn't there is said."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from atom.analysis.agreement.calibration import Truths, calibrate
from atom.records import (
    BenchItem,
    BenchSet,
    Checkpoint,
    Judge,
    Preference,
    Response,
    Sampling,
    Verdict,
)
from atom.store import Store
from atom.ui.lab.reliability.noise import noise
from atom.ui.lab.reliability.truth import evenness
from atom.views.filters import Filters
from atom.views.fingerprints.bars import bars
from atom.views.fingerprints.heat import heat_csv, heatmap
from atom.views.fingerprints.radar import radars
from atom.views.fingerprints.shape import shape
from atom.views.lab.calibrations import calibration_of
from atom.views.lab.judge_marks import find_mark, mark_of, marks_of, points
from atom.views.lab.reliability.measure import reliability
from atom.views.lab.reliability.ratings import RatingData, load_ratings
from atom.views.lab.reliability.words import _helps
from atom.views.study_data import load_study
from tests.app.screen_store import JUDGE, JUDGING, SCORING, make_store
from tests.planted import WorldSettings, confusion, judge_scores

OTHER = Judge(id="judge-2", name="other-judge")
THIRD = Judge(id="judge-3", name="third-judge")
WARM = Sampling(temperature=0.7)


@pytest.fixture
def made(tmp_path):
    return make_store(tmp_path / "store")


def score_again(store, *, judge=JUDGE.id, repeat=1, shift=0, sampling=JUDGING):
    """Copy every scored checkpoint of the study's judge, some moved."""
    rows = [row for row in store.select(Checkpoint) if row.state == "scored"]
    rows = [row for row in rows if row.judge_id == JUDGE.id and row.repeat == 0
            and row.sampling == JUDGING]  # fmt: skip
    copies = []
    for row in sorted(rows, key=lambda one: one.key):
        score = min(max((row.score or 0) + shift, 1), 5)
        key = Checkpoint.make_key(
            row.criterion_id, row.response_id, judge, SCORING, sampling, repeat
        )
        copies.append(row.model_copy(update={"key": key, "judge_id": judge, "repeat": repeat,
                                             "score": score, "sampling": sampling}))  # fmt: skip
    store.put(copies)
    return len(copies)


def seen(store, study, **changes):
    data = load_study(store, study.id)
    return reliability(store, data, Filters(study=study.id), **changes)


@pytest.mark.slow
def test_one_judge_asked_once_says_what_is_not_known_and_what_to_do(made):
    with Store.open(made.folder) as store:
        view = seen(store, made.study)
    assert view.judge == "probe-judge"
    assert view.retest == ()
    assert view.pairs == ()
    assert view.position == ()
    assert view.calibrated is None
    assert not view.separable
    assert all(math.isnan(row.judges) and row.advice == "unknown" for row in view.noise)
    assert any("asked once" in text for text in view.statements)
    commands = [step.command for step in view.steps]
    assert "--repeat 2 --limit 100 --judge-temperature 0.7" in commands[0]
    assert "judge calibrate --judge" in commands[1]
    assert len(commands) == 3
    # The same intervals as everywhere else.
    assert all(row.estimate == row.plain for row in view.noise)


@pytest.mark.slow
def test_repeats_are_found_and_never_confused_with_another_setting(made):
    with Store.open(made.folder) as store:
        count = score_again(store)
        view = seen(store, made.study)
        assert view.repeats == 2
        # Sample 3 is set aside: nine checkpoints.
        assert view.retest[0].found.n == count - 9
        assert view.retest[0].found.exact == 1
        assert view.cold
        assert any("temperature 0" in text for text in view.statements)
        # Equal at temperature 0: they could not have shown any noise, so nothing is said of it.
        assert not view.separable
        assert all(math.isnan(row.repeats) and row.advice == "unknown" for row in view.noise)
        assert not any("of the uncertainty of a model's number" in text.lower()
                       and "%" in text for text in view.statements)  # fmt: skip
        # One scoring under other settings doesn't mix with the two that belong together ...
        score_again(store, repeat=0, shift=1, sampling=WARM)
        assert seen(store, made.study).retest[0].found.exact == 1
        # ... and three there beat the two.
        score_again(store, repeat=1, shift=-1, sampling=WARM)
        score_again(store, repeat=2, sampling=WARM)
        view = seen(store, made.study)
    assert view.repeats == 3
    assert view.retest[0].found.exact < 0.5
    # What changed most comes first: a mark moved up by one and down by one is two apart.
    assert [one.apart for one in view.again] == sorted((o.apart for o in view.again), reverse=True)
    assert view.again[0].apart == 2
    assert view.again[0].marks in {("3", "1", "2"), ("4", "2", "3"), ("5", "3", "4")}
    assert view.again[0].criterion


@pytest.mark.slow
def test_another_judge_is_compared_and_its_kindness_widens_the_intervals(made):
    with Store.open(made.folder) as store:
        store.put([OTHER])
        score_again(store, judge=OTHER.id, repeat=0, shift=1)
        view = seen(store, made.study)
    assert view.others == ("other-judge",)
    assert [pair.rows[0].found.shift > 0.5 for pair in view.pairs] == [True]
    assert any("other-judge is kinder" in text for text in view.statements)


@pytest.mark.slow
def test_two_judges_tell_no_share_of_the_uncertainty(made):
    """Walk A10: once two judges gave the judge 100 % of the uncertainty, from 0.9 to 99.2."""
    # One difference has one degree of freedom: intervals of it reached from 0.9 to 99.2.
    with Store.open(made.folder) as store:
        store.put([OTHER])
        score_again(store, judge=OTHER.id, repeat=0, shift=1)
        view = seen(store, made.study)
    assert (view.judges, view.separable) == (2, False)
    assert all(row.estimate == row.plain for row in view.noise)
    assert all(math.isnan(row.judges) and math.isnan(row.samples) for row in view.noise)
    assert not any("Of the uncertainty" in text for text in view.statements)
    assert any("it takes 3 judges" in text for text in view.statements)
    assert "too few judges" in noise(view)


@pytest.mark.slow
def test_three_judges_kindness_widens_the_intervals(made):
    with Store.open(made.folder) as store:
        store.put([OTHER, THIRD])
        score_again(store, judge=OTHER.id, repeat=0, shift=1)
        score_again(store, judge=THIRD.id, repeat=0, shift=-1)
        view = seen(store, made.study)
    assert (view.judges, view.separable) == (3, True)
    whole = [row for row in view.noise if not row.branch]
    assert all(row.estimate.hi - row.estimate.lo > row.plain.hi - row.plain.lo for row in whole)
    assert any("a better judge" in text for text in view.statements)


@pytest.mark.slow
def test_a_judge_whose_scores_do_not_follow_the_truth_is_no_measure_of_noise(made):
    """Walk A10: once a random judge was taken as a measure of a good one's noise."""
    leaves = [("Perception", "x")] * 40
    with Store.open(made.folder) as store:
        store.put([OTHER, THIRD])
        score_again(store, judge=OTHER.id, repeat=0, shift=1)
        score_again(store, judge=THIRD.id, repeat=0, shift=-1)
        # Truth goes 1, 5, 1, 5 ...; it says 1, 1, 5, 5 ...: a rank correlation of 0.
        calibration_set(store, leaves, [1, 1, 5, 5] * 10, judge=THIRD.id, truth=[1, 5] * 20)
        view = seen(store, made.study)
    assert view.aside == ("third-judge",)
    assert (view.judges, view.separable) == (2, False)
    assert any("third-judge is left out" in text for text in view.statements)


@pytest.mark.slow
def test_the_sentence_about_noise_says_what_the_rows_say(made):
    with Store.open(made.folder) as store:
        for repeat in (0, 1):
            score_again(store, repeat=repeat, shift=repeat, sampling=WARM)
        view = seen(store, made.study)
    assert view.separable
    assert not view.cold
    whole = [row for row in view.noise if not row.branch]
    for row in view.noise:
        half = (row.estimate.hi - row.estimate.lo) / 2
        assert (row.needed <= row.estimate.samples) == (half <= 3)

    def said(*advice):
        return _helps([replace(whole[0], advice=one) for one in advice])

    assert said("either", "either", "unknown") == (
        "twice the samples and a better judge would help alike"
    )
    assert said("samples") == "twice the samples would help more than a better judge"
    mixed = said("samples", "either", "either")
    assert mixed == (
        "for 1 of 3 models twice the samples would help more than a better judge; for 2 of 3 "
        "models twice the samples and a better judge would help alike"
    )
    assert said("unknown") == "what would help more can't be told"


def test_no_sentence_denies_a_branch_that_is_marked():
    truths = Truths(truth=np.full(60, 3), said=np.repeat([3, 4], 30), leaf=np.repeat([0, 1], 30),
                    cluster=np.arange(60), leaves=(("A", "a"), ("B", "b")))  # fmt: skip
    view = calibrate(truths)
    assert "differ by more than chance" in evenness(view)
    unsure = replace(view, homogeneity=replace(view.homogeneity, p=0.43))
    assert "is off from the truth itself" in evenness(unsure)
    clean = replace(unsure, roots=view.roots[:1], leaves=())
    assert "don’t differ surely" in evenness(clean)
    untested = replace(view, homogeneity=replace(view.homogeneity, p=math.nan))
    assert evenness(untested) == ""


@pytest.mark.slow
def test_the_table_s_own_scores_come_first_in_the_ratings(made):
    with Store.open(made.folder) as store:
        score_again(store, judge=OTHER.id, repeat=0)
        data = load_study(store, made.study.id)
        found: RatingData = load_ratings(store, data)
    ratings = found.ratings
    mine = ratings.judge == 0
    assert np.array_equal(ratings.score[mine][np.argsort(ratings.item[mine])], data.table.score)
    assert found.names == ("probe-judge", "judge-2")
    assert len(ratings.cluster) == len(data.table.score)


@pytest.mark.slow
def test_votes_in_both_orders_show_the_pull_of_the_place(made):
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        table = data.table
        votes = []
        for sample in range(10):
            rows = [int(at) for at in np.flatnonzero(table.sample == sample)][:2]
            a, b = (table.response_ids[at] for at in rows)
            votes += [
                Preference(id=Preference.make_id(a, b, "voter", "imported", first),
                           sample_id=table.sample_ids[sample], response_a=a, response_b=b,
                           judge="voter", prompt="imported", first=first, verdict=first)
                for first in ("a", "b")
            ]  # fmt: skip
        store.put(votes)
        view = seen(store, made.study)
    assert [(row.judge, row.found.pairs, row.found.consistent) for row in view.position] == [
        ("voter", 10, 0)
    ]
    assert view.position[0].found.first_twice == 10
    assert any("leans to the one shown first" in text for text in view.statements)


def calibration_set(store, leaves, said, *, judge=JUDGE.id, truth=None):
    """Write a set of probes of one step each, and what a judge said."""
    record = BenchSet(id="cal", benchmark="calibration", name="Cal", n_items=len(said))
    items, verdicts = [], []
    for at, score in enumerate(said):
        step = {"id": "s", "question": "?", "ground_truth": "x", "leaf": list(leaves[at]),
                "score": 3 if truth is None else truth[at]}  # fmt: skip
        items.append(BenchItem(set_id="cal", id=f"item-{at}", position=at,
                               data={"probe": f"p{at}", "steps": [step]}))  # fmt: skip
        verdicts.append(
            Verdict(key=f"v-{judge}-{at}", group="cal", subject_id=f"item-{at}", part="scoring",
                    judge=judge, prompt="scoring/1", state="scored" if score else "unscored",
                    data={"scores": [score]} if score else {})
        )  # fmt: skip
    store.put([record, *items, *verdicts])


@pytest.mark.slow
def test_a_calibrated_judge_s_flaw_is_said_and_marked_in_fingerprints(made):
    leaves = [("Perception", "x")] * 40 + [("Reasoning", "y")] * 40
    with Store.open(made.folder) as store:
        calibration_set(store, leaves, [3] * 40 + [4] * 39 + [None])
        view = seen(store, made.study)
        data = load_study(store, made.study.id)
    assert view.calibrated is not None
    assert view.calibrated.unread == 1
    assert (view.covered, view.roots) == (2, 2)
    assert any(
        "It reads Reasoning a whole point too high on 1–5" in text for text in view.statements
    )
    marks = marks_of(view.calibrated.view)
    form = shape(data, Filters(study=made.study.id)).judged(marks)
    heat = heatmap(form, None)
    assert [column.judge is not None for column in heat.columns] == [
        column.group == "Reasoning" for column in heat.columns
    ]
    assert "judge lenient here" in heat_csv(heat)
    axes = [axis for radar in radars(form) for axis in radar.axes]
    assert {axis.path[0] for axis in axes if axis.judge} == {"Reasoning"}
    assert {bar.path[0] for bar in bars(form, None).rows if bar.judge} == {"Reasoning"}
    assert [mark.path for mark in form.judge_flaws] == [("Reasoning",)]
    assert shape(data, Filters(study=made.study.id)).judge_flaws == ()


@pytest.mark.slow
def test_calibrations_in_several_stores_count_together_and_others_judges_don_t(made, tmp_path):
    with Store.open(made.folder) as store, Store.open(tmp_path / "own") as own:
        calibration_set(own, [("A", "a")] * 8, [3] * 8)
        calibration_set(store, [("A", "a")] * 8, [5] * 8, judge="somebody")
        assert calibration_of((store,), JUDGE.id) is None
        found = calibration_of((store, own, own), JUDGE.id)
        again = calibration_of((own,), JUDGE.id)
        view = seen(store, made.study, others=(own,))
    assert found is not None
    assert again.view is found.view  # equal scores aren't calibrated twice
    assert (found.answers, found.probes) == (8, 8)
    assert found.view.whole.accuracy == 1
    assert view.calibrated is not None
    assert calibration_of((), None) is None


def test_marks_say_it_in_words_and_hang_down_the_tree():
    n = 60
    truths = Truths(truth=np.full(n, 3), said=np.repeat([3, 2], n // 2),
                    leaf=np.repeat([0, 1], n // 2), cluster=np.arange(n),
                    leaves=(("A", "a"), ("B", "b")))  # fmt: skip
    view = calibrate(truths)
    marks = marks_of(view)
    assert set(marks) == {("B",), ("B", "b")}
    mark = find_mark(marks, ("B", "other", "leaf"))
    assert mark is not None
    assert mark.text == "◑ judge harsh here"
    assert "a whole point too low" in mark.tip
    assert find_mark(marks, ("A", "a")) is None
    assert mark_of(view.roots[0]) is None
    assert marks_of(None) == {}


@pytest.mark.parametrize(
    ("value", "words"), [(0.52, "half a point"), (-1.04, "a whole point"), (0.31, "0.3 points")]
)
def test_points(value, words):
    assert points(value) == words


@pytest.mark.slow
def test_a_study_that_nobody_judged(tmp_path):
    made = make_store(tmp_path / "bare", judged=False)
    with Store.open(made.folder) as store:
        view = seen(store, made.study)
    assert view.judge is None
    assert view.noise == ()
    assert math.isnan(view.length.slope)
    assert "Nothing is judged yet" in view.steps[0].text


@pytest.mark.slow
def test_longer_answers_to_one_question_are_measured_within_it(made):
    with Store.open(made.folder) as store:
        rows = [row for row in store.select(Response) if row.state == "scored"]
        store.replace([
            row.model_copy(update={"text": row.text + " word" * (40 * at % 97)})
            for at, row in enumerate(rows)
        ])  # fmt: skip
        view = seen(store, made.study)
    assert view.length.n > 20
    assert view.length.controlled
    assert view.length.lo < view.length.slope < view.length.hi


@pytest.mark.slow
def test_at_temperature_0_repeats_say_nothing_of_the_judges_share(made):
    with Store.open(made.folder) as store:
        score_again(store)
        view = seen(store, made.study)
    assert view.cold
    assert not view.separable
    assert all(math.isnan(row.repeats) and row.advice == "unknown" for row in view.noise)
    assert any("shows nothing of its noise" in text for text in view.statements)
    assert "--judge-temperature 0.7" in view.steps[0].command


@pytest.mark.slow
def test_a_noisy_judge_shows_its_true_self_agreement_within_the_interval(made):
    """A judge whose two answers are drawn apart: what it agrees with itself is known beforehand.

    Given the truth i it says j with p_ij, so it says the same twice with sum_j p_ij^2.
    """
    chance = confusion(WorldSettings(diagonal=0.7))
    rng = np.random.default_rng(4)
    with Store.open(made.folder) as store:
        rows = sorted(
            (row for row in store.select(Checkpoint) if row.score is not None),
            key=lambda row: row.key,
        )
        truth = np.array([row.score for row in rows])
        copies = []
        for repeat in (0, 1):
            for row, score in zip(rows, judge_scores(truth, chance, rng), strict=True):
                key = Checkpoint.make_key(row.criterion_id, row.response_id, JUDGE.id, SCORING,
                                          WARM, repeat)  # fmt: skip
                new = {"key": key, "sampling": WARM, "repeat": repeat, "score": int(score)}
                copies.append(row.model_copy(update=new))
        store.put(copies)
        view = seen(store, made.study)
    found = view.retest[0].found
    known = float((chance[truth - 1] ** 2).sum(axis=1).mean())
    assert not view.cold
    assert found.exact_lo <= known <= found.exact_hi
    assert found.exact < 0.8

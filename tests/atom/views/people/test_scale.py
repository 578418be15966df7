"""People's labels put scores on people's scale: what was planted comes back, and too few don't."""

from __future__ import annotations

import csv
import io
import math
import shutil
from dataclasses import replace

import numpy as np
import pytest

from atom.analysis.agreement.debias import MIN_LABELLED
from atom.engine.people.annotations import give
from atom.records import Annotation, Candidate, Checkpoint, Study
from atom.store import Store
from atom.store import table as columns_of
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.people.annotations import LEAST_SURE
from atom.views.people.scale import people_scale, scale_status, whole_scores
from atom.views.people.scale_csv import COLUMNS, scale_csv
from atom.views.people.score_labels import Labels, load_labels, no_labels
from atom.views.study_data import StudyData, load_study
from tests.app.screen_store import JUDGE, make_store
from tests.judged import STUDY as JUDGED
from tests.judged import open_judged
from tests.planted import WorldSettings, confusion, plant

ALL = Filters()
WORLDS = 8
LABELLED = 60


def study_of(world, **changes) -> StudyData:
    """Make a study of a planted world."""
    table = world.table()
    return StudyData(
        study=Study(id="planted", name="planted"),
        revision=1,
        judge=None,
        candidates=tuple(Candidate(id=name, name=name) for name in table.model_ids),
        tree=None,
        table=replace(table, **changes),
        pending=0,
        sample_position={},
    )


def label(world, data, samples, *, models=None) -> Labels:
    """Label all checkpoints of some samples with the planted truth."""
    table = data.table
    model = table.model[table.response]
    wanted = np.isin(table.sample[table.response], samples) & (table.score > 0)
    if models is not None:
        wanted &= np.isin(model, models)
    row = np.flatnonzero(wanted)
    value = world.true_score[model[row], table.criterion[row]].astype(np.float64)
    return Labels(row=row, value=value, people=1)


def drawn(seed, *, samples=300, labelled=LABELLED, models=None, **settings):
    """Return a planted study with labels on some of its samples, drawn at random."""
    world = plant(
        WorldSettings(samples=samples, **settings), np.random.default_rng([seed, samples])
    )
    data = study_of(world)
    chosen = np.random.default_rng([seed, 7]).choice(samples, labelled, replace=False)
    return world, data, label(world, data, chosen, models=models)


@pytest.fixture(scope="module")
def one():
    world, data, labels = drawn(0)
    return world, data, labels, people_scale(data, labels, ALL)


def slack(p, n):
    return 3 * math.sqrt(p * (1 - p) / n)


def goals(world, data):
    """Return what people's scores would come to: (answer means by model, by root, by leaf)."""
    table = data.table
    leaf = 25 * (world.expected(by_judge=False) - 1)
    model = table.model[table.response]
    each = leaf[model, table.leaf]
    weight = table.weight.astype(np.float64)
    answer = np.bincount(table.response, weights=weight * each) / np.bincount(
        table.response, weights=weight
    )
    whole = {at: answer[table.model == at].mean() for at in range(table.n_models)}
    root = np.array([path[0] for path in table.leaves])[table.leaf]
    roots = {
        (at, name): each[(model == at) & (root == name)].mean()
        for at in range(table.n_models)
        for name in np.unique(root)
    }
    return whole, roots, leaf


@pytest.mark.slow
def test_planted_scores_are_covered_where_the_judge_alone_misses_them():
    """METHODS D4: cluster PPI++ coverage in [.92, .98], width at most .65 of the labels' alone."""
    whole, roots, judged, width, wrong = [], [], [], [], []
    for seed in range(WORLDS):
        world, data, labels = drawn(seed)
        view = people_scale(data, labels, ALL)
        goal, by_root, _ = goals(world, data)
        for row in view.rows:
            whole.append(row.people.lo <= goal[row.model] <= row.people.hi)
            judged.append(row.judge.lo <= goal[row.model] <= row.judge.hi)
            width.append((row.people.hi - row.people.lo) / (row.alone.hi - row.alone.lo))
        for row in view.roots:
            if row.labelled >= 20:
                target = by_root[row.model, row.root]
                roots.append(row.people.lo <= target <= row.people.hi)
        share = view.counts / view.counts.sum(axis=1, keepdims=True)
        wrong.append(np.abs(share - confusion(world.settings)).mean())
    # Models of one world share its samples, so that a world counts for about two of them.
    assert 0.92 - slack(0.95, 2 * WORLDS) <= np.mean(whole) <= 1
    assert np.mean(roots) >= 0.95 - slack(0.95, 2 * WORLDS)
    assert np.mean(width) <= 0.65
    assert np.mean(wrong) <= 0.03
    assert np.mean(whole) > np.mean(judged)


def test_leaves_come_back_to_people_s_scale():
    """METHODS B13b: at 1200 samples the judge alone covers under .90, the inverse [.92, .97]."""
    judged, covered = [], []
    for seed in range(3):
        world, data, labels = drawn(seed, samples=1200)
        view = people_scale(data, labels, ALL)
        assert view.refused == ""
        leaf = goals(world, data)[2]
        at = {path: place for place, path in enumerate(data.table.leaves)}
        for row in view.leaves:
            goal = leaf[row.model, at[row.path]]
            judged.append(row.judge.lo <= goal <= row.judge.hi)
            covered.append(row.people.lo <= goal <= row.people.hi)
    assert np.mean(judged) < 0.90
    assert 0.92 - 0.02 <= np.mean(covered) <= 0.97 + 0.02


def test_the_judge_s_own_numbers_are_the_overview_s(one):
    _, data, _, view = one
    ranking = {row.model_id: row.score for row in overview(data, ALL).ranking}
    for row in view.rows:
        shown = ranking[row.model_id]
        assert (row.judge.value, row.judge.lo, row.judge.hi) == pytest.approx(
            (shown.value, shown.lo, shown.hi)
        )


def test_a_mean_by_hand():
    """Two samples of one model are labelled; the sums stand in the comments."""
    world = plant(WorldSettings(samples=4, models=1), np.random.default_rng(3))
    data = study_of(world)
    table = data.table
    sample = table.sample[table.response]
    score = np.select([sample == 0, sample == 1, sample == 2], [5, 3, 3], 5).astype(np.int8)
    data = study_of(world, score=score)
    row = np.flatnonzero(sample < 2)
    labels = Labels(row=row, value=np.where(sample[row] == 0, 4.0, 2.0))
    (found,) = people_scale(data, labels, ALL).rows
    # On 0-100: people 75, 25; judge 100, 50; without labels 50, 100. m_y 50, m_f = m_U = 75.
    assert found.people.value == pytest.approx(50)
    assert (found.judge.value, found.shift) == (75, 25)
    # As in the analysis: lambda = 2 / (2 * 2), and se = 25 sqrt(.5).
    assert found.trust == pytest.approx(0.5)
    assert (found.labelled, found.unlabelled) == (2, 2)
    assert not found.enough


def test_an_answer_labelled_in_part_counts_by_that_part():
    world = plant(WorldSettings(samples=40, models=1), np.random.default_rng(4))
    data = study_of(world)
    table = data.table
    # The first criterion of every answer, a point below the judge wherever that is possible.
    row = np.flatnonzero(table.position == table.position.min())
    judge = table.score[row].astype(np.float64)
    labels = Labels(row=row, value=np.maximum(judge - 1, 1))
    (found,) = people_scale(data, labels, ALL).rows
    assert found.shift == pytest.approx(25 * (judge - labels.value).mean())
    assert (found.labelled, found.unlabelled) == (40, 0)


# --- whether judge-scale is lifted ---------------------------------------------------------------


@pytest.mark.parametrize(("labelled", "lifted"), [(29, False), (30, True)])
def test_thirty_labelled_samples_lift_it(labelled, lifted):
    _, data, labels = drawn(1, samples=60, labelled=labelled)
    status = scale_status(data, labels, ALL)
    assert status.samples == labelled
    assert status.lifted is lifted
    view = people_scale(data, labels, ALL)
    assert all(row.enough is lifted for row in view.rows)
    if not lifted:
        assert view.leaves == ()
        assert "29 samples are labelled; at least 30" in view.refused
        assert f"{MIN_LABELLED} of a model’s are needed" in view.statements[0]


def test_no_labels_claim_nothing(one):
    data = one[1]
    view = people_scale(data, no_labels(), ALL)
    assert "No person has scored" in view.statements[0]
    assert not view.status.lifted
    assert not view.status.partly
    assert all(not row.people.known and row.judge.known and row.needed is None for row in view.rows)
    assert view.leaves == ()
    assert math.isnan(view.agreement.kappa)
    assert math.isnan(view.homogeneous_p)


def test_labels_of_one_model_lift_that_model_alone():
    _, data, labels = drawn(2, models=[3])
    view = people_scale(data, labels, ALL)
    assert view.status.partly
    assert view.labelled_models == (3,)
    assert [row.model for row in view.rows if row.enough] == [3]
    assert any("All labels are on answers of model-3" in text for text in view.statements)
    # The confusion is taken to be everybody's.
    assert {row.model for row in view.leaves} == set(range(8))


def test_a_score_that_people_never_gave_refuses_the_leaves(one):
    _, data, labels, _ = one
    view = people_scale(data, replace(labels, value=np.minimum(labels.value, 4)), ALL)
    assert "never gave the score 5" in view.refused
    assert view.leaves == ()
    assert all(row.enough for row in view.rows)


def test_a_judge_that_is_kind_on_one_root_is_found_out(one):
    _, data, labels, even = one
    table = data.table
    first = table.leaves[0][0]
    inside = np.array([path[0] == first for path in table.leaves])[table.leaf[labels.row]]
    view = people_scale(
        data, replace(labels, value=np.where(inside, np.maximum(labels.value - 1, 1),
                                             labels.value)), ALL
    )  # fmt: skip
    assert not even.uneven
    assert view.uneven
    shift = {one.root: one for one in view.shifts}
    assert shift[first].lo > 0.5
    assert any("errs otherwise under some roots" in text for text in view.statements)


def test_filters_narrow_labels_and_scores_alike(one):
    _, data, labels, view = one
    even = Filters(tags=(("parity", "even"),))
    narrow = people_scale(data, labels, even)
    assert 0 < narrow.status.samples < view.status.samples
    root = data.table.leaves[0][0]
    inside = people_scale(data, labels, Filters(root=root))
    assert {row.root for row in inside.roots} == {root}
    assert inside.status.checkpoints == next(s.n for s in view.shifts if s.root == root)


def test_a_narrower_interval_needs_more_labels(one):
    _, data, labels, view = one
    narrow = people_scale(data, labels, ALL, half=view.half / 1.3)
    for wide, tight in zip(view.rows, narrow.rows, strict=True):
        assert wide.needed is not None
        assert wide.needed >= MIN_LABELLED
        assert tight.needed is None or tight.needed > wide.needed
        half = (wide.people.hi - wide.people.lo) / 2
        # What is narrow enough by now needs no more, and the other way round.
        assert (half <= view.half) == (wide.needed <= wide.labelled)


def test_people_and_judge_agree_as_scikit_learn_and_krippendorff_say(one):
    krippendorff = pytest.importorskip("krippendorff")
    metrics = pytest.importorskip("sklearn.metrics")
    _, data, labels, view = one
    judge = data.table.score[labels.row]
    people = labels.value.astype(np.int64)
    assert view.agreement.kappa == pytest.approx(
        metrics.cohen_kappa_score(people, judge, weights="quadratic")
    )
    assert view.agreement.alpha == pytest.approx(
        krippendorff.alpha(np.stack([people, judge]).astype(float),
                           level_of_measurement="ordinal")
    )  # fmt: skip
    assert view.agreement.exact == (people == judge).mean()


def test_halves_go_both_ways():
    found = whole_scores(np.array([1.5, 2, 3.5, 4.5, 10 / 3, 2.5]))
    assert found.tolist() == [1, 2, 4, 4, 3, 3]


def test_constant_scores_give_numbers_or_nothing():
    world = plant(WorldSettings(samples=50, models=2), np.random.default_rng(9))
    data = study_of(world, score=np.full(len(world.table().score), 3, dtype=np.int8))
    row = np.flatnonzero(data.table.sample[data.table.response] < 40)
    view = people_scale(data, Labels(row=row, value=np.full(len(row), 3.0)), ALL)
    assert [row.people.value for row in view.rows] == [50, 50]
    assert view.leaves == ()
    assert "nan" not in " ".join(view.statements)
    assert "nan" not in scale_csv(view)


# --- files ---------------------------------------------------------------------------------------


def test_the_file_holds_every_row_and_no_formula(one):
    view = one[3]
    rows = list(csv.DictReader(io.StringIO(scale_csv(view))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(view.rows) + len(view.roots) + len(view.leaves)
    first = rows[0]
    assert float(first["people_mean"]) == view.rows[0].people.value
    assert (first["level"], first["people_scale"]) == ("model", "yes")
    last = rows[-1]
    assert (last["level"], last["method"]) == ("capability", "inverse confusion")
    assert (last["labels_only_mean"], last["labelled_samples_needed"]) == ("", "")


# --- reading -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("labels"))


@pytest.fixture
def labelled(tmp_path, made):
    """Return (store, study's data, keys of its scored checkpoints)."""
    shutil.copytree(made.folder, tmp_path / "store")
    with Store.open(tmp_path / "store") as store:
        where = columns_of(Checkpoint).c.judge_id == JUDGE.id
        keys = [row.key for row in store.select(Checkpoint, where) if row.state == "scored"]
        yield store, load_study(store, made.study.id), sorted(keys)


def test_labels_find_their_rows_and_what_doesn_t_count_is_counted(labelled):
    store, data, keys = labelled

    def say(key, who, value, **more):
        give(store, data.study.id, "score", key, who, value=value, **more)

    say(keys[0], "ada", 4)
    say(keys[1], "ada", 4)
    say(keys[1], "ben", 3)
    say(keys[2], "ada", 5)
    say(keys[2], "ben", 1)
    say(keys[3], "ada", 5)
    say(keys[3], "ben", 1)
    say(keys[3], "cy", 2, adjudicates=True)
    say(keys[4], "ada", 2, note=LEAST_SURE)
    say(keys[5], "ada", 2, skipped=True)
    say("not-there", "ada", 2)
    say(f"{data.table.sample_ids[0]}/style", "dan", 2)  # a rating, about no checkpoint
    found = load_labels(store, data)
    points = {row.key: row for row in store.get_many(Checkpoint, keys[:4])}
    table = data.table
    seen = {
        (table.response_ids[table.response[row]], table.criterion_ids[table.criterion[row]]): value
        for row, value in zip(found.row, found.value, strict=True)
    }
    # One person; two a point apart, their mean; a third settles; 5 against 1 is a conflict.
    assert seen == {
        (points[key].response_id, points[key].criterion_id): value
        for key, value in ((keys[0], 4), (keys[1], 3.5), (keys[3], 2))
    }
    assert (found.conflicts, found.settled, found.picked, found.astray) == (1, 1, 1, 1)
    assert found.people == 3


def test_a_label_holds_for_another_judge_of_the_same_checkpoint(labelled):
    store, data, keys = labelled
    point = store.get(Checkpoint, keys[0])
    other = point.model_copy(update={
        "judge_id": "judge-2", "score": 1,
        "key": Checkpoint.make_key(point.criterion_id, point.response_id, "judge-2", point.prompt,
                                   point.sampling, 0),
    })  # fmt: skip
    store.put([JUDGE.model_copy(update={"id": "judge-2", "name": "other"}), other])
    give(store, data.study.id, "score", keys[0], "ada", value=4)
    found = load_labels(store, load_study(store, data.study.id, "judge-2"))
    assert found.value.tolist() == [4]


def test_a_study_without_labels_has_none_and_other_studies_labels_stay_there(labelled):
    store, data, keys = labelled
    store.put([
        Annotation(id=Annotation.make_id("other", "score", keys[0], "ada"), study_id="other",
                   kind="score", subject_id=keys[0], annotator="ada", value=3)
    ])  # fmt: skip
    found = load_labels(store, data)
    assert len(found.row) == 0
    assert scale_status(data, found, ALL).samples == 0


def test_people_who_are_judges_count_without_a_label(tmp_path):
    with open_judged(tmp_path / "judged") as store:
        data = load_study(store, JUDGED, "judge-y")
        labels = load_labels(store, data)
        ann, ben = (load_study(store, JUDGED, name).table for name in ("Ann", "Ben"))
        # Both marked everything that Judge Y did: the label is the mean of their scores.
        assert (len(labels.row), labels.people, labels.astray) == (216, 2, 0)
        assert labels.value == pytest.approx((ann.score + ben.score) / 2)
        assert scale_status(data, labels, Filters()).by_model == (24, 24, 24)
        # Looked at through people, they aren't held against themselves.
        assert len(load_labels(store, load_study(store, JUDGED, "Ann")).row) == 0

"""Several judges beside people, method by method: each row is that judge's own tab."""

from __future__ import annotations

import numpy as np
import pytest

from atom.methods.checkpoints import atom_scores
from atom.records import Annotation
from atom.views.lab.fidelity.tab import fidelity_of
from atom.views.lab.methods import judge_methods
from atom.views.study_data import load_study
from tests.judged import CANDIDATES, LEAVES, SAMPLES, STUDY, criterion_id, open_judged, response_id

JUDGES = ["judge-x", "judge-y", "person-ann", "person-ben"]


@pytest.fixture
def store(tmp_path):
    with open_judged(tmp_path / "judged") as opened:
        yield opened


def test_each_row_is_the_judges_own_tab(store):
    data = load_study(store, STUDY)
    view = judge_methods(store, data, JUDGES)
    assert [row.judge.id for row in view.rows] == JUDGES
    assert [name for name, _ in view.methods] == ["atom", "no_weights"]
    for row in view.rows:
        alone = {one.name: one for one in fidelity_of(store, data, row.judge.id).rows}
        for name, share in row.accuracy.items():
            assert share == alone[name].accuracy.strict
    people, models = view.rows[2:], view.rows[:2]
    # People see the truth, by which the answers were ranked, more often than the models do.
    assert min(row.accuracy["atom"].value for row in people) > max(
        row.accuracy["atom"].value for row in models
    )


def test_orders_that_two_judges_share_are_counted_by_hand(store):
    view = judge_methods(store, load_study(store, STUDY), JUDGES[:2])
    scores = [atom_scores(load_study(store, STUDY, judge).table, "atom") for judge in JUDGES[:2]]
    same = total = 0
    for number in range(SAMPLES):
        for a in range(3):
            for b in range(a):
                names = response_id(number, CANDIDATES[a]), response_id(number, CANDIDATES[b])
                if all(name in side for name in names for side in scores):
                    signs = [np.sign(float(side[names[0]] - side[names[1]])) for side in scores]
                    same, total = same + (signs[0] == signs[1]), total + 1
    (pair,) = view.orders
    assert (pair.alike.n, pair.alike.value) == (total, pytest.approx(same / total))
    assert pair.alike.lo < pair.alike.value < pair.alike.hi


def test_labels_of_criteria_count_for_the_judge_that_cut_and_hung_them(store):
    data = load_study(store, STUDY)

    def label(number, kind, **said):
        subject = criterion_id(number, 0)
        return Annotation(
            id=Annotation.make_id(data.study.id, kind, subject, "Dora"), study_id=data.study.id,
            kind=kind, subject_id=subject, annotator="Dora", **said,
        )  # fmt: skip

    store.put([label(n, "accuracy", value=3 if n else 1) for n in range(4)])
    store.put([label(n, "mapping", label=" > ".join(LEAVES[0 if n else 2])) for n in range(4)])
    view = judge_methods(store, data, JUDGES)
    cut, other = view.rows[0], view.rows[1]
    # The criteria are Judge X's: (1 + 3 + 3 + 3) / 4; three of its four leaves are people's.
    assert cut.quality.accuracy.mean == pytest.approx(2.5)
    assert cut.hits.leaf.value == pytest.approx(0.75)
    assert (other.quality, other.hits) == (None, None)


@pytest.mark.parametrize("also_first", [False, True])
def test_who_marks_only_what_others_disagree_on_has_no_row(store, also_first):
    data = load_study(store, STUDY)
    ben = next(one for one in data.judges if one.id == "person-ben")

    def score(number, *, adjudicates):
        return Annotation(
            id=Annotation.make_id(data.study.id, "score", f"k{number}", ben.name), value=3,
            study_id=data.study.id, kind="score", subject_id=f"k{number}", annotator=ben.name,
            adjudicates=adjudicates,
        )  # fmt: skip

    store.put([score(n, adjudicates=n > 0 or not also_first) for n in range(3)])
    view = judge_methods(store, data, JUDGES)
    shown = [row.judge.id for row in view.rows]
    assert shown == (JUDGES if also_first else JUDGES[:3])
    assert [one.id for one in view.settling] == ([] if also_first else ["person-ben"])
    assert view.left_out == 0

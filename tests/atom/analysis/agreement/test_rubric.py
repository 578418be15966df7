import csv
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.analysis.agreement.rubric import RubricMarks, plain, with_gates, with_parents, with_points

NAN = math.nan


def marked(values, weights=None, *, parents=(), penalty=(), gate=(), cap=0.0, out=(), each=None):
    """Marks of one answer (or of several with `each` marks), named by their places."""
    n = len(values)
    at = np.arange(n)
    each = each or n
    return RubricMarks(
        response=at // each,
        criterion=at % each,
        value=np.asarray(values, dtype=float),
        weight=np.asarray(weights or [1.0] * n, dtype=float),
        met=np.asarray(values, dtype=float) >= 0.75,
        applies=~np.isin(at, out),
        penalty=np.isin(at % each, penalty),
        gate=np.isin(at % each, gate),
        cap=np.full(n, cap),
        parents=np.array(parents, dtype=np.int64).reshape(-1, 2).T,
        answers=-(-n // each),
    )


def test_a_child_counts_only_where_its_parents_hold():
    # 1 rests on 0, 2 on 0 and 1, 3 on nothing: no, yes, yes, yes -> as marked 3/4, with parents
    # 1 and 2 lose their yes: 1/4. Parents are judged by their own mark: 1 is a yes of its own.
    marks = marked([0, 1, 1, 1], parents=[(1, 0), (2, 0), (2, 1)])
    assert plain(marks).value.tolist() == [0.75]
    assert with_parents(marks).value.tolist() == [0.25]
    assert with_parents(marks).touched.tolist() == [2]
    # Not passed on: 2 rests on 1 alone, whose own mark is a yes although its parent failed.
    chain = marked([0, 1, 1], parents=[(1, 0), (2, 1)])
    assert with_parents(chain).value.tolist() == [pytest.approx(1 / 3)]


def test_an_unread_parent_does_not_hold_and_one_that_does_not_apply_takes_its_child_along():
    unread = marked([NAN, 1, 1], parents=[(1, 0)])
    assert with_parents(unread).value.tolist() == [0.5]
    assert with_parents(unread, unread="unmet").value.tolist() == [pytest.approx(1 / 3)]
    void = marked([NAN, 1, 0], parents=[(1, 0)], out=[0])
    assert plain(void).value.tolist() == [0.5]
    assert with_parents(void).value.tolist() == [0.0]
    assert with_parents(void).touched.tolist() == [0]


def test_a_missed_must_have_caps_or_sinks_an_answer():
    values = [1, 1, 0, 1, 1, 1]  # two answers of three marks; the third one is a must-have
    for cap, wanted in ((0.0, [0.0, 1.0]), (0.5, [0.5, 1.0]), (0.9, [2 / 3, 1.0])):
        marks = marked(values, gate=[2], cap=cap, each=3)
        found = with_gates(marks, plain(marks).value)
        assert found.value == pytest.approx(wanted)
        assert found.touched.tolist() == [1, 0]
    doubtful = marked([1, 1, NAN], gate=[2])
    assert math.isnan(with_gates(doubtful, plain(doubtful).value).value[0])


def test_penalties_take_points_and_none_goes_below_zero():
    # 5 of 5 and half of 4 earned, 3 taken: (5 + 2 - 3) / 9.
    marks = marked([1, 0.5, 1], [5, 4, 3], penalty=[2])
    assert with_points(marks).value.tolist() == [pytest.approx(4 / 9)]
    assert with_points(marks).touched.tolist() == [1]
    # The plain mean counts a penalty that occurred as a criterion not met: (5 + 2 + 0) / 12.
    assert plain(marks).value.tolist() == [pytest.approx(7 / 12)]
    assert with_points(marked([0, 1], [2, 9], penalty=[1])).value.tolist() == [0.0]
    assert math.isnan(with_points(marked([1], penalty=[0])).value[0])


def test_unread_marks_are_left_out_or_unmet_by_name():
    marks = marked([1, NAN, 1, 0])
    assert plain(marks).value.tolist() == [pytest.approx(2 / 3)]
    assert plain(marks, unread="unmet").value.tolist() == [0.5]
    assert with_points(marks, unread="unmet").value.tolist() == [0.5]
    assert math.isnan(plain(marked([NAN])).value[0])


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, NAN]), min_size=4, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda p: p[0] > p[1])),
)
def test_laws(values, parents):
    marks = marked(values, [4.0, 3.0, 2.0, 1.0], parents=parents)
    as_marked, with_them = plain(marks).value[0], with_parents(marks).value[0]
    assert math.isnan(as_marked) == math.isnan(with_them)
    if not math.isnan(as_marked):
        assert 0 <= with_them <= as_marked + 1e-12 <= 1 + 2e-12
    none = marked(values, [4.0, 3.0, 2.0, 1.0])
    assert with_parents(none).value == pytest.approx(plain(none).value, nan_ok=True)
    assert with_points(none).value == pytest.approx(plain(none).value, nan_ok=True)


def test_real_scene_graphs_are_as_published(shared_folder):
    folder = shared_folder / "real/criteria"
    expected = json.loads((folder / "expected.json").read_text())["dsg"]["judges"]
    with (folder / "dsg/dsg/data/dsg-1k-anns.csv").open() as lines:
        rules = {(row["item_id"], row["proposition_id"]): row["dependency"]
                 for row in csv.DictReader(lines)}  # fmt: skip
    unreadable = {item for (item, _), text in rules.items() if "outside" in text}
    items = sorted({item for item, _ in rules})
    for name, wanted in expected.items():
        with (folder / f"dsg/vqa_answers_release/{name}_dsg.csv").open() as lines:
            rows = list(csv.DictReader(lines))
        models = sorted({row["t2i_model"] for row in rows})
        answers = {(model, item): at for at, (model, item) in
                   enumerate((m, i) for m in models for i in items)}  # fmt: skip
        names = {key: at for at, key in enumerate(rules)}
        parents = [
            (names[item, one], names[item, other.strip()])
            for (item, one), text in rules.items()
            if item not in unreadable
            for other in text.split(",")
            if (item, other.strip()) in names
        ]
        yes_no = {"yes": 1.0, "no": 0.0}
        n = len(rows)
        marks = RubricMarks(
            response=np.array([answers[row["t2i_model"], row["item_id"]] for row in rows]),
            criterion=np.array([names[row["item_id"], row["question_id"]] for row in rows]),
            value=np.array([yes_no.get(row["answer"], NAN) for row in rows]),
            weight=np.ones(n),
            met=np.array([row["answer"] == "yes" for row in rows]),
            applies=np.ones(n, dtype=bool),
            penalty=np.zeros(n, dtype=bool),
            gate=np.zeros(n, dtype=bool),
            cap=np.zeros(n),
            parents=np.array(parents).T,
            answers=len(answers),
        )
        for rule, key in ((with_parents, "score_with_dependency"),
                          (plain, "score_without_dependency")):  # fmt: skip
            value = np.nan_to_num(rule(marks, unread="unmet").value).reshape(len(models), -1)
            for model, mean in zip(models, value.mean(axis=1), strict=True):
                assert mean == pytest.approx(wanted[key][model], abs=5e-5), (name, key, model)
        touched = int(with_parents(marks, unread="unmet").touched.sum())
        assert touched == wanted["answers_set_to_no_by_dependency"], name

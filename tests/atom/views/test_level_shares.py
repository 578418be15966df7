"""An ordinal scale tells the share of marks at or above each level."""

import pytest

from atom.views.filters import Filters
from atom.views.level_shares import level_shares
from atom.views.study_data import load_study
from tests.rated import RUBRIC, WORDS, YES_NO, rated


def shares(folder, marks, scales, **told):
    store, study = rated(folder, [{"weight": 1, **told}, {"weight": 1}], marks, scales)
    with store:
        return level_shares(load_study(store, study.id, RUBRIC), Filters())


def test_marks_at_or_above_each_level_are_counted_model_by_model(tmp_path):
    found = shares(
        tmp_path,
        {("s", "a"): ["good", "yes"], ("t", "a"): ["fair", "no"], ("u", "a"): ["poor", "no"],
         ("s", "b"): ["fair", "no"], ("t", "b"): ["?", "no"]},
        (WORDS, YES_NO),
    )  # fmt: skip
    # Only the words' distance is unknown. a: 2 of 3 fair or better, 1 of 3 good; b: 1 of 1, none.
    (one,) = found
    assert (one.scale, one.levels) == ("words", ("fair", "good"))
    assert [(row.name, row.n) for row in one.models] == [("a", 3), ("b", 1)]
    assert one.models[0].shares == pytest.approx((200 / 3, 100 / 3))
    assert one.models[1].shares == (100.0, 0.0)


def test_a_scale_of_known_distances_needs_no_shares(tmp_path):
    assert shares(tmp_path, {("s", "a"): ["yes", "no"]}, (YES_NO,)) == ()

from __future__ import annotations

from atom.store import Store
from atom.views.correction.picked import picked_answers
from atom.views.filters import Filters
from atom.views.study_data import load_study
from tests.app.correction_store import put_experiment
from tests.app.screen_store import CANDIDATES, make_store


def test_answers_are_picked_that_came_right_by_feedback_alone(tmp_path):
    made = make_store(tmp_path)
    filters = Filters(study=made.study.id)
    with Store.open(tmp_path) as store:
        data = load_study(store, made.study.id)
        assert picked_answers(store, data, filters) == ()
        put_experiment(made)
        picked = picked_answers(store, data, filters)
    # By the table in correction_store: guided is right on 3, 4, 6, 8 and 9; on 4 another try, on 6
    # being told, and on 8 the passed steps were enough.
    assert [one.filters.sample for one in picked] == [made.sample_ids[3], made.sample_ids[9]]
    assert {one.model for one in picked} == {CANDIDATES[0].name}
    assert picked[0].stayed_wrong == ("fresh", "told", "sham")
    assert picked[0].filters.model == CANDIDATES[0].id

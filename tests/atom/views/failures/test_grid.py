import numpy as np
import pytest

from atom.views.failures.find import NOTHING
from atom.views.failures.page import failures, listed_cells, samples_listed
from atom.views.filters import Filters
from tests.factories import COUNT


def test_a_cell_is_the_weight_held_and_the_failures_there(data):
    cells = listed_cells(data, Filters())
    assert cells.model_ids == ("cand-a", "cand-b", "cand-c")
    # Sample 0: A 5 5 5; B 5 2 1, weights 2 3 5: (2*4 + 3*1 + 5*0) / 40 = .275; C 1 1 1.
    assert cells.value[0].tolist() == pytest.approx([1, 0.275, 0])
    assert cells.failed[0].tolist() == [0, 2, 3]
    # Sample 2, B: 5, unscored, 2: (2*4 + 5*1) / 28.
    assert cells.value[2, 1] == pytest.approx(13 / 28)
    assert cells.seen[2].tolist() == [3, 2, 3]
    # Sample 5 is quarantined.
    assert np.isnan(cells.value[5]).all()
    assert cells.models_failing.tolist() == [2, 1, 1, 1, 1, 0]


def test_cells_follow_the_chain_and_the_filters(data):
    counted = listed_cells(data, Filters(node=COUNT))
    assert counted.value[0].tolist() == [1, 1, 0]
    assert counted.failed.sum() == 4  # C in samples 0, 1, 3 and 4: 1 2 3 1 2
    hard = listed_cells(data, Filters(without=(("level", "easy"),)))
    assert np.isnan(hard.value[:3]).all()


def test_each_failing_cell_of_a_model_is_a_row_of_its_list(data):
    for node in ((), COUNT):
        cells = listed_cells(data, Filters(node=node))
        for number, model in enumerate(cells.model_ids):
            behind = samples_listed(data, Filters(node=node, model=model))
            assert sorted(behind.tolist()) == np.flatnonzero(cells.failed[:, number]).tolist()


def test_an_outcome_study_has_a_grid_of_its_answers(store, imported):
    cells = listed_cells(imported, Filters())
    view = failures(store, imported, Filters(find=NOTHING.but(sort="models")))
    at = [imported.sample_position[name] for name in view.order]
    assert (cells.failed[at] > 0).any(axis=1).all()
    assert view.total == (cells.failed > 0).any(axis=1).sum()

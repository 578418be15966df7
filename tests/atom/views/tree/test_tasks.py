"""Tasks by skills: every count is of distinct samples, and its door leads to just those."""

from __future__ import annotations

import numpy as np
import pytest

from atom.store import Store
from atom.views.filters import Filters, answers_kept
from atom.views.study_data import load_study
from atom.views.tree.tasks import task_table
from tests.app.screen_store import make_store


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    made = make_store(tmp_path_factory.mktemp("tasks"))
    with Store.open(made.folder) as store:
        yield load_study(store, made.study.id)


def behind(data, filters) -> int:
    """Count the samples that a door leads to."""
    return len(np.unique(data.table.sample[answers_kept(data, filters)]))


def test_counts_are_of_the_samples_behind_their_doors(data):
    facets = [name for name, one in data.table.facets.items() if len(one.values) > 1]
    view = task_table(data, Filters(), rows=facets[0])
    assert view.rows_of == facets[0]
    for row in view.rows:
        assert row.n == behind(data, row.filters) > 0
        assert row.share == pytest.approx(row.n / view.samples)
        for cell in row.cells:
            if cell.n:
                assert cell.n == behind(data, cell.filters)
    for total in view.totals:
        assert total.n == behind(data, total.filters)
    assert [row.n for row in view.rows] == sorted((row.n for row in view.rows), reverse=True)
    # The two menus never show one facet twice.
    assert view.rows_of != view.columns_of


def test_a_filter_narrows_the_table_and_its_doors_keep_it(data):
    facet = next(name for name, one in data.table.facets.items() if len(one.values) > 1)
    tag = (facet, data.table.facets[facet].values[0])
    view = task_table(data, Filters(tags=(tag,)), rows=facet)
    assert view.samples == behind(data, Filters(tags=(tag,)))
    assert view.rows[0].name == tag[1]
    assert all(tag in row.filters.tags for row in view.rows)


def test_an_unknown_facet_is_dropped(data):
    assert (
        task_table(data, Filters(), rows="no such", columns="nor this").rows
        == task_table(data, Filters()).rows
    )

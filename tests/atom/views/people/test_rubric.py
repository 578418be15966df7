"""Declared rules beside the plain mean, model by model."""

from __future__ import annotations

import numpy as np
import pytest

from atom.views.filters import Filters
from atom.views.people.rubric import rubric_view
from atom.views.study_data import load_study
from tests.factories import open_small
from tests.judged import CANDIDATES, SAMPLES, STUDY, criterion_id, open_judged, response_id


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_judged(tmp_path_factory.mktemp("judged")) as opened:
        yield opened


def values_of(data):
    """Read the values as a matrix: sample, candidate, criterion; NaN where there is none."""
    table = data.table
    held = {
        (table.response_ids[answer], table.criterion_ids[criterion]): value
        for answer, criterion, value in zip(
            table.response, table.criterion, table.value, strict=True
        )
    }
    return np.array([
        [[held.get((response_id(n, name), criterion_id(n, place)), np.nan) for place in range(3)]
         for name in CANDIDATES]
        for n in range(SAMPLES)
    ])  # fmt: skip


def test_each_rule_is_what_it_says(store):
    data = load_study(store, STUDY)
    value = values_of(data)
    view = rubric_view(data, Filters())
    assert view.rules == ("plain", "parents", "gates")
    # Two of three criteria rest on the first, which caps an answer at 50 where it's missed.
    assert (view.children, view.must_haves, view.caps) == (48, 24, (0.5,))
    assert (view.unread, view.void) == (1, 1)
    with np.errstate(invalid="ignore"):
        plain = np.nanmean(value, axis=2)
        missed = value[:, :, 0] == 0
        below = value.copy()
        below[:, :, 1:][missed & True] = np.where(np.isnan(below[:, :, 1:][missed]), np.nan, 0)
        gated = np.where(missed, np.minimum(plain, 0.5), plain)
    for at, row in enumerate(view.rows):
        cells = row.cells
        assert cells["plain"].estimate.value == pytest.approx(100 * plain[:, at].mean())
        parents = np.nanmean(below[:, at], axis=1).mean()
        assert cells["parents"].estimate.value == pytest.approx(100 * parents)
        assert cells["parents"].touched == int((value[:, at, 1:][missed[:, at]] > 0).sum())
        assert cells["gates"].estimate.value == pytest.approx(100 * gated[:, at].mean())
        assert cells["gates"].touched == int(missed[:, at].sum())
        assert cells["gates"].less.gap == pytest.approx(100 * (gated - plain)[:, at].mean())
        assert cells["parents"].estimate.n == SAMPLES
    # The unread mark of the first candidate counts as not met in the strict reading.
    first = view.rows[0].cells["plain"]
    assert first.unread < first.estimate.value
    assert view.rows[1].cells["plain"].unread == pytest.approx(
        view.rows[1].cells["plain"].estimate.value
    )


def test_a_study_without_rules_has_no_such_table(tmp_path):
    with open_small(tmp_path / "small") as store:
        assert rubric_view(load_study(store, "Small study"), Filters()) is None


def test_filters_narrow_it(store):
    data = load_study(store, STUDY)
    rows = rubric_view(data, Filters(root="Reasoning")).rows
    value = values_of(data)[:, :, 2]
    for at, row in enumerate(rows):
        assert row.cells["plain"].estimate.value == pytest.approx(100 * np.nanmean(value[:, at]))

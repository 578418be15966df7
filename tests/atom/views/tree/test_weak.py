"""The gravest confirmed weaknesses, as the diagnosis has them."""

from __future__ import annotations

import numpy as np
import pytest

from atom.analysis.capability.diagnosis import LABELS
from atom.views.filters import Filters
from atom.views.fingerprints.claims import claims
from atom.views.fingerprints.shape import shape
from atom.views.tree.weak import gravest
from tests.atom.views.fingerprints.test_shape import wrap
from tests.planted import WorldSettings, plant


@pytest.fixture(scope="module")
def world():
    made = plant(WorldSettings(samples=300), np.random.default_rng(5))
    return wrap(made.table())


def test_they_are_confirmed_ones_the_largest_first(world):
    form = shape(world, Filters())
    said = claims(world, form)
    confirmed = {
        (form.names[model].name, form.paths[node]): float(said.seen.pooled[model, node])
        for model in form.models
        for node in form.finest.tolist()
        if said.seen.label[model, node] == LABELS.index("confirmed")
    }
    assert confirmed
    found = gravest(world, Filters(), most=3)
    size = [confirmed[one.model, one.path] for one in found]
    assert size == sorted(confirmed.values())[: len(found)]
    for one in found:
        assert one.filters.node == one.path
        assert world.candidates[one.index].id == one.filters.model
        assert "lower" in one.words


def test_where_nothing_may_be_claimed_there_is_none(world):
    assert gravest(world, Filters(outcome="wrong")) == ()

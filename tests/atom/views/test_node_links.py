"""Nodes in addresses: a short path as it is, a long one by its head and a digest, found again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.ui.links import address, read_address
from atom.views.filters import Filters
from atom.views.node_links import LONGEST, link_text, linked
from taxonomy import format_path

LONG = "a path in a pipeline that goes on and on " * 30
NODES = [("Perception",), ("Perception", LONG), ("Perception", LONG, "one"),
         ("Perception", LONG, "two"), ("Perception", LONG, LONG + "x")]  # fmt: skip


def through_an_address(path):
    """Return what the reader of an address takes the path for."""
    _, query = read_address(address("tree", Filters(study="s", node=path)))
    return Filters.from_query(query).node


@pytest.mark.parametrize("path", NODES)
def test_every_node_is_found_again_however_long_its_names(path):
    """Readers keep 300 letters of a value: the heads of these are all the same."""
    assert len(link_text(path)) <= LONGEST
    assert linked(through_an_address(path), NODES) == path


def test_a_short_path_stands_as_it_is():
    assert link_text(("A", "b c")) == format_path(("A", "b c"))
    assert linked(("A", "x~0123456789abcdef"), NODES) == ("A", "x~0123456789abcdef")


def test_a_digest_of_no_node_stays_what_it_is():
    told = through_an_address(("Perception", LONG, "three"))
    assert linked(told, NODES) == told
    assert linked((), NODES) == ()


@given(st.lists(st.text(max_size=400), max_size=6).map(tuple))
def test_no_address_is_longer_than_its_reader_keeps(path):
    assert len(link_text(path)) <= LONGEST

"""Rows of any shape become rows of one mark each."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.formats.judgments.shapes import (
    PATH,
    ShapeError,
    exploded,
    in_cell,
    leaves,
    members,
    numbered_lines,
    wide,
)


def test_numbered_lines() -> None:
    """Any usual way of numbering, further lines included."""
    text = "Preface\n1. yes\n2) no,\n  not at all\nQ3: maybe\n - 4. yes"
    assert numbered_lines(text) == [
        ("1", "yes"), ("2", "no,\nnot at all"), ("3", "maybe"), ("4", "yes"),
    ]  # fmt: skip
    assert numbered_lines("no numbers here") == []


def test_what_a_cell_holds() -> None:
    """Lists and objects, also written as text."""
    assert members([1, {"a": 2}]) == [{"value": 1}, {"a": 2}]
    assert members({"x": 1, "y": {"met": True}}) == [
        {"key": "x", "value": 1}, {"key": "y", "met": True},
    ]  # fmt: skip
    assert members("['a', 'b']") == [{"value": "a"}, {"value": "b"}]
    assert members('{"x": 1}') == [{"key": "x", "value": 1}]
    assert members("1. yes\n2. no") == [{"key": "1", "value": "yes"}, {"key": "2", "value": "no"}]
    assert members("just text") is None


def test_lists_side_by_side() -> None:
    """Lists that are named together are read in step; the row's other cells stay."""
    row: dict[str, object] = {"id": 7, "ask": ["a", "b"], "eval": [True, False]}
    found = list(exploded(row, ["ask", "eval"]))
    assert [(one["id"], one["number"], one["ask"], one["eval"]) for one in found] == [
        (7, "1", "a", True), (7, "2", "b", False),
    ]  # fmt: skip
    with pytest.raises(ShapeError, match="different lengths"):
        list(exploded({"ask": ["a"], "eval": [1, 2]}, ["ask", "eval"]))
    with pytest.raises(ShapeError, match="no list"):
        list(exploded({"id": 1}, ["ask"]))


def test_lists_inside_lists() -> None:
    """A list that is only inside another's members is opened in turn."""
    row: dict[str, object] = {
        "eval": {"model": "m"},
        "samples": [
            {"id": 1, "scores": {"r": {"value": {"a": 1, "b": 0}}}},
            {"id": 2, "scores": {"r": {"value": {"a": 0}}}},
        ],
    }
    opened = exploded(row, ["samples", "scores.r.value"])
    found = [(one["id"], one["key"], one["value"]) for one in opened]
    assert found == [(1, "a", 1), (1, "b", 0), (2, "a", 0)]


def test_an_empty_list_inside_another_loses_nothing() -> None:
    """A criterion on which nobody voted stays a row: without a vote, and in sight."""
    row: dict[str, object] = {
        "reports": [{"name": "a", "votes": [{"by": "x"}, {"by": "y"}]}, {"name": "b", "votes": []}]
    }
    opened = exploded(row, ["reports", "votes"])
    assert [(one["name"], one.get("by")) for one in opened] == [
        ("a", "x"), ("a", "y"), ("b", None),
    ]  # fmt: skip
    assert list(exploded({"reports": []}, ["reports", "votes"])) == []


def test_a_weighted_tree() -> None:
    """A leaf's share is the product of the shares on its way: 1/4 x 2/3 = 1/6."""
    tree = {
        "name": "root", "weight": 9,
        "parts": [
            {"name": "A", "weight": 1, "parts": [
                {"name": "a1", "weight": 2, "parts": []}, {"name": "a2", "weight": 1},
            ]},
            {"name": "b", "weight": 3},
        ],
    }  # fmt: skip
    found = list(leaves(tree, "parts", "weight", "name"))
    assert [(one["name"], one["weight"], one[PATH]) for one in found] == [
        ("a1", pytest.approx(1 / 6), ["root", "A"]),
        ("a2", pytest.approx(1 / 12), ["root", "A"]),
        ("b", pytest.approx(3 / 4), ["root"]),
    ]


def test_siblings_of_one_name_stay_apart() -> None:
    """Two inner nodes that read alike are two nodes."""
    inner: dict[str, Any] = {"n": "same", "kids": [{"n": "x"}]}
    found = list(leaves({"n": "r", "kids": [inner, inner]}, "kids", "w", "n"))
    assert [one[PATH] for one in found] == [["r", "same"], ["r", "same (2)"]]


_TREES: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.fixed_dictionaries({"w": st.integers(1, 9)}),
    lambda kids: st.fixed_dictionaries(
        {"w": st.integers(1, 9), "kids": st.lists(kids, min_size=1, max_size=4)}
    ),
    max_leaves=20,
)


@given(_TREES)
def test_shares_of_any_tree_add_to_one(tree: dict[str, Any]) -> None:
    """Whatever the weights and the depth."""
    found = list(leaves(tree, "kids", "w", "n"))
    total = 0.0
    for one in found:
        assert isinstance(one["w"], float | int)
        total += float(one["w"]) if tree.get("kids") else 1.0
    assert total == pytest.approx(1)


def test_a_weight_that_is_none() -> None:
    """A tree with a broken weight is refused, not guessed at."""
    with pytest.raises(ShapeError, match="weight"):
        list(leaves({"kids": [{"w": "heavy"}]}, "kids", "w", "n"))


def test_columns_and_cells() -> None:
    """A column each, and several marks in one cell, also as text."""
    row: dict[str, object] = {"id": 1, "P": 4, "R": 5}
    marks = wide(row, "criterion", {"P": "P", "rec": "R"}, "mark")
    assert [(one["criterion"], one["mark"]) for one in marks] == [("P", 4), ("rec", 5)]
    for cell in ("[0.5, 1]", [0.5, 1], "[0.5,1]"):
        found = list(in_cell({"mark": cell}, ["SC", "PQ"], "mark"))
        assert [(one["criterion"], one["mark"]) for one in found] == [("SC", 0.5), ("PQ", 1)]
    with pytest.raises(ShapeError, match="2 marks"):
        list(in_cell({"mark": "[1]"}, ["SC", "PQ"], "mark"))

import json

import pytest

from atom.errors import DataError
from atom.stages import mapping
from taxonomy import Tree, format_path

HEIGHT = ("Perception", "Fine detail", "Reading marks", "Bar height")


def test_request(sample, pictures, criteria, tree, sampling):
    request = mapping.build(sample, pictures, criteria, tree, sampling)
    data = json.loads(request.parts[-1].text.split("\nBEGIN DATA\n")[1].split("\nEND DATA\n")[0])
    assert list(data["leaves"]) == [format_path(path) for path in tree.leaves]
    first = "Perception › Fine detail › Reading marks › Bar height"
    assert data["leaves"][first] == "Read how far a bar reaches."
    assert [c["id"] for c in data["criteria"]] == ["c1", "c2", "c3"]
    assert request.pictures == pictures


def test_nothing_to_map(sample, pictures, criteria, tree, sampling):
    with pytest.raises(DataError, match="0 criteria"):
        mapping.build(sample, pictures, (), tree, sampling)
    with pytest.raises(DataError, match="0 leaves"):
        mapping.build(sample, pictures, criteria, Tree("empty", ()), sampling)


@pytest.mark.parametrize(
    "written",
    [
        " › ".join(HEIGHT),
        "›".join(HEIGHT),
        " > ".join(HEIGHT).upper(),
        " / ".join(HEIGHT),
        "  ›  ".join(HEIGHT),
        list(HEIGHT),
    ],
)
def test_a_full_path_is_understood(written, tree):
    assert mapping.find_leaf(written, tree) == HEIGHT


@pytest.mark.parametrize(
    "written",
    [
        "Bar height",
        "Reading marks › Bar height",
        " › ".join(HEIGHT[:3]),
        "",
        None,
        4,
        [],
        {},
        [None],
    ],
)
def test_anything_less_is_no_leaf(written, tree):
    assert mapping.find_leaf(written, tree) is None


def test_failed(criteria):
    found = mapping.failed("down", criteria, "v1", "j", "call")
    assert [m.criterion_id for m in found] == [c.id for c in criteria]
    assert {(m.state, m.detail, m.leaf, m.tree_version) for m in found} == {
        ("failed", "down", None, "v1")
    }

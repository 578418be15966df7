"""Leaves that say nothing: what is asked, and what counts as an opinion."""

import json

import pytest

from atom.errors import DataError
from atom.stages.growing import vague
from atom.stages.growing.same import NodeSketch

LEAVES = (
    NodeSketch(path=("A", "B", "C", "Needle"), meaning="Read it.", examples=tuple("abcdef")),
    NodeSketch(path=("A", "B", "C", "Various")),
)


@pytest.fixture
def found(sampling, reply_of):
    def read(rows):
        return vague.parse(
            reply_of(vague.build(LEAVES, sampling), json.dumps({"leaves": rows})), LEAVES
        )

    return read


def row(name, value, reason="says nothing"):
    return {"id": name, "reason": reason, "vague": value}


def test_request(sampling):
    request = vague.build(LEAVES, sampling)
    data = json.loads(request.parts[-1].text.split("\nBEGIN DATA\n")[1].split("\nEND DATA\n")[0])
    assert [leaf["id"] for leaf in data["leaves"]] == ["1", "2"]
    assert data["leaves"][1]["path"] == "A › B › C › Various"
    with pytest.raises(DataError, match="at least one"):
        vague.build((), sampling)


def test_the_vague_ones_are_named_by_place(found):
    assert found([row("2", True), row("1", False)]) == {1: "says nothing"}


@pytest.mark.parametrize(
    "rows",
    [[], [row("2", True), row("2", False)], [row("2", "yes, rather")], [4], [row("3", True)]],
)
def test_what_is_no_opinion_takes_nothing_out(found, rows):
    assert found(rows) == {}

"""Pairs of nodes: what is asked, and what counts as an opinion."""

import json

import pytest

from atom.errors import DataError
from atom.stages.growing import same

ONE = same.NodeSketch(path=("A", "B", "C", "Needle"), meaning="Read it.", examples=tuple("abcdef"))
TWO = same.NodeSketch(path=("A", "B", "C", "Pointer"))
PAIRS = (same.NodePair(first=ONE, second=TWO), same.NodePair(first=TWO, second=ONE))


@pytest.fixture
def opinions(sampling, reply_of):
    def read(text):
        if not isinstance(text, str):
            text = json.dumps(text)
        return same.parse(reply_of(same.build(PAIRS, sampling), text), PAIRS)

    return read


def row(name, value, reason="because"):
    return {"id": name, "reason": reason, "same": value}


def test_request(sampling):
    request = same.build(PAIRS, sampling)
    data = json.loads(request.parts[-1].text.split("\nBEGIN DATA\n")[1].split("\nEND DATA\n")[0])
    assert [pair["id"] for pair in data["pairs"]] == ["1", "2"]
    assert data["pairs"][0]["first"] == {
        "path": "A › B › C › Needle",
        "meaning": "Read it.",
        "examples": ["a", "b", "c", "d"],
    }
    with pytest.raises(DataError, match="at least one"):
        same.build((), sampling)


def test_opinions_come_in_the_order_of_the_pairs(opinions):
    one, two = opinions({"pairs": [row("2", False), row("1", True, "one thing")]})
    assert (one.same, one.why) == (True, "one thing")
    assert two.same is False


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row("2", True)], "left this pair out"),
        ([row("1", True), row("1", False), row("2", True)], "contradicts itself"),
        ([row("1", "perhaps"), row("2", True)], "left this pair out"),
        ([row("1", None), row("2", True)], "left this pair out"),
        ([4, row("2", True)], "left this pair out"),
    ],
)
def test_what_is_no_opinion(opinions, rows, words):
    one, two = opinions({"pairs": rows})
    assert one.same is None
    assert words in one.why
    assert two.same is True


@pytest.mark.parametrize("text", ["no", '{"pairs": 3}', '{"other": []}', ""])
def test_useless_replies(opinions, text):
    assert [opinion.same for opinion in opinions(text)] == [None, None]


def test_turned():
    assert PAIRS[0].turned == PAIRS[1]

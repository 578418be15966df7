"""Hints: what a peer is asked, and which of its words pass the gate."""

import pytest

from atom.errors import DataError
from atom.judge.request import request_hash
from atom.stages import hint


@pytest.fixture
def parsed(sample, pictures, criteria, response, sampling, reply_of):
    def parse(text, **more):
        request = hint.build(sample, pictures, criteria[0], response, sampling)
        reply = reply_of(request, text, finish=more.pop("finish", "stop"))
        return hint.parse(reply, sample, criteria[0], "p", response, sampling, **more)

    return parse


def test_the_request(sample, pictures, criteria, response, sampling):
    request = hint.build(sample, pictures, criteria[0], response, sampling)
    text = request.parts[-1].text
    assert request.system.startswith("Atomscope task: hint/1\n")
    assert request.schema is None
    assert request.pictures == tuple(pictures)
    assert '"step": "Which value has March?"' in text
    assert "ground_truth" not in text
    assert text.count("\nEND DATA") == 1


def test_another_attempt_is_another_question_at_any_temperature(
    sample, pictures, criteria, response, sampling
):
    made = [
        hint.build(sample, pictures, criteria[0], response, sampling, attempt=n) for n in range(3)
    ]
    assert len({request_hash(request, "m") for request in made}) == 3
    ids = {hint.hint_id(criteria[0], "p", response, sampling, n) for n in range(3)}
    assert len(ids) == 3


def test_a_peer_without_an_answer(sample, pictures, criteria, response, sampling):
    none = response.model_copy(update={"state": "failed"})
    with pytest.raises(DataError, match="failed"):
        hint.build(sample, pictures, criteria[0], none, sampling)


def test_a_good_hint(parsed, criteria, response, sampling):
    found = parsed("<think>42!</think>Follow the top\nof the  March bar to the axis.")
    assert (found.state, found.detail) == ("scored", "")
    assert found.text == "Follow the top of the March bar to the axis."
    assert found.id == hint.hint_id(criteria[0], "p", response, sampling)
    assert (found.peer_id, found.criterion_id) == ("p", criteria[0].id)
    assert found.call_id


@pytest.mark.parametrize("text", ["It is forty-two.", "About 40.", "So the answer is 7.", "４２"])
def test_a_leak_is_kept_with_its_reason(parsed, text):
    found = parsed(text)
    assert found.state == "unscored"
    assert found.detail.startswith("It gives something away: ")
    assert found.text == text


def test_other_truths_are_gated_as_well(parsed, criteria):
    text = "Compare it with the five-and-thirty of its neighbour, thirty-five."
    assert parsed(text, truths=criteria).detail.startswith(hint.LEAKED)
    assert parsed("The gap is seven.", truths=("7",), final="none of it").state == "unscored"


def test_no_hint(parsed, criteria, response, sampling):
    for text, words in (
        ("", "no content"),
        ("<think>", "think"),
        ("look " * 200, "longer than 800"),
    ):
        found = parsed(text)
        assert found.state == "unscored"
        assert words in found.detail
        assert not found.detail.startswith(hint.LEAKED)
    assert "token limit" in parsed("Look at", finish="length").detail
    down = hint.failed("down", criteria[0], "p", response, sampling, 1, "call")
    assert (down.state, down.detail, down.attempt, down.call_id) == ("failed", "down", 1, "call")

import json

import pytest

from atom.stages import replay


def data_of(request):
    return json.loads(request.parts[-1].text.split("\nBEGIN DATA\n")[1].split("\nEND DATA\n")[0])


def test_request(sample, pictures, sampling):
    request = replay.build(sample, pictures, sampling)
    assert data_of(request) == {
        "question": sample.question,
        "choices": [],
        "reference_answer": None,
        "pictures": 2,
    }


def test_with_the_reference_the_replay_is_another_one(sample, pictures, sampling, reply_of):
    request = replay.build(sample, pictures, sampling, with_reference=True)
    assert data_of(request)["reference_answer"] == "7"
    raw = json.dumps({"steps": [{"text": "a", "regions": []}], "final_answer": "7"})
    told = replay.parse(reply_of(request, raw), sample, "j", sampling, with_reference=True)
    alone = replay.parse(reply_of(request, raw), sample, "j", sampling)
    assert told.id != alone.id
    assert (told.prompt, alone.prompt) == (replay.TOLD, replay.PROMPT)


@pytest.mark.parametrize(
    ("reference", "final", "agrees"),
    [
        ("7", "7", True),
        ("7", "8", False),
        ("7", "seven", True),
        (None, "7", None),
        ("7", "?", None),
    ],
)
def test_agreement(reference, final, agrees, sample, pictures, sampling, reply_of):
    asked = sample.model_copy(update={"reference": reference})
    raw = json.dumps({"steps": [{"text": "a", "regions": []}], "final_answer": final})
    request = replay.build(asked, pictures, sampling)
    found = replay.parse(reply_of(request, raw), asked, "j", sampling)
    assert found.state == "scored"
    assert found.agrees is agrees


def test_agreement_with_choices(sample, pictures, sampling, reply_of):
    asked = sample.model_copy(update={"choices": ("6", "7"), "reference": "7"})
    for final, agrees in (("B) 7", True), ("A", False), ("7", True), ("A) 7", None)):
        raw = json.dumps({"steps": [{"text": "a", "regions": []}], "final_answer": final})
        request = replay.build(asked, pictures, sampling)
        found = replay.parse(reply_of(request, raw), asked, "j", sampling)
        assert found.agrees is agrees


def test_failed(sample, sampling):
    found = replay.failed("down", sample, "j", sampling, 1, "call")
    assert (found.state, found.detail, found.repeat, found.call_id) == ("failed", "down", 1, "call")
    assert found.id != replay.failed("down", sample, "j", sampling).id

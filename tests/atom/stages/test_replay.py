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


FREE = "a fox that sleeps in the sun"


@pytest.mark.parametrize(
    ("verdict", "agrees"),
    [("right", True), ("wrong", False), ("unclear", None), ("perhaps", None)],
)
def test_the_judge_compares_where_no_rule_can(
    verdict, agrees, sample, pictures, sampling, reply_of
):
    asked = sample.model_copy(update={"reference": "A fox asleep in sunlight."})
    request = replay.build(asked, pictures, sampling)
    raw = json.dumps({"steps": [{"text": "a", "regions": []}], "final_answer": FREE})
    solved = replay.parse(reply_of(request, raw), asked, "j", sampling)
    assert replay.needs_comparison(asked, solved)
    question = replay.compare(asked, pictures, solved, sampling)
    assert question.task == "outcome"
    assert data_of(question)["answer"] == FREE
    assert data_of(question)["reference_answer"] == asked.reference
    said = json.dumps({"final_answer": FREE, "reason": "both say so", "verdict": verdict})
    reply = reply_of(question, said)
    found = replay.compared(reply, solved)
    assert found.agrees is agrees
    assert (found.id, found.state, found.call_id) == (solved.id, "scored", solved.call_id)
    assert f"compared by the judge in call {reply.call.id}" in found.detail


def test_nothing_to_compare(sample, solved):
    assert not replay.needs_comparison(sample, solved)  # a rule has said so
    open_ = solved.model_copy(update={"agrees": None})
    assert replay.needs_comparison(sample, open_)
    assert not replay.needs_comparison(sample.model_copy(update={"reference": None}), open_)
    unscored = open_.model_copy(update={"state": "unscored"})
    assert not replay.needs_comparison(sample, unscored)


def test_what_was_looked_at_is_no_step(sample, pictures, sampling, reply_of):
    raw = json.dumps(
        {"looking": "two bars", "steps": [{"text": "a", "regions": []}], "final_answer": "7"}
    )
    request = replay.build(sample, pictures, sampling)
    reply = reply_of(request, raw)
    found = replay.parse(reply, sample, "j", sampling)
    assert [step.text for step in found.steps] == ["a"]
    assert next(iter(reply.data)) == "looking"
    assert "two bars" not in found.model_dump_json()

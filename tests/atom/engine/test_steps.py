"""What a step asks, and in which order; the model is a list of replies."""

import asyncio
import json

import pytest

from atom.engine import steps
from atom.judge import PicturePart, Reply, call_id, request_hash
from atom.judge.completion import Completion
from atom.judge.exchange import judge_completion
from atom.records import (
    Call,
    CriteriaSet,
    PictureSlot,
    Replay,
    ReplayStep,
    Sample,
    Sampling,
    Usage,
)

SAMPLING = Sampling(temperature=0.0)
SAMPLE = Sample(
    id="s" * 24,
    dataset="test",
    question="What does the picture show?",
    reference="A fox asleep in sunlight.",
    pictures=(PictureSlot(name="a.png"),),
)
SOLVED = Replay(
    id="replay", sample_id=SAMPLE.id, judge_id="j", prompt="p", state="scored",
    steps=(ReplayStep(text="A fox lies there."),), final_answer="a sleeping fox",
)  # fmt: skip


class Model:
    """Answers from a list, and remembers what it was asked."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    async def __call__(self, request):
        self.asked.append(request)
        text = json.dumps(self.replies.pop(0))
        said = Completion(content=text, refusal=None, finish="stop", usage=Usage())
        verdict = judge_completion(request, said)
        call = Call(
            id=call_id(request_hash(request, "m"), 0), request_hash=request_hash(request, "m"),
            task=request.task, endpoint="e", model="m", prompt=request.prompt_id, reply=text,
        )  # fmt: skip
        return Reply(
            state=verdict.state, text=text, data=verdict.data, reason=verdict.reason, call=call
        )


@pytest.fixture
def material():
    return steps.Material(sample=SAMPLE, pictures=(PicturePart.from_bytes(b"one"),))


def solution(final):
    steps_ = [{"text": "A fox lies there.", "regions": []}]
    return {"looking": "a fox", "steps": steps_, "final_answer": final}


def cut(*questions):
    rows = [
        {"question": q, "ground_truth": f"thing {n}", "step": 1, "regions": [], "weight": 5}
        for n, q in enumerate(questions)
    ]
    return {"conflict": "", "criteria": rows}


def test_a_free_answer_is_compared_by_the_judge(material):
    model = Model(
        solution("a sleeping dog"), {"final_answer": "", "reason": "a dog", "verdict": "wrong"}
    )
    brought = asyncio.run(steps.do_replay(model, material, "j", SAMPLING))
    (found,) = brought.records
    assert found.agrees is False
    assert [request.task for request in model.asked] == ["replay", "outcome"]
    assert found.call_id == brought.call.id


def test_an_answer_that_a_rule_can_compare_is_asked_about_once(material):
    plain = steps.Material(
        sample=SAMPLE.model_copy(update={"reference": "7"}), pictures=material.pictures
    )
    model = Model(solution("7"))
    (found,) = asyncio.run(steps.do_replay(model, plain, "j", SAMPLING)).records
    assert found.agrees is True
    assert len(model.asked) == 1


def test_faulty_criteria_get_one_turn_and_no_second(material):
    bad = cut("Is there a fox?", "What does it do?")
    good = cut("Which animal is there?", "What does it do?")
    for replies, state in (((good,), "scored"), ((bad, good), "scored"), ((bad, bad), "unscored")):
        model = Model(*replies)
        brought = asyncio.run(steps.do_criteria(model, material, SOLVED, "j", SAMPLING))
        found = brought.records[-1]
        assert isinstance(found, CriteriaSet)
        assert found.state == state
        assert len(model.asked) == len(replies)
        assert [len(request.turns) for request in model.asked] == [0, 2][: len(replies)]
        assert found.call_id == brought.call.id

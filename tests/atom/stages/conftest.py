import itertools

import pytest

from atom.judge.exchange import judge_completion
from atom.judge.replies.completion import Completion
from atom.judge.reply import Reply
from atom.judge.request import PicturePart
from atom.records import (
    Call,
    CriteriaSet,
    Criterion,
    CriterionUse,
    PictureSlot,
    Replay,
    ReplayStep,
    Response,
    Sample,
    Sampling,
    Usage,
)
from taxonomy import parse_tree

TREE = """
name: Small
roots:
  - name: Perception
    children:
      - name: Fine detail
        children:
          - name: Reading marks
            children:
              - {name: Bar height, meaning: Read how far a bar reaches.}
              - {name: Axis value}
  - name: Reasoning
    children:
      - name: Quantitative
        children:
          - name: Arithmetic
            children: [{name: Difference}, {name: Input/output}]
"""


@pytest.fixture
def sampling():
    return Sampling(temperature=0.0)


@pytest.fixture
def sample():
    return Sample(
        id="s" * 24,
        dataset="test",
        question="How much taller is the March bar than the May bar?",
        reference="7",
        pictures=(PictureSlot(name="a.png"), PictureSlot(name="b.png")),
    )


@pytest.fixture
def pictures():
    return (PicturePart.from_bytes(b"one"), PicturePart.from_bytes(b"two"))


@pytest.fixture
def criteria(sample):
    texts = (
        ("aaaa1111", "Which value has March?", "42"),
        ("bbbb2222", "Which value has May?", "35"),
        ("12345678", "What is the difference?", "7"),
    )
    return tuple(
        Criterion(id=name + "0" * 16, sample_id=sample.id, question=q, ground_truth=g)
        for name, q, g in texts
    )


@pytest.fixture
def criteria_set(sample, criteria):
    uses = tuple(
        CriterionUse(criterion_id=criterion.id, position=position, weight=weight)
        for position, (criterion, weight) in enumerate(zip(criteria, (3, 3, 4), strict=True))
    )
    return CriteriaSet(
        id="set", sample_id=sample.id, judge_id="j", prompt="criteria/1", state="scored", uses=uses
    )


@pytest.fixture
def solved(sample):
    steps = tuple(ReplayStep(text=text) for text in ("March is 42.", "May is 35.", "42 - 35 = 7."))
    return Replay(
        id="replay",
        sample_id=sample.id,
        judge_id="j",
        prompt="replay/1",
        state="scored",
        steps=steps,
        final_answer="7",
        agrees=True,
    )


@pytest.fixture
def response(sample):
    return Response(
        id="response",
        sample_id=sample.id,
        candidate_id="c",
        prompt="answer/1",
        text="March has about 42.\nMay is “35”, so the *difference* is 7.\n\nAnswer: 7",
    )


@pytest.fixture
def tree():
    return parse_tree(TREE)


@pytest.fixture
def reply_of():
    """Return a function that makes the reply a client would, had the model said `text` twice."""
    numbers = itertools.count()

    def make(request, text, *, finish="stop", refusal=None):
        completion = Completion(content=text, refusal=refusal, finish=finish, usage=Usage())
        verdict = judge_completion(request, completion)
        call = Call(
            id=f"call-{next(numbers)}",
            request_hash="h",
            task=request.task,
            endpoint="e",
            model="m",
            prompt=request.prompt_id,
            reply=text,
        )
        return Reply(
            state=verdict.state,
            text=text or "",
            call=call,
            data=verdict.data,
            reason=verdict.reason,
        )

    return make

import pytest

from atom.probes.answers.step_reader import read_steps
from atom.probes.candidates import MODELS, planted_world
from atom.probes.judge import AnswerJudge
from atom.probes.outcome import read_outcome


def outcome(program, text, **more):
    return read_outcome(program, AnswerJudge(read_steps(program), text), **more)


def test_planted_verdicts_are_read_back(programs):
    world = planted_world(7)
    same = total = 0
    for program in programs:
        for model in MODELS:
            written = world.answer(model, program)
            total += 1
            same += outcome(program, written.text).verdict == (
                "right" if written.right else "wrong"
            )
    assert same / total >= 0.99


@pytest.fixture
def lettered(programs):
    program = next(p for p in programs if p.template == "difference")
    return program.model_copy(update={"choices": ("1", "2", program.answer, "999")})


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Answer: C", "right"), ("Answer: c", "right"), ("**Answer: C**", "right"),
        ("Answer: (C)", "right"), ("Answer: C) {answer}", "right"), ("Answer: {answer}", "right"),
        ("The answer is option C.", "right"), ("Answer: A\nNo.\nAnswer: C", "right"),
        ("\\boxed{{{answer}}}", "right"), ("Answer: A", "wrong"), ("Answer: 999", "wrong"),
        ("Answer: G", "unclear"), ("Answer: who knows", "unclear"), ("", "unclear"),
        ("Hm.", "unclear"), ("The difference is {answer}.", "right"), ("Answer: ", "unclear"),
    ],
)  # fmt: skip
def test_lettered_answers(lettered, text, verdict):
    assert outcome(lettered, text.format(answer=lettered.answer)).verdict == verdict


def test_open_answers_and_an_edited_reference(chart):
    program = chart.program.model_copy(update={"choices": ()})
    assert outcome(program, f"Answer: {program.answer}").verdict == "right"
    assert outcome(program, f"Answer: {program.answer}.0 units").verdict == "right"
    assert outcome(program, "Answer: 99999").verdict == "wrong"
    assert outcome(program, "Answer: 99999", reference="99,999").verdict == "right"
    assert outcome(program, f"Answer: {program.answer}", reference="99999").verdict == "wrong"

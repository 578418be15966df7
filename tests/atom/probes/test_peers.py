"""Hints that guide, hints that leak now and then, guesses without a picture."""

import pytest

from atom.probes.candidates import MODELS
from atom.probes.peers import LEAK_RATE, guess, write_hint
from atom.stages.texts import leaks
from benchmarks.leak_gates import records_of

OPTIONS = "Which colour is it?\n\nA) red\nB) blue\nC) green\nD) gray\n"
ADVICE = "Somebody who has seen the picture leaves this advice:\n{}\n"


def hints(programs, attempt):
    for program in programs:
        sample, criteria = records_of(program)
        for step, criterion in zip(program.steps, criteria, strict=True):
            for model in MODELS[:4]:
                text = write_hint(model, program, step, attempt=attempt, repeat="0/")
                found = leaks.find(
                    text, sample=sample, truths=criteria, question=criterion.question
                )  # fmt: skip
                yield step, text, bool(found)


@pytest.mark.slow
def test_first_attempts_leak_now_and_then(programs):
    made = list(hints(programs, 0))
    share = sum(leaked for _, _, leaked in made) / len(made)
    # 4 % and more would be a standard error of .01 off at 500 hints
    assert share == pytest.approx(LEAK_RATE, abs=0.035)
    assert share > 0


@pytest.mark.slow
def test_later_attempts_are_clean(programs):
    made = list(hints(programs, 1))
    share = sum(leaked for _, _, leaked in made) / len(made)
    assert share < 0.01
    assert all(step.question in text for step, text, _ in made)


def test_equal_questions_equal_hints(programs):
    program = programs[0]
    step = program.steps[0]
    texts = {
        write_hint(model, program, step, attempt=attempt, repeat=repeat)
        for model in MODELS
        for attempt in range(2)
        for repeat in ("0/", "1/")
    }
    again = write_hint("model-a", program, step, attempt=0, repeat="0/")
    assert again in texts
    assert len(texts) > 2


def test_a_guess_is_right_by_chance():
    said = [guess("model-a", OPTIONS, repeat=f"{n}/") for n in range(800)]
    assert said[0] == guess("model-a", OPTIONS, repeat="0/")
    # 800 draws at 1/4: standard error .015
    assert said.count("Answer: B") / 800 == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize("hint", ["It is blue.", "Option B, look again.", "Surely (B)."])
def test_a_leaking_hint_is_taken_up(hint):
    text = OPTIONS + ADVICE.format(hint)
    assert {guess("model-a", text, repeat=f"{n}/") for n in range(20)} == {"Answer: B"}


def test_a_guiding_hint_is_no_help():
    text = OPTIONS + ADVICE.format("Compare it with its neighbour, be it red or blue.")
    assert len({guess("model-a", text, repeat=f"{n}/") for n in range(40)}) == 4


def test_open_questions():
    assert guess("model-a", "How many?" + ADVICE.format("I'm sure that it is 42."), repeat="") == (
        "Answer: 42"
    )
    assert guess("model-a", "How many?", repeat="") == guess("model-a", "How many?", repeat="")

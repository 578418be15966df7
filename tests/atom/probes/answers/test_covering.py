import pytest

from atom.probes.answers.covering import asks_program, find_step, legal_value, with_truth


@pytest.mark.slow
def test_each_step_is_found_by_its_question(programs):
    for program in programs:
        for step in program.steps:
            assert find_step(program, f"  {step.question.upper()} ") is step
        assert find_step(program, "What is the weather like?") is None


@pytest.mark.slow
def test_the_program_is_asked_in_any_layout(programs):
    program = programs[0]
    assert asks_program(program, f"Question:\n{program.question}\n\nA) 1")
    assert not asks_program(program, "How many?")


def test_an_equal_truth_is_the_step_itself(programs):
    for program in programs:
        for step in program.steps:
            assert with_truth(step, step.truth) is step
            if step.kind == "num" and step.unit:
                assert with_truth(step, f"{step.truth} {step.unit}") is step


def test_another_legal_truth_makes_an_edited_step(chart):
    step = chart.program.step("difference")
    edited = with_truth(step, "1234")
    assert edited is not None
    assert (edited.value, edited.truth, edited.id) == (1234, "1234", step.id)
    larger = chart.program.step("larger")
    other = next(o for o in larger.options if o != larger.truth)
    edited = with_truth(larger, other.lower())
    assert edited is not None
    assert edited.truth == other


@pytest.mark.parametrize("text", ["", "blue whales", "1 or 2", "?" * 5000])
def test_an_impossible_truth_is_refused(chart, text):
    assert with_truth(chart.program.step("difference"), text) is None
    assert legal_value(chart.program.step("larger"), text) is None

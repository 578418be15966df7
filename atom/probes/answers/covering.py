"""Which program step a criterion asks about."""

from __future__ import annotations

from atom.probes.answers.reading import same_words
from atom.probes.answers.step_reader import StepReader
from atom.probes.program import Program, ProgramStep


def asks_program(program: Program, question: str) -> bool:
    """Tell whether a prompt's text asks the program's own question."""
    return same_words(program.question) in same_words(question)


def find_step(program: Program, question: str) -> ProgramStep | None:
    """Return the step whose sub-question this is, or None."""
    words = same_words(question)
    for step in program.steps:
        if same_words(step.question) == words:
            return step
    return None


def legal_value(step: ProgramStep, text: str) -> float | str | None:
    """Read a ground truth as a value of the step's kind.

    Args:
        text: a ground truth, e.g. edited by a user.

    Returns:
        The value, or None when the text holds no single value of the kind.
    """
    if same_words(text) == same_words(step.truth):
        return step.truth if step.value is None else step.value
    return StepReader(step).value_of(text)


def with_truth(step: ProgramStep, ground_truth: str) -> ProgramStep | None:
    """Return the step as a criterion with this ground truth states it.

    Args:
        ground_truth: the criterion's own ground truth.

    Returns:
        The step itself where the truths agree, an edited copy where the given truth is another
        legal value of the kind, None where it is no such value.
    """
    value = legal_value(step, ground_truth)
    if value is None:
        return None
    if isinstance(value, str):
        if value == step.truth:
            return step
        near = tuple(o for o in step.near_options if o != value)
        return step.model_copy(update={"truth": value, "near_options": near})
    if value == step.value:
        return step
    return step.model_copy(update={"truth": ground_truth.strip()[:80], "value": value})

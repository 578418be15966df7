"""Read the final answer of a response and compare it with the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from atom.probes.answers.covering import legal_value
from atom.probes.answers.reading import choice_named, same_words
from atom.probes.answers.step_reader import StepReader
from atom.probes.judge import AnswerJudge
from atom.probes.program import Program, ProgramStep, band

ProbeVerdict = Literal["right", "wrong", "unclear"]


@dataclass(frozen=True, kw_only=True)
class ProbeOutcome:
    """Whether a response's final answer is right."""

    verdict: ProbeVerdict
    final_answer: str
    """As the response gives it; empty when it gives none."""
    reason: str


def read_outcome(
    program: Program,
    judge: AnswerJudge,
    *,
    choices: Sequence[str] = (),
    reference: str | None = None,
) -> ProbeOutcome:
    """Judge the final answer of a response.

    Args:
        program: the exact truth.
        judge: the response, read.
        choices: the lettered choices as they were shown; the program's own when empty.
        reference: the reference answer as the study has it; the program's own when None.

    Returns:
        The verdict; `unclear` when no final answer can be read.
    """
    options = tuple(choices) or program.choices
    truth = reference if reference and reference.strip() else program.answer
    said = _final_text(judge)
    if said is None:
        return _from_reasoning(program, judge, truth)
    if options:
        chosen = choice_named(options, said)
        if chosen is not None:
            right = _same(program, chosen, choice_named(options, truth) or truth)
            return _verdict(right, said, f"the answer is {chosen!r}, the reference {truth!r}")
    step = program.step(program.answer_step)
    if legal_value(step, said) is None and not same_words(said):
        reason = "the final answer holds no value"
        return ProbeOutcome(verdict="unclear", final_answer=said, reason=reason)
    right = _same(program, said, truth)
    if not right and legal_value(step, said) is None and same_words(truth) not in same_words(said):
        if options:
            return ProbeOutcome(
                verdict="unclear", final_answer=said, reason="the final answer names no choice"
            )
        return _verdict(False, said, f"the answer is {said!r}, the reference {truth!r}")
    return _verdict(right, said, f"the answer is {said!r}, the reference {truth!r}")


def _verdict(right: bool, said: str, reason: str) -> ProbeOutcome:
    return ProbeOutcome(verdict="right" if right else "wrong", final_answer=said, reason=reason)


def _final_text(judge: AnswerJudge) -> str | None:
    """Return the last final answer that the text gives, without decoration."""
    span = judge.final_span
    if span is None:
        return None
    start, end = span
    return judge.reading.text[start:end].strip().strip("*_`$ ").rstrip(".").strip() or None


def _same(program: Program, said: str, truth: str) -> bool:
    if same_words(said) == same_words(truth):
        return True
    step = _as_answer(program.step(program.answer_step), truth)
    if step is None:
        return False
    value = legal_value(step, said)
    return value is not None and band(step, value) == "exact"


def _as_answer(step: ProgramStep, truth: str) -> ProgramStep | None:
    """Return the answer step with the reference as its truth."""
    value = legal_value(step, truth)
    if value is None:
        return None
    if isinstance(value, str):
        return step.model_copy(update={"truth": value})
    return step.model_copy(update={"truth": truth[:80], "value": value})


def _from_reasoning(program: Program, judge: AnswerJudge, truth: str) -> ProbeOutcome:
    step = program.step(program.answer_step)
    stated = judge.stated_values(StepReader(step))
    if not stated:
        return ProbeOutcome(verdict="unclear", final_answer="", reason="no final answer was found")
    said = judge.reading.text[stated[0].start : stated[0].end].strip()
    reason = f"the reasoning ends at {said!r}, the reference {truth!r}"
    return _verdict(_same(program, said, truth), said, reason)

"""The probe judge's score of each step on an answer, asked without a server."""

from __future__ import annotations

from atom.probes.answers.step_reader import read_steps
from atom.probes.judge import AnswerJudge, StepScore
from atom.probes.program import Program


def judged(program: Program, answer: str) -> dict[str, StepScore]:
    """Score every step of a program on one answer, in the program's order."""
    readers = read_steps(program)
    judge = AnswerJudge(readers, answer)
    return {reader.step.id: judge.score(reader) for reader in readers}

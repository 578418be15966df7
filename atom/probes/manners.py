"""Answerers of equal knowledge that differ in what they do where they know nothing.

They know the same steps of every probe. The plain one states what it knows and says of the rest
that it can't tell; the terse one writes its final answer and nothing else; the silent one leaves
out what it doesn't know; the abstaining one says so each time; the inventing one states something
wrong. So what a reading of marks makes of silence, abstention and invention can be checked.

Reference: METHODS T1 (planted answerers of equal knowledge).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal, get_args

from atom.probes.answers.derivation import SILENCE, write_value
from atom.probes.answers.prose import PlantedAnswer, Voice, write_answer
from atom.probes.answers.values import PlantedMark, values_in_band
from atom.probes.draws import Draws
from atom.probes.program import Program

Manner = Literal["terse", "silent", "abstaining", "inventing"]
MANNERS: Final[tuple[Manner, ...]] = get_args(Manner)
NAMES: Final[dict[str, Manner]] = {f"answerer-{manner}": manner for manner in MANNERS}
"""Model name → manner, as the probe endpoint serves them."""
KNOWS: Final = 0.6
"""Share of a program's steps that these answerers know."""
_SILENT = PlantedMark(score=SILENCE, addressed=False)
_VOICE = Voice(
    wordy=False, join=0.0, joiner=", and ", layout="prose", hedge=0, unsure=0.0, silent=0.0
)


def known_steps(program: Program, share: float = KNOWS) -> frozenset[str]:
    """Return the steps of a program that every one of these answerers knows."""
    draws = Draws("knows", program.family, program.template, program.seed, program.index)
    return frozenset(step.id for step in program.steps if draws.uniform(step.id) < share)


def answer_in(manner: Manner, program: Program, knows: Collection[str]) -> PlantedAnswer:
    """Write an answer in a manner.

    Args:
        manner: what is done about steps that aren't known.
        knows: ids of the steps whose result is known.

    Returns:
        The answer. Its final line is right where the last step is known; where it isn't, the silent
        one has no such line, the abstaining one says there too that it can't tell, and the terse
        and the inventing one give something wrong.
    """
    draws = Draws("manner", manner, program.family, program.template, program.seed, program.index)
    last = program.answer_step in knows
    unknown = [step.id for step in program.steps if step.id not in knows]
    scores = {step.id: 5 if step.id in knows else 1 for step in program.steps}
    written = write_answer(
        program,
        scores,
        _VOICE,
        draws,
        right=last,
        silent=dict.fromkeys(unknown, "unsaid" if manner == "silent" else "unable")
        if manner in ("silent", "abstaining")
        else {},
        given=tuple(scores),
    )
    said, _, final = written.text.rpartition("Answer: ")
    if manner == "terse":
        step = program.step(program.answer_step)
        far = values_in_band(step, "far")
        marks = {each.id: _SILENT for each in program.steps}
        marks[step.id] = PlantedMark(score=5 if last else 1)
        end = final if last or not far else write_value(step, draws.pick(far, "end"))
        return PlantedAnswer(
            text=f"Answer: {end}", marks=marks, right=written.right, process_ok=last
        )
    if last or manner == "inventing":
        return written
    text = said.rstrip() if manner == "silent" else f"{said}Answer: I can't tell."
    return PlantedAnswer(text=text, marks=written.marks, right=False, process_ok=False)

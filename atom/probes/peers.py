"""What simulated candidates say beside answers: hints as peers, and guesses without a picture.

A hint names its step by the step's own question and says where to look; now and then a first
attempt gives the result away, so that leak gates have something to find offline.

Reference: METHODS B16, D3.
"""

from __future__ import annotations

import re
from typing import Final

from atom.probes.answers.prose import fill
from atom.probes.draws import Draws
from atom.probes.program import Program, ProgramStep

STATED: Final = "A note beside the picture says:"
"""What a question says its picture's truths after, where it states them."""
OVERLOOKED: Final = 0.05
"""Share of models that overlook such a note."""
LEAK_RATE: Final = 0.05
"""Share of first attempts at a hint that give the result away."""

_CLEAN: Final = (
    "Go back to {where} and go through it slowly, then ask yourself: {question}",
    "I would start from {where}. Keep neighbours apart and settle this first: {question}",
    "Look at {where} once more before you go on. The question to settle there: {question}",
    "It is easy to mix things up in {where}, so check each of them. {question}",
)
_LEAKING: Final = (
    "Go back to {where}. {question} If I'm not mistaken, it is {truth}.",
    "Look at {where} once more: I'm quite sure that it is {truth}.",
)
_ACROSS: Final = ("left", "middle", "right")
_DOWN: Final = ("upper", "central", "lower")
_NTH: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_NO_PLACE: Final = "the part of the picture that this is about"
_OPTION: Final = re.compile(r"^([A-Z])\) (.+)$", re.MULTILINE)
_ADVICE: Final = re.compile(r"advice:\n(.+)$", re.MULTILINE)
_NAMED: Final = re.compile(r"\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer) ([A-Z])\b|\(([A-Z])\)")
_SAID: Final = re.compile(r"\bit is (.+?)[.!]?$")
_NUMBER: Final = re.compile(r"\d+(?:[.:,]\d+)*")


def write_hint(
    model: str, program: Program, step: ProgramStep, *, attempt: int, repeat: str
) -> str:
    """Write a candidate's hint on a step.

    Args:
        attempt: how many hints were turned down before; only a first attempt may leak.
        repeat: names the repeat; equal repeats give equal hints.
    """
    sample = (program.family, program.template, program.seed, program.index)
    draws = Draws("hint", model, *sample, step.id, attempt, repeat)
    leaks = attempt == 0 and draws.uniform("leak") < LEAK_RATE
    template = draws.pick(_LEAKING if leaks else _CLEAN, "words")
    return template.format(where=_where(program, step), question=step.question, truth=step.truth)


def _where(program: Program, step: ProgramStep) -> str:
    """Return where a step's first region lies, unless one of the program's truths says the same."""
    region = step.regions[0]
    left, top, right, bottom = region.box
    across = _ACROSS[min((left + right) // 667, 2)]
    down = _DOWN[min((top + bottom) // 667, 2)]
    truths = {word for s in program.steps for word in s.truth.lower().split()}
    if truths & {across, down}:
        return _NO_PLACE
    which = f"{_NTH[region.picture - 1]} " if program.pictures > 1 else ""
    return f"the {down} {across} of the {which}picture"


def guess(model: str, text: str, *, repeat: str) -> str:
    """Answer a question without its picture.

    Args:
        model: who guesses.
        text: the prompt: question, lettered options if there are any, advice if there is any.
        repeat: names the repeat; equal repeats give equal guesses.

    Returns:
        An answer by chance, unless the advice names one option, or says what "it is", or the
        question itself states its truths.
    """
    draws = Draws("blind", model, text, repeat)
    if STATED in text and draws.uniform("overlooked") >= OVERLOOKED:
        note = text.partition(STATED)[2].partition("\n")[0].strip()
        return f"{note}\nAnswer: {_final_of(note, dict(_OPTION.findall(text)))}"
    options = dict(_OPTION.findall(text))
    found = _ADVICE.search(text)
    advice = found.group(1) if found else ""
    if options:
        named = _named(advice, options)
        return f"Answer: {named or draws.pick(sorted(options), 'option')}"
    said = _SAID.search(advice) or _NUMBER.search(advice)
    if said:
        return f"Answer: {said.group(1) if said.re is _SAID else said.group()}"
    return f"Answer: {draws.integer(20, 'number') + 1}"


def state_truths(program: Program) -> str:
    """Write a probe's question with the truth of each of its steps, so that no picture is needed.

    Such questions are planted for the blind control, which has to find them.
    """
    told = " ".join(fill(step.phrases[0], step.truth) for step in program.steps)
    return f"{program.question}\n{STATED} {told} So the answer is {program.answer}."


def _final_of(note: str, options: dict[str, str]) -> str:
    """Return the answer that a note ends with: its letter where there are options."""
    answer = note.rpartition("So the answer is ")[2].rstrip(".")
    return next((letter for letter, option in options.items() if option == answer), answer)


def _named(advice: str, options: dict[str, str]) -> str | None:
    """Return the one option that an advice names."""
    letters = {a or b for a, b in _NAMED.findall(advice)} & set(options)
    for letter, option in options.items():
        if re.search(rf"(?<![\w.,]){re.escape(option)}(?![\w])(?![.,]\d)", advice, re.IGNORECASE):
            letters.add(letter)
    return letters.pop() if len(letters) == 1 else None

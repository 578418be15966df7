"""What a benchmark's probe side is made of: files, questions, and who answers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from atom.probes.answers.derivation import SILENCE
from atom.probes.answers.reading import LETTERS
from atom.probes.answers.step_reader import StepReader
from atom.probes.draws import Draws
from atom.probes.judge import AnswerJudge
from atom.probes.program import Program
from atom.probes.worlds.make import ProbeSource, make_probes

Character = Literal["exact", "noisy", "coin"]


@dataclass(frozen=True, kw_only=True)
class BenchFiles:
    """A benchmark's data, made from probes.

    Args:
        rows: the benchmark's own files by name, in its published layout.
        pictures: picture files by the name that the rows use.
    """

    rows: Mapping[str, bytes]
    pictures: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BenchQuestion:
    """What a probe judge is asked in a benchmark.

    Args:
        task: the prompt's id.
        data: the request's data block.
        readers: its steps, ready to read answers with.
        draws: random numbers that are a pure function of the request; the noisy judge and the coin
            use them, the exact one doesn't.
    """

    task: str
    data: Mapping[str, Any]
    program: Program
    readers: tuple[StepReader, ...]
    character: Character
    draws: Draws

    @property
    def noise(self) -> Draws | None:
        """The noisy judge's draws; None for the others."""
        return self.draws if self.character == "noisy" else None

    def text(self, name: str) -> str:
        """Return a text of the data block; empty where there is none."""
        value = self.data.get(name)
        return value if isinstance(value, str) else ""


def step_scores(readers: Sequence[StepReader], judge: AnswerJudge) -> dict[str, int]:
    """Return each step's score by its id; what nothing can be said of counts as silence, a 2."""
    return {reader.step.id: judge.score(reader).score or SILENCE for reader in readers}


def question_of(program: Program) -> str:
    """Return a program's question, and its options below it."""
    options = zip(LETTERS, program.choices, strict=False)
    return "\n".join([program.question, *(f"{letter}. {text}" for letter, text in options)])


def stem_of(program: Program) -> str:
    """Name a program's picture."""
    return f"{program.family}-{program.seed}-{program.index:05d}"


Answer = Callable[[BenchQuestion], dict[str, object]]


class MakeFiles(Protocol):
    """Makes a benchmark's files from so many probes, drawn with a seed."""

    def __call__(self, n_items: int, seed: int, draw: ProbeSource = make_probes) -> BenchFiles:
        """Make them; probes come from `draw`."""

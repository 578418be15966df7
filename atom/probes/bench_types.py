"""What a benchmark's probe side is made of: files, questions, and who answers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from atom.probes.draws import Draws
from atom.probes.judge import StepReader
from atom.probes.program import Program

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
        program: the picture's program.
        readers: its steps, ready to read answers with.
        character: who judges.
        draws: random numbers that are a pure function of the request; the noisy judge and the coin
            use them, the exact one doesn't.
    """

    task: str
    data: Mapping[str, Any]
    program: Program
    readers: tuple[StepReader, ...]
    character: Character
    draws: Draws


Answer = Callable[[BenchQuestion], dict[str, object]]
MakeFiles = Callable[[int, int], BenchFiles]

"""Judge benchmarks on probes: files made in a benchmark's own layout, and judges that answer.

Each benchmark has a module beside this one that makes its files and answers its tasks. A judge is
one of three characters: exact (knows the truth), noisy (the confusion of METHODS D3), coin (flips
one for whatever it is asked).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from atom.errors import UsageError
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

TASKS: dict[str, Answer] = {}
"""Who answers a task, by the prompt's id; the reply is an object that fits the prompt's schema."""
MAKERS: dict[str, MakeFiles] = {}
"""Who makes a benchmark's files: number of items, seed."""


def make_bench_files(benchmark: str, n_items: int, seed: int) -> BenchFiles:
    """Make a benchmark's data from fresh probes; equal arguments give equal bytes.

    Raises:
        UsageError: nobody makes this benchmark's data.
    """
    make = MAKERS.get(benchmark)
    if make is None:
        raise UsageError(f"no probes are made for {benchmark!r}; only for {', '.join(MAKERS)}")
    return make(n_items, seed)

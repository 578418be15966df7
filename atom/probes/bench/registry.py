"""Judge benchmarks on probes: files made in a benchmark's own layout, and judges that answer.

Each benchmark has a module beside this one that makes its files and answers its tasks. A judge is
one of three characters: exact (knows the truth), noisy (the confusion of METHODS D3), coin (flips
one for whatever it is asked).
"""

from __future__ import annotations

from atom.errors import UsageError
from atom.probes.bench import best_of_n
from atom.probes.bench import calibration as bench_calibration
from atom.probes.bench import critic_bench as bench_critic_bench
from atom.probes.bench import methods as bench_methods
from atom.probes.bench import mm_critic as bench_mm_critic
from atom.probes.bench import multi_crit as bench_multi_crit
from atom.probes.bench import vl_rewardbench as bench_vl_rewardbench
from atom.probes.bench.types import Answer as Answer
from atom.probes.bench.types import BenchFiles as BenchFiles
from atom.probes.bench.types import BenchQuestion as BenchQuestion
from atom.probes.bench.types import Character as Character
from atom.probes.bench.types import MakeFiles as MakeFiles
from atom.probes.worlds.make import ProbeSource, make_probes

TASKS: dict[str, Answer] = {
    **bench_critic_bench.TASKS,
    **bench_methods.TASKS,
    **bench_multi_crit.TASKS,
    **bench_mm_critic.TASKS,
    **bench_vl_rewardbench.TASKS,
}
"""Who answers a task, by the prompt's id; the reply is an object that fits the prompt's schema."""
MAKERS: dict[str, MakeFiles] = {
    "vl_rewardbench": bench_vl_rewardbench.make,
    "best_of_n": best_of_n.make,
    "multi_crit": bench_multi_crit.make,
    "mm_critic": bench_mm_critic.make,
    "critic_bench": bench_critic_bench.make,
    "calibration": bench_calibration.make,
}
"""Who makes a benchmark's files: number of items, seed."""


def make_bench_files(
    benchmark: str, n_items: int, seed: int, draw: ProbeSource = make_probes
) -> BenchFiles:
    """Make a benchmark's data from probes, fresh ones as a rule; equal arguments give equal bytes.

    Raises:
        UsageError: nobody makes this benchmark's data.
    """
    make = MAKERS.get(benchmark)
    if make is None:
        raise UsageError(f"no probes are made for {benchmark!r}; only for {', '.join(MAKERS)}")
    return make(n_items, seed, draw)

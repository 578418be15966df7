"""The judge benchmarks that there are."""

from __future__ import annotations

from atom.errors import UsageError
from atom.judgebench.base import Bench
from atom.judgebench.best_of_n.benchmark import BENCH as BEST_OF_N
from atom.judgebench.calibration import BENCH as CALIBRATION
from atom.judgebench.critic_bench.benchmark import BENCH as CRITIC_BENCH
from atom.judgebench.mm_critic.benchmark import BENCH as MM_CRITIC
from atom.judgebench.multi_crit.benchmark import BENCH as MULTI_CRIT
from atom.judgebench.vl_rewardbench.benchmark import BENCH as VL_REWARDBENCH

BENCHES: dict[str, Bench] = {
    VL_REWARDBENCH.name: VL_REWARDBENCH,
    MULTI_CRIT.name: MULTI_CRIT,
    MM_CRITIC.name: MM_CRITIC,
    CRITIC_BENCH.name: CRITIC_BENCH,
    BEST_OF_N.name: BEST_OF_N,
    CALIBRATION.name: CALIBRATION,
}
"""By name, in the order of the screens."""


def find_bench(name: str) -> Bench:
    """Return a benchmark.

    Raises:
        UsageError: there is none of this name; the message lists those there are.
    """
    if name not in BENCHES:
        raise UsageError(f"there is no judge benchmark {name!r}; there are {', '.join(BENCHES)}")
    return BENCHES[name]

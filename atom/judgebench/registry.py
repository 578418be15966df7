"""The judge benchmarks that there are."""

from __future__ import annotations

from atom.errors import UsageError
from atom.judgebench.base import Bench

BENCHES: dict[str, Bench] = {}
"""By name, in the order of the screens."""


def find_bench(name: str) -> Bench:
    """Return a benchmark.

    Raises:
        UsageError: there is none of this name; the message lists those there are.
    """
    if name not in BENCHES:
        raise UsageError(f"there is no judge benchmark {name!r}; there are {', '.join(BENCHES)}")
    return BENCHES[name]

"""Measure whether what is said of judges and of rival methods is true in planted worlds.

Run it with `python benchmarks/judge_recovery.py --json`. The first rows let every method rank five
answers a probe under an exact, a noisy and a coin-flipping judge: the baseline is the accuracy that
the noise model of `design/012-rivals.md` gives. The others are about the judge's own noise, its
blind branches, and the pulls of place and length (`design/013-judge-noise.md`, METHODS B12).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import _judge_noise, _rivals


def lines(probes: int, worlds: int, seed: int = 0) -> Iterator[dict[str, object]]:
    """Measure everything; a line a figure.

    Args:
        probes: samples that the methods rank answers to.
        worlds: drawn worlds a row about judges' noise.
        seed: of the probes.
    """
    return chain(_rivals.lines(probes, seed), _judge_noise.lines(worlds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--probes", type=int, default=300, help="samples of the methods")
    parser.add_argument("--worlds", type=int, default=40, help="worlds of the judges' noise")
    parser.add_argument("--seed", type=int, default=0, help="of the probes")
    options = parser.parse_args()
    for line in lines(options.probes, options.worlds, options.seed):
        plain = "{name:34} {value:<8} (baseline {baseline})  {note}".format_map(line)
        sys.stdout.write((json.dumps(line) if options.json else plain) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

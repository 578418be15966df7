"""Measure whether what is said of a panel of judges is true in planted worlds (METHODS T5).

Run it with `python benchmarks/panels.py --json`. Coverage: how often the panel's 95 % interval of a
model's mean holds the people's, by judges and by labelled samples; how often `judges needed` is
within one of the truth for parallel judges that need at most five; how often the lenient judge is
named, and an even one is. Each line has its Monte Carlo error.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.analysis.agreement.panel import calibrated, panel_mean, read_panel
from tests.planted import WorldSettings, confusion, judge_scores

EVEN = confusion(WorldSettings())
LENIENT = confusion(WorldSettings(lenient=0.8, diagonal=0.75))
SAMPLES, EACH = 240, 4
SPREAD = 1.2
NEEDED = ((0.1, 1.0), (0.15, 2.25), (0.2, 4.0), (0.22, 4.84))
"""(Noise, judges needed): 4 noise^2 / .2^2 for a true spread of .2."""


def draw_truth(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Draw people's scores of samples whose steps are alike in difficulty."""
    hard = np.repeat(rng.normal(0, 1, (*shape[:-1], shape[-1] // EACH)), EACH, axis=-1)
    return np.clip(np.round(3.0 + hard + rng.normal(0, SPREAD, shape)), 1, 5).astype(np.int64)


def coverage(judges: int, labelled: int, worlds: int) -> tuple[float, int]:
    """Return the share of worlds whose interval holds the mean, and of how many worlds."""
    mean = expected()
    cluster = np.repeat(np.arange(SAMPLES), EACH)
    held = told = 0
    for seed in range(worlds):
        rng = np.random.default_rng([seed, judges, labelled, 9])
        truth = draw_truth(rng, (SAMPLES * EACH,))
        kinds = [EVEN] * (judges - 1) + [LENIENT]
        scores = np.stack([judge_scores(truth, kind, rng) for kind in kinds])
        human = np.where(cluster < labelled, truth, np.nan)
        values, _ = calibrated(scores, human, cluster, rng)
        used = (scores - 1) / 4 if values is None else values
        found = panel_mean(read_panel(used, cluster).value, (human - 1) / 4, cluster)
        held += found.lo <= mean <= found.hi
        told += 1
    return held / told, told


def expected() -> float:
    """Return the mean that intervals aim at: clipped and rounded normals, in closed form."""
    sd = math.sqrt(1 + SPREAD**2)
    edges = [0.5 * (1 + math.erf((cut - 3.0) / sd / math.sqrt(2))) for cut in (1.5, 2.5, 3.5, 4.5)]
    shares = np.diff([0.0, *edges, 1.0])
    return float((shares * np.arange(1, 6)).sum() - 1) / 4


def within_one(noise: float, truth: float, worlds: int) -> float:
    """Return the share of worlds in which the number of judges is within one of the truth."""
    good = 0
    for seed in range(worlds):
        rng = np.random.default_rng([seed, round(100 * noise), 3])
        true = rng.normal(0.6, 0.2, 800)
        values = true + rng.normal(0, noise, (3, 800))
        found = read_panel(values, np.repeat(np.arange(200), 4))
        good += abs(found.needed - math.ceil(truth)) <= 1
    return good / worlds


def named(shift: float, worlds: int) -> tuple[float, float]:
    """Return how often the lenient judge alone is named, and how often an even one is."""
    right = wrong = 0
    for seed in range(worlds):
        rng = np.random.default_rng([seed, 5])
        true = rng.normal(0.6, 0.2, 800)
        values = true + rng.normal(0, 0.15, (4, 800))
        values[2] += shift
        found = read_panel(values, np.repeat(np.arange(200), 4)).lenient
        right += found == (2,)
        wrong += any(one != 2 for one in found)
    return right / worlds, wrong / worlds


def lines(worlds: int) -> Iterator[dict[str, object]]:
    """Measure everything; a line a figure."""
    for judges in (2, 3, 5):
        for labelled in (30, 60, 120):
            share, n = coverage(judges, labelled, worlds)
            error = math.sqrt(share * (1 - share) / n)
            yield {"name": f"coverage, {judges} judges, {labelled} labelled", "value": share,
                   "baseline": ".93 to .97", "note": f"{n} worlds, error {error:.4f}"}  # fmt: skip
    for noise, truth in NEEDED:
        yield {"name": f"judges needed, truth {truth:g}", "value": within_one(noise, truth, worlds),
               "baseline": "within one", "note": f"{worlds} panels of 3"}  # fmt: skip
    for shift in (0.0, 0.06):
        right, wrong = named(shift, worlds)
        yield {"name": f"lenient by {100 * shift:g} points", "value": right if shift else wrong,
               "baseline": ">= .95" if shift else "<= .05",
               "note": "named alone" if shift else "anybody named"}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--worlds", type=int, default=1000, help="drawn worlds a line")
    options = parser.parse_args()
    for line in lines(options.worlds):
        plain = "{name:38} {value:<8.4f} (baseline {baseline})  {note}".format_map(line)
        sys.stdout.write((json.dumps(line) if options.json else plain) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

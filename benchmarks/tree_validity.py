"""How often is the true tree called valid, and a random one?

Scores are drawn from the generative world without pictures: eight models, 24 leaves, graded
answers, difficulties of samples shared by all models. The verdict is that of
`atom.analysis.capability.validity`: leave one sample out, against cluster permutations.

Run: `python benchmarks/tree_validity.py [--repetitions 100] [--samples 1000] [--json]`.

Reference: METHODS D2 (the world), B19 (the verdict), E4 (Monte Carlo slack).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.analysis.capability.rivals import by_chance
from atom.analysis.capability.validity import Atoms, validity

POPULARITY = (6, 5, 5, 5, 4, 4, 4, 4, 5, 5, 5, 4, 4, 3, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2)
CUTS = (-1.6, -0.7, 0.1, 0.9)
SLOPE = 1.7
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class World:
    """How many of what, and how far leaves lie apart."""

    samples: int = 1000
    models: int = 8
    leaf_sd: float = 0.4
    deviation: float = 0.15
    weak: float = 1.0
    same_task: float = 0.6
    """Share of a sample's criteria that lie on its two task leaves."""


@dataclass(frozen=True, kw_only=True)
class Rates:
    """How often each tree was called valid.

    Attributes:
        true: share for the planted tree.
        random: share for the planted tree's leaves shuffled between criteria.
        repetitions: how many worlds.
        delta: mean leave-one-out delta of the planted tree, x25.
        adjusted: mean adjusted delta of the planted tree, x25.
        seconds: mean time of one verdict.
    """

    true: float
    random: float
    repetitions: int
    delta: float
    adjusted: float
    seconds: float

    @property
    def slack(self) -> float:
        """Three Monte Carlo standard errors of a rate of 5 %."""
        return 3 * math.sqrt(ALPHA * (1 - ALPHA) / self.repetitions)


def draw(world: World, rng: Generator) -> tuple[Atoms, np.ndarray]:
    """Draw one world's scores.

    `eta = theta_k + dev_kl - weak_kl - b_l - beta_i - d_it + u_ik`,
    `P(s >= c) = sigma(1.7 (eta - kappa_c))`.

    Returns:
        All atoms under the planted tree, and the leaf of each criterion.
    """
    n_leaves, k = len(POPULARITY), world.models
    share = np.array(POPULARITY) / sum(POPULARITY)
    count = rng.integers(3, 6, world.samples)
    sample = np.repeat(np.arange(world.samples), count)
    place = np.concatenate([np.arange(n) for n in count])
    tasks = rng.choice(n_leaves, (world.samples, 2), p=share)
    own = tasks[sample, rng.integers(0, 2, len(sample))]
    other = rng.choice(n_leaves, len(sample), p=share)
    leaf = np.where(rng.random(len(sample)) < world.same_task, own, other)
    theta = rng.permutation(np.linspace(-0.2, 1.2, k))
    deviation = rng.normal(0, world.deviation, (k, n_leaves))
    deviation -= deviation.mean(axis=1, keepdims=True)
    for row in deviation:
        row[rng.choice(n_leaves, 3, replace=False)] -= world.weak
    difficulty = rng.normal(0, world.leaf_sd, n_leaves)[leaf]
    difficulty += rng.normal(0, 0.6, world.samples)[sample] + rng.normal(0, 0.7, len(sample))
    taste = rng.normal(0, 0.5, (k, world.samples))
    eta = theta[:, None] + deviation[:, leaf] + taste[:, sample] - difficulty
    above = 1 / (1 + np.exp(-SLOPE * (eta[..., None] - np.array(CUTS))))
    score = 1.0 + (rng.random(eta.shape)[..., None] < above).sum(axis=-1)
    return _atoms(score, sample, leaf, place), leaf


def _atoms(score: np.ndarray, sample: np.ndarray, leaf: np.ndarray, place: np.ndarray) -> Atoms:
    k = len(score)
    return Atoms(
        score=score.ravel(),
        model=np.repeat(np.arange(k), len(sample)),
        sample=np.tile(sample, k),
        leaf=np.tile(leaf, k),
        place=np.tile(place, k),
    )


def measure(world: World, repetitions: int, permutations: int, seed: int) -> Rates:
    """Draw worlds and count how often each tree is called valid."""
    true, random_, deltas, adjusted = 0, 0, [], []
    begun = time.perf_counter()
    for number in range(repetitions):
        rng = np.random.default_rng([seed, number])
        atoms, leaf = draw(world, rng)
        found = validity(atoms, rng, permutations)
        true += found.valid(ALPHA)
        deltas.append(25 * found.loo.delta)
        adjusted.append(25 * found.delta_adjusted)
        shuffled = np.tile(by_chance(leaf, rng), world.models)
        other = Atoms(
            score=atoms.score, model=atoms.model, sample=atoms.sample, leaf=shuffled,
            place=atoms.place,
        )  # fmt: skip
        random_ += validity(other, rng, permutations).valid(ALPHA)
    return Rates(
        true=true / repetitions,
        random=random_ / repetitions,
        repetitions=repetitions,
        delta=float(np.mean(deltas)),
        adjusted=float(np.mean(adjusted)),
        seconds=(time.perf_counter() - begun) / (2 * repetitions),
    )


def rows(rates: Rates, world: World) -> list[dict[str, object]]:
    """Write the result in the form of all benchmarks."""
    note = f"{world.samples} samples, {world.models} models, leaf sd {world.leaf_sd}"
    limit = ALPHA + rates.slack

    def row(name: str, value: float, unit: str, baseline: float, short: bool) -> dict[str, object]:
        return {
            "name": name,
            "value": round(value, 4),
            "unit": unit,
            "baseline": round(baseline, 4),
            "ratio": round(value / baseline, 3) if baseline else None,
            "n": rates.repetitions,
            "note": f"short: {note}" if short else note,
        }

    return [
        row("true_tree_called_valid", rates.true, "share", 0.95, rates.true < 0.95),
        row("random_tree_called_valid", rates.random, "share", limit, rates.random > limit),
        row("true_tree_delta_loo_x25", rates.delta, "points of 100", 0.0, False),
        row("true_tree_delta_adjusted_x25", rates.adjusted, "points of 100", 0.0, False),
        row("one_verdict", rates.seconds, "s", 0.0, False),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--leaf-sd", type=float, default=0.4)
    parser.add_argument("--permutations", type=int, default=99)
    parser.add_argument("--seed", type=int, default=20261127)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    given = parser.parse_args()
    world = World(samples=given.samples, models=given.models, leaf_sd=given.leaf_sd)
    rates = measure(world, given.repetitions, given.permutations, given.seed)
    for line in rows(rates, world):
        text = (
            json.dumps(line) if given.json else f"{line['name']:32} {line['value']} {line['unit']}"
        )
        sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()

"""Measure whether errors carried forward are charged to capabilities that didn't make them.

Run it with `python benchmarks/propagation.py --json` (`--seeds 8` for a quick look). Worlds have
chains: families of three leaves that always follow each other. A step whose predecessor failed
inherits the error with a known probability; the leaf's own deviation stays as planted. A discovery
is false where the leaf's true deviation, without inheritance, isn't below minus the margin of 0.10
points. Each world is diagnosed as the product does it: with a judge that marks what is carried
(90 % sensitive, 95 % specific), with no such marks (the first break), and, as a contrast, by all
steps.

Reference: METHODS T2; `design/024-two-readings.md`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import expit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.analysis.capability.diagnosis import CONFIRMED, MARGIN
from atom.analysis.capability.weaknesses import diagnose
from atom.analysis.layout import tree_layout
from atom.analysis.readings import FAILED_SCORE, claim_rows
from atom.analysis.score_table import ScoreTable
from tests.planted import CUTS, SLOPE, WorldSettings, confusion, judge_scores

Floats = NDArray[np.float64]
Marks = Literal["marked", "first_break", "all_steps"]
MODELS, FAMILIES, LENGTH = 8, 8, 3
LEAVES = FAMILIES * LENGTH
SIZES = (300, 600, 1200)
INHERITED = (0.0, 0.3, 0.6, 0.9)
SENSITIVITY, SPECIFICITY = 0.90, 0.95
MOST_FALSE, LEAST_POWER = 0.10, 0.8
"""Of discoveries; of the power without inheritance."""


@dataclass(frozen=True, kw_only=True)
class Chains:
    """A drawn world.

    Attributes:
        table: as a judge scores it.
        weak: planted weak leaf of each model, shape (K, L).
        deviation: true deviation of each leaf from the model's other leaves, without inheritance,
            in points of 1..5 on the judge's scale, shape (K, L).
    """

    table: ScoreTable
    weak: NDArray[np.bool_]
    deviation: Floats


def _expected(latent: Floats, settings: WorldSettings) -> Floats:
    """Return the judge's expected score of each (model, leaf), shape (K, L)."""
    spread = np.sqrt(settings.sample_sd**2 + settings.criterion_sd**2 + settings.answer_sd**2)
    nodes, mass = hermegauss(41)
    eta = latent[..., None] + spread * nodes
    upper = expit(SLOPE * (eta[..., None] - CUTS)) * (mass / mass.sum())[:, None]
    at_least = np.concatenate([np.ones((*latent.shape, 1)), upper.sum(axis=-2)], axis=-1)
    share = at_least - np.append(at_least[..., 1:], np.zeros((*latent.shape, 1)), axis=-1)
    return np.asarray(share @ (confusion(settings) @ np.arange(1, 6)))


def draw(samples: int, inherited: float, marks: Marks, seed: int) -> Chains:
    """Draw a world of chains, one planted weak leaf a model (METHODS D2, D3, T2).

    Args:
        samples: N; each is one family's chain of three steps.
        inherited: probability that a step after a failed one is wrong because of it.
        marks: whether the judge marks carried steps.
        seed: of the draw; worlds of equal seeds and sizes share it.
    """
    rng = np.random.default_rng([seed, samples, round(100 * inherited)])
    s = WorldSettings(samples=samples)
    ability = rng.permutation(np.linspace(s.ability_low, s.ability_high, MODELS))
    own = rng.normal(0, s.profile_sd, (MODELS, LEAVES))
    own -= own.mean(axis=1, keepdims=True)
    weak = rng.random((MODELS, LEAVES)).argsort(axis=1).argsort(axis=1) < 1
    own = own - s.drop * weak
    plain = ability[:, None] - rng.normal(0, s.leaf_sd, LEAVES)
    family = rng.integers(0, FAMILIES, samples)
    leaf = (family[:, None] * LENGTH + np.arange(LENGTH)).ravel()
    sample = np.repeat(np.arange(samples), LENGTH)
    eta = (
        (plain + own)[:, leaf]
        - rng.normal(0, s.sample_sd, samples)[sample]
        - rng.normal(0, s.criterion_sd, len(leaf))
        + rng.normal(0, s.answer_sd, (MODELS, samples))[:, sample]
    )
    alone = 1 + (rng.random((*eta.shape, 1)) < expit(SLOPE * (eta[..., None] - CUTS))).sum(axis=2)
    alone = alone.reshape(MODELS, samples, LENGTH)
    true, carried = alone.copy(), np.zeros_like(alone, dtype=bool)
    for step in range(1, LENGTH):
        hit = (true[..., step - 1] <= FAILED_SCORE) & (rng.random((MODELS, samples)) < inherited)
        wrong = rng.integers(1, FAILED_SCORE + 1, (MODELS, samples))
        carried[..., step] = hit & (alone[..., step] > FAILED_SCORE)
        true[..., step] = np.where(hit, np.minimum(alone[..., step], wrong), alone[..., step])
    judged = judge_scores(true, confusion(s), rng)
    chance = rng.random(carried.shape)
    said = np.where(carried, chance < SENSITIVITY, chance > SPECIFICITY) & (judged <= 3)
    said[..., 0] = False
    gap = _expected(plain + own, s) - _expected(plain, s)
    rest = (gap.sum(axis=1, keepdims=True) - gap) / (LEAVES - 1)
    return Chains(
        table=_table(judged, said & (marks == "marked"), leaf, sample, marks),
        weak=weak,
        deviation=gap - rest,
    )


def _table(
    judged: NDArray[np.int8],
    carried: NDArray[np.bool_],
    leaf: NDArray[np.int64],
    sample: NDArray[np.int64],
    marks: Marks,
) -> ScoreTable:
    samples, steps = judged.shape[1], len(leaf)
    answers = MODELS * samples
    return ScoreTable(
        response=np.repeat(np.arange(answers), LENGTH).astype(np.int32),
        criterion=np.tile(np.arange(steps), MODELS).astype(np.int32),
        leaf=np.tile(leaf, MODELS).astype(np.int16),
        weight=np.full(MODELS * steps, 3, dtype=np.int8),
        position=np.tile(np.arange(LENGTH), answers).astype(np.int8),
        score=judged.ravel(),
        sample=np.tile(np.arange(samples), MODELS).astype(np.int32),
        model=np.repeat(np.arange(MODELS), samples).astype(np.int16),
        repeat=np.zeros(answers, dtype=np.int16),
        outcome=np.full(answers, np.nan, dtype=np.float32),
        answered=np.ones(answers, dtype=np.bool_),
        cluster=np.arange(samples, dtype=np.int32),
        quarantined=np.zeros(samples, dtype=np.bool_),
        sample_ids=tuple(f"sample-{at}" for at in range(samples)),
        model_ids=tuple(f"model-{at}" for at in range(MODELS)),
        criterion_ids=tuple(f"criterion-{at}" for at in range(steps)),
        response_ids=tuple(f"answer-{at}" for at in range(answers)),
        leaves=tuple((*(f"Family {at // LENGTH}",) * 3, f"Leaf {at:02d}") for at in range(LEAVES)),
        carried=carried.ravel(),
        carried_known=marks == "marked",
        chained=np.full(samples, marks == "first_break"),
    )


def measure(samples: int, inherited: float, marks: Marks, seed: int) -> tuple[float, float, float]:
    """Diagnose one world: false discoveries, those not planted, and planted ones found; shares."""
    world = draw(samples, inherited, marks, seed)
    layout = tree_layout(world.table)
    seen = diagnose(layout, claim_rows(world.table))
    found = seen.label[:, layout.group_node] == CONFIRMED
    count = np.maximum(found.sum(axis=1), 1)
    false = (found & (world.deviation >= -4 * MARGIN)).sum(axis=1) / count
    unplanted = (found & ~world.weak).sum(axis=1) / count
    power = (found & world.weak).sum() / world.weak.sum()
    return float(false.mean()), float(unplanted.mean()), float(power)


def lines(seeds: int) -> Iterator[dict[str, object]]:
    """Measure every row; rows of one size and kind of marks share their baseline."""
    for samples in SIZES:
        for marks in get_args(Marks):
            alone = 0.0
            for inherited in INHERITED:
                drawn = [measure(samples, inherited, marks, seed) for seed in range(seeds)]
                false, unplanted, power = np.mean(drawn, axis=0)
                error = float(np.std([row[0] for row in drawn], ddof=1) / np.sqrt(seeds))
                alone = power if not inherited else alone
                name = f"{marks}_{samples}_inherited_{round(100 * inherited)}"
                contrast = marks == "all_steps"
                note = f"{seeds} worlds, standard error {error:.3f}; {unplanted:.3f} not planted"
                short = "" if contrast or false <= MOST_FALSE else "short: "
                need = "contrast: no rule against inheritance" if contrast else (
                    f"required at most {MOST_FALSE:g}"
                )  # fmt: skip
                yield {
                    "name": f"false_discovery_{name}", "value": round(float(false), 4),
                    "unit": "share", "baseline": None, "ratio": None, "n": samples,
                    "note": f"{short}{need}; {note}",
                }  # fmt: skip
                ratio = power / alone if alone else float("nan")
                short = "" if contrast or ratio >= LEAST_POWER else "short: "
                need = "contrast" if contrast else f"required ratio at least {LEAST_POWER:g}"
                yield {
                    "name": f"power_{name}", "value": round(float(power), 4), "unit": "share",
                    "baseline": round(float(alone), 4), "ratio": round(float(ratio), 3),
                    "n": samples,
                    "note": f"{short}{need} of the same rule's power without inheritance",
                }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--seeds", type=int, default=40, help="worlds a row")
    options = parser.parse_args()
    for line in lines(options.seeds):
        plain = "{name:46} {value:<8} ratio {ratio}  {note}".format_map(line)
        sys.stdout.write((json.dumps(line) if options.json else plain) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

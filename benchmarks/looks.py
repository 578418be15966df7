"""Measure what judging in looks saves, and what its statements are worth (METHODS T7).

Run it with `python benchmarks/looks.py --json`. Each planted world (METHODS D1 to D3) is judged
whole, as the full design, and then in at most five looks on a part of the calls: each look chooses
by what the looks before said. Rows are medians or means over worlds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.analysis.capability.diagnosis import CONFIRMED, MARGIN
from atom.analysis.capability.weaknesses import diagnose
from atom.analysis.layout import tree_layout
from atom.analysis.looks.choice import (
    Aim,
    chances,
    draw,
    first_look,
    look_sizes,
    need_of,
    unsettled,
)
from atom.analysis.looks.standing import EarlyStanding, LookMarks, stand
from tests.planted import Planted, WorldSettings, plant

Floats = NDArray[np.float64]
SAMPLES, SHARE, TRUTH = 900, 0.6, 20_000
AIM = Aim(goal="weaknesses")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What one world showed."""

    calls: float
    leader: bool
    recovered: float
    power: float
    full_power: float
    false: float
    not_planted: float
    covered: float
    effect_covered: float
    settled_early: bool
    false_by_model: float


def marks_of(world: Planted, judged: NDArray[np.bool_]) -> LookMarks:
    """Return the marks of the answers that are judged, shape (K, N)."""
    sample = world.sample.astype(np.int64)
    return LookMarks(
        value=np.where(judged[:, sample], (world.judged - 1) / 4.0, np.nan),
        planned=np.ones(world.judged.shape, dtype=bool),
        sample=sample,
        node=world.leaf.astype(np.int64),
        n_samples=world.settings.samples,
        n_nodes=len(world.leaves),
    )


def in_looks(world: Planted, share: float, seed: int) -> tuple[list[EarlyStanding], float]:
    """Judge a world in looks; returns how it stood at each, and the share of calls spent."""
    k, n = world.answered.shape
    rng = np.random.default_rng([seed, 7])
    judged = np.zeros((k, n), dtype=bool)
    stands: list[EarlyStanding] = []
    for calls in look_sizes(k * n, int(share * k * n)):
        if not stands:
            judged |= first_look(~judged, calls, rng)
        else:
            need = need_of(stands[-1], AIM)
            marks = marks_of(world, judged)
            judged |= draw(chances(need, marks, ~judged, calls), calls, rng)
        stands.append(stand(marks_of(world, judged), [one.share for one in stands]))
        if not unsettled(stands[-1], AIM).any():
            break
    return stands, float(judged.mean())


def measure(samples: int, share: float, seed: int, weak: int = 3) -> Seen:
    """Draw one world, judge it whole and in looks, and compare."""
    world = plant(WorldSettings(samples=samples, weak=weak), np.random.default_rng([seed, samples]))
    large = plant(WorldSettings(samples=TRUTH, weak=weak), np.random.default_rng([seed, samples]))
    truth = stand(marks_of(large, np.ones(large.answered.shape, dtype=bool)))
    full = stand(marks_of(world, np.ones(world.answered.shape, dtype=bool)))
    layout = tree_layout(world.table())
    stands, calls = in_looks(world, share, seed)
    last = stands[-1]
    found, whole = (
        last.label == CONFIRMED,
        diagnose(layout).label[:, layout.group_node] == CONFIRMED,
    )
    mean = (world.expected() - 1) / 4
    inside, inside_effect = [], []
    for one in stands:
        there, tested = np.isfinite(one.lo), np.isfinite(one.effect_lo)
        inside.append(((one.lo <= mean) & (mean <= one.hi))[there].mean())
        right = (one.effect_lo <= truth.effect) & (truth.effect <= one.effect_hi)
        inside_effect.append(right[tested].mean())
    claims = max(int(found.sum()), 1)
    wrong = found & (truth.effect >= -MARGIN)
    return Seen(
        calls=calls,
        leader=int(last.overall.argmax()) == int(full.overall.argmax()),
        recovered=float((found & whole).sum() / max(int(whole.sum()), 1)),
        power=float((found & world.weak).sum() / max(int(world.weak.sum()), 1)),
        full_power=float((whole & world.weak).sum() / max(int(world.weak.sum()), 1)),
        false=float(wrong.sum() / claims),
        not_planted=float((found & ~world.weak).sum() / claims),
        covered=float(min(inside[0], inside[-1])),
        effect_covered=float(min(inside_effect[0], inside_effect[-1])),
        settled_early=calls < share - 0.02,
        false_by_model=float((wrong.sum(axis=1) / np.maximum(found.sum(axis=1), 1)).mean()),
    )


def lines(worlds: int, samples: int, share: float) -> Iterator[dict[str, object]]:
    """Measure the rows."""
    seen = [measure(samples, share, seed) for seed in range(worlds)]
    null = [measure(samples, share, seed, weak=0) for seed in range(max(worlds // 5, 1))]

    def row(name: str, value: float, least: float, most: float, note: str) -> dict[str, object]:
        short = "" if least <= round(value, 4) <= most else "short: "
        bound = f"at least {least:g}" if most == 1 and least > 0 else f"at most {most:g}"
        return {"name": name, "value": round(value, 4), "unit": "share", "baseline": None,
                "ratio": None, "n": worlds, "note": f"{short}required {bound}; {note}"}  # fmt: skip

    def of(name: str) -> Floats:
        return np.array([float(getattr(one, name)) for one in seen])

    yield row("calls", float(np.median(of("calls"))), 0, 0.6, f"median, {samples} questions")
    yield row("leader_as_full", float(of("leader").mean()), 0.9, 1, "mean over worlds")
    recovered = of("recovered")
    yield row("confirmed_of_full", float(np.median(recovered)), 0.9, 1,
              f"median; mean {recovered.mean():.3f}; power {of('power').mean():.3f}, "
              f"full design {of('full_power').mean():.3f}")  # fmt: skip
    yield row("coverage_means", float(of("covered").mean()), 0.94, 1,
              "node means, first or last look, whichever is worse")  # fmt: skip
    yield row("coverage_effects", float(of("effect_covered").mean()), 0.94, 1,
              f"departures, held against {TRUTH:,} questions of the same world")  # fmt: skip
    yield row("false_discovery", float(of("false").mean()), 0, 0.10,
              f"the true departure is within the margin; "
              f"not planted {of('not_planted').mean():.3f}")  # fmt: skip
    early = float(np.mean([one.settled_early for one in null]))
    yield row("nothing_settled_early", early, 0, 0, f"{len(null)} worlds without weaknesses")
    by_model = float(np.mean([one.false_by_model for one in null]))
    yield row("false_discovery_of_none", by_model, 0, 0.10,
              f"{len(null)} worlds without weaknesses, mean over models")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--share", type=float, default=SHARE, help="budget, of all calls")
    options = parser.parse_args()
    for line in lines(options.worlds, options.samples, options.share):
        plain = "{name:32} {value:<8} {note}".format_map(line)
        sys.stdout.write((json.dumps(line) if options.json else plain) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Measure whether the diagnosis finds what was planted (METHODS D4's table).

Run it with `python benchmarks/recovery.py --json`. Worlds are drawn without pictures or texts; each
row is a mean over seeds at one number of samples. The baseline is the figure that METHODS reports
for the same row; rows that show what a naive method does say so and have no bound.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.analysis.agreement.debias import debiased_nodes, inverse_confusion, ppi_mean
from atom.analysis.capability.diagnosis import CONFIRMED, Diagnosis
from atom.analysis.capability.fingerprints import identify, profiles
from atom.analysis.capability.weaknesses import diagnose
from atom.analysis.intervals import make_cells, node_stats
from atom.analysis.layout import tree_layout
from atom.analysis.score_table import answer_scores
from tests.planted import Planted, WorldSettings, confusion, plant

Floats = NDArray[np.float64]
SIZES = (150, 300, 600, 1200)
BOTTOM = 3


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the table.

    Args:
        name: what is measured.
        unit: of the value.
        published: METHODS' figure at 150, 300, 600 and 1200 samples.
        bounds: number of samples -> (least, most) that are required; none for a contrast.
    """

    name: str
    unit: str
    published: tuple[float, float, float, float]
    bounds: dict[int, tuple[float, float]]


def _everywhere(least: float, most: float) -> dict[int, tuple[float, float]]:
    return dict.fromkeys(SIZES, (least, most))


ROWS = (
    Row(name="overall_spearman", unit="correlation", published=(0.996, 1.0, 1.0, 1.0),
        bounds=_everywhere(0.97, 1)),
    Row(name="weak_leaf_power", unit="share", published=(0.346, 0.613, 0.826, 0.922),
        bounds={300: (0.55, 1), 600: (0.78, 1)}),
    Row(name="false_discovery", unit="share", published=(0.037, 0.033, 0.043, 0.071),
        bounds=_everywhere(0, 0.10)),
    Row(name="naive_false_discovery", unit="share", published=(0.746, 0.728, 0.720, 0.719),
        bounds={}),
    Row(name="bottom_3_raw", unit="share", published=(0.551, 0.627, 0.701, 0.722), bounds={}),
    Row(name="bottom_3_pooled", unit="share", published=(0.730, 0.838, 0.903, 0.941),
        bounds={300: (0.80, 1)}),
    Row(name="leaf_coverage", unit="share", published=(0.948, 0.942, 0.942, 0.940),
        bounds=_everywhere(0.93, 0.97)),
    Row(name="leaf_coverage_of_truth", unit="share", published=(0.929, 0.909, 0.879, 0.815),
        bounds={}),
    Row(name="profile_correlation", unit="correlation", published=(0.735, 0.844, 0.914, 0.951),
        bounds={300: (0.80, 1)}),
    Row(name="fingerprint_top_1", unit="share", published=(0.756, 0.972, 1.0, 1.0),
        bounds={300: (0.90, 1)}),
    Row(name="fingerprint_two_way", unit="share", published=(0.983, 0.999, 1.0, 1.0),
        bounds=_everywhere(0.97, 1)),
    Row(name="ppi_coverage", unit="share", published=(0.975, 0.950, 0.950, 0.950),
        bounds=_everywhere(0.92, 0.98)),
    Row(name="ppi_width", unit="ratio", published=(0.67, 0.54, 0.44, 0.40),
        bounds={300: (0, 0.65)}),
    Row(name="judge_only_coverage", unit="share", published=(math.nan,) * 4, bounds={}),
    Row(name="confusion_error", unit="share", published=(0.010,) * 4,
        bounds=_everywhere(0, 0.03)),
    Row(name="leaf_coverage_debiased", unit="share",
        published=(math.nan, math.nan, math.nan, 0.939),
        bounds={1200: (0.92, 0.97)}),
)  # fmt: skip
LABELLED = 60
CONTRASTS = {
    "naive_false_discovery": "contrast: leaves below the model's own average",
    "bottom_3_raw": "contrast: lowest raw leaf means",
    "leaf_coverage_of_truth": "contrast: the judge's error is not taken out",
    "judge_only_coverage": "contrast: an interval by the judge's scores alone",
}


def _hit(world: Planted, value: Floats) -> float:
    """Share of each model's three lowest leaves that are planted weaknesses."""
    lowest = np.argsort(np.where(np.isfinite(value), value, np.inf), axis=1)[:, :BOTTOM]
    return float(np.take_along_axis(world.weak, lowest, axis=1).mean())


def _false_share(found: NDArray[np.bool_], world: Planted) -> float:
    false = (found & ~world.weak).sum(axis=1) / np.maximum(found.sum(axis=1), 1)
    return float(false.mean())


def _coverage(seen: Diagnosis, leaves: NDArray[np.int64], truth: Floats) -> float:
    lo, hi, n = seen.lo[:, leaves], seen.hi[:, leaves], seen.n[:, leaves]
    x = (truth - 1) / 4
    return float(((lo <= x) & (x <= hi))[n > 0].mean())


def _profile_correlation(world: Planted, value: Floats) -> float:
    planted = world.deviation - world.deviation.mean(axis=0)
    known = np.isfinite(value)
    return float(
        np.mean(
            [
                np.corrcoef(planted[model][mask], value[model][mask])[0, 1]
                for model, mask in enumerate(known)
            ]
        )
    )


def _debiased(world: Planted, rng: np.random.Generator) -> dict[str, float]:
    """Label sixty samples as a person would, and take the judge's error out."""
    k = len(world.judged)
    model, atom = np.nonzero(world.judged > 0)
    judge = world.judged[model, atom].astype(np.int64)
    truth = world.true_score[model, atom].astype(np.int64)
    sample, leaf = world.sample[atom], world.leaf[atom]
    chosen = rng.choice(world.settings.samples, LABELLED, replace=False)
    labelled = np.isin(sample, chosen)
    human = np.where(labelled, truth, np.nan)
    expected = world.expected(by_judge=False)
    covered, alone, width = [], [], []
    for at in range(k):
        mine = model == at
        share = np.bincount(leaf[mine], minlength=expected.shape[1]) / mine.sum()
        goal = float(share @ expected[at])
        cluster = sample[mine].astype(np.int64)
        found = ppi_mean(judge[mine].astype(np.float64), human[mine], cluster)
        only = node_stats(make_cells((judge[mine] - 1) / 4, np.zeros_like(cluster), cluster, 1), 1)
        covered.append(found.lo <= goal <= found.hi)
        alone.append(only.lo[0] <= (goal - 1) / 4 <= only.hi[0])
        width.append((found.hi - found.lo) / (found.human_hi - found.human_lo))
    inverse = inverse_confusion(
        judge[labelled], truth[labelled], sample[labelled].astype(np.int64), rng=rng
    )
    node = model * expected.shape[1] + leaf
    nodes = debiased_nodes(judge, node, sample.astype(np.int64), expected.size, inverse)
    known = np.isfinite(nodes.mean)
    goals = expected.ravel()[known]
    return {
        "ppi_coverage": float(np.mean(covered)),
        "ppi_width": float(np.mean(width)),
        "judge_only_coverage": float(np.mean(alone)),
        "confusion_error": float(np.abs(inverse.confusion - confusion(world.settings)).mean()),
        "leaf_coverage_debiased": float(
            ((nodes.lo[known] <= goals) & (goals <= nodes.hi[known])).mean()
        ),
    }


def measure(samples: int, seed: int, splits: int) -> dict[str, float]:
    """Draw one world and measure every row."""
    world = plant(WorldSettings(samples=samples), np.random.default_rng([seed, samples]))
    table = world.table()
    layout = tree_layout(table)
    seen = diagnose(layout)
    leaves = layout.group_node
    scores = answer_scores(table)
    known = scores.scored > 0
    overall = np.bincount(table.model[known], weights=scores.value[known])
    overall = overall / np.bincount(table.model[known])
    mean = seen.mean[:, leaves]
    scored = table.score > 0
    of_model = table.model[table.response[scored]]
    average = np.bincount(of_model, weights=(table.score[scored] - 1) / 4) / np.bincount(of_model)
    found = seen.label[:, leaves] == CONFIRMED
    named = identify(layout, np.random.default_rng([seed, samples, 1]), splits=splits)
    return {
        "overall_spearman": float(spearmanr(overall, world.ability).statistic),
        "weak_leaf_power": float((found & world.weak).sum() / world.weak.sum()),
        "false_discovery": _false_share(found, world),
        "naive_false_discovery": _false_share(mean < average[:, None], world),
        "bottom_3_raw": _hit(world, mean),
        "bottom_3_pooled": _hit(world, seen.pooled[:, leaves]),
        "leaf_coverage": _coverage(seen, leaves, world.expected()),
        "leaf_coverage_of_truth": _coverage(seen, leaves, world.expected(by_judge=False)),
        "profile_correlation": _profile_correlation(world, profiles(layout).value),
        "fingerprint_top_1": named.top1,
        "fingerprint_two_way": named.two_way,
        **_debiased(world, np.random.default_rng([seed, samples, 2])),
    }


def lines(seeds: int, splits: int) -> Iterator[dict[str, object]]:
    """Measure the table, row by row and size by size."""
    for at, samples in enumerate(SIZES):
        found = [measure(samples, seed, splits) for seed in range(seeds)]
        for row in ROWS:
            values = np.array([each[row.name] for each in found])
            value, published = float(values.mean()), row.published[at]
            error = float(values.std(ddof=1) / np.sqrt(seeds)) if seeds > 1 else float("nan")
            note = f"{seeds} worlds, standard error {error:.3f}"
            if samples in row.bounds:
                least, most = row.bounds[samples]
                # Exact 1 may come out a rounding under 1.
                reached = least - 1e-9 <= value <= most + 1e-9
                required = f"at least {least:g}" if most == 1 else f"at most {most:g}"
                if least > 0 and most < 1:
                    required = f"{least:g} to {most:g}"
                note = f"{'' if reached else 'short: '}required {required}; {note}"
            elif row.name in CONTRASTS:
                note = f"{CONTRASTS[row.name]}; {note}"
            yield {
                "name": f"{row.name}_{samples}",
                "value": round(value, 4),
                "unit": row.unit,
                "baseline": None if math.isnan(published) else published,
                "ratio": None if math.isnan(published) else round(value / published, 3),
                "n": samples,
                "note": note,
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--seeds", type=int, default=40, help="worlds a size")
    parser.add_argument("--splits", type=int, default=10, help="random halves a world")
    options = parser.parse_args()
    for line in lines(options.seeds, options.splits):
        plain = "{name:32} {value:<8} (METHODS {baseline})  {note}".format_map(line)
        sys.stdout.write((json.dumps(line) if options.json else plain) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

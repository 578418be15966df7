"""Judge noise and calibration on planted judges; `judge_recovery.py` prints these rows.

Judges are drawn as METHODS D3 sets them down, with a kindness of their own that is partly the same
everywhere and partly each leaf's.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from atom.analysis.agreement.calibration import Truths, calibrate
from atom.analysis.agreement.judge_noise import Ratings, split_noise
from atom.analysis.compare.votes import position_bias
from atom.engine.bench.calibration import calibration_set, calibration_spec
from atom.engine.work import run
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.serving.judges import LENIENT_ROOT
from atom.records import Judge
from atom.store import Store
from atom.views.lab.calibrations import calibration_of
from tests.planted import (
    POPULARITY,
    Planted,
    WorldSettings,
    confusion,
    judge_scores,
    plant,
    planted_leaves,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
COMMON, OWN = 0.5, 0.3
"""Spread of a judge's kindness: the same everywhere, and each leaf's own."""
DIAGONAL = 0.6
VOTES = 400


@dataclass(frozen=True, kw_only=True)
class RatedWorld:
    """A world scored by several judges.

    Attributes:
        ratings: the scores.
        node: (model, leaf) of each checkpoint.
        nodes: how many there are.
        root: (model, root) of each checkpoint.
        roots: how many there are.
        expected: mean over all judges that could be drawn, by (model, leaf), on [0, 1].
        expected_root: the same by (model, root).
    """

    ratings: Ratings
    node: Ints
    nodes: int
    root: Ints
    roots: int
    expected: Floats
    expected_root: Floats


def plant_ratings(
    rng: Generator,
    *,
    samples: int,
    judges: int,
    repeats: int,
    common: float = 0.0,
    own: float = 0.0,
    diagonal: float = DIAGONAL,
    models: int = 4,
) -> RatedWorld:
    """Draw a world and have judges of planted kindness score it.

    A judge's near misses go up with share 0.5 + kindness / 2, kindness = common part + leaf's part;
    both have mean 0, so the mean over all judges is that of a judge of kindness 0.
    """
    world = plant(WorldSettings(samples=samples, models=models, weak=2), rng)
    settings = world.settings
    k, atoms = world.true_score.shape
    n_leaves = len(world.leaves)
    said = np.zeros((judges, repeats, k, atoms), dtype=np.int64)
    for judge in range(judges):
        kind = rng.normal(0, common)
        for leaf in range(n_leaves):
            lean = float(np.clip(kind + rng.normal(0, own), -1, 1))
            matrix = confusion(replace(settings, diagonal=diagonal, lenient=lean))
            at = np.flatnonzero(world.leaf == leaf)
            for repeat in range(repeats):
                said[judge, repeat][:, at] = judge_scores(world.true_score[:, at], matrix, rng)
    size = k * atoms
    model = np.arange(k)[:, None]
    expected, expected_root, root_of = _expected(world, diagonal)
    names = int(root_of.max()) + 1
    return RatedWorld(
        ratings=Ratings(
            item=np.tile(np.arange(size), judges * repeats),
            judge=np.repeat(np.arange(judges), repeats * size),
            repeat=np.tile(np.repeat(np.arange(repeats), size), judges),
            score=said.reshape(-1),
            cluster=np.tile(world.sample, k),
            judges=judges,
        ),
        node=(model * n_leaves + world.leaf).reshape(-1),
        nodes=k * n_leaves,
        root=(model * names + root_of[world.leaf]).reshape(-1),
        roots=k * names,
        expected=expected.reshape(-1),
        expected_root=expected_root.reshape(-1),
    )


def _expected(world: Planted, diagonal: float) -> tuple[Floats, Floats, Ints]:
    fair = replace(world, settings=replace(world.settings, diagonal=diagonal, lenient=0.0))
    leaf = (fair.expected() - 1) / 4
    names = [path[0] for path in world.leaves]
    roots = list(dict.fromkeys(names))
    root_of = np.array([roots.index(name) for name in names], dtype=np.int64)
    weight = np.array(POPULARITY, dtype=np.float64)
    inside = (root_of == np.arange(len(roots))[:, None]) * weight
    return leaf, leaf @ (inside / inside.sum(axis=1, keepdims=True)).T, root_of


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Shares of intervals that hold the mean over all judges; n = intervals.

    Attributes:
        with_noise: of the mean over the judges, their shift included.
        plain: the same without it.
        alone: of one judge's mean, the judges' shift included.
        alone_plain: of one judge's mean without it: METHODS B2.
        n: intervals.
    """

    with_noise: float
    plain: float
    alone: float
    alone_plain: float
    n: int


def shift_coverage(
    *,
    seed: int,
    worlds: int,
    judges: int,
    level: str = "leaf",
    samples: int = 300,
    repeats: int = 1,
    common: float = COMMON,
    own: float = OWN,
) -> Coverage:
    """Measure how often intervals hold what all judges together would say."""
    rng = np.random.default_rng(seed)
    hits, count = np.zeros(4), 0
    for _ in range(worlds):
        world = plant_ratings(rng, samples=samples, judges=judges, repeats=repeats, common=common,
                              own=own)  # fmt: skip
        node, nodes, truth = (
            (world.node, world.nodes, world.expected)
            if level == "leaf"
            else (world.root, world.roots, world.expected_root)
        )
        both = split_noise(world.ratings, node, nodes)
        one = split_noise(world.ratings, node, nodes, judge=0)
        enough = both.clusters >= 5
        count += int(enough.sum())
        ends = ((both.lo, both.hi), (both.plain_lo, both.plain_hi),
                (one.lo, one.hi), (one.plain_lo, one.plain_hi))  # fmt: skip
        hits += [float(((lo <= truth) & (truth <= hi))[enough].sum()) for lo, hi in ends]
    share = hits / max(count, 1)
    return Coverage(with_noise=float(share[0]), plain=float(share[1]), alone=float(share[2]),
                    alone_plain=float(share[3]), n=count)  # fmt: skip


# --- calibration ---------------------------------------------------------------------------------


def plant_truths(rng: Generator, *, probes: int, lenient: str | None = None) -> Truths:
    """Draw steps of probes and the noisy judge's scores; one root may be read a point too high."""
    leaves = planted_leaves()
    share = np.array(POPULARITY) / sum(POPULARITY)
    size = rng.integers(3, 6, probes)
    leaf = rng.choice(len(leaves), int(size.sum()), p=share)
    cluster = np.repeat(np.arange(probes), size)
    hard = rng.normal(0, 0.8, probes)[cluster]
    answers = 4
    truth = np.clip(np.round(3.6 + hard + rng.normal(0, 1, (answers, len(leaf)))), 1, 5)
    truth = truth.astype(np.int64).reshape(-1)
    said = judge_scores(truth, confusion(WorldSettings()), rng).astype(np.int64)
    leaf, cluster = np.tile(leaf, answers), np.tile(cluster, answers)
    kind = np.array([path[0] == lenient for path in leaves])[leaf]
    said[kind] = np.minimum(said[kind] + 1, 5)
    return Truths(truth=truth, said=said, leaf=leaf, cluster=cluster, leaves=leaves)


@dataclass(frozen=True, kw_only=True)
class Marked:
    """Shares of drawn calibrations.

    Attributes:
        found: whose lenient root is marked as lenient.
        wrong: with a mark on any other branch (without a lenient root: any mark).
        uneven: whose homogeneity test rejects at 5 %.
        n: calibrations.
    """

    found: float
    wrong: float
    uneven: float
    n: int


def marked(*, seed: int, worlds: int, probes: int, lenient: str | None) -> Marked:
    """Count how often branches are marked, rightly and wrongly."""
    rng = np.random.default_rng(seed)
    found = wrong = uneven = 0
    for _ in range(worlds):
        view = calibrate(plant_truths(rng, probes=probes, lenient=lenient))
        found += any(one.path == (lenient,) and one.flaw == "lenient" for one in view.flawed)
        wrong += any(one.path[0] != lenient for one in view.flawed)
        uneven += view.homogeneity.p <= 0.05
    return Marked(found=found / worlds, wrong=wrong / worlds, uneven=uneven / worlds, n=worlds)


JUDGES = ("probe-judge", "probe-judge-noisy", "probe-judge-lenient")


def calibrated_judges(
    answers: int, judges: tuple[str, ...] = JUDGES
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Have the built-in judges score fresh probes through the engine.

    Returns:
        Judge's name → the branches marked.
    """
    endpoints = {one.name: one for one in builtin_endpoints()}
    marks = {}
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store") as store:
        calibration_set(store, answers)
        for name in judges:
            asyncio.run(run(store, calibration_spec(store, name, answers), endpoints))
            judge = next(one for one in store.select(Judge) if one.name == name)
            found = calibration_of((store,), judge.id)
            assert found is not None
            marks[name] = tuple(one.path for one in found.view.flawed)
    return marks


# --- pulls ---------------------------------------------------------------------------------------


def position_coverage(beta: float, *, seed: int, trials: int, pairs: int = VOTES) -> float:
    """Return how often the interval of the pull of the place holds the planted one (METHODS B12).

    Only pairs whose order decides tell of it: `logit P(first) = q + beta`.
    """
    rng = np.random.default_rng(seed)
    hits = 0
    group = np.repeat(np.arange(pairs), 2)
    first = np.tile(np.array([0, 1], dtype=np.int8), pairs)
    for _ in range(trials):
        quality = np.repeat(rng.normal(0, 1, pairs), 2)
        shown = np.where(first == 0, quality, -quality) + beta
        won = rng.random(2 * pairs) < 1 / (1 + np.exp(-shown))
        vote = np.where(won, first, 1 - first).astype(np.int8)
        found = position_bias(vote, first, group, pairs)
        hits += found.lo <= beta <= found.hi
    return hits / trials


# --- rows ----------------------------------------------------------------------------------------


def lines(worlds: int = 40, answers: int = 240) -> Iterator[dict[str, object]]:
    """Measure everything here; a line a figure.

    Args:
        worlds: drawn worlds a row; calibrations are ten times as many.
        answers: answers that each built-in judge scores.
    """
    for level in ("leaf", "root"):
        for judges in (2, 3, 5):
            found = shift_coverage(seed=judges, worlds=worlds, judges=judges, level=level)
            note = (
                f"mean over {judges} judges; without their shift {found.plain:.3f}; one judge's "
                f"mean {found.alone:.3f}, by METHODS B2 alone {found.alone_plain:.3f}"
            )
            yield _line(f"judge_noise_coverage_{level}_{judges}_judges", found.with_noise, 0.95,
                        found.n, "required 0.93 to 0.985", note,
                        0.93 <= found.with_noise <= 0.985)  # fmt: skip
    null = marked(seed=1, worlds=10 * worlds, probes=60, lenient=None)
    yield _line("noisy_judge_false_marks", null.wrong, 0.0, null.n, "required at most 0.05",
                "60 probes, all branches read alike", null.wrong <= 0.05)  # fmt: skip
    yield _line("homogeneity_size", null.uneven, 0.05, null.n, "required at most 0.065",
                "share rejected at 5 % without any difference", null.uneven <= 0.065)  # fmt: skip
    planted = marked(seed=2, worlds=10 * worlds, probes=60, lenient="Knowledge")
    yield _line("lenient_root_found", planted.found, 1.0, planted.n, "required at least 0.80",
                f"one point too high on Knowledge; other branches marked {planted.wrong:.3f}",
                planted.found >= 0.80 and planted.wrong <= 0.10)  # fmt: skip
    yield _line("homogeneity_power", planted.uneven, 1.0, planted.n, "required at least 0.90",
                "the same judge", planted.uneven >= 0.90)  # fmt: skip
    marks = calibrated_judges(answers)
    roots = {path for path in marks["probe-judge-lenient"] if len(path) == 1}
    right = roots == {(LENIENT_ROOT,)} and not marks["probe-judge"]
    yield _line("lenient_judge_branch_marked", float(right), 1.0, answers, "required 1",
                "through the engine: its branch alone, none of the exact judge", right)  # fmt: skip
    yield _line("noisy_judge_branches_marked", float(len(marks["probe-judge-noisy"])), 0.0,
                answers, "required 0", "through the engine",
                not marks["probe-judge-noisy"])  # fmt: skip
    trials = 10 * worlds
    for beta, published in ((0.0, 0.930), (0.5, 0.953), (1.0, 0.937)):
        share = position_coverage(beta, seed=3, trials=trials)
        yield _line(f"position_bias_coverage_{beta:g}", share, published, trials,
                    "required 0.92 to 0.98", f"{VOTES} pairs in both orders",
                    0.92 <= share <= 0.98)  # fmt: skip


def _line(
    name: str, value: float, baseline: float, n: int, required: str, note: str, reached: bool
) -> dict[str, object]:
    return {
        "name": name,
        "value": round(value, 4),
        "unit": "branches" if name.endswith("branches_marked") else "share",
        "baseline": baseline,
        "ratio": round(value / baseline, 3) if baseline else None,
        "n": n,
        "note": f"{'' if reached else 'short: '}{required}; {note}",
    }

"""A world of scores whose truth is known: criteria, capabilities, weaknesses, a noisy judge.

No pictures and no text: what is drawn are the scores alone, as METHODS D2 and D3 set them down, so
that a diagnosis can be held against what was planted.

Reference: METHODS D2 (candidates), D3 (judge), D5 (variants).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.polynomial.hermite_e import hermegauss
from numpy.random import Generator
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from atom.analysis.score_table import UNSCORED, Facet, ScoreTable
from taxonomy import Path

SLOPE = 1.7
CUTS = np.array([-1.6, -0.7, 0.1, 0.9])
"""Latent score from which on a criterion is more likely than not to get 2, 3, 4, 5."""
TASK_SHARE = 0.6
MIN_CRITERIA, MAX_CRITERIA = 3, 5
TOTAL_WEIGHT = 10
POPULARITY = (6, 5, 5, 5, 4, 4, 4, 4, 5, 5, 5, 4, 4, 3, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2)

_TREE = {
    "Perception": (("Colour", "Shape"), ("Size", "Texture"), ("Count", "Left or right"),
                   ("Depth", "Digits")),
    "Understanding": (("Chart type", "Axis value"), ("Legend", "Table cell"),
                      ("Scene relation", "Unit label")),
    "Reasoning": (("Comparison", "Sum or difference"), ("Extremum", "Trend")),
    "Knowledge": (("Unit conversion", "Geometry fact"),),
    "Trustworthiness": (("Absent object", "Unreadable value"),),
    "Generation": (("Completeness", "Format"),),
}  # fmt: skip


def planted_leaves() -> tuple[Path, ...]:
    """Return the 24 leaves of METHODS D1 as four-layer paths."""
    return tuple(
        (root, f"{root} {number}", f"{root} {number} skills", name)
        for root, categories in _TREE.items()
        for number, names in enumerate(categories, 1)
        for name in names
    )


@dataclass(frozen=True, kw_only=True)
class WorldSettings:
    """What is planted; the defaults are METHODS D2 and D3.

    Attributes:
        samples: number of samples N.
        models: number of candidates K.
        ability_low: lowest ability; abilities are spread evenly.
        ability_high: highest ability.
        profile_sd: spread of a model's own ups and downs over leaves.
        weak: planted weak leaves a model.
        drop: how far ability falls on a weak leaf.
        shared_weak: leaves that are hard for every model, by the drop.
        leaf_sd: spread of leaf difficulty.
        sample_sd: spread of sample difficulty.
        criterion_sd: spread of criterion difficulty within a sample.
        answer_sd: spread of one answer's form on the day.
        diagonal: how often the judge says the true score.
        far: how often it is off by two or more.
        lenient: how much of its near misses goes up: a share of 0.5 + lenient / 2.
        missing: share of answers that are missing.
        unscored: share of checkpoints that the judge leaves open.
        per_picture: samples that share a picture, and with it their difficulty.
        flat_leaves: number of leaves of a flat tree, equally popular; None = D1's 24 leaves.
    """

    samples: int = 300
    models: int = 8
    ability_low: float = -0.2
    ability_high: float = 1.2
    profile_sd: float = 0.15
    weak: int = 3
    drop: float = 1.0
    shared_weak: tuple[int, ...] = ()
    leaf_sd: float = 0.4
    sample_sd: float = 0.6
    criterion_sd: float = 0.7
    answer_sd: float = 0.5
    diagonal: float = 0.80
    far: float = 0.02
    lenient: float = 0.2
    missing: float = 0.0
    unscored: float = 0.0
    per_picture: int = 1
    flat_leaves: int | None = None


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A drawn world: K models, N samples, A criteria, L leaves.

    Attributes:
        settings: what was asked for.
        leaves: leaf paths.
        ability: shape (K,).
        deviation: planted ups and downs, weaknesses included, shape (K, L).
        weak: whether a leaf is one of a model's planted weaknesses, shape (K, L).
        difficulty: of leaves, shape (L,).
        sample: sample of each criterion, shape (A,).
        leaf: leaf of each criterion, shape (A,).
        weight: of each criterion, shape (A,); a sample's add up to 10.
        position: place of each criterion in its sample's chain, shape (A,).
        true_score: 1..5, shape (K, A).
        judged: what the judge says: 1..5, 0 = unscored, shape (K, A).
        answered: shape (K, N).
        right: whether the final answer is right, shape (K, N).
    """

    settings: WorldSettings
    leaves: tuple[Path, ...]
    ability: Floats
    deviation: Floats
    weak: NDArray[np.bool_]
    difficulty: Floats
    sample: Ints
    leaf: Ints
    weight: Ints
    position: Ints
    true_score: NDArray[np.int8]
    judged: NDArray[np.int8]
    answered: NDArray[np.bool_]
    right: NDArray[np.bool_]

    @property
    def latent(self) -> Floats:
        """Ability less difficulty of each model on each leaf, shape (K, L)."""
        return self.ability[:, None] + self.deviation - self.difficulty

    def expected(self, *, by_judge: bool = True) -> Floats:
        """Return each model's true mean score on each leaf, in points 1..5, shape (K, L).

        Args:
            by_judge: on the judge's scale, else on the true one.
        """
        s = self.settings
        spread = float(np.sqrt(s.sample_sd**2 + s.criterion_sd**2 + s.answer_sd**2))
        nodes, mass = hermegauss(41)
        eta = self.latent[..., None] + spread * nodes
        at_least = (
            scipy.special.expit(SLOPE * (eta[..., None] - CUTS)) * (mass / mass.sum())[:, None]
        )
        upper = np.concatenate([np.ones((*self.latent.shape, 1)), at_least.sum(axis=2)], axis=2)
        share = upper - np.concatenate([upper[..., 1:], np.zeros((*self.latent.shape, 1))], axis=2)
        said = confusion(s) @ np.arange(1, 6) if by_judge else np.arange(1.0, 6.0)
        return np.asarray(share @ said)

    def table(self, *, by_judge: bool = True) -> ScoreTable:
        """Return the world as a study's score table.

        Args:
            by_judge: with the judge's scores, else with the true ones.
        """
        k, n = self.answered.shape
        model, sample = np.nonzero(np.ones((k, n), dtype=bool))
        given = self.answered[:, self.sample]
        row_model, row_criterion = np.nonzero(given)
        scores = self.judged if by_judge else self.true_score
        sample_of_row = self.sample[row_criterion]
        right = np.where(self.answered, self.right, np.nan).reshape(-1)
        return ScoreTable(
            response=(row_model * n + sample_of_row).astype(np.int32),
            criterion=row_criterion.astype(np.int32),
            leaf=self.leaf[row_criterion].astype(np.int16),
            weight=self.weight[row_criterion].astype(np.int8),
            position=self.position[row_criterion].astype(np.int8),
            score=scores[row_model, row_criterion].astype(np.int8),
            sample=sample.astype(np.int32),
            model=model.astype(np.int16),
            repeat=np.zeros(k * n, dtype=np.int16),
            outcome=right.astype(np.float32),
            answered=self.answered.reshape(-1),
            cluster=(np.arange(n) // self.settings.per_picture).astype(np.int32),
            quarantined=np.zeros(n, dtype=np.bool_),
            sample_ids=tuple(f"sample-{number}" for number in range(n)),
            model_ids=tuple(f"model-{number}" for number in range(k)),
            criterion_ids=tuple(f"criterion-{number}" for number in range(len(self.leaf))),
            response_ids=tuple(f"answer-{number}" for number in range(k * n)),
            leaves=self.leaves,
            facets={"parity": _parity(k, n)},
        )


def _parity(k: int, n: int) -> Facet:
    """Label answers by the parity of their sample's number, for tests of facets."""
    return Facet(
        values=("even", "odd"),
        response=np.arange(k * n, dtype=np.int32),
        value=np.tile(np.arange(n) % 2, k).astype(np.int32),
    )


def confusion(settings: WorldSettings) -> Floats:
    """Return P(judge says j | true score i), shape (5, 5).

    The diagonal holds `diagonal`, scores two or more away share `far`, and the rest goes to the
    neighbours, up with share 0.5 + lenient / 2; at 1 and 5 all of it goes to the one neighbour.

    Reference:
        METHODS D3.
    """
    gap = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    distant = (gap >= 2).astype(np.float64)
    matrix = settings.far * distant / distant.sum(axis=1, keepdims=True)
    matrix[np.arange(5), np.arange(5)] = settings.diagonal
    near = 1 - settings.diagonal - settings.far
    up = 0.5 + settings.lenient / 2
    for score in range(5):
        matrix[score, score + 1 if score < 4 else 3] += near * up
        matrix[score, score - 1 if score > 0 else 1] += near * (1 - up)
    return np.asarray(matrix)


def plant(settings: WorldSettings, rng: Generator) -> Planted:
    """Draw a world.

    `eta = theta_k + dev_kl - drop weak_kl - b_l - beta_i - d_it + u_ik`, then
    `P(s >= c) = sigma(1.7 (eta - kappa_c))`; samples have 3 to 5 criteria whose integer weights
    add up to 10; with probability 0.6 a criterion's leaf is one of its sample's two task leaves.

    Args:
        settings: what to plant.
        rng: source of randomness.

    Returns:
        The world.

    Reference:
        METHODS D2, D3.
    """
    k, n = settings.models, settings.samples
    leaves, popularity = _leaves(settings)
    n_leaves = len(leaves)
    ability = rng.permutation(np.linspace(settings.ability_low, settings.ability_high, k))
    deviation = rng.normal(0, settings.profile_sd, (k, n_leaves))
    deviation -= deviation.mean(axis=1, keepdims=True)
    weak = rng.random((k, n_leaves)).argsort(axis=1).argsort(axis=1) < settings.weak
    difficulty = rng.normal(0, settings.leaf_sd, n_leaves)
    difficulty[list(settings.shared_weak)] += settings.drop
    size = rng.integers(MIN_CRITERIA, MAX_CRITERIA + 1, n)
    sample = np.repeat(np.arange(n), size)
    position = np.arange(len(sample)) - np.repeat(np.cumsum(size) - size, size)
    task = rng.choice(n_leaves, (n, 2), p=popularity)
    from_task = task[sample, rng.integers(0, 2, len(sample))]
    popular = rng.choice(n_leaves, len(sample), p=popularity)
    leaf = np.where(rng.random(len(sample)) < TASK_SHARE, from_task, popular)
    world = Planted(
        settings=settings,
        leaves=leaves,
        ability=ability,
        deviation=deviation - settings.drop * weak,
        weak=weak,
        difficulty=difficulty,
        sample=sample,
        leaf=leaf,
        weight=_weights(size, rng),
        position=position,
        true_score=np.zeros((k, len(sample)), dtype=np.int8),
        judged=np.zeros((k, len(sample)), dtype=np.int8),
        answered=rng.random((k, n)) >= settings.missing,
        right=np.zeros((k, n), dtype=np.bool_),
    )
    return _score(world, rng)


def _leaves(settings: WorldSettings) -> tuple[tuple[Path, ...], Floats]:
    if settings.flat_leaves is None:
        return planted_leaves(), np.array(POPULARITY) / sum(POPULARITY)
    number = settings.flat_leaves
    leaves = tuple(("All", "All", "All", f"Skill {at:03d}") for at in range(number))
    return leaves, np.full(number, 1 / number)


def _weights(size: Ints, rng: Generator) -> Ints:
    """Draw 1 + Multinomial(10 - T) for each sample's T criteria."""
    start = np.cumsum(size) - size
    weight = np.ones(int(size.sum()), dtype=np.int64)
    for t in range(MIN_CRITERIA, MAX_CRITERIA + 1):
        of_size = np.flatnonzero(size == t)
        drawn = rng.multinomial(TOTAL_WEIGHT - t, np.full(t, 1 / t), size=len(of_size))
        weight[start[of_size][:, None] + np.arange(t)] += drawn
    return weight


def _score(world: Planted, rng: Generator) -> Planted:
    s = world.settings
    n, atoms = s.samples, len(world.leaf)
    pictures = -(-n // s.per_picture)
    hard_sample = rng.normal(0, s.sample_sd, pictures)[np.arange(n) // s.per_picture]
    eta = (
        world.latent[:, world.leaf]
        - hard_sample[world.sample]
        - rng.normal(0, s.criterion_sd, atoms)
        + rng.normal(0, s.answer_sd, (s.models, n))[:, world.sample]
    )
    at_least = scipy.special.expit(SLOPE * (eta[..., None] - CUTS))
    true = 1 + (rng.random((s.models, atoms, 1)) < at_least).sum(axis=2)
    said = judge_scores(true, confusion(s), rng)
    said[rng.random(said.shape) < s.unscored] = UNSCORED
    start = np.searchsorted(world.sample, np.arange(n))
    numerator = np.add.reduceat(true * world.weight, start, axis=1)
    chance = np.where(numerator >= 4 * TOTAL_WEIGHT, 0.93, 0.30)
    return replace(
        world,
        true_score=true.astype(np.int8),
        judged=said,
        right=rng.random((s.models, n)) < chance,
    )


def judge_scores(true: Ints, matrix: Floats, rng: Generator) -> NDArray[np.int8]:
    """Draw what a judge says for true scores; repeats are independent given the truth.

    Args:
        true: 1..5, any shape.
        matrix: P(says j | true i), shape (5, 5).
        rng: source of randomness.

    Returns:
        Scores 1..5 of the same shape.
    """
    upper = np.cumsum(matrix, axis=1)[:, :-1]
    drawn = rng.random((*np.shape(true), 1))
    return np.asarray(1 + (drawn > upper[np.asarray(true) - 1]).sum(axis=-1)).astype(np.int8)

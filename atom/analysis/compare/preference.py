"""Strength from preferences: Bradley-Terry, with Davidson's ties.

Reference: METHODS B11; Bradley and Terry 1952; Davidson 1970.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.random import Generator

from atom.analysis.intervals import Floats, Ints
from atom.analysis.sums import group_sums

FIRST, SECOND, TIE = 0, 1, 2
RIDGE = 0.05
"""Penalty on squared strengths where the games alone leave them open."""
_NEWTON_STEPS = 25
_NEWTON_ENOUGH = 1e-7


@dataclass(frozen=True, kw_only=True)
class Games:
    """Comparisons of two models, arrays of shape (n,).

    Attributes:
        first: model index.
        second: model index, another one.
        result: 0 = first preferred, 1 = second preferred, 2 = tie.
        cluster: sample (or picture set), non-negative.
        n_models: K.
    """

    first: Ints
    second: Ints
    result: Ints
    cluster: Ints
    n_models: int


@dataclass(frozen=True, kw_only=True)
class Strengths:
    """Fitted strengths of K models.

    Attributes:
        strength: log-strengths that add up to 0, shape (K,).
        tie: Davidson's nu: a tie between equals is as likely as `nu / (2 + nu)`; 0 without ties.
        wins: wins of row over column, shape (K, K).
        ties: ties of row and column, symmetric, shape (K, K).
        penalised: a model never lost or never won within its group, or groups never met, so that
            a small penalty had to hold the strengths in place.
    """

    strength: Floats
    tie: float
    wins: Floats
    ties: Floats
    penalised: bool

    def probability(self) -> Floats:
        """Return P(row is preferred to column, or shares the tie), shape (K, K)."""
        half = self.strength / 2
        a, b = np.exp(half[:, None] - half[None, :]), np.exp(half[None, :] - half[:, None])
        return np.asarray((a + self.tie / 2) / (a + b + self.tie))


@dataclass(frozen=True, kw_only=True)
class StrengthIntervals:
    """Bootstrap intervals of log-strengths, shape (K,) each.

    Attributes:
        lo: lower ends.
        draws: resamples of clusters.
    """

    lo: Floats
    hi: Floats
    draws: int


def tally(games: Games, weight: Floats | None = None) -> tuple[Floats, Floats]:
    """Count wins (row over column) and ties (symmetric), shape (K, K) each."""
    k = games.n_models
    weight = np.ones(len(games.result)) if weight is None else weight
    swapped = games.result == SECOND
    winner = np.where(swapped, games.second, games.first)
    loser = np.where(swapped, games.first, games.second)
    tied = games.result == TIE
    key = winner * k + loser
    wins = group_sums(key[~tied], weight[~tied], k * k).reshape(k, k)
    ties = group_sums(key[tied], weight[tied], k * k).reshape(k, k)
    return wins, ties + ties.T


def davidson(wins: Floats, ties: Floats) -> Strengths:
    """Fit Bradley-Terry strengths with Davidson's tie parameter by maximum likelihood.

    `P(i > j) = e^li / D`, `P(tie) = nu e^((li + lj)/2) / D`, D the sum of all three; the
    log-likelihood is concave in (l, ln nu). Without ties it is plain Bradley-Terry.

    Args:
        wins: wins of row over column, shape (K, K).
        ties: ties, symmetric, shape (K, K).

    Returns:
        The fit. Strengths are held by a small penalty where the games leave them open.

    Reference:
        METHODS B11.
    """
    k = len(wins)
    open_ended = k > 1 and not _comparable(wins, ties)
    i, j = np.triu_indices(k, 1)
    counts = np.stack([wins[i, j], wins[j, i], ties[i, j]])
    any_ties = bool(counts[2].sum() > 0)
    ridge = RIDGE if open_ended else 0.0
    # Without games at all nothing pulls; with them, scale so that the tolerance means the same.
    scale = max(float(counts.sum()), 1.0)

    def loss(free: Floats) -> tuple[float, Floats]:
        strength, log_nu = free[:k], free[k]
        utility = np.stack([strength[i], strength[j], log_nu + (strength[i] + strength[j]) / 2])
        if not any_ties:
            utility[2] = -np.inf
        normal = scipy.special.logsumexp(utility, axis=0)
        games = counts.sum(axis=0)
        chance = np.exp(utility - normal)
        fit = float((counts * np.where(counts > 0, utility, 0)).sum() - (games * normal).sum())
        pull = counts - games * chance
        gradient = np.zeros(k + 1)
        np.add.at(gradient, i, pull[0] + pull[2] / 2)
        np.add.at(gradient, j, pull[1] + pull[2] / 2)
        gradient[k] = pull[2].sum()
        fit -= ridge * float((free**2).sum())
        gradient -= 2 * ridge * free
        return -fit / scale, -gradient / scale

    found = scipy.optimize.minimize(
        loss,
        np.zeros(k + 1),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-10},
    ).x
    strength = found[:k] - (found[:k].mean() if k else 0.0)
    return Strengths(
        strength=strength,
        tie=float(np.exp(found[k])) if any_ties else 0.0,
        wins=wins,
        ties=ties,
        penalised=open_ended,
    )


def strength_intervals(
    games: Games, rng: Generator, *, draws: int = 200, confidence: float = 0.95
) -> StrengthIntervals:
    """Bound log-strengths by resampling clusters.

    Args:
        draws: resamples.
        confidence: coverage of the percentile interval.

    Returns:
        The intervals; NaN without games.

    Reference:
        METHODS B11, B3.
    """
    if not len(games.result):
        empty = np.full(games.n_models, np.nan)
        return StrengthIntervals(lo=empty, hi=empty, draws=draws)
    _, code = np.unique(games.cluster, return_inverse=True)
    groups = int(code.max()) + 1
    whole = davidson(*tally(games))
    drawn = np.empty((draws, games.n_models))
    for number in range(draws):
        weight = np.bincount(rng.integers(0, groups, groups), minlength=groups)
        wins, ties = tally(games, weight[code].astype(np.float64))
        near = _newton(wins, ties, whole)
        drawn[number] = davidson(wins, ties).strength if near is None else near
    tail = (1 - confidence) / 2
    lo, hi = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return StrengthIntervals(lo=lo, hi=hi, draws=draws)


def _newton(wins: Floats, ties: Floats, start: Strengths) -> Floats | None:
    """Fit log-strengths from a near fit, much faster than from nothing.

    Returns:
        The strengths, as `davidson` finds them; None where the steps don't settle.
    """
    k = len(wins)
    ridge = RIDGE if k > 1 and not _comparable(wins, ties) else 0.0
    outcomes = 3 if ties.any() else 2
    i, j = np.nonzero(np.triu(wins + wins.T + ties, 1))
    counts = np.stack([wins[i, j], wins[j, i], ties[i, j]], axis=1)[:, :outcomes]
    games = counts.sum(axis=1)
    # Utilities are linear in (strengths, ln nu): one row of features an outcome of a pair.
    features = np.zeros((len(i), 3, k + 1))
    at = np.arange(len(i))
    features[at, 0, i] = features[at, 1, j] = features[at, 2, k] = 1
    features[at, 2, i] = features[at, 2, j] = 0.5
    features = features[:, :outcomes]
    flat = features.reshape(-1, k + 1)
    # Strengths are known up to a shift: pin their mean, and without ties ln nu as well.
    pin = 2 * ridge * np.eye(k + 1)
    pin[:k, :k] += 0 if ridge else 1
    pin[k, k] += 0 if ridge or outcomes > 2 else 1
    free = np.append(start.strength, np.log(start.tie) if start.tie > 0 else 0.0)
    for _ in range(_NEWTON_STEPS):
        utility = features @ free
        chance = np.exp(utility - scipy.special.logsumexp(utility, axis=1, keepdims=True))
        mean = np.einsum("po,pof->pf", chance, features)
        pull = (counts - games[:, None] * chance).reshape(-1) @ flat
        weight = (games[:, None] * chance).reshape(-1)
        curve = (flat * weight[:, None]).T @ flat - (mean * games[:, None]).T @ mean
        try:
            step = np.linalg.solve(curve + pin, pull - 2 * ridge * free)
        except np.linalg.LinAlgError:
            return None
        size = float(np.abs(step).max())
        free = free + step * min(1.0, 1.0 / max(size, 1e-12))
        if size < _NEWTON_ENOUGH:
            return np.asarray(free[:k] - free[:k].mean())
    return None


def _comparable(wins: Floats, ties: Floats) -> bool:
    """Say whether every model beat or tied every other, directly or through others."""
    graph = scipy.sparse.csr_array((wins + ties > 0).astype(np.int8))
    count, _ = scipy.sparse.csgraph.connected_components(graph, directed=True, connection="strong")
    return bool(count == 1)

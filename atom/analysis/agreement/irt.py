"""Ability and difficulty apart: for models that answered different samples.

Reference: METHODS B8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from atom.analysis.intervals import Floats, Ints
from atom.analysis.sums import group_sums

STEPS = 4
"""Steps of a score above the lowest: s - 1 in 0..4."""


@dataclass(frozen=True, kw_only=True)
class TwoWay:
    """Models and items on one scale.

    Attributes:
        ability: shape (K,); higher is better; NaN for a model without values. On [0, 1] for
            `additive`, in logits (centred) for `logit`.
        difficulty: shape (I,); higher is harder; NaN for an item without values.
        sweeps: alternations used; 0 for the closed form.
        converged: whether the last sweep changed next to nothing.
    """

    ability: Floats
    difficulty: Floats
    sweeps: int
    converged: bool


def additive(value: Floats, model: Ints, item: Ints, n_models: int, n_items: int) -> TwoWay:
    """Fit `y = ability_k - difficulty_i` by least squares, exactly.

    Items are eliminated: `(diag(n_k) - N' diag(1/n_i) N) a = sum_k y - N' (item means)`. Groups of
    models that share no items each have a level of their own, which is set by their raw mean.

    Args:
        value: shape (n,), any linear scale.
        model: shape (n,), in 0..n_models-1.
        item: shape (n,), in 0..n_items-1.
        n_models: K.
        n_items: I.

    Returns:
        Abilities with the mean of the values over the rows, and difficulties of mean 0.

    Reference:
        METHODS B8.
    """
    shape = n_items, n_models
    ones = np.ones(len(value))
    seen = scipy.sparse.csr_array((ones, (item, model)), shape=shape)
    item_n = np.bincount(item, minlength=n_items).astype(np.float64)
    model_n = np.bincount(model, minlength=n_models).astype(np.float64)
    inverse = np.divide(1.0, item_n, out=np.zeros(n_items), where=item_n > 0)
    grand = float(value.mean()) if len(value) else 0.0
    y = value - grand
    item_mean = group_sums(item, y, n_items) * inverse
    scaled = seen.multiply(inverse[:, None]).tocsr()
    gram = np.diag(model_n) - (seen.T @ scaled).toarray()
    moment = group_sums(model, y, n_models) - seen.T @ item_mean
    ability = np.linalg.pinv(gram, rcond=1e-10, hermitian=True) @ moment
    ability -= (model_n @ ability) / max(model_n.sum(), 1.0)
    difficulty = (seen @ ability) * inverse - item_mean
    weighted = float(item_n @ difficulty) / max(item_n.sum(), 1.0)
    return TwoWay(
        ability=np.where(model_n > 0, ability + grand - weighted, np.nan),
        difficulty=np.where(item_n > 0, difficulty - weighted, np.nan),
        sweeps=0,
        converged=True,
    )


def logit(
    value: Floats,
    model: Ints,
    item: Ints,
    n_models: int,
    n_items: int,
    *,
    prior_sd: float = 2.0,
    sweeps: int = 30,
) -> TwoWay:
    """Fit `E[s - 1] = 4 sigma(theta_k - b_i)` by penalised, alternating Newton steps.

    A Rasch-type model of four binomial steps a score, with normal priors on both sides, so that
    constant scores stay finite.

    Args:
        value: scores on [0, 1], shape (n,).
        model: shape (n,).
        item: shape (n,).
        n_models: K.
        n_items: I.
        prior_sd: spread of the priors, in logits.
        sweeps: most alternations; O(n) each.

    Returns:
        Abilities and difficulties in logits; difficulties have a mean of about 0.

    Reference:
        METHODS B8.
    """
    theta, b = np.zeros(n_models), np.zeros(n_items)
    precision = 1 / prior_sd**2
    change, used = np.inf, 0
    while used < sweeps and change > 1e-6:
        used += 1
        before = theta.copy()
        for index, size, free, sign in ((item, n_items, b, -1.0), (model, n_models, theta, 1.0)):
            p = scipy.special.expit(theta[model] - b[item])
            pull = group_sums(index, STEPS * (value - p), size)
            bend = group_sums(index, STEPS * p * (1 - p), size)
            step = (sign * pull - precision * free) / (bend + precision)
            free += np.clip(step, -2.0, 2.0)
        centre = float(b.mean()) if n_items else 0.0
        b -= centre
        theta -= centre
        change = float(np.abs(theta - before).max(initial=0.0))
    seen_model = np.bincount(model, minlength=n_models) > 0
    seen_item = np.bincount(item, minlength=n_items) > 0
    return TwoWay(
        ability=np.where(seen_model, theta, np.nan),
        difficulty=np.where(seen_item, b, np.nan),
        sweeps=used,
        converged=bool(change <= 1e-6),
    )

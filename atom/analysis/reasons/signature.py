"""Failure signatures: which groups of reasons make up a model's failures, beside the others'.

A model's share of a group is taken among its own failed checkpoints, so that a good model and a bad
one can have the same signature. Failures of a sample (and of samples that share pictures) rise and
fall together, so clusters are counted, not failures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from atom.analysis.intervals import MIN_CLUSTERS, Floats, Ints
from atom.analysis.multiplicity import adjust


@dataclass(frozen=True, kw_only=True)
class Signatures:
    """Shares of K models in G groups, arrays of shape (K, G) but for `n` and `clusters`.

    Attributes:
        n: failures of each model, shape (K,).
        clusters: distinct clusters that a model failed in, shape (K,).
        count: failures of each model in each group.
        share: `count / n`; NaN for a model without failures.
        others: mean share of the other models that have failures; NaN without any.
        gap: `share - others`.
        lo: lower end of the gap's interval.
        adjusted: p-value after control for all models and groups together (Benjamini-Hochberg);
            NaN where nothing was tested: under five clusters.
    """

    n: Ints
    clusters: Ints
    count: Ints
    share: Floats
    others: Floats
    gap: Floats
    lo: Floats
    hi: Floats
    adjusted: Floats


def signatures(
    model: Ints,
    code: Ints,
    cluster: Ints,
    n_models: int,
    *,
    groups: int | None = None,
    confidence: float = 0.95,
) -> Signatures:
    """Compare each model's failures with the other models', group by group.

    `d = p_m - mean of p_j over the others`; with a cluster's influence on a share
    `u_c = (x_c - p n_c) / n` the gap's is `psi_c = u_mc - mean of u_jc`, and
    `V = C/(C-1) sum psi_c^2` over all C clusters. A share of 0 or 1 has no spread of its own, so V
    is never less than independent failures at the pooled share q would give:
    `q (1 - q) (1 / n_m + sum_j 1 / n_j / J^2)`. Student's t with the model's clusters less one.

    Args:
        model: whose failure it is, shape (N,).
        code: its group, shape (N,); -1 = in none: a failure all the same.
        cluster: its cluster, shape (N,).
        n_models: K.
        groups: G, where a group may have no failure here; else the largest code and one.
        confidence: coverage aimed at.
    """
    groups = int(code.max(initial=-1)) + 1 if groups is None else groups
    _, of = np.unique(cluster, return_inverse=True)
    c = int(of.max(initial=-1)) + 1
    size = np.zeros((n_models, c))
    np.add.at(size, (model, of), 1)
    n = size.sum(axis=1)
    there = n > 0
    hits = np.zeros((groups, n_models, c))
    inside = code >= 0
    np.add.at(hits, (code[inside], model[inside], of[inside]), 1)
    count = hits.sum(axis=2).T
    with np.errstate(divide="ignore", invalid="ignore"):
        share = count / n[:, None]
        others = _mean_of_others(share, there)
        influence = (hits.transpose(1, 0, 2) - share[:, :, None] * size[:, None, :]) / n[
            :, None, None
        ]
        psi = influence - _mean_of_others(influence, there)
        variance = (psi**2).sum(axis=2) * c / max(c - 1, 1)
        pooled = count.sum(axis=0) / n.sum()
        rest = there.sum() - there
        floor = 1 / n + (np.where(there, 1 / n, 0).sum() - np.where(there, 1 / n, 0)) / rest**2
        variance = np.maximum(variance, pooled * (1 - pooled) * floor[:, None])
        gap = share - others
        se = np.sqrt(variance)
        clusters = (size > 0).sum(axis=1)
        df = np.maximum(clusters - 1, 1).astype(np.float64)[:, None]
        half = scipy.special.stdtrit(df, 0.5 + confidence / 2) * se
        p = 2 * scipy.special.stdtr(df, -np.abs(gap) / se)
    p = np.where((clusters >= MIN_CLUSTERS)[:, None] & (rest > 0)[:, None], p, np.nan)
    adjusted = adjust(p.ravel(), np.zeros(p.size, dtype=np.int64)).reshape(p.shape)
    return Signatures(
        n=n.astype(np.int64),
        clusters=clusters.astype(np.int64),
        count=count.astype(np.int64),
        share=share,
        others=others,
        gap=gap,
        lo=np.maximum(gap - half, -1),
        hi=np.minimum(gap + half, 1),
        adjusted=adjusted,
    )


def _mean_of_others(value: Floats, there: np.ndarray) -> Floats:
    """Return, for each model, the mean of the other models that have failures."""
    held = np.where(there.reshape(-1, *[1] * (value.ndim - 1)), value, 0)
    rest = (there.sum() - there).reshape(-1, *[1] * (value.ndim - 1))
    return np.asarray((held.sum(axis=0) - held) / rest)

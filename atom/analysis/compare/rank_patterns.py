"""Ranks sample by sample: who comes first how often, and who shares the first place.

Reference: ATOM Figure 13; METHODS A10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atom.analysis.intervals import Floats, Ints, wilson
from atom.analysis.layout import Mask
from atom.analysis.score_table import AnswerScores, ScoreTable

_CHUNK = 20_000
MAX_MODELS = 62
"""A pattern is kept as bits of one integer."""


@dataclass(frozen=True, kw_only=True)
class TopPattern:
    """The models that share the first place.

    Attributes:
        models: their indices, ascending.
        samples: samples with this pattern.
        share: of all samples compared.
        lo: lower end of its 95 % Wilson interval.
    """

    models: tuple[int, ...]
    samples: int
    share: float
    lo: float
    hi: float


@dataclass(frozen=True, kw_only=True)
class RankPatterns:
    """Ranks of K models over the samples that all of them have a score for.

    Attributes:
        counts: samples by model and competition rank, shape (K, K); column 0 may add up to more
            than the samples, because of ties.
        samples: samples compared.
        left_out: samples with a score of some, but not all, models.
        patterns: who is first, most frequent pattern first.
    """

    counts: Ints
    samples: int
    left_out: int
    patterns: tuple[TopPattern, ...]

    @property
    def shares(self) -> Floats:
        """Counts over samples compared; NaN without samples."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.counts / self.samples)


def rank_patterns(
    table: ScoreTable, scores: AnswerScores, answers: Mask | None = None
) -> RankPatterns:
    """Rank models on each sample by exact weighted scores, ties kept.

    Competition rank `1 + #{j: S_j > S_k}`; scores are compared as fractions of integers, never as
    floats. Only first answers (repeat 0) count.

    Args:
        answers: bool, shape (R,): answers that count; all when None.

    Raises:
        ValueError: there are more than 62 models.

    Reference:
        METHODS A10, 0 (integer numerators).
    """
    k, n = table.n_models, len(table.sample_ids)
    if k > MAX_MODELS:
        raise ValueError(f"{k} models; patterns are kept for at most {MAX_MODELS}: select some")
    good = (scores.scored > 0) & (table.repeat == 0)
    if answers is not None:
        good &= answers
    numerator, weight = np.zeros((n, k), dtype=np.int64), np.zeros((n, k), dtype=np.int64)
    at = table.sample[good], table.model[good]
    numerator[at], weight[at] = scores.exact[good], scores.exact_weight[good]
    known = (weight > 0).sum(axis=1)
    full = np.flatnonzero(known == k) if k else np.zeros(0, dtype=np.int64)
    counts, codes = np.zeros((k, k), dtype=np.int64), []
    for start in range(0, len(full), _CHUNK):
        part = full[start : start + _CHUNK]
        s, w = numerator[part], weight[part]
        # S_j > S_k  <=>  n_j w_k > n_k w_j.
        better = s[:, :, None] * w[:, None, :] > s[:, None, :] * w[:, :, None]
        rank = better.sum(axis=1)
        key = np.arange(k) * k + rank
        counts += np.bincount(key.reshape(-1), minlength=k * k).reshape(k, k)
        codes.append(((rank == 0) * (1 << np.arange(k, dtype=np.int64))).sum(axis=1))
    return RankPatterns(
        counts=counts,
        samples=len(full),
        left_out=int(((known > 0) & (known < k)).sum()),
        patterns=_patterns(codes, k, len(full)),
    )


def _patterns(codes: list[Ints], k: int, samples: int) -> tuple[TopPattern, ...]:
    if not codes:
        return ()
    code, count = np.unique(np.concatenate(codes), return_counts=True)
    found = []
    for at in np.lexsort((code, -count)):
        lo, hi = wilson(int(count[at]), samples)
        found.append(
            TopPattern(
                models=tuple(model for model in range(k) if int(code[at]) >> model & 1),
                samples=int(count[at]),
                share=int(count[at]) / samples,
                lo=lo,
                hi=hi,
            )
        )
    return tuple(found)

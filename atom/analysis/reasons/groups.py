"""Groups of reasons: what goes wrong in one way, found by their words or by their embeddings.

Reasons become TF-IDF vectors of one and two word stems, or an embedding model's vectors; these are
brought down to 25 dimensions and to length one (latent semantic analysis), and k-means splits them.
How many groups there are is chosen by a rule that may say none:

1. For every number from 2 to 12: the mean silhouette (cosine), the same of reasons whose words (or
   values in each dimension of their embeddings) were dealt out anew, and stability, the adjusted
   Rand index between what two random halves of the reasons make of all of them.
2. A number is possible where the silhouette stands at least .05 above chance and stability is at
   least .3.
3. Of the possible numbers the smallest within .05 of the best silhouette is taken. Without a
   possible one the reasons don't fall into groups.

Reference: Rousseeuw 1987 (silhouette); Hubert and Arabie 1985 (adjusted Rand); Ben-Hur et al. 2002
and Lange et al. 2004 (number of groups by stability).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from atom.analysis.intervals import Floats, Ints
from atom.analysis.reasons.words import TERM, stems

SEED: Final = 7
FEWEST: Final = 2
MOST: Final = 12
"""The least and the most groups that are tried."""
LEAST_REASONS: Final = 30
"""Under this many reasons nothing is grouped."""
LEAST_STABLE: Final = 0.3
LEAST_ABOVE: Final = 0.05
SLACK: Final = 0.05
_TRIED: Final = 1200
"""Different reasons that the number of groups is chosen on."""
_FITTED: Final = 6000
"""Different reasons that the groups are made from; all are then put into them."""
_SEEN: Final = 800
"""Reasons that a silhouette is computed from."""
_HALVES: Final = 2
_DIMENSIONS: Final = 25
_MOST_TERMS: Final = 4000

Tell = Callable[[str], None]
UngroupedCause = Literal["few", "silent", "loose"]
"""Why there are no groups: too few reasons; reasons that say nothing of the error; reasons that
hang together no more than their words do by chance."""


@dataclass(frozen=True, kw_only=True)
class GroupCountTrial:
    """A number of groups that was tried.

    Attributes:
        k: how many groups.
        silhouette: mean silhouette by cosine, -1 to 1.
        chance: the same of reasons whose words were dealt out anew.
        stability: adjusted Rand index between two halves' groups, mean over splits.
    """

    k: int
    silhouette: float
    chance: float
    stability: float

    @property
    def possible(self) -> bool:
        """Whether the rule lets it be chosen."""
        return self.stability >= LEAST_STABLE and self.silhouette >= self.chance + LEAST_ABOVE


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Reasons in groups.

    Attributes:
        code: each reason's group, 0-based, the largest first, shape (N,); -1 = in none: it says
            nothing of the error.
        tried: what the number of groups was chosen from.
        none: why there are no groups; None where there are.
    """

    code: Ints
    tried: tuple[GroupCountTrial, ...] = ()
    none: UngroupedCause | None = None

    @property
    def k(self) -> int:
        """How many groups there are."""
        return int(self.code.max(initial=-1)) + 1

    @property
    def chosen(self) -> GroupCountTrial | None:
        """The number that was taken, and what speaks for it."""
        return next((one for one in self.tried if one.k == self.k), None)


@dataclass(frozen=True, kw_only=True)
class _Points:
    """Different reasons as points of length one.

    Attributes:
        at: the points, shape (D, dimensions).
        counts: how many reasons each stands for, shape (D,).
        of: the point of each reason that says anything, shape (M,).
        dealt: points of reasons whose words were dealt out anew.
    """

    at: Floats
    counts: Floats
    of: Ints
    dealt: Floats


def group_reasons(
    texts: Sequence[str],
    *,
    vectors: Mapping[str, Floats] | None = None,
    tell: Tell | None = None,
    seed: int = SEED,
) -> Groups:
    """Put reasons into groups; the same reasons always give the same groups.

    Args:
        texts: what each reason says of the error (`words.less_subject`), shape (N,).
        vectors: each different reason's embedding, shape (D,), that stands in for its words; a
            reason without one is in no group.
        seed: of all chance in it.
    """
    from threadpoolctl import threadpool_limits

    tell = tell or (lambda words: None)
    nothing = np.full(len(texts), -1, dtype=np.int64)
    if len(texts) < LEAST_REASONS:
        return Groups(code=nothing, none="few")
    tell("Reading the reasons")
    distinct, code = np.unique(np.array(texts, dtype=np.str_), return_inverse=True)
    said = [str(text) for text in distinct]
    speaks = np.array(
        [says(text) and (vectors is None or text in vectors) for text in said], dtype=bool
    )[code]
    if speaks.mean() < 0.5:
        return Groups(code=nothing, none="silent")
    rows = np.flatnonzero(speaks)
    # One thread: for arrays of this size several wait for each other more than they work.
    with threadpool_limits(1):
        numbers, of = np.unique(code[rows], return_inverse=True)
        there = [said[at] for at in numbers]
        points = _by_words(there, of, seed) if vectors is None else (
            _by_vectors(np.array([vectors[text] for text in there], dtype=np.float64), of, seed)
        )  # fmt: skip
        tried = _try_numbers(points, seed, tell)
        possible = [one for one in tried if one.possible]
        if not possible:
            return Groups(code=nothing, tried=tried, none="loose")
        best = max(one.silhouette for one in possible)
        k = next(one.k for one in possible if one.silhouette >= best - SLACK)
        tell(f"Making {k} groups")
        labels = _fitted(points, k, seed)[points.of]
    order = np.argsort(-np.bincount(labels, minlength=k), kind="stable")
    place = np.empty(k, dtype=np.int64)
    place[order] = np.arange(k)
    nothing[rows] = place[labels]
    return Groups(code=nothing, tried=tried)


def says(text: str) -> bool:
    """Say whether a reason says anything of the error."""
    return bool(stems(text))


def _by_words(said: Sequence[str], of: Ints, seed: int) -> _Points:
    docs = [stems(text) for text in said]
    counts = np.bincount(of).astype(np.float64)
    dealt = _dealt(docs, counts, seed)
    return _Points(at=_placed(docs, counts, seed), counts=counts, of=of,
                   dealt=_placed(dealt, np.ones(len(dealt)), seed))  # fmt: skip


def _by_vectors(vectors: Floats, of: Ints, seed: int) -> _Points:
    """Place reasons by their vectors; by chance each dimension's values are dealt out anew."""
    counts = np.bincount(of).astype(np.float64)
    at = _brought_down(_unit(vectors), counts, seed)
    rng = np.random.default_rng(seed)
    drawn = rng.choice(len(at), min(int(counts.sum()), _TRIED), p=counts / counts.sum())
    dealt = np.column_stack([rng.permutation(column) for column in at[drawn].T])
    return _Points(at=_unit(at), counts=counts, of=of, dealt=_unit(dealt))


def _brought_down(vectors: Floats, counts: Floats, seed: int) -> Floats:
    """Take the mean off vectors and keep the 25 directions in which reasons differ most."""
    from sklearn.decomposition import TruncatedSVD

    apart = vectors - np.average(vectors, axis=0, weights=counts)
    size = min(_DIMENSIONS, apart.shape[1] - 1, len(apart) - 1)
    if size < 1:
        return np.asarray(apart)
    svd = TruncatedSVD(size, random_state=seed).fit(apart * np.sqrt(counts)[:, None])
    return np.asarray(svd.transform(apart))


def _try_numbers(points: _Points, seed: int, tell: Tell) -> tuple[GroupCountTrial, ...]:
    """Try every number of groups on a part of the reasons."""
    rng = np.random.default_rng(seed)
    at, counts = _part(points.at, points.counts, _TRIED, rng)
    chance = points.dealt[rng.permutation(len(points.dealt))[:_SEEN]]
    seen = rng.choice(len(at), min(int(counts.sum()), _SEEN), p=counts / counts.sum())
    near, near_chance = _distances(at[seen]), _distances(chance)
    most = min(MOST, len(np.unique(at.round(6), axis=0)), len(chance) - 1)
    tried = []
    for k in range(FEWEST, most + 1):
        tell(f"Trying {k} groups")
        labels = _k_means(at, counts, k, seed, 2).labels_
        by_chance = _k_means(chance, np.ones(len(chance)), k, seed, 1).labels_
        tried.append(
            GroupCountTrial(
                k=k,
                silhouette=_silhouette(near, labels[seen]),
                chance=max(_silhouette(near_chance, by_chance), 0.0),
                stability=_stability(at, counts, k, rng),
            )
        )
    return tuple(tried)


def _stability(at: Floats, counts: Floats, k: int, rng: np.random.Generator) -> float:
    """Return how alike halves of the reasons group all of them: adjusted Rand, mean over splits."""
    from sklearn.metrics import adjusted_rand_score

    often = np.minimum(counts, 50).astype(np.int64)
    found = []
    for _ in range(_HALVES):
        first = rng.binomial(counts.astype(np.int64), 0.5).astype(np.float64)
        sides = []
        for half in (first, counts - first):
            there = half > 0
            if np.count_nonzero(there) < k:
                return 0.0
            model = _k_means(at[there], half[there], k, int(rng.integers(1 << 30)), 1)
            sides.append(np.repeat(model.predict(at), often))
        found.append(adjusted_rand_score(*sides))
    return float(np.mean(found))


def _k_means(at: Floats, counts: Floats, k: int, seed: int, starts: int) -> Any:
    from sklearn.cluster import KMeans

    model = KMeans(k, n_init=starts, random_state=seed, max_iter=40)
    return model.fit(at, sample_weight=counts)


def _fitted(points: _Points, k: int, seed: int) -> Ints:
    """Return each different reason's group."""
    at, counts = _part(points.at, points.counts, _FITTED, np.random.default_rng(seed))
    return np.asarray(_k_means(at, counts, k, seed, 4).predict(points.at), dtype=np.int64)


def _part(at: Floats, counts: Floats, most: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw at most so many different reasons, each in proportion to how often it occurs."""
    if len(at) <= most:
        return at, counts
    drawn = np.sort(rng.choice(len(at), most, replace=False, p=counts / counts.sum()))
    return at[drawn], counts[drawn]


def _silhouette(near: Floats, labels: Ints) -> float:
    from sklearn.metrics import silhouette_score

    if not 1 < len(np.unique(labels)) < len(labels):
        return -1.0
    return float(silhouette_score(near, labels, metric="precomputed"))


def _distances(at: Floats) -> Floats:
    """Return cosine distances between points of length one."""
    near = np.clip(1 - at @ at.T, 0, 2)
    np.fill_diagonal(near, 0)
    return near


def _placed(docs: Sequence[str], counts: Floats, seed: int) -> Floats:
    """Turn different texts into points of length one, shape (D, at most 25).

    A term counts once a text, document frequencies count reasons, and the singular value
    decomposition weighs each text by how often it occurs.
    """
    from scipy.sparse import diags
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import CountVectorizer

    n = counts.sum()
    read = CountVectorizer(ngram_range=(1, 2), token_pattern=TERM, lowercase=False, binary=True)
    there = read.fit_transform(docs).astype(np.float64)
    often = np.asarray(there.T @ counts).ravel()
    terms = np.flatnonzero(often >= max(3, n / 500))
    terms = np.sort(terms[np.argsort(-often[terms], kind="stable")[:_MOST_TERMS]])
    if len(terms) < 2 or len(set(docs)) < FEWEST:
        return np.zeros((len(docs), 1))
    scaled = there[:, terms] @ diags(np.log((1 + n) / (1 + often[terms])) + 1)
    length = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    scaled = diags(1 / np.where(length > 0, length, 1)) @ scaled
    size = min(_DIMENSIONS, len(terms) - 1, max(len(docs) - 1, 1))
    svd = TruncatedSVD(size, random_state=seed).fit(diags(np.sqrt(counts)) @ scaled)
    return _unit(np.asarray(svd.transform(scaled)))


def _unit(at: Floats) -> Floats:
    length = np.linalg.norm(at, axis=1, keepdims=True)
    return np.asarray(at / np.where(length > 0, length, 1))


def _dealt(docs: Sequence[str], counts: Floats, seed: int) -> list[str]:
    """Deal the words of reasons out anew: as many words a reason, any of them anywhere."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(docs), min(int(counts.sum()), _TRIED), p=counts / counts.sum())
    pool = [word for at in chosen for word in docs[at].split()]
    mixed = iter([pool[at] for at in rng.permutation(len(pool))])
    return [" ".join(next(mixed) for _ in docs[at].split()) for at in chosen]

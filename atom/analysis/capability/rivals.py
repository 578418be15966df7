"""Rival ways to group criteria, against which a tree must prove itself.

Each gives every criterion a group: by words against a tree made without the data, by likeness of
the pictures, by likeness of the texts, or by chance. None looks at a score.

Reference: ATOM Table 3 and F.2 (its rivals); METHODS B19 (how they are compared).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
import scipy
from numpy.random import Generator
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from taxonomy import Path, Tree

NOWHERE = -1
SIDE = 16
"""Pictures are compared at this many pixels a side, grey."""
_BINS = 4
_TOPICS = 48
_ROUNDS = 40
_STARTS = 4
_ROUNDING = 1e-9
"""What squared distances may be off by: less than this in all means that every point is met."""
_SPARE = 8
_STOP_TEXT = """
a an the of in on at to from by for with and or is are was were be does do did how what which who
when where why that this these those it its as than then there one
"""
STOP = frozenset(_STOP_TEXT.split())
_WORD = re.compile(r"[^\W_]+")


# --- texts -------------------------------------------------------------------------------------


def pieces(text: str) -> list[str]:
    """Cut a text into words (without the commonest) and the three-letter pieces of its words."""
    kept = [word for word in _WORD.findall(text.casefold()) if word not in STOP]
    return kept + [gram for word in kept for gram in _grams(word)]


@lru_cache(maxsize=20_000)
def _grams(word: str) -> tuple[str, ...]:
    """Cut a word, its ends marked, into pieces of three letters; texts share most words."""
    whole = f"^{word}$"
    return tuple(f"#{whole[i : i + 3]}" for i in range(len(whole) - 2))


def text_matrix(
    texts: Sequence[str], vocabulary: Mapping[str, int] | None = None, weight: Floats | None = None
) -> scipy.sparse.csr_array:
    """Count pieces, weighted by rarity, each row of length one.

    `x = (1 + ln count) * idf`, `idf = ln((1 + N) / (1 + df)) + 1`.

    Args:
        texts: N texts.
        vocabulary: piece -> column; made from the texts when None.
        weight: idf of each column; computed from the texts when None.

    Returns:
        Shape (N, columns), sparse; a row without known pieces is zero.
    """
    counts = [Counter(pieces(text)) for text in texts]
    if vocabulary is None:
        vocabulary = make_vocabulary(counts)
    rows, columns, numbers = [], [], []
    for row, count in enumerate(counts):
        for piece, number in count.items():
            if piece in vocabulary:
                rows.append(row)
                columns.append(vocabulary[piece])
                numbers.append(number)
    shape = (len(texts), max(len(vocabulary), 1))
    values = (1 + np.log(np.array(numbers, dtype=np.float64))).tolist()
    matrix = scipy.sparse.csr_array((values, (rows, columns)), shape=shape, dtype=np.float64)
    matrix = matrix @ scipy.sparse.diags_array(rarity(matrix) if weight is None else weight)
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scaled = (
        scipy.sparse.diags_array(np.where(length > 0, 1 / np.maximum(length, 1e-12), 0)) @ matrix
    )
    return scipy.sparse.csr_array(scaled)


def make_vocabulary(counts: Iterable[Iterable[str]]) -> dict[str, int]:
    """Number the pieces in the order in which they are met."""
    found: dict[str, int] = {}
    for count in counts:
        for piece in count:
            found.setdefault(piece, len(found))
    return found


def rarity(matrix: scipy.sparse.csr_array) -> Floats:
    """Return the idf of each column."""
    df = np.bincount(matrix.indices, minlength=matrix.shape[1])
    return np.asarray(np.log((1 + matrix.shape[0]) / (1 + df)) + 1)


def by_words(texts: Sequence[str], tree: Tree) -> Ints:
    """Hang every text on the leaf whose names and meaning share most with it.

    Args:
        texts: the criteria, question and truth together.
        tree: any tree; a leaf's words are its own, its meaning's, and its parents' names.

    Returns:
        Leaf index in the tree's order, shape (N,); -1 where no word is shared.
    """
    leaves = [_words_of(tree, leaf) for leaf in tree.leaves]
    vocabulary = make_vocabulary([pieces(text) for text in leaves])
    weight = rarity(text_matrix(leaves, vocabulary, np.ones(max(len(vocabulary), 1))))
    ours = text_matrix(leaves, vocabulary, weight)
    likeness = (text_matrix(texts, vocabulary, weight) @ ours.T).toarray()
    best = np.asarray(likeness.argmax(axis=1), dtype=np.int64) if len(texts) else np.zeros(0, int)
    return np.where(likeness.max(axis=1, initial=0) > 0, best, NOWHERE).astype(np.int64)


def _words_of(tree: Tree, leaf: Path) -> str:
    meanings = tree.node(leaf).meaning, tree.node(leaf[:-1]).meaning if leaf[:-1] else ""
    return " ".join([leaf[-1], leaf[-1], *meanings, *leaf[1:-1]])


def by_text(texts: Sequence[str], n_groups: int, rng: Generator) -> Ints:
    """Group texts by likeness: rare words and letter pieces, reduced to topics, then k-means.

    Args:
        texts: N texts.
        n_groups: how many groups; fewer come out where there are fewer different texts.

    Returns:
        Group of each text, shape (N,).
    """
    if not texts:
        return np.zeros(0, dtype=np.int64)
    order = np.array(sorted(range(len(texts)), key=lambda row: texts[row]), dtype=np.int64)
    matrix = text_matrix([texts[row] for row in order])
    topics = min(_TOPICS, n_groups, *matrix.shape)
    return _placed(order, k_means(_unit(_topics(matrix, topics, rng)), n_groups, rng))


def _topics(matrix: scipy.sparse.csr_array, n: int, rng: Generator) -> Floats:
    """Return the rows on the n directions that tell most of them (randomised range finder).

    Reference:
        Halko, Martinsson and Tropp 2011, algorithm 4.4 with two power rounds.
    """
    start = rng.standard_normal((matrix.shape[1], min(n + _SPARE, *matrix.shape)))
    basis = np.linalg.qr(matrix @ start)[0]
    for _ in range(2):
        basis = np.linalg.qr(matrix @ (matrix.T @ basis))[0]
    left, size, _ = np.linalg.svd((matrix.T @ basis).T, full_matrices=False)
    return np.asarray((basis @ left[:, :n]) * size[:n])


# --- pictures ----------------------------------------------------------------------------------


def picture_features(pixels: NDArray[np.uint8]) -> Floats:
    """Describe a picture by its rough layout and its colours.

    Args:
        pixels: RGB, shape (height, width, 3).

    Returns:
        Shape (320,): a 16 x 16 grey picture, centred and of length one, and a histogram of
        4 x 4 x 4 colours, its square root taken (length one).
    """
    grey = pixels.astype(np.float64) @ np.array([0.299, 0.587, 0.114])
    small = _block_means(_at_least(grey))
    layout = (small - small.mean()).ravel()
    length = float(np.linalg.norm(layout))
    code = (pixels.reshape(-1, 3) // (256 // _BINS)).astype(np.int64)
    bins = np.bincount(code @ np.array([_BINS**2, _BINS, 1]), minlength=_BINS**3)
    layout = layout / length if length > 0 else layout
    return np.asarray(np.r_[layout, np.sqrt(bins / bins.sum())])


def _block_means(grey: Floats) -> Floats:
    """Cut a picture into SIDE x SIDE blocks, as even as they come, and return their means."""
    means = np.empty((SIDE, SIDE))
    for down, rows, high in _even(grey.shape[0]):
        for across, columns, wide in _even(grey.shape[1]):
            blocks = grey[rows, columns].reshape(
                -1, high, (columns.stop - columns.start) // wide, wide
            )
            flat = blocks.transpose(0, 2, 1, 3).reshape(*blocks.shape[::2], high * wide)
            means[down, across] = flat.mean(axis=2)
    return means


def _even(length: int) -> Iterator[tuple[slice, slice, int]]:
    """Cut a length into SIDE parts: those longer by one, then the others; parts, pixels, size."""
    size, longer = divmod(length, SIDE)
    edge = longer * (size + 1)
    if longer:
        yield slice(0, longer), slice(0, edge), size + 1
    yield slice(longer, SIDE), slice(edge, length), size


def _at_least(grey: Floats) -> Floats:
    """Repeat rows and columns of a tiny picture until it can be cut into blocks."""
    high, wide = (-(-SIDE // size) for size in grey.shape)
    return np.asarray(np.repeat(np.repeat(grey, max(high, 1), axis=0), max(wide, 1), axis=1))


def by_picture(features: Floats, n_groups: int, rng: Generator) -> Ints:
    """Group pictures by their features, shape (N, 320), in whatever order they come."""
    order = np.lexsort(features.T[::-1]) if len(features) else np.zeros(0, dtype=np.int64)
    return _placed(order.astype(np.int64), k_means(features[order], n_groups, rng))


def _placed(order: Ints, group: Ints) -> Ints:
    """Undo a sorting, so that the same things in another order get the same groups."""
    found = np.empty_like(group)
    found[order] = group
    return renumber(found.tolist())


# --- groups ------------------------------------------------------------------------------------


def k_means(points: Floats, n_groups: int, rng: Generator) -> Ints:
    """Group points around `n_groups` means (k-means++ starts, Lloyd's rounds, the best of four).

    Args:
        points: shape (N, dimensions).
        n_groups: at most so many groups.

    Returns:
        Group of each point, shape (N,), numbered without gaps.
    """
    if not len(points):
        return np.zeros(0, dtype=np.int64)
    tries = [_lloyd(points, _starts(points, n_groups, rng)) for _ in range(_STARTS)]
    group = min(tries, key=lambda found: found[1])[0]
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def _starts(points: Floats, n_groups: int, rng: Generator) -> Floats:
    """Pick points far from each other, the next with the square of its distance as its chance."""
    n = len(points)
    picked = [int(rng.integers(n))]
    nearest = _far(points, points[picked])[:, 0]
    while len(picked) < min(n_groups, n) and nearest.sum() > _ROUNDING:
        picked.append(int(rng.choice(n, p=nearest / nearest.sum())))
        nearest = np.minimum(nearest, _far(points, points[picked[-1:]])[:, 0])
    return points[picked]


def _lloyd(points: Floats, centres: Floats) -> tuple[Ints, float]:
    """Move centres to their points' means until nothing changes: groups, sum of squares."""
    n = len(points)
    far = _far(points, centres)
    group = far.argmin(axis=1)
    for _ in range(_ROUNDS):
        count = np.bincount(group, minlength=len(centres)).astype(np.float64)
        member = scipy.sparse.csr_array(
            (np.ones(n), (group, np.arange(n))), shape=(len(centres), n)
        )
        means = (member @ points) / np.maximum(count, 1)[:, None]
        centres = np.where(count[:, None] > 0, means, centres)
        far = _far(points, centres)
        new = far.argmin(axis=1)
        if (new == group).all():
            break
        group = new
    return group.astype(np.int64), float(far[np.arange(n), group].sum())


def _far(points: Floats, centres: Floats) -> Floats:
    squared = (points**2).sum(axis=1)[:, None] - 2 * points @ centres.T + (centres**2).sum(axis=1)
    return np.asarray(np.maximum(squared, 0.0))


def _unit(points: Floats) -> Floats:
    length = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points / np.where(length > 0, length, 1.0))


def by_chance(group: Ints, rng: Generator) -> Ints:
    """Shuffle groups between criteria, so that the sizes stay."""
    return rng.permutation(group)


def renumber(groups: Sequence[object]) -> Ints:
    """Number groups by their first appearance; None becomes -1."""
    known: dict[object, int] = {}
    return np.array(
        [NOWHERE if group is None else known.setdefault(group, len(known)) for group in groups],
        dtype=np.int64,
    )

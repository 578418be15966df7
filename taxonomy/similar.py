"""How alike short texts are by their letters: near duplicates without asking about every pair.

Texts become vectors of character 3- to 5-grams inside words (`tf` damped by a logarithm, times
`idf`), so that "Reading scales" and "Scale reading" are close without any model. The nearest few of
each text come from products of sparse blocks; no N x N matrix is ever held.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

GRAMS = (3, 4, 5)
_WORD = re.compile(r"\w+")
_BLOCK = 512


@dataclass(frozen=True, kw_only=True, order=True)
class SimilarPair:
    """Two texts that are alike.

    Attributes:
        similarity: cosine of their vectors, 0..1.
        first: index of one text.
        second: index of the other.
    """

    similarity: float
    first: int
    second: int


class TextVectors:
    """Texts as vectors, ready to be compared.

    Args:
        texts: the texts; an empty one is like no other.
        vectors: their vectors where a model has made them (rows of any length), shape (N, D);
            letters decide when None.
    """

    def __init__(self, texts: Sequence[str], vectors: NDArray[np.float32] | None = None) -> None:
        self._vocabulary: dict[str, int] = {}
        self._weight = np.zeros(0)
        if vectors is None:
            counted = [_grams(text) for text in texts]
            seen = Counter(gram for grams in counted for gram in grams)
            self._vocabulary = {gram: number for number, gram in enumerate(sorted(seen))}
            share = np.array([seen[gram] for gram in self._vocabulary], dtype=np.float64)
            self._weight = np.log((1 + len(texts)) / (1 + share)) + 1
            self._rows = self._vectors(counted)
        else:
            self._rows = _unit(scipy.sparse.csr_array(vectors.astype(np.float64)))

    def __len__(self) -> int:
        return int(self._rows.shape[0])

    def pairs(self, k: int, floor: float = 0.0) -> list[SimilarPair]:
        """Return each text's nearest others, every pair once, the most alike first.

        Args:
            k: how many neighbours of each text count.
            floor: pairs that are less alike are left out.

        Returns:
            At most `k` times as many pairs as texts; `first < second`.
        """
        found: dict[tuple[int, int], float] = {}
        for row, columns, values in self._nearest(self._rows, k + 1, floor):
            for column, value in zip(columns, values, strict=True):
                if column != row:
                    found[(min(row, column), max(row, column))] = value
        made = [SimilarPair(similarity=s, first=a, second=b) for (a, b), s in found.items()]
        return sorted(made, key=lambda near: (-near.similarity, near.first, near.second))

    def nearest(self, texts: Sequence[str], k: int, floor: float = 0.0) -> list[list[int]]:
        """Return, for each of other texts, the indices of these that are most like it, best first.

        Only for texts that letters decide about.
        """
        out: list[list[int]] = [[] for _ in texts]
        queries = self._vectors([_grams(text) for text in texts])
        for row, columns, _ in self._nearest(queries, k, floor):
            out[row] = columns
        return out

    def row(self, index: int) -> NDArray[np.float64]:
        """Return the cosines of one text with all, shape (N,)."""
        return np.asarray((self._rows[[index]] @ self._rows.T).toarray()[0])

    def _vectors(self, counted: Sequence[Counter[str]]) -> scipy.sparse.csr_array:
        values: list[float] = []
        columns: list[int] = []
        starts = [0]
        for grams in counted:
            for gram, count in sorted(grams.items()):
                column = self._vocabulary.get(gram)
                if column is not None:
                    columns.append(column)
                    values.append((1 + np.log(count)) * self._weight[column])
            starts.append(len(columns))
        shape = (len(counted), max(1, len(self._vocabulary)))
        return _unit(
            scipy.sparse.csr_array((values, columns, starts), shape=shape, dtype=np.float64)
        )

    def _nearest(
        self, queries: scipy.sparse.csr_array, k: int, floor: float
    ) -> list[tuple[int, list[int], list[float]]]:
        out = []
        for start in range(0, int(queries.shape[0]), _BLOCK):
            block = (queries[start : start + _BLOCK] @ self._rows.T).toarray()
            # Equal similarities go to the earlier text, whatever the block's size.
            order = np.argsort(-np.round(block, 9), axis=1, kind="stable")[:, :k]
            for offset, columns in enumerate(order):
                kept = [int(c) for c in columns if block[offset, c] > max(floor, 1e-9)]
                values = [float(block[offset, c]) for c in kept]
                out.append((start + offset, kept, values))
        return out


def _grams(text: str) -> Counter[str]:
    grams: Counter[str] = Counter()
    for word in _WORD.findall(text.casefold()):
        padded = f" {word} "
        for size in GRAMS:
            grams.update(padded[at : at + size] for at in range(len(padded) - size + 1))
        grams[padded] += 1
    return grams


def _unit(rows: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    length[length == 0] = 1.0
    return scipy.sparse.csr_array(scipy.sparse.diags_array(1 / length) @ rows)

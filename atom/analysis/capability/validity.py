"""Is a tree worth its leaves? How much knowing the leaf helps to predict a score.

ATOM's own measure leaves one *atom* out, and is flattered by the atoms of the same sample, which
stay in. The verdict here leaves one *sample* out, and compares with trees whose leaf labels were
swapped between samples.

Reference: ATOM F.1; METHODS A5 (LOO), B19 (LOSO, cluster permutation), G (closed forms).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints

_DENSE = 20
"""Cells of (node, sample) per score up to which sums are kept for empty cells, too."""


@dataclass(frozen=True, kw_only=True)
class LeafHomogeneity:
    """Mean absolute errors of predicting a score without and with its leaf.

    Attributes:
        mae_global: from all other scores of the model.
        mae_node: from the other scores of the model in the leaf.
        n: scores that both means run over.
    """

    mae_global: float
    mae_node: float
    n: int

    @property
    def delta(self) -> float:
        """`mae_global - mae_node`: positive = the leaf helps; NaN where n = 0."""
        return self.mae_global - self.mae_node


@dataclass(frozen=True, kw_only=True)
class ValidityVerdict:
    """Whether a tree predicts more than a shuffled one.

    Attributes:
        loo: ATOM's measure, for comparison with the paper.
        loso: leave one sample out.
        delta_adjusted: LOSO delta minus its mean over permutations.
        p: share of permutations that do as well, `(1 + hits) / (B + 1)`.
        permutations: B.
    """

    loo: LeafHomogeneity
    loso: LeafHomogeneity
    delta_adjusted: float
    p: float
    permutations: int

    def valid(self, alpha: float = 0.05) -> bool:
        """Whether the tree helps beyond chance."""
        return self.p <= alpha


@dataclass(frozen=True, kw_only=True)
class Atoms:
    """Scores of several models on the same or different criteria, shape (N,) each.

    Attributes:
        score: the scores, on any linear scale.
        model: 0-based model index.
        sample: 0-based sample (cluster) index.
        leaf: 0-based leaf index, non-negative.
        place: 0-based place of the criterion within its sample, without gaps, the same for every
            model; None = the order of the sample's rows, which must then be complete.
    """

    score: Floats
    model: Ints
    sample: Ints
    leaf: Ints
    place: Ints | None = None


def leave_one_out(atoms: Atoms) -> LeafHomogeneity:
    """Compute ATOM's leave-one-out errors, models pooled by their atoms.

    `MAE_G = mean |y - m| n/(n-1)`, `MAE_I = mean |y - m_l| n_l/(n_l-1)`, both over the atoms of
    leaves with at least two atoms of the model.

    Reference:
        ATOM F.1; METHODS A5.
    """
    y = atoms.score
    node, n_nodes = _model_leaf(atoms)
    n_model, total_model = _sums(atoms.model, y)
    n_node, total_node = _sums(node, y, n_nodes)
    count, n_all = n_node[node], n_model[atoms.model]
    valid = (count >= 2) & (n_all >= 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.abs(y - (total_model / n_model)[atoms.model]) * n_all / (n_all - 1)
        near = np.abs(y - (total_node / n_node)[node]) * count / (count - 1)
    return _pooled(far, near, valid)


def leave_one_sample_out(atoms: Atoms) -> LeafHomogeneity:
    """Compute the errors of predicting a score from *other samples* only.

    Reference:
        METHODS B19; closed form in G.
    """
    others = _Others(atoms)
    node, n_nodes = _model_leaf(atoms)
    return others.errors(node, n_nodes, *others.cells(node, n_nodes))


def validity(atoms: Atoms, rng: Generator, permutations: int = 199) -> ValidityVerdict:
    """Judge a tree by leave-one-sample-out against cluster permutations.

    A permutation gives each sample the whole vector of leaves of another sample with as many
    criteria, the same for every model, so that everything but the meaning of the leaves stays.

    Args:
        atoms: scores with their leaves; a sample's criteria must come in one order for all models
            (as the score table has them).
        permutations: how many; p can't be smaller than 1 / (permutations + 1).

    Reference:
        METHODS B19.
    """
    found = leave_one_sample_out(atoms)
    others, swap = _Others(atoms), _Swapper(atoms)
    node, n_nodes = _model_leaf(atoms)
    first, n_cells = node - atoms.leaf, others.n_units * swap.size
    within = others.unit * swap.size
    deltas = np.empty(permutations)
    for number in range(permutations):
        leaf, cell = swap.draw(rng)
        deltas[number] = others.errors(first + leaf, n_nodes, within + cell, n_cells).delta
    known = np.isfinite(deltas)
    hits = int((deltas[known] >= found.delta - 1e-12).sum())
    usable = np.isfinite(found.delta) and bool(known.any())
    return ValidityVerdict(
        loo=leave_one_out(atoms),
        loso=found,
        delta_adjusted=found.delta - float(deltas[known].mean()) if usable else float("nan"),
        p=(1 + hits) / (int(known.sum()) + 1) if usable else 1.0,
        permutations=permutations,
    )


def _model_leaf(atoms: Atoms) -> tuple[Ints, int]:
    n_leaves = int(atoms.leaf.max(initial=-1)) + 1
    n_models = int(atoms.model.max(initial=-1)) + 1
    return atoms.model * n_leaves + atoms.leaf, n_models * n_leaves


def _sums(group: Ints, y: Floats, n: int | None = None) -> tuple[Floats, Floats]:
    size = int(group.max(initial=-1)) + 1 if n is None else n
    count = np.bincount(group, minlength=size).astype(np.float64)
    return count, np.bincount(group, weights=y, minlength=size).astype(np.float64)


def _pooled(far: Floats, near: Floats, valid: NDArray[np.bool_]) -> LeafHomogeneity:
    n = int(np.count_nonzero(valid))
    if n == 0:
        return LeafHomogeneity(mae_global=float("nan"), mae_node=float("nan"), n=0)
    if n < len(valid):
        far, near = far[valid], near[valid]
    return LeafHomogeneity(mae_global=float(far.mean()), mae_node=float(near.mean()), n=n)


class _Others:
    """Predicts every score from other samples: what no leaf changes is computed once.

    Attributes:
        unit: each score's model and sample as one number, shape (N,).
        n_units: how many of these there can be.
    """

    def __init__(self, atoms: Atoms) -> None:
        y, model, sample = atoms.score, atoms.model, atoms.sample
        self._y, self._sample = y, sample
        self._n_samples = int(sample.max(initial=-1)) + 1
        n_model, total_model = _sums(model, y)
        self.unit = model * self._n_samples + sample
        self.n_units = len(n_model) * self._n_samples
        n_unit, total_unit = _sums(self.unit, y)
        left = n_model[model] - n_unit[self.unit]
        self._known = left >= 1
        with np.errstate(divide="ignore", invalid="ignore"):
            self._far = np.abs(y - (total_model[model] - total_unit[self.unit]) / left)

    def cells(self, node: Ints, n_nodes: int) -> tuple[Ints, int]:
        """Number what each score's model, leaf and sample are together, and say up to what."""
        cell = node * self._n_samples + self._sample
        if n_nodes * self._n_samples <= _DENSE * len(cell):
            return cell, n_nodes * self._n_samples
        known, cell = np.unique(cell, return_inverse=True)  # Too many empty: those there are.
        return cell.astype(np.int64), len(known)

    def errors(self, node: Ints, n_nodes: int, cell: Ints, n_cells: int) -> LeafHomogeneity:
        """Return the errors.

        Args:
            node: each score's model and leaf as one number, shape (N,).
            n_nodes: how many of these there can be.
            cell: each score's model, leaf and sample as one number, shape (N,).
            n_cells: how many of these there can be.
        """
        y = self._y
        n_node, total_node = _sums(node, y, n_nodes)
        n_cell, total_cell = _sums(cell, y, n_cells)
        left = n_node[node] - n_cell[cell]
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.abs(y - (total_node[node] - total_cell[cell]) / left)
        return _pooled(self._far, near, self._known & (left >= 1))


class _Swapper:
    """Gives samples the leaf vectors of other samples with as many criteria.

    Attributes:
        size: the most criteria that a sample has.
    """

    def __init__(self, atoms: Atoms) -> None:
        n_samples = int(atoms.sample.max(initial=-1)) + 1
        place = self._rows(atoms, n_samples) if atoms.place is None else atoms.place
        self._place = place
        self.size = int(place.max(initial=-1)) + 1
        table = np.full((n_samples, self.size), -1, dtype=np.int64)
        # A later model with more of a sample's criteria fills what an earlier one left open.
        table[atoms.sample, place] = atoms.leaf
        self._leaf = table.ravel()
        self._first = (table[:, :, None] == table[:, None, :]).argmax(axis=2).ravel()
        count = (table >= 0).sum(axis=1)
        self._alike = [np.flatnonzero(count == size) for size in np.unique(count)]
        self._n_samples, self._sample = n_samples, atoms.sample

    @staticmethod
    def _rows(atoms: Atoms, n_samples: int) -> Ints:
        """Number every sample's criteria in the order of its rows."""
        order = np.lexsort((np.arange(len(atoms.leaf)), atoms.model, atoms.sample))
        unit = atoms.model[order] * n_samples + atoms.sample[order]
        starts = np.r_[True, unit[1:] != unit[:-1]] if len(unit) else np.zeros(0, dtype=bool)
        first = np.maximum.accumulate(np.where(starts, np.arange(len(unit)), 0))
        place = np.empty(len(unit), dtype=np.int64)
        place[order] = np.arange(len(unit)) - first
        return place

    def draw(self, rng: Generator) -> tuple[Ints, Ints]:
        """Return a leaf for every atom under one random swap, and the leaf's place in its sample.

        The place is that of the first criterion which got the same leaf, shape (N,) as the leaves.
        """
        donor = np.empty(self._n_samples, dtype=np.int64)
        for members in self._alike:
            donor[members] = rng.permutation(members)
        at = (donor * self.size)[self._sample] + self._place
        return self._leaf[at], self._first[at]

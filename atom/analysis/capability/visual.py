"""What is gained by seeing the picture: the same questions asked with it and without.

A criterion that several models reach without the picture can be answered from the text; a question
of only such criteria measures no seeing. The gain of a capability is the mean over its criteria of
the mark with the picture less the mark without.

Reference: METHODS T8, B1 (clusters), G (moderated variances).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from atom.analysis.compare.contrasts import moderate
from atom.analysis.intervals import Floats, Ints, cell_sums, make_cells, mean_variance
from atom.analysis.nodes import NodeIndex

REACHED: Final = 0.75
"""A mark of at least this value, 0 to 1, reaches its criterion."""
LEAST_MODELS: Final = 3
"""So many models must reach a criterion without the picture."""
LEAST_SAMPLES: Final = 5
NEGLIGIBLE: Final = 0.1
"""A capability whose gain is surely below this, of 0 to 1, hardly needs the picture."""

Need = Literal["needs", "hardly", "unclear", "few"]
"""What is known of a capability: `needs` = the gain is surely above nothing; `hardly` = surely
below `NEGLIGIBLE`; `few` = under `LEAST_SAMPLES` samples."""


@dataclass(frozen=True, kw_only=True)
class BlindMarks:
    """Marks of answers that were given without the picture, one a row, shape (n,).

    Attributes:
        sample: 0-based index of the question.
        criterion: 0-based index of the criterion.
        model: 0-based index of the model.
        value: the mark in [0, 1]; NaN where there was no answer, or no mark of it.
    """

    sample: Ints
    criterion: Ints
    model: Ints
    value: Floats


@dataclass(frozen=True, kw_only=True)
class NamedMarks:
    """Marks by number, and what the numbers stand for.

    Attributes:
        samples: the questions' names.
        criteria: the criteria's.
        models: the models'.
    """

    marks: BlindMarks
    samples: tuple[str, ...]
    criteria: tuple[str, ...]
    models: tuple[str, ...]


def number_marks(rows: Iterable[tuple[str, str, str, float | None]]) -> NamedMarks:
    """Number marks that are given by name.

    Args:
        rows: (sample, criterion, model, value in [0, 1]); None = there is no mark.
    """
    numbers: tuple[dict[str, int], ...] = ({}, {}, {})
    coded: list[tuple[int, ...]] = []
    values: list[float] = []
    for *names, value in rows:
        coded.append(
            tuple(
                of.setdefault(str(name), len(of)) for of, name in zip(numbers, names, strict=True)
            )
        )
        values.append(np.nan if value is None else value)
    columns = np.array(coded, dtype=np.int64).reshape(-1, 3)
    samples, criteria, models = (tuple(of) for of in numbers)
    return NamedMarks(
        marks=BlindMarks(
            sample=columns[:, 0],
            criterion=columns[:, 1],
            model=columns[:, 2],
            value=np.array(values, dtype=np.float64),
        ),
        samples=samples,
        criteria=criteria,
        models=models,
    )


@dataclass(frozen=True, kw_only=True)
class TextAnswerable:
    """What can be answered from the text.

    Attributes:
        asked: models that were asked about a criterion, shape (C,).
        reached: models that reached it without the picture, shape (C,).
        criterion: whether it can be answered from the text, shape (C,).
        measured: questions of which every criterion was put to `LEAST_MODELS` models, shape (S,).
        sample: questions of only such criteria, shape (S,); False where it isn't measured.
    """

    asked: Ints
    reached: Ints
    criterion: NDArray[np.bool_]
    measured: NDArray[np.bool_]
    sample: NDArray[np.bool_]


def text_answerable(
    marks: BlindMarks, n_criteria: int, n_samples: int, *, least: int = LEAST_MODELS
) -> TextAnswerable:
    """Find criteria, and questions, that can be answered without the picture.

    Args:
        marks: marks without the picture; several of one model on one criterion count by their mean.
        n_criteria: number of criteria C.
        n_samples: number of questions S.
        least: so many models must reach a criterion.

    Reference:
        METHODS T8. Toy: one question, criteria a and b, marks without the picture of three models
        a (1, .75, .75), b (1, 1, .5): a is reached by 3, b by 2: a can be answered from the text,
        b and the question can't.
    """
    n_models = int(marks.model.max(initial=-1)) + 1
    key = marks.criterion * max(n_models, 1) + marks.model
    pairs, at = np.unique(key, return_inverse=True)
    known = np.isfinite(marks.value)
    times = np.bincount(at[known], minlength=len(pairs))
    total = np.bincount(at[known], weights=marks.value[known], minlength=len(pairs))
    hit = (times > 0) & (total >= REACHED * times - 1e-9)
    of_pair = pairs // max(n_models, 1)
    asked = np.bincount(of_pair, minlength=n_criteria)
    reached = np.bincount(of_pair[hit], minlength=n_criteria)
    criterion = reached >= least
    sample_of = np.full(n_criteria, -1, dtype=np.int64)
    sample_of[marks.criterion] = marks.sample
    there = sample_of >= 0

    def every(good: NDArray[np.bool_]) -> NDArray[np.bool_]:
        n = np.bincount(sample_of[there], minlength=n_samples)
        hits = np.bincount(sample_of[there & good], minlength=n_samples)
        return np.asarray((n > 0) & (hits == n))

    measured = every(asked >= least)
    return TextAnswerable(
        asked=asked,
        reached=reached,
        criterion=criterion,
        measured=measured,
        sample=every(criterion) & measured,
    )


@dataclass(frozen=True, kw_only=True)
class NodeGains:
    """Gains of M capabilities, arrays of shape (M,), on the scale of values (-1 to 1).

    Attributes:
        n: pairs of marks.
        samples: distinct questions, or sets of them that share pictures.
        seen: mean value with the picture; NaN where n = 0.
        blind: mean value without it.
        gain: `seen - blind`.
        lo: lower end of its 95 % interval; NaN where nothing is known.
        need: what that says.
    """

    n: Ints
    samples: Ints
    seen: Floats
    blind: Floats
    gain: Floats
    lo: Floats
    hi: Floats
    need: tuple[Need, ...]


def node_gains(
    seen: Floats, blind: Floats, leaf: Ints, cluster: Ints, nodes: NodeIndex
) -> NodeGains:
    """Estimate how much the picture helps on each capability.

    The cluster is the question: its criteria and all models' answers to it share a picture.
    `V = G/(G-1) sum_c (S_c - m N_c)^2 / n^2`, moderated by the level's pool; Student's interval.

    Args:
        seen: mark with the picture, in [0, 1], one a (model, criterion), shape (n,).
        blind: the same model's mark on the same criterion without it, shape (n,).
        leaf: its leaf as an index into the nodes' leaves, -1 = not mapped, shape (n,).
        cluster: its question, or what it shares its pictures with, shape (n,).

    Reference:
        METHODS T8, B1, G. Toy: two questions, gains (.5, .5) and (0): mean 1/3, residual sums
        1/3 and -1/3, V = 2 * (2/9) / 9 = 4/81.
    """
    m, depth = nodes.n_nodes, len(nodes.ancestor)
    rows, node = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    mapped = np.flatnonzero(leaf >= 0)
    for level in range(depth):
        above = nodes.ancestor[level][leaf[mapped]]
        rows.append(mapped[above >= 0])
        node.append(above[above >= 0])
    row, at = np.concatenate(rows), np.concatenate(node)
    gain = (seen - blind)[row]
    n, total, groups, squares = cell_sums(make_cells(gain, at, cluster[row], m), m)
    mean, variance = mean_variance(n, total, groups, squares)
    se, df = moderate(variance, groups, n, nodes.level)
    half = scipy.special.stdtrit(df, 0.975) * se
    with np.errstate(divide="ignore", invalid="ignore"):
        with_it = np.bincount(at, weights=seen[row], minlength=m) / n
    lo, hi = np.maximum(mean - half, -1), np.minimum(mean + half, 1)
    return NodeGains(
        n=n.astype(np.int64),
        samples=groups.astype(np.int64),
        seen=with_it,
        blind=with_it - mean,
        gain=mean,
        lo=lo,
        hi=hi,
        need=tuple(_need(int(g), a, b) for g, a, b in zip(groups, lo, hi, strict=True)),
    )


def _need(samples: int, lo: float, hi: float) -> Need:
    if samples < LEAST_SAMPLES or np.isnan(lo):
        return "few"
    if hi < NEGLIGIBLE:
        return "hardly"
    return "needs" if lo > 0 else "unclear"

"""How alike two assignments of criteria to leaves are.

Reference: METHODS A7 (hit rate), B18 (stability: ARI, AMI, path credit).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from atom.analysis.intervals import Floats
from taxonomy import Path


def _contingency(a: Sequence[object], b: Sequence[object]) -> Floats:
    if len(a) != len(b):
        raise ValueError(f"the assignments have {len(a)} and {len(b)} items; they must match")
    codes_a = {value: number for number, value in enumerate(dict.fromkeys(a))}
    codes_b = {value: number for number, value in enumerate(dict.fromkeys(b))}
    table = np.zeros((len(codes_a), len(codes_b)))
    rows = np.fromiter((codes_a[value] for value in a), dtype=np.int64, count=len(a))
    columns = np.fromiter((codes_b[value] for value in b), dtype=np.int64, count=len(b))
    np.add.at(table, (rows, columns), 1)
    return table


def adjusted_rand(a: Sequence[object], b: Sequence[object]) -> float:
    """Return the adjusted Rand index: 1 for equal partitions, about 0 for unrelated ones.

    Args:
        a: the group of each item.
        b: the group of each item, in the same order; names needn't match.

    Returns:
        The index (Hubert and Arabie); NaN for fewer than two items.
    """
    table = _contingency(a, b)
    n = table.sum()
    if n < 2:
        return float("nan")
    pairs = (table * (table - 1)).sum() / 2
    rows = (table.sum(axis=1) * (table.sum(axis=1) - 1)).sum() / 2
    columns = (table.sum(axis=0) * (table.sum(axis=0) - 1)).sum() / 2
    expected = rows * columns / (n * (n - 1) / 2)
    best = (rows + columns) / 2
    return 1.0 if best == expected else float((pairs - expected) / (best - expected))


def adjusted_mutual_information(a: Sequence[object], b: Sequence[object]) -> float:
    """Return the adjusted mutual information, for partitions with different numbers of groups.

    `AMI = (MI - E[MI]) / (mean(H(a), H(b)) - E[MI])`, with the expectation over random partitions
    of the same group sizes (Vinh et al. 2010, hypergeometric model).

    Args:
        a: the group of each item.
        b: the group of each item, in the same order.

    Returns:
        1 for equal partitions, about 0 for unrelated ones; NaN without items.
    """
    table = _contingency(a, b)
    n = table.sum()
    if n == 0:
        return float("nan")
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if (len(rows) == len(columns) == 1) or (len(rows) == len(columns) == n):
        return 1.0
    filled = table > 0
    expected_table = np.outer(rows, columns)
    information = float(
        (table[filled] / n * np.log(n * table[filled] / expected_table[filled])).sum()
    )
    expected = _expected_information(rows, columns, n)
    entropy = [float(-(sizes / n * np.log(sizes / n)).sum()) for sizes in (rows, columns)]
    gap = sum(entropy) / 2 - expected
    # A tiny negative or zero gap is rounding: the partitions can't be told from random ones.
    if abs(gap) < 1e-12:
        return 0.0 if information < 1e-12 else 1.0
    return (information - expected) / gap


def _expected_information(rows: Floats, columns: Floats, n: float) -> float:
    total = 0.0
    gammaln = scipy.special.gammaln
    log_n = gammaln(n + 1)
    for a in rows:
        for b in columns:
            low, high = max(1.0, a + b - n), min(a, b)
            k = np.arange(low, high + 1)
            log_p = (
                gammaln(a + 1) + gammaln(b + 1) + gammaln(n - a + 1) + gammaln(n - b + 1)
                - log_n - gammaln(k + 1) - gammaln(a - k + 1) - gammaln(b - k + 1)
                - gammaln(n - a - b + k + 1)
            )  # fmt: skip
            total += float((k / n * np.log(n * k / (a * b)) * np.exp(log_p)).sum())
    return total


def path_credit(a: Path, b: Path) -> float:
    """Return the share of layers below the root's choice that two leaves have in common.

    Same leaf 1; same parent 2/3; same category 1/3; same root or nothing in common 0 (for four
    layers: depth of the lowest common ancestor, less the root, over 3).
    """
    common = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        common += 1
    deepest = max(len(a), len(b)) - 1
    return max(0, common - 1) / deepest if deepest > 0 else float(a == b)

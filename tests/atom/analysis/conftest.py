"""Small score tables to test statistics on."""

from __future__ import annotations

import numpy as np
import pytest

from atom.analysis.score_table import Facet, ScoreTable


def make_table(
    rows,
    *,
    leaves=(("A", "A1", "A1a", "x"), ("A", "A1", "A1b", "y"), ("B", "B1", "B1a", "z")),
    models=2,
    samples=None,
    cluster=None,
    outcome=None,
    labels=None,
):
    """Build a table of rows (model, sample, place, leaf, weight, score), one answer a cell.

    `outcome` maps (model, sample) to a value; `labels` maps (model, sample) to a list of labels.
    """
    rows = np.array(rows, dtype=np.int64).reshape(-1, 6)
    n = samples if samples is not None else int(rows[:, 1].max(initial=-1)) + 1
    model, sample = np.divmod(np.arange(models * n), max(n, 1))
    criteria = sorted({(int(s), int(p)) for s, p in rows[:, 1:3]})
    code = {pair: at for at, pair in enumerate(criteria)}
    facets = {}
    if labels is not None:
        values = tuple(sorted({label for group in labels.values() for label in group}))
        pairs = [
            (m * n + s, values.index(label)) for (m, s), group in labels.items() for label in group
        ]
        facets["kind"] = Facet(
            values=values,
            response=np.array([a for a, _ in pairs], dtype=np.int32),
            value=np.array([v for _, v in pairs], dtype=np.int32),
        )
    known = outcome or {}
    return ScoreTable(
        response=(rows[:, 0] * n + rows[:, 1]).astype(np.int32),
        criterion=np.array([code[int(s), int(p)] for s, p in rows[:, 1:3]], dtype=np.int32),
        leaf=rows[:, 3].astype(np.int16),
        weight=rows[:, 4].astype(np.int8),
        position=rows[:, 2].astype(np.int8),
        score=rows[:, 5].astype(np.int8),
        sample=sample.astype(np.int32),
        model=model.astype(np.int16),
        repeat=np.zeros(models * n, dtype=np.int16),
        outcome=np.array(
            [known.get((int(m), int(s)), np.nan) for m, s in zip(model, sample, strict=True)],
            dtype=np.float32,
        ),
        answered=np.ones(models * n, dtype=np.bool_),
        cluster=np.arange(n, dtype=np.int32)
        if cluster is None
        else np.array(cluster, dtype=np.int32),
        quarantined=np.zeros(n, dtype=np.bool_),
        sample_ids=tuple(f"s{at}" for at in range(n)),
        model_ids=tuple(f"m{at}" for at in range(models)),
        criterion_ids=tuple(f"c{at}" for at in range(len(criteria))),
        response_ids=tuple(f"r{at}" for at in range(models * n)),
        leaves=tuple(leaves),
        facets=facets,
    )


@pytest.fixture(scope="session")
def build():
    """Return the builder of small tables."""
    return make_table

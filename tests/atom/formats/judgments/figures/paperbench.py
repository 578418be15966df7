"""PaperBench: weighted trees of requirements, from leaves and their shares of the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from tests.atom.formats.judgments.figures.common import Figures, counts

Node = tuple[str, ...]


def figures(frame: pd.DataFrame, category: pd.Series, folder: Path) -> Figures:
    """Return every figure of one paper.

    Args:
        frame: its leaves' marks.
        category: each leaf's `task_category`, by criterion.
        folder: where the paper's own tree is, for the scores that it stores.
    """
    root = json.loads(next(folder.rglob("*.json")).read_text(encoding="utf-8"))
    stored = _stored(root)
    frame = frame.assign(
        path=frame.leaf.map(lambda leaf: leaf[:-1] if leaf[-1] == "(directly)" else leaf),
        category=frame.criterion_id.map(category),
    )
    mine = sorted(_nodes(frame).values())
    total = float((frame.weight * frame.value).sum())
    kinds = frame.groupby("category")
    return {
        "nodes": len(mine) + len(frame),
        "leaves": len(frame),
        "deepest_level": int(frame.path.map(len).max()),
        "weighted_tree_score": total / frame.weight.sum(),
        "stored_root_score": _nodes(frame)[frame.path.iloc[0][:1]],
        "inner_nodes_whose_stored_score_equals_the_aggregate": sum(
            abs(one - other) < 1e-9 for one, other in zip(mine, sorted(stored), strict=True)
        ),
        "inner_nodes": len(mine),
        "plain_share_of_leaves_met": frame.value.mean(),
        "check_sum_of_share_times_score": total,
        "leaves_met_by_category": {
            name: [int(of.value.sum()), len(of)] for name, of in kinds
        },
        "tree_score_of_one_category_only": {
            name: _pruned(frame.assign(kept=frame.category == name)) for name, _ in kinds
        },
        "weight_share_of_category": kinds.weight.sum().to_dict(),
        "leaves_with_explanation": int((frame.reason != "").sum()),
        "duplicate_ids": int(frame.criterion_id.duplicated().sum()),
        "leaves_by_level": counts(frame.path.map(len)),
    }  # fmt: skip


def _stored(node: dict[str, Any]) -> list[float]:
    if not node["sub_tasks"]:
        return []
    return [node["score"], *(one for child in node["sub_tasks"] for one in _stored(child))]


def _nodes(frame: pd.DataFrame) -> dict[Node, float]:
    """Return the weighted mean of the leaves below each node."""
    found: dict[Node, list[tuple[float, float]]] = {}
    for path, weight, value in zip(frame.path, frame.weight, frame.value, strict=True):
        for n in range(1, len(path) + 1):
            found.setdefault(path[:n], []).append((weight, value))
    return {
        path: sum(w * v for w, v in pairs) / sum(w for w, _ in pairs)
        for path, pairs in found.items()
    }


def _pruned(frame: pd.DataFrame) -> float:
    """Return a tree's score where only these leaves are left: shares are of what is left."""
    share: dict[Node, float] = {}
    below: dict[Node, set[Node]] = {}
    score: dict[Node, float] = {}
    for row in frame.itertuples():
        path = (*row.path, row.criterion_id)
        for n in range(1, len(path) + 1):
            share[path[:n]] = share.get(path[:n], 0.0) + row.weight
        if row.kept:
            score[path] = row.value
            for n in range(1, len(path)):
                below.setdefault(path[:n], set()).add(path[: n + 1])

    def of(node: Node) -> float:
        if node in score:
            return score[node]
        total = sum(share[one] for one in below[node])
        return sum(share[one] * of(one) for one in below[node]) / total

    roots = [node for node in below if len(node) == 1]
    assert len(roots) == 1
    return of(roots[0])

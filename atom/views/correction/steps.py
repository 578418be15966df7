"""How often each step of self-correction went on, and the paper’s Table 4."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from atom.analysis.correction.quality import arm_rows
from atom.analysis.correction.table import layout, table4
from atom.analysis.correction.trials import (
    RIGHT,
    Trials,
)
from atom.analysis.intervals import Ints
from atom.records import (
    Arm,
)
from atom.store import Store
from atom.views.correction.data import (
    ExperimentRow,
    load_trials,
)

CaseSelection = Literal[
    "all", "tried", "right", "wrong", "unknown",
    "pairs", "first", "second", "both", "neither", "apart", "unpaired",
    "steps", "repaired", "asked", "flipped", "unlocked",
]  # fmt: skip
"""Which answers are listed: by an arm's result; by how an arm and its control compare; by steps."""


def step_rows(
    trials: Trials, arm: Arm, came: CaseSelection, upto: int, control: Arm | None = None
) -> Ints:
    """Return the rows of failed steps that a number counts.

    Args:
        came: `steps` (failed, scored in the arm and its control), `repaired` of these; `asked`
            (asked about, the result known), `flipped` of these, `unlocked` where the answer came
            right, too.
        upto: last round that counts.
        control: the control, for the first two.
    """
    rows = arm_rows(trials, arm, upto)
    before = trials.before[rows]
    rows = rows[(before > 0) & (before <= trials.threshold) & (trials.after[rows] > 0)]
    up = trials.after[rows] > trials.threshold
    if came in ("steps", "repaired"):
        if control is not None:
            other = arm_rows(trials, control, upto)
            other = other[trials.after[other] > 0]
            keep = np.isin(_step_key(trials, rows), _step_key(trials, other))
            rows, up = rows[keep], up[keep]
        return rows if came == "steps" else rows[up]
    right = trials.right[trials.trial[rows]]
    keep = trials.asked[rows] & np.isfinite(right)
    if came in ("flipped", "unlocked"):
        keep &= up
    if came == "unlocked":
        keep &= right >= RIGHT
    return rows[keep]


def _step_key(trials: Trials, rows: Ints) -> Ints:
    width = int(trials.criterion.max(initial=0)) + 1
    return np.asarray(
        trials.answer[trials.trial[rows]].astype(np.int64) * width + trials.criterion[rows]
    )


@dataclass(frozen=True, kw_only=True)
class Table4:
    """The paper's table, from a study's experiments.

    Attributes:
        lines: a head, then two lines a model and strategy.
        used: experiment by model.
        apart: models whose experiments go by another judge or threshold.
    """

    lines: tuple[tuple[str, ...], ...]
    used: Mapping[str, str]
    apart: tuple[str, ...]


def table4_view(store: Store, found: Sequence[ExperimentRow]) -> Table4 | None:
    """Lay out the newest experiments of several models like the paper's Table 4.

    Args:
        found: a study's experiments, the newest first.

    Returns:
        The table; None where under two models have experiments on several answers.
    """
    chosen: dict[str, ExperimentRow] = {}
    for row in found:
        if row.answers < 2:
            continue
        known = chosen.get(row.model)
        if known is None or len(row.experiment.arms) > len(known.experiment.arms):
            chosen[row.model] = row
    kinds = Counter((r.experiment.judge_id, r.experiment.threshold) for r in chosen.values())
    if len(chosen) < 2:
        return None
    kind = kinds.most_common(1)[0][0]
    used = {
        model: row
        for model, row in sorted(chosen.items())
        if (row.experiment.judge_id, row.experiment.threshold) == kind
    }
    trials = {m: load_trials(store, [row.experiment.id]).trials for m, row in used.items()}
    roots = tuple(dict.fromkeys(root for one in trials.values() for root in one.roots))
    same = {model: _with_roots(one, roots) for model, one in trials.items()}
    return Table4(
        lines=layout(table4(same), roots),
        used={model: row.experiment.id for model, row in used.items()},
        apart=tuple(model for model in chosen if model not in used),
    )


def _with_roots(trials: Trials, roots: tuple[str, ...]) -> Trials:
    codes = np.array([roots.index(root) for root in trials.roots] or [-1], dtype=np.int64)
    root = np.where(trials.root >= 0, codes[trials.root], -1)
    return replace(trials, root=root, roots=roots)

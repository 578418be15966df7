"""The paper's table of corrections, from a study's trials or from its printed figures.

The table's gain is a row's average less Re-eval's; what that leaves open (luck, the mere length of
a feedback, who could be paired) is in `correction_effects`.

Reference: ATOM Table 4; METHODS A11.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atom.analysis.correction.trials import FAILED_COHORT, Mask, Trials, code_of
from atom.analysis.intervals import Floats, Ints
from atom.records.correction import Arm

Strategy = Literal["ori", "re_eval", "atom_self_corr", "peer_assisted"]
STRATEGY_ARMS: Mapping[Strategy, Arm | None] = {
    "ori": None,
    "re_eval": "told",
    "atom_self_corr": "guided",
    "peer_assisted": "peer",
}
"""The paper's strategies and the arms that they are; `ori` is the initial answer."""
TITLES: Mapping[Strategy, str] = {
    "ori": "Ori",
    "re_eval": "Re-eval.",
    "atom_self_corr": "Atom-Self-corr.",
    "peer_assisted": "Peer-Assisted",
}
PLACES = 2


@dataclass(frozen=True, kw_only=True)
class Table4Row:
    """One model under one strategy; arrays hold the capabilities, then the average.

    Attributes:
        strategy: what was done.
        accuracy: percent of initially failed answers that are right, shape (C + 1,).
        answers: answers that each is of, shape (C + 1,).
        quality: mean criterion score 1..5, shape (C + 1,).
        criteria: criteria that each is of, shape (C + 1,).
        accuracy_gain: average less Re-eval's, in percentage points; NaN for `ori`, or where
            either is missing.
        quality_gain: the same in points.
    """

    model: str
    strategy: Strategy
    accuracy: Floats
    answers: Ints
    quality: Floats
    criteria: Ints
    accuracy_gain: float
    quality_gain: float


def main_roots(trials: Trials) -> Ints:
    """Return the root that carries most weight among each trial's criteria, shape (T,).

    The heavier root wins, at equal weight the one with the lower code; -1 where no criterion is
    mapped. All trials of an answer have the same one, dropped ones too.
    """
    answers, at = np.unique(trials.answer, return_inverse=True)
    width = max(len(trials.roots), 1)
    rows = trials.root >= 0
    # A criterion stands in a row an arm and round; it counts once.
    owner = at[trials.trial[rows]]
    key = owner * (int(trials.criterion.max(initial=0)) + 1) + trials.criterion[rows]
    _, first = np.unique(key, return_index=True)
    weight = np.bincount(
        owner[first] * width + trials.root[rows][first],
        weights=trials.weight[rows][first],
        minlength=len(answers) * width,
    ).reshape(len(answers), width)
    best = np.where(weight.max(axis=1, initial=0) > 0, weight.argmax(axis=1), -1)
    return np.asarray(best[at], dtype=np.int64)


def table4(
    models: Mapping[str, Trials], *, upto: int = 1, independent: bool = False
) -> tuple[Table4Row, ...]:
    """Lay out trials of several models like the paper's Table 4.

    Accuracy counts an answer under its sample's main root, quality a criterion under its own.
    Averages are over all answers, and over all criteria.

    Args:
        models: trials by model name; all share their roots.
        upto: last round that counts.
        independent: quality of the initial answers by the independent judgement instead of the one
            that they were selected by, which the paper takes and which is too low.

    Returns:
        Four rows a model, strategies without a trial as NaN with n = 0.

    Raises:
        ValueError: models differ in their roots.
    """
    if len({trials.roots for trials in models.values()}) > 1:
        raise ValueError("models of one table must share their roots")
    rows: list[Table4Row] = []
    for model, trials in models.items():
        main = main_roots(trials)
        made = [
            _row(model, trials, strategy, main, upto, independent) for strategy in STRATEGY_ARMS
        ]
        base = made[1]
        rows += [_with_gains(row, base) if row.strategy != "ori" else row for row in made]
    return tuple(rows)


def _with_gains(row: Table4Row, base: Table4Row) -> Table4Row:
    return Table4Row(
        model=row.model,
        strategy=row.strategy,
        accuracy=row.accuracy,
        answers=row.answers,
        quality=row.quality,
        criteria=row.criteria,
        accuracy_gain=float(row.accuracy[-1] - base.accuracy[-1]),
        quality_gain=float(row.quality[-1] - base.quality[-1]),
    )


def _row(
    model: str, trials: Trials, strategy: Strategy, main: Ints, upto: int, independent: bool
) -> Table4Row:
    arm = STRATEGY_ARMS[strategy]
    failed = trials.cohort == FAILED_COHORT
    if arm is None:
        chosen, right = _one_each(trials, failed), trials.was_right
        score = trials.baseline if independent else trials.before
        criteria = _one_each_criterion(trials, failed)
    else:
        chosen = failed & (trials.arm == code_of(arm)) & trials.last_rows(upto)
        right, score = trials.right, trials.after
        criteria = chosen[trials.trial]
    width = len(trials.roots)
    answers = np.flatnonzero(chosen & np.isfinite(right))
    accuracy, n = _means(100 * right[answers], main[answers], width)
    scored = np.flatnonzero(criteria & (score > 0))
    quality, n_criteria = _means(score[scored].astype(float), trials.root[scored], width)
    return Table4Row(
        model=model,
        strategy=strategy,
        accuracy=accuracy,
        answers=n,
        quality=quality,
        criteria=n_criteria,
        accuracy_gain=float("nan"),
        quality_gain=float("nan"),
    )


def _one_each(trials: Trials, rows: Mask) -> Mask:
    """Mark one row of each initial answer."""
    chosen = np.zeros(len(trials.answer), dtype=bool)
    mine = np.flatnonzero(rows)
    chosen[mine[np.unique(trials.answer[mine], return_index=True)[1]]] = True
    return chosen


def _one_each_criterion(trials: Trials, rows: Mask) -> Mask:
    """Mark one row of each criterion of each initial answer, a judged one where there is one."""
    chosen = np.zeros(len(trials.trial), dtype=bool)
    mine = np.flatnonzero(rows[trials.trial])
    mine = mine[np.argsort(trials.baseline[mine] <= 0, kind="stable")]
    width = int(trials.criterion.max(initial=0)) + 1
    key = trials.answer[trials.trial[mine]].astype(np.int64) * width + trials.criterion[mine]
    chosen[mine[np.unique(key, return_index=True)[1]]] = True
    return chosen


def _means(value: Floats, root: Ints, width: int) -> tuple[Floats, Ints]:
    """Means by root and over all, where nothing is mapped only the latter."""
    mapped = root >= 0
    n = np.bincount(root[mapped], minlength=width)
    total = np.bincount(root[mapped], weights=value[mapped], minlength=width)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.append(total, value.sum()) / np.append(n, len(value))
    return mean, np.append(n, len(value)).astype(np.int64)


def layout(rows: tuple[Table4Row, ...], roots: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Write the table as the paper prints it: a line of accuracies, then one of quality.

    Args:
        rows: from `table4`.

    Returns:
        A head and two lines a row; a dash where there is nothing.
    """
    lines: list[tuple[str, ...]] = [("Candidate Model", "Strategy", *roots, "Average", "Gain (Δ)")]
    for row in rows:
        lines.append(
            (row.model, TITLES[row.strategy], *map(_cell, row.accuracy), _signed(row.accuracy_gain))
        )
        lines.append(("", "", *map(_cell, row.quality), _signed(row.quality_gain)))
    return tuple(lines)


def _cell(value: float) -> str:
    return f"{value:.{PLACES}f}" if np.isfinite(value) else "-"


def _signed(value: float) -> str:
    return f"{value:+.{PLACES}f}" if np.isfinite(value) else "-"

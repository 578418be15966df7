"""Small frames of self-correction trials, written row by row."""

from __future__ import annotations

import numpy as np

from atom.analysis.correction.trials import FAILED_COHORT, RIGHT_COHORT, SCORED, Trials, code_of

LEAVES = (("See", "S", "Sa", "colour"), ("See", "S", "Sb", "count"), ("Think", "T", "Ta", "sum"))
ROOT_OF_LEAF = (0, 0, 1)


def trial(answer, arm, right, **more):
    """One trial row; `criteria` are (criterion, leaf, before, baseline, after, asked)."""
    return {"answer": answer, "arm": arm, "right": right, **more}


def frame(rows, **more):
    """Build the frame; clusters are answers unless given."""
    cohort = {"failed": FAILED_COHORT, "right": RIGHT_COHORT}
    criteria = [
        (at, *criterion) for at, row in enumerate(rows) for criterion in row.get("criteria", ())
    ]
    columns = np.array(criteria, dtype=np.int64).reshape(-1, 7)
    return Trials(
        answer=np.array([row["answer"] for row in rows], dtype=np.int64),
        cluster=np.array([row.get("cluster", row["answer"]) for row in rows], dtype=np.int64),
        arm=np.array([code_of(row["arm"]) for row in rows], dtype=np.int64),
        cohort=np.array([cohort[row.get("cohort", "failed")] for row in rows], dtype=np.int64),
        round=np.array([row.get("round", 1) for row in rows], dtype=np.int64),
        state=np.array([row.get("state", SCORED) for row in rows], dtype=np.int64),
        right=np.array([row["right"] for row in rows], dtype=np.float64),
        was_right=np.array(
            [float(row.get("cohort", "failed") == "right") for row in rows], dtype=np.float64
        ),
        cost=np.array([row.get("cost", 0.01) for row in rows], dtype=np.float64),
        had_failed=np.array([row.get("had_failed", True) for row in rows], dtype=bool),
        had_passed=np.array([row.get("had_passed", True) for row in rows], dtype=bool),
        trial=columns[:, 0],
        criterion=columns[:, 1],
        leaf=columns[:, 2],
        root=np.array([ROOT_OF_LEAF[leaf] if leaf >= 0 else -1 for leaf in columns[:, 2]],
                      dtype=np.int64),
        weight=np.full(len(columns), 2, dtype=np.int64),
        before=columns[:, 3],
        baseline=columns[:, 4],
        after=columns[:, 5],
        asked=columns[:, 6].astype(bool),
        leaves=LEAVES,
        roots=("See", "Think"),
        **more,
    )  # fmt: skip


def arms(**results):
    """Rows of arms on the same answers: one 0, 1 or NaN an answer."""
    return [
        trial(answer, arm, right)
        for arm, values in results.items()
        for answer, right in enumerate(values)
    ]

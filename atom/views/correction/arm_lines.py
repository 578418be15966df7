"""What each arm of an experiment came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from atom.analysis.correction.trials import (
    DROPPED,
    FAILED_COHORT,
    RIGHT,
    RIGHT_COHORT,
    ArmShare,
    ArmStanding,
    Mask,
    Trials,
    arm_shares,
    code_of,
    standing,
)
from atom.records import Arm, Cohort, Correction
from atom.store import Store, table


@dataclass(frozen=True, kw_only=True)
class ArmLine:
    """What came of one arm.

    Attributes:
        cohort: whether its answers were wrong at first, or right.
        share: the share of right answers, with its interval.
        tried: answers that were asked about; others had nothing to ask, or their hints leaked.
        fixed: answers that are right after it.
        wrong: answers that aren't.
        reasons: why others have no result, the most frequent first.
    """

    cohort: Cohort
    share: ArmShare
    tried: int
    fixed: int
    wrong: int
    reasons: tuple[tuple[str, int], ...]


def arm_lines(
    store: Store, experiment_id: str, trials: Trials, upto: int, cohort: int = FAILED_COHORT
) -> tuple[ArmLine, ...]:
    """Work out what came of each arm on answers that were wrong at first, or right.

    Args:
        upto: rounds that count.
    """
    seen, reasons = standing(trials, upto), _reasons(store, experiment_id)
    shares = arm_shares(trials, upto=upto, cohort=cohort)
    return tuple(_arm_line(share, trials, seen, upto, cohort, reasons) for share in shares)


def _arm_line(
    share: ArmShare,
    trials: Trials,
    seen: ArmStanding,
    upto: int,
    cohort: int,
    reasons: Mapping[tuple[Arm, Cohort], Counter[str]],
) -> ArmLine:
    code = code_of(share.arm)
    mine = (seen.cohort == cohort) & seen.ran[:, code]
    value = seen.right[mine, code]
    name: Cohort = "right" if cohort == RIGHT_COHORT else "failed"
    return ArmLine(
        cohort=name,
        share=share,
        tried=int((mine & asked_again(trials, seen, share.arm, upto)).sum()),
        fixed=int((value >= RIGHT).sum()),
        wrong=int((value < RIGHT).sum()),
        reasons=tuple(reasons.get((share.arm, name), Counter()).most_common()),
    )


def asked_again(trials: Trials, seen: ArmStanding, arm: Arm, upto: int) -> Mask:
    """Mark answers that an arm asked about, in `seen`'s order; others never were."""
    rows = (trials.arm == code_of(arm)) & (trials.round <= upto) & (trials.state != DROPPED)
    return np.isin(seen.answer, trials.answer[rows])


def _reasons(store: Store, experiment_id: str) -> dict[tuple[Arm, Cohort], Counter[str]]:
    columns = table(Correction).c
    found: dict[tuple[Arm, Cohort], Counter[str]] = {}
    for row in store.select(
        Correction, columns.experiment_id == experiment_id, columns.state != "scored"
    ):
        text = " ".join(row.detail.split())[:240] or row.state
        found.setdefault((row.arm, row.cohort), Counter())[text] += 1
    return found

"""Judges against what most people say of pairs, for the screen and the command."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from atom.analysis.agreement.fidelity import FidelityShare
from atom.analysis.agreement.raters import ClassScores, UnreadVote
from atom.display import numbers
from atom.display.estimate import Estimate
from atom.display.table import Column, Table
from atom.views.people.pair_labels import CHANCE, FIRST, TIE, PairJudgeRow, PairLabels

JUDGE: Final = "Judge"
COUNTED: Final = "Unread count"
ACCURACY: Final = "Accuracy (95 %)"
UNREAD: Final = "Unread"
PAIRS: Final = "Pairs"
THREE: Final = ("Precision", "Recall", "F1")
_WAYS: Final[dict[UnreadVote, str]] = {
    "tie": "as ties",
    "wrong": "as wrong",
    "left out": "left out",
}


class PairAccuracyRow(NamedTuple):
    """A judge in one way of counting, or what needs no look at the answers.

    Attributes:
        who: the judge, or how every label is given.
        accuracy: share of pairs that are judged as most people do.
        three: precision, recall and F1; NaN where one isn't defined.
        judge: None for what needs no judge.
    """

    who: str
    accuracy: Estimate
    three: tuple[float, float, float]
    judge: PairJudgeRow | None = None


def pair_table(view: PairLabels) -> Table[PairAccuracyRow]:
    """Table the judges, and under them what one label for all and a label at random reach."""
    columns = (
        Column[PairAccuracyRow](title=JUDGE, of=lambda row: row.who),
        Column[PairAccuracyRow](title=COUNTED, of=lambda row: _way(row.judge)),
        Column[PairAccuracyRow](title=ACCURACY, of=lambda row: row.accuracy, number=True),
        *(_average(title, at) for at, title in enumerate(THREE)),
        Column[PairAccuracyRow](
            title=UNREAD,
            number=True,
            of=lambda row: f"{row.judge.scores.unread:,}" if row.judge else "",
        ),
        Column[PairAccuracyRow](
            title=PAIRS, number=True, of=lambda row: f"{row.judge.scores.n:,}" if row.judge else ""
        ),
    )
    words = "the first answer" if view.commonest_label == FIRST else "the second answer"
    always = "a tie" if view.commonest_label == TIE else words
    rows = (
        *(
            PairAccuracyRow(row.judge, _share(row.accuracy), _three(row.scores), row)
            for row in view.judges
        ),
        PairAccuracyRow(
            f"Always {always}, the commonest label",
            Estimate(value=view.commonest.accuracy, unit="share"),
            _three(view.commonest),
        ),
        PairAccuracyRow(
            "A label at random", Estimate(value=CHANCE, unit="share"), (CHANCE, CHANCE, math.nan)
        ),
    )
    return Table(label="Judges against most people", columns=columns, rows=rows)


def _average(title: str, at: int) -> Column[PairAccuracyRow]:
    term = "" if at else "macro average"
    return Column(
        title=title, of=lambda row: numbers.share(row.three[at], 1), number=True, term=term
    )


def _way(row: PairJudgeRow | None) -> str:
    if row is None:
        return ""
    return _WAYS[row.scores.counted] if row.scores.unread else "none unread"


def _share(found: FidelityShare) -> Estimate:
    return Estimate(value=found.value, lo=found.lo, hi=found.hi, unit="share")


def _three(scores: ClassScores) -> tuple[float, float, float]:
    return scores.precision, scores.recall, scores.f1

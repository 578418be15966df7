"""Scores by people's own criteria beside the judge's, for the screen, the command and its CSV."""

from __future__ import annotations

from typing import Final, NamedTuple

from atom.analysis.agreement.fidelity import FidelityShare
from atom.analysis.compare.paired import PairedGap
from atom.display import numbers, writers
from atom.display.estimate import Estimate, Unit
from atom.display.table import Column, Table
from atom.views.people.own_criteria import OwnCriteria, OwnScoreRow

MODEL: Final = "Model"


def score_table(view: OwnCriteria) -> Table[OwnScoreRow]:
    """Table the models' scores by either set."""
    columns = (
        Column[OwnScoreRow](title=MODEL, of=lambda one: one.name, name="model"),
        Column[OwnScoreRow](title="By the judge’s criteria, 0–100",
                            of=lambda one: _mean(one.judge), name="judge", number=True),
        Column[OwnScoreRow](title="By those that people would ask",
                            of=lambda one: _mean(one.people), name="people", number=True),
        Column[OwnScoreRow](title="Difference (95 %)", of=lambda one: _mean(one.gap, "gap"),
                            name="gap", ends=("low", "high"), number=True),
    )  # fmt: skip
    return Table(label="Scores by either set of criteria", columns=columns, rows=view.rows)


def share(found: FidelityShare) -> Estimate:
    """Return a share of criteria."""
    return Estimate(value=found.value, lo=found.lo, hi=found.hi, n=found.n, unit="share")


class _Line(NamedTuple):
    what: str
    model: str
    one: Estimate


def own_csv(view: OwnCriteria) -> str:
    """Write both shares and both scores of every model, a line each."""
    lines = [_Line("recall", "", share(view.recall)), _Line("precision", "", share(view.precision))]
    for row in view.rows:
        lines += [
            _Line("judge's criteria", row.name, _mean(row.judge)),
            _Line("people's", row.name, _mean(row.people)),
            _Line("difference", row.name, _mean(row.gap, "gap")),
        ]
    columns = (
        Column[_Line](title="", of=lambda line: line.what, name="what"),
        Column[_Line](title="", of=lambda line: line.model, name="model"),
        Column[_Line](title="", of=lambda line: line.one, name="value", ends=("low", "high")),
        Column[_Line](title="", of=lambda line: line.one.n, name="n"),
        Column[_Line](title="", of=lambda _: view.by, name="matched by"),
    )
    return writers.csv(Table(label="Own criteria", columns=columns, rows=lines))


def _mean(found: PairedGap, unit: Unit = "score") -> Estimate:
    return Estimate(value=found.gap, lo=found.lo, hi=found.hi, n=found.n, unit=unit)


def answer(view: OwnCriteria) -> str:
    """Say in a sentence how far the criteria are what people would ask."""
    people = numbers.count(len(view.people), "person", "people")
    parts = []
    if view.recall.n:
        parts.append(
            f"the judge asks {share(view.recall)} of "
            f"{numbers.count(view.recall.n, 'criterion', 'criteria')} that people wrote (recall)"
        )
    if view.precision.n:
        parts.append(
            f"people would ask {share(view.precision)} of "
            f"{numbers.count(view.precision.n, 'criterion', 'criteria')} of the judge’s (precision)"
        )
    said = "; ".join(parts) or "nothing is matched or ticked yet"
    return f"{said[:1].upper()}{said[1:]}: {people}, {numbers.count(view.samples, 'question')}."

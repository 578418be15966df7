"""The ranking as a table: for the export's CSV and page, and for a notebook's frame.

A file's columns hold numbers as they were computed; whoever writes them may round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from atom.display import numbers
from atom.display.table import Column, Table, Value
from atom.records import CAUSES
from atom.views.overview.evidence import GLYPHS
from atom.views.overview.page import Overview
from atom.views.overview.ranking import RankRow

RANK, MODEL, BAR, N, RIGHT, LUCKY, DIFFER, UNSCORED, FOUND = (
    "Rank", "Model", "0 to 100", "n", "Right, of all asked", "Right, wrong reason",
    "≠ Judges differ", "∅ Unscored", "Stands out",
)  # fmt: skip
_SCORE: Final = {
    "process": "Score, 0–100",
    "outcome": "Right answers, %",
    "preference": "Votes won, %",
}
"""The score's heading, by what is measured."""
_NAMED = 3
"""Weaknesses and strengths that a cell names; the rest is counted."""
_CLAIMS: Final = (
    ("confirmed_weaknesses", "confirmed"),
    ("suspected_weaknesses", "suspected"),
    ("strengths", "strength"),
)


def ranking_table(view: Overview, said: Overview | None = None) -> Table[RankRow]:
    """Table a ranking.

    Args:
        said: the same study read by what answers say, whose scores a file has beside the others.
    """
    rows = view.ranking
    # The smallest n of a column decides on decimals for the column as a whole.
    right = min((row.right.n for row in rows if row.right.known), default=0)
    lucky = min((row.lucky.n for row in rows if row.lucky.known), default=0)
    columns = (
        *_files({row.model_id: row.score.value for row in said.ranking} if said else {}),
        Column[RankRow](title=RANK, of=_rank, number=True),
        Column[RankRow](title=MODEL, of=lambda row: row.name),
        Column[RankRow](
            title=_SCORE[view.measure],
            of=lambda row: row.score,
            write=numbers.interval,
            number=True,
        ),
        Column[RankRow](title=BAR, of=lambda _: "", broad=True),
        Column[RankRow](title=N, of=lambda row: row.score.n, number=True),
        Column[RankRow](
            title=RIGHT, of=lambda row: numbers.percent(row.right.value, right), number=True
        ),
        Column[RankRow](
            title=LUCKY, of=lambda row: numbers.percent(row.lucky.value, lucky), number=True
        ),
        Column[RankRow](title=DIFFER, of=_differ, number=True, spare=True),
        Column[RankRow](
            title=UNSCORED, of=lambda row: numbers.in_percent(row.unscored), number=True
        ),
        Column[RankRow](title=FOUND, of=_found, write="\n".join),
    )
    return Table(label="Ranking of models", columns=columns, rows=rows)


def _files(said: Mapping[str, float]) -> tuple[Column[RankRow], ...]:
    """Declare what files and frames have, in their order."""
    return (
        _datum("model", lambda row: row.name),
        _datum("rank_best", lambda row: row.rank_best or None),
        _datum("rank_worst", lambda row: row.rank_worst or None),
        _datum("score", lambda row: row.score, ("low", "high")),
        _datum("n", lambda row: row.score.n),
        _datum("samples", lambda row: row.score.samples),
        _datum("right", lambda row: row.right, ("right_low", "right_high")),
        _datum("asked", lambda row: row.accuracy.n_asked),
        _datum("right_of_given", lambda row: row.given,
               ("right_of_given_low", "right_of_given_high")),
        _datum("given", lambda row: row.accuracy.n_given),
        *(_datum(f"withheld_{cause}", partial(_withheld, cause)) for cause in CAUSES if cause),
        _datum("lucky", lambda row: row.lucky.value),
        _datum("unscored_percent", lambda row: row.unscored),
        _datum("unscored", lambda row: row.n_unscored),
        *(_datum(name, partial(_claims, status)) for name, status in _CLAIMS),
        _datum("score_of_what_was_said", lambda row: said.get(row.model_id)),
        _datum("steps_said_percent", lambda row: row.said),
        _datum("terse", lambda row: row.terse),
        _datum("carried", lambda row: row.carried),
        _datum("judges_differ_percent", lambda row: row.judges.share if row.judges else None),
        _datum("disagreement", lambda row: row.judges.disagreement if row.judges else None),
    )  # fmt: skip


def _datum(
    name: str, of: Callable[[RankRow], Value], ends: tuple[str, ...] = ()
) -> Column[RankRow]:
    return Column(title="", of=of, name=name, ends=ends, seen="data")


def _withheld(cause: str, row: RankRow) -> int:
    return dict(row.accuracy.withheld).get(cause, 0)


def _claims(status: str, row: RankRow) -> int:
    return sum(one.status == status for one in row.findings)


def _rank(row: RankRow) -> str:
    return numbers.rank(row.rank_best, row.rank_worst) if row.rank_best else numbers.NONE


def _differ(row: RankRow) -> str:
    found = row.judges
    if found is None or not found.n:
        return numbers.NONE
    share = numbers.percent(found.share, found.n)
    return f"{share} of {found.n:,} (± {numbers.score(found.disagreement)})"


def _found(row: RankRow) -> tuple[str, ...]:
    lines = tuple(
        f"{GLYPHS[one.status][0]} {one.name} ({GLYPHS[one.status][1]})"
        for one in row.findings[:_NAMED]
    )
    left = len(row.findings) - _NAMED
    return (*lines, f"and {left:,} more") if left > 0 else lines

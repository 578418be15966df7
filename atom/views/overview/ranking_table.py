"""The ranking as a table: for the Overview, the export's CSV and page, and a notebook's frame.

A file's columns hold numbers as they were computed; whoever writes them may round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from atom.display import numbers
from atom.display.estimate import Estimate
from atom.display.table import Column, Table, Value
from atom.records import CAUSES
from atom.views.overview.evidence import GLYPHS
from atom.views.overview.page import Overview
from atom.views.overview.ranking import RankRow
from atom.views.overview.weaknesses import Weakness, leading
from atom.views.people.scale_rows import PeopleScale

(
    RANK, MODEL, BAR, N, PEOPLE, RIGHT, GIVEN, NOT_GIVEN, LUCKY, SAID, TERSE, DIFFER, UNSCORED,
    WEAK, FOUND,
) = (
    "Rank", "Model", "0 to 100", "n", "People’s scale", "Right, of all asked",
    "Right, of answers given", "Not given", "Right, wrong reason", "Steps said", "Terse",
    "≠ Judges differ", "∅ Unscored", "Weaknesses", "Stands out",
)  # fmt: skip
SCORE: Final = {
    "process": "Score, 0–100",
    "outcome": "Right answers, %",
    "preference": "Votes won, %",
}
"""The score's heading, by what is measured."""
ANCHOR = "the anchor, not ranked"
_NAMED = 3
"""Weaknesses and strengths that a cell names; the rest is counted."""
_CLAIMS: Final = (
    ("confirmed_weaknesses", "confirmed"),
    ("suspected_weaknesses", "suspected"),
    ("strengths", "strength"),
)


_Rank = Column[RankRow]


def ranking_table(
    view: Overview, said: Overview | None = None, people: PeopleScale | None = None
) -> Table[RankRow]:
    """Table a ranking.

    Args:
        said: the same study read by what answers say, whose scores a file has beside the others.
        people: scores on people's scale, which stand beside the judge's.
    """
    rows = view.ranking
    process, score = view.measure == "process", SCORE[view.measure]
    panel = any(row.judges is not None for row in rows)
    spoken = any(row.said < 100 or row.filters.reading == "said" for row in rows)
    withheld = any(row.accuracy.withheld for row in rows)
    by_people = {row.model_id: row for row in people.rows} if people and process else {}
    # The smallest n of a column decides on decimals for the column as a whole.
    right = min((row.right.n for row in rows if row.right.known), default=0)
    lucky = min((row.lucky.n for row in rows if row.lucky.known), default=0)

    def on_people_s_scale(row: RankRow) -> Estimate | None:
        found = by_people.get(row.model_id)
        return found.people if found is not None and found.enough else None

    def given(row: RankRow) -> str:
        # As fine as the share of all asked, beside it: by outcome that is the score.
        value = row.given.value
        return numbers.percent(value, right) if process else numbers.in_percent(value)

    columns = (
        *_files({row.model_id: row.score.value for row in said.ranking} if said else {}),
        _Rank(title=RANK, of=_rank, term="rank set", width="52px"),
        _Rank(title=MODEL, of=lambda row: row.name),
        _Rank(title=score, of=lambda row: row.score.text, seen="screen", number=True),
        _Rank(title=score, of=lambda row: numbers.interval(row.score), seen="text", number=True),
        _Rank(title=BAR, of=lambda _: "", width="18%"),
        _Rank(title=N, of=lambda row: row.score.n, seen="text", number=True),
        _Rank(title=PEOPLE, of=on_people_s_scale, term="people's scale", number=True,
              when=bool(by_people)),
        _Rank(title=RIGHT, of=lambda row: numbers.percent(row.right.value, right), number=True,
              when=process),
        _Rank(title=GIVEN, of=given, number=True, when=withheld),
        _Rank(title=NOT_GIVEN, of=_not_given, when=withheld),
        _Rank(title=LUCKY, of=lambda row: numbers.percent(row.lucky.value, lucky), term="lucky",
              number=True, when=any(row.lucky.known for row in rows)),
        _Rank(title=SAID, of=lambda row: numbers.percent(row.said, row.score.n), term="said",
              number=True, broad=panel, when=process and spoken),
        _Rank(title=TERSE, of=lambda row: row.terse, term="terse", number=True,
              when=process and any(row.terse for row in rows)),
        _Rank(title=DIFFER, of=_differ, seen="screen", term="judges differ", number=True,
              when=process and panel),
        _Rank(title=DIFFER, of=_differ_at_length, seen="text", number=True, when=panel),
        _Rank(title=UNSCORED, of=_unscored, term="unscored", number=True, when=process),
        _Rank(title=WEAK, of=lambda row: _weak(view, row)[0], seen="screen", term="weakness"),
        _Rank(title=FOUND, of=lambda row: _stands_out(view, row), seen="text"),
    )  # fmt: skip
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


def _not_given(row: RankRow) -> str:
    return row.accuracy.words or ("0" if row.accuracy.n_asked else numbers.NONE)


def _differ(row: RankRow) -> str:
    found = row.judges
    if found is None or not found.n:
        return numbers.NONE
    return numbers.percent(found.share, found.n)


def _differ_at_length(row: RankRow) -> str:
    found, share = row.judges, _differ(row)
    if found is None or not found.n:
        return share
    return f"{share} of {found.n:,} (± {numbers.score(found.disagreement)})"


def _unscored(row: RankRow) -> str:
    text = numbers.percent(row.unscored, row.score.n) if row.n_unscored else "0"
    return f"{text} + {row.n_aside:,} n/a" if row.n_aside else text


def _weak(view: Overview, row: RankRow) -> tuple[str, ...]:
    """Name the weaknesses that a row leads with; where there is none say why."""
    if row.colour == view.anchor:
        return (ANCHOR,)
    if not row.rank_best:
        return (numbers.NONE,)
    named = tuple(map(_named, leading(row.findings)))
    return named or ("· nothing found" if row.tested else "○ insufficient",)


def _stands_out(view: Overview, row: RankRow) -> tuple[str, ...]:
    """Name weaknesses, as the Overview does, and strengths behind them."""
    strong = tuple(_named(one) for one in row.findings if one.status == "strength")
    lines = (*(_weak(view, row) if leading(row.findings) or not strong else ()), *strong)
    left = len(lines) - _NAMED
    return (*lines[:_NAMED], f"and {left:,} more") if left > 0 else lines


def _named(one: Weakness) -> str:
    glyph, status = GLYPHS[one.status]
    return f"{glyph} {one.name} ({status})"

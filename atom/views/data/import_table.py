"""Data: what an import brought, for the Data page and for `import`."""

from __future__ import annotations

from atom.display import numbers
from atom.display.table import Column, Table
from atom.formats import Account, ImportReport
from atom.formats.intake.account import Item, Tally

_REASONS = 3
_LEFT_OUT: dict[Item, str] = {
    "questions": "samples",
    "marks": "scores by a judge",
    "labels": "labels by people",
    "groups": "labels",
    "judgments": "marks on criteria",
}
"""Kinds that a sentence calls otherwise than the account's file."""
_ITEMS = {"labels": "People’s labels", "groups": "Labels to group by"}
"""Kinds that are called otherwise than in the account's file."""


def brought_words(found: ImportReport, *, kept: bool) -> str:
    """Say in a sentence what came of reading files.

    Args:
        kept: whether it is in; else it would come in.
    """
    facts = (
        (found.samples, "samples"),
        (len(found.candidates), "models"),
        (found.responses, "answers"),
        (found.outcomes, "verdicts"),
        (found.tags, "labels"),
        (found.preferences, "votes"),
        (found.annotations, "labels by people"),
        (found.verdicts, "scores by a judge"),
        (found.criteria, "criteria"),
        (found.judgments, "marks on criteria"),
        (found.pictures, "pictures"),
    )
    words = ", ".join(numbers.counted(n, nouns) for n, nouns in facts if n)
    left = ", ".join(
        numbers.counted(one.n_left_out, _LEFT_OUT.get(one.item, one.item))
        for one in found.account.tallies
        if one.n_left_out
    )
    came = f"{'Came in' if kept else 'Would come in'}: {words or 'nothing'}"
    return f"{came}; {left or 'nothing'} left out."


def so_far_words(found: ImportReport) -> str:
    """Say how far an import is."""
    facts = ((found.rows, "row"), (found.samples, "sample"), (found.responses, "answer"))
    said = [numbers.count(n, noun) for n, noun in facts]
    return ", ".join([*said, *([f"{found.n_skipped:,} left out"] if found.n_skipped else [])])


def account_table(found: Account) -> Table[Tally]:
    """Table an import's account: of each kind of thing what was read, and what became of it."""
    return Table(
        label="The account of this import",
        columns=(
            Column(title="What", of=lambda tally: _ITEMS.get(tally.item, tally.item.capitalize())),
            Column(title="In the files", of=lambda tally: tally.read, number=True),
            Column(title="Came in", of=lambda tally: tally.came_in, number=True),
            Column(title="Here before", of=lambda tally: tally.known or "", number=True),
            Column(title="Left out", of=lambda tally: tally.n_left_out, number=True),
            Column(title="Why", of=_reasons, broad=True, spare=True),
        ),
        rows=found.tallies,
    )


def _reasons(tally: Tally) -> str:
    said = [f"{one.n:,}: {one.reason}" for one in tally.left_out[:_REASONS]]
    more = len(tally.left_out) - len(said)
    return "; ".join([*said, *([numbers.count(more, "more reason")] if more else [])])

"""The account of an import says its kinds in the words of the sentence above it."""

from __future__ import annotations

from atom.formats import Account
from atom.formats.intake.account import Tally
from atom.ui.data.parts import account


def test_labels_to_group_by_are_not_called_groups():
    tallies = tuple(Tally(item=item, read=2, came_in=2) for item in ("rows", "labels", "groups"))
    drawn = str(account(Account(tallies=tallies)))
    kinds = ("Rows", "People’s labels", "Labels to group by", "Labels", "Groups")
    assert [word for word in kinds if f">{word}<" in drawn] == list(kinds[:3])

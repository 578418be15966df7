"""What came of moving an import: conflicts, and what is new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from atom.records import Import, Record
from atom.store.imports.judgments import CriteriaImport

_ONE = {
    "questions": "question",
    "answers": "answer",
    "verdicts": "verdict",
    "labels of questions and answers": "label of a question or an answer",
    "votes": "vote",
    "people's labels": "person's label",
    "judge's marks": "judge's mark",
    "marks on criteria": "mark on a criterion",
}


@dataclass(frozen=True, kw_only=True)
class RecordConflict:
    """Records of one kind whose content isn't what the store holds under the same id."""

    what: str
    """What changed, in the plural: `answers`."""
    n: int
    names: tuple[str, ...]
    """The first of their questions, by their ids in the source."""

    def __str__(self) -> str:
        more = ", ..." if self.n > len(self.names) else ""
        what = _ONE.get(self.what, self.what) if self.n == 1 else self.what
        return f"{self.n:,} {what} ({', '.join(map(repr, self.names))}{more})"


@dataclass(frozen=True, kw_only=True)
class MoveResult:
    """What came of moving an import into the store.

    Args:
        found: conflicts; where they stand in the way nothing was moved.
        elsewhere: names of other studies that hold what would have to change.
        new: how many records of each kind are new.
        known: how many were there, unchanged.
        taken_back: imports that went, because this one replaces them.
        reworded: questions that these files word otherwise; the wording that is there stays.
        stood: what came of criteria that were brought.
    """

    found: tuple[RecordConflict, ...] = ()
    elsewhere: tuple[str, ...] = ()
    new: Mapping[type[Record], int] = field(default_factory=dict)
    known: Mapping[type[Record], int] = field(default_factory=dict)
    taken_back: tuple[Import, ...] = ()
    reworded: int = 0
    stood: CriteriaImport = field(default_factory=CriteriaImport)


class ConflictFoundError(Exception):
    """Ends the transaction: what is there stays as it is."""

    def __init__(self, moved: MoveResult) -> None:
        super().__init__("conflict")
        self.moved = moved

"""What came of an import, as its reader is told."""

from __future__ import annotations

from pydantic import Field

from atom.display import numbers
from atom.formats.column_map import ColumnMap
from atom.formats.intake.account import Account
from atom.records import (
    Import,
    Record,
    TagSubject,
)

MAX_SKIPPED = 200
MAX_MISSING = 1000


class FacetCount(Record):
    """How many values a facet was seen to have."""

    facet: str
    subject: TagSubject
    values: int
    """Distinct values; counting stops at 1,000."""


class ImportReport(Record):
    """What came of an import."""

    format: str
    dataset: str
    sources: tuple[str, ...]
    """File names (without folders)."""
    rows: int = 0
    """Rows that were read, skipped ones included."""
    samples: int = 0
    candidates: tuple[str, ...] = ()
    """Names, in the order met."""
    responses: int = 0
    outcomes: int = 0
    tags: int = 0
    preferences: int = 0
    """Votes between two answers, one an order."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Candidate's id -> id of the one that it is declared to be a later version of."""
    annotations: int = 0
    """People's labels."""
    verdicts: int = 0
    """A judge's scores and rankings that are no votes."""
    criteria: int = 0
    judgments: int = 0
    """Marks on criteria, by anybody."""
    pictures: int = 0
    """Pictures that were found and can be attached."""
    facets: tuple[FacetCount, ...] = ()
    columns: ColumnMap | None = None
    """The column map in use (generic table only; the first file's)."""
    skipped: tuple[str, ...] = ()
    """What was left out and why, a line each (at most 200)."""
    n_skipped: int = 0
    notes: tuple[str, ...] = ()
    """What the reader should know (traps met), a line each."""
    missing_pictures: tuple[str, ...] = ()
    """Names of pictures that were expected and not found (at most 1,000)."""
    n_missing_pictures: int = 0
    account: Account = Account()
    """What became of everything that was read."""
    doubts: tuple[str, ...] = ()
    """What must be accepted before this comes in: much left out, figures that disagree, columns
    that weren't used."""

    @property
    def missing_words(self) -> str:
        """Say how many pictures are missing."""
        n = self.n_missing_pictures
        return f"{numbers.count(n, 'picture')} {numbers.are(n)} missing"

    def to_import(self, import_id: str, study_id: str, created: str) -> Import:
        """Make the record that a study keeps of this import."""
        notes = self.notes
        criteria = numbers.count(self.criteria, "criterion", "criteria")
        if self.n_missing_pictures:
            notes += (
                f"{self.missing_words}; attach them with `study pictures FOLDER --study NAME`",
            )
        if self.preferences:
            notes += (f"{numbers.count(self.preferences, 'vote')} between answers came in",)
        if self.annotations:
            notes += (f"{numbers.count(self.annotations, 'label')} by people came in",)
        if self.verdicts:
            notes += (f"{numbers.count(self.verdicts, 'score')} by a judge came in",)
        if self.judgments:
            notes += (f"{numbers.count(self.judgments, 'mark')} on {criteria} came in",)
        if self.n_skipped > len(self.skipped):
            notes += (f"{self.n_skipped:,} rows were left out; the first {MAX_SKIPPED} are listed",)
        return Import(
            id=import_id,
            study_id=study_id,
            format=self.format,
            sources=self.sources,
            created=created,
            samples=self.samples,
            responses=self.responses,
            skipped=self.skipped,
            notes=notes,
            account=self.account.model_dump_json(),
        )

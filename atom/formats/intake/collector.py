"""Gathers the records that a format reads into batches, and counts what was met."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, get_args

from atom.formats.column_map import ColumnMap
from atom.formats.intake.account import Account, Item, make_account, plain_reason, too_much_left_out
from atom.formats.intake.batch import (
    Batch,
    Frame,
    GivenLabel,
    GivenVerdict,
    ImportedRecord,
    candidate_id,
)
from atom.formats.intake.report import MAX_MISSING, MAX_SKIPPED, FacetCount, ImportReport
from atom.formats.pictures import NOT_THERE, PictureData
from atom.records import (
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    Outcome,
    Preference,
    Record,
    Response,
    Sample,
    Tag,
    TagSubject,
    content_id,
)
from atom.records import Mapping as Mapped
from atom.records.rows import Row, Rows, row_of

_MAX_FACET_VALUES = 1000
_MOST_FIGURES = 20
_BATCH_ROWS = 8_000
_BATCH_LETTERS = 4_000_000
"""Of answers."""
_BATCH_BYTES = 32_000_000


@dataclass(frozen=True, kw_only=True)
class Owner:
    """The study that an import goes into, and how its data sets name their questions."""

    study_id: str
    sets: Mapping[str, str] = field(default_factory=dict)
    """Data set -> what stands for it in its questions' ids, of sets that the study holds."""
    by_content: frozenset[str] = frozenset()
    """Data sets of the study whose rows without an id are named by their content."""

    def scope(self, dataset: str) -> str:
        """Return what stands for a data set that nobody named: it is this study's alone."""
        return f"{self.study_id}/{dataset}"


_ITEMS: Mapping[type, Item] = {
    Sample: "questions",
    Response: "answers",
    Outcome: "verdicts",
    Tag: "groups",
    Preference: "votes",
    GivenVerdict: "marks",
    GivenLabel: "labels",
    Criterion: "criteria",
    Checkpoint: "judgments",
}
STOOD_TWICE = "it stands twice, and counts once"
"""A reason that loses nothing."""
_FRAME = get_args(Frame)
_FACET_OF = itemgetter(0, 3, 4)
_TEXT = tuple(Response.model_fields).index("text")
"""Subject, facet and value of a tag's row."""
_KEPT_AS_ROWS = (
    Sample, Response, Outcome, Tag, Criterion, CriteriaSet, Mapped, Checkpoint,
)  # fmt: skip


def _no_rows() -> dict[type, list[Row]]:
    return {kind: [] for kind in _KEPT_AS_ROWS}


class Collector:
    """Gathers records into batches and counts what was met, while a format reads."""

    def __init__(self, format_name: str, dataset: str, sources: Sequence[str]) -> None:
        self.dataset = dataset
        self.columns: ColumnMap | None = None
        self.judge: str | None = None
        """The judge that a study without one looks through."""
        self.tree: str | None = None
        """The tree that criteria hang in, for a study without one."""
        self.synthetic = False
        """Whether the files say that programs made any of it."""
        self.rows = 0
        """Rows that were read, those that are left out included."""
        self._owner: Owner | None = None
        self._named = False
        self._last_name: tuple[str, str] | None = None
        self._last_id = ""
        self._scopes: dict[str, str] = {}
        self._left: dict[Item, Counter[str]] = {}
        self._doubts: dict[str, None] = {}
        self._format = format_name
        self._sources = tuple(sources)
        self._counts: Counter[str] = Counter()
        self._candidates: dict[str, str] = {}
        self._versions: dict[str, str] = {}
        self._facets: defaultdict[tuple[str, TagSubject], set[str]] = defaultdict(set)
        self._skipped: list[str] = []
        self._n_skipped = 0
        self._notes: dict[str, None] = {}
        self._tallies: dict[str, tuple[int, str]] = {}
        self._missing: dict[str, None] = {}
        self._n_missing = 0
        self._pending: list[Candidate | ImportedRecord] = []
        self._rows = _no_rows()
        self._n_rows = self._letters = 0
        self._pictures: list[PictureData] = []
        self._picture_bytes = 0
        self._seen_pictures: set[str] = set()

    def belongs_to(self, owner: Owner, *, named: bool) -> None:
        """Say whose data this is, before the first batch.

        Args:
            owner: the study that it goes into.
            named: whether the user named the data set; a named one is the same in every study.
        """
        self._owner, self._named = owner, named
        self._last_name = None
        self._scopes.clear()

    @property
    def by_content(self) -> bool:
        """Whether rows without an id are named by their content, as old imports did it."""
        return self._owner is not None and self.dataset in self._owner.by_content

    def sample_id(
        self,
        source_id: str | None,
        question: str = "",
        choices: tuple[str, ...] = (),
        pictures: tuple[str, ...] = (),
    ) -> str:
        """Name a question: equal ids of two studies are two questions, unless the set is named.

        Args:
            source_id: its id in the source; None = it is named by its content.
            question: its text.
            choices: its options.
            pictures: its pictures' ids, or names where they aren't attached.
        """
        if source_id is not None:
            # The rows of one question mostly stand together.
            if self._last_name != (self.dataset, source_id):
                self._last_name = (self.dataset, source_id)
                self._last_id = Sample.make_id(self._scope(), source_id)
            return self._last_id
        scope = self._scope()
        if scope == self.dataset:
            return Sample.make_id(scope, None, question, choices, pictures)
        return content_id("sample", scope, list(pictures), question, list(choices))

    def sample_namer(self) -> Callable[[str], str]:
        """Return what names this data set's questions by their ids, as `sample_id` does."""
        return Sample.named_in(self._scope())

    def _scope(self) -> str:
        """Return what stands for the data set in its questions' ids."""
        scope = self._scopes.get(self.dataset)
        if scope is None:
            scope = self._scopes[self.dataset] = self._new_scope()
        return scope

    def _new_scope(self) -> str:
        owner = self._owner
        if owner is None:
            return self.dataset
        known = owner.sets.get(self.dataset)
        return known or (self.dataset if self._named else owner.scope(self.dataset))

    def add(self, record: ImportedRecord) -> None:
        """Take a record into the current batch."""
        kind = record.__class__
        if kind in self._rows:
            assert isinstance(record, Record)
            self.add_row(kind, row_of(record))
            return
        self._pending.append(record)
        self._counts[kind.__name__] += 1

    def add_row(self, kind: type, row: Row) -> None:
        """Take in as a row (`records.rows`) what is kept as one."""
        self._rows[kind].append(row)
        self._n_rows += 1
        if kind is Response:
            self._letters += len(row[_TEXT])

    def add_asked(self, sample: Row, tags: Sequence[Row]) -> None:
        """Take in a question and its labels, as `add_row` takes each."""
        rows = self._rows
        rows[Sample].append(sample)
        rows[Tag] += tags
        self._n_rows += 1 + len(tags)

    def add_answered(self, response: Row, outcome: Row) -> None:
        """Take in an answer and its verdict, as `add_row` takes each."""
        rows = self._rows
        rows[Response].append(response)
        rows[Outcome].append(outcome)
        self._n_rows += 2
        self._letters += len(response[_TEXT])

    def _count(self, kind: type) -> int:
        """Count what was met of a kind, in the current batch too."""
        return self._counts[kind.__name__] + len(self._rows.get(kind, ()))

    def _note_facets(self) -> None:
        for subject, facet, value in dict.fromkeys(map(_FACET_OF, self._rows[Tag])):
            values = self._facets[facet, subject]
            if len(values) < _MAX_FACET_VALUES:
                values.add(value)

    def candidate(self, name: str) -> str:
        """Return a candidate's id, giving its record the first time."""
        known = self._candidates.get(name)
        if known is None:
            known = self._candidates[name] = candidate_id(name)
            self._pending.append(Candidate(id=known, name=name))
        return known

    def version(self, name: str, before: str | None) -> None:
        """Take a candidate's declaration to be a later version of another; the first one counts."""
        if before and candidate_id(before) != candidate_id(name):
            self._versions.setdefault(candidate_id(name), candidate_id(before))

    def picture(self, picture: PictureData) -> None:
        """Take a picture's bytes, once."""
        if picture.id in self._seen_pictures:
            return
        self._seen_pictures.add(picture.id)
        self._pictures.append(picture)
        self._picture_bytes += len(picture.data)
        self._counts["pictures"] += 1

    def has_picture(self, picture_id: str) -> bool:
        """Whether this picture's bytes came in."""
        return picture_id in self._seen_pictures

    def missing_picture(self, name: str, reason: str = "") -> None:
        """Note a picture that was expected and not found."""
        if name in self._missing:
            return
        self._n_missing += 1
        if reason and reason != NOT_THERE:
            self.tally(f"a picture was not taken, because {reason}", name)
        if len(self._missing) < MAX_MISSING:
            self._missing[name] = None

    def skip(self, place: str, reason: str, item: Item = "rows") -> None:
        """Note something that is left out, and why.

        Args:
            place: where it stands.
            reason: why.
            item: what it is: a whole row, or only a part of one.
        """
        self.left_out(item, reason)
        self._n_skipped += 1
        if len(self._skipped) < MAX_SKIPPED:
            self._skipped.append(f"{place}: {reason}")

    def left_out(self, item: Item, reason: str, n: int = 1) -> None:
        """Count what is left out without a line of its own."""
        self._left.setdefault(item, Counter())[plain_reason(reason)] += n

    def doubt(self, text: str) -> None:
        """Note what the user must accept before this comes in, with what else can be done."""
        self._doubts[text] = None

    def broken(self, text: str) -> None:
        """Note that a file breaks off: nobody knows how much of it is missing."""
        self.note(text)
        self.doubt(f"{text}: get the whole file, or accept what stands before the break")

    def note(self, text: str) -> None:
        """Note something once."""
        self._notes[text] = None

    def figures(self, source: str, agreeing: int, differing: Sequence[str]) -> None:
        """Say how a published table compares with what was recomputed from its rows.

        Args:
            source: the table's file.
            agreeing: how many figures agree.
            differing: those that don't, a line each.
        """
        total = agreeing + len(differing)
        self.note(f"{source}: {agreeing:,} of {total} figures agree")
        for line in differing[:_MOST_FIGURES]:
            self.note(f"{source}: {line}")
        if differing:
            self.doubt(
                f"{source}: {len(differing):,} of {total} published figures aren't what the rows "
                f"come to ({differing[0]}): look for a file that is missing or of another run, or "
                "accept it"
            )

    def tally(self, text: str, place: str, left_out: Item | None = None) -> None:
        """Count something that may happen often; the note shows how often and where first.

        Args:
            text: what happened.
            left_out: what is left out by it, where something is.
        """
        if left_out is not None:
            self.left_out(left_out, text)
        n, first = self._tallies.get(text, (0, place))
        self._tallies[text] = (n + 1, first)

    @property
    def is_full(self) -> bool:
        """Whether the current batch should go out."""
        return (
            self._n_rows + len(self._pending) >= _BATCH_ROWS
            or self._letters >= _BATCH_LETTERS
            or self._picture_bytes >= _BATCH_BYTES
        )

    def flush(self) -> Batch:
        """Give the current batch and begin a new one."""
        self._note_facets()
        for kind, rows in self._rows.items():
            self._counts[kind.__name__] += len(rows)
        by_kind: dict[type, list[Any]] = {}
        for record in self._pending:
            by_kind.setdefault(record.__class__, []).append(record)
        batch = Batch(
            samples=Rows(Sample, self._rows[Sample]),
            candidates=tuple(by_kind.get(Candidate, ())),
            responses=Rows(Response, self._rows[Response]),
            outcomes=Rows(Outcome, self._rows[Outcome]),
            tags=Rows(Tag, self._rows[Tag]),
            preferences=tuple(by_kind.get(Preference, ())),
            annotations=tuple(by_kind.get(GivenLabel, ())),
            verdicts=tuple(by_kind.get(GivenVerdict, ())),
            frame=tuple(one for kind in _FRAME for one in by_kind.get(kind, ())),
            criteria=Rows(Criterion, self._rows[Criterion]),
            sets=Rows(CriteriaSet, self._rows[CriteriaSet]),
            leaves=Rows(Mapped, self._rows[Mapped]),
            marks=Rows(Checkpoint, self._rows[Checkpoint]),
            pictures=tuple(self._pictures),
        )
        self._pending = []
        self._rows = _no_rows()
        self._n_rows = self._letters = 0
        self._pictures = []
        self._picture_bytes = 0
        return batch

    def report(self) -> ImportReport:
        """Say what was met so far."""
        self._note_facets()
        account = self._account()
        tallies = tuple(
            f"{'once' if n == 1 else f'{n} times'}: {text} (first: {place})"
            for text, (n, place) in self._tallies.items()
        )
        return ImportReport(
            format=self._format,
            dataset=self.dataset,
            sources=self._sources,
            rows=self.rows,
            samples=self._count(Sample),
            candidates=tuple(self._candidates),
            responses=self._count(Response),
            outcomes=self._count(Outcome),
            tags=self._count(Tag),
            preferences=self._counts["Preference"],
            versions=dict(self._versions),
            annotations=self._counts["GivenLabel"],
            verdicts=self._counts["GivenVerdict"],
            criteria=self._count(Criterion),
            judgments=self._count(Checkpoint),
            pictures=self._counts["pictures"],
            facets=tuple(
                FacetCount(facet=facet, subject=subject, values=len(values))
                for (facet, subject), values in self._facets.items()
            ),
            columns=self.columns,
            skipped=tuple(self._skipped),
            n_skipped=self._n_skipped,
            notes=(*self._notes, *tallies),
            missing_pictures=tuple(self._missing),
            n_missing_pictures=self._n_missing,
            account=account,
            doubts=(*self._doubts, *too_much_left_out(account, [plain_reason(STOOD_TWICE)])),
        )

    def _account(self) -> Account:
        came_in: dict[Item, int] = {item: self._count(kind) for kind, item in _ITEMS.items()}
        came_in["rows"] = self.rows - sum(self._left.get("rows", Counter()).values())
        return make_account(came_in, self._left)


class UnreadRows:
    """Takes what a reader of rows can't read: such a row was read, and is left out."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def skip(self, place: str, reason: str) -> None:
        """Note a row that is left out."""
        self._collector.rows += 1
        self._collector.skip(place, reason)

    def note(self, text: str) -> None:
        """Note something once."""
        self._collector.note(text)

    def broken(self, text: str) -> None:
        """Note that a file breaks off."""
        self._collector.broken(text)

"""Data: what is in here, and what would come in from files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from atom.errors import FormatError
from atom.formats import (
    FORMATS,
    ColumnMap,
    ImportFile,
    ImportReport,
    PictureFinder,
    detect,
    preview,
)
from atom.formats.foreign import check_foreign
from atom.formats.guess import column_names
from atom.formats.registry import Preview
from atom.formats.rows import find_layout, read_rows
from atom.formats.table import NAME as TABLE
from atom.records import Import, Sample
from atom.store import Store, count_study, table
from atom.views.shelf import Shelf, StudyEntry

ROWS = 8
"""First rows that are shown."""
UNFINISHED = "broke off before its end"
_HEAD_ROWS = 50
MAPPED: tuple[tuple[str, str], ...] = (
    ("question", "Question"),
    ("answer", "Right answer"),
    ("id", "Id of the question"),
    ("model", "Model's name"),
    ("response", "Model's answer"),
    ("correct", "Right or wrong"),
    ("extracted", "Final answer that was read out"),
)
"""Fields of a column map that one column fills, and what a screen calls them."""
MAPPED_MANY: tuple[tuple[str, str], ...] = (
    ("pictures", "Pictures"),
    ("choices", "Choices"),
    ("tags", "Labels"),
)
"""Fields that several columns may fill."""


@dataclass(frozen=True, kw_only=True)
class StudyCard:
    """A study as the list shows it."""

    entry: StudyEntry
    samples: int
    candidates: int
    responses: int
    imports: int


@dataclass(frozen=True, kw_only=True)
class FirstRow:
    """One of the first rows, as it would come in."""

    question: str
    choices: tuple[str, ...]
    reference: str
    model: str
    answer: str
    right: str
    """`right`, `wrong`, a share, or empty where no verdict came with it."""
    pictures: str
    """`2 found`, `missing: cat.png`, or empty."""


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What the first rows of files say.

    Attributes:
        format: the form they are read as.
        about: what that form is.
        recognised: whether it was found out; else it was chosen.
        rows: the first of them.
        report: what was met in them.
        columns: a table's columns; empty for other forms.
        mapped: which of them is what, guessed where nobody said.
    """

    format: str
    about: str
    recognised: bool
    rows: tuple[FirstRow, ...]
    report: ImportReport
    columns: tuple[str, ...]
    mapped: ColumnMap | None


def study_cards(shelf: Shelf, store_of: Callable[[StudyEntry], Store]) -> tuple[StudyCard, ...]:
    """Count what every study holds.

    Args:
        shelf: all studies.
        store_of: opens the store that holds one.
    """
    cards = []
    for entry in shelf.entries:
        store = store_of(entry)
        counts = count_study(store, entry.study.id)
        cards.append(
            StudyCard(
                entry=entry,
                samples=counts.samples,
                candidates=counts.candidates,
                responses=counts.responses,
                imports=len(imports_of(store, entry.study.id)),
            )
        )
    return tuple(cards)


def imports_of(store: Store, study_id: str) -> tuple[Import, ...]:
    """Return a study's imports, the newest first."""
    columns = table(Import).c
    found = store.select(Import, columns.study_id == study_id, order_by=[columns.created])
    return tuple(reversed(found))


def recognise(files: Sequence[ImportFile]) -> str | None:
    """Return the name of the form that fits all files best; None when none does.

    Raises:
        FormatError: they are of a kind that is known and can't be read here.
    """
    check_foreign(files)
    found = detect(files)
    return None if found is None else found.name


def look(
    files: Sequence[ImportFile],
    *,
    format: str | None = None,
    dataset: str | None = None,
    columns: ColumnMap | None = None,
    pictures: PictureFinder | None = None,
    candidates: Mapping[str, str] | None = None,
) -> Looked:
    """Read the first rows of files; nothing is stored.

    Args:
        files: what to read, in order.
        format: the form; None = found out.
        dataset: the data set's name; None = by the file.
        columns: which column is what (tables); None = guessed.
        pictures: where pictures are looked for.
        candidates: file name → model's name.

    Raises:
        FormatError: the files can't be this form; the message says what is expected.
    """
    name = format or recognise(files)
    if name is None:
        names = ", ".join(repr(file.name) for file in files) or "no file"
        raise FormatError(f"no form fits {names}: choose one, or save them as a table")
    found = preview(
        name,
        files,
        rows=ROWS,
        dataset=dataset,
        columns=columns,
        pictures=pictures,
        candidates=candidates,
    )
    return Looked(
        format=name,
        about=FORMATS[name].about,
        recognised=format is None,
        rows=first_rows(found),
        report=found.report,
        columns=table_columns(files[0]) if name == TABLE else (),
        mapped=found.report.columns,
    )


def table_columns(file: ImportFile) -> tuple[str, ...]:
    """Return a table's columns, in its order."""
    rows = read_rows(file, find_layout(file), _Nothing())
    return column_names([row.values for row in islice(rows, _HEAD_ROWS)])


class _Nothing:
    """Takes problems that are told elsewhere."""

    def skip(self, place: str, reason: str) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""


def first_rows(found: Preview) -> tuple[FirstRow, ...]:
    """Lay out what a preview brought: an answer a row, or a question a row where there are none."""
    samples = {sample.id: sample for sample in found.samples}
    names = {candidate.id: candidate.name for candidate in found.candidates}
    verdicts = {one.response_id: one.value for one in found.outcomes}
    rows = [
        _row(
            samples[answer.sample_id],
            names.get(answer.candidate_id, answer.candidate_id),
            answer.text or (f"({answer.detail})" if answer.detail else ""),
            _verdict(verdicts.get(answer.id)),
        )
        for answer in found.responses
        if answer.sample_id in samples
    ]
    rows = rows or [_row(sample, "", "", "") for sample in found.samples]
    return tuple(rows[:ROWS])


def _row(sample: Sample, model: str, answer: str, right: str) -> FirstRow:
    missing = [slot.name for slot in sample.pictures if slot.picture_id is None]
    there = len(sample.pictures) - len(missing)
    pictures = f"missing: {missing[0]}" if missing else f"{there} found" if there else ""
    return FirstRow(
        question=sample.question,
        choices=sample.choices,
        reference=sample.reference or "",
        model=model,
        answer=answer,
        right=right,
        pictures=pictures,
    )


def _verdict(value: float | None) -> str:
    if value is None:
        return ""
    return {1.0: "right", 0.0: "wrong"}.get(value, f"{100 * value:.0f} %")


def mapped_columns(
    chosen: Mapping[str, str | Sequence[str] | None], given: ColumnMap | None
) -> ColumnMap:
    """Make a column map of what was chosen on a screen.

    Args:
        chosen: field → column, or columns; empty = this field has none.
        given: the map that it changes: what the screen doesn't offer stays.
    """
    base = (given or ColumnMap()).model_dump()
    for field, _ in MAPPED:
        if field in chosen:
            base[field] = chosen[field] or None
    for field, _ in MAPPED_MANY:
        if field in chosen:
            base[field] = tuple(chosen[field] or ())
    if base["response"] or base["model"]:
        base["responses"], base["corrects"] = {}, {}
    made = ColumnMap.model_validate(base)
    # A column that was taken away is not to be guessed again.
    used = {column for _, column in made.named()}
    before = {column for _, column in (given or ColumnMap()).named()} | set(base["ignore"])
    return made.model_copy(update={"ignore": tuple(sorted(before - used))})


def is_unfinished(record: Import) -> bool:
    """Whether an import broke off before its end."""
    return any(UNFINISHED in note for note in record.notes)


def free_name(shelf: Shelf, wanted: str) -> str:
    """Return a name that no study of the user's has: the wanted one, or one with a number."""
    taken = {entry.study.name for entry in shelf.entries if not entry.bundled}
    name, number = wanted.strip()[:110] or "My study", 1
    while name in taken:
        number += 1
        name = f"{wanted.strip()[:110]} {number}"
    return name

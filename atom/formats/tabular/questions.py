"""Questions that a table's rows ask: each once, however many rows ask it."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from atom.formats.base import ImportFile, ReadOptions
from atom.formats.benchmarks.rotations import ROTATION, turned_id
from atom.formats.cells import (
    AnswerOptions,
    is_missing,
    label_choices,
    to_choices,
    to_list,
    to_name,
    to_number,
    to_reference,
    to_text,
)
from atom.formats.column_map import ColumnMap
from atom.formats.column_names import Getter, cell
from atom.formats.intake.collector import Collector
from atom.formats.intake.names import MAX_NAME, cut, short
from atom.formats.intake.namesakes import AGAIN, Namesakes, again_named
from atom.formats.labels import labels_of
from atom.formats.layout import FileLayout
from atom.formats.pictures import BROKEN_URL, PICTURE_SUFFIXES, PictureData, place_picture
from atom.formats.rows import Row
from atom.records import PictureSlot, Sample, Tag, content_id, unchecked
from atom.records.rows import sample_row, tag_row

_slot = unchecked(PictureSlot)


@dataclass(frozen=True, kw_only=True)
class PlannedFile:
    """A file with its layout and its completed column map."""

    file: ImportFile
    layout: FileLayout
    columns: ColumnMap
    cell: Getter
    """Returns a row's cell of a column that the map names."""
    of_sample: Callable[[Mapping[str, object]], int]
    """Hashes those of a row's cells that its question is made of, as they stand."""
    rotation: str
    """By how much its pictures are turned, as the file's name says; empty = it doesn't."""
    candidate: str
    """Whose answers it holds, where no column says so."""


class SampleHashes(NamedTuple):
    """What is remembered of a sample: hashes, not texts."""

    raw: int
    """Of the cells as they stand: equal means nothing new."""
    content: int
    """Of what the question is made of, its answer aside."""
    reference: int | None
    labels: int

    def is_same(self, other: SampleHashes) -> bool:
        """Whether it is the same question, as far as both say."""
        return self.content == other.content and (
            self.reference == other.reference or None in (self.reference, other.reference)
        )


class _RowQuestion(NamedTuple):
    """What a row asks."""

    question: str
    choices: tuple[str, ...]
    reference: str | None
    answer_type: str
    tolerance: float | None
    slots: tuple[PictureSlot, ...]
    pictures: list[PictureData]
    names: tuple[str, ...]
    """The pictures' ids, or names where they aren't there."""
    cluster: str | None


class QuestionTaker:
    """Takes the questions of rows in, and says which one a row asks.

    Args:
        options: how to read.
        collector: where they go.
    """

    def __init__(self, options: ReadOptions, collector: Collector) -> None:
        self._options = options
        self._out = collector
        self._samples: dict[int, SampleHashes] = {}
        self._namesakes = Namesakes()
        self._embedded: dict[str, tuple[PictureSlot, ...]] = {}
        self._last: tuple[object, int, str] = (None, 0, "")
        """The last row's id, its cells hashed, and its question's id."""
        self._last_file: PlannedFile | None = None

    def of(self, row: Row, planned: PlannedFile) -> str | None:
        """Return the id of the question that a row asks; None where it asks none, which is told."""
        columns = planned.columns
        in_cell = planned.cell(row.values, columns.id)
        raw = planned.of_sample(row.values)
        if self._last_file is planned and in_cell.__class__ is str:
            cell, hashed, sample_id = self._last
            if cell == in_cell and hashed == raw:
                return sample_id  # the rows of one question mostly stand together
        source_id = to_name(in_cell)
        if source_id is None:
            if columns.id is not None:
                self._out.tally("a row has no id and is named by its file and place", row.place)
            if columns.question is not None and not self._out.by_content:
                source_id = row.place
        if columns.question is None:
            return self._earlier(row, planned, source_id)
        given = None if source_id is None else turned_id(source_id, planned.rotation)
        if given is not None:
            sample_id = self._out.sample_id(given)
            known = self._samples.get(short(sample_id))
            if known is not None and known.raw == raw:
                self._last, self._last_file = (in_cell, raw, sample_id), planned
                return sample_id
        question = self._question(row, planned)
        if question is None:
            return None
        if given is not None and len(given) > MAX_NAME:
            self._out.skip(row.place, f"its id has more than {MAX_NAME} characters")
            return None
        return self._take(row, planned, given, raw, self._build(row, planned, source_id, question))

    def _earlier(self, row: Row, planned: PlannedFile, source_id: str | None) -> str | None:
        """Find the question that a row of answers belongs to."""
        if source_id is not None:
            sample_id = self._out.sample_id(turned_id(source_id, planned.rotation))
            if short(sample_id) in self._samples:
                return sample_id
        self._out.skip(row.place, f"no question has the id {cut(source_id or '')!r}")
        return None

    def _take(
        self, row: Row, planned: PlannedFile, given: str | None, raw: int, built: _RowQuestion
    ) -> str:
        """Take a question that isn't known as it stands: it may be new, or come with more."""
        columns = planned.columns
        labels = labels_in_row(row.values, planned.cell, columns.tags or (), columns.tag_separator)
        if planned.rotation:
            labels = (*labels, (ROTATION, planned.rotation))
        now = SampleHashes(
            raw,
            hash((built.question, built.choices, built.names)),
            None if built.reference is None else hash(built.reference),
            hash(labels),
        )
        sample_id = self._out.sample_id(given, built.question, built.choices, built.names)
        known = self._samples.get(short(sample_id))
        if known is not None and not known.is_same(now):
            given, known = self._among_namesakes(sample_id, given or built.question, now)
            sample_id = self._out.sample_id(given)
            self._out.tally(AGAIN, row.place)
        if known is None:
            self._add(sample_id, given, built)
        elif known.labels != now.labels:
            self._out.tally(
                "rows of one question differ in its tags; all of them are kept", row.place
            )
        if known is not None and now.reference is None:
            now = now._replace(reference=known.reference)
        self._samples[short(sample_id)] = now
        if known is None or known.labels != now.labels:
            self._tags(sample_id, planned.file.name, labels)
        return sample_id

    def _add(self, sample_id: str, source_id: str | None, built: _RowQuestion) -> None:
        for picture in built.pictures:
            self._out.picture(picture)
        self._out.add_row(
            Sample,
            sample_row(
                sample_id,
                self._out.dataset,
                source_id,
                built.question,
                choices=built.choices,
                reference=built.reference,
                answer_type=built.answer_type,
                tolerance=built.tolerance,
                pictures=built.slots,
                cluster=built.cluster,
            ),
        )

    def _among_namesakes(
        self, sample_id: str, name: str, now: SampleHashes
    ) -> tuple[str, SampleHashes | None]:
        """Find a question among those that stand under its id, or give it a name of its own.

        Returns:
            Its name, and what is known of the question under that name; None = it is new.
        """
        under, exact, told = short(sample_id), now.content, (now.reference,)
        found = self._namesakes.find(under, exact, told)
        n = self._namesakes.next(under) if found is None else found
        known: SampleHashes | None
        while True:
            called = again_named(name, n)
            known = self._samples.get(short(self._out.sample_id(called)))
            if known is None or known.is_same(now):
                break
            n += 1  # another question bears this very name
        if known is None:
            self._namesakes.add(n, under, exact, told)
        elif known.reference is None and now.reference is not None:
            self._namesakes.tell(n, under, exact, before=(None,), now=told)
        return called, known

    def _question(self, row: Row, planned: PlannedFile) -> str | None:
        value = planned.cell(row.values, planned.columns.question)
        if isinstance(value, list | dict):
            self._out.skip(row.place, "its question is not text")
            return None
        question = to_text(value)
        if question is None or question in ("nan", "NaN"):
            self._out.skip(row.place, "it has no question")
            return None
        return question

    def _build(
        self, row: Row, planned: PlannedFile, source_id: str | None, question: str
    ) -> _RowQuestion:
        columns, values, at = planned.columns, row.values, planned.cell
        choices = _choices(values, at, columns)
        texts = choices.texts if choices else ()
        reference = to_reference(at(values, columns.answer), choices, columns.answer_index_from)
        if reference.note:
            self._out.tally(reference.note, row.place)
        slots, pictures = self._slots(row, planned)
        names = tuple([slot.picture_id or slot.name for slot in slots])
        if source_id is not None and pictures and _is_text_cell(row, columns):
            self._embedded[source_id] = slots
        cluster = to_name(at(values, columns.cluster))
        if planned.rotation and cluster is None:
            cluster = source_id
        return _RowQuestion(
            question,
            texts,
            reference.text,
            to_name(at(values, columns.answer_type)) or "",
            _tolerance(at(values, columns.tolerance)),
            slots,
            pictures,
            names,
            _cluster(self._out.dataset, cluster, names),
        )

    def _tags(self, sample_id: str, source: str, labels: tuple[tuple[str, str], ...]) -> None:
        for facet, label in labels:
            self._out.add_row(Tag, tag_row("sample", sample_id, source, facet, label))

    def _slots(
        self, row: Row, planned: PlannedFile
    ) -> tuple[tuple[PictureSlot, ...], list[PictureData]]:
        slots: list[PictureSlot] = []
        pictures: list[PictureData] = []
        for column in planned.columns.pictures:
            for item in _picture_items(planned.cell(row.values, column)):
                earlier = self._embedded.get(item) if isinstance(item, str) else None
                if earlier is not None:
                    slots += earlier
                    continue
                slot, picture = self._slot(item, row.place)
                if slot is not None:
                    slots.append(slot)
                if picture is not None:
                    pictures.append(picture)
        return tuple(slots), pictures

    def _slot(self, item: object, place: str) -> tuple[PictureSlot | None, PictureData | None]:
        """Fill a picture's place with what a cell gives: bytes, base64, or a name to look up."""
        placed = place_picture(item, self._options.pictures)
        if placed is None:
            return None, None
        found = placed.look.picture
        if found is not None:
            return _slot(name=placed.name, picture_id=found.id), found
        if placed.name == BROKEN_URL:
            self._out.tally("a picture's data URL can't be decoded; its place stays empty", place)
        else:
            self._out.missing_picture(placed.name or place, placed.look.reason)
        return _slot(name=placed.name), None


def _picture_items(value: object) -> list[object]:
    if is_missing(value):
        return []
    items = to_list(value)
    if items is not None:
        return [item for item in items if not is_missing(item)]
    if isinstance(value, str) and ";" in value and not value.startswith("data:"):
        parts = [part.strip() for part in value.split(";") if part.strip()]
        if all(part.lower().endswith(PICTURE_SUFFIXES) for part in parts):
            return list(parts)
    return [value]


def _choices(
    values: Mapping[str, object],
    at: Getter,
    columns: ColumnMap,
) -> AnswerOptions | None:
    if len(columns.choices) == 1:
        return to_choices(at(values, columns.choices[0]))
    if not columns.choices:
        return None
    letters = [chr(ord("A") + place) for place in range(min(26, len(columns.choices)))]
    return label_choices(letters, [at(values, column) for column in columns.choices])


def labels_in_row(
    values: Mapping[str, object],
    at: Getter,
    columns: Sequence[str],
    separator: str | None,
) -> tuple[tuple[str, str], ...]:
    """Return the labels in a row's cells of these columns: (facet, label)."""
    return tuple(
        [
            (column.removeprefix("metadata."), cut(label))
            for column in columns
            for label in labels_of(at(values, column), separator)
        ]
    )


def _tolerance(value: object) -> float | None:
    number = to_number(value)
    return number if number is not None and number >= 0 else None


def _cluster(dataset: str, given: str | None, pictures: tuple[str, ...]) -> str | None:
    if given is not None:
        return content_id("cluster", dataset, given)
    return content_id("cluster", dataset, sorted(pictures)) if pictures else None


def fingerprints(columns: tuple[str, ...]) -> Callable[[Mapping[str, object]], int]:
    """Return what hashes a row's cells of some columns; equal hashes mean nothing new."""
    pick = itemgetter(*columns) if columns else lambda _: ()

    def fingerprint(values: Mapping[str, object]) -> int:
        try:
            return hash(marshal.dumps(pick(values), 0))
        except (KeyError, ValueError):  # a cell is missing, or of a kind that only Parquet has
            return hash(tuple([_fingerprint(cell(values, column)) for column in columns]))

    return fingerprint


def _fingerprint(value: object) -> int:
    """Hash a cell as it stands, lists and objects included."""
    if isinstance(value, str):
        return hash(value)
    if isinstance(value, list):
        try:
            return hash(tuple(value))
        except TypeError:  # something inside is a list or an object itself
            return hash(tuple(map(_fingerprint, value)))
    if isinstance(value, dict):
        return hash(tuple((key, _fingerprint(item)) for key, item in value.items()))
    return hash(value)


def _is_text_cell(row: Row, columns: ColumnMap) -> bool:
    """Whether pictures stand in cells as base64: then a later row may refer to this one's id."""
    return any(isinstance(cell(row.values, column), str) for column in columns.pictures)

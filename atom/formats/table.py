"""The generic table: CSV, TSV, JSON lines, JSON, Parquet or Excel with a column map.

Long form has a row for each answer (`model`, `response`), wide form a column for each candidate
(`response:gpt-x`). A file without answers brings questions only.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from atom.errors import FormatError
from atom.formats.base import (
    STOOD_TWICE,
    Batch,
    Collector,
    GivenLabel,
    ImportFile,
    Reading,
    ReadOptions,
    Unread,
)
from atom.formats.benchmarks.rotations import ROTATION, rotation_of, turned_id
from atom.formats.cells import (
    Choices,
    is_missing,
    label_choices,
    to_choices,
    to_list,
    to_name,
    to_number,
    to_reference,
    to_text,
    to_verdict,
)
from atom.formats.column_map import ColumnMap
from atom.formats.guess import (
    BY_ROW,
    cell,
    check_columns,
    column_names,
    complete_map,
    labels_of,
)
from atom.formats.judgments.plan import looks_like
from atom.formats.maker import AGAIN, MAX_NAME, NO_ANSWER, NO_TEXT, Maker, again_named, cut, short
from atom.formats.namesakes import Namesakes
from atom.formats.pairs import Codes, read_order, read_winner
from atom.formats.pictures import BROKEN_URL, PICTURE_SUFFIXES, PictureData, place_picture
from atom.formats.rows import Layout, NoProblems, Row, find_layout, is_excel, read_rows
from atom.records import (
    Annotation,
    Outcome,
    PictureSlot,
    PreferenceVerdict,
    Response,
    Sample,
    Tag,
    TagSubject,
    content_id,
    unchecked,
)
from atom.records.rows import outcome_row, response_row, tag_row

NAME = "table"
_HEAD_ROWS = 200
_HEAD_BYTES = 16_000_000
_PEOPLE = "people"
"""The annotator where a file doesn't tell one person from another."""
_sample = unchecked(Sample)
_slot = unchecked(PictureSlot)
_MOST_UNREAD = 0.01
"""The share of verdicts that may be unreadable before an import asks."""


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is a table."""
    lowered = name.lower()
    if head.startswith(b"PAR1"):
        return 0.6
    if is_excel(head):
        return 0.5
    if lowered.endswith((".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")):
        return 0.5
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{"):
        return 0.3
    return 0.1 if lowered.endswith(".txt") else 0.0


@dataclass(frozen=True, kw_only=True)
class _Planned:
    """A file with its layout and its completed column map."""

    file: ImportFile
    layout: Layout
    columns: ColumnMap
    of_sample: Callable[[Mapping[str, object]], int]
    """Hashes those of a row's cells that its question is made of, as they stand."""
    by_row: bool
    """Whether its rows are named by their place."""
    rotation: str
    """By how much its pictures are turned, as the file's name says; empty = it doesn't."""
    candidate: str
    """Whose answers it holds, where no column says so."""


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read tables; a file may refer to questions of an earlier one by their ids.

    Raises:
        FormatError: a file is no table, or it isn't clear which column holds the question.
    """
    given = options.columns or ColumnMap()
    if given.has_marks:
        raise FormatError(
            "the column map names criteria and marks: import these files as `judgments`"
        )
    dataset = options.dataset or given.dataset or rotation_of(files[0].stem).stem
    collector = Collector(NAME, dataset, [file.name for file in files])
    layouts = [
        find_layout(file, encoding=given.encoding, delimiter=given.delimiter) for file in files
    ]
    heads: list[list[Mapping[str, object]]] = []
    for file, layout in zip(files, layouts, strict=True):
        for note in layout.notes:
            collector.note(note)
        problems = NoProblems()
        head = _head(file, layout, problems)
        heads.append(head)
        if not head:
            why = f" ({problems.first:.300})" if problems.first else ""
            raise FormatError(
                f"{file.name!r} has no rows that can be read{why}; a header line and rows are "
                "expected"
            )
        if looks_like(column_names(head)):
            collector.doubt(
                f"{file.name}: a criterion and a mark stand side by side: import it as "
                "`judgments`, which keeps criteria, weights, judges and scales"
            )
    check_columns(heads, given, [file.name for file in files])
    plan: list[_Planned] = []
    for file, layout, head in zip(files, layouts, heads, strict=True):
        guess = complete_map(
            head,
            given,
            file.name,
            question_needed=not plan,
            every=None if options.limit is not None else partial(_every_row, file, layout),
        )
        for note in guess.notes:
            collector.note(note)
        for doubt in guess.doubts:
            collector.doubt(doubt)
        turned = rotation_of(file.stem)
        columns, by_row = guess.columns, guess.columns.id is None
        if columns.id == BY_ROW and not any(BY_ROW in values for values in head):
            columns, by_row = columns.model_copy(update={"id": None}), True
        elif by_row:
            collector.note(
                f"{file.name}: no column is an id, so each row is named by its file and its place "
                "in it, and no two are one question; where rows belong together, say `id: "
                f"{columns.question}` in a column map (`id: row` to leave it so)"
            )
        plan.append(
            _Planned(
                file=file,
                layout=layout,
                columns=columns,
                of_sample=_fingerprints(_columns_of_sample(columns)),
                by_row=by_row,
                rotation=turned.degrees,
                candidate=turned.stem,
            )
        )
    if not any(_holds_answers(one.columns) for one in plan):
        collector.note(
            "no column looks like an answer, so only questions come in; where one is, name it in a "
            "column map (`response: <column>`, or `responses` with a column a model)"
        )
    collector.columns = plan[0].columns
    return Reading(_batches(plan, options, collector), collector)


def _holds_answers(columns: ColumnMap) -> bool:
    """Whether a map leads to answers, or to verdicts on answers without a text."""
    return any(
        (
            columns.response,
            columns.responses,
            columns.correct,
            columns.corrects,
            columns.response_a,
            columns.response_b,
            columns.winner,
        )
    )


def _every_row(file: ImportFile, layout: Layout) -> Iterator[Mapping[str, object]]:
    return (row.values for row in read_rows(file, layout, NoProblems()))


def _columns_of_sample(columns: ColumnMap) -> tuple[str, ...]:
    single = (
        columns.question,
        columns.answer,
        columns.answer_type,
        columns.tolerance,
        columns.cluster,
    )
    named = tuple(column for column in single if column is not None)
    return (*named, *columns.pictures, *columns.choices, *(columns.tags or ()))


def _head(file: ImportFile, layout: Layout, problems: NoProblems) -> list[Mapping[str, object]]:
    head: list[Mapping[str, object]] = []
    size = 0
    rows = read_rows(file, layout, problems, most=_HEAD_ROWS)
    for row in islice(rows, _HEAD_ROWS):
        head.append(row.values)
        size += sum(_size(value) for value in row.values.values())
        if size > _HEAD_BYTES:
            break
    return head


def _size(value: object) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, list):
        return sum(map(_size, value))
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return 8


def _batches(
    plan: Sequence[_Planned], options: ReadOptions, collector: Collector
) -> Iterator[Batch]:
    reader = _Reader(options, collector)
    for planned in plan:
        rows = read_rows(planned.file, planned.layout, Unread(collector))
        for row in rows:
            if options.limit is not None and collector.rows >= options.limit:
                collector.note(f"stopped after {options.limit} rows, as asked")
                yield collector.flush()
                return
            collector.rows += 1
            reader.take(row, planned)
            if collector.is_full:
                yield collector.flush()
    reader.finish()
    yield collector.flush()


class _Known(NamedTuple):
    """What is remembered of a sample: hashes, not texts."""

    raw: int
    """Of the cells as they stand: equal means nothing new."""
    content: int
    """Of what the question is made of, its answer aside."""
    reference: int | None
    labels: int

    def is_same(self, other: _Known) -> bool:
        """Whether it is the same question, as far as both say."""
        return self.content == other.content and (
            self.reference == other.reference or None in (self.reference, other.reference)
        )


class _Reader:
    """Turns rows into records."""

    def __init__(self, options: ReadOptions, collector: Collector) -> None:
        self._options = options
        self._out = collector
        self._maker = Maker(collector, options)
        self._samples: dict[int, _Known] = {}
        self._namesakes = Namesakes()
        self._responses: dict[int, int] = {}
        self._embedded: dict[str, tuple[PictureSlot, ...]] = {}
        self._pairs: dict[frozenset[str], tuple[str, str]] = {}
        self._labels: dict[int, str] = {}
        self._labels_given: set[int] = set()
        self._verdicts = self._unread = 0

    def take(self, row: Row, planned: _Planned) -> None:
        """Turn one row into records, or note why not."""
        columns = planned.columns
        source_id = to_name(cell(row.values, columns.id))
        if columns.id is not None and source_id is None:
            self._out.tally("a row has no id and is named by its file and place", row.place)
        if source_id is None and columns.question is not None and not self._out.by_content:
            source_id = row.place
        if columns.question is None:
            sample_id = self._earlier(row, planned, source_id)
        else:
            sample_id = self._sample(row, planned, source_id)
        if sample_id is None:
            return
        if columns.is_pairs:
            self._pair(row, planned, sample_id)
            return
        if columns.responses or columns.corrects:
            for name in dict.fromkeys((*columns.responses, *columns.corrects)):
                self._answer(
                    row,
                    planned,
                    sample_id,
                    name,
                    columns.responses.get(name),
                    columns.corrects.get(name),
                )
        elif columns.response is not None or columns.correct is not None:
            one = self._candidate_name(row, planned)
            if one is None:
                self._nameless(row, columns)
                return
            if columns.version_of is not None:
                before = to_name(cell(row.values, columns.version_of))
                self._out.version(one, cut(before) if before else None)
            self._answer(row, planned, sample_id, one, columns.response, columns.correct)

    def _nameless(self, row: Row, columns: ColumnMap) -> None:
        """Note that a row names no model: an answer is lost, unless the row holds none."""
        given = (cell(row.values, column) for column in (columns.response, columns.correct))
        if any(to_text(value) is not None for value in given):
            self._out.skip(row.place, f"column {columns.model!r} names no model")
        else:
            self._out.tally("a row holds a question without an answer", row.place)

    def _earlier(self, row: Row, planned: _Planned, source_id: str | None) -> str | None:
        """Find the question that a row of answers belongs to."""
        if source_id is not None:
            sample_id = self._out.sample_id(turned_id(source_id, planned.rotation))
            if short(sample_id) in self._samples:
                return sample_id
        self._out.skip(row.place, f"no question has the id {cut(source_id or '')!r}")
        return None

    def _candidate_name(self, row: Row, planned: _Planned) -> str | None:
        columns = planned.columns
        if columns.model is not None:
            name = to_name(cell(row.values, columns.model))
            return cut(name) if name else None
        given = columns.candidate or self._options.candidates.get(planned.file.name)
        return given or planned.candidate

    def _sample(self, row: Row, planned: _Planned, source_id: str | None) -> str | None:
        raw = planned.of_sample(row.values)
        given = None if source_id is None else turned_id(source_id, planned.rotation)
        if given is not None:
            sample_id = self._out.sample_id(given)
            known = self._samples.get(short(sample_id))
            if known is not None and known.raw == raw:
                return sample_id
        question = self._question(row, planned.columns)
        if question is None:
            return None
        if given is not None and len(given) > MAX_NAME:
            self._out.skip(row.place, f"its id has more than {MAX_NAME} characters")
            return None
        sample, pictures = self._build(row, planned, source_id, question)
        labels = _labels(row.values, planned.columns.tags or (), planned.columns.tag_separator)
        if planned.rotation:
            labels = (*labels, (ROTATION, planned.rotation))
        now = _Known(
            raw=raw,
            content=hash((question, sample.choices, _picture_ids(sample))),
            reference=None if sample.reference is None else hash(sample.reference),
            labels=hash(labels),
        )
        known = self._samples.get(short(sample.id))
        if known is not None and not known.is_same(now):
            sample, known = self._among_namesakes(sample, given or question, now)
            self._out.tally(AGAIN, row.place)
        if known is None:
            for picture in pictures:
                self._out.picture(picture)
            self._out.add(sample)
        elif known.labels != now.labels:
            self._out.tally(
                "rows of one question differ in its tags; all of them are kept", row.place
            )
        if known is not None and now.reference is None:
            now = now._replace(reference=known.reference)
        self._samples[short(sample.id)] = now
        if known is None or known.labels != now.labels:
            self._tags("sample", sample.id, planned.file.name, labels)
        return sample.id

    def _among_namesakes(
        self, sample: Sample, name: str, now: _Known
    ) -> tuple[Sample, _Known | None]:
        """Find a question among those that stand under its id, or give it a name of its own.

        Returns:
            The question under that name, and what is known of it; None = it is new.
        """
        under, exact, told = short(sample.id), now.content, (now.reference,)
        found = self._namesakes.find(under, exact, told)
        n = self._namesakes.next(under) if found is None else found
        known: _Known | None
        while True:
            called = again_named(name, n)
            sample_id = self._out.sample_id(called)
            known = self._samples.get(short(sample_id))
            if known is None or known.is_same(now):
                break
            n += 1  # another question bears this very name
        if known is None:
            self._namesakes.add(n, under, exact, told)
        elif known.reference is None and now.reference is not None:
            self._namesakes.tell(n, under, exact, before=(None,), now=told)
        return sample.model_copy(update={"id": sample_id, "source_id": called}), known

    def _question(self, row: Row, columns: ColumnMap) -> str | None:
        value = cell(row.values, columns.question)
        if isinstance(value, list | dict):
            self._out.skip(row.place, "its question is not text")
            return None
        question = to_text(value)
        if question is None or question in ("nan", "NaN"):
            self._out.skip(row.place, "it has no question")
            return None
        return question

    def _build(
        self, row: Row, planned: _Planned, source_id: str | None, question: str
    ) -> tuple[Sample, list[PictureData]]:
        columns = planned.columns
        choices = _choices(row.values, columns)
        texts = choices.texts if choices else ()
        reference = to_reference(
            cell(row.values, columns.answer), choices, columns.answer_index_from
        )
        if reference.note:
            self._out.tally(reference.note, row.place)
        slots, pictures = self._slots(row, columns)
        names = tuple(slot.picture_id or slot.name for slot in slots)
        if source_id is not None and pictures and _is_text_cell(row, columns):
            self._embedded[source_id] = slots
        answer_type = to_name(cell(row.values, columns.answer_type))
        cluster = to_name(cell(row.values, columns.cluster))
        if planned.rotation and cluster is None:
            cluster = source_id
        name = None if source_id is None else turned_id(source_id, planned.rotation)
        sample = _sample(
            id=self._out.sample_id(name, question, texts, names),
            dataset=self._out.dataset,
            source_id=name,
            question=question,
            choices=texts,
            reference=reference.text,
            answer_type=answer_type or ("choice" if texts else ""),
            tolerance=_tolerance(cell(row.values, columns.tolerance)),
            pictures=slots,
            cluster=_cluster(self._out.dataset, cluster, names),
        )
        return sample, pictures

    def _tags(
        self,
        subject: TagSubject,
        subject_id: str,
        source: str,
        labels: tuple[tuple[str, str], ...],
    ) -> None:
        for facet, label in labels:
            self._out.add_row(Tag, tag_row(subject, subject_id, source, facet, label))

    def _slots(
        self, row: Row, columns: ColumnMap
    ) -> tuple[tuple[PictureSlot, ...], list[PictureData]]:
        slots: list[PictureSlot] = []
        pictures: list[PictureData] = []
        for column in columns.pictures:
            for item in _picture_items(cell(row.values, column)):
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

    def _answer(
        self,
        row: Row,
        planned: _Planned,
        sample_id: str,
        name: str,
        response_column: str | None,
        correct_column: str | None,
    ) -> None:
        columns = planned.columns
        text = to_text(cell(row.values, response_column))
        verdict = to_verdict(cell(row.values, correct_column), columns.correct_max)
        if text is None and verdict is None and planned.columns.responses:
            self._out.tally(f"{name} has no answer to a question", row.place)
            return
        candidate = self._out.candidate(name)
        repeat = 0
        if columns.repeat is not None:
            repeat = int(to_number(cell(row.values, columns.repeat)) or 0)
        response_id = Response.imported_id(sample_id, candidate, repeat)
        content = hash((text, verdict.value if verdict else None))
        known = self._responses.get(short(response_id))
        if known == content:
            self._out.tally("the same answer stands twice; it is taken once", row.place)
            self._out.left_out("answers", STOOD_TWICE)
            return
        if known is not None:
            self._out.skip(
                row.place,
                f"{cut(name)!r} has a second, different answer to this question; the first is "
                "kept (name a `repeat` column in the column map to keep all)",
                "answers",
            )
            if verdict is not None:
                self._out.left_out("verdicts", "their answers were left out")
            return
        self._responses[short(response_id)] = content
        self._out.add_row(
            Response,
            response_row(
                response_id,
                sample_id,
                candidate,
                repeat,
                "scored" if text is not None else "unscored",
                text or "",
                "" if text is not None else NO_ANSWER,
            ),
        )
        if verdict is not None:
            self._verdicts += 1
            self._unread += verdict.value is None
            extracted = None
            if columns.extracted is not None:
                extracted = to_text(cell(row.values, columns.extracted))
            self._out.add_row(
                Outcome, outcome_row(response_id, verdict.value, extracted or "", verdict.detail)
            )
        if columns.response_tags:
            labels = _labels(row.values, columns.response_tags, columns.tag_separator)
            self._tags("response", response_id, planned.file.name, labels)

    # --- two answers a row -------------------------------------------------------------------

    def _pair(self, row: Row, planned: _Planned, sample_id: str) -> None:
        """Take two answers and what was said of them; first and second are the file's."""
        columns = planned.columns
        names = tuple(
            cut(to_name(cell(row.values, column)) or fallback or word)
            for column, fallback, word in (
                (columns.model_a, columns.response_a, "first"),
                (columns.model_b, columns.response_b, "second"),
            )
        )
        if names[0] == names[1]:
            self._out.skip(row.place, "both answers are of one model")
            return
        ids = [
            self._compared(row, sample_id, name, column, columns)
            for name, column in zip(names, (columns.response_a, columns.response_b), strict=True)
        ]
        if ids[0] is None or ids[1] is None:
            self._out.left_out("votes", "one of their answers was left out")
            return
        read = read_winner(
            cell(row.values, columns.winner),
            (names[0], names[1]),
            Codes(
                first=frozenset(columns.first_wins),
                second=frozenset(columns.second_wins),
                ties=frozenset(columns.ties),
            ),
        )
        first = read_order(cell(row.values, columns.order)) if columns.order else "a"
        verdict = read.verdict
        # A pair that stands in both orders is one pair, called as the file does first.
        order = self._pairs.setdefault(frozenset(names), (names[0], names[1]))
        if order != names:
            ids.reverse()
            first = "b" if first == "a" else "a"
            verdict = _TURNED[verdict] if verdict else None
        self._verdicts += 1
        self._unread += verdict is None
        judge = to_name(cell(row.values, columns.judge))
        if judge is None and (columns.annotator or columns.first_wins == ("0",)):
            self._person(row, columns, (ids[0], ids[1]), verdict)
            return
        repeat = int(to_number(cell(row.values, columns.repeat)) or 0)
        judge = cut(judge or f"unnamed ({planned.file.stem})")
        self._maker.prefer(
            row.place,
            sample_id,
            (ids[0], ids[1]),
            judge,
            verdict,
            first=first,
            repeat=repeat,
            strength=read.strength,
            detail=read.detail,
        )

    def _compared(
        self, row: Row, sample_id: str, name: str, column: str | None, columns: ColumnMap
    ) -> str | None:
        """Take one of two answers, once; None for a second, different one."""
        text = to_text(cell(row.values, column))
        candidate = self._out.candidate(name)
        response_id = Response.imported_id(sample_id, candidate)
        known = self._responses.get(short(response_id))
        if known is not None:
            if text is None or known == hash(text):
                self._out.left_out("answers", STOOD_TWICE)
                return response_id
            self._out.skip(
                row.place,
                f"{name!r} has a second, different answer to this question; the first is kept "
                "(name the models, or the rows by `id: row`, in the column map)",
                "answers",
            )
            return None
        self._responses[short(response_id)] = hash(text)
        self._out.add_row(
            Response,
            response_row(
                response_id,
                sample_id,
                candidate,
                0,
                "scored",
                text or "",
                "" if text is not None else NO_TEXT,
            ),
        )
        return response_id

    def _person(
        self,
        row: Row,
        columns: ColumnMap,
        pair: tuple[str, str],
        verdict: PreferenceVerdict | None,
    ) -> None:
        """Take what a person said of two answers."""
        who = cut(to_name(cell(row.values, columns.annotator)) or _PEOPLE)
        if verdict is None:
            self._out.tally("a person's label can't be read", row.place, "labels")
            return
        key = hash((pair, who))
        before = self._labels.setdefault(key, verdict)
        if before != verdict:
            self._out.skip(
                row.place, f"{who!r} gave another label to this before, which is kept", "labels"
            )
        elif key in self._labels_given:
            self._out.left_out("labels", STOOD_TWICE)
        else:
            self._labels_given.add(key)
            self._out.add(
                GivenLabel(
                    kind="preference",
                    subject_id=Annotation.pair(*pair),
                    annotator=who,
                    label=verdict,
                )
            )

    def finish(self) -> None:
        """Ask about verdicts that can't be read, where there are many."""
        if self._unread > _MOST_UNREAD * self._verdicts:
            self._out.doubt(
                f"{self._unread:,} of {self._verdicts:,} verdicts can't be read and would stay "
                "unscored: say what the words mean in a column map (`correct_max`, `first_wins`, "
                "`second_wins`, `ties`), or accept it"
            )


_TURNED: Mapping[str, PreferenceVerdict] = {"a": "b", "b": "a", "tie": "tie"}


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


def _choices(values: Mapping[str, object], columns: ColumnMap) -> Choices | None:
    if len(columns.choices) == 1:
        return to_choices(cell(values, columns.choices[0]))
    if not columns.choices:
        return None
    letters = [chr(ord("A") + at) for at in range(min(26, len(columns.choices)))]
    return label_choices(letters, [cell(values, column) for column in columns.choices])


def _labels(
    values: Mapping[str, object], columns: Sequence[str], separator: str | None
) -> tuple[tuple[str, str], ...]:
    return tuple(
        [
            (column.removeprefix("metadata."), cut(label))
            for column in columns
            for label in labels_of(cell(values, column), separator)
        ]
    )


def _tolerance(value: object) -> float | None:
    number = to_number(value)
    return number if number is not None and number >= 0 else None


def _cluster(dataset: str, given: str | None, pictures: tuple[str, ...]) -> str | None:
    if given is not None:
        return content_id("cluster", dataset, given)
    return content_id("cluster", dataset, sorted(pictures)) if pictures else None


def _fingerprints(columns: tuple[str, ...]) -> Callable[[Mapping[str, object]], int]:
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


def _picture_ids(sample: Sample) -> tuple[str, ...]:
    return tuple(slot.picture_id or slot.name for slot in sample.pictures)


def _is_text_cell(row: Row, columns: ColumnMap) -> bool:
    """Whether pictures stand in cells as base64: then a later row may refer to this one's id."""
    return any(isinstance(cell(row.values, column), str) for column in columns.pictures)

"""Turns a table's rows into records."""

from __future__ import annotations

from collections.abc import Callable

from atom.formats.base import ReadOptions
from atom.formats.cells import ImportedVerdict, to_name, to_number, to_text, to_verdict
from atom.formats.intake.collector import STOOD_TWICE, Collector
from atom.formats.intake.maker import NO_ANSWER, Maker
from atom.formats.intake.names import cut, short
from atom.formats.rows import Row
from atom.formats.tabular.compared import ComparisonTaker
from atom.formats.tabular.questions import PlannedFile, QuestionTaker, labels_in_row
from atom.records import Response, Tag
from atom.records.rows import outcome_row, response_row, tag_row

_MOST_MODELS = 10_000
_MOST_UNREAD = 0.01
"""The share of verdicts that may be unreadable before an import asks."""


class RowReader:
    """Turns rows into records.

    Args:
        options: how to read.
        collector: where the records go.
    """

    def __init__(self, options: ReadOptions, collector: Collector) -> None:
        self._options = options
        self._out = collector
        self._questions = QuestionTaker(options, collector)
        self._responses: dict[int, int] = {}
        self._namers: dict[str, Callable[[str], str]] = {}
        self._models: dict[str, str] = {}
        """Cells that name a model -> the name."""
        self._compared = ComparisonTaker(Maker(collector, options), self._responses)
        self._verdicts = self._unread = 0

    def take(self, row: Row, planned: PlannedFile) -> None:
        """Turn one row into records, or note why not."""
        sample_id = self._questions.of(row, planned)
        if sample_id is None:
            return
        columns = planned.columns
        if columns.winner is not None and columns.is_pairs:
            self._compared.take(row, planned, sample_id)
        elif columns.responses or columns.corrects:
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
            self._lone(row, planned, sample_id)

    def _lone(self, row: Row, planned: PlannedFile, sample_id: str) -> None:
        """Take a row's only answer."""
        columns = planned.columns
        one = self._candidate_name(row, planned)
        if one is None:
            self._nameless(row, planned)
            return
        if columns.version_of is not None:
            before = to_name(planned.cell(row.values, columns.version_of))
            self._out.version(one, cut(before) if before else None)
        self._answer(row, planned, sample_id, one, columns.response, columns.correct)

    def _nameless(self, row: Row, planned: PlannedFile) -> None:
        """Note that a row names no model: an answer is lost, unless the row holds none."""
        columns = planned.columns
        given = (planned.cell(row.values, column) for column in (columns.response, columns.correct))
        if any(to_text(value) is not None for value in given):
            self._out.skip(row.place, f"column {columns.model!r} names no model")
        else:
            self._out.tally("a row holds a question without an answer", row.place)

    def _candidate_name(self, row: Row, planned: PlannedFile) -> str | None:
        columns = planned.columns
        if columns.model is not None:
            cell = planned.cell(row.values, columns.model)
            if cell.__class__ is str and (known := self._models.get(cell)):
                return known
            name = to_name(cell)
            if name and cell.__class__ is str and len(self._models) < _MOST_MODELS:
                self._models[cell] = cut(name)
            return cut(name) if name else None
        given = columns.candidate or self._options.candidates.get(planned.file.name)
        return given or planned.candidate

    def _answer(
        self,
        row: Row,
        planned: PlannedFile,
        sample_id: str,
        name: str,
        response_column: str | None,
        correct_column: str | None,
    ) -> None:
        columns, values, at = planned.columns, row.values, planned.cell
        text = to_text(at(values, response_column))
        verdict = to_verdict(at(values, correct_column), columns.correct_max)
        if text is None and verdict is None and columns.responses:
            self._out.tally(f"{name} has no answer to a question", row.place)
            return
        candidate = self._out.candidate(name)
        repeat = 0
        if columns.repeat is not None:
            repeat = int(to_number(at(values, columns.repeat)) or 0)
        response_id = self._named(sample_id, candidate, repeat)
        if not self._is_new(row, name, response_id, text, verdict):
            return
        said = text is not None
        answer = response_row(
            response_id, sample_id, candidate, repeat, "scored" if said else "unscored",
            text or "", "" if said else NO_ANSWER,
        )  # fmt: skip
        if verdict is None:
            self._out.add_row(Response, answer)
        else:
            self._verdicts += 1
            self._unread += verdict.value is None
            extracted = None
            if columns.extracted is not None:
                extracted = to_text(at(values, columns.extracted))
            self._out.add_answered(
                answer, outcome_row(response_id, verdict.value, extracted or "", verdict.detail)
            )
        if columns.response_tags:
            labels = labels_in_row(values, at, columns.response_tags, columns.tag_separator)
            for facet, label in labels:
                tag = tag_row("response", response_id, planned.file.name, facet, label)
                self._out.add_row(Tag, tag)

    def _named(self, sample_id: str, candidate: str, repeat: int) -> str:
        """Name an answer."""
        if repeat:
            return Response.imported_id(sample_id, candidate, repeat)
        namer = self._namers.get(candidate)
        if namer is None:
            namer = self._namers[candidate] = Response.imported_by(candidate)
        return namer(sample_id)

    def _is_new(
        self,
        row: Row,
        name: str,
        response_id: str,
        text: str | None,
        verdict: ImportedVerdict | None,
    ) -> bool:
        """Whether an answer didn't stand before; one that did is told."""
        content = hash((text, verdict.value if verdict else None))
        key = short(response_id)
        known = self._responses.get(key)
        if known is None:
            self._responses[key] = content
            return True
        if known == content:
            self._out.tally("the same answer stands twice; it is taken once", row.place)
            self._out.left_out("answers", STOOD_TWICE)
            return False
        self._out.skip(
            row.place,
            f"{cut(name)!r} has a second, different answer to this question; the first is "
            "kept (name a `repeat` column in the column map to keep all)",
            "answers",
        )
        if verdict is not None:
            self._out.left_out("verdicts", "their answers were left out")
        return False

    def finish(self) -> None:
        """Ask about verdicts that can't be read, where there are many."""
        verdicts = self._verdicts + self._compared.verdicts
        unread = self._unread + self._compared.unread
        if unread > _MOST_UNREAD * verdicts:
            self._out.doubt(
                f"{unread:,} of {verdicts:,} verdicts can't be read and would stay "
                "unscored: say what the words mean in a column map (`correct_max`, `first_wins`, "
                "`second_wins`, `ties`), or accept it"
            )

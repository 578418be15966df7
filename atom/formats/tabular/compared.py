"""Two answers a row, and what a judge or a person said of them."""

from __future__ import annotations

from collections.abc import Mapping

from atom.formats.cells import to_name, to_number, to_text
from atom.formats.intake.batch import GivenLabel
from atom.formats.intake.collector import STOOD_TWICE, Collector
from atom.formats.intake.maker import NO_TEXT, Maker
from atom.formats.intake.names import cut, short
from atom.formats.pairs import Codes, read_order, read_winner
from atom.formats.rows import Row
from atom.formats.tabular.questions import PlannedFile
from atom.records import Annotation, PreferenceVerdict, Response
from atom.records.rows import response_row

_PEOPLE = "people"
"""The annotator where a file doesn't tell one person from another."""
_TURNED: Mapping[str, PreferenceVerdict] = {"a": "b", "b": "a", "tie": "tie"}


class ComparisonTaker:
    """Takes rows that compare two answers.

    Args:
        maker: makes the votes.
        responses: hash of an answer's id -> hash of what it says, of all answers taken.
    """

    def __init__(self, maker: Maker, responses: dict[int, int]) -> None:
        self._maker = maker
        self._out: Collector = maker.out
        self._responses = responses
        self._pairs: dict[frozenset[str], tuple[str, str]] = {}
        self._labels: dict[int, str] = {}
        self._labels_given: set[int] = set()
        self.verdicts = 0
        self.unread = 0
        """How many of the verdicts can't be read."""

    def take(self, row: Row, planned: PlannedFile, sample_id: str) -> None:
        """Take two answers and what was said of them; first and second are the file's."""
        columns = planned.columns
        names = tuple(
            cut(to_name(planned.cell(row.values, column)) or fallback or word)
            for column, fallback, word in (
                (columns.model_a, columns.response_a, "first"),
                (columns.model_b, columns.response_b, "second"),
            )
        )
        if names[0] == names[1]:
            self._out.skip(row.place, "both answers are of one model")
            return
        ids = [
            self._answer(row, planned, sample_id, name, column)
            for name, column in zip(names, (columns.response_a, columns.response_b), strict=True)
        ]
        if ids[0] is None or ids[1] is None:
            self._out.left_out("votes", "one of their answers was left out")
            return
        read = read_winner(
            planned.cell(row.values, columns.winner),
            (names[0], names[1]),
            Codes(
                first=frozenset(columns.first_wins),
                second=frozenset(columns.second_wins),
                ties=frozenset(columns.ties),
            ),
        )
        first = read_order(planned.cell(row.values, columns.order)) if columns.order else "a"
        verdict = read.verdict
        # A pair that stands in both orders is one pair, called as the file does first.
        order = self._pairs.setdefault(frozenset(names), (names[0], names[1]))
        if order != names:
            ids.reverse()
            first = "b" if first == "a" else "a"
            verdict = _TURNED[verdict] if verdict else None
        self.verdicts += 1
        self.unread += verdict is None
        judge = to_name(planned.cell(row.values, columns.judge))
        if judge is None and (columns.annotator or columns.first_wins == ("0",)):
            self._person(row, planned, (ids[0], ids[1]), verdict)
            return
        repeat = int(to_number(planned.cell(row.values, columns.repeat)) or 0)
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

    def _answer(
        self, row: Row, planned: PlannedFile, sample_id: str, name: str, column: str | None
    ) -> str | None:
        """Take one of two answers, once; None for a second, different one."""
        text = to_text(planned.cell(row.values, column))
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
        planned: PlannedFile,
        pair: tuple[str, str],
        verdict: PreferenceVerdict | None,
    ) -> None:
        """Take what a person said of two answers."""
        who = cut(to_name(planned.cell(row.values, planned.columns.annotator)) or _PEOPLE)
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

"""Our own long table of judgments, as `export judgments` writes it and a notebook's frame holds it.

Each column says one field of a record, so that nothing is guessed and nothing is read twice:
values, states and scales come back as they were.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, get_args

from pydantic import ValidationError

from atom.formats.base import ImportFile, ReadOptions
from atom.formats.cells import clean_text, is_missing, to_list, to_number, to_verdict
from atom.formats.intake.account import Item
from atom.formats.intake.batch import Batch
from atom.formats.intake.collector import Collector, UnreadRows
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import short
from atom.formats.judgments.sets import criteria_set, source_id, tree_of
from atom.formats.judgments.take import person_id
from atom.formats.layout import FileLayout, find_layout
from atom.formats.rows import NoProblems, Row, read_rows
from atom.records import (
    JUDGE_SCALE,
    Checkpoint,
    CriteriaSet,
    Criterion,
    CriterionKind,
    CriterionUse,
    Gate,
    Judge,
    JudgeKind,
    MarkScale,
    MarkState,
    Polarity,
    Sampling,
    TreeRecord,
)
from atom.records import Mapping as LeafMapping
from taxonomy import Path, to_json, tree_version

KNOWN_BY = frozenset(
    {"criterion", "criterion_text", "judge", "judge_kind", "scale", "raw", "value", "state",
     "mark_repeat"}
)  # fmt: skip
"""Columns that no other table has together."""
PENDING = "pending"
"""The state of a row without a mark: its question, answer and criterion come in all the same."""
_PROMPT = "imported"
_SAMPLING = Sampling()
_ITEMS: Item = "judgments"


class RowError(ValueError):
    """A row can't be used; the message says why."""


def is_own(columns: Collection[str]) -> bool:
    """Whether a table's columns are those of our own long table."""
    return KNOWN_BY.issubset(columns)


def own_tables(files: Sequence[ImportFile]) -> bool:
    """Whether all files are our own long tables.

    Raises:
        FormatError: one can't be read at all.
    """
    for file in files:
        layout = find_layout(file)
        first = next(islice(read_rows(file, layout, NoProblems()), 1), None)
        if first is None or not is_own(first.values):
            return False
    return bool(files)


def read_own(
    files: Sequence[ImportFile], options: ReadOptions, collector: Collector
) -> Iterator[Batch]:
    """Read our own long tables.

    Args:
        files: one or several of one study.
    """
    taker = _Taker(collector, options)
    for file in files:
        layout = find_layout(file)
        for row in islice(read_rows(file, layout, UnreadRows(collector)), options.limit):
            collector.rows += 1
            try:
                taker.take(_Cells(row, layout), file.name)
            except RowError as error:
                collector.skip(row.place, str(error), _ITEMS)
            if collector.is_full:
                yield collector.flush()
    taker.finish()
    yield collector.flush()


class _Cells:
    """A row's cells by their columns' types."""

    def __init__(self, row: Row, layout: FileLayout) -> None:
        self.place = row.place
        self._values = row.values
        # In CSV a ' before a text keeps spreadsheets from running it.
        self._guarded = layout.kind == "csv"

    def text(self, name: str) -> str:
        value = self._values.get(name)
        if value is None or is_missing(value):
            return ""
        text = clean_text(value if isinstance(value, str) else str(value))
        return text.removeprefix("'") if self._guarded else text

    def one_of(self, name: str, allowed: object, usual: str) -> Any:
        text = self.text(name) or usual
        known = get_args(allowed)
        if text not in known:
            raise RowError(f"{name} is {text[:40]!r}; allowed are {', '.join(known)}")
        return text

    def number(self, name: str) -> float | None:
        value = self._values.get(name)
        if value is None or is_missing(value) or value == "":
            return None
        number = to_number(value)
        if number is None:
            raise RowError(f"{name} is {str(value)[:40]!r}, which is no number")
        return number

    def count(self, name: str) -> int:
        number = self.number(name) or 0
        if number < 0 or not float(number).is_integer():
            raise RowError(f"{name} is {number:g}; whole numbers from 0 are allowed")
        return int(number)

    def flag(self, name: str) -> bool | None:
        value = self._values.get(name)
        if value is None or is_missing(value) or value == "":
            return None
        return value is True or str(value).casefold() in ("true", "1", "1.0")

    def items(self, name: str) -> tuple[str, ...]:
        found = to_list(self._values.get(name))
        return tuple(clean_text(str(item)) for item in found or ())


@dataclass(frozen=True, kw_only=True)
class _UsedColumns:
    use: CriterionUse
    """Its parents are still called as the table calls them."""
    text: str


class _Taker:
    def __init__(self, collector: Collector, options: ReadOptions) -> None:
        self._out, self._options = collector, options
        self._maker = Maker(collector, options)
        self._dataset = collector.dataset
        self._samples: dict[tuple[str, ...], str] = {}
        self._answers: dict[tuple[str, str, int], str] = {}
        self._uses: dict[str, dict[str, _UsedColumns]] = {}
        self._sets: dict[str, str] = {}
        """Sample -> its data set."""
        self._ordinals: Counter[tuple[str, str, str]] = Counter()
        self._leaves: list[tuple[str, Path]] = []
        self._judges: dict[str, Judge] = {}
        self._scales: dict[str, MarkScale] = {}
        self._seen: set[int] = set()

    def take(self, row: _Cells, source: str) -> None:
        """Turn a row into records.

        Raises:
            RowError: it can't be used.
        """
        state = row.text("state")
        if state != PENDING:
            row.one_of("state", MarkState, "")
        sample_id = self._sample(row, source)
        answer_id = self._answer(row, sample_id)
        used = self._criterion(row, sample_id)
        if state != PENDING:
            self._mark(row, used, answer_id)

    def _sample(self, row: _Cells, source: str) -> str:
        dataset = self._options.dataset or row.text("dataset") or self._dataset
        name, question = row.text("source_id"), row.text("question")
        key = (dataset, row.text("sample"), name, question)
        known = self._samples.get(key)
        if known is not None:
            return known
        if not (question and (name or key[1])):
            raise RowError("it names no question")
        self._out.dataset = dataset
        synthetic = row.flag("synthetic") is True
        made = self._maker.sample(
            row.place, source, name or None,
            SourceQuestion(
                text=question, choices=row.items("choices"),
                reference=row.text("reference") or None, pictures=row.items("pictures"),
                synthetic=synthetic,
            ),
        )  # fmt: skip
        if made is None:
            raise RowError("its question can't be used")
        self._out.synthetic |= synthetic
        self._samples[key] = made
        self._sets[made] = dataset
        return made

    def _answer(self, row: _Cells, sample_id: str) -> str:
        model, repeat = row.text("model"), row.count("repeat")
        key = (sample_id, model, repeat)
        known = self._answers.get(key)
        if known is not None:
            return known
        if not model:
            raise RowError("it names no model")
        made = self._maker.answer(
            row.place, sample_id, model, row.text("answer") or None, repeat=repeat, known=False
        )
        if made is None:
            raise RowError("its answer can't be used")
        self._answers[key] = made
        if (right := row.number("right")) is not None:
            self._maker.graded(made, to_verdict(right))
        return made

    def _criterion(self, row: _Cells, sample_id: str) -> _UsedColumns:
        uses = self._uses.setdefault(sample_id, {})
        key, text, truth = row.text("criterion"), row.text("criterion_text"), row.text("truth")
        key = key or text
        known = uses.get(key)
        if known is not None:
            if known.text != text:
                raise RowError(f"another criterion {key[:60]!r} stood before")
            return known
        if not text:
            raise RowError("it names no criterion")
        equal = (sample_id, text, truth)
        identity = Criterion.make_id(*equal, self._ordinals[equal])
        weight = row.number("weight")
        try:
            use = CriterionUse(
                criterion_id=identity,
                position=max(0, row.count("number") - 1) if row.count("number") else len(uses),
                weight=1.0 if weight is None else weight,
                polarity=row.one_of("polarity", Polarity, "credit"),
                parents=row.items("parents"),
                gate=row.one_of("gate", Gate, "zero") if row.text("gate") else None,
                gate_cap=row.number("gate_cap"),
            )
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "gate"
            raise RowError(f"{where} can't be used: {first['msg']}") from None
        self._out.add(
            Criterion(
                id=identity, sample_id=sample_id, question=text, ground_truth=truth,
                kind=row.one_of("kind", CriterionKind, "question"),
            )
        )  # fmt: skip
        self._ordinals[equal] += 1
        used = uses[key] = _UsedColumns(use=use, text=text)
        if leaf := row.items("capability"):
            self._leaves.append((identity, leaf))
        return used

    def _mark(self, row: _Cells, used: _UsedColumns, answer_id: str) -> None:
        judge, scale = self._judge(row), self._scale(row)
        value, state, repeat = row.number("value"), row.text("state"), row.count("mark_repeat")
        identity = (used.use.criterion_id, answer_id, judge)
        key = Checkpoint.make_key(*identity, _PROMPT, _SAMPLING, repeat)
        if short(key) in self._seen:
            raise RowError("this judge marked this criterion of this answer in a row before")
        if value is not None and not 0 <= value <= 1:
            raise RowError(f"its value is {value:g}; 0 to 1 are allowed")
        if (state == "scored") != (value is not None):
            raise RowError(f"its state is {state}, and its value {value}")
        own = scale.id == JUDGE_SCALE.id and value is not None
        quote, answer = row.text("quote"), row.text("answer")
        at = answer.find(quote) if quote else -1
        try:
            mark = Checkpoint(
                key=key, criterion_id=identity[0], response_id=answer_id, judge_id=judge,
                prompt=_PROMPT, repeat=repeat, state=state, value=value, raw=row.text("raw"),
                score=round(1 + 4 * value) if own and value is not None else None,
                scale=scale.id, reason=row.text("reason"), quote=quote,
                span=None if at < 0 else (at, at + len(quote)), detail=row.text("detail"),
                addressed=row.flag("addressed"), carried=row.flag("carried"),
            )  # fmt: skip
        except ValidationError as error:
            raise RowError(f"its mark can't be used: {error.errors()[0]['msg']}") from None
        self._seen.add(short(key))
        self._out.add(mark)

    def _judge(self, row: _Cells) -> str:
        name, kind = row.text("judge"), row.one_of("judge_kind", JudgeKind, "model")
        if not name:
            raise RowError("it names no judge")
        made = person_id(name, kind)
        if made not in self._judges:
            self._judges[made] = Judge(id=made, name=name, kind=kind)
            self._out.add(self._judges[made])
        return made

    def _scale(self, row: _Cells) -> MarkScale:
        said = row.text("scale")
        known = self._scales.get(said)
        if known is None:
            known = self._scales[said] = read_scale(said)
            if known.id != JUDGE_SCALE.id:
                self._out.add(known)
        return known

    def finish(self) -> None:
        """Add what is known only now: sets of criteria, and the tree."""
        for sample_id, uses in self._uses.items():
            made = tuple(
                one.use.model_copy(
                    update={
                        "parents": tuple(
                            uses[name].use.criterion_id for name in one.use.parents if name in uses
                        )
                    }
                )
                for one in uses.values()
            )
            own = source_id(self._sets[sample_id])
            self._out.add_row(CriteriaSet, criteria_set(sample_id, own, made))
        self._out.dataset = self._options.dataset or ", ".join(dict.fromkeys(self._sets.values()))
        self._tree()
        models = [one.id for one in self._judges.values() if one.kind == "model"]
        self._out.judge = next(iter((*models, *self._judges)), None)

    def _tree(self) -> None:
        if not self._leaves:
            return
        tree, place = tree_of(tuple(dict.fromkeys(p for _, p in self._leaves)), self._out.dataset)
        version = self._out.tree = tree_version(tree)
        self._out.add(TreeRecord(version=version, name=tree.name, body=to_json(tree)))
        for criterion_id, path in self._leaves:
            self._out.add(
                LeafMapping(
                    criterion_id=criterion_id, tree_version=version,
                    judge_id=source_id(self._dataset), prompt=_PROMPT, state="scored",
                    leaf=place[path],
                )
            )  # fmt: skip


def read_scale(text: str) -> MarkScale:
    """Read a scale as the table says it: a `MarkScale` in JSON, without its id.

    Raises:
        RowError: it is none.
    """
    try:
        said: Mapping[str, object] = json.loads(text)
        given = MarkScale.model_validate({"id": JUDGE_SCALE.id, **said})
    except (ValueError, TypeError) as error:
        why = str(error).splitlines()[0][:120]
        raise RowError(f"its scale {text[:60]!r} can't be read ({why})") from None
    if given == JUDGE_SCALE:
        return JUDGE_SCALE
    if given.levels:
        return MarkScale.of_levels(
            given.levels, name=given.name, na=given.na, unreadable=given.unreadable,
            ordinal=given.ordinal,
        )  # fmt: skip
    assert given.low is not None
    assert given.high is not None
    return MarkScale.of_numbers(
        given.low, given.high, name=given.name, lower_is_better=given.lower_is_better,
        na=given.na, unreadable=given.unreadable,
    )  # fmt: skip

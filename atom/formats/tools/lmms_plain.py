"""A log's plain row made into records in one step.

Nearly every row of a log asks one text, holds one answer and one score. What such a row comes to is
made here without the values between; every other row is left to `lmms_eval`, which makes the same
of a plain one in three times the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from atom.formats.base import ReadOptions
from atom.formats.cells import to_text
from atom.formats.intake.maker import Maker
from atom.formats.intake.names import MAX_NAME, cut
from atom.formats.labels import label_keys, labels_at
from atom.formats.tools.lmms_said import CHOICE_KEYS, alone, asked_in, may_hold_pictures, verdict_of
from atom.records import Response
from atom.records.rows import asked_row, outcome_row, response_row, tag_row
from atom.records.thoughts import may_think

_MOST_SHAPES = 1_000
_MOST_LABELS = 4_000
Labels = tuple[tuple[str, str], ...]
"""A question's labels: (facet, label)."""
MOST_READ = 4_000
"""Characters of the final answer, as the log's filter read it out, that are kept."""
Values = Mapping[str, object]


def _is_plain(target: object) -> bool:
    """Whether it is one reference answer; with a bracket in it it may be a list of them."""
    return ("[" not in target) if isinstance(target, str) else target.__class__ is int


class _Shape(NamedTuple):
    """What the keys of a row and of its document say, of all rows that have these."""

    metric: str
    labels: tuple[str, ...]
    """Those of the document's keys that label a question."""


class MetricScore(NamedTuple):
    """What a plain row's answer was given."""

    metric: str
    value: float


class PlainRows:
    """Makes the records of those rows of a log that are plain.

    Args:
        maker: makes the records of the others; it remembers nothing.
        options: how to read.
        prefix: before a question's name in its id.
        source: the log, which labels are kept with.
        model: who answered.
        metrics: of which the first that a row has is its verdict.
        task: a label of every question; None = no label.
    """

    def __init__(
        self,
        maker: Maker,
        options: ReadOptions,
        *,
        prefix: str,
        source: str,
        model: str,
        metrics: Sequence[str],
        task: str | None,
    ) -> None:
        self._out = maker.out
        self._look = options.pictures.look
        self._prefix = prefix
        self._source = source
        self._metrics = tuple(metrics)
        self._task = task
        self._shapes: dict[tuple[tuple[str, ...], tuple[str, ...]], _Shape | None] = {}
        self._met: dict[tuple[tuple[str, ...], tuple[object, ...]], Labels] = {}
        self._model = cut(model)
        self._candidate = ""  # taken in with the first answer, not before
        self._name_answer = Response.imported_by("")
        self._name_sample = self._out.sample_namer()

    def take(self, values: Values, name: str, is_new: Callable[[str], bool]) -> MetricScore | None:
        """Make the records of a row, if it is plain.

        Args:
            name: its question's name in the log.
            is_new: notes that a question was asked, and says whether it wasn't before; only asked
                of a plain row.

        Returns:
            The score that its answer was given; None = it isn't plain, and nothing was made.
        """
        document, source_id = values.get("doc"), self._prefix + name
        if document.__class__ is not dict or len(source_id) > MAX_NAME:
            return None
        keys = tuple(values), tuple(document)
        try:
            shape = self._shapes[keys]
        except KeyError:
            shape = self._new_shape(keys)
        if shape is None or [*map(type, values.values())].count(dict) != 1:
            return None
        text, read = alone(values.get("resps")), alone(values.get("filtered_resps"))
        target = values.get("target")
        if text.__class__ is not str or read.__class__ is not str or not _is_plain(target):
            return None
        verdict = verdict_of(values[shape.metric])
        text, reference = to_text(text), to_text(target)
        asked = asked_in(values.get("input")) or asked_in(values.get("arguments"))
        if (
            text is None
            or may_think(text)
            or asked is None
            or verdict is None
            or verdict.value is None
            or self._look(source_id).picture is not None
        ):
            return None
        out, sample_id = self._out, self._name_sample(source_id)
        if is_new(name):
            labels = self._labels(document, shape.labels)
            out.add_asked(
                asked_row(sample_id, out.dataset, source_id, asked, reference),
                [tag_row("sample", sample_id, self._source, *label) for label in labels],
            )
        candidate_id = self._candidate or self._first_answer()
        response_id = self._name_answer(sample_id)
        out.add_answered(
            response_row(response_id, sample_id, candidate_id, 0, "scored", text),
            outcome_row(response_id, verdict.value, cut(to_text(read) or "", MOST_READ)),
        )
        return MetricScore(shape.metric, verdict.value)

    def _first_answer(self) -> str:
        """Take the model in, once it has answered."""
        self._candidate = self._out.candidate(self._model)
        self._name_answer = Response.imported_by(self._candidate)
        return self._candidate

    def _labels(self, document: Values, keys: tuple[str, ...]) -> Labels:
        """Return a new question's labels, which are worked out once for equal texts."""
        cells = tuple([document[key] for key in keys])
        if [*map(type, cells)].count(str) < len(cells):  # 1 and True are equal, and two labels
            return self._told(document, keys)
        found = self._met.get((keys, cells))
        if found is None:
            found = self._told(document, keys)
            if len(self._met) < _MOST_LABELS:
                self._met[keys, cells] = found
        return found

    def _told(self, document: Values, keys: tuple[str, ...]) -> Labels:
        labels = dict(labels_at(document, keys))
        if self._task is not None:
            labels["task"] = self._task
        return tuple(labels.items())

    def _new_shape(self, keys: tuple[tuple[str, ...], tuple[str, ...]]) -> _Shape | None:
        """Look at the keys of a row and of its document; None = such a row is never plain."""
        in_row, in_document = keys
        metric = next((name for name in self._metrics if name in in_row), None)
        plain = (
            metric is not None
            and CHOICE_KEYS.isdisjoint(in_document)
            and not may_hold_pictures(in_document)
        )
        shape = _Shape(metric, label_keys(in_document)) if plain and metric is not None else None
        if len(self._shapes) < _MOST_SHAPES:
            self._shapes[keys] = shape
        return shape

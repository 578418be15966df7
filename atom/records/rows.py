"""Records of an import as plain rows: millions of them, none of which is looked at singly.

A row holds a record's values in the order of its fields. It takes a tenth of the time and a quarter
of the memory of a record, and goes into the store as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeVar, overload

from atom.records.base import Record, State, unchecked
from atom.records.call import Sampling
from atom.records.evidence import AnswerCause, CriterionKind, CriterionUse, TagSubject
from atom.records.mark_scale import MarkState
from atom.records.sample import PictureSlot

R = TypeVar("R", bound=Record)
Row = tuple[Any, ...]
_PLAIN = Sampling()


class Rows(Sequence[R]):
    """Records of one kind, each made when it is looked at.

    Args:
        rows: their values, known to be right (see `unchecked`).
    """

    def __init__(self, kind: type[R], rows: Sequence[Row]) -> None:
        self.kind = kind
        self.rows = rows

    def __len__(self) -> int:
        """Count them."""
        return len(self.rows)

    def __iter__(self) -> Iterator[R]:
        """Make one after the other."""
        names, make = tuple(self.kind.model_fields), unchecked(self.kind)
        return (make(**dict(zip(names, row, strict=True))) for row in self.rows)

    @overload
    def __getitem__(self, at: int) -> R: ...
    @overload
    def __getitem__(self, at: slice) -> Rows[R]: ...
    def __getitem__(self, at: int | slice) -> R | Rows[R]:
        """Make one, or take a part."""
        if isinstance(at, slice):
            return Rows(self.kind, self.rows[at])
        return next(iter(Rows(self.kind, (self.rows[at],))))

    def __eq__(self, other: object) -> bool:
        """Whether the other holds equal records."""
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """Rows of one kind column by column, nested values as texts.

    Args:
        is_plain: whether a database takes all texts as they are.
        sums: the rows' checksums; None = not worked out yet.
    """

    kind: type[Record]
    cells: Sequence[Sequence[Any]]
    is_plain: bool = False
    sums: Sequence[int | None] | None = None


@lru_cache(maxsize=64)
def _picker(kind: type[Record]) -> Callable[[dict[str, Any]], Row]:
    return itemgetter(*kind.model_fields)


def row_of(record: Record) -> Row:
    """Return a record's values in the order of its fields, two or more."""
    return _picker(record.__class__)(record.__dict__)


def sample_row(
    sample_id: str,
    dataset: str,
    source_id: str | None,
    question: str,
    *,
    choices: tuple[str, ...],
    reference: str | None,
    answer_type: str,
    tolerance: float | None,
    pictures: tuple[PictureSlot, ...],
    cluster: str | None,
    synthetic: bool = False,
) -> Row:
    """Make a `Sample`; without the source's type it is a choice where there are some."""
    kind = answer_type or ("choice" if choices else "")
    return (
        sample_id, dataset, source_id, question, choices, reference, kind, tolerance, pictures,
        cluster, synthetic,
    )  # fmt: skip


def asked_row(
    sample_id: str, dataset: str, source_id: str | None, question: str, reference: str | None
) -> Row:
    """Make a `Sample` that is a text and, where it is known, its answer."""
    return (sample_id, dataset, source_id, question, (), reference, "", None, (), None, False)


def response_row(
    response_id: str,
    sample_id: str,
    candidate_id: str,
    repeat: int,
    state: State,
    text: str,
    detail: str = "",
    thoughts: str = "",
    cause: AnswerCause = "",
) -> Row:
    """Make an imported `Response`."""
    return (
        response_id, sample_id, candidate_id, "imported", _PLAIN, repeat, None, None, state, text,
        detail, None, thoughts, cause,
    )  # fmt: skip


def outcome_row(response_id: str, value: float | None, answer: str, detail: str = "") -> Row:
    """Make an imported `Outcome`; without a value it is unscored."""
    state: State = "unscored" if value is None else "scored"
    return (response_id, "imported", "", state, value, answer, detail, None)


def tag_row(subject: TagSubject, subject_id: str, source: str, facet: str, value: str) -> Row:
    """Make a `Tag`."""
    return (subject, subject_id, source, facet, value)


def criterion_row(
    criterion_id: str, sample_id: str, question: str, truth: str, kind: CriterionKind
) -> Row:
    """Make a `Criterion`."""
    return (criterion_id, sample_id, question, truth, kind)


def criteria_set_row(
    set_id: str, sample_id: str, judge_id: str, uses: tuple[CriterionUse, ...]
) -> Row:
    """Make an imported `CriteriaSet`."""
    return (
        set_id, sample_id, judge_id, None, "imported", _PLAIN, 0, "imported", "scored", "", uses,
        (), None,
    )  # fmt: skip


def mapping_row(criterion_id: str, tree_version: str, judge_id: str, leaf: tuple[str, ...]) -> Row:
    """Make an imported `Mapping`."""
    return (criterion_id, tree_version, judge_id, "imported", "scored", leaf, "", None)


def checkpoint_row(
    key: str,
    criterion_id: str,
    response_id: str,
    judge_id: str,
    repeat: int,
    state: MarkState,
    reason: str,
    detail: str,
    value: float | None,
    raw: str,
    scale: str,
) -> Row:
    """Make an imported `Checkpoint`."""
    return (
        key, criterion_id, response_id, judge_id, "imported", _PLAIN, repeat, state, None, reason,
        "", None, detail, None, None, None, value, raw, scale,
    )  # fmt: skip

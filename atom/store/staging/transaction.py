"""The transaction that an import is moved in, and what was there before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from atom.records import (
    Annotation,
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    Import,
    Judge,
    MarkScale,
    Outcome,
    Picture,
    Preference,
    Record,
    Response,
    Sample,
    Study,
    Tag,
    TreeRecord,
    Verdict,
)
from atom.records import Mapping as Mapped
from atom.store import sums
from atom.store.schema import KINDS, Kind
from atom.store.stage import RowStage
from atom.store.store import Writer

_ORDER: tuple[type[Record], ...] = (
    Picture, Candidate, Sample, Response, Outcome, Tag, Preference, Annotation, Verdict,
    Judge, MarkScale, TreeRecord, Criterion, CriteriaSet, Mapped, Checkpoint,
)  # fmt: skip


class Transaction:
    """Runs statements that move staged records into their tables.

    Args:
        writer: the open transaction.
        stages: what is staged.
        study: where it goes.
        record: the import.
    """

    def __init__(
        self, writer: Writer, stages: Mapping[type[Record], RowStage], study: Study, record: Import
    ) -> None:
        self.writer = writer
        self.study = study
        self.record = record
        self._staged = stages
        # Whatever fails takes the whole transaction back: no statement needs a journal of its own.
        self._is_sqlite = writer.connection.dialect.name == "sqlite"
        self.put = "INSERT OR FAIL INTO" if self._is_sqlite else "INSERT INTO"
        self.before: dict[str, int] = {}
        if self._is_sqlite:
            for kind in KINDS.values():
                last = f"SELECT coalesce(max(rowid), 0) FROM {kind.table.name}"
                self.before[kind.table.name] = self.count(last)

    @property
    def stages(self) -> Mapping[type[Record], RowStage]:
        """What is staged so far, in the order that it is moved in."""
        return {kind: self._staged[kind] for kind in _ORDER if kind in self._staged}

    def run(self, sql: str, **values: object) -> sa.CursorResult[Any]:
        """Run a statement."""
        statement = sa.text(sql).bindparams(**values)
        return self.writer.execute(statement.execution_options(preserve_rowcount=True))

    def count(self, sql: str, **values: object) -> int:
        """Run a statement whose result is one number."""
        return int(self.run(sql, **values).scalar_one())

    def was_there(self, table: str, name: str) -> str:
        """Return the condition that rows aren't this import's own, which come after all others."""
        return f"AND {name}.rowid <= {self.before[table]}" if self._is_sqlite else ""

    def run_summed(
        self, kind: Kind, sql: str, *, is_summed: bool, **values: object
    ) -> sa.CursorResult[Any]:
        """Insert rows of a kind; where all of them bring their checksums, no trigger looks."""
        if not is_summed:
            return self.run(sql, **values)
        stop, resume = sums.without_trigger(kind)
        self.run(stop)
        done = self.run(sql, **values)
        self.run(resume)
        return done

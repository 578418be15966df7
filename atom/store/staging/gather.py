"""An import's records on their way in, gathered in tables that no reader sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import sqlalchemy as sa

from atom.records import Import, Outcome, Record, Response, Sample, Study
from atom.records.rows import Columns, Row, Rows, row_of
from atom.store.schema import KINDS
from atom.store.stage import RowStage
from atom.store.staging.move import StagedMove
from atom.store.staging.move_result import MoveResult
from atom.store.store import Store

CACHE_KILOBYTES = 32_768
TEMPORARY_PAGE = 16_384
"""Bytes of a page of what is staged, which is written and read from one end to the other."""
_MORE = 1.25
"""How much more than before has come in when more is moved: so each page of an index that keys fall
into at random is written a few times, however long the import."""
_PAGE = 1000


class _LeftError(Exception):
    """Ends the transaction of an import that breaks off."""


class Staging:
    """Gathers an import's records; use it in a `with` block.

    Args:
        store: where they go in the end.

    Raises:
        ReadOnlyError: the store is sealed.
    """

    def __init__(self, store: Store) -> None:
        store.must_be_open()
        self._store = store
        self._stages: dict[type[Record], RowStage] = {}
        self._all_decided = True
        self._move: StagedMove | None = None
        self._n_moved = 0
        self._is_together = False
        self._transaction = ExitStack()

    def __enter__(self) -> Staging:
        self._connection = self._store.connect_apart()
        if self._is_sqlite:
            self._connection.exec_driver_sql(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
            self._connection.exec_driver_sql(f"PRAGMA temp.page_size = {TEMPORARY_PAGE}")
            self._connection.exec_driver_sql("PRAGMA temp.journal_mode = OFF")
            self._connection.commit()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._transaction.__exit__(_LeftError, _LeftError(), None)
        finally:
            # The connection goes for good: its temporary tables with it.
            self._connection.invalidate()
            self._connection.close()

    @property
    def is_summed(self) -> bool:
        """Whether the store keeps checksums of rows."""
        return self._is_sqlite

    @property
    def _is_sqlite(self) -> bool:
        return self._connection.dialect.name == "sqlite"

    def add(
        self,
        records: Iterable[Record],
        rows: Iterable[Rows[Any]] = (),
        ready: Iterable[Columns] = (),
    ) -> None:
        """Take records in; the order of those of one kind is kept.

        Args:
            records: single ones.
            rows: records that are kept as rows; answers best come together with their verdicts.
            ready: rows whose cells are written already; of a kind that isn't among the others.
        """
        groups: dict[type[Record], list[Row]] = {}
        for record in records:
            groups.setdefault(record.__class__, []).append(row_of(record))
        for kept in rows:
            groups.setdefault(kept.kind, []).extend(kept.rows)
        for kind, group in groups.items():
            self.stage(kind).add(group)
        names = {kind: {row[0] for row in groups.get(kind, ())} for kind in (Response, Outcome)}
        for columns in ready:
            self.stage(columns.kind).put(columns)
            if columns.kind in names:
                names[columns.kind].update(columns.cells[0])
        self._all_decided &= names[Response] <= names[Outcome]

    def stage(self, kind: type[Record]) -> RowStage:
        """Return what gathers one kind of record."""
        stage = self._stages.get(kind)
        if stage is None:
            stage = self._stages[kind] = RowStage(KINDS[kind], self._connection)
        return stage

    def _show(self) -> None:
        for stage in self._stages.values():
            stage.show()

    def move_on(self, study: Study, record: Import) -> None:
        """Move what came in so far, while more is read; others see it when all is moved.

        The store is held from then on. Where it holds any of this already, all of it is moved
        together in the end.

        Args:
            study: where it goes; made now if it isn't there.
        """
        n = sum(stage.rows for stage in self._stages.values())
        if self._is_together or not self._is_sqlite or n < self._n_moved * _MORE:
            return
        self._n_moved = n
        with self._moving(study, record) as move:
            self._is_together = not move.go_on()
            if self._is_together:
                move.take_out()
        if self._is_together:
            self._move = None
            self._transaction.close()

    @contextmanager
    def _moving(self, study: Study, record: Import) -> Iterator[StagedMove]:
        """Give the transaction, begun where it wasn't; it ends at once with what is raised."""
        if self._move is None:
            self._connection.commit()
            writer = self._transaction.enter_context(
                self._store.write_on(self._connection, "import")
            )
            self._move = StagedMove(writer, self._stages, study, record)
        try:
            yield self._move
        except BaseException as error:
            self._transaction.__exit__(type(error), error, error.__traceback__)
            raise

    def undecided(self) -> Iterator[tuple[Sample, Response]]:
        """Give the answers that came without a verdict, with their questions.

        Only those that have a text, of questions whose reference is known.
        """
        if self._all_decided or not {Response, Sample} <= set(self._stages):
            return
        self.stage(Outcome)
        self._show()
        samples, responses = self._stages[Sample], self._stages[Response]
        columns = [f's."{name}" AS "s_{name}"' for name in samples.columns]
        columns += [f'r."{name}" AS "r_{name}"' for name in responses.columns]
        # Put aside first: the caller adds outcomes while it reads these.
        self._connection.execute(
            sa.text(
                f"CREATE TEMPORARY TABLE undecided AS SELECT {', '.join(columns)}, r.seq AS seq "
                f"FROM {responses.name} r JOIN {samples.name} s ON s.id = r.sample_id "
                "LEFT JOIN staged_outcomes o ON o.response_id = r.id WHERE o.response_id IS NULL "
                "AND r.state = 'scored' AND r.text <> '' AND s.reference IS NOT NULL"
            )
        )
        self._connection.execute(sa.text("CREATE INDEX undecided_seq ON undecided (seq)"))
        last = -1
        page = sa.text("SELECT * FROM undecided WHERE seq > :last ORDER BY seq LIMIT :most")
        while rows := self._connection.execute(
            page.bindparams(last=last, most=_PAGE)
        ).mappings().all():  # fmt: skip
            last = rows[-1]["seq"]
            for row in rows:
                sample = samples.kind.from_row({name: row[f"s_{name}"] for name in samples.columns})
                response = responses.kind.from_row(
                    {name: row[f"r_{name}"] for name in responses.columns}
                )
                assert isinstance(sample, Sample)
                assert isinstance(response, Response)
                yield sample, response

    def move(
        self,
        study: Study,
        record: Import,
        *,
        replace: bool = False,
        judge: str | None = None,
        tree: str | None = None,
        close: Callable[[MoveResult], Import],
    ) -> tuple[Import, MoveResult]:
        """Move everything into the store, in one transaction.

        Args:
            study: where it goes; made now if it isn't there.
            replace: take back the imports that brought other contents under the same ids.
            judge: whose marks on criteria a study without a judge shows.
            tree: the tree that criteria hang in, for a study without one.
            close: makes the import's record of what came of it.

        Returns:
            The import as the study keeps it, and what came of it.

        Raises:
            ConflictFoundError: the store holds other contents under the same ids; nothing changed.
            StoreError: the store can't be written.
        """
        with self._moving(study, record) as move:
            if move.has_begun and not move.go_on():
                move.take_out()
            moved = move.end(replace=replace, judge=judge, tree=tree)
            closed = close(moved)
            move.writer.replace([closed])
            words = f"{closed.format}: {closed.samples:,} questions, {closed.responses:,} answers"
            move.writer.tell("import", study=study.id, subject=closed.id, after=words)
        self._transaction.close()
        return closed, moved


def names_of_sets(store: Store, study_id: str) -> Sequence[Mapping[str, str]]:
    """Return one question of each data set that a study holds, with its ids.

    Returns:
        Rows of `dataset`, `id` and `source_id`; those without an id in the source have None.
    """
    with store.read() as connection:
        return [
            dict(row)
            for row in connection.execute(
                sa.text(
                    "SELECT s.dataset AS dataset, s.id AS id, s.source_id AS source_id "
                    "FROM samples s JOIN (SELECT min(x.id) AS id FROM samples x JOIN "
                    "study_samples p ON p.sample_id = x.id WHERE p.study_id = :study "
                    "GROUP BY x.dataset, x.source_id IS NULL) f ON f.id = s.id"
                ).bindparams(study=study_id)
            ).mappings()
        ]

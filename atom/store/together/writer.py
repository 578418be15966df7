"""What changes a store inside one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar

import sqlalchemy as sa

from atom.access import Person
from atom.records import Annotation, Record
from atom.store.schema import KINDS, Kind, claims, import_links, quotas
from atom.store.team.guard import count_spending, tell
from atom.store.together.revisions import studies_with
from atom.store.together.server import insert_into, insert_new, insert_over

R = TypeVar("R", bound=Record)
_CHUNK = 400
_MOST_TOLD = 50
"""Labels of one transaction that are logged one by one."""
_LOCK = sa.text("SELECT pg_advisory_xact_lock(1, hashtext(:name))")
_RELEASE = sa.delete(claims).where(
    claims.c.owner == sa.bindparam("owner"),
    claims.c.item.in_(sa.bindparam("items", expanding=True)),
)


class Writer:
    """Changes inside one transaction; made by `Store.write` and `Store.transact`.

    Args:
        now: seconds since the epoch, by the clock that all who use the store share.
        person: who changes it; None where it belongs to no deployment, and nothing is logged.
    """

    def __init__(self, connection: sa.Connection, now: float, person: Person | None = None) -> None:
        self._connection = connection
        self.now = now
        self.person = person
        self.touched: set[str] = set()
        self.results = 0

    @property
    def connection(self) -> sa.Connection:
        """The connection that the transaction is on."""
        return self._connection

    @property
    def is_postgresql(self) -> bool:
        """Whether the store is on a PostgreSQL server."""
        return self._connection.dialect.name == "postgresql"

    @property
    def stamp(self) -> str:
        """The time, in UTC."""
        return datetime.fromtimestamp(self.now, UTC).isoformat(timespec="seconds")

    def tell(
        self, action: str, *, study: str = "", subject: str = "", before: str = "", after: str = ""
    ) -> None:
        """Write into a deployment's log who does what, in this transaction.

        Args:
            action: what, in a word or two.
            study: the study, by id.
            subject: what it is about, by id.
            before: what was there before, where that is short.
            after: what is there now.
        """
        if self.person is not None:
            told = {"study": study, "subject": subject, "before": before, "after": after}
            tell(self._connection, self.person, action, **told)

    def _note(self, records: Iterable[Record]) -> Iterable[Record]:
        """Count what calls cost, and log people's labels, before they are written."""
        if self.person is None:
            return records
        records = list(records)
        count_spending(self._connection, self.person, records)
        labels = [one for one in records if isinstance(one, Annotation)]
        if len(labels) > _MOST_TOLD:
            self.tell("labels", study=labels[0].study_id, after=f"{len(labels):,} labels")
        else:
            for one in labels:
                said = one.label or ("" if one.value is None else f"{one.value:g}") or one.state
                self.tell(
                    f"label {one.kind}", study=one.study_id, subject=one.subject_id,
                    after=f"{one.annotator}: {said}",
                )  # fmt: skip
        return records

    def put(self, records: Iterable[Record]) -> int:
        """Add records; one whose key is there already is left as it is.

        Returns:
            How many were new.
        """
        records = self._note(records)
        new = 0
        for kind, rows in _by_kind(records):
            statement = insert_new(self._connection, kind.table)
            for start in range(0, len(rows), _CHUNK):
                result = self._connection.execute(
                    statement,
                    rows[start : start + _CHUNK],
                    execution_options={"preserve_rowcount": True},
                )
                new += max(result.rowcount, 0)
        return new

    def replace(self, records: Iterable[Record]) -> None:
        """Add records, overwriting those whose key is there already."""
        records = self._note(records)
        for kind, rows in _by_kind(records):
            statement = insert_over(self._connection, kind.table)
            for start in range(0, len(rows), _CHUNK):
                self._connection.execute(statement, rows[start : start + _CHUNK])

    def delete(self, record: type[Record], where: sa.ColumnElement[bool]) -> int:
        """Delete the records that match; returns how many went."""
        return self._connection.execute(sa.delete(KINDS[record].table).where(where)).rowcount

    def one(self, record: type[R], where: sa.ColumnElement[bool]) -> R:
        """Return the one record that matches."""
        kind = KINDS[record]
        row = self._connection.execute(sa.select(kind.table).where(where)).mappings().one()
        return kind.from_row(row)  # type: ignore[return-value, arg-type]

    def rows_of(self, kind: Kind, column: str, values: Iterable[str]) -> list[dict[str, Any]]:
        """Return the stored rows whose column has one of some values, as this transaction sees it.

        Args:
            kind: how the records are stored.
            values: what it may hold.
        """
        found: list[dict[str, Any]] = []
        wanted = sorted(set(values))
        for start in range(0, len(wanted), _CHUNK):
            part = kind.table.c[column].in_(wanted[start : start + _CHUNK])
            rows = self._connection.execute(sa.select(kind.table).where(part)).mappings()
            found += [dict(row) for row in rows]
        return found

    def execute(
        self,
        statement: sa.Executable,
        rows: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> sa.CursorResult[Any]:
        """Run a Core statement in this transaction; once for each of some rows, where given."""
        return self._connection.execute(statement, rows)

    def link_import(self, import_id: str, links: Iterable[tuple[str, str]]) -> None:
        """Note which records (kind, id) an import brought."""
        rows = [{"import_id": import_id, "kind": k, "record_id": i} for k, i in links]
        statement = insert_new(self._connection, import_links)
        for start in range(0, len(rows), _CHUNK):
            self._connection.execute(statement, rows[start : start + _CHUNK])

    def touch(self, study_id: str, sample_ids: Iterable[str] = (), *, results: int = 0) -> None:
        """Say where it shows what `Store.transact` changes; without a word it shows nowhere.

        Args:
            study_id: the study that it belongs to.
            sample_ids: samples that results are about; they may count in other studies, too.
            results: how many results were brought; 0 = it is another change.
        """
        self.touched |= {study_id, *studies_with(self._connection, sample_ids)}
        self.results += results

    def claim(
        self, items: Sequence[str], owner: str, seconds: float, now: float | None = None
    ) -> set[str]:
        """Claim planned items with a lease, so that two runners don't pay twice.

        Args:
            items: keys of planned items.
            owner: the runner's name.
            seconds: how long the lease lasts.
            now: seconds since the epoch; None = by the store's clock.

        Returns:
            The items that are the owner's now (free, expired, or already its own).
        """
        now = self.now if now is None else now
        taken = _claim(self._connection.dialect.name)
        got: set[str] = set()
        # In one order everywhere, so that two who claim the same don't wait for each other.
        wanted = sorted(set(items))
        for start in range(0, len(wanted), _CHUNK):
            part = wanted[start : start + _CHUNK]
            one = {"owner": owner, "until": now + seconds, "at": now}
            rows = [{"item": item, **one} for item in part]
            got |= {str(item) for item in self._connection.execute(taken, rows).scalars()}
        return got

    def lock(self, name: str) -> None:
        """Wait until nobody else changes what has this name; it ends with the transaction."""
        if self.is_postgresql:
            self._connection.execute(_LOCK, {"name": name})

    def set_quotas(
        self, owner: str, wanted: Mapping[str, tuple[int, float]], seconds: float
    ) -> None:
        """Say what a process wants and holds of things that processes share.

        Args:
            owner: the process.
            wanted: how much it wants of each, by name, and how much it holds.
            seconds: how long its word holds.
        """
        one = {"owner": owner, "until": self.now + seconds}
        rows = [{"name": n, "wants": w, "holds": h, **one} for n, (w, h) in sorted(wanted.items())]
        if rows:
            self._connection.execute(insert_over(self._connection, quotas), rows)

    def release(self, owner: str, items: Sequence[str] | None = None) -> None:
        """Give claimed items back; all of the owner's when None."""
        if items is None:
            self._connection.execute(sa.delete(claims).where(claims.c.owner == owner))
            # Its calls at once are free; its money isn't known to be.
            slots = sa.delete(quotas).where(quotas.c.owner == owner)
            self._connection.execute(slots.where(quotas.c.name.startswith("slots:")))
            return
        for start in range(0, len(items), _CHUNK):
            part = list(items[start : start + _CHUNK])
            self._connection.execute(_RELEASE, {"owner": owner, "items": part})


@cache
def _claim(dialect: str) -> Any:
    """Return the statement that claims items at a time, `at`; it says which it got."""
    statement = insert_into(dialect, claims)
    said = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=["item"],
        set_={"owner": said.owner, "until": said.until},
        where=sa.or_(claims.c.until <= sa.bindparam("at"), claims.c.owner == said.owner),
    ).returning(claims.c.item)


def _by_kind(records: Iterable[Record]) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    groups: dict[type[Record], list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault(type(record), []).append(KINDS[type(record)].to_row(record))
    for record_type, rows in groups.items():
        yield KINDS[record_type], rows

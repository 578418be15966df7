"""What is there after a command: what a user sees, each table by its contents, and files."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from atom.records import Study
from atom.store import Store, check_store, count_study
from atom.store.schema import metadata
from atom.store.store import DATABASE

UNTOLD = {"meta", "calls", "claims", "quotas", "runs", "sqlite_stat1", "revisions"}
"""Tables that a command that is repeated may leave in another state than one that isn't: calls in
flight are asked again, by a run of its own; claims and shares of a rate run out by themselves.
"""
_MOMENT = re.compile(rb"20\d\d-\d\d-\d\d[ T]\d\d:\d\d[\d:.]*")
"""When something was written, which may stand in a file or a row; two may fall into one second."""
_SUMS = "row_sum"
"""Checksums, which hold such times; `store check` looks at them."""
_ENDS = (".part", ".part.zip")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is there.

    Args:
        studies: with what counts in them.
        tables: each table's columns: a hash of the values, whatever their order.
        files: what was written, with a hash each.
    """

    studies: tuple[object, ...]
    tables: Mapping[str, Mapping[str, str]]
    files: Mapping[str, str]

    def differs(self, other: Seen, steady: Seen | None = None) -> str:
        """Say what isn't as in another state; empty where all is.

        Args:
            other: the other state.
            steady: a second state like the other one: what differs between these two (times,
                ids by chance) is no difference.
        """
        twin = steady or other
        if self.studies != other.studies and twin.studies == other.studies:
            return f"studies: {self.studies}"
        if set(self.files) != set(other.files):
            return f"files: {sorted(set(self.files) ^ set(other.files))}"
        for name, value in other.files.items():
            if twin.files.get(name) == value != self.files[name]:
                return f"the file {name}"
        for table, columns in other.tables.items():
            for column, value in columns.items():
                mine = self.tables.get(table, {}).get(column)
                if twin.tables.get(table, {}).get(column) == value != mine:
                    return f"{table}.{column}"
        return ""


def seen_in(work: Path) -> Seen:
    """Look at what is there.

    Args:
        work: a folder with a store (`store`) and what was written beside it (`out`).

    Raises:
        AtomError: the store can't be read.
    """
    ours, *copies = _stores(work)
    with Store.open(work / "store") as store:
        studies = _studies(store)
    settings = work / "store" / "endpoints.yaml"
    tables = _tables(ours / DATABASE)
    for copy in copies:
        told = _tables(copy / DATABASE).items()
        tables |= {f"{copy.name}.{name}": columns for name, columns in told}
    return Seen(
        studies=studies,
        tables=tables,
        files=_files(work) | {"endpoints.yaml": _hash_file(settings)},
    )


def _studies(store: Store) -> tuple[object, ...]:
    return tuple(
        (study.name, study.tree_version, count_study(store, study.id))
        for study in sorted(store.select(Study), key=lambda study: study.name)
    )


def _files(work: Path) -> dict[str, str]:
    return {
        path.relative_to(work).as_posix(): _hash_file(path)
        for path in sorted((work / "out").rglob("*"))
        if path.is_file()
        and not path.name.startswith(DATABASE)
        and not path.name.endswith(_ENDS)
        and ".part/" not in path.as_posix()
    }


def seen_on(location: str, work: Path) -> Seen:
    """Look at a store on a server.

    Args:
        location: its address.
        work: a folder with what was written beside it (`out`).
    """
    with Store.open(location) as store:
        studies = _studies(store)
        tables = {}
        with store.read() as connection:
            for one in metadata.sorted_tables:
                if one.name not in UNTOLD:
                    rows = connection.execute(sa.select(one))
                    tables[one.name] = _columns(list(rows.keys()), rows.fetchall())
    return Seen(studies=studies, tables=tables, files=_files(work))


def harm_of(work: Path, location: str | None = None) -> str:
    """Say what is wrong with the store itself, and with a copy of it, after their next start.

    Args:
        work: the folder that holds them.
        location: address of a store on a server; None = the store is in the folder.
    """
    for place in _stores(work) if location is None else [location]:
        with Store.open(place) as store:
            problems = check_store(store).problems
            litter = [path.name for path in store.folder.rglob(".*.part*")]
        if problems:
            return problems[0]
        if litter:
            return f"{litter[0]} is left after the next start"
    return ""


def _stores(work: Path) -> list[Path]:
    """Return the store's folder, and those of stores that were written beside it."""
    return [work / "store", *sorted(one.parent for one in work.glob(f"out/*/{DATABASE}"))]


def _tables(database: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (name,) in names.fetchall():
            if name in UNTOLD:
                continue
            rows = connection.execute(f'SELECT * FROM "{name}"')
            found[name] = _columns([about[0] for about in rows.description], rows.fetchall())
    return found


def _columns(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> dict[str, str]:
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    return {
        column: _hash_values(cells)
        for column, cells in zip(columns, values, strict=True)
        if column != _SUMS
    }


def _hash_values(cells: tuple[object, ...]) -> str:
    summed = hashlib.sha256()
    for text in sorted(map(repr, cells)):
        summed.update(_MOMENT.sub(b"", text.encode("utf-8", "replace")) + b"\0")
    return f"{len(cells)} values, {summed.hexdigest()[:16]}"


def _hash_file(path: Path) -> str:
    """Hash a file, but for when it was written; of a whole archive, name what is in it."""
    if not path.exists():
        return "none"
    if not zipfile.is_zipfile(path):
        return hashlib.sha256(_MOMENT.sub(b"", path.read_bytes())).hexdigest()
    with zipfile.ZipFile(path) as archive:
        return f"cut at {bad}" if (bad := archive.testzip()) else str(sorted(archive.namelist()))

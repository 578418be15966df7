"""The least that keeping a table's rows can cost in Python: what an import is measured against.

Lines are read, ids are hashed, and rows go into tables with the keys, links and checksums that a
store has. Nothing is guessed, cleaned, compared, counted or staged, and a second run would fail.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

_TABLES = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE samples (id TEXT PRIMARY KEY, dataset TEXT, source_id TEXT, question TEXT,
    choices TEXT, reference TEXT, pictures TEXT, cluster TEXT, row_sum INTEGER);
CREATE TABLE responses (id TEXT PRIMARY KEY, sample_id TEXT, candidate_id TEXT, prompt TEXT,
    state TEXT, text TEXT, row_sum INTEGER);
CREATE INDEX responses_sample ON responses (sample_id);
CREATE TABLE outcomes (response_id TEXT, how TEXT, judge_id TEXT, state TEXT, value REAL,
    row_sum INTEGER, PRIMARY KEY (response_id, how, judge_id));
CREATE TABLE tags (subject TEXT, subject_id TEXT, source TEXT, facet TEXT, value TEXT,
    row_sum INTEGER, PRIMARY KEY (subject, subject_id, source, facet, value));
CREATE TABLE places (study_id TEXT, sample_id TEXT, position INTEGER, row_sum INTEGER,
    PRIMARY KEY (study_id, sample_id));
CREATE TABLE links (import_id TEXT, kind TEXT, record_id TEXT,
    PRIMARY KEY (import_id, kind, record_id));
BEGIN;
"""
_PAGE = 2000
Row = tuple[object, ...]


def keep_bare(table: Path, database: Path) -> int:
    """Put a table made by `import_rate.generate` into a bare database; returns its rows."""
    n = 0
    seen: set[str] = set()
    pages: dict[str, list[Row]] = {}
    with (
        closing(sqlite3.connect(database, isolation_level=None)) as connection,
        table.open(encoding="utf-8") as lines,
    ):
        connection.executescript(_TABLES)
        for line in lines:
            n += 1
            _take(json.loads(line), seen, pages)
            if n % _PAGE == 0:
                _write(connection, pages)
        _write(connection, pages)
        connection.execute("COMMIT")
    return n


def _take(row: dict[str, object], seen: set[str], pages: dict[str, list[Row]]) -> None:
    sample_id = _id("sample", row["id"])
    if sample_id not in seen:
        seen.add(sample_id)
        _add(
            pages, "samples",
            (sample_id, "answers", row["id"], row["question"], json.dumps(row["choices"]),
             row["answer"], row["image"], _id("cluster", row["image"])),
        )  # fmt: skip
        for facet in ("skill", "difficulty"):
            _add(pages, "tags", ("sample", sample_id, "answers", facet, str(row[facet])))
        _add(pages, "places", ("study", sample_id, len(seen)))
        for kind in ("sample", "place"):
            pages.setdefault("links", []).append(("import", kind, sample_id))
    response_id = _id("response", sample_id, row["model"])
    said = (response_id, sample_id, row["model"], "imported", "scored", row["response"])
    _add(pages, "responses", said)
    _add(pages, "outcomes", (response_id, "imported", "", "scored", 1.0 if row["correct"] else 0.0))
    for kind in ("response", "outcome"):
        pages.setdefault("links", []).append(("import", kind, response_id))


def _id(*parts: object) -> str:
    return blake2b(json.dumps(parts).encode(), digest_size=12).hexdigest()


def _add(pages: dict[str, list[Row]], name: str, row: Row) -> None:
    pages.setdefault(name, []).append((*row, zlib.crc32(repr(row).encode())))


def _write(connection: sqlite3.Connection, pages: dict[str, list[Row]]) -> None:
    for name, rows in pages.items():
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
            rows.clear()

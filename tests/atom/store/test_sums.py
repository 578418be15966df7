"""Checksums of rows: they follow whatever we write, and show whatever anybody else changes."""

from __future__ import annotations

import random
import shutil
import sqlite3
import zlib
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.errors import CorruptError, StoreError
from atom.records import Call, Checkpoint, Outcome, Study
from atom.store import Store, check_store, rename_study
from atom.store.schema import KINDS
from atom.store.sums import call, of_columns, row_sum, teach
from tests.app.screen_store import make_store


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a judged store, settled into one file."""
    made = make_store(tmp_path_factory.mktemp("whole") / "store")
    with closing(sqlite3.connect(made.folder / "atomscope.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return made


@pytest.fixture
def folder(whole, tmp_path):
    """Return a copy of it."""
    shutil.copytree(whole.folder, tmp_path / "store")
    return tmp_path / "store"


def by_hand(folder, sql, *values):
    """Change the file as another program does."""
    with closing(sqlite3.connect(folder / "atomscope.sqlite")) as connection:
        connection.execute(sql, values)
        connection.commit()


def problems(folder):
    with Store.open(folder) as store:
        return check_store(store, pictures=False).problems


def test_a_checksum_is_that_of_the_quoted_cells():
    # Text cells 'a' and NULL as SQLite quotes them, then 2.0 written as 2, then bytes.
    assert row_sum("'a',NULL", 2.0, b"xy") == zlib.crc32(b"'a',NULL2xy")
    assert row_sum("", 2.0) == row_sum("", 2)
    assert row_sum("", 0.1) != row_sum("", 0.1 + 2**-56)
    assert row_sum(b"\xff") == zlib.crc32(b"\xff")


TEXTS = st.text(st.characters(blacklist_characters="\x00", blacklist_categories=["Cs"]))
ODD = st.sampled_from(["", "it's", "''", "100 %s", "%", "\\", "\x01", "\n"]) | TEXTS
VALUES = st.none() | st.booleans() | st.integers(-9, 9) | st.floats()


@settings(max_examples=60)
@given(st.lists(st.tuples(ODD, ODD, VALUES, st.none() | ODD, st.booleans()), min_size=1))
def test_checksums_column_by_column_are_those_that_the_database_works_out(drawn):
    kind = KINDS[Outcome]
    rows = [
        (name, "imported", "", "scored", value, text, "same", call_id if varies else None)
        for name, text, value, call_id, varies in drawn
    ]
    with closing(sqlite3.connect(":memory:")) as connection:
        teach(connection)
        types = [f'"{name}" {column.type.compile()}' for name, column in kind.table.columns.items()]
        connection.execute(f"CREATE TABLE outcomes ({', '.join(types)})")
        connection.executemany("INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        found = connection.execute(f"SELECT {call(kind)} FROM outcomes ORDER BY rowid").fetchall()
    assert of_columns(kind, list(zip(*rows, strict=True))) == [number for (number,) in found]


def test_checksums_of_cells_that_no_column_holds_are_left_to_the_trigger():
    row = ("r", "imported", "", "scored", 1.0, ["a list"], "", None)
    assert of_columns(KINDS[Outcome], [(cell,) for cell in row]) == [None]


def test_all_scores_changed_are_seen_and_their_study_is_named(folder):
    """Fall 17 of design/074."""
    by_hand(folder, "UPDATE checkpoints SET score = 6 - score, value = 1 - value WHERE score <> 3")
    found = problems(folder)
    assert len(found) == 1
    assert "scores of 'Test study' aren't what was written" in found[0]


def test_a_reply_a_text_an_id_and_a_reference_are_each_named(folder):
    by_hand(
        folder,
        "UPDATE calls SET reply = substr(reply, 1, 5) WHERE id = (SELECT min(id) FROM calls)",
    )
    by_hand(folder, "UPDATE samples SET reference = 'Z' WHERE id = (SELECT min(id) FROM samples)")
    by_hand(folder, "UPDATE judges SET name = 'another'")
    by_hand(folder, "INSERT INTO tags VALUES ('sample', 'x', 'y', 'f', 'v', NULL)")
    told = "\n".join(problems(folder))
    for words in ("calls with their", "questions of 'Test study'", "judges", "(1 row of tags"):
        assert words in told
    with Store.open(folder) as store, pytest.raises(CorruptError, match=r"record '.*' in 'calls'"):
        store.select(Call)


def test_whatever_we_write_carries_its_checksum(folder, whole):
    with Store.open(folder) as store:
        rename_study(store, whole.study.id, "Renamed")
        study = store.get(Study, whole.study.id)
        store.replace([study.model_copy(update={"note": "it's “quoted”\n\U0001f600"})])
        points = store.select(Checkpoint)
        store.replace(points)
        with store.write() as writer:
            writer.delete(Checkpoint, KINDS[Checkpoint].table.c.key == points[0].key)
            writer.put(points)
        assert check_store(store, pictures=False).problems == ()


def test_what_is_written_after_a_change_was_taken_back_carries_its_checksum(tmp_path):
    with Store.open(tmp_path / "new") as store:
        with pytest.raises(KeyError), store.write():
            raise KeyError
        store.put([Study(id="s", name="After it")])
        assert check_store(store).problems == ()


@pytest.mark.slow
def test_no_flipped_byte_of_the_file_goes_unseen(whole, tmp_path):
    data = (whole.folder / "atomscope.sqlite").read_bytes()

    def contents(folder):
        with Store.open(folder, read_only=True) as store:
            return {kind: sorted(map(repr, store.select(kind))) for kind in KINDS}

    def looks_whole(folder):
        try:
            with Store.open(folder, read_only=True) as store:
                return not check_store(store, pictures=False).problems
        except StoreError:
            return False

    before, draw = contents(whole.folder), random.Random(15)
    used = [at for at in range(100, len(data)) if data[at]]  # its pages are half empty
    harmful = 0
    for number in range(40):
        folder = tmp_path / str(number)
        folder.mkdir()
        body = bytearray(data)
        body[draw.choice(used)] ^= 1 << draw.randrange(8)
        (folder / "atomscope.sqlite").write_bytes(body)
        if looks_whole(folder):
            assert contents(folder) == before, f"flip {number} went unseen"
        else:
            harmful += 1
    assert harmful > 10

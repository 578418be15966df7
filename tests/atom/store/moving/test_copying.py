"""A store moves whole between a folder and a server, and nothing moves by halves."""

from __future__ import annotations

import json
import shutil
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.cli.main import main
from atom.errors import StoreError
from atom.records import Call, Picture
from atom.store import Store, check_store, find_study
from atom.store.moving import copying
from atom.store.moving.copying import Digest, copy_store
from atom.store.together.blobs import FolderBlobs
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.study_data import load_study
from tests.factories import STUDY, open_small, picture_file


@pytest.fixture
def small(tmp_path) -> str:
    """A folder with both small studies, a run's log and a list of endpoints."""
    folder = tmp_path / "small"
    with open_small(folder) as store:
        call = Call(id="o'k\\\t", request_hash="h", task="t", endpoint="e", model="m", prompt="p",
                    reply="\N{SNOWMAN}\n" * 99, cost=0.1, seconds=-0.0)  # fmt: skip
        store.put([call])
    (folder / "runs").mkdir()
    (folder / "runs" / "r1.log").write_text("asked 3\n", encoding="utf-8")
    (folder / "endpoints.yaml").write_text("endpoints: []\n", encoding="utf-8")
    (folder / "open-8501.html").write_text("a secret", encoding="utf-8")
    return str(folder)


def figures(location):
    """Return what the first screen shows, and all that is counted."""
    with Store.open(location) as store:
        report = check_store(store)
        assert report.problems == ()
        data = load_study(store, find_study(store, STUDY).id)
        return report.counts, report.states, repr(overview(data, Filters()))


@pytest.mark.slow
def test_a_store_goes_to_a_server_and_back(small, pg_url, tmp_path, capsys):
    """Backup and restore: a folder, a server, a folder, another server's place; all the same."""
    back = tmp_path / "back"
    for source, target in ((small, pg_url), (pg_url, str(back)), (str(back), str(tmp_path / "b"))):
        assert main(["store", "copy", source, target, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["rows"]["samples"] == 6 + 8
        assert (told["pictures"], told["files"], told["missing"]) == (6, 2, [])
    assert figures(small) == figures(pg_url) == figures(back) == figures(tmp_path / "b")
    with Store.open(small) as one, Store.open(back) as other:
        assert one.select(Call, order_by=["id"]) == other.select(Call, order_by=["id"])
    assert (back / "runs" / "r1.log").read_text(encoding="utf-8") == "asked 3\n"
    assert (back / "endpoints.yaml").exists()
    assert not (back / "open-8501.html").exists()


def test_a_place_that_holds_something_is_refused(small, tmp_path, capsys):
    other = str(tmp_path / "other")
    open_small(tmp_path / "other").close()
    before = figures(other)
    assert main(["store", "copy", small, other]) == 2
    assert "isn't empty" in capsys.readouterr().err
    assert figures(other) == before
    assert main(["store", "copy", small, small]) == 2
    assert "onto itself" in capsys.readouterr().err
    assert main(["store", "copy", str(tmp_path / "none"), str(tmp_path / "new")]) == 2
    assert "there is no store" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_database_without_a_store_is_no_source(pg_empty, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["store", "copy", pg_empty, str(tmp_path / "new")]) == 2
    assert "there is no store" in capsys.readouterr().err


def test_what_was_cut_short_goes_on(small, location, monkeypatch):
    """Rows arrive all or none; pictures that are there already aren't read again."""

    def cut(what, done, total):
        if what.startswith("rows") and done > total // 2:
            raise KeyboardInterrupt

    with Store.open(small) as source, Store.open(location) as target:
        with pytest.raises(KeyboardInterrupt):
            copy_store(source, target, cut)
        assert set(check_store(target, pictures=False).counts.values()) == {0}
        sent = []
        monkeypatch.setattr(type(target.pictures), "copy_from", lambda *which: sent.append(which))
        assert copy_store(source, target).pictures == 6
        assert sent == []
    assert figures(location) == figures(small)


def test_a_picture_that_arrived_has_its_thumbnail(small, tmp_path, monkeypatch):
    """A copy that was killed between the two isn't short of it for good."""
    written = []

    def cut(files, name, data):
        written.append(name)
        if len(written) > 1:
            raise KeyboardInterrupt  # as if killed before the second file

    with Store.open(small) as source, Store.open(tmp_path / "new") as target:
        monkeypatch.setattr(FolderBlobs, "write", cut)
        with pytest.raises(KeyboardInterrupt):
            copy_store(source, target)
        assert [name.partition("/")[0] for name in written] == ["thumbs", "pictures"]


def test_a_row_that_arrives_otherwise_undoes_the_copy(small, location, monkeypatch):
    put = copying._put

    def lose(connection, one, rows):
        put(connection, one, rows[:-1] if one.name == "responses" else rows)

    monkeypatch.setattr(copying, "_put", lose)
    with Store.open(small) as source, Store.open(location) as target:
        with pytest.raises(StoreError, match="responses didn't arrive as they were sent"):
            copy_store(source, target)
        assert set(check_store(target, pictures=False).counts.values()) == {0}


def test_damaged_rows_and_pictures_are_told(small, tmp_path, capsys):
    hurt = tmp_path / "hurt"
    shutil.copytree(small, hurt)
    with Store.open(hurt) as store:
        first, second = (picture_file(store, one.id) for one in store.select(Picture)[:2])
    first.write_bytes(b"other")
    second.unlink()
    assert main(["store", "copy", str(hurt), str(tmp_path / "new"), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert set(told["missing"]) == {first.name, second.name}
    assert told["pictures"] == 4
    with sqlite3.connect(hurt / "atomscope.sqlite") as raw:
        raw.execute("UPDATE responses SET text = 'otherwise' WHERE rowid = 1")
    raw.close()
    assert main(["store", "copy", str(hurt), str(tmp_path / "newer")]) == 2
    assert "aren't what was written" in capsys.readouterr().err


_CELL = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@given(st.lists(st.tuples(_CELL, _CELL), max_size=6).flatmap(
    lambda rows: st.tuples(st.just(rows), st.permutations(rows), st.integers(0, 5))))  # fmt: skip
def test_a_digest_knows_no_order_and_misses_no_row(drawn):
    rows, other, at = drawn
    one, two, less = Digest(), Digest(), Digest()
    one.add(rows)
    two.add(other)
    assert one == two
    if at < len(rows):
        less.add(rows[:at] + rows[at + 1 :])
        assert one != less

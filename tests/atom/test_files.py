"""Files are written whole or not at all, and what killed processes left is cleared."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from atom import files
from atom.errors import PlaceError
from atom.files import clear_parts, new_file, new_folder, part_path, stream, write_file

PROJECT = Path(__file__).resolve().parents[2]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_over_only_when_said_so(tmp_path):
    place = tmp_path / "deep" / "report.txt"
    write_file(place, "one", replace=False)
    with pytest.raises(PlaceError, match="is there already"):
        write_file(place, "two", replace=False)
    assert place.read_text() == "one"
    write_file(place, "\ud800")
    assert place.read_text() == "?"
    assert names(place.parent) == ["report.txt"]


def test_what_fails_half_way_leaves_the_old_file_and_nothing_else(tmp_path):
    place = tmp_path / "report.txt"
    write_file(place, "old")

    def cut() -> None:
        with new_file(place, replace=True) as part:
            part.write_text("half")
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        cut()
    assert place.read_text() == "old"
    assert names(tmp_path) == ["report.txt"]


def test_a_place_that_somebody_took_meanwhile_is_left_to_them(tmp_path):
    place = tmp_path / "report.txt"

    def late() -> None:
        with new_file(place) as part:
            part.write_text("mine")
            place.write_text("theirs")

    with pytest.raises(PlaceError, match="is there already"):
        late()
    assert place.read_text() == "theirs"
    assert names(tmp_path) == ["report.txt"]


@pytest.mark.parametrize("name", ["tables", "tables.zip"])
def test_a_folder_gets_its_name_when_it_is_whole(tmp_path, name):
    with new_folder(tmp_path / name) as part:
        with stream(part / "a.csv") as file:
            file.write(b"1")
        assert not (tmp_path / name).exists()
    assert names(tmp_path) == [name]
    with pytest.raises(PlaceError, match="is there already"), new_folder(tmp_path / name):
        pass


def test_an_empty_folder_is_as_good_as_none_where_that_is_said(tmp_path):
    (tmp_path / "new").mkdir()
    with new_folder(tmp_path / "new", empty=True) as part:
        (part / "a").write_text("1")
    assert names(tmp_path / "new") == ["a"]


def test_nothing_is_streamed_under_a_final_name(tmp_path):
    with pytest.raises(ValueError, match="unfinished"):
        stream(tmp_path / "a.csv")


def test_a_full_disk_says_how_much_is_free_and_needed(tmp_path, monkeypatch):
    def no_room(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", no_room)
    monkeypatch.setattr(files, "free_bytes", lambda folder: 1_234_567)
    with pytest.raises(PlaceError, match=r"1\.2 MB free.*about 3\.0 MB are needed"):
        write_file(tmp_path / "a", b"x" * 3_000_000)
    assert names(tmp_path) == []


def test_what_a_killed_process_left_is_cleared_and_what_a_living_one_writes_stays(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; from atom.files import new_folder\n"
        "with new_folder(Path(sys.argv[1]) / 'tables') as part:\n"
        "    (part / 'a.csv').write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, tmp_path], cwd=PROJECT, check=False)
    assert ended.returncode == -signal.SIGKILL
    left = names(tmp_path)
    assert [name.startswith(".tables.") and name.endswith(".part") for name in left] == [True]
    mine = part_path(tmp_path / "mine")
    mine.write_text("being written")
    (tmp_path / ".notes.part").write_text("not ours")
    (tmp_path / ".tables.00000000-1-5-0.part").write_text("of another computer")
    assert clear_parts(tmp_path) == 1
    assert left[0] not in names(tmp_path)
    assert len(names(tmp_path)) == 3
    assert clear_parts(tmp_path / "nowhere") == 0


def test_a_process_that_has_another_ones_number_is_not_it(tmp_path):
    mine = part_path(tmp_path / "mine")
    before = mine.name.replace(
        f"-{os.getpid()}-{files.process_start(os.getpid())}-", f"-{os.getpid()}-1-"
    )
    (tmp_path / before).write_text("of the one before")
    assert clear_parts(tmp_path) == (1 if files.process_start(os.getpid()) else 0)


def test_what_is_unfinished_may_lie_in_a_folder_above(tmp_path):
    place = tmp_path / "pictures" / "ab" / "abc"
    with new_file(place, within=tmp_path / "pictures") as part:
        part.write_text("half")
        assert part.parent == tmp_path / "pictures"
    assert place.read_text() == "half"
    write_file(place, "whole", within=tmp_path / "pictures")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["abc"]
    assert place.read_text() == "whole"

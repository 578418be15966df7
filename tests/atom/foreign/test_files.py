"""A path that leads to no plain file is refused with a sentence, at once."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from atom.errors import DataError, UsageError
from atom.foreign import files_in, open_foreign, read_foreign, read_foreign_text


def test_a_plain_file_is_read(tmp_path):
    place = tmp_path / "a.txt"
    place.write_bytes("ä".encode())
    with open_foreign(place) as stream:
        assert stream.read() == "ä".encode()
    assert read_foreign(place, 2) == "ä".encode()
    assert read_foreign_text(place) == "ä"


def test_a_link_to_a_plain_file_is_that_file(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert read_foreign(tmp_path / "link") == b"x"


def odd_places(folder: Path) -> dict[str, Path]:
    """Make one of each kind that is no plain file."""
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "to zero").symlink_to("/dev/zero")
    names = ("pipe", "socket", "folder", "loop", "to zero", "absent")
    return {name: folder / name for name in names}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pipe", "is a pipe"),
        ("socket", "is a socket"),
        ("folder", "is a folder"),
        ("loop", "can't be read"),
        ("to zero", "is a device"),
        ("absent", "there is no file"),
    ],
)
def test_what_is_no_plain_file_is_refused_at_once(tmp_path, name, words):
    with pytest.raises(DataError, match=words):
        open_foreign(odd_places(tmp_path)[name])


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null", "/dev/stdin", "/dev/fd/0"])
def test_devices_are_refused(place):
    """Fall 3 of design/074."""
    with pytest.raises(DataError):
        open_foreign(Path(place))


@pytest.mark.parametrize(
    "place", ["/proc/self/mem", "/proc/self/environ", "/proc/kmsg", "/sys/kernel/vmcoreinfo"]
)
def test_the_kernels_pages_are_refused(tmp_path, place):
    if not Path(place).exists():
        place = "/proc/self/status"
    with pytest.raises(DataError, match=r"of the system's|can't be read"):
        open_foreign(Path(place))
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(DataError):
        open_foreign(tmp_path / "link")


def test_a_name_that_no_file_can_have_is_refused():
    for name in ("a\0b", "x" * 5_000):
        with pytest.raises(DataError):
            open_foreign(Path(name))


def test_no_more_is_read_than_asked_for(tmp_path):
    (tmp_path / "a").write_bytes(b"123456")
    with pytest.raises(DataError, match="more than 5 bytes"):
        read_foreign(tmp_path / "a", 5)
    (tmp_path / "b").write_bytes(b"ok \xff")
    with pytest.raises(DataError, match=r"as UTF-8 \(byte 3\)"):
        read_foreign_text(tmp_path / "b")


def test_a_folder_gives_its_plain_files_and_nothing_from_outside(tmp_path):
    outside = tmp_path / "outside"
    folder = tmp_path / "folder"
    (folder / "in").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.csv").write_bytes(b"x")
    for name in ("b.csv", "a.csv", "in/c.csv", ".hidden.csv", "d.txt"):
        (folder / name).write_bytes(b"x")
    (folder / "out.csv").symlink_to(outside / "secret.csv")
    (folder / "own.csv").symlink_to(folder / "a.csv")
    (folder / "more").symlink_to(outside)
    (folder / "round").symlink_to(folder)
    os.mkfifo(folder / "pipe.csv")
    found = files_in(folder, lambda path: path.suffix == ".csv")
    names = [path.relative_to(folder).as_posix() for path in found]
    assert names == ["a.csv", "b.csv", "in/c.csv", "own.csv"]


def test_a_folder_of_very_many_files_is_refused_before_it_is_listed(tmp_path):
    for number in range(12):
        (tmp_path / f"{number}.csv").touch()
    with pytest.raises(UsageError, match="more than 10 files"):
        files_in(tmp_path, lambda _: True, most=10)
    with pytest.raises(UsageError, match="can't be listed"):
        files_in(tmp_path / "absent", lambda _: True)

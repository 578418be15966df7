from __future__ import annotations

from pathlib import Path

from atom.formats.base import ImportFile


def test_an_uploads_folders_are_dropped_from_its_name() -> None:
    assert ImportFile.from_bytes("C:\\data\\x.csv", b"").name == "x.csv"
    assert ImportFile.from_bytes("a/b/x.tar.csv", b"").stem == "x.tar"


def test_a_file_can_be_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"question\nq\n")
    file = ImportFile.from_path(path)
    assert file.head() == file.head() == b"question\nq\n"
    assert file.folder == tmp_path

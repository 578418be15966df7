from __future__ import annotations

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from atom.formats.pictures import (
    FolderPictures,
    MemoryPictures,
    NoPictures,
    check_picture,
    embedded_bytes,
    place_picture,
)
from atom.records import blob_hash


def png(shade: int = 0) -> bytes:
    out = io.BytesIO()
    Image.new("L", (8, 6), shade).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "images"
    (inside / "deep").mkdir(parents=True)
    (inside / "1.png").write_bytes(png())
    (inside / "deep" / "2.png").write_bytes(png(9))
    (tmp_path / "secret.png").write_bytes(png(7))
    return inside


@pytest.mark.parametrize(
    "name",
    ["1.png", "./1.png", "images/1.png", "data/images/1.png", "/old/images/1.png", " 1.png "],
)
def test_names_that_lead_into_the_folder_are_found(folder: Path, name: str) -> None:
    found = FolderPictures([folder]).find(name)
    assert found is not None
    assert found.id == blob_hash(png())
    assert found.name == name


def test_windows_separators_are_understood(folder: Path) -> None:
    assert FolderPictures([folder]).find("deep\\2.png") is not None


def test_an_absolute_path_is_read_only_inside_the_folder(folder: Path) -> None:
    pictures = FolderPictures([folder])
    assert pictures.find(str(folder / "1.png")) is not None
    look = pictures.look(str(folder.parent / "secret.png"))
    assert look.picture is None
    assert "outside" in look.reason


@pytest.mark.parametrize("name", ["../secret.png", "deep/../../secret.png", "..\\secret.png"])
def test_a_path_cannot_climb_out(folder: Path, name: str) -> None:
    look = FolderPictures([folder]).look(name)
    assert look.picture is None
    assert "outside" in look.reason


def test_a_link_cannot_lead_out(folder: Path) -> None:
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    assert FolderPictures([folder]).find("link.png") is None


@pytest.mark.parametrize(
    "name", ["https://example.invalid/a.png", "file:///etc/hostname", "s3://bucket/a.png"]
)
def test_addresses_are_never_fetched(folder: Path, name: str) -> None:
    for finder in (FolderPictures([folder]), MemoryPictures({}), NoPictures()):
        look = finder.look(name)
        assert look.picture is None
        assert "nothing is fetched" in look.reason


@pytest.mark.parametrize("name", ["", "  ", "a\x00.png", "x" * 5000, "deep", "."])
def test_odd_names_find_nothing(folder: Path, name: str) -> None:
    assert FolderPictures([folder]).find(name) is None


def test_a_file_that_is_no_picture_is_refused(folder: Path) -> None:
    (folder / "notes.png").write_text("not a picture")
    assert "can't be read" in FolderPictures([folder]).look("notes.png").reason


def test_the_first_folder_wins(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "1.png").write_bytes(png(200))
    found = FolderPictures([other, folder]).find("1.png")
    assert found is not None
    assert found.id == blob_hash(png(200))


def test_uploads_are_found_by_path_else_by_a_name_that_is_unique() -> None:
    uploads = MemoryPictures({"a/1.png": png(1), "b/1.png": png(2), "b/2.png": png(3)})
    by_path, by_name = uploads.find("b/1.png"), uploads.find("images/2.png")
    assert by_path is not None
    assert by_name is not None
    assert (by_path.id, by_name.id) == (blob_hash(png(2)), blob_hash(png(3)))
    assert "several" in uploads.look("1.png").reason
    assert uploads.find("3.png") is None


def test_base64_and_data_urls_are_decoded() -> None:
    text = base64.b64encode(png()).decode()
    assert embedded_bytes(text) == png()
    assert embedded_bytes(f"data:image/png;base64,{text}") == png()
    assert embedded_bytes("\n".join(text[at : at + 40] for at in range(0, len(text), 40))) == png()


@pytest.mark.parametrize(
    "text", ["images/1.png", "a" * 80, "data:image/png;base64,@@@", "data:text/plain,hello", ""]
)
def test_other_text_is_not_taken_for_a_picture(text: str) -> None:
    assert embedded_bytes(text) is None


def test_a_decompression_bomb_is_refused() -> None:
    out = io.BytesIO()
    Image.new("1", (11_000, 11_000)).save(out, "PNG")
    look = check_picture(out.getvalue(), "bomb.png")
    assert look.picture is None
    assert "pixels" in look.reason


def test_a_cell_fills_a_pictures_place_with_bytes_or_by_its_name() -> None:
    shown, other = png(1), png(2)
    finder = MemoryPictures({"a.png": shown})
    text = base64.b64encode(other).decode()
    for cell, name, data in (
        (other, "", other),
        (text, "", other),
        (f"data:image/png;base64,{text}", "", other),
        ({"bytes": other, "path": "b.png"}, "b.png", other),
        ({"bytes": text, "url": "c.png"}, "c.png", other),
        ({"bytes": None, "path": "a.png"}, "a.png", shown),
        ("a.png", "a.png", shown),
    ):
        placed = place_picture(cell, finder)
        assert placed is not None
        assert placed.look.picture is not None
        assert (placed.name, placed.look.picture.data) == (name, data)


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("gone.png", "gone.png"),
        ({"bytes": b"no picture", "path": "x"}, "x"),
        ("data:image/png;base64,?", "data URL"),
        ("long" * 1000, "long" * 125),
        (5, "5"),
    ],
)
def test_a_cell_without_a_picture_says_why(cell: object, name: str) -> None:
    placed = place_picture(cell, MemoryPictures({}))
    assert placed is not None
    assert (placed.name, placed.look.picture) == (name, None)
    assert placed.look.reason


@pytest.mark.parametrize("cell", [None, "", {}, {"bytes": 3, "path": None}])
def test_a_cell_with_nothing_is_no_place_unless_it_has_a_name_from_elsewhere(cell: object) -> None:
    finder = MemoryPictures({"q7.png": png(3)})
    assert place_picture(cell, finder) is None
    placed = place_picture(cell, finder, "q7.png")
    assert placed is not None
    assert placed.look.picture is not None

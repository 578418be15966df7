"""Pictures out of a zip file, and out of several places."""

from __future__ import annotations

import io
import zipfile

import pytest
from PIL import Image

from atom.errors import DataError
from atom.formats import MemoryPictures, NoPictures
from atom.formats.zip_pictures import SeveralPictures, ZipPictures, only_pictures


def png(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (2, 2), colour).save(out, "PNG")
    return out.getvalue()


def packed(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in files.items():
            zipped.writestr(name.replace("__", "/").replace("_png", ".png"), data)
    return out.getvalue()


def zip_of(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        for name in names:
            zipped.writestr(name, b"x")
    return out.getvalue()


RED, BLUE = png("red"), png("blue")


def test_a_picture_is_found_by_path_or_by_a_name_that_is_alone():
    finder = ZipPictures("p.zip", packed(a__1_png=RED, b__1_png=BLUE, b__2_png=BLUE))
    assert finder.look("a/1.png").picture.data == RED
    assert finder.look("./b\\1.png").picture.data == BLUE
    assert finder.look("elsewhere/2.png").picture.data == BLUE
    assert "several files" in finder.look("1.png").reason
    assert finder.look("3.png").picture is None


def test_what_is_no_picture_is_refused():
    finder = ZipPictures("p.zip", packed(a_png=b"no picture"))
    assert finder.look("a.png").reason == "it can't be read as a picture"
    assert "nothing is fetched" in finder.look("https://far.example/a.png").reason
    assert finder.look(" ").picture is None


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 cut off", RED])
def test_what_is_no_zip_file_is_an_error(data):
    with pytest.raises(DataError, match=r"'p\.zip' isn't a zip file"):
        ZipPictures("p.zip", data)


def test_a_damaged_entry_is_no_picture():
    data = bytearray(packed(a_png=RED))
    start = data.index(b"a.png") + len("a.png")
    data[start : start + 12] = b"\x00" * 12
    assert "can't be unpacked" in ZipPictures("p.zip", bytes(data)).look("a.png").reason


def test_places_are_tried_in_order():
    places = SeveralPictures(
        [NoPictures(), MemoryPictures({"1.png": BLUE}), MemoryPictures({"1.png": RED})]
    )
    assert places.look("1.png").picture.data == BLUE
    assert places.look("2.png").reason == "it isn't there"
    assert "nothing is fetched" in places.look("https://far.example/1.png").reason
    assert SeveralPictures([]).look("1.png").picture is None


@pytest.mark.parametrize(
    ("name", "data", "alone"),
    [
        ("a.PNG", b"", True),
        ("a.csv", b"", False),
        ("a.zip", zip_of("in/a.png", "__MACOSX/in/._a", "b.jpg"), True),
        ("a.zip", zip_of("a.png", "results.jsonl"), False),
        ("a.zip", zip_of(), False),
        ("a.zip", b"PK\x03\x04no zip", False),
    ],
)
def test_pictures_alone_are_told_from_data(name, data, alone):
    assert only_pictures(name, data) is alone

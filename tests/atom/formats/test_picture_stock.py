"""Which file an empty place means: by name, by id, by hash, and never by a guess."""

from __future__ import annotations

import io
import zipfile

import pytest
from PIL import Image

from atom.errors import DataError, UsageError
from atom.formats.picture_stock import Place, stock_of
from atom.records import blob_hash


def png(shade: int = 0) -> bytes:
    out = io.BytesIO()
    Image.new("L", (4, 4), shade).save(out, "PNG")
    return out.getvalue()


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/"), data)
    return out.getvalue()


def place(name="", source_id=None, number=1, places=1, hash=None) -> Place:
    return Place(name=name, source_id=source_id, number=number, places=places, hash=hash)


def found(stock, wanted: Place) -> tuple[str, str]:
    match = stock.match(wanted)
    return (match.file.path if match.file else "", match.by)


class TestNames:
    @pytest.mark.parametrize(
        ("name", "path"),
        [
            ("images/1.png", "set/images/1.png"),
            ("set/images/1.png", "set/images/1.png"),
            ("/somewhere/else/images/1.png", "set/images/1.png"),
            ("IMAGES\\1.PNG", "set/images/1.png"),
            ("images/1.jpg", "set/images/1.png"),
            ("images/1", "set/images/1.png"),
            ("1.png", ""),
            ("2.png", "set/thumbs/2.png"),
            ("https://host.example/x/2.png?size=big", "set/thumbs/2.png"),
            ("a%20b.png", ""),
            ("https://host.example/a%20b.png", "set/a b.png"),
            ("../../etc/2.png", "set/thumbs/2.png"),
            ("7.png", ""),
            ("", ""),
            ("data URL", ""),
            ("https://[broken/2.png", ""),
        ],
    )
    def test_the_file_whose_path_fits_best(self, name, path):
        files = {"set/images/1.png": 1, "set/thumbs/1.png": 2, "set/thumbs/2.png": 3,
                 "set/a b.png": 4}  # fmt: skip
        stock = stock_of(uploads=[(at, png(shade)) for at, shade in files.items()])
        assert found(stock, place(name)) == (path, "name" if path else "")

    def test_several_that_differ_are_named_and_none_is_taken(self):
        stock = stock_of(uploads=[("a/1.png", png(1)), ("b/1.png", png(2))])
        match = stock.match(place("images/1.png"))
        assert match.file is None
        assert {file.path for file in match.candidates} == {"a/1.png", "b/1.png"}

    def test_several_that_are_one_picture_are_taken(self):
        stock = stock_of(uploads=[("a/1.png", png(1)), ("b/1.png", png(1))])
        assert found(stock, place("1.png"))[1] == "name"

    def test_letters_tell_apart_what_differs_in_nothing_else(self):
        stock = stock_of(uploads=[("Cat.png", png(1)), ("cat.png", png(2))])
        assert found(stock, place("cat.png")) == ("cat.png", "name")


class TestIdsAndHashes:
    def test_by_the_question_s_id(self):
        stock = stock_of(uploads=[("17.png", png(1)), ("test_math_3.jpg", png(2))])
        assert found(stock, place("", "17")) == ("17.png", "id")
        assert found(stock, place("lost.png", "17")) == ("17.png", "id")
        assert found(stock, place("", "test/Math/3")) == ("test_math_3.jpg", "id")
        assert found(stock, place("", "18")) == ("", "")

    def test_places_of_one_question_have_numbers(self):
        stock = stock_of(uploads=[("17_1.png", png(1)), ("17-2.png", png(2)), ("17.png", png(3))])
        assert found(stock, place("", "17", 1, 2)) == ("17_1.png", "id")
        assert found(stock, place("", "17", 2, 2)) == ("17-2.png", "id")
        assert found(stock, place("", "17", 3, 3)) == ("", "")

    def test_by_hash_whatever_its_name(self):
        one = png(9)
        stock = stock_of(uploads=[("anything.png", one), ("x.png", png(1))])
        for wanted in (place(blob_hash(one)), place(f"pics/{blob_hash(one)}.png"),
                       place("x.png", hash=blob_hash(one))):  # fmt: skip
            assert found(stock, wanted) == ("anything.png", "hash")


class TestListing:
    def test_a_folder_is_walked_hidden_files_and_ways_out_aside(self, tmp_path):
        outside = tmp_path / "secret.png"
        outside.write_bytes(png(1))
        root = tmp_path / "images"
        (root / "deep").mkdir(parents=True)
        (root / ".git").mkdir()
        for name in ("1.png", "deep/2.PNG", ".hidden.png", ".git/3.png", "notes.txt"):
            (root / name).write_bytes(png(2))
        (root / "link.png").symlink_to(outside)
        stock = stock_of([root])
        assert [file.path for file in stock.files] == ["images/1.png", "images/deep/2.PNG"]
        assert found(stock, place("images/1.png")) == ("images/1.png", "name")

    def test_a_zip_file_is_listed_and_not_unpacked(self, tmp_path):
        data = zipped(images__1=b"", **{"images__1.png": png(3), "__MACOSX__._1.png": b"x"})
        (tmp_path / "all.zip").write_bytes(data)
        for stock in (stock_of([tmp_path / "all.zip"]), stock_of(uploads=[("all.zip", data)])):
            assert [file.path for file in stock.files] == ["images/1.png"]
            assert stock.look(stock.files[0]).picture is not None

    @pytest.mark.slow
    def test_a_bomb_is_refused_before_it_is_unpacked(self):
        stock = stock_of(uploads=[("all.zip", zipped(**{"1.png": b"\0" * 60_000_000}))])
        assert "more than 50 MB" in stock.look(stock.files[0]).reason

    def test_damage_is_told(self):
        data = bytearray(zipped(**{"1.png": png(3) * 400}))
        data[60:80] = b"\0" * 20
        stock = stock_of(uploads=[("all.zip", bytes(data)), ("2.png", b"no picture")])
        assert stock.look(stock.files[0]).reason == "it can't be read or unpacked"
        assert "can't be read as a picture" in stock.look(stock.files[1]).reason
        # Two damaged files are never taken for one picture.
        assert stock.hash_of(stock.files[0]) != stock.hash_of(stock.files[1])

    def test_what_is_no_place_for_pictures_is_told(self, tmp_path):
        with pytest.raises(UsageError, match="no folder or file"):
            stock_of([tmp_path / "nowhere"])
        (tmp_path / "a.txt").write_text("x")
        with pytest.raises(UsageError, match="neither a folder"):
            stock_of([tmp_path / "a.txt"])
        (tmp_path / "a.zip").write_text("x")
        with pytest.raises(DataError, match="isn't a zip file"):
            stock_of([tmp_path / "a.zip"])

from __future__ import annotations

import pytest

from atom.errors import FormatError
from atom.formats.base import ImportFile
from atom.formats.layout import find_delimiter, find_encoding


def test_a_foreign_letter_far_down_still_decides() -> None:
    text = "question,answer\n" + "plain,plain\n" * 200_000 + "Größe?,groß\n"
    found = find_encoding(ImportFile.from_bytes("x.csv", text.encode("cp1252")))
    assert found.name == "cp1252"
    assert "encoding" in found.note


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a\tb\n1,2,3\tx\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"),
        ("question\nonly one, with commas; and more\n", ","),
        ("sep=;\na;b\n", ";"),
        ('a,b\n"x;y;z","p;q"\n"x;y","p"\n', ","),
    ],
)
def test_delimiters_are_found(text: str, delimiter: str) -> None:
    assert find_delimiter(text) == delimiter


@pytest.mark.parametrize(
    "data",
    [b"\xff\xfe\x00garbage\x80", b"\xfe\xff\xd8\x00\x00a", b"\xff\xfe\x00\x00\x01\x02\x03\x7f"],
)
def test_a_mark_that_lies_about_the_encoding_is_an_error(data):
    with pytest.raises(FormatError, match="begins as UTF-"):
        find_encoding(ImportFile.from_bytes("x.csv", data))


def test_a_long_file_is_checked_where_a_letter_is_cut():
    # The mark takes two bytes, so that the first look ends within a letter of four bytes.
    data = ("a,b\n" + "\U0001f600" * 3000).encode("utf-16")
    assert find_encoding(ImportFile.from_bytes("x.csv", data)).name == "utf-16"

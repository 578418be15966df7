from __future__ import annotations

import pytest

from atom.errors import FormatError
from atom.formats.column_map import ColumnMap, read_column_map


def test_a_map_is_read_and_printed_alike() -> None:
    text = "question: prompt\npictures:\n- image\nresponses:\n  model-a: out_a\ncorrect_max: 10.0\n"
    columns = read_column_map(text)
    assert columns.pictures == ("image",)
    assert columns.responses == {"model-a": "out_a"}
    assert read_column_map(columns.to_yaml()) == columns


def test_one_column_needs_no_list() -> None:
    assert read_column_map("pictures: image\ntags: skill").tags == ("skill",)


def test_an_empty_map_is_all_guesses() -> None:
    assert read_column_map("") == ColumnMap()
    assert ColumnMap().to_yaml() == ""


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("qestion: prompt", "known keys"),
        ("- a\n- b", "list"),
        ("question: [", "isn't YAML"),
        ("question: 5", "question"),
        ("answer_index_from: 2", "answer_index_from"),
        ("correct_max: 0", "correct_max"),
        ("question: !!python/object/apply:os.system ['true']", "isn't YAML"),
        ("[" * 1000, "column map"),
    ],
)
def test_a_wrong_map_says_what_is_wrong(text: str, part: str) -> None:
    with pytest.raises(FormatError, match=part):
        read_column_map(text)


def test_every_named_column_is_listed() -> None:
    columns = ColumnMap(id="i", choices=("A", "B"), corrects={"m": "ok"})
    assert columns.named() == (("id", "i"), ("choices", "A"), ("choices", "B"), ("corrects", "ok"))

import math

import pytest

from atom.formats.base import ImportFile
from atom.judgebench.reading import ReadingNotes, Unusable, repeat_of, rows_of


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, None), ("", None), (math.nan, None), (0, 0), ("2", 2), (3.0, 3), (999, 999)],
)
def test_a_repeat_is_a_number_or_not_said(value, expected):
    assert repeat_of(value) == expected


@pytest.mark.parametrize("value", [-1, 1.5, 1000, 1e30, math.inf, "x", True, [1], "1e400"])
def test_a_repeat_that_is_no_number_from_0_on_is_told(value):
    with pytest.raises(Unusable, match=r"0, 1, 2, \.\.\. is expected"):
        repeat_of(value)


def test_rows_of_all_files_come_in_turn_and_what_is_broken_is_named():
    notes = ReadingNotes()
    files = [
        ImportFile.from_bytes("one.jsonl", b'{"a": 1}\nbroken\n'),
        ImportFile.from_bytes("two.json", b'[{"a": 2}, {"a": 3}]'),
    ]
    found = [(file.name, row.values["a"]) for file, row in rows_of(files, notes)]
    assert found == [("one.jsonl", 1), ("two.json", 2), ("two.json", 3)]
    assert len(notes.skipped) == 1
    assert "one.jsonl line 2" in notes.skipped[0]


def test_what_happens_often_is_counted_where_it_came_first():
    notes = ReadingNotes()
    for place in ("x line 1", "x line 2"):
        notes.note("once")
        notes.tally("odd", place)
    notes.tally("rare", "x line 9")
    assert notes.notes() == (
        "once", "2 rows: odd (first: x line 1)", "1 row: rare (first: x line 9)"
    )  # fmt: skip

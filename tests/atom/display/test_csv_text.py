import csv
import io
import math

import pytest

from atom.display.csv_text import csv_text


def test_rows_come_back_as_they_were():
    text = csv_text(("name", "value"), [('a, "b"\n', 1.5), ("c", math.nan), ("d", math.inf)])
    rows = list(csv.reader(io.StringIO(text)))
    assert rows == [["name", "value"], ['a, "b"\n', "1.5"], ["c", ""], ["d", ""]]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum", "\tx", "\rx"])
def test_no_text_becomes_a_formula(text):
    (row,) = list(csv.reader(io.StringIO(csv_text(("a",), [(text,)]), newline="")))[1:]
    assert row[0].startswith("'")


def test_numbers_stay_numbers():
    assert csv_text(("a",), [(-2.5,)]) == "a\n-2.5\n"

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass

import pytest

from atom.display import writers
from atom.display.estimate import Estimate
from atom.display.table import Column, Table
from atom.ui import kit
from atom.ui.html import el


@dataclass(frozen=True)
class Line:
    name: str
    mean: float
    n: int


TABLE = Table(
    label="Means",
    columns=(
        Column[Line](title="Model", of=lambda one: one.name, name="model"),
        Column[Line](
            title="Mean",
            of=lambda one: Estimate(value=one.mean, lo=one.mean - 4, hi=one.mean + 4),
            name="mean",
            ends=("lo", "hi"),
            number=True,
        ),
        Column[Line](title="n", of=lambda one: one.n, name="n", number=True, broad=True),
        Column[Line](title="", of=lambda one: "kept", name="note", seen="data"),
    ),
    rows=(Line("=a|b<i>", 62.1, 1200), Line("b", math.nan, 0)),
)


def test_people_read_the_same_cells_in_every_writer():
    texts = ["62.1 (58.1–66.1)", "1,200", "–"]
    for written in (writers.lines(TABLE), writers.markdown(TABLE), [writers.html(TABLE)],
                    [kit.drawn(TABLE)]):  # fmt: skip
        whole = "\n".join(written)
        assert all(text in whole for text in texts)
        assert "kept" not in whole


def test_a_terminal_has_numbers_to_the_right():
    assert writers.lines(TABLE) == [
        "Model                Mean      n",
        "=a|b<i>  62.1 (58.1–66.1)  1,200",
        "b                       –      0",
    ]


def test_a_file_holds_the_values_with_both_ends_and_what_is_only_data():
    head, first, second = csv.reader(io.StringIO(writers.csv(TABLE)))
    assert head == ["model", "mean", "lo", "hi", "n", "note"]
    assert first == ["'=a|b<i>", "62.1", "58.1", "66.1", "1200", "kept"]
    assert second == ["b", "", "", "", "0", "kept"]
    assert TABLE.documents[1] == {"model": "b", "mean": None, "lo": None, "hi": None, "n": 0,
                                  "note": "kept"}  # fmt: skip


def test_texts_of_others_stay_texts():
    assert "<i>" not in writers.html(TABLE) + kit.drawn(TABLE)
    assert writers.markdown(TABLE)[:3] == [
        "| Model | Mean | n |",
        "|---|--:|--:|",
        r"| =a\|b&lt;i\> | 62.1 (58.1–66.1) | 1,200 |",
    ]


def test_a_screen_puts_its_doors_round_the_text():
    cells = {"n": lambda one, text: el("a", text, href=f"/{one.name[-1]}")}
    drawn = kit.drawn(TABLE, cells=cells, on=lambda one: one.n == 0)
    assert '<a href="/b">0</a>' in drawn
    assert drawn.count('class="broad num"') == 3
    assert drawn.count('aria-current="true"') == 1


@pytest.mark.parametrize(
    ("unit", "text"),
    [("score", "12.0 (−3.0 to 20.0)"), ("gap", "+12.0 (−3.0 to +20.0)"),
     ("shift", "+12.00 (−3.00 to +20.00)"), ("plain", "12.00 (−3.00 to 20.00)"),
     ("count", "12 (−3 to 20)")],
)  # fmt: skip
def test_an_estimate_is_written_by_its_unit(unit, text):
    assert str(Estimate(value=12, lo=-3, hi=20, unit=unit)) == text


def test_shares_are_written_in_percent_and_points():
    share = Estimate(value=0.621, lo=0.58, hi=0.66, unit="share")
    assert (share.text, share.ends, str(share)) == ("62.1 %", "58.0–66.0", "62.1 % (58.0–66.0)")
    few = Estimate(value=0.621, lo=0.58, hi=0.66, n=40, unit="share")
    assert str(few) == "62 % (58–66)"
    assert str(Estimate(value=0.06, lo=-0.01, hi=0.13, unit="gain")) == "+6.0 (−1.0 to +13.0)"


def test_an_estimate_says_what_it_rests_on():
    whole = Estimate(value=50, lo=40, hi=60, n=10, samples=5)
    assert whole.document == {"value": 50, "lo": 40, "hi": 60, "n": 10, "samples": 5}
    nothing = Estimate(value=math.nan)
    assert nothing.document == {"value": None, "lo": None, "hi": None, "n": 0, "samples": 0}
    assert (nothing.known, str(nothing), nothing.ends) == (False, "–", "")

from __future__ import annotations

import csv
import io
import math

from atom.display import writers
from atom.judgebench.base import BenchResult, MetricRow, MetricTable
from atom.judgebench.registry import BENCHES
from atom.store import Store
from atom.ui.html import escape
from atom.ui.lab.bench import figures as bench_figures
from atom.ui.lab.bench import sets
from atom.views.filters import Filters
from atom.views.judges import figures
from atom.views.lab.page import SetProgress
from tests.app.lab_store import NAME, TOY, make_set

ROWS = (
    MetricRow(metric="acc", label="Accuracy", value=1234.5 / 20, lo=55, hi=68.26, chance=50, n=1200,
              invalid=12, rule="strict", note="why"),
    MetricRow(metric="r", label="Correlation", value=-0.034, lo=-0.2, hi=0.1, unit="correlation",
              n=40, group="meta_feedback"),
    MetricRow(metric="w", label="Words", value=1520.25, unit="words", n=9),
    MetricRow(metric="none", label="Nothing", value=math.nan),
)  # fmt: skip
CELLS = {"61.7 (55.0–68.3)", "−0.03 (−0.20 to 0.10)", "1,520.2", "50.0", "1,200", "12 (1 %)",
         "feedback on feedback"}  # fmt: skip


def test_the_lab_the_command_and_the_file_say_the_same(tmp_path, monkeypatch):
    monkeypatch.setitem(BENCHES, NAME, TOY)
    record = make_set(tmp_path, {"good": ["a"]})
    result = BenchResult(headline=ROWS, tables=(MetricTable(title="Detail", rows=ROWS),))
    judge = SetProgress(judge="id", name="good", scored=1, unscored=0, failed=0, items=1,
                        imported=False)  # fmt: skip
    with Store.open(tmp_path) as store:
        lab = sets.LabContext(store=store, bench=TOY, record=record, filters=Filters(),
                               judges=(judge,), chosen=judge, results={"id": result})  # fmt: skip
        drawn = (bench_figures.headline(lab), bench_figures.tables(lab))
    written = "\n".join(writers.lines(figures.of_result(result)[0]))
    for cell in CELLS:
        assert cell in written
        assert all(escape(part) in screen for part in cell.split(" (") for screen in drawn)
    lines = list(csv.DictReader(io.StringIO(writers.csv(*figures.of_result(result, name="good")))))
    assert [(one["table"], one["figure"]) for one in lines] == [
        (table, row.label) for table in ("headline", "Detail") for row in ROWS
    ]
    assert (lines[0]["value"], lines[0]["unread"], lines[3]["value"]) == ("61.725", "12", "")


def test_a_column_that_says_nothing_is_left_out_for_people_and_kept_in_the_file():
    table = figures.of_table(MetricTable(title="T", rows=ROWS[2:3]))
    assert writers.lines(table)[0].split() == ["Figure", "Value", "(95", "%)", "n", "Unread"]
    assert table.names[:6] == ["judge", "table", "figure", "metric", "group", "value"]

"""The Judge lab's values: standings, boards, chance, column maps, previews, places."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest

from atom.display import writers
from atom.errors import UsageError
from atom.formats import ImportFile, NoPictures
from atom.judgebench.base import BenchResult, MetricRow, MetricTable
from atom.judgebench.registry import BENCHES
from atom.records import BenchItem
from atom.store import Store
from atom.views.judges import figures
from atom.views.lab import page as judge_lab
from tests.app.lab_store import ITEMS, NAME, TOY, make_set, verdict


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    """Register the tiny benchmark."""
    monkeypatch.setitem(BENCHES, NAME, TOY)


def row(value, lo=math.nan, hi=math.nan, chance=50.0, **more):
    given = {"metric": "m", "label": "M", "value": value, "lo": lo, "hi": hi, "chance": chance}
    return MetricRow(**(given | more))


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (row(80, 60, 90), "above"),
        (row(55, 45, 65), "level"),
        (row(50, 50, 60), "level"),
        (row(30, 20, 40), "below"),
        (row(30), "below"),
        (row(70), "unknown"),
        (row(math.nan, 20, 40), "unknown"),
        (row(80, 60, 90, chance=math.nan), "unknown"),
    ],
)
def test_a_figure_is_held_against_guessing(figure, expected):
    assert judge_lab.against_chance(figure) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row(80)], (0, 100)),
        ([row(8, unit="points")], (0, 10)),
        ([row(-1, -2, 1, unit="points")], (-2, 2)),
        ([row(0.5, unit="correlation")], (-1, 1)),
        ([row(55, unit="correlation")], (-100, 100)),
        ([row(0.5, -1.5, 1, unit="difference")], (-1.5, 1.5)),
        ([row(120, unit="words")], None),
        ([row(math.nan, unit="difference")], None),
        ([row(80), row(8, unit="points")], None),
    ],
)
def test_the_scale_fits_the_unit(rows, expected):
    assert judge_lab.scale_of(rows) == expected


def test_judges_stand_side_by_side_and_the_gaps_stay_gaps():
    results = {
        "a": BenchResult(headline=(row(80), row(70, rule="strict"))),
        "b": BenchResult(headline=(row(60), row(1, metric="x", label="X"))),
    }
    lines = judge_lab.board(results)
    assert [(line.label, line.rule, sorted(line.cells)) for line in lines] == [
        ("M", "", ["a", "b"]), ("M", "strict", ["a"]), ("X", "", ["b"])
    ]  # fmt: skip


def test_standings_count_states_and_leave_scorers_out(tmp_path):
    record = make_set(tmp_path, {"good": ["a"] * ITEMS, "mumbles": ["a", "", ""]})
    with Store.open(tmp_path) as store:
        (item, *_) = store.select(BenchItem)
        scored = verdict(item, "scorer-id", "a").model_copy(
            update={"part": "scorer/good-id/critique", "key": "s1"}
        )
        store.put([scored, verdict(item, "elsewhere", "b", prompt="imported")])
        found = {one.name: one for one in judge_lab.standings(store, record.id)}
        results = judge_lab.bench_results(store, record.id, ["good-id", "mumbles-id"])
    assert list(found) == ["good", "mumbles", "elsewhere"]
    assert (found["mumbles"].scored, found["mumbles"].unscored) == (1, 2)
    assert (found["elsewhere"].imported, found["good"].imported) == (True, False)
    assert results["mumbles-id"].missing == ITEMS - 3
    # The verdict that a scorer gave on the judge's text is handed to the judge's figures.
    assert results["good-id"].verdicts == ITEMS + 1


def test_a_set_that_is_gone_is_said_so(tmp_path):
    with Store.open(tmp_path) as store, pytest.raises(UsageError, match="isn't here any more"):
        judge_lab.bench_result(store, "nowhere", "good")


def test_tables_are_saved_with_every_column():
    result = BenchResult(
        headline=(row(80, note="why"),),
        tables=(MetricTable(title="T", rows=(row(math.nan, label="=SUM(A1)"),)),),
    )
    rows = list(csv.DictReader(io.StringIO(writers.csv(*figures.of_result(result, name="me")))))
    assert [one["table"] for one in rows] == ["headline", "T"]
    assert (rows[0]["value"], rows[0]["note"], rows[1]["value"]) == ("80", "why", "")
    assert rows[1]["figure"] == "'=SUM(A1)"
    assert figures.board_csv({"id": result}, {"id": "me"}).count("me,headline") == 1
    assert writers.csv(figures.of_table(result.tables[0])).count("\n") == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        (" \n", {}),
        ('{"question": "prompt"}', {"question": "prompt"}),
        ("question = prompt\n\nanswer=a b", {"question": "prompt", "answer": "a b"}),
    ],
)
def test_a_column_map_is_json_or_lines(text, expected):
    assert judge_lab.read_columns(text) == expected


@pytest.mark.parametrize("text", ["question", "= prompt", "a =", '{"a": 1}', '{"a": ', "{" * 9999])
def test_what_is_no_column_map_is_an_error(text):
    with pytest.raises(UsageError):
        judge_lab.read_columns(text)


def test_files_are_looked_at_and_nothing_is_kept():
    data = json.dumps({"better": "x" * 400}).encode() + b"\n\xff broken\n"
    found = judge_lab.preview(NAME, [ImportFile.from_bytes("f.jsonl", data)], pictures=NoPictures())
    assert (found.items, len(found.skipped), found.notes) == (1, 1, ("a note",))
    assert found.fields[0][0] == "better"
    assert len(found.fields[0][1]) == 301


def test_a_folder_gives_its_data_files(tmp_path):
    (tmp_path / "b.csv").write_text("", encoding="utf-8")
    (tmp_path / "a.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("", encoding="utf-8")
    assert [path.name for path in judge_lab.data_files(tmp_path)] == ["a.jsonl", "b.csv"]
    assert judge_lab.data_files(tmp_path / "notes.txt") == [tmp_path / "notes.txt"]
    with pytest.raises(UsageError, match="no file or folder"):
        judge_lab.data_files(tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no"):
        judge_lab.data_files(tmp_path / "empty")
    (tmp_path / "many" / "deep").mkdir(parents=True)
    for number in range(judge_lab.MOST_FILES + 1):
        (tmp_path / "many" / "deep" / f"{number}.json").touch()
    with pytest.raises(UsageError, match="more than 200 files of this kind; name those you mean"):
        judge_lab.data_files(tmp_path / "many")


def test_a_judge_is_placed_by_the_figures_that_it_has():
    result = BenchResult(
        headline=(row(70, 65, 75, metric="macro_average_accuracy"),),
        tables=(MetricTable(title="T", rows=(row(math.nan, metric="overall_accuracy"),)),),
    )
    (place,) = judge_lab.places("vl_rewardbench", result)
    assert (place.rank, place.ranks, len(place.models)) == (1, (1, 1), 16)
    assert len(judge_lab.places("vl_rewardbench")) == 5
    assert judge_lab.places("nothing", result) == ()


def test_each_paper_has_its_errata():
    found = {one.paper: one for one in judge_lab.checked()}
    assert len(found) == 5
    assert all(one.identities for one in found.values())
    assert all(error.counts for one in found.values() for error in one.errata)

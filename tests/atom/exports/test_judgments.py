"""Judgments as a long table: every mark of every judge, the same in all three kinds of file."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet as pq
import pytest

from atom.errors import UsageError
from atom.exports.base import ExportOptions, ExportSource
from atom.exports.columns import JUDGMENTS
from atom.exports.judgments import scale_text
from atom.exports.registry import find_exporter
from atom.records import JUDGE_SCALE, Checkpoint, Judge, MarkScale
from atom.store import Store
from tests.atom.exports.whole_study import MOMENT
from tests.factories import HOSTILE, SCORES, make_outcome_study, make_study

OPTIONS = ExportOptions(moment=MOMENT)
NAMES = [column.name for column in JUDGMENTS]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A study that a model marked, and a person, too, who didn't find all of it applicable."""
    with Store.open(tmp_path_factory.mktemp("store")) as store:
        study = make_study(store)
        first = store.select(Checkpoint)[:3]
        words = (("=5", 5, "scored"), ("'1", 1, "scored"), ("-", None, "not_applicable"))
        marks = [
            Checkpoint(
                key=f"person {at}", criterion_id=one.criterion_id, response_id=one.response_id,
                judge_id="anna", prompt="imported", state=state, score=score, raw=raw,
                reason="says\rso\n",
            )
            for at, (one, (raw, score, state)) in enumerate(zip(first, words, strict=True))
        ]  # fmt: skip
        store.put([Judge(id="anna", name="Anna", kind="person"), *marks])
        yield ExportSource(store, study.id)


def export(source, place, options=OPTIONS):
    return find_exporter("judgments").write(source, place, options)


def plain(row):
    """Leave out of a row what isn't known."""
    return {name: value for name, value in row.items() if value not in (None, "", [])}


def from_jsonl(place):
    lines = place.read_text(encoding="utf-8").splitlines()
    return [plain(json.loads(line)) for line in lines]


def from_parquet(place):
    return [plain(row) for row in pq.read_table(place).to_pylist()]


def from_csv(place):
    """Read a CSV file as its note says: a ' comes off the front, lists are JSON."""
    kinds = {column.name: column.dtype for column in JUDGMENTS}

    def value(name, text):
        text = text.removeprefix("'")
        if not text:
            return None
        if kinds[name] == "object":
            return json.loads(text)
        return {"str": str, "boolean": "True".__eq__}.get(kinds[name], float)(text)

    with place.open(encoding="utf-8", newline="") as stream:
        return [plain({k: value(k, v) for k, v in row.items()}) for row in csv.DictReader(stream)]


def test_three_kinds_of_file_hold_the_same(source, tmp_path):
    read = {".csv": from_csv, ".parquet": from_parquet, ".jsonl": from_jsonl}
    found = []
    for ending, reader in read.items():
        written = export(source, tmp_path / f"x{ending}")
        # 6 x 3 x 3 = 54 places, one without a mark, and three marks of a person: 53 + 3 = 56.
        assert written.counts == {"judgments": 56}
        found.append(reader(tmp_path / f"x{ending}"))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 56


def test_a_row_says_all_of_a_mark(source, tmp_path):
    export(source, tmp_path / "x.jsonl")
    rows = from_jsonl(tmp_path / "x.jsonl")
    own = [row for row in rows if row["judge"] == "Judge X"]
    assert sorted(row["score"] for row in own if "score" in row) == sorted(
        score for sample in SCORES for seat in sample for score in seat if score and score > 0
    )
    assert {row["state"] for row in own} == {"scored", "unscored", "failed"}
    assert all(row["value"] == (row["score"] - 1) / 4 for row in own if "score" in row)
    # An old prompt's marks were never told what is addressed.
    assert not any("addressed" in row for row in own)
    person = [row for row in rows if row["judge"] == "Anna"]
    assert [(row["raw"], row.get("value"), row["state"]) for row in person] == [
        ("=5", 1, "scored"), ("'1", 0, "scored"), ("-", None, "not_applicable"),
    ]  # fmt: skip
    assert {row["judge_kind"] for row in person} == {"person"}
    assert {row["reason"] for row in person} == {"says\rso\n"}
    assert any(HOSTILE in row["answer"] for row in rows)
    assert own[0]["capability"] == ["Perception", "Object", "Counting", "Count all"]


def test_a_scale_is_written_as_its_record_without_the_id(source, tmp_path):
    export(source, tmp_path / "x.jsonl")
    (said,) = {row["scale"] for row in from_jsonl(tmp_path / "x.jsonl")}
    assert MarkScale(id=JUDGE_SCALE.id, **json.loads(said)) == JUDGE_SCALE
    for one in (
        MarkScale.of_levels({"no": 0, "yes": 1}, name="met", na=["-"], ordinal=True),
        MarkScale.of_numbers(0, 10, lower_is_better=True, unreadable=["^n/a"]),
    ):
        assert MarkScale(id=one.id, **json.loads(scale_text(one))) == one


def test_no_cell_of_a_csv_file_begins_like_a_formula(source, tmp_path):
    export(source, tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    assert "'=5" in cells
    assert "''1" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_fewer_samples_and_other_endings(source, tmp_path):
    options = ExportOptions(moment=MOMENT, samples=1)
    # One sample: 3 models x 3 criteria, and the person's three marks are of it.
    assert export(source, tmp_path / "x.parquet", options).counts == {"judgments": 12}
    with pytest.raises(UsageError, match=r"written as \.csv, \.parquet, \.jsonl"):
        export(source, tmp_path / "x.xlsx")
    assert not (tmp_path / "x.xlsx").exists()


def test_a_study_without_marks_gives_an_empty_table(tmp_path):
    with Store.open(tmp_path / "store") as store:
        source = ExportSource(store, make_outcome_study(store).id)
        for ending in (".csv", ".parquet", ".jsonl"):
            assert export(source, tmp_path / f"x{ending}").counts == {"judgments": 0}
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.column_names == NAMES
    assert (tmp_path / "x.csv").read_text().count("\n") == 1

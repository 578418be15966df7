from __future__ import annotations

import codecs
import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.errors import FormatError
from atom.foreign.native import MOST_COLUMNS
from atom.formats import rows as rows_module
from atom.formats.base import ImportFile
from atom.formats.intake.collector import Collector
from atom.formats.layout import find_encoding, find_layout
from atom.formats.rows import read_rows

CELLS = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), min_size=1
)


def read(data: bytes, name: str = "x.csv") -> tuple[list[dict[str, object]], Collector]:
    file = ImportFile.from_bytes(name, data)
    problems = Collector("table", "d", [name])
    rows = list(read_rows(file, find_layout(file), problems))
    return [row.values for row in rows], problems


@given(st.lists(st.tuples(CELLS, CELLS), min_size=2), st.sampled_from(",;\t|"))
def test_csv_comes_back_as_it_was_written(pairs: list[tuple[str, str]], delimiter: str) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(("question", "answer"))
    writer.writerows(pairs)
    file = ImportFile.from_bytes("x.csv", out.getvalue().encode())
    layout = find_layout(file, delimiter=delimiter)
    problems = Collector("table", "d", ["x.csv"])
    rows = [row.values for row in read_rows(file, layout, problems)]
    assert rows == [{"question": q, "answer": a} for q, a in pairs]
    assert problems.report().n_skipped == 0


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
        ("cp1252", b""),
        ("utf-32-le", codecs.BOM_UTF32_LE),
    ],
)
def test_encodings_are_found(encoding: str, mark: bytes) -> None:
    text = "question,answer\nWelche Größe hat das Café?,groß – „zwölf“ €\n"
    rows, _ = read(mark + text.encode(encoding))
    assert rows == [{"question": "Welche Größe hat das Café?", "answer": "groß – „zwölf“ €"}]


def test_a_letter_across_a_chunk_border_is_whole() -> None:
    data = b"a" * 4095 + "é".encode() * 10
    assert find_encoding(ImportFile.from_bytes("x.csv", data)).name == "utf-8"


def test_a_few_broken_letters_do_not_spoil_utf8() -> None:
    data = b"question,answer\n" + "Größe,ö\n".encode() * 50 + b"bad \xff,x\n"
    rows, _ = read(data)
    assert rows[0]["question"] == "Größe"
    assert rows[-1]["question"] == "bad \ufffd"
    layout = find_layout(ImportFile.from_bytes("x.csv", data))
    assert layout.notes[0].startswith("x.csv: 1 broken characters")


def test_the_encoding_given_is_used_and_an_unknown_one_refused() -> None:
    file = ImportFile.from_bytes("x.csv", "question\n質問\n".encode("shift_jis"))
    layout = find_layout(file, encoding="shift_jis")
    rows = list(read_rows(file, layout, Collector("table", "d", [])))
    assert rows[0].values == {"question": "質問"}
    for name in ("no-such", "hex"):
        with pytest.raises(FormatError, match="unknown"):
            find_layout(file, encoding=name)


def test_the_line_that_names_the_delimiter_is_no_header() -> None:
    rows, _ = read(b"sep=;\r\nquestion;answer\r\nq;a\r\n")
    assert rows == [{"question": "q", "answer": "a"}]


def test_quoted_line_breaks_and_commas_stay_in_the_cell() -> None:
    rows, _ = read(b'question,answer\r\n"a, ""b""\r\nc",d\r\n')
    assert rows == [{"question": 'a, "b"\r\nc', "answer": "d"}]


def test_a_row_of_the_wrong_width_is_skipped_or_completed() -> None:
    rows, problems = read(b"question,answer\nq1,a,extra\nq2\nq3,a,\n")
    assert rows == [{"question": "q2"}, {"question": "q3", "answer": "a"}]
    assert "line 2: it has 3 cells where the header has 2" in problems.report().skipped[0]


def test_a_quote_that_never_closes_loses_one_row_only() -> None:
    rows, problems = read(b'question,answer\nq1,a\n"q2,a\nq3,a\n')
    assert rows == [{"question": "q1", "answer": "a"}]
    assert "line 3" in problems.report().skipped[0]
    assert "never closes" in problems.report().skipped[0]


def test_a_csv_file_cut_in_a_row_says_so() -> None:
    rows, problems = read(b"question,answer,skill\nq1,a,s\nq2,a")
    assert len(rows) == 1
    assert "breaks off" in problems.report().skipped[0]


def test_a_last_line_without_an_end_is_whole() -> None:
    rows, problems = read(b"question,answer\nq1,a")
    assert rows == [{"question": "q1", "answer": "a"}]
    assert problems.report().n_skipped == 0


def test_columns_of_one_name_are_told_apart() -> None:
    rows, problems = read(b"question,x,x,,x\nq,1,2,3,4\n")
    assert rows == [{"question": "q", "x": "1", "x (2)": "2", "column 4": "3", "x (3)": "4"}]
    assert "two columns" in problems.report().notes[0]


def test_more_columns_than_any_table_has_are_refused() -> None:
    wide = ",".join(f"c{n}" for n in range(MOST_COLUMNS + 1))
    with pytest.raises(FormatError, match=r"16,385 columns; at most 16,384 .* turn it"):
        read(f"{wide}\n1\n".encode())
    rows, _ = read(f"{wide.rpartition(',')[0]}\n1\n".encode())
    assert rows == [{"c0": "1"}]
    keys = {f"c{n}": 1 for n in range(MOST_COLUMNS + 1)}
    rows, problems = read(json.dumps([{"a": 1}, keys]).encode(), "x.json")
    assert rows == [{"a": 1}]
    assert "16,385 columns" in problems.report().skipped[0]


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_no_more_of_a_line_is_held_than_a_row_may_have(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_module, "_FIELD_LIMIT", 1_000)
    start = b"a\n1\n" if name == "x.csv" else b'{"a": "1"}\n'
    rows, problems = read(start + b"x" * 5_000 + b"\n" + start, name)
    assert rows == [{"a": "1"}]
    report = problems.report()
    assert "longer than 64 MB" in " ".join((*report.skipped, *report.notes, *report.doubts))


def test_what_python_has_no_value_for_costs_only_itself(tmp_path: Path) -> None:
    """A time in the year 36,535,897 ends no import."""
    columns = {
        "question": pa.array(["a?", "b?"]),
        "when": pa.array([2**60, 0], pa.timestamp("ms")),
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    rows, _ = read((tmp_path / "x.parquet").read_bytes(), "x.parquet")
    assert [row["question"] for row in rows] == ["a?", "b?"]
    assert rows[0]["when"] == 2**60
    assert str(rows[1]["when"]).startswith("1970-01-01")


def test_a_cell_larger_than_the_csv_modules_limit_is_read() -> None:
    rows, _ = read(b"question,image\nq," + b"A" * 300_000 + b"\n")
    assert len(str(rows[0]["image"])) == 300_000


def test_nul_bytes_do_not_stop_a_table() -> None:
    rows, _ = read(b"question,answer\nq\x00x,a\nq2,b\n")
    assert len(rows) == 2


def test_bad_json_lines_are_skipped_one_by_one() -> None:
    deep = "[" * 100_000
    data = f'{{"question": "q1"}}\n[1]\n{{"question": \n\n{deep}\n{{"question": "q2"}}\n{{"que'
    rows, problems = read(data.encode(), "x.jsonl")
    assert [row["question"] for row in rows] == ["q1", "q2"]
    skipped = problems.report().skipped
    assert [line.split(":")[0] for line in skipped] == [f"x.jsonl line {at}" for at in (2, 3, 5, 7)]
    assert "breaks off" in skipped[-1]


def test_json_lines_in_a_json_file_are_recognised() -> None:
    rows, _ = read(b'{"question": "a"}\n{"question": "b"}\n', "x.json")
    assert len(rows) == 2


@pytest.mark.parametrize(
    "document",
    [
        [{"id": "1", "question": "a"}, {"id": "2", "question": "b"}],
        {"1": {"question": "a"}, "2": {"question": "b"}},
        {"version": 3, "data": [{"id": "1", "question": "a"}, {"id": "2", "question": "b"}]},
    ],
)
def test_json_documents_give_rows(document: object) -> None:
    rows, problems = read(json.dumps(document, indent=2).encode(), "x.json")
    assert rows == [{"id": "1", "question": "a"}, {"id": "2", "question": "b"}]
    assert problems.report().n_skipped == 0


def test_a_cut_json_array_keeps_the_rows_before() -> None:
    whole = json.dumps([{"question": f"q{at}"} for at in range(10)])
    rows, problems = read(whole[:-20].encode(), "x.json")
    assert len(rows) == 9
    assert "breaks off after row 9" in problems.report().notes[0]


def test_json_that_breaks_before_the_first_row_is_refused() -> None:
    with pytest.raises(FormatError, match="can't be read as JSON"):
        read(b'[{"question": ', "x.json")


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf \n", "empty"),
        (b"PK\x03\x04rest", "ZIP"),
        (b"\x1f\x8brest", "gzip"),
        (b"Rar!\x1a\x07\x01\x00", "RAR"),
        (b"x.csv".ljust(257, b"\0") + b"ustar\x0000", "tar"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "old Excel"),
    ],
)
def test_other_files_are_refused_in_words(data: bytes, part: str) -> None:
    with pytest.raises(FormatError, match=part):
        find_layout(ImportFile.from_bytes("x.csv", data))


def parquet(path: Path, rows: int = 300) -> Path:
    frame = pa.table(
        {
            "question": [f"q{at}" for at in range(rows)],
            "image": [{"bytes": bytes([at % 256]) * 50, "path": None} for at in range(rows)],
        }
    )
    pq.write_table(frame, path, row_group_size=100)
    return path


def test_parquet_is_streamed(tmp_path: Path) -> None:
    rows, _ = read(parquet(tmp_path / "x.parquet").read_bytes(), "x.parquet")
    assert len(rows) == 300
    assert rows[1] == {"question": "q1", "image": {"bytes": b"\x01" * 50, "path": None}}


def test_a_cut_parquet_file_is_refused_in_words(tmp_path: Path) -> None:
    data = parquet(tmp_path / "x.parquet").read_bytes()
    with pytest.raises(FormatError, match="missing or damaged"):
        read(data[: len(data) // 2], "x.parquet")


def test_a_parquet_file_damaged_within_keeps_the_rows_before(tmp_path: Path) -> None:
    path = parquet(tmp_path / "x.parquet")
    start = pq.ParquetFile(path).metadata.row_group(2).column(0).dictionary_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 40] = b"\xff" * 40
    rows, problems = read(bytes(data), "x.parquet")
    assert 0 < len(rows) < 300
    assert "broken after row" in problems.report().notes[0]

"""A parser that breaks takes nothing with it, and what it gives back is plain."""

from __future__ import annotations

import datetime
import gc
import io
import os
import pickle
import signal
import time
from decimal import Decimal
from pathlib import Path

import pytest

from atom.errors import FormatError, PictureError, UsageError
from atom.foreign import parsers, worker
from atom.foreign.native import parquet_rows
from atom.foreign.parsers import ParserLimits, parse, parse_rows
from atom.foreign.pictures import draw_thumbnail, header_of, read_header
from atom.formats.base import ImportFile
from atom.formats.layout import find_layout
from atom.formats.rows import NoProblems, read_rows
from tests import bombs
from tests.bombs import parquet_bomb, png_bomb, workbook, workbook_bomb

SMALL = ParserLimits(memory=300 << 20, cpu=1)
BOOT = "import atom.foreign.worker as it; it.OURS += ('tests.',); it.main()"


@pytest.fixture(autouse=True)
def _fresh_workers(monkeypatch):
    """Begin and end without a worker; these also take functions of the tests."""
    parsers.end_workers()
    monkeypatch.setattr(parsers, "_BOOT", BOOT)
    yield
    parsers.end_workers()


@pytest.mark.slow
def test_a_function_gets_the_file_and_gives_plain_values():
    made = parse(bombs.give_back, b"data", 1, "two", None, name="x")
    assert made == [b"data", 1, "two", None]


def test_a_file_on_disk_is_handed_over_whole_wherever_it_stands(tmp_path):
    (tmp_path / "a").write_bytes(b"0123456789")
    with (tmp_path / "a").open("rb") as stream:
        stream.read(4)
        assert parse(bombs.give_back, stream, name="a") == [b"0123456789"]
    held = io.BytesIO(b"0123456789")
    held.read(4)
    assert parse(bombs.give_back, held, name="a") == [b"0123456789"]


def test_a_worker_is_used_again():
    first = parse(bombs.give_back, b"1", name="x")
    line = parsers._idle[-1].process.pid
    assert (first, parse(bombs.give_back, b"2", name="x")) == ([b"1"], [b"2"])
    assert parsers._idle[-1].process.pid == line


def test_times_and_fractions_pass_and_strange_things_become_texts(tmp_path):
    now = datetime.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=datetime.UTC)
    plain = [now, now.date(), now.time(), datetime.timedelta(1), Decimal("1.5"), b"x", 2.5]
    assert pickle.loads(worker.dumped(plain)) == plain
    path, numbers, strange = parse(bombs.odd_values, b"", name="x")
    assert (path, numbers) == ("a", {1})
    assert "Strange" in strange
    assert not Path("/tmp/atom-evil-pickle").exists()


def test_a_message_that_asks_for_a_call_is_refused():
    task = parsers._Task(function=bombs.abort, args=(), name="x", limits=SMALL, error=FormatError)
    with pytest.raises(FormatError, match="its reader broke"):
        parsers._value(worker.VALUE, bytearray(pickle.dumps(bombs.Strange())), task)


def test_a_worker_sees_no_key(monkeypatch):
    monkeypatch.setenv("SECRET_API_KEY", "hush")
    assert "SECRET_API_KEY" not in parse(bombs.environment, b"", name="x")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (bombs.abort, "more than 314 MB of memory, or breaks its reader"),
        (bombs.hog, "more than 314 MB of memory"),
        (bombs.spin, "more than 1 s of computing"),
    ],
)
def test_what_breaks_a_parser_is_a_sentence_and_the_next_works(function, words):
    with pytest.raises(FormatError, match=words) as told:
        parse(function, b"", name="odd.x", limits=SMALL)
    assert "'odd.x'" in told.value.message
    assert parse(bombs.give_back, b"1", name="x") == [b"1"]


def test_what_a_parser_refuses_is_raised_as_it_was():
    with pytest.raises(UsageError, match="name another file"):
        parse(bombs.refuse, b"", name="x")


def test_only_functions_of_ours_are_called(monkeypatch):
    monkeypatch.setattr(parsers, "_BOOT", BOOT.replace("'tests.',", ""))
    with pytest.raises(FormatError, match="is no parser of ours"):
        parse(bombs.give_back, b"", name="x")


def test_rows_come_one_by_one_and_may_be_left():
    assert list(parse_rows(bombs.count_up, io.BytesIO(b""), 1000, name="x")) == list(range(1000))
    pid = parsers._idle[-1].process.pid
    rows = parse_rows(bombs.count_up, io.BytesIO(b""), 10**9, name="x")
    assert [next(rows), next(rows)] == [0, 1]
    rows.close()
    assert parse(bombs.give_back, b"1", name="x") == [b"1"]
    assert parsers._idle[-1].process.pid == pid


@pytest.mark.filterwarnings("error")
def test_a_stream_that_ends_as_garbage_ends_its_worker():
    """A cycle is taken apart in any order: the socket or the process may go before the stream."""
    assert parse(bombs.give_back, b"1", name="x") == [b"1"]
    pid = parsers._idle[-1].process.pid
    for _ in range(3):
        rows = parse_rows(bombs.count_up, io.BytesIO(b""), 10**9, name="x")
        assert next(rows) == 0
        cycle = {"rows": rows}
        cycle["itself"] = cycle
        del rows, cycle
        gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert parse(bombs.give_back, b"2", name="x") == [b"2"]


def test_rows_before_a_death_are_kept():
    rows = parse_rows(bombs.count_up, io.BytesIO(b"3"), 10, name="x")
    assert [next(rows), next(rows), next(rows)] == [0, 1, 2]
    with pytest.raises(FormatError, match="breaks its reader"):
        next(rows)


def test_two_files_are_read_at_once():
    one = parse_rows(bombs.count_up, io.BytesIO(b""), 3, name="x")
    two = parse_rows(bombs.count_up, io.BytesIO(b""), 3, name="y")
    assert list(zip(one, two, strict=True)) == [(0, 0), (1, 1), (2, 2)]


def test_a_worker_that_was_killed_is_replaced():
    parse(bombs.give_back, b"1", name="x")
    process = parsers._idle[-1].process
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert parse(bombs.give_back, b"2", name="x") == [b"2"]


# --- real bombs ----------------------------------------------------------------------------------


def rows_of(name, data):
    file = ImportFile.from_bytes(name, data)
    return [row.values for row in read_rows(file, find_layout(file), NoProblems())]


def test_a_workbook_is_read_with_its_empty_cells():
    cells = {"A1": "id", "C1": "say", "A2": "1", "B2": "no header", "A4": "2", "C4": "x"}
    assert rows_of("a.xlsx", workbook(cells, "A1:C4")) == [
        {"id": "1", "column 2": "no header", "say": None},
        {"id": "2", "column 2": None, "say": "x"},
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "make"), [("a.xlsx", workbook_bomb), ("a.parquet", parquet_bomb)])
def test_a_small_table_that_asks_for_more_than_there_is_gets_a_sentence(name, make):
    """Fall 2 of design/074."""
    data = make()
    assert len(data) < 25_000
    with pytest.raises(FormatError, match="it takes more than 2,147 MB of memory"):
        rows_of(name, data)


@pytest.mark.slow
def test_a_small_picture_that_unpacks_to_much_gets_a_sentence():
    data = png_bomb(9_900, 9_900, colour=0)  # 98 million grey pixels, as real numbers in between
    assert len(data) < 1_000_000
    with pytest.raises(PictureError, match="takes more than"):
        draw_thumbnail(data, (240, 180))


@pytest.mark.parametrize("kind", ["WEBP", "AVIF", "PNG", "JPEG", "GIF", "TIFF", "BMP"])
def test_the_usual_pictures_are_read_and_a_cut_one_is_refused(kind):
    from PIL import Image

    out = io.BytesIO()
    Image.effect_noise((64, 48), 60).convert("RGB").save(out, kind)
    facts = read_header(out.getvalue())
    assert (facts.width, facts.height) == (64, 48)
    assert tuple(facts) == header_of(io.BytesIO(out.getvalue()))
    assert draw_thumbnail(out.getvalue(), (240, 180))[8:12] == b"WEBP"
    with pytest.raises(PictureError):
        draw_thumbnail(out.getvalue()[: len(out.getvalue()) // 3], (240, 180))


@pytest.mark.parametrize(
    "data",
    [
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"BLP2" + b"\0" * 200,
        b"\x00\x00\x00\x1cftypavif" + b"\0" * 100,
        b"RIFF\x10\0\0\0WEBPVP8 " + b"\0" * 30,
        b"",
    ],
)
def test_odd_pictures_are_refused_with_a_sentence(data):
    with pytest.raises(PictureError):
        read_header(data)


# --- the price -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_worker_costs_an_ordinary_table_little():
    """Best of four each, in one run: reading in a worker beside reading here."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    texts = [f"question {number} " * 8 for number in range(40_000)]
    pq.write_table(pa.table({"id": list(range(40_000)), "question": texts}), out)

    def there():
        for rows, _ in parse_rows(parquet_rows, io.BytesIO(out.getvalue()), "x", name="x"):
            assert rows

    def here():
        for rows, _ in parquet_rows(io.BytesIO(out.getvalue()), "x"):
            assert rows

    def best(act):
        times = []
        for _ in range(4):
            started = time.perf_counter()
            act()
            times.append(time.perf_counter() - started)
        return min(times)

    assert best(there) < 8 * best(here)  # 2.6 when quiet

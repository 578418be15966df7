"""The attack by texts sees what a text does where nobody escapes it."""

from __future__ import annotations

import pytest

from benchmarks.attacks import _written, texts
from benchmarks.attacks._app import browser
from benchmarks.attacks._looks import Tally, walk
from benchmarks.attacks._texts import TEXTS, hostile, mark
from benchmarks.attacks._tried import CannotTryError


@pytest.fixture(scope="module")
def opened():
    """Open the attack's browser."""
    try:
        with browser() as found:
            yield found
    except CannotTryError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def walked(opened):
    """Open a page that may ask nobody."""
    with walk(opened) as found:
        yield found


def seen_of(walked, html: str) -> str:
    walked.page.goto("about:blank")
    walked.marks = set()
    walked.page.set_content(html)
    walked.page.wait_for_timeout(400)
    walked.look()
    return walked.take()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [0, 1, 7, 12, 15, 16, 21, 22, 29])
def test_markup_that_nobody_escapes_is_seen(walked, kind):
    assert seen_of(walked, f"<body>{hostile(kind)}</body>") != ""
    assert kind in walked.marks


@pytest.mark.slow
def test_text_that_is_shown_as_text_is_only_counted(walked):
    from atom.display.markup import el

    assert seen_of(walked, el("p", *map(hostile, range(TEXTS)))) == ""
    assert walked.marks == set(range(TEXTS))


@pytest.mark.slow
def test_what_a_script_did_is_told_of_once(walked):
    assert "a script ran: 3" in seen_of(walked, "<body><img src=x onerror=window.pwned=3></body>")
    walked.look()
    assert "a script ran" not in walked.take()


def test_a_view_without_a_text_proves_nothing_and_a_text_nowhere_is_missed():
    tally = Tally()
    assert [one.name for one in tally.tried("tree", "", {1, 31, 2}, "/tree")] == ["tree, 3 texts"]
    assert list(tally.tried("data", "", ())) == []
    assert [one.fell for one in tally.tried("runs", "a dialog", ())] == ["a dialog"]
    assert tally.kinds["/tree"] == {1, 2}  # 31 is of the kind of 1: there are 30
    told = texts._too_little(tally)
    assert "no text: data" in told
    assert [one.name for one in tally.tried("data", "", {0}, study="made")] == [
        "made, data, 1 texts"
    ]
    assert "data" not in texts._too_little(tally)  # some study's was seen
    assert "shown nowhere: texts [0, 3, 4," in told


def test_all_texts_differ():
    assert len({hostile(number) for number in range(TEXTS)}) == TEXTS
    assert mark(7) in hostile(7)


@pytest.mark.parametrize("cell", ["=1+1", "\u200b=1", "＝1", "+x", "@x", "-x", "a\u202eb"])
def test_a_cell_that_acts_is_seen(cell):
    assert _written.formula(f"name\n{cell}\n") != ""


@pytest.mark.parametrize("cell", ["'=1+1", "-1.5", "1e-7", "a=b", ""])
def test_a_cell_that_is_text_or_a_number_passes(cell):
    assert _written.formula(f"name\n{cell}\n") == ""


@pytest.mark.parametrize("text", ["![x](y)", "a <img src=x>", "see http://evil.example/1"])
def test_markdown_that_acts_is_seen(text):
    assert _written.markdown(text) != ""


def test_an_escape_in_a_commands_output_is_seen():
    assert _written.driven("a\x1b[31m") != ""
    assert _written.driven("a\u202eb") != ""
    assert _written.driven("fine\t1\n") == ""


def test_a_traceback_of_a_command_is_seen_and_what_it_told_is_counted(monkeypatch, tmp_path):
    monkeypatch.setattr(_written, "main", lambda words: 1 / 0)
    assert "ZeroDivisionError" in _written._command(["x"], tmp_path)[0]
    monkeypatch.setattr(_written, "main", lambda words: print(mark(7)))  # noqa: T201
    assert _written._command(["x"], tmp_path) == ("", {7})


def test_the_texts_of_a_file_are_counted(tmp_path):
    import zipfile

    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [mark(1), "x"]}), tmp_path / "a.parquet")
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.csv", mark(2) * 100)
    (tmp_path / "a.svg").write_text(f"<text>{mark(3)}</text>")
    found = [_written._marks_in(tmp_path / f"a.{end}") for end in ("parquet", "zip", "svg")]
    assert found == [{1}, {2}, {3}]

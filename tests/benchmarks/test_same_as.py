"""The comparer of `same_as.py`: it finds what was planted, and nothing where nothing was."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks._same_compare import compare, judge, read_allowed
from benchmarks._same_session import Address, Looked, Session, counts_of, saved, unpack
from benchmarks.same_as import LIST, main

MARKUP = (
    '<p>Mean <b>61.4</b> of 300</p><a href="failures?study=x&amp;model=b">see 3</a>'
    '<a href="data:text/csv;charset=utf-8,a%2Cb" download="t.csv">Save</a><i title="to 7.0 %"></i>'
)


@pytest.fixture
def folders(tmp_path):
    """Return two folders that hold the same."""
    one = tmp_path / "one"
    (one / "pages").mkdir(parents=True)
    counts = counts_of(Looked(markup=MARKUP, fields=("button: Go",), problem=""))
    (one / "pages" / "tree.page.json").write_text(json.dumps(counts), encoding="utf-8")
    (one / "rows.jsonl").write_text("a\nb\nb\n", encoding="utf-8")
    (one / "picture.png").write_bytes(b"\x89\xff\x00")
    return one, shutil.copytree(one, tmp_path / "two")


def test_equal_folders_have_no_difference(folders):
    assert list(compare(*folders)) == []


def test_a_page_is_counted_by_doors_and_texts():
    found = counts_of(Looked(markup=MARKUP, fields=("button: Go",), problem="it broke"))
    assert found["doors"] == {"failures?study=x&model=b": 1}
    assert found["texts"] == {"Mean": 1, "61.4": 1, "of 300": 1, "see 3": 1, "Save": 1,
                              "to 7.0 %": 1, "button: Go": 1, "FAILED: it broke": 1}  # fmt: skip
    assert list(saved(MARKUP)) == [("t.csv", "a,b")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("61.4", "61.5", {"-1 61.4", "+1 61.5"}),
        ("model=b", "model=c", {"-1 failures?study=x&model=b", "+1 failures?study=x&model=c"}),
        ("of 300", "of all 300", {"-1 of 300", "+1 of all 300"}),
    ],
)
def test_a_planted_change_of_a_page_is_found(folders, old, new, said):
    counts = counts_of(Looked(markup=MARKUP.replace(old, new), fields=("button: Go",), problem=""))
    (folders[1] / "pages" / "tree.page.json").write_text(json.dumps(counts), encoding="utf-8")
    found = [str(one).partition("] ")[2] for one in compare(*folders)]
    assert set(found) == said


def test_a_line_an_order_a_byte_and_a_file_are_found(folders):
    _, two = folders
    (two / "picture.png").write_bytes(b"\x89\xff\x01")
    (two / "rows.jsonl").write_text("b\na\nb\n", encoding="utf-8")
    (two / "more.txt").write_text("", encoding="utf-8")
    assert [(one.where, one.what) for one in compare(*folders)] == [
        ("more.txt", "file"), ("picture.png", "bytes"), ("picture.png", "bytes"),
        ("rows.jsonl", "order"),
    ]  # fmt: skip
    (two / "rows.jsonl").write_text("a\nb\nc\n", encoding="utf-8")
    lines = [str(one) for one in compare(*folders) if one.what == "line"]
    assert lines == ["rows.jsonl [line] -1 b", "rows.jsonl [line] +1 c"]


def test_a_column_more_is_one_difference_and_the_others_are_still_compared(folders):
    one, two = folders
    (one / "t.csv").write_text('model,score\na,1\n"b, c",2\n', "utf-8")
    (two / "t.csv").write_text('model,wide,score\na,,1\n"b, c",9,3\n', "utf-8")
    assert [str(found) for found in compare(one, two)] == [
        "t.csv [column] +1 wide", 't.csv [line] -1 "b, c",2', 't.csv [line] +1 "b, c",3',
    ]  # fmt: skip


def test_long_lines_are_cut_where_a_difference_is_small(folders):
    one, two = folders
    rest = ",".join(f'"{n}":{n}' for n in range(400))
    data = '<script type="application/json" id="study">{"a":{%s%s},"b":[{"c":[1,2]}]}</script>'
    for side, ink, more in ((one, "white", ""), (two, "black", ',"new":null')):
        (side / "page.html").write_text(data % (rest, more), "utf-8")
        (side / "f.svg").write_text(f'<svg><text fill="{ink}">a</text></svg>', "utf-8")
        (side / "kept.json").write_text('{\n"a": 1' + more.replace(",", ",\n") + "\n}", "utf-8")
    assert [str(found) for found in compare(one, two)] == [
        'f.svg [line] +1 <text fill="black">', 'f.svg [line] -1 <text fill="white">',
        'kept.json [line] +1 "new":null', 'page.html [line] +1 .a.new: null',
    ]  # fmt: skip


def test_decimals_that_agree_in_nine_digits_are_told_apart_from_others(folders):
    one, two = folders
    (one / "rows.jsonl").write_text('"a": -0.3386887640444773\n"b": 1.5000000001\n', "utf-8")
    (two / "rows.jsonl").write_text('"a": -0.338688764044479\n"b": 1.50000001\n', "utf-8")
    found = [(one.what, one.times, one.gone, one.came) for one in compare(one, two)]
    assert found == [
        ("rounding", 1, "", "lines with decimals that agree in 9 digits"),
        ("line", 1, '"b": 1.5000000001', ""),
        ("line", 1, "", '"b": 1.50000001'),
    ]


def test_only_what_the_list_says_is_on_purpose(folders, tmp_path):
    (folders[1] / "rows.jsonl").write_text("a\nb\nb\nc 12\nd\n", encoding="utf-8")
    listed = tmp_path / "list.toml"
    listed.write_text("[[change]]\nwhere='*.jsonl'\ncame='c \\d+'\nwhy='counts c'\n", "utf-8")
    found = judge(compare(*folders), read_allowed(listed))
    assert [str(one) for one in found.open] == ["rows.jsonl [line] +1 d"]
    assert found.allowed == (1,)
    listed.write_text("[[change]]\nwhere='*'\ncame='.*'\n", "utf-8")
    with pytest.raises(ValueError, match="says no reason"):
        read_allowed(listed)


def test_lines_that_differ_in_spaces_alone_are_each_rewritten(folders, tmp_path):
    for side, dash in zip(folders, "-–", strict=True):
        (side / "rows.jsonl").write_text(f"  n 1{dash}5\nn 1{dash}5\n  n 1{dash}5\n", "utf-8")
    (tmp_path / "list.toml").write_text(LISTED, "utf-8")
    found = judge(compare(*folders), read_allowed(tmp_path / "list.toml"))
    assert (found.open, found.allowed) == ((), (2, 0))


LISTED = """
[[change]]
where = "*"
gone = '(?<=\\d)-(?=\\d)'
becomes = "–"
why = "a dash stands in ranges"

[[change]]
where = "pages/*"
gone = "Mean: .*"
came = "Mean score: .*"
why = "a mean says of what"
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("marks 1-5 of  20", "marks 1–5 of 20", []),
        ("marks 1-5 of 20", "marks 1–5 of 21", ["-1 marks 1-5 of 20", "+1 marks 1–5 of 21"]),
        ("marks of  20", "marks of 20", ["-1 marks of  20", "+1 marks of 20"]),
        ("Mean: −4.0 of 1200 (a1b2)", "Mean score: -4.0 of 1,200 (a1c3)", []),
        ("Mean: 61.4", "Mean score: 61.5", ["-1 61.4", "+1 61.5"]),
    ],
)
def test_figures_are_the_same_where_words_change_on_purpose(tmp_path, old, new, said):
    sides = (tmp_path / "one", tmp_path / "two")
    for side, text in zip(sides, (old, new), strict=True):
        (side / "pages").mkdir(parents=True)
        counts = json.dumps({"doors": {}, "texts": {text: 1}})
        (side / "pages" / "a.page.json").write_text(counts, encoding="utf-8")
    (tmp_path / "list.toml").write_text(LISTED, "utf-8")
    found = judge(compare(*sides), read_allowed(tmp_path / "list.toml"))
    assert [str(one).partition("] ")[2] for one in found.open] == said


def test_a_checksum_is_held_against_its_file(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "rows.parquet")
    (tmp_path / "imports.jsonl").write_text('{"created": "now"}\n', encoding="utf-8")
    files = (tmp_path / "rows.parquet", tmp_path / "imports.jsonl")
    known = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    (tmp_path / "manifest.json").write_text(" ".join([*known, "0" * 64]), "utf-8")
    unpack(tmp_path)
    assert (tmp_path / "manifest.json").read_text("utf-8") == f"(its own) (its own) {'0' * 64}"
    assert (tmp_path / "rows.jsonl").read_text("utf-8") == '{"a": 1}\n'


def test_moments_paths_and_ids_of_moments_are_taken_out_and_nothing_else(tmp_path):
    session = Session(checkout=tmp_path / "c", demo=tmp_path / "d", out=tmp_path / "o",
                      work=tmp_path / "w")  # fmt: skip
    session.ids["0123456789ab"] = "(run 1)"
    today = f"{session.begun:%Y-%m-%d}"
    text = (
        f'{tmp_path}/w/x {today}T10:11:12.5Z run 0123456789ab took 3 of 2026-01-01 "seconds": 2.5'
    )
    assert session.plain(text) == (
        '(work)/x (moment) run (run 1) took 3 of 2026-01-01 "seconds": (passing)'
    )


def test_doors_of_one_shape_are_opened_once():
    one, two, other = (
        Address.of(f"./failures?study=x&{more}") for more in ("model=a", "model=b", "tab=grid")
    )
    assert one.shape == two.shape != other.shape
    assert (one.name, other.name) == ("failures.+model", "failures.grid")
    assert Address.of("https://example.invalid/") is None
    assert Address.of("#top") is None


def test_what_a_recording_is_asked_for_reaches_its_session(tmp_path, monkeypatch):
    ran = []

    def run(words, **_):
        ran.append([str(word) for word in words[2:]])
        return subprocess.CompletedProcess(words, 0)

    monkeypatch.setattr(subprocess, "run", run)
    out, old, files = (tmp_path / name for name in ("out", "old", "files"))
    given = ["record", out, "--checkout", old, "--pages", 7, "--parts", "read", "--real", files]
    monkeypatch.setattr(sys, "argv", ["same_as.py", *map(str, given)])
    assert main() == 0
    ((checkout, demo, wrote, _, parts, most, real),) = ran
    assert (checkout, demo) == (str(old), str(old / "data" / "demo"))
    assert (wrote, parts, most, real) == (str(out), "read,real", "7", str(files))


def test_the_committed_list_can_be_read():
    read_allowed(LIST)

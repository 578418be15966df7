from __future__ import annotations

import io

from atom.cli.parts.output import Output, ProgressLine, bar, table


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_empty_half_and_full():
    assert bar(0, 10, 4) == "[....]"
    assert bar(5, 10, 4) == "[##..]"
    assert bar(12, 10, 4) == "[####]"
    assert bar(0, 0, 4) == "[####]"


def test_a_table_puts_numbers_to_the_right_and_nothing_for_nothing():
    assert table(("name", "n"), [["a", 2400], ["long name", 2]]) == [
        "name           n",
        "a          2,400",
        "long name      2",
    ]
    assert table(("a", "b"), []) == ["a  b"]
    assert table(("a", "b"), [[True, None], [False, "x\ny"]]) == ["a    b", "yes", "     x y"]


def test_a_terminal_line_is_rewritten_and_other_streams_get_few_lines():
    live = ProgressLine(stream := Terminal())
    live.show("one", now=0)
    live.show("two", now=0.1)
    live.end()
    assert stream.getvalue() == "\rone\rtwo\n"
    plain = ProgressLine(stream := io.StringIO())
    for second in range(25):
        plain.show(f"at {second}", now=float(second))
    plain.end()
    assert stream.getvalue() == "at 0\nat 10\nat 20\nat 24\n"
    silent = ProgressLine(stream := io.StringIO(), quiet=True)
    silent.show("x", now=0)
    assert stream.getvalue() == ""


def test_results_are_lines_or_json():
    lines = Output(as_json=False, out=(out := io.StringIO()))
    lines.result({"a": 1}, ["a is 1"])
    assert out.getvalue() == "a is 1\n"
    data = Output(as_json=True, out=(out := io.StringIO()))
    data.result({"a": "é"}, ["a is 1"])
    assert out.getvalue() == '{\n  "a": "é"\n}\n'

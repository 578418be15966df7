import re

from atom.ui import said

HOSTILE = "<script>x</script>\"'><img src=y onerror=z>"


def test_texts_are_said_as_they_are():
    shown = said.said(HOSTILE)
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;script&gt;" in shown


def test_long_texts_are_folded_beyond_2000_characters():
    shown = said.said("a" * 2000 + "b" * 10)
    assert "Show all (2,010 characters)" in shown
    assert shown.index("b" * 10) > shown.index("<details")
    assert "Show all" not in said.said("a" * 2000)


def test_a_mark_beyond_the_cut_is_shown():
    shown = said.said("a" * 3000 + "MARK" + "b" * 500, [said.Span(start=3000, end=3004, on=True)])
    assert shown.index("MARK") < shown.index("<details")


def test_overlapping_and_impossible_marks_are_cut():
    spans = [said.Span(start=0, end=5), said.Span(start=3, end=8), said.Span(start=90, end=95)]
    shown = said.said("0123456789", spans)
    assert re.findall(r"<mark[^>]*>([^<]*)</mark>", shown) == ["01234", "567"]
    assert re.sub(r"<[^>]+>", "", shown) == "0123456789"


def test_an_empty_text_says_so():
    assert "(empty)" in said.said("  ")

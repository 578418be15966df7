r"""Text where Markdown is read. What a browser makes of it is tried by the attack `texts`."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.ui.plain import plain

JOINER = "\u2060"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("model-a", r"model\-a"),
        ("![x](http://a.b)", rf"\!\[x\]\(http:{JOINER}//a\.b\)"),
        ("www.a.b", rf"ww{JOINER}w\.a\.b"),
        ("WWWW.a", rf"WWW{JOINER}W\.a"),
        ("me@a.b", rf"me@{JOINER}a\.b"),
        (
            ":material/home: :smile: 12:30",
            rf":{JOINER}material/home: :{JOINER}smile: 12:{JOINER}30",
        ),
        ("<b>$x$</b>", r"\<b\>\$x\$\</b\>"),
        ("one\n# two", r"one \# two"),
        ("a\u202eb", "a\ufffdb"),
        ("\ud800", r"?"),
        ("Größe 数", "Größe 数"),
    ],
)
def test_marks_are_escaped(text, made):
    assert plain(text) == made


@given(st.text())
def test_no_mark_stands_unescaped(text):
    bare = re.sub(r"\\.", "", plain(text))
    assert not set(bare) & set("\\`*_{}[]()<>#+-.!|~$^&=\"'\n\r")
    assert not re.search(r"://|www\.|@\w", plain(text))

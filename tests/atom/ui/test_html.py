import html

from hypothesis import given
from hypothesis import strategies as st

from atom.display.shown import level
from atom.ui.html import Html, el, escape, join


def test_text_is_escaped_and_markup_is_not():
    assert el("p", "<b>", el("i", "x")) == "<p>&lt;b&gt;<i>x</i></p>"


def test_attributes_are_escaped():
    assert el("a", href='"><script>') == '<a href="&quot;&gt;&lt;script&gt;"></a>'


def test_names_of_attributes():
    made = el("i", class_="a", data_go=True, aria_label="b", hidden=False, title=None)
    assert made == '<i class="a" data-go aria-label="b"></i>'


def test_void_elements_close_themselves():
    assert el("img", alt="") == '<img alt=""/>'


def test_children_may_be_lists_numbers_and_nothing():
    assert join("a", None, [1, ["<", Html("<br/>")]]) == "a1&lt;<br/>"


def test_lone_surrogates_can_be_sent():
    assert escape("a\ud800b").encode() == b"a?b"


@given(st.text())
def test_no_text_becomes_markup(text):
    shown = el("p", text, title=text)
    assert shown.count("<") == 2
    inner = shown.removesuffix("</p>").partition(">")[2]
    assert html.unescape(inner) == html.unescape(
        html.escape(level(text.encode("utf-8", "replace").decode()))
    )


def test_what_is_said_beside_an_element_has_an_end_and_its_text_is_whole():
    name = "a" * 3000 + "z" * 2000
    made = el("span", name, data_tip=name, title=name, aria_label=name)
    assert made.count(name) == 1
    assert made.count("a" * 300) == 10 + 3
    assert len(made) < len(name) + 3 * 700

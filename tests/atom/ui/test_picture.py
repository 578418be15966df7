import re

from atom.ui.picture import RegionMark, missing, picture

MARKS = [
    RegionMark(number=1, light="a", box=(0, 0, 500, 1000), words="<b>left</b>", href="./x"),
    RegionMark(number=2, light="b", box=(100, 100, 200, 200), words="small", href="./y"),
    RegionMark(number=3, light="c", box=(0, 0, 1000, 1000), words="all", href="./z"),
]


def test_small_regions_lie_on_top():
    shown = picture("/p.png", "a chart", MARKS, None)
    assert re.findall(r'aria-label="Region of criterion (\d)', shown) == ["3", "1", "2"]


def test_the_chosen_region_is_lit():
    shown = picture("/p.png", "a chart", MARKS, "b")
    assert shown.count('class="region lit"') == 1
    assert 'class="figure has-lit"' in shown
    assert 'data-kept="b"' in shown


def test_nothing_is_lit_when_the_choice_has_no_region_here():
    shown = picture("/p.png", "a chart", MARKS, "elsewhere")
    assert " lit" not in shown.replace("has-lit", "")
    assert "has-lit" not in shown


def test_regions_lie_where_they_belong_and_words_are_escaped():
    shown = picture("/p.png", 'a "chart"', MARKS, None)
    assert 'x="10.0%" y="10.0%" width="10.0%" height="10.0%"' in shown
    assert "<b>" not in shown
    assert 'alt="a &quot;chart&quot;"' in shown


def test_a_missing_picture_names_its_file():
    shown = missing("a/b.png", "mine")
    assert "expected file: a/b.png" in shown
    assert "Attach pictures" in shown
    assert "study=mine" in shown
    assert "expected file: unnamed" in missing("", "mine")

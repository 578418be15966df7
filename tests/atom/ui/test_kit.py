import html
import re

import pytest

from atom.errors import UsageError
from atom.ui import kit
from atom.ui.html import el

CSS = (kit.ASSETS / "kit.css").read_text(encoding="utf-8")


def colours(scheme):
    """Return the named colours of a scheme: 0 light, 1 dark."""
    found = re.findall(r"--([\w]+): light-dark\((#\w{6}), (#\w{6})\)", CSS)
    return {name: (light, dark)[scheme] for name, light, dark in found}


def contrast(first, second):
    """Return the WCAG contrast of two colours."""

    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        line = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * line[0] + 0.7152 * line[1] + 0.0722 * line[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize("ground", ["ground", "panel", "tint"])
@pytest.mark.parametrize("ink", ["ink", "quiet", "accent", "worse"])
def test_every_text_can_be_read(scheme, ground, ink):
    named = colours(scheme)
    assert contrast(named[ink], named[ground]) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize("score", [1, 2, 3, 4, 5])
def test_every_score_can_be_read(scheme, score):
    named = colours(scheme)
    rule = re.search(rf"\.chip\.s{score} {{[^}}]*[; ]color: ([^;]+);", CSS)[1]
    pair = re.findall(r"#\w{6}", rule)
    ink = pair[scheme] if pair else named["ink"]
    assert contrast(ink, named[f"s{score}"]) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1])
def test_marked_words_can_be_read(scheme):
    named = colours(scheme)
    assert contrast(named["ink"], named["mark"]) >= 4.5


def test_a_status_is_a_glyph_and_a_word():
    shown = kit.status("confirmed")
    assert "▼" in shown
    assert "confirmed weakness" in shown


def test_colours_beyond_eight_are_grey():
    assert len({kit.colour(place) for place in range(8)}) == 8
    assert kit.colour(8) == kit.GREY


def test_a_table_names_its_parts():
    shown = kit.grid(
        ["<x>"],
        kit.MarkupColumn("A", str),
        kit.number("n", len),
        label="Things",
        on=lambda name: name == "<x>",
    )
    assert 'aria-label="Things"' in shown
    assert 'scope="col"' in shown
    assert "&lt;x&gt;" in shown
    assert 'aria-current="true"' in shown
    assert '<td class="num">3</td>' in shown


def test_a_table_leaves_out_a_column_without_use_and_folds_rows_away():
    def drawn(most):
        return kit.grid(
            range(5),
            kit.number("n", lambda n: f"row {n}"),
            kit.MarkupColumn("never", lambda n: 1 / 0, when=False),
            label="Rows",
            most=most,
        )

    assert "never" not in drawn(None)
    assert "<details" not in drawn(5)
    open_, folded = drawn(3).split("<details")
    assert ("row 2" in open_, "row 3" in open_) == (True, False)
    assert ("2 more" in folded, 'aria-label="Rows: the rest"' in folded) == (True, True)
    assert folded.count("<td") == 2


def test_each_of_several_things_has_a_column_of_its_own():
    columns = kit.each([2, 3], lambda n: f"times {n}", lambda row, n: f"{row * n}")
    assert [column.title for column in columns] == ["times 2", "times 3"]
    assert [column.of(5) for column in columns] == ["10", "15"]
    assert all(column.number for column in columns)


def test_a_count_of_none_is_quiet_and_opens_nothing():
    assert kit.counted(0, "./failures") == kit.quiet("0")
    assert kit.counted(1200) == "1,200"
    assert 'href="./failures"' in kit.counted(1200, "./failures")


def test_an_error_is_shown_in_its_own_words():
    shown = kit.fault(UsageError("given 'x'; a or b are allowed"))
    assert "a or b are allowed" in shown
    assert 'role="alert"' in shown


@pytest.mark.parametrize(
    "shown",
    [
        kit.fault,
        kit.notice,
        lambda words: kit.empty("Nothing", words),
        lambda words: kit.lines([words]),
    ],
    ids=["fault", "notice", "empty", "lines"],
)
def test_a_command_in_a_sentence_is_drawn_as_code(shown):
    markup = shown("boxes of '<b>' weren't checked: run `endpoint test <b>`, or don't")
    assert "run <code>endpoint test &lt;b&gt;</code>, or don" in markup
    assert "`" not in markup
    assert "given `x" in shown("given `x")


def test_a_disabled_button_leads_nowhere():
    assert "href" not in kit.button("Next", "./", disabled=True)


@pytest.mark.parametrize(("letters", "whole"), [(300, True), (5000, False)])
def test_a_name_of_any_length_is_cut_in_tabs_and_heads_with_more_in_the_tip(letters, whole):
    name = "begins " + "x" * letters + " & ends"
    tabs = str(kit.tabs([(name, "./tree", True), ("Short", "./", False)], label="Views"))
    table = str(kit.grid(["1"], kit.MarkupColumn(name, str), label="Names"))
    for markup in (tabs, table):
        shown = re.sub(r"<[^>]*>", "", markup)
        assert "begins x" in shown
        assert "ends" in shown
        assert len(shown) < 60
        (tip,) = re.findall(r'title="(begins [^"]+ &amp; ends)"', markup)
        assert (html.unescape(tip) == name) is whole
        assert len(tip) < 700
    assert ">Short</a>" in tabs
    marked = el("span", "n", class_="term", data_tip="markup of any length is no name " * 3)
    assert marked in kit.grid(["1"], kit.MarkupColumn(marked, str), label="Names")


@pytest.mark.parametrize(
    ("done", "total", "width"), [(0, 0, "0.0%"), (1, 3, "33.3%"), (5, 4, "100.0%")]
)
def test_a_bar_is_as_long_as_what_is_done(done, total, width):
    bar = kit.progress(done, total, "calls done")
    assert f"width:{width}" in bar
    assert f'aria-valuenow="{done}" aria-valuemax="{total}" aria-label="calls done"' in bar

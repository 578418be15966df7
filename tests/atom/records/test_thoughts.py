import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.records.thoughts import tell_apart


@pytest.mark.parametrize(
    ("text", "answer", "thoughts", "unfinished"),
    [
        ("42", "42", "", False),
        ("<think>40? No.</think>\n42", "42", "40? No.", False),
        ("it says so.</think>9", "9", "it says so.", False),
        ("<think>between 6 and", "", "between 6 and", True),
        ("So <Thinking>a</THINKING> B <think>c</think>", "So  B", "a\nc", False),
        ("<think>a<think>b</think>c</think>d", "d", "a\nb\nc", False),
        ("<think>I close with <think> later</think>d", "d", "I close with\nlater", False),
        ("first</think>second</think>third", "third", "first\nsecond", False),
        ("◁think▷hm◁/think▷yes", "yes", "hm", False),
        ("a < think > b", "a < think > b", "", False),
    ],
)
def test_an_answer_is_what_is_said_outside_of_thoughts(text, answer, thoughts, unfinished):
    found = tell_apart(text)
    assert (found.answer, found.thoughts, found.unfinished) == (answer, thoughts, unfinished)


@given(st.lists(st.sampled_from(["<think>", "</think>", "x", " ", "\n"]), max_size=30))
def test_nothing_that_was_written_is_lost_and_no_tag_is_left(parts):
    text = "".join(parts)
    found = tell_apart(text)
    assert (found.answer + found.thoughts).count("x") == text.count("x")
    assert "think" not in found.answer + found.thoughts


def test_many_open_blocks_are_read_in_one_pass():
    """Fall 4 of design/074."""
    assert tell_apart("<think>" * 200_000 + "x").unfinished

"""The lexical gate: what gives a result away is found, what guides passes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.records import Criterion, Sample
from atom.stages.texts import leaks

BARS = Sample(
    id="bars",
    dataset="d",
    question="By how much do March and May differ, and is it 7 or 9? The axis ends at 80.",
    reference="7",
)
COLOURS = Sample(
    id="colours",
    dataset="d",
    question="Which colour has the ball beside the red cube?",
    choices=("red", "dark blue", "blue", "green"),
    reference="blue",
)


def kinds(text, sample=BARS, truths=("42",), question="Which value has March?", **more):
    found = leaks.find(text, sample=sample, truths=truths, question=question, **more)
    return {leak.kind for leak in found}


@pytest.mark.parametrize(
    "text",
    [
        "It is 42.", "forty-two", "４２", "4\u200b2", "XLII", "42,0", "about 40",
        "between 40 and 45",
        "roughly thirty-nine", "more than six of them", "41-43", "3 thousand", "one hundred",
        "the bar (42) ends there", "4 2", "**42**", "42nd", "v42",
    ],
)  # fmt: skip
def test_numbers_leak(text):
    assert "number" in kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        "Look at the two bars, one by one.", "The axis ends at 80.", "Compare March with May.",
        "1. Find the bar.\n2. Follow its top to the axis.", "Look at picture 1.",
        "Step 2: read it.",
        "Go to the second bar from the left half.", "Which value has March?",
    ],
)  # fmt: skip
def test_guidance_passes(text):
    assert kinds(text) == set()


def test_a_new_number_counts_only_where_a_number_is_sought():
    assert kinds("Zoom in to 200 percent.", COLOURS, ("green",), "") == set()
    assert kinds("Zoom in to 200 percent.", BARS) == {"number"}
    assert kinds("Zoom in to 200 percent.", BARS, near=False) == set()


@pytest.mark.parametrize(
    "text", ["It is 7.", "I'd say seven.", "not 9", "the smaller: 7, no doubt"]
)
def test_one_of_two_numbers_of_the_question_is_singled_out(text):
    assert "alternative" in kinds(text)


def test_both_numbers_or_none_single_out_nothing():
    assert kinds("Is it 7 or 9?") == set()
    assert kinds("The axis ends at 80.") == set()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("It is blue.", "option"), ("b l u e", "option"), ("BLUE!", "option"), ("not green",
        "option"),
        ("green, red and dark blue are out", "option"), ("Option C", "letter"), ("(c)", "letter"),
        ("C) it is", "letter"), ("pick c", "letter"), ("choice three", "letter"),
        ("the third option", "letter"), ("the last of the options", "letter"),
        ("option number 3", "letter"), ("Answer: C", "letter"), ("letter 'C'", "letter"),
    ],
)  # fmt: skip
def test_options_leak(text, kind):
    assert kind in kinds(text, COLOURS, ("blue",), "")


@pytest.mark.parametrize(
    "text",
    [
        "Look beside the red cube.", "Compare red, dark blue, blue and green with what you see.",
        "Options A, B, C and D differ in shade.", "A closer look helps.", "I would look twice.",
        "Check every option.", "Find the ball beside the red cube.",
    ],
)  # fmt: skip
def test_talk_of_options_passes(text):
    assert kinds(text, COLOURS, ("blue",), "") == set()


def test_a_longer_option_is_not_the_shorter_one():
    found = leaks.find("It is dark blue.", sample=COLOURS, truths=())
    assert [str(leak) for leak in found] == ['option "dark blue"']


def test_words_of_a_truth():
    truth = "the lower shelf on the far side"
    assert kinds("See the lower shelf, far side.", BARS, (truth,), "") >= {"words"}
    assert kinds("See the lower left.", BARS, (truth,), "") == set()  # 1 of 4 words
    assert kinds("Base times height.", BARS, ("base times height",), "") >= {"words"}
    assert kinds("Take your time.", BARS, ("base times height",), "") == set()


def test_a_phrase_of_known_words():
    sample = BARS.model_copy(
        update={"question": "Moved, added, removed: which?", "reference": None}
    )
    truth = "added and moved"
    assert "phrase" in kinds("It was added and moved", sample, (truth,), "")
    assert kinds("Look for what was moved and what was added.", sample, (truth,), "") == set()


def test_a_result_that_the_question_names_in_another_role():
    sample = BARS.model_copy(
        update={"question": "What stands beside the green cube?", "reference": None}
    )
    question = "Which shape has the object beside the green cube?"
    assert kinds("A cube, I think.", sample, ("cube",), question) == {"words"}
    assert kinds("Start at the green cube.", sample, ("cube",), question) == set()


@pytest.mark.parametrize(
    ("truth", "text", "leak"),
    [
        ("yes", "Yes, look again.", True), ("yes", "Indeed it does.", True),
        ("yes", "Look again.", False), ("no", "No, look again.", True), ("no", "It is not true.",
        True),
        ("no", "There is no doubt that you must look.", False), ("no", "The answer is no", True),
        ("true", "That is true.", True), ("false", "It's false.", True),
    ],
)  # fmt: skip
def test_yes_and_no(truth, text, leak):
    assert ("yes or no" in kinds(text, BARS, (truth,), "")) == leak


def test_times():
    for text in (
        "10:48",
        "22:48",
        "ten forty-eight",
        "half past ten",
        "quarter to eleven",
        "10 o'clock",
    ):
        assert "number" in kinds(text, BARS, ("10:48",), "What time is it?")
    assert kinds("Read the short hand first.", BARS, ("10:48",), "What time is it?") == set()


def test_the_final_answer_is_a_secret_in_letters_as_well():
    assert kinds("blue", COLOURS.model_copy(update={"reference": "C"}), ()) == {"option"}
    open_question = BARS.model_copy(update={"reference": None})
    assert kinds("seventeen", open_question, (), final="17") == {"number"}


def test_synonyms_pass_by_design():
    assert kinds("It looks like a ball.", BARS, ("sphere",), "") == set()


def criterion(question, truth):
    return Criterion(id="c", sample_id="s", question=question, ground_truth=truth)


@pytest.mark.parametrize(
    ("question", "truth", "given"),
    [
        ("Is the March bar the tallest?", "yes", True),
        ("Isn't the line rising?", "Yes", True),
        ("The line rises, right?", "yes", True),
        ("Is the March bar the tallest?", "The March bar is the tallest", True),
        ("What is the height of the 42 cm bar?", "42 cm", True),
        ("Is the March bar the tallest?", "no", False),
        ("Which value has March?", "42", False),
        ("Which of March and May is taller?", "March", False),
        ("Does it rise or fall?", "fall", False),
        ("Is the total correct or wrong?", "correct", False),
        ("What is the value of the March bar?", "The March bar is at 42", False),
    ],
)
def test_a_question_that_gives_its_answer_away(question, truth, given):
    assert bool(leaks.gives_away(criterion(question, truth))) == given


def test_what_the_sample_says_is_no_news():
    asked = criterion("Which value has the bar above 80?", "80")
    assert leaks.gives_away(asked)
    assert leaks.gives_away(asked, BARS) == ""


def test_leaks_read_as_parts_of_a_sentence():
    (leak,) = leaks.find("42", sample=BARS, truths=("42",), near=False)
    assert str(leak) == 'number "42"'


@given(st.text(max_size=120), st.text(min_size=1, max_size=30))
def test_any_text_is_judged(text, truth):
    leaks.find(text, sample=COLOURS, truths=(truth,), question=truth)
    leaks.gives_away(criterion(text or "?", truth), COLOURS)


@given(st.integers(13, 99_999))
def test_every_number_is_caught_wherever_it_stands(value):
    for text in (f"{value}", f"so it is {value}, look", f"{value:,} there", f"({value})"):
        assert "number" in kinds(text, BARS.model_copy(update={"reference": None}), (str(value),))

"""The table of final answers: what rules decide, and what they leave to the judge (None)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.records import Sample
from atom.stages.texts.final_answer import compare_answer, compare_response, find_statements

COLOURS = ("red", "blue", "dark red", "green")
YES_NO = ("Yes", "No")
LENGTHS = ("5", "6", "8", "10")

OPTIONS = [
    (COLOURS, "blue", "Answer: B", True),
    (COLOURS, "blue", "Answer: (B)", True),
    (COLOURS, "blue", "Answer: b", True),
    (COLOURS, "blue", "**Answer: B**", True),
    (COLOURS, "blue", "Answer: **B**", True),
    (COLOURS, "blue", "**Answer:** B) blue", True),
    (COLOURS, "blue", "answer: B. blue", True),
    (COLOURS, "blue", "Answer: A", False),
    (COLOURS, "blue", "The answer is not A. I choose B", True),
    (COLOURS, "blue", "Both look alike, but I'll go with option A.", False),
    (COLOURS, "blue", "I would not choose B", None),
    (COLOURS, "blue", "Should I choose B", None),
    (COLOURS, "blue", "If I choose B, the sum is wrong.", None),
    (COLOURS, "blue", "（B）", True),
    (COLOURS, "blue", "答案：Ａ", None),
    (COLOURS, "blue", "B", True),
    (COLOURS, "blue", "(B)", True),
    (COLOURS, "blue", "B.", True),
    (COLOURS, "blue", "B) blue", True),
    (COLOURS, "blue", "b)", True),
    (COLOURS, "blue", "blue", True),
    (COLOURS, "blue", "Blue.", True),
    (COLOURS, "blue", "The blue one.", True),
    (COLOURS, "red", "dark red", False),
    (COLOURS, "dark red", "It is dark red.", True),
    (COLOURS, "red", "The answer is red.", True),
    (COLOURS, "blue", "The answer is (B) because blue is seen.", True),
    (COLOURS, "blue", "The correct option is B.", True),
    (COLOURS, "blue", "\\boxed{B}", True),
    (COLOURS, "blue", "\\boxed{\\text{blue}}", True),
    (COLOURS, "blue", "Answer: A) blue", None),
    (COLOURS, "blue", "Answer: A or B", None),
    (COLOURS, "blue", "Answer: A and B", None),
    (COLOURS, "blue", "Answer: A, B", None),
    (COLOURS, "blue", "It is red or blue.", None),
    (COLOURS, "blue", "Answer: not blue", None),
    (COLOURS, "blue", "I'm not sure", None),
    (COLOURS, "blue", "A cat sits there", None),
    (COLOURS, "blue", "Answer: E", None),
    (COLOURS, "blue", "Answer: <letter>", None),
    (COLOURS, "blue", "The answer is A.\n\nAnswer: B", True),
    (COLOURS, "blue", "Answer: B\n\nWait, actually it is A.", None),
    (COLOURS, "blue", "I see a ball.\nAnswer:\nB", True),
    (COLOURS, "B", "Answer: B", True),
    (COLOURS, "B", "Answer: blue", True),
    (YES_NO, "Yes", "Yes, there is.", True),
    (YES_NO, "Yes", "No, there are no dogs.", False),
    (YES_NO, "No", "So the answer is no, there are not more.", True),
    (YES_NO, "No", "There are no dogs.", None),
    (LENGTHS, "8", "8", True),
    (LENGTHS, "8", "8 cm", True),
    (LENGTHS, "8", "The length is 8.", True),
    (LENGTHS, "8", "Answer: C", True),
    (LENGTHS, "8", "7", None),
    (LENGTHS, "8", "Answer: (C) 10", None),
    (LENGTHS, "8", "10 - 2 = 8\nTherefore, the correct choice is (C).", True),
    (COLOURS, "red", "Neither red nor blue is the correct answer.", None),
    (YES_NO, "No", "No, there is not. The picture shows a cat.", True),
]

NUMBERS = [
    ("12", "12", {}, True),
    ("12", "Answer: 12", {}, True),
    ("12", "Answer: 12.", {}, True),
    ("12", "Answer: 12 cubes", {}, True),
    ("12", "The answer is twelve.", {}, True),
    ("12", "Answer: 13", {}, False),
    ("1234", "Answer: 1,234", {}, True),
    ("1234567", "1 234 567", {}, True),
    ("1234567", "1.234.567", {}, True),
    ("4.50", "4,50", {}, True),
    ("4.50", "$4.50", {}, True),
    ("4.50", "$4.5", {}, True),
    ("1.2", "1.2 m", {}, True),
    ("1.2", "1.25", {}, True),
    ("1.2", "1.26", {}, False),
    ("1.2", "1.24", {}, True),
    ("1.2", "1", {}, None),
    ("1.2", "2", {}, False),
    ("3.14159", "3.14", {}, None),
    ("0.25", "25%", {}, True),
    ("25%", "0.25", {}, True),
    ("25", "25 %", {}, True),
    ("25%", "26%", {}, False),
    ("3/4", "0.75", {}, True),
    ("0.75", "3/4", {}, True),
    ("0.75", "\\frac{3}{4}", {}, True),
    ("2.5", "2 1/2", {}, True),
    ("2.5", "2½", {}, True),
    ("1/3", "0.33", {}, None),
    ("1/3", "0.5", {}, False),
    ("1500", "1.5e3", {}, True),
    ("1500", "1.5 × 10^3", {}, True),
    ("1500", "1.5 \\times 10^{3}", {}, True),
    ("1500", "1.5 thousand", {}, True),
    ("1500", "1.5k", {}, True),
    ("1.5 million", "1,500,000", {}, True),
    ("1.5", "1.5 million", {}, None),
    ("42", "between 41 and 43", {}, None),
    ("42", "41-43", {}, None),
    ("42", "41–43", {}, None),
    ("42", "42 or 43", {}, None),
    ("42", "more than 42", {}, None),
    ("42", "about 42", {}, True),
    ("42", "~42", {}, True),
    ("42", "≈ 42", {}, True),
    ("42", "Answer: 42 (out of 50)", {}, True),
    ("42", "50 - 8 = 42", {}, True),
    ("42", "x = 42", {}, True),
    ("42", "There are 42 apples in total.", {}, True),
    ("42", "There are 42 apples in 3 boxes.", {}, None),
    ("-5", "−5", {}, True),
    ("-5", "-5", {}, True),
    ("-5", "5", {}, False),
    ("12 cm", "0.12 m", {}, True),
    ("12 cm", "12 m", {}, False),
    ("12 cm", "12", {}, True),
    ("12 cm", "12 kg", {}, None),
    ("50", "50°", {}, True),
    ("50°", "$50^\\circ$", {}, True),
    ("12", "12.4", {"answer_type": "integer"}, False),
    ("12", "12.4", {}, None),
    ("12", "12.4", {"answer_type": "float"}, True),
    ("12", "12.0", {}, True),
    ("12", "12.9", {"tolerance": 1.0}, True),
    ("12", "13.1", {"tolerance": 1.0}, False),
    ("12", "", {}, None),
    ("12", "I can't tell.", {}, None),
    ("12", "It has 3 legs.\nIt has 4 ears.\nNote that 7 things are hidden.", {}, None),
    ("12", "First 3.\nThen 4.\nSo there are 12 cubes.", {}, True),
    ("12", "Steps.\nMore.\n**12**", {}, True),
    ("12", "#### 12", {}, True),
    ("12", "<answer>12</answer>", {}, True),
    ("12", "The answer is not 12.", {}, None),
    ("42", "forty-two", {}, True),
    ("105", "one hundred and five", {}, True),
    ("1,234", "1.234", {}, None),
    ("1.234", "1,234", {}, None),
    ("300", "300K", {}, None),
    ("12", "Answer: 12 because 3*4=12", {}, True),
    ("3", "So the answer is 3.\n\nI hope this helps!", {}, True),
    ("1990", "in 1990", {}, True),
    ("12", "12°C", {}, True),
    ("$1,200", "1200 dollars", {}, True),
    ("5", "H2O", {}, None),
    ("5", "The answer is 5. The 6 others are red.", {}, True),
    ("0.11", "the distance is 0.11 meters.", {}, True),
]

OTHERS = [
    ("[0, 2]", "Answer: [0, 2]", {"answer_type": "list"}, True),
    ("[0, 2]", "0, 2", {"answer_type": "list"}, True),
    ("[0, 2]", "[2, 0]", {"answer_type": "list"}, None),
    ("[0, 2]", "[1, 2]", {"answer_type": "list"}, False),
    ("[0, 2]", "[0, 2, 3]", {"answer_type": "list"}, None),
    ("10:25", "Answer: 10:25", {}, True),
    ("10:25", "It shows 10:30.", {}, False),
    ("2:30", "14:30", {}, None),
    ("2:30", "2:30 pm", {}, None),
    ("yes", "Yes.", {}, True),
    ("yes", "No, it is not.", {}, False),
    ("true", "False", {}, False),
    ("Paris", "Answer: Paris", {}, True),
    ("Paris", "Answer: The Paris.", {}, True),
    ("Paris", "Answer: London", {}, None),
    ("the Eiffel Tower", "eiffel tower", {}, True),
    ("yes", "Yes. There is a dog. It sleeps.", {}, True),
    ("yes", "Yes. It is.\n\nSo the answer is no.", {}, None),
    ("no", "We look.\nNo other thing is visible.", {}, None),
    ("3D", "3", {}, None),
    ("3D", "3D", {}, True),
    ("2nd", "2nd", {}, True),
]


def sample(reference, choices=(), **fields):
    return Sample(id="s", dataset="d", question="q", reference=reference, choices=choices, **fields)


def right(verdict):
    return None if verdict is None else verdict.right


def test_the_table_is_long_enough():
    assert len(OPTIONS) + len(NUMBERS) + len(OTHERS) >= 150


@pytest.mark.parametrize(("choices", "reference", "text", "expected"), OPTIONS)
def test_options(choices, reference, text, expected):
    verdict = compare_response(sample(reference, choices), text)
    assert right(verdict) is expected
    assert verdict is None or (verdict.how == "choice" and verdict.answer in choices)


@pytest.mark.parametrize(("reference", "text", "fields", "expected"), NUMBERS)
def test_numbers(reference, text, fields, expected):
    verdict = compare_response(sample(reference, **fields), text)
    assert right(verdict) is expected
    assert verdict is None or verdict.how == "numeric"


@pytest.mark.parametrize(("reference", "text", "fields", "expected"), OTHERS)
def test_lists_times_words(reference, text, fields, expected):
    assert right(compare_response(sample(reference, **fields), text)) is expected


@pytest.mark.parametrize("reference", [None, "", "  "])
def test_without_a_reference_nothing_is_decided(reference):
    assert compare_response(sample(reference), "Answer: 12") is None


def test_the_marked_answer_and_the_conclusion_must_agree():
    text = "The answer is (B).\n\nLet us check.\n\nTherefore, the length is 4 + 4 = **{}**."
    assert right(compare_response(sample("6", LENGTHS), text.format(8))) is None
    assert right(compare_response(sample("6", LENGTHS), text.format(6))) is True


def test_a_list_of_options_at_the_end_is_no_answer():
    text = "Which is it?\n\nChoose one:\n(A) 5\n(B) 6\n(C) 8\n(D) 10"
    assert compare_response(sample("10", LENGTHS), text) is None


def test_code_at_the_end_is_no_answer():
    assert compare_response(sample("12"), "I ran it.\n```\n35\n```") is None


def test_options_that_are_letters():
    letters = ("C", "A", "B")
    assert compare_response(sample("A", letters), "Answer: A") is None  # label or text?
    assert right(compare_response(sample("A", ("A", "B", "C")), "Answer: A")) is True


def test_a_reference_given_as_a_letter():
    assert right(compare_response(sample("B", COLOURS), "Answer: blue")) is True
    assert compare_response(sample("Z", COLOURS), "Answer: blue") is None
    assert compare_response(sample("purple", COLOURS), "Answer: blue") is None


def test_only_the_end_of_a_long_response_is_read():
    text = "Answer: 13\n" + "words and words. " * 5000 + "\nAnswer: 12"
    assert right(compare_response(sample("12"), text)) is True


@pytest.mark.parametrize(
    "piece",
    [
        "answer is ",
        "Answer: ",
        "(",
        "1,",
        "1/",
        "\\boxed{",
        "$",
        "**",
        "12 or ",
        "\\text{",
        "\n",
        "A) ",
    ],
)
def test_hostile_repetition_ends_soon(piece):
    for reference, choices in (("12", ()), ("blue", COLOURS), ("[1, 2]", ()), ("yes", ())):
        compare_response(sample(reference, choices), piece * 100_000)


@given(st.text(max_size=400))
def test_any_text_is_survived(text):
    for reference, choices in (("12", ()), ("blue", COLOURS), ("[1, 2]", ()), ("yes", ())):
        verdict = compare_response(sample(reference, choices), text)
        assert verdict is None or verdict.right in (True, False)
    assert len(find_statements(text)) <= 2


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_two_integers_agree_if_equal(reference, answer):
    for text in (f"{answer}", f"Answer: {answer}", f"First 3.\nThe answer is {answer:,}."):
        verdict = compare_response(sample(str(reference)), text)
        assert verdict.right == (reference == answer)


@given(
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from(["{}", "({})", "{}.", "{})", "**{}**", "Option {}"]),
)
def test_two_letters_agree_if_equal(reference, answer, form):
    said = form.format("ABCD"[answer])
    verdict = compare_answer(sample(COLOURS[reference], COLOURS), said)
    assert verdict.right == (reference == answer)

import pytest

from atom.probes.answers.reading import normalise, parse_number, read_text, words_to_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42), ("42.0", 42), ("4.50", 4.5), ("4,50", 4.5), ("42,000", 42_000),
        ("1,234,567", 1_234_567), ("1,234.50", 1234.5), ("1.234,50", 1234.5), ("0,123", 0.123),
        ("1 000", 1000), ("1'000", 1000),
    ],
)  # fmt: skip
def test_digits_are_read(text, value):
    assert parse_number(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$4.5", 4.5), ("-5 degrees", -5), ("42k", 42_000), ("42 thousand", 42_000),
        ("1.5 million", 1_500_000), ("2e3", 2000), ("３５", 35), ("forty-two", 42),
        ("one hundred and five", 105), ("twelve hundred", 1200), ("two thousand three", 2003),
        ("four point five", 4.5), ("a dozen", 12), ("half a million", 500_000),
        ("no spheres", 0), ("none", 0),
    ],
)  # fmt: skip
def test_numbers_in_a_sentence(text, value):
    assert [m.value for m in read_text(f"There are {text} here.").numbers] == [value]


@pytest.mark.parametrize(
    "text",
    ["the 2nd bar", "A12", "v1.2.x", "one of them", "the two", "this one", "no longer", "No, wait",
     "no doubt", "1. first\n"],
)  # fmt: skip
def test_what_is_no_number(text):
    text = text if text[0] == "1" else f"It is {text} here"
    assert [m for m in read_text(text).numbers if m.value != 1.2] == []


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("10:35", 635), ("10:35 am", 635), ("half past three", 210), ("quarter to four", 225),
        ("a quarter past 12", 735), ("twenty-five past ten", 625), ("ten to one", 50),
        ("5 minutes to 6", 355), ("3 o'clock", 180), ("seven o’clock", 420), ("noon", 720),
        ("10h35", 635),
    ],
)  # fmt: skip
def test_times(text, minutes):
    reading = read_text(f"The clock says {text}.")
    assert [m.value for m in reading.times] == [minutes]
    assert reading.numbers == ()


def test_a_range_is_its_middle_and_vague():
    for text in ("between 41 and 43", "41-43", "41–43"):
        (mention,) = read_text(f"It is {text} high.").numbers
        assert (mention.value, mention.vague) == (42, True)
    assert [m.value for m in read_text("It goes from 41 to 43.").numbers] == [41, 43]


def test_working_is_denied_but_its_result_is_not():
    reading = read_text("The gap is 49 - 7 = 42.")
    (span,) = reading.denied
    assert reading.text[slice(*span)] == "49 - 7 ="


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("one one", None),
        ("twenty fifteen", None),
        ("ninety-nine", 99),
        ("one point zero five", 1.05),
    ],
)
def test_number_words(words, value):
    assert words_to_number(words) == pytest.approx(value)


def test_clauses_and_their_marks():
    text = (
        "The bar reaches 4.5, and the other 3. No, wait, it is 4; it is approx. 5.\n"
        "- It is 42, no wait, 45\nAnswer: B"
    )
    got = [(text[c.start : c.end], c.corrects, c.final) for c in read_text(text).clauses]
    assert got == [
        ("The bar reaches 4.5", False, False),
        ("and the other 3.", False, False),
        ("No, wait, it is 4", True, False),
        ("it is approx. 5.", False, False),
        ("It is 42", False, False),
        ("no wait, 45", True, False),
        ("Answer: B", False, True),
    ]


@pytest.mark.parametrize(
    "text", ["İSTANBUL ẞ", "**bold** \\boxed{42}", "“x” – y", "1. a\n2) b", "\ud800", "a\u0301\0"]
)
def test_normalising_keeps_every_offset(text):
    assert {len(form) for form in normalise(text)} == {len(text)}


def test_hedges_and_refusals_are_seen():
    assert read_text("It is roughly 42.").hedged(0, 99)
    assert read_text("It is ~42.").hedged(0, 99)
    assert not read_text("It is 42. Perhaps.").hedged(0, 9)
    assert read_text("I can't make out the label.").declines(0, 99)
    assert not read_text("I make out the label.").declines(0, 99)

import pytest

from atom.stages.texts.options import plain, read_option, reference_option

ANIMALS = ("cat", "Water flea", "water", "the dog")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B", 1),
        ("b", 1),
        ("[C]", 2),
        ("{D}", 3),
        ("Choice B", 1),
        ("the correct answer is C", 2),
        ("B: water flea", 1),
        ("B - water flea", 1),
        ("B water flea", 1),
        ("C. water flea", None),
        ("So it is the dog.", 3),
        ("dog", 3),
        ("a water flea", 1),
        ("the water", 2),
        ("water, not a cat", None),
        ("waterfall", None),
        ("cat and dog", None),
        ("A cat", 0),
        ("A water flea", 1),
        ("A bird", None),
        ("It is the flea, which is option (B)", 1),
        ("(A) and (B)", None),
        ("(B) or (C)", None),
        ("F", None),
        ("", None),
    ],
)
def test_read(text, expected):
    assert read_option(text, ANIMALS) == expected


def test_equal_options_cannot_be_told_apart():
    assert read_option("red", ("red", "Red", "blue")) is None
    assert reference_option("red", ("red", "Red", "blue")) is None
    assert read_option("A", ("red", "Red", "blue")) == 0


def test_numbers_as_options():
    options = ("6cm", "7cm", "60 mm")
    assert read_option("7 cm", options) == 1
    assert read_option("7", options) == 1
    assert read_option("6cm", options) == 0
    assert read_option("6 cm", options) is None  # so are 60 mm
    assert read_option("8 cm", options) is None


def test_more_options_than_letters():
    assert read_option("A", tuple(str(n) for n in range(30))) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes", 0),
        ("yes, it is", 0),
        ("So the answer is no, there are none", 1),
        ("No, none", 1),
        ("No other thing", None),
        ("No", 1),
        ("It has no wheels", None),
    ],
)
def test_yes_and_no(text, expected):
    assert read_option(text, ("Yes", "No")) == expected


def test_plain():
    assert plain(" **The Red one.** ") == "red one"
    assert plain("the") == "the"

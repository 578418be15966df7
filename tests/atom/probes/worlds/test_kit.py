"""The canvas: regions, text and refused characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFont

from atom.probes.worlds.kit import DRAWABLE, Canvas, around, grow, polar, thousandths, union


def test_box_grows_to_whole_thousandths() -> None:
    # 100 / 640 = 156.25 thousandths and 101 / 640 = 157.8; 50 / 480 = 104.2 and 60 / 480 = 125.
    assert thousandths((100, 50, 101, 60), (640, 480)).box == (156, 104, 158, 125)


def test_box_is_kept_inside_the_picture() -> None:
    assert thousandths((-5, -5, 700, 500), (640, 480), picture=2).box == (0, 0, 1000, 1000)


@given(
    left=st.floats(-50, 700), top=st.floats(-50, 500), w=st.floats(0.1, 300), h=st.floats(0.1, 300)
)
def test_box_is_never_empty(left: float, top: float, w: float, h: float) -> None:
    box = thousandths((left, top, left + w, top + h), (640, 480)).box
    assert box[0] < box[2]
    assert box[1] < box[3]


@pytest.mark.parametrize("odd", ["½", "→", "é", "€", "×", "\n", "−"])
def test_characters_that_the_font_lacks_are_refused(odd: str) -> None:
    with pytest.raises(ValueError, match="ASCII"):
        Canvas(60, 30).text((5, 20), f"a{odd}", 12)


def test_every_drawable_character_has_a_shape_of_its_own() -> None:
    font = ImageFont.load_default(40)

    def ink(char: str) -> bytes:
        mask = font.getmask(char)
        return bytes(mask) + repr(mask.size).encode()

    missing = ink("\u2192")
    assert all(ink(char) != missing for char in DRAWABLE - {" "})


def test_text_returns_the_box_of_its_ink() -> None:
    canvas = Canvas(120, 40, "#ffffff")
    left, top, right, bottom = canvas.text((10, 30), "Hello 42", 16, "#000000")
    found = canvas.finish().convert("L").point(lambda v: 255 if v < 128 else 0).getbbox()
    assert found is not None
    assert left - 1 <= found[0]
    assert top - 1 <= found[1]
    assert found[2] <= right + 1
    assert found[3] <= bottom + 1


def test_digits_stand_in_equal_cells() -> None:
    canvas = Canvas(100, 60)
    narrow = canvas.digits(90, 20, "111", 16)
    wide = canvas.digits(90, 50, "888", 16)
    assert abs(narrow[0] - wide[0]) < 4
    assert narrow[2] <= 90


def test_picture_is_the_mean_of_three_by_three_blocks() -> None:
    canvas = Canvas(4, 4, "#000000")
    canvas.rect((0, 0, 1 / 3, 1), "#ffffff")
    image = canvas.finish()
    assert image.size == (4, 4)
    assert image.getpixel((0, 0)) == (85, 85, 85)
    assert image.getpixel((1, 0)) == (0, 0, 0)


def test_empty_shapes_draw_nothing() -> None:
    canvas = Canvas(9, 9, "#ffffff")
    canvas.rect((4, 4, 4, 8), "#000000")
    canvas.line((2, 2), (2, 2), 3, "#000000")
    assert canvas.finish().getcolors() == [(81, (255, 255, 255))]


def test_turned_picture_keeps_its_size() -> None:
    canvas = Canvas(30, 20, "#ffffff")
    assert isinstance(canvas.turned(3.0, "#ffffff"), Image.Image)
    assert canvas.turned(3.0, "#ffffff").size == (30, 20)


def test_rectangles() -> None:
    assert around([(1, 5), (3, 2)], 1) == (0, 1, 4, 6)
    assert union([(0, 0, 1, 1), (2, -1, 3, 0)]) == (0, -1, 3, 1)
    assert grow((1, 1, 2, 2), 1) == (0, 0, 3, 3)
    x, y = polar((10, 10), 5, 90)
    assert (round(x, 9), round(y, 9)) == (10, 5)

"""Truths worked out a second time, from other parts of the program or from the pixels."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from atom.probes.program import Program
from atom.probes.worlds import make_probe
from atom.probes.worlds.chart_pictures import COLOURS as CHART_COLOURS
from atom.probes.worlds.places import near_places, overlap, place_of
from atom.probes.worlds.receipts import _turned, money
from atom.probes.worlds.solids import COLOURS, SIZE, Solid, render

INDICES = range(4)


def values(program: Program) -> dict[str, float]:
    return {s.id: s.value for s in program.steps if s.value is not None}


def pixels(png: bytes) -> NDArray[np.int16]:
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB")).astype(np.int16)


def inside(array: NDArray[np.int16], box: tuple[int, int, int, int]) -> NDArray[np.int16]:
    height, width, _ = array.shape
    left, top, right, bottom = box
    return array[
        top * height // 1000 : math.ceil(bottom * height / 1000),
        left * width // 1000 : math.ceil(right * width / 1000),
    ]


@pytest.mark.parametrize("index", INDICES)
def test_chart_difference_is_that_of_its_values(index: int) -> None:
    program = make_probe("charts", 8, index, template="difference").program
    read = values(program)
    assert read["difference"] == abs(read["first"] - read["second"]) > 0
    a, b = program.step("larger").options
    assert program.step("larger").truth == (a if read["first"] > read["second"] else b)


@pytest.mark.parametrize("index", INDICES)
def test_bars_are_as_tall_as_their_values_and_coloured_as_in_the_legend(index: int) -> None:
    probe = make_probe("charts", 8, index, template="difference")
    program, array = probe.program, pixels(probe.pictures[0])
    wanted = tuple(bytes.fromhex(CHART_COLOURS[program.step("legend").truth][1:]))
    heights = []
    for name in ("first", "second"):
        bar = inside(array, program.step(name).regions[0].box)
        column = bar[:, bar.shape[1] // 2]
        fill = column[-6]
        heights.append(int((np.abs(column - fill).sum(axis=1) < 40).sum()))
        if name == "first":
            assert np.abs(fill - np.array(wanted)).max() <= 6
    read = values(program)
    ratio = read["first"] / read["second"]
    assert heights[0] / heights[1] == pytest.approx(ratio, rel=0.06)


@pytest.mark.parametrize("index", INDICES)
def test_legend_row_shows_its_colour(index: int) -> None:
    probe = make_probe("charts", 8, index, template="peak")
    step = probe.program.step("legend")
    wanted = np.array(tuple(bytes.fromhex(CHART_COLOURS[step.truth][1:])))
    row = inside(pixels(probe.pictures[0]), step.regions[0].box)
    assert np.abs(row - wanted).max(axis=2).min() <= 6


@pytest.mark.parametrize("index", INDICES)
def test_counted_months_have_a_region_each(index: int) -> None:
    step = make_probe("charts", 8, index, template="peak").program.step("above")
    assert len(step.regions) == step.value


@pytest.mark.parametrize("index", INDICES)
def test_receipt_line_is_price_times_quantity(index: int) -> None:
    program = make_probe("tables", 8, index, template="sum_check").program
    read = values(program)
    assert read["product"] == pytest.approx(read["price"] * read["quantity"])
    slip = program.knobs["total_off_by_cents"]
    assert program.answer == ("correct" if slip == 0 else "wrong")


@pytest.mark.parametrize("index", INDICES)
def test_conversion_multiplies_by_its_factor(index: int) -> None:
    program = make_probe("tables", 8, index, template="convert").program
    read = values(program)
    assert read["converted"] == read["cell"] * float(program.knobs["factor"])


@pytest.mark.parametrize("index", INDICES)
def test_blank_cell_is_blank_and_others_are_not(index: int) -> None:
    probe = make_probe("tables", 8, index, template="gap")
    array = pixels(probe.pictures[0])
    blank = inside(array, probe.program.step("missing").regions[0].box)
    printed = inside(array, probe.program.step("first").regions[0].box)
    assert np.ptp(blank) < 30
    assert np.ptp(printed) > 120
    read = values(probe.program)
    assert read["difference"] == abs(read["first"] - read["second"])


def test_money_is_whole_cents() -> None:
    assert [money(c) for c in (5, 85, 420, 1205)] == ["0.05", "0.85", "4.20", "12.05"]


def test_turning_a_rectangle_agrees_with_turning_pixels() -> None:
    image = Image.new("L", (100, 80), 0)
    image.paste(255, (60, 10, 90, 20))
    found = image.rotate(4.0, resample=Image.Resampling.BICUBIC).point(lambda v: 255 * (v > 127))
    expected = _turned((60, 10, 90, 20), 4.0, (100, 80))
    assert found.getbbox() == pytest.approx(expected, abs=1.5)


@pytest.mark.parametrize("index", INDICES)
def test_gauge_margin_is_the_distance_to_the_zone(index: int) -> None:
    program = make_probe("gauges", 8, index, template="margin").program
    read = values(program)
    assert read["margin"] == abs(read["reading"] - read["zone"])
    assert float(program.knobs["major"]) == read["division"] * float(program.knobs["sub_ticks"])


@pytest.mark.parametrize("index", INDICES)
def test_clock_time_is_made_of_both_hands(index: int) -> None:
    program = make_probe("gauges", 8, index, template="later").program
    read = values(program)
    assert read["time"] == read["hour"] % 12 * 60 + read["minute"]
    wait = float(program.knobs["minutes_added"])
    assert read["later"] == (read["time"] + wait) % 720
    hour, minute = program.answer.split(":")
    assert int(hour) % 12 * 60 + int(minute) == read["later"]


@pytest.mark.parametrize("index", INDICES)
def test_roman_clock_is_in_the_afternoon(index: int) -> None:
    read = values(make_probe("gauges", 8, index, template="numerals").program)
    assert read["day_time"] == read["time"] + 720
    assert read["numeral"] % 12 * 5 == read["minute"]


@pytest.mark.parametrize("index", range(8))
def test_angles_follow_from_the_theorem(index: int) -> None:
    program = make_probe("geometry", 8, index, template="angle").program
    read = values(program)
    both = read["given"] + read["marked"]
    if program.step("theorem").truth == "exterior angle theorem":
        assert read["missing"] == both
    else:
        assert read["missing"] == 180 - both
    assert 15 < read["missing"] < 165


@pytest.mark.parametrize("index", range(8))
def test_areas_follow_from_the_formula(index: int) -> None:
    program = make_probe("geometry", 8, index, template="area").program
    read = values(program)
    half = program.step("formula").truth.startswith("half")
    assert read["area"] == read["base"] * read["height"] / (2 if half else 1)


@pytest.mark.parametrize("index", range(2))
def test_scene_counts_agree_with_their_regions(index: int) -> None:
    program = make_probe("scenes", 8, index, template="left_of").program
    for name in ("all", "left", "shapes"):
        assert len(program.step(name).regions) == program.step(name).value
    edge = program.step("place").regions[0].box
    middle = (edge[0] + edge[2]) / 2
    lefts = [r.box for r in program.step("left").regions]
    assert all((box[0] + box[2]) / 2 < middle + 12 for box in lefts)


@pytest.mark.parametrize("index", range(2))
def test_nearest_object_has_its_colour_and_the_absent_one_is_nowhere(index: int) -> None:
    probe = make_probe("scenes", 8, index, template="nearest")
    program, array = probe.program, pixels(probe.pictures[0])
    region = program.step("colour").regions[0].box
    assert dominant_colour(inside(array, region)) == program.step("colour").truth
    shown = {dominant_colour(inside(array, r.box)) for r in program.step("absent").regions}
    assert program.step("absent").truth not in shown


def dominant_colour(patch: NDArray[np.int16]) -> str:
    """Return the colour whose hue most of the saturated pixels have."""
    flat = patch.reshape(-1, 3).astype(float)
    flat = flat[np.ptp(flat, axis=1) > 60]
    flat = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    names = list(COLOURS)
    hues = np.array([COLOURS[name] for name in names], dtype=float)
    hues = hues / np.linalg.norm(hues, axis=1, keepdims=True)
    votes = np.bincount((flat @ hues.T).argmax(axis=1), minlength=len(names))
    return names[int(votes.argmax())]


@pytest.mark.parametrize("index", range(2))
def test_pictures_of_a_pair_differ_in_the_regions_of_the_change_alone(index: int) -> None:
    probe = make_probe("changes", 8, index, template="what_changed")
    first, second = (pixels(png) for png in probe.pictures)
    second = np.floor(second / float(probe.program.knobs["light"])).astype(np.int16)
    gap = np.abs(first - second).max(axis=2) > 40
    assert gap.any()
    height, width = gap.shape
    for region in probe.program.step("object").regions:
        left, top, right, bottom = region.box
        rows = slice(max(0, top * height // 1000 - 30), bottom * height // 1000 + 30)
        gap[rows, max(0, left * width // 1000 - 40) : right * width // 1000 + 60] = False
    assert not gap.any()


@pytest.mark.parametrize("index", range(2))
def test_number_of_changes_agrees_with_the_list(index: int) -> None:
    program = make_probe("changes", 8, index, template="how_many").program
    assert len(program.step("list").truth.split(" and ")) == program.step("count").value
    assert program.step("unchanged").truth in program.question
    pair = [region.picture for region in program.step("unchanged").regions]
    assert pair == [1, 2]


def solid(**changes: object) -> Solid:
    base: dict[str, object] = {
        "shape": "sphere", "colour": "red", "x": 200.0, "y": 300.0, "radius": 40.0
    }  # fmt: skip
    return Solid(**{**base, **changes})  # type: ignore[arg-type]


def test_nearer_solid_hides_a_farther_one() -> None:
    far, near = solid(), solid(x=230.0, y=330.0, colour="blue")
    scene = render([near, far])
    assert scene.visible[0] == 1.0
    assert 0.2 < scene.visible[1] < 0.9


@pytest.mark.parametrize("shape", ["sphere", "cube", "cylinder", "cone"])
def test_guessed_box_is_close_to_the_drawn_one(shape: str) -> None:
    one = solid(shape=shape, turn=3)
    scene = render([one])
    assert scene.boxes[0] == pytest.approx(one.rect, abs=6)
    assert scene.image.size == SIZE


def test_places_of_the_picture() -> None:
    assert place_of(solid(x=100.0, y=200.0)) == "upper left"
    assert place_of(solid(x=600.0, y=420.0)) == "lower right"
    assert near_places("upper left") == ["lower left", "upper middle"]
    assert near_places("lower middle") == ["upper middle", "lower left", "lower right"]


def test_overlap_is_a_share_of_the_first_rectangle() -> None:
    assert overlap((0, 0, 10, 10), (5, 0, 30, 10)) == 0.5
    assert overlap((0, 0, 10, 10), (10, 0, 30, 10)) == 0.0

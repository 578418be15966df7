"""How a model writes boxes, found out from objects at known places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.stages.box_calibration import (
    CONVENTIONS,
    MarkedObject,
    calibrate,
    overlap,
    stated_boxes,
)
from atom.stages.boxes import SentPicture, from_thousandths

OBJECTS = (
    MarkedObject(colour="red", box=(50, 660, 175, 900)),
    MarkedObject(colour="blue", box=(800, 80, 950, 280)),
    MarkedObject(colour="green", box=(240, 740, 360, 940)),
    MarkedObject(colour="yellow", box=(610, 120, 750, 320)),
    MarkedObject(colour="purple", box=(425, 780, 560, 960)),
)
SENT = SentPicture(width=800, height=500, content=(0, 0, 800, 500))


def written(convention, sent=SENT, by=0.0):
    pairs = []
    for one in OBJECTS:
        sides = from_thousandths([round(side) for side in one.box], convention, sent)
        assert sides is not None
        unit = {"xyxy_unit": 0.001, "xyxy_pixels": 0.6}.get(convention, 1.0)
        pairs.append(([side + by * unit for side in sides], one.box))
    return pairs


@pytest.mark.parametrize("convention", CONVENTIONS)
@given(by=st.floats(-15, 15))
def test_each_convention_is_found_though_the_boxes_are_a_little_off(convention, by):
    assert calibrate(written(convention, by=by), SENT).convention == convention


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_picture_that_was_padded(convention):
    padded = SentPicture(width=900, height=700, content=(50, 100, 850, 600))
    found = calibrate(written(convention, padded), padded)
    assert found.convention == convention
    assert found.iou[convention] > 0.95


def test_boxes_that_fit_nothing():
    anywhere = [([10.0, 10.0, 60.0, 60.0], one.box) for one in OBJECTS]
    assert calibrate(anywhere, SENT).convention == "none"


def test_two_conventions_that_fit_alike_are_none():
    # A square around the diagonal reads the same with x and y exchanged.
    stated = [([400.0, 400.0, 600.0, 600.0], (400.0, 400.0, 600.0, 600.0))] * 3
    found = calibrate(stated, SENT)
    assert found.iou["xyxy_1000"] == found.iou["yxyx_1000"] == 1.0
    assert found.convention == "none"


def test_a_few_boxes_decide_nothing():
    assert calibrate(written("xyxy_1000")[:2], SENT).convention is None


def test_overlap_by_hand():
    # Two squares of 10 x 10 that share 5 x 5: 25 / (100 + 100 - 25).
    assert overlap((0, 0, 10, 10), (5, 5, 15, 15)) == pytest.approx(25 / 175)
    assert overlap((0, 0, 10, 10), (10, 0, 20, 10)) == 0.0
    assert overlap((0, 0, 0, 0), (0, 0, 0, 0)) == 0.0


def test_a_step_is_about_the_object_whose_colour_it_names():
    def step(text, *boxes):
        return {"text": text, "regions": [{"picture": 1, "box": box} for box in boxes]}

    data = {
        "steps": [
            step("The first square is Blue.", [1, 2, 3, 4], [9, 9, 9, 9]),
            step("The next is red.", [5, 6, 7, 8.5]),
            step("The blue one again.", [0, 0, 0, 0]),
            step("Green, without a box."),
            step("Yellow, an odd one.", [1, 2, "x", 4]),
            step("None of these.", [1, 1, 1, 1]),
        ]
    }
    assert stated_boxes(data, OBJECTS) == [
        ([1.0, 2.0, 3.0, 4.0], OBJECTS[1].box),
        ([5.0, 6.0, 7.0, 8.5], OBJECTS[0].box),
    ]
    assert stated_boxes({"steps": None}, OBJECTS) == []

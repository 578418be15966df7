"""Boxes: read by their convention, kept in thousandths of the original, or dropped with a note."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.stages.boxes import (
    BoxSpace,
    SentPicture,
    as_thousandths,
    from_thousandths,
    read_regions,
    write_regions,
)

WIDE = SentPicture(width=640, height=400, content=(0, 0, 640, 400))
PADDED = SentPicture(width=1000, height=100, content=(0, 40, 1000, 60))
"""A picture of 1000 x 20 pixels, laid in the middle of one that is 100 high."""


def one(box, convention=None, sent=(), n_pictures=2, picture=1):
    space = BoxSpace(convention=convention, sent=tuple(sent))
    return read_regions(
        [{"picture": picture, "box": box}], n_pictures, where="criterion 1", space=space
    )


class TestConventions:
    @pytest.mark.parametrize(
        ("convention", "box"),
        [
            # The same place on 640 x 400 pixels: x 160 to 320, y 40 to 100.
            (None, [250, 100, 500, 250]),
            ("xyxy_1000", [250, 100, 500, 250]),
            ("yxyx_1000", [100, 250, 250, 500]),
            ("xyxy_pixels", [160, 40, 320, 100]),
            ("xyxy_unit", [0.25, 0.1, 0.5, 0.25]),
        ],
    )
    def test_each_is_read_to_the_same_place(self, convention, box):
        found = one(box, convention, [WIDE])
        assert [region.box for region in found.regions] == [(250, 100, 500, 250)]
        assert convention is None or found.notes == ()

    @pytest.mark.parametrize(
        ("convention", "box", "words"),
        [
            ("xyxy_1000", [120, 80, 1400, 900], "isn't in thousandths"),
            ("xyxy_1000", [0.1, 0.2, 0.5, 0.9], "isn't in thousandths"),
            ("yxyx_1000", [0.1, 0.2, 0.5, 0.9], "y first"),
            ("yxyx_1000", [100, 250, 1250, 500], "y first"),
            ("xyxy_pixels", [160, 40, 700, 100], "in pixels"),
            ("xyxy_pixels", [160, 40, 320, 410], "in pixels"),
            ("xyxy_pixels", [0.2, 0.2, 0.4, 0.5], "in pixels"),
            ("xyxy_unit", [25, 10, 50, 25], "in fractions"),
            ("xyxy_unit", [-0.1, 0, 0.5, 0.5], "in fractions"),
            ("none", [250, 100, 500, 250], "fit no convention"),
        ],
    )
    def test_a_box_outside_its_range_is_dropped(self, convention, box, words):
        found = one(box, convention, [WIDE])
        assert found.regions == ()
        assert words in found.notes[0]
        assert "dropped" in found.notes[0]

    def test_pixels_need_the_size_as_sent(self):
        assert "size as sent isn't known" in one([1, 2, 30, 40], "xyxy_pixels").notes[0]
        both = one([160, 40, 320, 100], "xyxy_pixels", [PADDED, WIDE], picture=2)
        assert both.regions[0].box == (250, 100, 500, 250)

    @pytest.mark.parametrize(
        ("convention", "box"),
        [
            # Half of the original's width and height: y 45 to 55 of 100 as it was sent.
            ("xyxy_pixels", [250, 45, 750, 55]),
            ("xyxy_1000", [250, 450, 750, 550]),
            ("yxyx_1000", [450, 250, 550, 750]),
            ("xyxy_unit", [0.25, 0.45, 0.75, 0.55]),
        ],
    )
    def test_padding_is_taken_off(self, convention, box):
        assert one(box, convention, [PADDED]).regions[0].box == (250, 250, 750, 750)

    def test_what_lies_on_the_padding_alone_is_dropped(self):
        assert "no area" in one([100, 100, 300, 300], "xyxy_1000", [PADDED]).notes[0]

    def test_a_box_that_sticks_out_into_the_padding_is_clipped(self):
        found = one([250, 350, 750, 500], "xyxy_1000", [PADDED])
        assert found.regions[0].box == (250, 0, 750, 500)
        assert "clipped" in found.notes[0]

    @given(
        st.sampled_from(["xyxy_1000", "yxyx_1000", "xyxy_pixels", "xyxy_unit"]),
        st.integers(2, 4000), st.integers(2, 4000),
        st.tuples(*[st.integers(0, 1000)] * 4),
    )  # fmt: skip
    def test_what_is_written_is_read_back(self, convention, width, height, box):
        left, right = sorted((box[0], box[2]))
        top, bottom = sorted((box[1], box[3]))
        picture = SentPicture(width=width, height=height, content=(0, 0, width, height))
        written = from_thousandths((left, top, right, bottom), convention, picture)
        assert written is not None
        read = as_thousandths(written, convention, picture)
        if read is None:
            assert max(written) <= 1
            return
        # Half a pixel of rounding, or half a thousandth.
        slack = 0.51 if convention != "xyxy_pixels" else 501 / min(width, height)
        for stated, found in zip((left, top, right, bottom), read, strict=True):
            assert abs(stated - found) <= slack

    def test_a_judge_is_shown_boxes_as_its_own(self):
        regions = one([250, 100, 500, 250]).regions
        for convention, box in (
            ("yxyx_1000", [100, 250, 250, 500]),
            ("xyxy_pixels", [160, 40, 320, 100]),
            ("xyxy_unit", [0.25, 0.1, 0.5, 0.25]),
            (None, [250, 100, 500, 250]),
        ):
            space = BoxSpace(convention=convention, sent=(WIDE,))
            assert write_regions(regions, space) == [{"picture": 1, "box": box}]
        assert write_regions(regions, BoxSpace(convention="none")) == []


class TestAsAsked:
    @pytest.mark.parametrize(
        ("box", "expected", "words"),
        [
            ([10, 20, 30, 40], (10, 20, 30, 40), None),
            ([10.4, 20.0, "30", 40], (10, 20, 30, 40), None),
            ([-5, 0, 1010, 900], (0, 0, 1000, 900), "clipped"),
            ([0.1, 0.2, 0.5, 1], (100, 200, 500, 1000), "fractions"),
            # 1.2 to 1.4 thousandths is less than one, and something all the same.
            ([1.2, 20, 1.4, 40], (1, 20, 2, 40), None),
        ],
    )
    def test_kept(self, box, expected, words):
        found = one(box, picture=2)
        assert [(r.picture, r.box) for r in found.regions] == [(2, expected)]
        assert (words in found.notes[0]) if words else not found.notes

    @pytest.mark.parametrize(
        "region",
        [
            {"picture": 3, "box": [1, 2, 3, 4]},
            {"picture": 0, "box": [1, 2, 3, 4]},
            {"picture": "1", "box": [1, 2, 3, 4]},
            {"picture": True, "box": [1, 2, 3, 4]},
            {"picture": 1.5, "box": [1, 2, 3, 4]},
            {"picture": math.nan, "box": [1, 2, 3, 4]},
            {"picture": math.inf, "box": [1, 2, 3, 4]},
            {"box": [1, 2, 3, 4]},
            {"picture": 1, "box": [5, 5, 5, 9]},
            {"picture": 1, "box": [1, 2, 3]},
            {"picture": 1, "box": [0, 0, 1, 1]},
            # Over .95 of the picture: 980 * 980 = 960,400 of a million.
            {"picture": 1, "box": [10, 10, 990, 990]},
            {"picture": 1, "box": [120, 80, 1400, 900]},
            # Corners out of order: as well a corner with a width and a height.
            {"picture": 1, "box": [600, 500, 100, 80]},
            {"picture": 1, "box": [1, 2, 3, math.nan]},
            {"picture": 1, "box": [1, 2, 3, None]},
            {"picture": 1, "box": "1,2,3,4"},
            {"picture": 1},
            "the left bar",
            None,
        ],
    )
    def test_dropped_with_a_note(self, region):
        found = read_regions([region], 2, where="criterion 1")
        assert found.regions == ()
        assert found.notes[0].startswith("criterion 1: ")
        assert "dropped" in found.notes[0]

    def test_the_only_picture_needs_no_number(self):
        found = read_regions([{"box": [1, 2, 3, 4]}], 1, where="criterion 1")
        assert found.regions[0].picture == 1

    def test_repeated_ones_count_once_and_many_are_cut(self):
        boxes = [{"picture": 1, "box": [i, 0, i + 1, 5]} for i in range(30)]
        found = read_regions(boxes + boxes, 1, where="step 1")
        assert len(found.regions) == 24
        assert "30 regions" in found.notes[0]

    @pytest.mark.parametrize("value", [None, []])
    def test_none_is_none(self, value):
        assert read_regions(value, 1, where="x").notes == ()

    @pytest.mark.parametrize("value", ["all", 4, {"picture": 1}])
    def test_no_list(self, value):
        assert "dropped" in read_regions(value, 1, where="x").notes[0]


@given(
    st.lists(st.one_of(st.floats(), st.integers(-2000, 3000)), min_size=4, max_size=4),
    st.integers(-1, 4),
    st.sampled_from([None, "xyxy_1000", "yxyx_1000", "xyxy_pixels", "xyxy_unit", "none"]),
)
def test_what_is_kept_can_be_drawn(box, picture, convention):
    for region in one(box, convention, [WIDE, PADDED], picture=picture).regions:
        left, top, right, bottom = region.box
        assert 0 <= left < right <= 1000
        assert 0 <= top < bottom <= 1000
        assert region.picture in (1, 2)

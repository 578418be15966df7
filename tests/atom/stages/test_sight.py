"""How a judge sees pictures: scaled and padded, and its boxes back on the original."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from atom.judge import PictureCache, PicturePart, Reply
from atom.records import Call, Endpoint, PictureLimit, PictureSlot, Sample
from atom.stages.boxes import read_regions
from atom.stages.sight import Material, SightContext

SAMPLE = Sample(id="s", dataset="d", question="What?", pictures=(PictureSlot(name="a.png"),))


def part(width: int, height: int) -> PicturePart:
    out = io.BytesIO()
    Image.new("RGB", (width, height), (10, 120, 200)).save(out, "PNG")
    return PicturePart.from_bytes(out.getvalue())


def sight(boxes, **limit) -> SightContext:
    endpoint = Endpoint(
        name="x", base_url="http://127.0.0.1:9/v1", model="m", boxes=boxes,
        pictures=PictureLimit(**limit),
    )  # fmt: skip
    return SightContext(endpoint=endpoint, cache=PictureCache())


def right_half(sent, boxes):
    """Write the original's right half as a model does that is shown the sent picture."""
    left, top, right, bottom = sent.content
    middle = (left + right) / 2
    if boxes == "xyxy_pixels":
        return [middle, top, right, bottom]
    x, y = 1000 / sent.width, 1000 / sent.height
    box = [middle * x, top * y, right * x, bottom * y]
    return [box[1], box[0], box[3], box[2]] if boxes == "yxyx_1000" else box


@pytest.mark.parametrize("boxes", [None, "xyxy_1000", "yxyx_1000", "xyxy_pixels"])
@pytest.mark.parametrize(
    ("size", "limit"),
    [
        ((400, 300), {}),
        ((400, 300), {"max_side": 200}),
        ((400, 10), {"min_side": 64}),
        ((10, 400), {"min_side": 64, "max_side": 300}),
    ],
)
async def test_boxes_come_back_onto_the_original(boxes, size, limit):
    looked = sight(boxes, **limit)
    pictures = [part(*size)]
    space = await looked.space(pictures)
    assert looked.space_now(pictures) == space
    if not space.sent:
        assert boxes != "xyxy_pixels"
        assert limit.get("min_side", 1) == 1
        return
    (sent,) = space.sent
    assert min(sent.width, sent.height) >= limit.get("min_side", 1)
    found = read_regions([{"box": right_half(sent, boxes)}], 1, where="step 1", space=space)
    (region,) = found.regions
    assert max(abs(a - b) for a, b in zip(region.box, (500, 0, 1000, 1000), strict=True)) <= 10


async def test_sizes_are_looked_at_only_where_they_count():
    def unreadable() -> bytes:
        raise AssertionError("read for nothing")

    lost = [PicturePart(sha256="0" * 64, load=unreadable)]
    assert (await sight("yxyx_1000").space(lost)).sent == ()


LINE = 'pictures thinner than 64 pixels were padded: the server said "too thin"'


def reply(*adapted: str) -> Reply:
    call = Call(
        id="c", request_hash="h", task="replay", endpoint="x", model="m", prompt="replay/1",
        reply="{}", adapted=adapted,
    )  # fmt: skip
    return Reply(state="ok", text="{}", call=call)


async def test_padding_that_was_learned_on_the_way_counts():
    thin = Material(sample=SAMPLE, pictures=(part(400, 10),))
    material = await sight("xyxy_1000").seen(thin)
    assert material.space.sent == ()
    assert await material.shown(reply("seed was left out")) == material.space
    space = await material.shown(reply("seed was left out", LINE))
    (sent,) = space.sent
    assert (sent.width, sent.height, sent.content) == (400, 64, (0, 27, 400, 37))
    box = right_half(sent, "xyxy_1000")
    (region,) = read_regions([{"box": box}], 1, where="step 1", space=space).regions
    assert region.box == (500, 0, 1000, 1000)


async def test_boxes_that_were_copied_from_before_the_padding_are_dropped():
    thin = await sight("xyxy_1000").seen(Material(sample=SAMPLE, pictures=(part(400, 10),)))
    lost = await thin.shown(reply(LINE), copied=True)
    found = read_regions([{"box": [0, 0, 500, 500]}], 1, where="criterion 1", space=lost)
    assert found.regions == ()
    assert "pictures.min_side" in found.notes[0]
    thick = await sight("xyxy_1000").seen(Material(sample=SAMPLE, pictures=(part(400, 300),)))
    kept = await thick.shown(reply(LINE), copied=True)
    assert read_regions([{"box": [0, 0, 500, 500]}], 1, where="x", space=kept).regions


SMALLER = 'pictures were scaled down to 200 pixels: the server said "too large"'


async def test_pixels_are_of_the_picture_as_it_was_sent_in_the_end():
    material = await sight("xyxy_pixels").seen(Material(sample=SAMPLE, pictures=(part(400, 300),)))
    space = await material.shown(reply(SMALLER))
    # 400 x 300 was sent as 200 x 150.
    (region,) = read_regions([{"box": [100, 0, 200, 75]}], 1, where="x", space=space).regions
    assert region.box == (500, 0, 1000, 500)
    lost = await material.shown(reply(SMALLER), copied=True)
    assert read_regions([{"box": [100, 0, 200, 75]}], 1, where="x", space=lost).regions == ()
    same = await sight("xyxy_1000").seen(Material(sample=SAMPLE, pictures=(part(400, 300),)))
    kept = await same.shown(reply(SMALLER), copied=True)
    assert read_regions([{"box": [0, 0, 500, 500]}], 1, where="x", space=kept).regions

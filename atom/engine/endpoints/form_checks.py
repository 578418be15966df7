"""Asks an endpoint what a run asks: the five forms of the pipeline, about a drawn picture.

The forms are asked with the real prompts and schemas and with the study's default sampling, filled
in from the endpoint, so that what a run would be refused is refused here. The replay's boxes show
how the model writes them.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageDraw

from atom.errors import AtomError
from atom.judge import JudgeClient, PicturePart, Reply, Request
from atom.judge.pictures.prepare import prepare
from atom.judge.servers.checkup import CheckName, EndpointCheck, Findings
from atom.records import (
    BoxConvention,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Picture,
    PictureSlot,
    Region,
    Replay,
    ReplayStep,
    Response,
    Sample,
    Sampling,
    Study,
    blob_hash,
)
from atom.stages import answer, criteria, mapping, replay, scoring
from atom.stages.box_calibration import BoxCalibration, MarkedObject, calibrate, stated_boxes
from atom.stages.boxes import SentPicture
from taxonomy import load_anchors

SIZE: Final = (800, 500)
_PLACES: Final[Mapping[str, tuple[int, int, int, int]]] = {
    "red": (40, 330, 140, 450),
    "blue": (640, 40, 760, 140),
    "green": (190, 370, 290, 470),
    "yellow": (490, 60, 600, 160),
    "purple": (340, 390, 450, 480),
}
"""Off the diagonal: with x and y exchanged, none overlaps its own place."""
_PAINT: Final = {
    "red": (214, 39, 40),
    "blue": (31, 90, 200),
    "green": (34, 139, 34),
    "yellow": (240, 200, 20),
    "purple": (128, 0, 160),
}
_QUESTION: Final = (
    "Which colours do the five squares have? Give one step for each square, with its colour and "
    "the box around just that square."
)
_IN_WORDS: Final[Mapping[BoxConvention, str]] = {
    "xyxy_1000": "corners in thousandths",
    "yxyx_1000": "corners in thousandths, y first",
    "xyxy_pixels": "corners in pixels of the picture as sent",
    "xyxy_unit": "corners as fractions",
    "none": "none that is known: its boxes will be dropped",
}


def marked_objects() -> tuple[MarkedObject, ...]:
    """Return the squares of the drawn picture, their places in thousandths."""
    width, height = SIZE
    return tuple(
        MarkedObject(
            colour=colour,
            box=(
                1000 * left / width,
                1000 * top / height,
                1000 * right / width,
                1000 * bottom / height,
            ),
        )
        for colour, (left, top, right, bottom) in _PLACES.items()
    )


def marked_picture() -> bytes:
    """Draw the picture: five coloured squares on white, as a PNG."""
    image = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(image)
    for colour, (left, top, right, bottom) in _PLACES.items():
        draw.rectangle((left, top, right - 1, bottom - 1), fill=_PAINT[colour])
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@dataclass(frozen=True, kw_only=True)
class _Material:
    """What the forms are asked about, as the stages before would have left it."""

    picture: PicturePart
    sample: Sample
    replay: Replay
    criteria: tuple[Criterion, ...]
    criteria_set: CriteriaSet
    response: Response


async def check_forms(client: JudgeClient) -> Findings:
    """Ask an endpoint the forms that its roles will be asked.

    Args:
        client: the endpoint's client.

    Returns:
        A check for each form, and for how the model writes boxes.
    """
    roles = client.endpoint.roles
    material = _material()
    requests = _requests(material)
    if "judge" not in roles:
        requests = {"answer": requests["answer"]} if "candidate" in roles else {}
    asked = await asyncio.gather(*(_ask(client, name, one) for name, one in requests.items()))
    checks = [check for check, _ in asked]
    replies = dict(zip(requests, (reply for _, reply in asked), strict=True))
    found: BoxCalibration | None = None
    solved = replies.get("replay")
    if solved is not None and solved.data is not None:
        found = _calibrate(client, solved.data, material.picture)
        checks.append(_box_check(found))
    return Findings(checks=tuple(checks), boxes=None if found is None else found.convention)


async def _ask(
    client: JudgeClient, name: CheckName, request: Request
) -> tuple[EndpointCheck, Reply | None]:
    try:
        reply = await client.ask(request)
    except AtomError as error:
        return EndpointCheck(name=name, state="failed", detail=error.message), None
    seconds = round(reply.call.seconds, 3)
    if not reply.ok:
        words = reply.reason
        return EndpointCheck(name=name, state="failed", detail=words, seconds=seconds), reply
    how = f"As {reply.form}" if request.schema is not None else "Free text"
    if reply.call.repaired:
        how += ", after a repair turn"
    if reply.call.attempts > 1:
        how += f", {reply.call.attempts:,} requests"
    return EndpointCheck(name=name, state="passed", detail=f"{how}.", seconds=seconds), reply


def _requests(material: _Material) -> dict[CheckName, Request]:
    """Build the five requests as a run builds them, none more than once."""
    sample, pictures = material.sample, [material.picture]
    judge, candidate = (
        Study.model_fields[name].get_default() for name in ("judge_sampling", "answer_sampling")
    )
    assert isinstance(judge, Sampling)
    assert isinstance(candidate, Sampling)
    return {
        "answer": answer.build(sample, pictures, candidate),
        "replay": replay.build(sample, pictures, judge),
        "criteria": criteria.build(sample, pictures, material.replay, judge),
        "mapping": mapping.build(sample, pictures, material.criteria, load_anchors(), judge),
        "scoring": scoring.build(
            sample, pictures, material.criteria_set, material.criteria, material.response, judge
        ),
    }


def _material() -> _Material:
    data = marked_picture()
    picture = Picture(
        id=blob_hash(data), media_type="image/png", width=SIZE[0], height=SIZE[1],
        n_bytes=len(data),
    )  # fmt: skip
    sample = Sample(
        id=Sample.make_id("endpoint test", "squares"),
        dataset="endpoint test",
        question=_QUESTION,
        reference=", ".join(_PLACES),
        pictures=(PictureSlot(picture_id=picture.id),),
        synthetic=True,
    )
    none = Sampling()
    steps = tuple(
        ReplayStep(text=f"A {one.colour} square.", regions=(Region(box=_whole(one)),))
        for one in marked_objects()
    )
    solved = Replay(
        id=Replay.make_id(sample.id, "test", replay.PROMPT, none), sample_id=sample.id,
        judge_id="test", prompt=replay.PROMPT, state="scored", steps=steps,
        final_answer=", ".join(_PLACES),
    )  # fmt: skip
    made = tuple(
        Criterion(
            id=Criterion.make_id(sample.id, question, truth),
            sample_id=sample.id,
            question=question,
            ground_truth=truth,
        )
        for question, truth in (
            ("Which colour has the square in the upper right corner?", "blue"),
            ("How many squares are there?", "five"),
        )
    )
    cut = CriteriaSet(
        id=CriteriaSet.make_id(sample.id, "test", criteria.PROMPT, none), sample_id=sample.id,
        judge_id="test", prompt=criteria.PROMPT, state="scored",
        uses=tuple(CriterionUse(criterion_id=one.id, position=at, weight=5)
                   for at, one in enumerate(made)),
    )  # fmt: skip
    said = Response(
        id=Response.make_id(sample.id, "test", answer.PROMPT, none),
        sample_id=sample.id,
        candidate_id="test",
        prompt=answer.PROMPT,
        text="I see five squares; the upper right one is blue.\nAnswer: " + ", ".join(_PLACES),
    )
    return _Material(
        picture=PicturePart.from_bytes(data), sample=sample, replay=solved, criteria=made,
        criteria_set=cut, response=said,
    )  # fmt: skip


def _whole(one: MarkedObject) -> tuple[int, int, int, int]:
    left, top, right, bottom = (round(side) for side in one.box)
    return left, top, right, bottom


def _calibrate(
    client: JudgeClient, data: Mapping[str, object], picture: PicturePart
) -> BoxCalibration:
    sent = prepare(picture.read(), client.endpoint.pictures)
    shown = SentPicture(width=sent.width, height=sent.height, content=sent.content)
    return calibrate(stated_boxes(data, marked_objects()), shown)


def _box_check(found: BoxCalibration) -> EndpointCheck:
    if found.convention is None:
        return EndpointCheck(
            name="boxes",
            state="skipped",
            detail=f"The model gave boxes for {found.boxes:,} of {len(_PLACES):,} squares: too few "
            "to say how it writes them.",
        )
    best = max(found.iou.values(), default=0.0)
    return EndpointCheck(
        name="boxes",
        state="passed",
        detail=f"How it writes boxes: {_IN_WORDS[found.convention]} (best overlap with the "
        f"squares {best:.2f} of 1, {found.boxes:,} boxes).",
    )

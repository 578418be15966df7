"""Finds out how a model writes boxes, from marked objects at known places.

Reference: METHODS T4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from atom.records import BoxConvention
from atom.stages.boxes import Corners, SentPicture, as_thousandths

CONVENTIONS: Final[tuple[BoxConvention, ...]] = (
    "xyxy_1000", "yxyx_1000", "xyxy_pixels", "xyxy_unit",
)  # fmt: skip
LEAST_IOU = 0.5
"""Mean overlap that a convention has to reach."""
RUNNER_UP = 0.8
"""The second best has to stay below so much of the best."""
LEAST_BOXES = 3
"""With fewer boxes nothing is decided."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkedObject:
    """An object at a known place.

    Args:
        colour: by which a model names it; each object has its own.
        box: left, top, right, bottom in thousandths of the picture.
    """

    colour: str
    box: Corners


@dataclass(frozen=True, kw_only=True, slots=True)
class BoxCalibration:
    """How a model writes boxes.

    Args:
        convention: the one that fits; `none` where none does; None where it gave too few boxes.
        iou: mean overlap of the boxes with the objects under each convention, from 0 to 1.
        boxes: how many objects it gave a box for.
    """

    convention: BoxConvention | None
    iou: Mapping[BoxConvention, float] = field(default_factory=dict)
    boxes: int = 0


def calibrate(
    stated: Sequence[tuple[Sequence[float], Corners]], picture: SentPicture
) -> BoxCalibration:
    """Say which convention a model's boxes follow.

    Args:
        stated: for each object that has one its box as it was written, and its true place in
            thousandths.

    Returns:
        The convention with the greatest mean overlap (intersection over union; a box outside a
        convention's range overlaps nothing). It counts where that is at least 1/2 and the second
        best below 0.8 of it; else none does.
    """
    if len(stated) < LEAST_BOXES:
        return BoxCalibration(convention=None, boxes=len(stated))
    iou: dict[BoxConvention, float] = {}
    for convention in CONVENTIONS:
        read = [(as_thousandths(sides, convention, picture), true) for sides, true in stated]
        iou[convention] = sum(
            0.0 if box is None else overlap(box, true) for box, true in read
        ) / len(stated)
    best, second = sorted(CONVENTIONS, key=lambda name: -iou[name])[:2]
    clear = iou[best] >= LEAST_IOU and iou[second] < RUNNER_UP * iou[best]
    return BoxCalibration(convention=best if clear else "none", iou=iou, boxes=len(stated))


def overlap(one: Corners, other: Corners) -> float:
    """Return the intersection over union of two boxes; 0 where one has no area."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return shared / (areas - shared)


def stated_boxes(
    data: Mapping[str, object], objects: Sequence[MarkedObject]
) -> list[tuple[list[float], Corners]]:
    """Read off a replay's steps which box a model gave for which object.

    Args:
        data: the replay as it was replied, its boxes untouched.
        objects: what is to be found; a step is about the one whose colour it names first.

    Returns:
        The first box of each object with its true place.
    """
    by_colour = {one.colour: one for one in objects}
    pattern = re.compile(rf"\b({'|'.join(by_colour)})\b", re.IGNORECASE)
    found: dict[str, tuple[list[float], Corners]] = {}
    steps = data.get("steps")
    for step in steps if isinstance(steps, list | tuple) else ():
        if not isinstance(step, Mapping):
            continue
        named = pattern.search(str(step.get("text", "")))
        sides = _first_box(step.get("regions"))
        if named and sides is not None:
            colour = named.group(1).lower()
            found.setdefault(colour, (sides, by_colour[colour].box))
    return list(found.values())


def _first_box(regions: object) -> list[float] | None:
    region = regions[0] if isinstance(regions, list | tuple) and regions else None
    box = region.get("box") if isinstance(region, Mapping) else None
    if not isinstance(box, list | tuple) or len(box) != 4:
        return None
    sides = [side for side in box if isinstance(side, int | float) and not isinstance(side, bool)]
    return [float(side) for side in sides] if len(sides) == 4 else None

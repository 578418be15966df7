"""Boxes: where a judge points, as it writes them and as they are kept.

Models have habits: corners in thousandths, the same with y first, pixels of the picture as it was
sent, fractions. What an endpoint's habit is, its convention says (`endpoint test` finds it out).
A box is kept in thousandths of the original picture, or dropped with a note: none is drawn where
the judge may not have meant it.

Reference: METHODS T4.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atom.judge.templates import JsonValue
from atom.records import BoxConvention, Region
from atom.stages.reading import number_of
from atom.stages.schemas import MAX_REGIONS

LARGEST_SHARE = 0.95
"""Share of a picture's area above which a box points at nothing."""
_SLACK = 0.01
"""Share of a side by which a box may stick out and still be clipped; beyond, it's no such box."""
_IN_WORDS: Mapping[BoxConvention, str] = {
    "xyxy_1000": "in thousandths",
    "yxyx_1000": "in thousandths, y first",
    "xyxy_pixels": "in pixels of the picture as it was sent",
    "xyxy_unit": "in fractions of the picture",
    "none": "in any convention that is known",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SentPicture:
    """A picture as a judge was shown it, in pixels.

    Args:
        content: left, top, right, bottom of the original in it; all of it unless it was padded.
    """

    width: int
    height: int
    content: tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class BoxSpace:
    """How one judge's boxes lie on the pictures of one sample.

    Args:
        convention: how it writes them; None = as it's asked to, which nobody has checked.
        sent: the pictures as it was shown them; empty where the convention needs no sizes and
            nothing was padded.
        lost: why no box can be placed at all; empty where they can.
    """

    convention: BoxConvention | None = None
    sent: tuple[SentPicture, ...] = ()
    lost: str = ""

    @property
    def padded(self) -> bool:
        """Whether a picture was padded before it was sent."""
        return any(one.content != (0, 0, one.width, one.height) for one in self.sent)

    def picture(self, number: int) -> SentPicture | None:
        """Return the picture of a 1-based number, where its size as sent is known."""
        return self.sent[number - 1] if 1 <= number <= len(self.sent) else None


AS_ASKED = BoxSpace()
"""Corners in thousandths of pictures that were sent whole."""

Corners = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Regions:
    """Regions that can be drawn, and what was done to the stated ones."""

    regions: tuple[Region, ...] = ()
    notes: tuple[str, ...] = ()


# --- geometry ------------------------------------------------------------------------------------


def as_thousandths(
    sides: Sequence[float], convention: BoxConvention | None, picture: SentPicture | None = None
) -> Corners | None:
    """Bring a box from a convention to thousandths of the original picture.

    Args:
        sides: its four numbers as they were written.
        convention: how they are meant; None reads them as `xyxy_1000`.
        picture: the picture as it was sent; None where its size isn't known.

    Returns:
        Left, top, right, bottom, neither ordered nor clipped. With sent size W x H and the
        original at (l, t, r, b) in it, x pixels from the left edge lie at 1000 (x - l)/(r - l).
        None where the numbers are outside the convention's range or can only be fractions of
        another, or where a size is needed and none is known.
    """
    if len(sides) != 4 or not all(map(math.isfinite, sides)) or convention == "none":
        return None
    if convention == "yxyx_1000":
        top, left, bottom, right = sides
    else:
        left, top, right, bottom = sides
    spans = _spans(convention, picture)
    if spans is None or (spans != (1.0, 1.0) and _is_fractions(sides)):
        return None
    corners = (left / spans[0], top / spans[1], right / spans[0], bottom / spans[1])
    if max(corners) > 1 + _SLACK or min(corners) < -_SLACK:
        return None
    if picture is None:
        box = corners
    else:
        from_left, from_top, to_right, to_bottom = picture.content
        across, down = to_right - from_left, to_bottom - from_top
        box = (
            (corners[0] * picture.width - from_left) / across,
            (corners[1] * picture.height - from_top) / down,
            (corners[2] * picture.width - from_left) / across,
            (corners[3] * picture.height - from_top) / down,
        )
    # Nine digits: 0.29 * 1000 is to be 290, on whichever side of it the product falls.
    return (
        round(1000 * box[0], 9),
        round(1000 * box[1], 9),
        round(1000 * box[2], 9),
        round(1000 * box[3], 9),
    )


def _spans(
    convention: BoxConvention | None, picture: SentPicture | None
) -> tuple[float, float] | None:
    """Return how many of the convention's units a picture is wide and high."""
    if convention == "xyxy_unit":
        return 1.0, 1.0
    if convention == "xyxy_pixels":
        return None if picture is None else (float(picture.width), float(picture.height))
    return 1000.0, 1000.0


def from_thousandths(
    box: Sequence[int], convention: BoxConvention | None, picture: SentPicture | None = None
) -> list[float] | None:
    """Write a box as a convention has it; the inverse of `as_thousandths`, rounded.

    Args:
        box: left, top, right, bottom in thousandths of the original picture.
        convention: how it is to be written; None writes it as `xyxy_1000`.

    Returns:
        The four numbers; None where the convention has no way to write it.
    """
    spans = _spans(convention, picture)
    if spans is None or convention == "none":
        return None
    shares = [side / 1000 for side in box]
    if picture is not None:
        from_left, from_top, to_right, to_bottom = picture.content
        for at, (start, end, whole) in enumerate(
            ((from_left, to_right, picture.width), (from_top, to_bottom, picture.height)) * 2
        ):
            shares[at] = (start + shares[at] * (end - start)) / whole
    digits = 3 if convention == "xyxy_unit" else 0
    left, top, right, bottom = (
        round(share * spans[at % 2], digits) if digits else round(share * spans[at % 2])
        for at, share in enumerate(shares)
    )
    if convention == "yxyx_1000":
        return [top, left, bottom, right]
    return [left, top, right, bottom]


# --- reading -------------------------------------------------------------------------------------


def read_regions(
    value: object, n_pictures: int, *, where: str, space: BoxSpace = AS_ASKED
) -> Regions:
    """Read the regions of a step or criterion.

    Args:
        value: the reply's list; null stands for an empty one.
        n_pictures: how many pictures the sample has.
        where: what the notes call the place, `criterion 2`.
        space: how the judge's boxes lie on the pictures.

    Returns:
        The regions: edges clipped, repeated ones once. Dropped, with a note: an unknown picture,
        a box outside its convention's range, one whose corners are out of order (it may be a
        corner and a size), one without area or of nearly all of the picture, what isn't a box.
    """
    if value is None:
        return Regions()
    if not isinstance(value, list | tuple):
        return Regions(notes=(f"{where}: the regions aren't a list and were dropped",))
    fits_none = "the boxes of this endpoint fit no convention"
    lost = fits_none if space.convention == "none" else space.lost
    if lost and value:
        return Regions(notes=(f"{where}: {_counted(len(value))} dropped, since {lost}",))
    regions: list[Region] = []
    notes: Counter[str] = Counter()
    for item in value:
        region, note = _read_region(item, n_pictures, space)
        if note:
            notes[f"{where}: {note}"] += 1
        if region is not None and region not in regions:
            regions.append(region)
    if len(regions) > MAX_REGIONS:
        notes[f"{where}: {len(regions)} regions, the first {MAX_REGIONS} were kept"] += 1
    return Regions(regions=tuple(regions[:MAX_REGIONS]), notes=tuple(notes))


def _counted(n: int) -> str:
    return "1 box was" if n == 1 else f"{n} boxes were"


def _read_region(item: object, n_pictures: int, space: BoxSpace) -> tuple[Region | None, str]:
    if not isinstance(item, Mapping):
        return None, f"{item!r:.60} isn't a region and was dropped"
    picture = item.get("picture", 1 if n_pictures == 1 else None)
    if isinstance(picture, bool) or not isinstance(picture, int | float) or picture % 1:
        return None, f"a region names no picture ({picture!r:.30}) and was dropped"
    if not 1 <= picture <= n_pictures:
        return None, f"there is no picture {int(picture)}; its region was dropped"
    box = item.get("box")
    numbers = [number_of(side) for side in box] if isinstance(box, list | tuple) else []
    sides = [side for side in numbers if side is not None and math.isfinite(side)]
    if len(numbers) != 4 or len(sides) != 4:
        return None, f"the box {box!r:.60} isn't four numbers and was dropped"
    return _read_box(int(picture), sides, space)


def _read_box(number: int, sides: Sequence[float], space: BoxSpace) -> tuple[Region | None, str]:
    written = "[" + ", ".join(f"{side:g}" for side in sides) + "]"
    convention, picture, note = space.convention, space.picture(number), ""
    if convention == "xyxy_pixels" and picture is None:
        return None, f"the box {written} was dropped: the picture's size as sent isn't known"
    if convention is None and _is_fractions(sides):
        convention, note = "xyxy_unit", f"the box {written}: read as fractions"
    corners = as_thousandths(sides, convention, picture)
    if corners is None:
        words = _IN_WORDS[convention or "xyxy_1000"]
        return None, f"the box {written} isn't {words} and was dropped"
    left, top, right, bottom = corners
    if left > right or top > bottom:
        return None, f"the box {written} has its corners out of order and was dropped"
    clipped = (max(0.0, left), max(0.0, top), min(1000.0, right), min(1000.0, bottom))
    if clipped != corners:
        note = f"{note or f'the box {written}: '}{', ' if note else ''}clipped to the picture"
    box = _whole(clipped)
    if box is None:
        return None, f"the box {written} has no area and was dropped"
    share = (box[2] - box[0]) * (box[3] - box[1]) / 1e6
    if share > LARGEST_SHARE:
        return None, f"the box {written} covers the whole picture and was dropped"
    return Region(picture=number, box=box), note


def _is_fractions(sides: Sequence[float]) -> bool:
    """Say whether numbers can only be fractions: nobody points into the first pixel's corner."""
    return max(sides) <= 1 + _SLACK and min(sides) >= -_SLACK


def _whole(corners: Corners) -> tuple[int, int, int, int] | None:
    """Round to whole thousandths; what has an area keeps one, what has none has no box."""
    left, top, right, bottom = corners
    if left >= right or top >= bottom:
        return None
    across, down = (_round_span(left, right), _round_span(top, bottom))
    return across[0], down[0], across[1], down[1]


def _round_span(low: float, high: float) -> tuple[int, int]:
    if round(low) < round(high):
        return round(low), round(high)
    start = min(math.floor(low), 999)
    return start, start + 1


# --- writing -------------------------------------------------------------------------------------


def write_regions(regions: Sequence[Region], space: BoxSpace = AS_ASKED) -> list[JsonValue]:
    """Write regions as a prompt's data, in the reader's own convention.

    A judge copies boxes that it is shown, so they must look as its own do.
    """
    written: list[JsonValue] = []
    for region in regions:
        box = from_thousandths(region.box, space.convention, space.picture(region.picture))
        if box is not None:
            written.append({"picture": region.picture, "box": [*box]})
    return written

"""A picture with numbered regions over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atom.ui import links
from atom.ui.html import Html, el
from atom.ui.pages import DATA
from atom.views.filters import Filters


@dataclass(frozen=True, kw_only=True)
class RegionMark:
    """A numbered region of a picture."""

    number: int
    """The criterion's number in the table beside it."""
    light: str
    """Name that lights up with the criterion."""
    box: tuple[int, int, int, int]
    """Left, top, right, bottom in thousandths."""
    words: str
    """What it is, for the tooltip."""
    href: str
    """What a click chooses."""


_ROOM = 70
"""Thousandths above a region that its number needs, so as not to hide what is in the region."""


def _area(mark: RegionMark) -> int:
    """Small regions are drawn last, so that a large one doesn't cover them."""
    left, top, right, bottom = mark.box
    return (right - left) * (bottom - top)


def picture(
    address: str,
    alt: str,
    marks: Sequence[RegionMark],
    chosen: str | None,
    size: tuple[int, int] | None = None,
) -> Html:
    """Draw a picture with its regions.

    Args:
        address: where the picture is served.
        alt: what it shows, in words.
        marks: its regions.
        chosen: the light that is on.
        size: its width and height in pixels: its room is kept while it loads.
    """
    kept = chosen if any(mark.light == chosen for mark in marks) else None
    regions, tags = [], []
    for mark in sorted(marks, key=_area, reverse=True):
        left, top, right, bottom = mark.box
        spot = {"x": f"{left / 10}%", "y": f"{top / 10}%", "width": f"{(right - left) / 10}%",
                "height": f"{(bottom - top) / 10}%", "rx": "2"}  # fmt: skip
        lit = " lit" if mark.light == kept else ""
        regions.append(el("g", el("rect", **spot), class_=f"halo{lit}", data_light=mark.light))
        regions.append(
            el(
                "a",
                el("rect", class_="edge", **spot),
                href=mark.href,
                data_go=True,
                class_=f"region{lit}",
                data_light=mark.light,
                data_tip=f"{mark.number}. {mark.words}",
                aria_label=f"Region of criterion {mark.number}: {mark.words}",
            )
        )
        tags.append(
            el(
                "span",
                mark.number,
                class_=f"tag{lit}" + (" above" if top >= _ROOM else ""),
                style=f"left:{left / 10}%;top:{top / 10}%",
                data_light=mark.light,
            )
        )
    return el(
        "figure",
        el("img", src=address, alt=alt, style=_room(size)),
        el("svg", regions, role="group", aria_label="Regions of the criteria"),
        tags,
        class_="figure has-lit" if kept else "figure",
        data_lights=True,
        data_kept=kept or "",
    )


def _room(size: tuple[int, int] | None) -> str | None:
    """Write a picture's measures for the style sheet, which keeps its room while it loads."""
    if size is None or not all(size):
        return None
    width, height = size
    return f"--wide:{width}px;--ratio:{width / height:.4f};aspect-ratio:{width}/{height}"


def attach_address(study: str) -> str:
    """Write the address of the form that attaches a study's pictures."""
    return links.address(DATA.url_path, Filters(study=study), tab="pictures", of=study)


def missing(name: str, study: str) -> Html:
    """Draw the frame of a picture that isn't there: its expected name, and how it comes in.

    Args:
        name: as the source calls it.
        study: the study's key, as addresses have it.
    """
    return el(
        "div",
        el("span", "Picture not attached", class_="strong"),
        el("span", f"expected file: {name or 'unnamed'}"),
        el("a", "Attach pictures", href=attach_address(study), data_go=True),
        class_="missing",
        role="group",
        aria_label=f"Missing picture {name}",
    )

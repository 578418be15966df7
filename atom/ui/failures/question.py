"""What a sample asks: its pictures with regions, the question, the judge's own solution."""

from __future__ import annotations

from collections.abc import Callable

from atom.records import PictureSlot, Replay
from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.media import media_address
from atom.ui.picture import RegionMark, missing, picture
from atom.ui.shell.frame import Here
from atom.views.failures.sample import SampleView
from atom.views.pictures import read_picture


def turn(label: str, address: str | None, key: str) -> Html:
    """Make a button to the sample before or after, which a key presses, too."""
    return el(
        "a",
        label,
        href=address,
        data_go=address is not None,
        data_key=key if address else None,
        class_="button",
        aria_disabled=None if address else "true",
    )


def pictures(here: Here, view: SampleView, door: Callable[[str], str]) -> Html:
    """Draw a sample's pictures with the criteria's regions; `door` leads to a criterion by id."""
    slots = view.sample.pictures
    if not slots:
        return el("div", el("p", "This sample has no picture.", class_="quiet"))
    return el(
        "div",
        [
            _one_picture(here, view, door, number, slot)
            for number, slot in enumerate(slots, start=1)
        ],
        class_="several" if len(slots) > 1 else None,
        style="display:flex;flex-direction:column;gap:10px",
    )


def _one_picture(
    here: Here, view: SampleView, door: Callable[[str], str], number: int, slot: PictureSlot
) -> Html:
    address, file = None, None
    if slot.picture_id is not None:
        file = read_picture(here.store, slot.picture_id)
        address = media_address(file, f"picture.{view.sample.id}.{number}")
    if address is None:
        return missing(slot.name, here.entry.key)
    marks = [
        RegionMark(
            number=criterion.number,
            light=criterion.criterion.id,
            box=region.box,
            words=criterion.criterion.question,
            href=door(criterion.criterion.id),
        )
        for criterion in view.criteria
        for region in criterion.regions
        if region.picture == number
    ]
    chosen = view.criterion.criterion.id if view.criterion else None
    total = len(view.sample.pictures)
    label = f"Picture {number:,} of {total:,}" if total > 1 else "Picture"
    return el(
        "div",
        picture(
            address,
            f"{label} of the question: {view.sample.question[:120]}",
            marks,
            chosen,
            file.size if file else None,
        ),
        el("p", f"{label}: {slot.name}" if slot.name else label, class_="caption")
        if total > 1
        else None,
    )


def question(view: SampleView) -> Html:
    """Write the question, its choices and the reference answer."""
    sample = view.sample
    choices = [
        el(
            "li",
            kit.quiet(f"{chr(65 + number)}"),
            el("span", choice, class_="text strong" if choice == sample.reference else "text"),
            kit.small("reference") if choice == sample.reference else None,
        )
        for number, choice in enumerate(sample.choices[:26])
    ]
    known = sample.reference is not None
    reference = el("span", sample.reference or "none given", class_="text" if known else "quiet")
    marked = known and sample.reference in sample.choices
    return el(
        "div",
        el("h2", "Question", style="margin-bottom:4px"),
        el("p", sample.question, class_="text"),
        el("ol", choices, class_="choices") if choices else None,
        el(
            "dl",
            el("dt", kit.term("reference answer", "Reference")),
            el("dd", reference),
            class_="pairs",
            style="margin-top:8px",
        )
        if not marked
        else None,
    )


def replayed(replay: Replay | None) -> Html | None:
    """Fold the judge's own solution, or say why there is none."""
    if replay is None:
        return None
    if replay.state != "scored":
        state: kit.Status = "unscored" if replay.state == "unscored" else "failed"
        return el("div", kit.status(state, f"the judge's own solution is {replay.state}"),
                  el("p", kit.told(replay.detail), class_="text quiet"))  # fmt: skip
    agrees = {True: "agrees with the reference", False: "disagrees with the reference", None: ""}
    steps = [el("li", el("span", step.text, class_="text")) for step in replay.steps]
    return kit.fold(
        "The judge's own solution (replay)",
        el(
            "div",
            el("ol", steps, style="margin:0;padding-left:20px"),
            el("p", "Final answer: ", el("span", replay.final_answer, class_="text strong"), " ",
               kit.small(agrees[replay.agrees]), style="margin-top:8px"),
            class_="said",
            style="white-space:normal",
        ),
    )  # fmt: skip

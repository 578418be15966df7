"""Two answers to one question on the screen, what differs marked by more than a colour."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from atom.display import numbers
from atom.ui import kit
from atom.ui.differ import diff_side
from atom.ui.html import Html, el
from atom.views.failures.beside import Difference, OtherAnswer


def doors(
    there: Sequence[OtherAnswer], chosen: str | None, door: Callable[[str], str]
) -> Html | None:
    """Draw the doors to the answers that can stand beside the one that is read.

    Args:
        there: what can stand beside it.
        chosen: the key of the one that does.
        door: makes the address with one beside, or, for an empty key, with none.
    """
    if not there:
        return None
    return el(
        "nav",
        kit.small("Word by word with"),
        [
            kit.door(
                kit.model(one.name, one.colour),
                door("" if one.key == chosen else one.key),
                class_="small pick on" if one.key == chosen else "small pick",
                aria_current="true" if one.key == chosen else None,
            )
            for one in there
        ],
        class_="picks",
        aria_label="Compare word by word",
    )


def both(found: Difference) -> Html:
    """Draw both answers, what only one of them says marked."""
    name = found.answer.candidate.name
    if not any(part.kind != "same" for part in found.parts):
        note = "Both say the same, word by word."
    else:
        note = (
            f"{numbers.share(found.shared)} of both texts is the same. Struck through: only the "
            "left "
            "one says so; underlined: only the right one."
        )
    return el(
        "div",
        kit.note(note),
        el(
            "div",
            _side(found, "gone", kit.model(name, found.answer.colour)),
            _side(found, "new", kit.model(found.other.name, found.other.colour)),
            class_="answers",
            data_diff=True,
        ),
    )


def _side(found: Difference, kind: str, title: Html) -> Html:
    return el(
        "div",
        el("div", title, class_="row", style="margin-bottom:4px"),
        diff_side(found.parts, kind),
    )

"""The tour: a strip on top of five real pages, with back, next and end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import DATA, OVERVIEW
from atom.views.filters import Filters
from atom.views.overview.welcome import Stop, tour
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData

FIRST = "1"
"""The key `tour` of the first stop; the others count on."""
NEXT, BACK, PRESENT = "PageDown", "PageUp", "p"
"""Keys: those that a presenter's clicker sends, and the one that makes everything larger."""


def stops(
    store: OpenStore, data: StudyData, filters: Filters, query: Mapping[str, Sequence[str]]
) -> Html | None:
    """Draw the strip of the stop that an address names; None while there is no tour.

    Args:
        query: the address's own query.
    """
    asked = query.get("tour")
    if not asked:
        return None
    there = tour(store, data, filters)
    number = stop_of(asked[-1], there)
    return None if number is None else strip(there, number, filters)


def stop_of(text: str | None, stops: Sequence[Stop]) -> int | None:
    """Return the 0-based stop that an address names, or None."""
    if text is None or not (text.isascii() and text.isdigit() and len(text) < 3):
        return None
    number = int(text) - 1
    return number if 0 <= number < len(stops) else None


def address(stops: Sequence[Stop], number: int) -> str:
    """Write the address of a stop."""
    stop = stops[number]
    return links.address(stop.page, stop.filters, tour=str(number + 1), **stop.local)


def strip(stops: Sequence[Stop], number: int, filters: Filters) -> Html:
    """Draw a stop's words and the ways on.

    Args:
        number: the stop, 0-based.
        filters: the study's key.
    """
    stop = stops[number]
    home = Filters(study=filters.study)
    last = number == len(stops) - 1
    onward = (
        kit.button("Bring my results", links.address(DATA.url_path, home), primary=True)
        if last
        else _turn("Next", address(stops, number + 1), NEXT, "button primary")
    )
    return el(
        "section",
        el(
            "div",
            el(
                "div",
                el("h2", stop.title, style="margin:0"),
                el("span", f"Tour, {number + 1:,} of {len(stops):,}", class_="quiet small nowrap"),
                class_="row",
            ),
            el("p", stop.words, class_="small"),
        ),
        el(
            "div",
            _turn("Back", address(stops, number - 1), BACK, "button") if number else None,
            onward,
            el("button", "Presenter mode", type="button", class_="plain", data_present=True,
               data_key=PRESENT, data_tip="Larger, without the menu; the key P. Page up and page "
               "down, as a clicker sends them, turn the stops."),
            kit.door("End", links.address(OVERVIEW.url_path, home), class_="button"),
            class_="row ways",
        ),
        class_="tour",
        aria_label="Tour",
    )  # fmt: skip


def _turn(label: str, href: str, key: str, look: str) -> Html:
    return kit.door(label, href, data_key=key, class_=look)

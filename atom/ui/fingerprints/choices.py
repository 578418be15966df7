"""What a fingerprint shows: the measure, the groups, and the models beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from atom.display import numbers
from atom.ui import kit
from atom.ui.fingerprints.place import to
from atom.ui.html import Html, el
from atom.ui.shell.frame import Here
from atom.views import figures
from atom.views.filters import Measure, label_name
from atom.views.fingerprints.shape import MOST_DRAWN, Shape, ShapeModel

_MEASURES: dict[Measure, str] = {
    "process": "Steps",
    "outcome": "Final answers",
    "preference": "Votes",
}


SHOWN = 12
"""Skill bars before the fold."""


_MOST_TABS = 8


def choices(here: Here, form: Shape, *, drawn: bool = True) -> Html:
    """Draw what is looked at: the measure, capabilities or labels, and whose shapes are drawn."""
    rows = [_measures(here), _groups(here, form)]
    tabs = [row for row in rows if row is not None]
    return el("div", el("div", tabs, class_="row extra") if tabs else None,
              picks(here, form) if drawn else None, class_="stack", style="gap:10px")  # fmt: skip


def _measures(here: Here) -> Html | None:
    data = here.data
    there = {
        "process": data.has_process,
        "outcome": data.has_outcome,
        "preference": data.has_preference,
    }
    if sum(there.values()) < 2:
        return None
    known = [measure for measure in _MEASURES if there[measure]]
    chosen = here.filters.measure if here.filters.measure in known else known[0]
    return kit.tabs(
        [
            (_MEASURES[one], to(here, here.filters.but(measure=one), facet=None), one == chosen)
            for one in known
        ],
        label="What is measured",
    )


def _groups(here: Here, form: Shape) -> Html | None:
    tabs: list[tuple[str, str, bool]] = []
    if form.measure == "process" and here.data.table.leaves:
        tabs.append(("Capabilities", to(here, here.filters, facet=None), form.facet is None))
    tabs += [
        (label_name(name), to(here, here.filters, facet=name), form.facet == name)
        for name in form.facets
    ]
    return kit.tabs(tabs[:_MOST_TABS], label="What shapes are made of") if len(tabs) > 1 else None


def picks(here: Here, form: Shape) -> Html:
    """Draw whose shapes are drawn: every model a door that adds it or takes it away."""
    drawn = form.drawn()
    doors = [_pick(here, form, form.names[one], drawn) for one in form.models]
    many = doors[24:]
    return el(
        "div",
        kit.quiet(f"Drawn (up to {MOST_DRAWN}):"),
        doors[:24],
        kit.fold(f"{len(many):,} more models", el("div", many, class_="picks")) if many else None,
        class_="picks",
    )


def _pick(here: Here, form: Shape, model: ShapeModel, drawn: Sequence[int]) -> Html:
    on = model.index in drawn
    rest = [one for one in drawn if one != model.index]
    after = rest if on else [*drawn[: MOST_DRAWN - 1], model.index]
    ids = [form.names[one].model_id for one in after]
    filters = here.filters.but(model=ids[0] if ids else None, peers=tuple(ids[1:]))
    place = list(drawn).index(model.index) if on else -1
    key = figures.key_svg(place, model.index) if on else el(
        "span", class_="dot", style=f"background:{kit.colour(model.index)}", aria_hidden="true"
    )  # fmt: skip
    if on:
        tip = "take it off the radars" + ("; the skill bars are its" if place == 0 else "")
    else:
        tip = "draw it, too" if len(drawn) < MOST_DRAWN else "draw it instead of the last one"
    return el(
        "a",
        key,
        el("span", numbers.middle(model.name, 26), class_="cut"),
        href=to(here, filters),
        data_go=True,
        class_="first" if place == 0 else None,
        aria_current="true" if on else None,
        data_tip=f"{model.name}: {tip}",
    )

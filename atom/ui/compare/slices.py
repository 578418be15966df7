"""Saved slices on Compare: two of one model, or one of two models, by capability."""

from __future__ import annotations

import math

import streamlit as st

from atom.display import numbers
from atom.ui import kit, links
from atom.ui.failures.listing import to
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES
from atom.ui.plain import plain
from atom.ui.shell.frame import Here
from atom.views.compare.sides import ComparedSides
from atom.views.failures.slices import (
    WHOLE,
    Side,
    Slice,
    SliceComparison,
    SliceGap,
    compare_slices,
    slices_of,
)
from atom.views.filters import Filters
from taxonomy import format_path

_WORDS = {"better": "first better", "worse": "second better", "same": "not told apart",
          "thin": "too little to test"}  # fmt: skip
_MOST = 40


def asked(here: Here) -> bool:
    """Say whether the address asks for a slice."""
    return bool(here.query.get("slice") or here.query.get("slice2"))


def draw(here: Here, picked: ComparedSides) -> None:
    """Draw slices and their comparison; a hint where none is saved.

    Args:
        picked: the two models of the page.
    """
    there = slices_of(here.store, here.data, here.entry.key)
    if not there:
        door = kit.door("save one on Failures", links.address(FAILURES.url_path, here.filters))
        words = kit.note("Slices can be compared like models: ", door, ".")
        kit.show(kit.section("Slices", words), key="slices_none")
        return
    whole = Slice(name=WHOLE, filters=Filters(study=here.entry.key))
    by_name = {one.name: one for one in (whole, *there)}
    models = {one.id: one.name for one in here.data.candidates}
    kit.show(
        kit.section(
            "Slices",
            kit.note(
                "Two slices of one model, or one slice of two models. Samples needn’t be the same "
                "on both sides; those that are count once."
            ),
        ),
        key="slices_head",
    )
    first = _side(here, "first", by_name, models, (there[0].name, picked.first.model_id))
    second = _side(here, "second", by_name, models, (WHOLE, picked.first.model_id))
    if first == second:
        kit.show(
            kit.notice("Both sides are the same: choose another slice or model."), key="slices_same"
        )
        return
    found = compare_slices(here.store, here.data, first, second)
    kit.show(table(here, found), key="slices_table")


def _side(
    here: Here,
    which: str,
    slices: dict[str, Slice],
    models: dict[str, str],
    usual: tuple[str, str],
) -> Side:
    """Let the reader choose a side; the address keeps it."""
    keys = {"first": ("slice", "slice_model"), "second": ("slice2", "slice2_model")}[which]
    name = here.query.get(keys[0], usual[0])
    model = here.query.get(keys[1], usual[1])
    name, model = (name if name in slices else usual[0]), (model if model in models else usual[1])

    def changed() -> None:
        st.query_params[keys[0]] = st.session_state[f"slices_{which}"]
        st.query_params[keys[1]] = st.session_state[f"slices_{which}_model"]

    st.session_state[f"slices_{which}"] = name
    st.session_state[f"slices_{which}_model"] = model
    left, right = st.columns(2)
    with left:
        st.selectbox(plain(f"The {which} side: slice"), list(slices), key=f"slices_{which}",
                     format_func=lambda one: "The whole study" if one == WHOLE else one,
                     on_change=changed)  # fmt: skip
    with right:
        st.selectbox("of model", list(models), key=f"slices_{which}_model",
                     format_func=lambda one: models[one], on_change=changed)  # fmt: skip
    return Side(part=slices[name], model=list(models).index(model))


def table(here: Here, found: SliceComparison) -> Html:
    """Draw the whole and every capability, the surest first."""
    names = [_name(here, side) for side in (found.first, found.second)]
    return el(
        "section",
        el("p", sentence(found, names), class_="strong"),
        kit.notice(
            "A slice here is chosen by what models got or wrote: it is low or high by that "
            "choice, so nothing is tested."
        )
        if found.by_results
        else None,
        kit.grid(
            (found.whole, *found.nodes[:_MOST]),
            kit.MarkupColumn("Capability", _capability),
            kit.number(
                f"First: {names[0]}",
                lambda one: _value(here, found.first, one, one.apart.first, one.apart.n[0]),
            ),
            kit.number(
                f"Second: {names[1]}",
                lambda one: _value(here, found.second, one, one.apart.second, one.apart.n[1]),
            ),
            kit.number("Difference (95 %)", _difference),
            kit.MarkupColumn(
                "Verdict", lambda one: "not tested" if found.by_results else _verdict(one)
            ),
            label="Slices by capability",
        ),
        class_="stack",
    )


def sentence(found: SliceComparison, names: list[str]) -> str:
    """Say how far apart both are on the whole, and how sure that is."""
    gap = found.whole.apart
    if not math.isfinite(gap.gap):
        return "One side has nothing that counts."
    counts = " and ".join(numbers.count(n, "sample") for n in found.samples)
    lo, hi = gap.interval()
    ends = f" (95 % {numbers.points_ends(lo, hi)})" if math.isfinite(lo) else ""
    said = {"better": "beyond chance", "worse": "beyond chance", "same": "not beyond chance",
            "thin": "not tested"}[found.whole.verdict]  # fmt: skip
    if gap.gap == 0 and gap.se == 0:
        return f"{names[0]} and {names[1]} are exactly level: {counts}."
    return (
        f"{names[0]} is {abs(100 * gap.gap):.1f} points "
        f"{'above' if gap.gap >= 0 else 'below'} {names[1]}{ends}, {said}: {counts}, "
        f"{numbers.count(gap.shared, 'picture group')} in both."
    )


def _name(here: Here, side: Side) -> str:
    part = "the whole study" if side.part.name == WHOLE else f"“{side.part.name}”"
    return f"{here.data.candidates[side.model].name} on {part}"


def _capability(one: SliceGap) -> Html | str:
    if not one.path:
        return "Sample scores"
    return el("span", one.path[-1], data_tip=format_path(one.path))


def _difference(one: SliceGap) -> str:
    return numbers.points_interval(one.apart.gap, *one.apart.interval())


def _verdict(one: SliceGap) -> str:
    word = _WORDS[one.verdict]
    return word if math.isnan(one.adjusted) or not one.path else f"{word}, q {one.adjusted:.2g}"


def _value(here: Here, side: Side, one: SliceGap, value: float, n: int) -> Html:
    """Draw a side's mean with its n, a door to the failures behind it."""
    if not math.isfinite(value):
        return kit.quiet("–")
    filters = side.part.filters.but(model=here.data.candidates[side.model].id)
    if one.path:
        filters = filters.but(node=one.path)
    return el("span", kit.door(f"{100 * value:.1f}", to(filters)), kit.small(f" n {n:,}"))
